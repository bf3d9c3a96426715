"""The upper bound of captions against cosines one by one; two steps by hand."""

from pathlib import Path

import numpy as np
import pytest

from backend.core.errors import InputError
from backend.scoring.files.entries import parse_run_mapping
from backend.systems import baselines
from backend.systems.baselines import two_step_answers
from backend.systems.model import KnownMoment, SearchTask
from support import MOMENTS, WordEncoder

CAPTIONS = [KnownMoment(m.video, m.start_s, m.end_s, m.caption) for m in MOMENTS]
QUERIES = {"1": "Somebody pours tea in room 3", "2": "Dev waves", "3": "a door"}
DURATIONS = {m.video: 60.0 for m in MOMENTS}
TASK = SearchTask("made", QUERIES, DURATIONS, captions=CAPTIONS)


def test_captions_rank_moments_by_their_cosine(tmp_path: Path) -> None:
    found = baselines.answer_by_captions(TASK, WordEncoder(), tmp_path, top=len(CAPTIONS))
    vectors = WordEncoder().encode([one.caption for one in CAPTIONS]).astype(np.float64)
    for query, text in QUERIES.items():
        cosine = vectors @ WordEncoder().encode([text])[0].astype(np.float64)
        expected = {one[:3]: score for one, score in zip(CAPTIONS, cosine, strict=True)}
        assert len(found[query]) == len(expected)
        for one in found[query]:
            assert one.score == pytest.approx(expected[one[:3]], abs=1e-5)
        assert [one.score for one in found[query]] == sorted((one.score for one in found[query]), reverse=True)
    best = baselines.answer_by_captions(TASK, WordEncoder(), tmp_path, top=5)
    assert {query: answers[:5] for query, answers in found.items()} == best


def test_a_moment_counts_as_its_most_similar_caption(tmp_path: Path) -> None:
    both = [KnownMoment("v", 0, 5, "a dog"), KnownMoment("w", 1, 2, "a cat"), KnownMoment("v", 0, 5, "a cat ")]
    task = SearchTask("made", {"q": "a cat"}, {"v": 9.0, "w": 9.0}, captions=both)
    found = baselines.answer_by_captions(task, WordEncoder(), tmp_path)["q"]
    assert [one[:3] for one in found] == [("v", 0, 5), ("w", 1, 2)]
    assert [one.score for one in found] == [1.0, 1.0]


def test_captions_and_texts_are_needed(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="made: has no captions"):
        baselines.answer_by_captions(SearchTask("made", QUERIES, DURATIONS), WordEncoder(), tmp_path)
    without = SearchTask("made", {"1": "a man", "2": " ", "3": ""}, DURATIONS, captions=CAPTIONS)
    with pytest.raises(InputError) as refused:
        baselines.answer_by_captions(without, WordEncoder(), tmp_path)
    assert [str(one) for one in refused.value.problems] == ["made: query 2 has no text", "made: query 3 has no text"]


FIRST = {"1": [["a", 0, 1, 0.2], ["b", 0, 1, 0.9], ["a", 5, 6, 0.8], ["c", 0, 1, 0.1]], "2": [["c", 0, 1, 0.5]]}
SECOND = {
    "1": [["c", 4, 8, 0.9], ["b", 1, 2, 0.8], ["a", 3, 4, 0.7], ["b", 7, 9, 0.6]],
    "2": [["a", 1, 2, 0.4]],
    "3": [["a", 1, 2, 0.4]],
}


def test_moments_of_the_best_videos_stay_in_their_order() -> None:
    """By rank the first run's videos of query 1 are a, b, c; two of them are left. Query 3 has no first step."""
    videos, moments = parse_run_mapping(FIRST), parse_run_mapping(SECOND)
    found = two_step_answers(TASK, videos, moments, best=2)
    assert found == {"1": [("b", 1, 2, 0.8), ("a", 3, 4, 0.7), ("b", 7, 9, 0.6)], "2": []}
    assert two_step_answers(TASK, videos, moments, best=2, top=1)["1"] == [("b", 1, 2, 0.8)]
    assert [one[0] for one in two_step_answers(TASK, videos, moments, best=1)["1"]] == ["a"]


def test_runs_of_other_queries_are_refused() -> None:
    other = parse_run_mapping({"99": [["a", 0, 1, 0.2]]})
    with pytest.raises(InputError, match="made: shares no query with both"):
        two_step_answers(TASK, other, parse_run_mapping(SECOND))
