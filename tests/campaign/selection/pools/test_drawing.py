"""Draws by a seed and by names, against the published generator and hashes."""

from hashlib import blake2b

import numpy as np
import pytest

from backend.campaign.selection.pools.rules import number_names, sort_keys


def number(text: str) -> int:
    return int(blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest(), 16)


def test_a_name_has_the_number_of_its_hash_with_the_seed() -> None:
    names = ["", "a.mp4", "Größe", "\udcff.mp4"]  # the last one is no UTF-8, as names of files may be
    assert number_names(names, 7).tolist() == [number(f"7 {name}") for name in names]
    assert number_names([], 7).dtype == np.uint64


# The first numbers of SplitMix64 from the seed 1234567, https://rosettacode.org/wiki/Pseudo-random_numbers/Splitmix64,
# and from 0, which is the test of java.util.SplittableRandom.
@pytest.mark.parametrize(
    ("seed", "expected"),
    [
        (
            1234567,
            [6457827717110365317, 3203168211198807973, 9817491932198370423, 4593380528125082431, 16408922859458223821],
        ),
        (0, [0xE220A8397B1DCDAF]),
    ],
)
def test_turns_are_those_of_splitmix64(seed: int, expected: list[int]) -> None:
    states = [(seed + n * 0x9E3779B97F4A7C15) % 2**64 for n in range(1, len(expected) + 1)]
    drawn = np.array([state ^ number("a purpose") for state in states], dtype=np.uint64)
    assert sort_keys(drawn, "a purpose").tolist() == expected
