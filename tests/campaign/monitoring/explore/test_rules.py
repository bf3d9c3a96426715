"""From counts to what is shown of them: funnel, bins, bars, shows and the rows of files, by hand."""

import math
from collections import Counter
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backend.campaign.monitoring.explore import rules
from backend.campaign.monitoring.explore.model import (
    AgreedQuery,
    BinnedBy,
    FoundPair,
    Funnel,
    Lasting,
    RelevanceBin,
    ShowCoverage,
    SourceStanding,
    VideoCoverage,
)
from backend.campaign.monitoring.quality.model import GroupAgreement, Verdicts
from backend.campaign.nouns import Verdict
from backend.campaign.selection.candidates.model import CandidateSource, SourceKind
from backend.core.ids import PairId, QueryId


def test_a_funnel_has_every_pair_once_where_it_stopped() -> None:
    counts = [
        *(("open", 2, 1), ("open", 2, 2), ("consensus", 2, 4), ("adjudicated", 2, 8)),
        *(("escalated", 4, 16), ("escalated", 6, 32), ("consensus", 6, 64), ("consensus", 4, 128)),
        *(("consensus", 4, 256), ("discarded", 4, 512), ("confirmed", 4, 1024), ("adjudicated", 6, 2048)),
    ]
    found = rules.funnel(counts)
    assert found == Funnel(
        pairs=4095,
        waiting_first=3,
        settled_by_two=4,
        decided_at_once=8,
        escalated=4080,
        waiting_further=48,
        settled_by={4: 384, 6: 64},
        discarded=512,
        confirmed=1024,
        decided=2048,
    )
    assert list(found.settled_by) == [4, 6]
    assert found.graded_by_two == 4092


@pytest.mark.parametrize(
    ("along", "place", "expected"),
    [
        (BinnedBy.RANK, 7, (7, 7)),
        (BinnedBy.DURATION, 0, (0, 1)),
        (BinnedBy.DURATION, 17, (1200, 3600)),
        (BinnedBy.DURATION, 18, (3600, math.inf)),
        (BinnedBy.SIMILARITY, -2, (-0.1, -0.05)),
        (BinnedBy.SIMILARITY, 3, (0.15, 0.2)),
        (BinnedBy.SIMILARITY, 19, (0.95, 1.0)),
        (BinnedBy.SIMILARITY, 20, (1.0, 1.0)),
    ],
)
def test_where_bins_begin_and_end(along: BinnedBy, place: int, expected: tuple[float, float]) -> None:
    assert rules.bounds(along, place) == expected


def test_bins_between_are_there_and_what_has_no_relevance_counts_beside() -> None:
    counts = [(3, 1, 5), (1, 0, 2), (3, None, 4), (3, 1, 1), (1, 2, 7)]
    assert rules.bins(BinnedBy.RANK, counts, 2) == [
        RelevanceBin(1, 1, 1, (2, 0, 7), 0),
        RelevanceBin(2, 2, 2, (0, 0, 0), 0),
        RelevanceBin(3, 3, 3, (0, 6, 0), 4),
    ]
    assert rules.bins(BinnedBy.RANK, [], 2) == []


EDGES = (0, 1, 2, 3, 5, 7, 10, 15, 20, 30, 45, 60, 90, 120, 180, 300, 600, 1200, 3600, math.inf)
SECONDS = st.integers(0, 5000) | st.sampled_from(EDGES[:-1])


@given(st.lists(SECONDS, min_size=1), st.data())
def test_bars_count_what_lasts_so_long(lasting: list[float], data: st.DataObject) -> None:
    out = data.draw(st.lists(st.sampled_from(lasting)))
    found = rules.lasting(lasting, out)
    assert found is not None
    every = [
        (low, high, sum(low <= value < high for value in lasting), sum(low <= value < high for value in out))
        for low, high in pairwise(EDGES)
    ]
    held = [place for place, bar in enumerate(every) if bar[2]]
    expected = [(*bar[:1], None if bar[1] == math.inf else bar[1], *bar[2:]) for bar in every[held[0] : held[-1] + 1]]
    assert found.bars == expected
    assert (found.least, found.most, found.count) == (min(lasting), max(lasting), len(lasting))
    assert found.mean == sum(lasting) / len(lasting)
    assert Counter(map(type, [bar[0] for bar in found.bars])) == {float: len(found.bars)}


def test_without_anything_nothing_lasts() -> None:
    assert rules.lasting([], []) is None


def video(number: int, show: str | None, *counts: int) -> VideoCoverage:
    """Counts of moments, judged moments, pairs, queries, decided, relevant, and the sum of relevances."""
    return VideoCoverage(number, f"v{number}", show, 10.0, *counts)


def test_shows_sum_up_their_videos_those_with_most_pairs_first() -> None:
    videos = [
        *(video(1, "b", 9, 3, 4, 2, 3, 2, 5), video(2, None, 1, 0, 0, 0, 0, 0, 0), video(3, "a", 5, 4, 6, 3, 2, 1, 4)),
        *(video(4, "b", 2, 1, 1, 1, 1, 0, 0), video(5, "b", 7, 0, 0, 0, 0, 0, 0), video(6, "c", 1, 1, 5, 1, 0, 0, 0)),
    ]
    assert rules.by_show(videos) == [
        ShowCoverage("a", 1, 1, 5, 4, 6, 2, 1, 2.0),
        ShowCoverage("b", 3, 2, 18, 4, 5, 4, 2, 1.25),
        ShowCoverage("c", 1, 1, 1, 1, 5, 0, 0, None),
        ShowCoverage(None, 1, 0, 1, 0, 0, 0, 0, None),
    ]
    nothing = (0, 0, 0, 0, 0, 0, 0)
    shows = rules.by_show([video(1, "b", *nothing), video(2, None, *nothing), video(3, "A", *nothing)])
    assert [show.show for show in shows] == [None, "A", "b"]


SOURCE = CandidateSource(SourceKind.RUN, "ours", "77", 9, 2)
AGREED = GroupAgreement("A dog.", 4, 9, 2.5, 0.5, 0.25, 0.75, Verdicts("A dog.", 4, 3, 1, 0, 0, 0, 0), "", "val")


@pytest.mark.parametrize(
    ("one", "row"),
    [
        (RelevanceBin(15, 0.75, 0.8, (2, 0, 1), 4), {
            **{"from": 0.75, "below": 0.8, "mean": 2 / 3, "with_relevance": 3, "without": 4},
            **{"relevance_0": 2, "relevance_1": 0, "relevance_2": 1},
        }),
        (RelevanceBin(18, 3600, math.inf, (0,), 1), {
            **{"from": 3600, "below": None, "mean": None, "with_relevance": 0, "without": 1, "relevance_0": 0},
        }),
        (video(3, "a", 5, 4, 6, 3, 2, 1, 4), {
            **{"video_id": 3, "video": "v3", "show": "a", "duration_s": 10.0, "moments": 5, "judged_moments": 4},
            **{"pairs": 6, "queries": 3, "decided": 2, "relevant": 1, "relevance_sum": 4, "mean": 2.0},
        }),
        (SourceStanding(SOURCE, 9, 8, 7, 6, 5, 4, 12), {
            **{"kind": SourceKind.RUN, "name": "ours", "sha256": "77", "depth": 9, "part": 2},
            **{"candidates": 9, "alone": 8, "pairs": 7, "decided": 6, "relevant": 5, "relevant_alone": 4},
            **{"relevance_sum": 12, "mean": 2.0},
        }),
        (FoundPair(PairId(1), QueryId(2), "A dog.", "v", 0.0, 2.0, 3, None, Verdict.OPEN, None, None), {
            **{"pair_id": 1, "query_id": 2, "query": "A dog.", "video": "v", "start_s": 0.0, "end_s": 2.0, "rank": 3},
            **{"similarity": None, "verdict": Verdict.OPEN, "relevance": None, "mean": None},
        }),
    ],
)  # fmt: skip
def test_rows_of_files(one: Any, row: dict[str, Any]) -> None:
    (found,) = rules.table([one])
    assert found == row
    assert list(found) == list(row)


def test_rows_of_queries_tell_how_many_were_settled_by_two() -> None:
    (found,) = rules.table([AgreedQuery(QueryId(7), AGREED)])
    assert list(found)[:3] == ["query_id", "query", "pairs"]
    assert (found["query_id"], found["query"], found["settled_by_two"], found["mean"]) == (7, "A dog.", 3, 2.5)
    assert not {"name", "settled"} & found.keys()


def test_bars_are_rows_of_a_file_too() -> None:
    assert rules.lasting_table(Lasting([(0.0, 1.0, 3, 2), (3600.0, None, 1, 0)], 0.5, 1.0, 4000, 4)) == [
        {"from_s": 0.0, "below_s": 1.0, "in_corpus": 3, "handed_out": 2},
        {"from_s": 3600.0, "below_s": None, "in_corpus": 1, "handed_out": 0},
    ]
