"""The row of counts, on a file small enough to count by hand, and on the published ones against the paper's Table 1."""

import json
import math
from itertools import combinations
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backend.scoring.pools.files import parse_pools, read_pools
from backend.scoring.pools.statistics import PoolStatistics, count, random_pool_share


def entry(*sentences: tuple[str, list[str], list[str]]) -> dict[str, object]:
    """A video of 36 s; each sentence has its positive videos and its pool."""
    return {
        "duration": 36,
        "timestamps": [[number, number + 1] for number in range(len(sentences))],
        "sentences": [text for text, _, _ in sentences],
        "pos_moments": [[[video, text, [0, 1]] for video in positives] for text, positives, _ in sentences],
        "retrieval_pool": [pool for _, _, pool in sentences],
    }


def test_what_a_file_holds() -> None:
    document = {
        "a": entry(
            *(("he sits", ["b", "c"], ["a", "b", "c"]), ("runs\tand  falls ", [], ["a", "b", "c"])),
            ("runs and falls", [], ["a", "c"]),
        ),
        "b": entry(("sits", ["c"], ["b", "c", "a"]), ("eats", [], [])),
        "c": entry(("sits", [], [])) | {"duration": 54},
    }
    document["a"]["timestamps"] = [[0, 10], [11, 12.5], [20, 36]]
    assert count(parse_pools(json.dumps(document).encode(), "pools.json")) == PoolStatistics(
        queries=3,  # a#0, a#1, b#0
        videos=3,
        moment_s=(10 + 1.5 + 1) / 3,
        video_s=(36 + 36 + 54) / 3,
        words=(2 + 3 + 1) / 3,
        most_positives=3,
        positives=(3 + 1 + 2) / 3,
        pool=3,
        positive_moments=(3 + 2 + 2) / 3,  # a runs and falls twice
        several_in_own=1,
        without_distractor=("a#0",),
        short=("a#2",),
        without_pool=2,
        hours=0.035,
        # a#0: both others match, so each draw of 2 has one. a#1: none matches. b#0: one of 2, and both are drawn.
        random_false_negatives=(1 + 0 + 1) / 3,
    )


def test_a_file_without_queries_has_no_pool() -> None:
    found = count(parse_pools(json.dumps({"c": entry(("sits", [], []))}).encode(), "pools.json"))
    assert (found.queries, found.positives, found.pool, found.without_pool) == (0, 0, 0, 1)
    assert (found.moment_s, found.video_s, found.words, found.random_false_negatives) == (0, 36, 0, 0)


@given(st.lists(st.integers(0, 5), min_size=1, max_size=4), st.integers(1, 6))
def test_the_share_of_random_pools_with_a_false_negative_is_that_of_all_draws(positives: list[int], pool: int) -> None:
    draws = list(combinations(range(5), pool - 1))  # of the 5 videos that are not the own one, the first p match
    chances = [sum(any(video < p for video in draw) for draw in draws) / len(draws) for p in positives]
    assert random_pool_share(positives, 6, pool) == pytest.approx(sum(chances) / len(chances), abs=1e-12)


@pytest.mark.parametrize(
    ("positives", "videos", "pool"), [([], 5, 2), ([5], 5, 2), ([-1], 5, 2), ([1], 5, 6), ([1], 5, 0)]
)
def test_random_pools_need_a_query_and_enough_videos(positives: list[int], videos: int, pool: int) -> None:
    with pytest.raises(ValueError, match="from"):
        random_pool_share(positives, videos, pool)


@pytest.mark.parametrize(
    ("name", "row"),
    [  # as printed in the paper's Table 1
        ("charades", (3716, 1334, "7.83", "29.48", "3.07", "6.23", 5, 50)),
        ("tacos", (2055, 25, "28.55", "367.15", "2.24", "7.31", 5, 5)),
    ],
)
def test_a_published_file_gives_the_row_of_the_paper(shared: Path, name: str, row: tuple[object, ...]) -> None:
    path = shared / f"data/mvmr/{name}_test_mvmr.json"
    if not path.is_file():
        pytest.skip(f"no {path}")
    found = count(read_pools(path))
    means = (f"{mean:.2f}" for mean in (found.moment_s, found.video_s, found.positives, found.words))
    assert (found.queries, found.videos, *means, found.most_positives, found.pool) == row


def test_the_published_charades_file_is_counted_whole(shared: Path) -> None:
    path = shared / "data/mvmr/charades_test_mvmr.json"
    videos = json.loads(path.read_text("utf-8"))
    full = [
        (len(positives) + 1, len(pool) - len(positives) - 1)
        for video in videos.values()
        for positives, pool in zip(video["pos_moments"], video["retrieval_pool"], strict=True)
        if len(pool) == 50
    ]
    found = count(read_pools(path))
    assert found.queries == len(full)
    assert found.positives == pytest.approx(sum(positives for positives, _ in full) / len(full), abs=1e-12)
    assert len(found.without_distractor) == sum(negatives == 0 for _, negatives in full)
    assert len(found.short) == sum(len(video["sentences"]) for video in videos.values()) - len(full)
    right = [1 - math.comb(1334 - positives, 49) / math.comb(1333, 49) for positives, _ in full]
    assert found.random_false_negatives == pytest.approx(sum(right) / len(full), abs=1e-9)
    assert f"{found.random_false_negatives:.1%}" == "7.3%"
