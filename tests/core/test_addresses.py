"""What people write for a place: nothing with a secret in it is taken, and none is repeated."""

from pathlib import Path

import pytest

from backend.core.addresses import Address, place_of
from backend.core.errors import InputError


def test_paths_and_addresses_are_told_apart() -> None:
    assert place_of("videos/a:b.mp4") == Path("videos/a:b.mp4")
    assert place_of("file:///srv/videos") == Path("/srv/videos")
    assert place_of("s3://lab/videos/") == Address("s3://lab/videos")


def test_an_address_has_a_root_a_key_and_a_name() -> None:
    one = Address("s3://lab/party").joined("a/dance.mp4")
    assert (one.root, one.key, one.name) == ("s3://lab", "party/a/dance.mp4", "dance.mp4")
    assert (one.parent, Address("https://x/a%20b").key) == (Address("s3://lab/party/a"), "a b")


@pytest.mark.parametrize(
    "said", ["https://ana:hunter2@lab/x.mp4", "https://lab/x.mp4?X-Amz-Signature=hunter2", "ftp://ana:hunter2@lab/x"]
)
def test_secrets_are_refused_and_not_repeated(said: str) -> None:
    with pytest.raises(InputError) as refused:
        place_of(said)
    assert "hunter2" not in str(refused.value)
