"""The documents of a small release, by hand."""

from dataclasses import replace
from typing import Any

import pytest

from backend import __version__
from backend.campaign.corpus.captions.model import ReplacementWord, RewriteSummary
from backend.campaign.nouns import GradeMeaning, Rounding, Scale, Split, Verdict
from backend.campaign.release.export.model import (
    PAIR_COLUMNS,
    RAW_COLUMNS,
    Adjudicated,
    Contents,
    QueryCounts,
    ReleaseOptions,
    ReleaseSelection,
)
from backend.campaign.release.export.rules import documents
from backend.campaign.release.export.rules.statistics import JudgedPair, statistics
from backend.campaign.review.model import PairReview
from backend.campaign.selection.candidates.model import CandidateSource, FoundBy, SourceKind
from backend.campaign.setup.project.model import Grading, Terms
from backend.core.ids import MomentId, PairId, PairKey, QueryId

WITH, WITHOUT = ReleaseOptions(with_published=True), ReleaseOptions(Adjudicated.LEAVE_OUT)
CAPTIONS = CandidateSource(SourceKind.CAPTIONS, "minilm", None, 20)
RUN, TWICE = (CandidateSource(SourceKind.RUN, "a run; of 3", "77", 9, part) for part in (1, 2))


def pair(number: int, query: int, rank: int, verdict: Verdict, relevance: int | None = None, **more: Any) -> PairReview:
    """Its moment begins at second 0 of `v`, or 1 of odd numbers."""
    start_s = float(number % 2)
    said = {"similarity": 0.12345678, "mean": None, "grades": (), **more}
    return PairReview(
        PairKey(f"key {number}"),
        *(PairId(number), QueryId(query), f"text {query}", "v", start_s, start_s + 2.5, "a caption", rank),
        verdict=verdict,
        relevance=relevance,
        **said,
    )


PAIRS = (
    pair(11, 1, 2, Verdict.CONSENSUS, 1, mean=0.5),
    pair(10, 1, 1, Verdict.ADJUDICATED, 0, similarity=None),
    pair(9, 1, 1, Verdict.CONSENSUS, 1, mean=1.0),
    pair(8, 1, 5, Verdict.DISCARDED),
    pair(7, 2, 1, Verdict.CONSENSUS, 0, mean=0.0, found_by=(FoundBy(RUN, 2, 0.5), FoundBy(CAPTIONS, 3, None))),
    pair(6, 3, 1, Verdict.CONSENSUS, 1, mean=1.0, found_by=(FoundBy(TWICE, 4, 0.5), FoundBy(RUN, 7, 0.5))),
)
SPLITS = {QueryId(1): Split.TEST, QueryId(2): Split.VAL, QueryId(3): Split.VAL}
BY_ID: dict[MomentId, dict[str, Any]] = {
    MomentId(5 + n): {
        **{"video_name": "v", "timestamp": [float(n), n + 2.5], "duration": 60.0, "caption": f"caption {n}"},
        "published_caption": f"published {n}",
    }
    for n in (0, 1)
}
MOMENTS = {("v", float(n), n + 2.5): BY_ID[MomentId(5 + n)] for n in (0, 1)}


def standing(query: int, *, waiting: int = 0) -> QueryCounts:
    return QueryCounts(QueryId(query), f"text {query}", SPLITS.get(QueryId(query), Split.VAL), 4, waiting, 2, 1)


SELECTION = ReleaseSelection(
    queries=(standing(2, waiting=1), standing(1)),
    unfinished=(standing(3, waiting=2),),
    without_relevance=(standing(4),),
    unfinished_within=(standing(2, waiting=1),),
    moments=4,
    adjudicated=1,
    adjudicated_left_out=0,
)


def graded(number: int, relevance: int, similarity: float | None, adjudicated: bool = False) -> dict[str, Any]:
    place = number % 2
    return {
        "pair_id": number,
        **{"video_name": "v", "timestamp": [float(place), place + 2.5], "duration": 60.0},
        **{"caption": f"caption {place}", "published_caption": f"published {place}"},
        **{"similarity": similarity, "relevance": relevance, "adjudicated": adjudicated},
    }


SIMILAR = 0.123457
OF_1 = [graded(9, 1, SIMILAR), graded(10, 0, None, adjudicated=True), graded(11, 1, SIMILAR)]
VAL = [{"query_id": 2, "query": "text 2", "relevant_moment": [graded(7, 0, SIMILAR)]}]
TEST = [{"query_id": 1, "query": "text 1", "relevant_moment": OF_1}]


def test_truth_has_the_queries_in_judging_order_and_their_moments_by_rank() -> None:
    assert documents.truth(SELECTION, PAIRS, MOMENTS, WITH) == {Split.VAL: VAL, Split.TEST: TEST}


def test_moments_are_known_by_video_start_and_end() -> None:
    assert documents.by_span(BY_ID) == MOMENTS


def test_truth_may_leave_out_what_leads_decided() -> None:
    found = documents.truth(SELECTION, PAIRS, MOMENTS, WITHOUT)
    assert found == {Split.VAL: VAL, Split.TEST: [{**TEST[0], "relevant_moment": [OF_1[0], OF_1[2]]}]}


def test_videos_have_a_number_by_name() -> None:
    assert documents.videos({"b": 2.5, "a": 9.0, "c": 1.0}) == {"a": (9.0, 0), "b": (2.5, 1), "c": (1.0, 2)}


ROWS = [
    # Pair, query, split, text, video, times, duration, caption, rank, similarity, verdict, relevance, mean,
    # adjudicated, released.
    (11, 1, "test", "text 1", "v", 1.0, 3.5, 60.0, "caption 1", 2, SIMILAR, "consensus", 1, 0.5, 0, 1),
    (10, 1, "test", "text 1", "v", 0.0, 2.5, 60.0, "caption 0", 1, None, "adjudicated", 0, None, 1, 1),
    (9, 1, "test", "text 1", "v", 1.0, 3.5, 60.0, "caption 1", 1, SIMILAR, "consensus", 1, 1.0, 0, 1),
    (8, 1, "test", "text 1", "v", 0.0, 2.5, 60.0, "caption 0", 5, SIMILAR, "discarded", None, None, 0, 0),
    (7, 2, "val", "text 2", "v", 1.0, 3.5, 60.0, "caption 1", 1, SIMILAR, "consensus", 0, 0.0, 0, 1),
    (6, 3, "val", "text 3", "v", 0.0, 2.5, 60.0, "caption 0", 1, SIMILAR, "consensus", 1, 1.0, 0, 0),
]


def rows(options: ReleaseOptions, *, pooled: bool) -> list[tuple[object, ...]]:
    return documents.pair_rows(PAIRS, SPLITS, SELECTION, MOMENTS, options, pooled=pooled)


def test_every_pair_has_a_row_in_the_truth_or_not() -> None:
    plain = ReleaseOptions()
    assert rows(plain, pooled=False) == ROWS
    assert [*map(len, rows(plain, pooled=False))] == [len(documents.pair_columns(False, False))] * 6
    decided = PAIR_COLUMNS.index("released")
    assert [row[decided] for row in rows(WITHOUT, pooled=False)] == [1, 0, 1, 0, 1, 0]


def test_published_captions_and_sources_are_columns_of_their_own() -> None:
    published = [f"published {n}" for n in (1, 0, 1, 0, 1, 0)]
    # The run that was pooled twice found it once, at the best of its ranks.
    sources = ["", "", "", "", "a run; of 3 2; captions 3", "a run; of 3 4"]
    more: dict[tuple[bool, bool], list[tuple[object, ...]]] = {
        (False, False): [()] * 6,
        (True, False): [(one,) for one in published],
        (False, True): [(one,) for one in sources],
        (True, True): list(zip(published, sources, strict=True)),
    }
    for (with_published, pooled), cells in more.items():
        found = rows(ReleaseOptions(with_published=with_published), pooled=pooled)
        assert found == [(*row, *cell) for row, cell in zip(ROWS, cells, strict=True)]
        assert documents.pair_columns(with_published, pooled) == (
            *(*PAIR_COLUMNS, *["published_caption"] * with_published, *["sources"] * pooled),
        )


SCALE = Scale((GradeMeaning(0, "No", "", "", ""), GradeMeaning(1, "Yes", "it is there", "", "")))
RAW_REST = (None,) * (len(RAW_COLUMNS) - 2)
COUNTS = {
    **{"schema": "m009", "encoder": "minilm kind=minilm", "simulated": 3, "annotators": 5, "skipped": 2},
    **{"sources": ["x"], "pairs": {"open": 1}},
}
CONTENTS = Contents(
    name="a campaign",
    grading=Grading(SCALE, 0, Rounding.HALF_DOWN, "", (), ()),
    batch_size=2,
    truth={Split.VAL: VAL, Split.TEST: TEST},
    videos={"v": (60.0, 0), "w": (9.0, 1)},
    raw=[(number, *RAW_REST, again) for number, again in ((11, 0), (11, 0), (7, 1), (7, 1), (6, 1))],
    pair_columns=PAIR_COLUMNS,
    pairs=[*ROWS],
    counts=COUNTS,
    guideline={1: 4, 2: 0},
    rewriting=None,
    published_captions=True,
    without_caption=6,
    undescribed=1,
    changed_at=0.0,
    options=ReleaseOptions(),
    selection=SELECTION,
    terms=Terms(),
)


def test_what_is_counted_is_every_pair_with_its_grades() -> None:
    found = documents.statistics_documents(CONTENTS)
    assert found.truth == {"val": VAL, "test": TEST}
    assert found.corpus == {"v": 60.0, "w": 9.0}
    assert (found.highest, found.batch_size) == (1, 2)
    assert found.pairs == [
        JudgedPair("test", 1, 2, "consensus", 2),
        JudgedPair("test", 1, 1, "adjudicated", 0),
        JudgedPair("test", 1, 1, "consensus", 0),
        JudgedPair("test", 1, 5, "discarded", 0),
        JudgedPair("val", 2, 1, "consensus", 2),
        JudgedPair("val", 3, 1, "consensus", 1),
    ]
    assert documents.statistics_documents(replace(CONTENTS, pairs=[])).pairs == []
    with pytest.raises(ValueError, match="zip"):
        documents.statistics_documents(replace(CONTENTS, pair_columns=(*PAIR_COLUMNS, "sources")))


def manifest(**changes: Any) -> dict[str, Any]:
    contents = replace(CONTENTS, **changes)
    return documents.manifest(contents, statistics(documents.statistics_documents(contents)), {"val.json": "ab"})


def test_the_manifest_says_by_what_a_release_was_made() -> None:
    found = manifest()
    figures = found.pop("statistics")
    assert [part["part"] for part in figures["parts"]] == ["val", "test", "all"]
    assert figures["parts"][-1]["by_relevance"] == (2, 2)
    assert found == {
        "name": "a campaign",
        "format": "tvr-ranking",
        "created_at": "1970-01-01T00:00:00+00:00",
        "reelrank": __version__,
        "schema": "m009",
        "licence": None,
        "citation": None,
        "rule_version": "tvr-ranking-1",
        "re_opened": {"pairs": 2, "rule_version": "tvr-ranking-1+re-opened"},
        "scale": [{"grade": 0, "label": "No"}, {"grade": 1, "label": "Yes"}],
        "tolerance": 0,
        "rounding": "half_down",
        "batch_size": 2,
        "guideline": {"version": 2, "grades_by_version": {1: 4, 2: 0}},
        "encoder": "minilm kind=minilm",
        "counts": {"schema": "m009", "encoder": "minilm kind=minilm", "simulated": 3, "pairs": {"open": 1}},
        "captions": "published",
        "published_captions": True,
        "moments_without_caption": 6,
        "simulated_judgements": 3,
        "adjudicated": "include",
        "released": {
            **{"val_queries": 1, "test_queries": 1, "moments": 4},
            **{"adjudicated": 1, "adjudicated_left_out": 0},
        },
        "unfinished_queries": [2],
        "queries_left_out": {"unfinished": [3], "without_relevance": [4]},
        "files": {"val.json": "ab"},
    }


def test_the_manifest_tells_of_terms_rewriting_and_sources_where_there_are_any() -> None:
    replaced = tuple((f"word {n}", 200 - n) for n in range(101))
    words = tuple(ReplacementWord(f"word{n}", "N", 200 - n) for n in range(101))
    found = manifest(
        terms=Terms("CC-BY-4.0", "Doe, 2026"),
        rewriting=RewriteSummary(9, 5, 10.5, 11.0, replaced, words, (("rules-4", 9),)),
        sources=(CAPTIONS, RUN),
        pair_columns=(*PAIR_COLUMNS, "sources"),
        pairs=[(*row, "") for row in ROWS],
        raw=[],
        options=WITHOUT,
    )
    assert (found["licence"], found["citation"]) == ("CC-BY-4.0", "Doe, 2026")
    assert found["captions"] == "imprecise"
    assert found["rewriting"] == {
        **{"captions": 9, "changed": 5, "words_before": 10.5, "words_after": 11.0},
        "replacements": dict(replaced[:100]),
        "words": [{"word": f"word{n}", "gender": "N", "count": 200 - n} for n in range(100)],
        "replaced": 101 * 150,  # the mean of 200 to 100
        "versions": {"rules-4": 9},
    }
    assert found["sources"] == [
        {"kind": "captions", "name": "minilm", "sha256": None, "depth": 20, "part": 1},
        {"kind": "run", "name": "a run; of 3", "sha256": "77", "depth": 9, "part": 1},
    ]
    assert "re_opened" not in found
    assert found["adjudicated"] == "leave-out"
