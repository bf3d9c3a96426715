"""The row of counts, on a file small enough to count by hand, and on the published one against plain counting."""

import json
from pathlib import Path

import pytest

from backend.scoring.pools.files import PoolStatistics, count, parse_pools, read_pools


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
        "a": entry(("sits", ["b", "c"], ["a", "b", "c"]), ("runs", [], ["a", "b", "c"]), ("runs", [], ["a", "c"])),
        "b": entry(("sits", ["c"], ["b", "c", "a"]), ("eats", [], [])),
        "c": entry(("sits", [], [])),
    }
    assert count(parse_pools(json.dumps(document).encode(), "pools.json")) == PoolStatistics(
        queries=3,  # a#0, a#1, b#0
        videos=3,
        positives=(3 + 1 + 2) / 3,
        pool=3,
        positive_moments=(3 + 2 + 2) / 3,  # "runs" twice in a
        several_in_own=1,
        without_distractor=("a#0",),
        short=("a#2",),
        without_pool=2,
        hours=0.03,
    )


def test_a_file_without_queries_has_no_pool() -> None:
    found = count(parse_pools(json.dumps({"c": entry(("sits", [], []))}).encode(), "pools.json"))
    assert (found.queries, found.positives, found.pool, found.without_pool) == (0, 0, 0, 1)


def test_the_published_charades_file_gives_the_row_of_the_paper(shared: Path) -> None:
    path = shared / "data/mvmr/charades_test_mvmr.json"
    videos = json.loads(path.read_text("utf-8"))
    full = [
        (len(positives) + 1, len(pool) - len(positives) - 1)
        for video in videos.values()
        for positives, pool in zip(video["pos_moments"], video["retrieval_pool"], strict=True)
        if len(pool) == 50
    ]
    found = count(read_pools(path))
    assert (found.queries, found.videos, found.pool) == (3716, 1334, 50)  # as printed in the paper
    assert round(found.positives, 3) == 3.069
    assert found.queries == len(full)
    assert found.positives == pytest.approx(sum(positives for positives, _ in full) / len(full), abs=1e-12)
    assert len(found.without_distractor) == sum(negatives == 0 for _, negatives in full)
    assert len(found.short) == sum(len(video["sentences"]) for video in videos.values()) - len(full)
