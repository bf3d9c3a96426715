"""What is wrong with the truth and the training sets of a release: each message by hand, and none where nothing is."""

from collections.abc import Mapping
from typing import Any

import pytest

from backend.campaign.release.export.rules.checks import SpanFaults, check_training, check_truth
from backend.core.release_entries import Entry, GradedMoment, Moment, Queries

VIDEOS = {"v": 10.0, "w": 0.02, "x": 0.0, "y": 0.5}


def graded(video: str = "v", start: float = 0.0, end: float = 4.0, relevance: int = 2, **more: Any) -> GradedMoment:
    return GradedMoment(video_name=video, timestamp=(float(start), float(end)), relevance=relevance, **more)


def weighed(start: float, similarity: float | None, video: str = "v", end: float = 9.0, **more: Any) -> Moment:
    return Moment(video_name=video, timestamp=(float(start), end), similarity=similarity, **more)


def entry(row: int, query_id: int | str, query: str, *moments: Any, whole: bool = True) -> Entry[Any]:
    return Entry(row, query_id, query, list(enumerate(moments, start=1)), whole)


def told(*truth: Queries[GradedMoment], videos: Mapping[str, float] | None = VIDEOS) -> list[str]:
    return [str(problem) for problem in check_truth(truth, SpanFaults(videos), range(3))]


@pytest.mark.parametrize(
    ("moment", "faults"),
    [
        (graded(), []),
        (graded(end=10, duration=10.0), []),
        (graded(end=11), []),  # a second more than the video is let pass
        (graded(end=11.5), ["end 11.5 is more than 1 s after the video's end at 10.0 s"]),
        (graded(start=10, end=10.5), ["start 10.0 is outside the video, which lasts 10.0 s"]),
        (graded(start=-0.5), ["start -0.5 is negative"]),
        (graded(start=-0.5, end=90), ["start -0.5 is negative"]),  # one fault tells of the other
        (graded(start=4), ["end 4.0 is not after start 4.0"]),
        (graded(start=12, end=11), ["end 11.0 is not after start 12.0"]),
        (graded(start=12, end=12), ["end 12.0 is not after start 12.0"]),
        (graded("nowhere"), ["video 'nowhere' is not in video_corpus.json"]),
        (graded("nowhere", duration=2.0), [
            "video 'nowhere' is not in video_corpus.json",
            "end 4.0 is more than 1 s after the video's end at 2.0 s",
        ]),
        (graded(" "), ["the name of the video is empty", "video ' ' is not in video_corpus.json"]),
        (graded(duration=10.01), []),  # rounded otherwise
        (graded(duration=9.98), ["video 'v' lasts 9.98 s here and 10.0 s in video_corpus.json"]),
        (graded(duration=10.5), ["video 'v' lasts 10.5 s here and 10.0 s in video_corpus.json"]),
        (graded("w", end=0.5, duration=0.01), []),  # exactly as much as two may differ
        (graded("y", end=3), ["end 3.0 is more than 1 s after the video's end at 0.5 s"]),
        (graded("x", end=70), []),  # how long this one lasts nobody knows
        (graded(similarity=1.0), []),
        (graded(similarity=-1.00001), []),
        (graded(similarity=1.0001), ["similarity 1.0001 is not between -1 and 1"]),
        (graded(similarity=-1.5), ["similarity -1.5 is not between -1 and 1"]),
        (graded(relevance=0), []),
        (graded(relevance=3), ["relevance is 3, not one of 0, 1, 2"]),
        (graded(relevance=-1), ["relevance is -1, not one of 0, 1, 2"]),
        (graded(relevance=7, start=4, similarity=2.0), [
            "end 4.0 is not after start 4.0",
            "similarity 2.0 is not between -1 and 1",
            "relevance is 7, not one of 0, 1, 2",
        ]),
    ],
)  # fmt: skip
def test_what_one_moment_cannot_be(moment: GradedMoment, faults: list[str]) -> None:
    found = told(Queries("val.json", [entry(4, "q7", "A dog.", graded("x", relevance=0), moment)]))
    assert found == [f"val.json, row 4: query q7, moment 2: {fault}" for fault in faults]


def test_without_a_list_of_videos_a_moment_is_held_against_what_it_says() -> None:
    moments = [
        graded("nowhere", end=90),
        graded("v", end=90),
        graded("v", end=90, duration=80.0),
        graded("v", end=80.5),
    ]
    assert told(Queries("val.json", [entry(1, 1, "A dog.", *moments[:2])]), videos=None) == []
    (problem,) = told(Queries("val.json", [entry(1, 1, "A dog.", moments[3], moments[2])]), videos=None)
    assert problem == ("val.json, row 1: query 1, moment 2: end 90.0 is more than 1 s after the video's end at 80.0 s")


def test_the_same_span_with_another_duration_is_looked_at_anew() -> None:
    faults = SpanFaults(None)
    assert faults.faults(graded(end=9)) == ()
    assert faults.faults(graded(end=9, duration=5.0)) == ("end 9.0 is more than 1 s after the video's end at 5.0 s",)
    assert faults.faults(graded(end=9)) == ()


def test_numbers_texts_moments_and_pairs_stand_once() -> None:
    val = Queries("val.json", [
        entry(1, 1, "A dog.", graded(pair_id=5), graded(start=1.0, pair_id="6"), graded(relevance=1, pair_id=7)),
        entry(2, "1", " A dog. ", graded(pair_id=6)),
    ])  # fmt: skip
    test = Queries("test.json", [
        entry(1, 2, "A cat.", graded(pair_id=5)),
        entry(2, 2, "A bird."),
        entry(3, 3, " ", whole=False),
        entry(4, 4, "  ", graded(pair_id=8), graded("w", end=0.02)),
    ])  # fmt: skip
    assert told(val, test) == [
        "val.json, row 1: query 1, pair 7: the moment [0.0, 4.0) of 'v' was already given, as moment 1",
        "val.json, row 2: query 1: the query's number is also in val.json, row 1",
        "val.json, row 2: query 1: the text ' A dog. ' is also in val.json, row 1",
        "val.json, row 2: query 1, pair 6: the pair 6 is also in val.json, row 1, moment 2",
        "test.json, row 1: query 2, pair 5: the pair 5 is also in val.json, row 1, moment 1",
        "test.json, row 2: query 2: the query's number is also in test.json, row 1",
        "test.json, row 2: query 2: has no moment",
        "test.json, row 3: query 3: the text is empty",
        "test.json, row 4: query 4: the text '  ' is also in test.json, row 3",
        "test.json, row 4: query 4: the text is empty",
    ]


def training(sets: dict[int, list[Entry[Any]]], truth: list[Queries[GradedMoment]] | None = None) -> list[str]:
    files = {size: Queries(f"top{size}.json", entries) for size, entries in sets.items()}
    return [str(problem) for problem in check_training(files, truth or [], SpanFaults(VIDEOS))]


def test_sets_that_are_cuts_of_one_another_are_clean() -> None:
    moments = [weighed(0, 0.9), weighed(1, 0.5), weighed(2, 0.5), weighed(3, -0.2)]
    sets = {size: [entry(1, 1, "A dog.", *moments[:size]), entry(2, 2, "A dog.", moments[2])] for size in (2, 1, 4)}
    assert training(sets, [Queries("val.json", [entry(1, 9, "A cat.", graded())])]) == []


def test_nothing_that_people_judged_trains_and_no_query_has_too_many() -> None:
    truth = [Queries("val.json", [entry(1, 9, " A cat.")]), Queries("test.json", [entry(1, 8, "A bird.")])]
    sets = {
        1: [
            entry(1, "9", "A bird. ", weighed(0, 0.5)),
            entry(2, "9", "A dog.", weighed(0, 0.5), weighed(1, 0.4)),
            entry(3, 7, " "),
        ]
    }
    assert training(sets, truth) == [
        "top1.json, row 1: query 9: the text 'A bird. ' is judged in test.json, so it must not be in a training set",
        "top1.json, row 1: query 9: val.json also has a query of this number",
        "top1.json, row 2: query 9: the query's number is also in top1.json, row 1",
        "top1.json, row 2: query 9: val.json also has a query of this number",
        "top1.json, row 2: query 9: has 2 moments, more than 1",
        "top1.json, row 3: query 7: the text is empty",
        "top1.json, row 3: query 7: has no moment",
    ]


def test_weights_fall_and_stand_at_moments_that_can_be() -> None:
    largest = [
        *(weighed(0, 0.5), weighed(1, None), weighed(2, 0.9), weighed(3, 0.9), weighed(4, 0.95)),
        *(weighed(3, 0.1), weighed(5, 0.1, video="nowhere"), weighed(6, -2.0)),
    ]
    # Of the smaller sets nobody looks: they are cuts of it.
    sets = {2: [entry(1, 1, "A dog.", *largest[:2])], 9: [entry(1, 1, "A dog.", *largest)]}
    assert training(sets) == [
        "top9.json, row 1: query 1, moment 2: has no `similarity`, which is its weight",
        "top9.json, row 1: query 1, moment 3: similarity 0.9 is higher than 0.5 of the moment before it",
        "top9.json, row 1: query 1, moment 5: similarity 0.95 is higher than 0.9 of the moment before it",
        "top9.json, row 1: query 1, moment 6: the moment [3.0, 9.0) of 'v' was already given, as moment 4",
        "top9.json, row 1: query 1, moment 7: video 'nowhere' is not in video_corpus.json",
        "top9.json, row 1: query 1, moment 8: similarity -2.0 is not between -1 and 1",
    ]


def test_a_set_that_is_no_cut_of_the_next_larger_one_is_told_where() -> None:
    moments = [weighed(0, 0.9), weighed(1, 0.5), weighed(2, 0.4)]
    sets = {
        1: [entry(1, 2, "A cat.", moments[0]), entry(2, 1, "A dog.", moments[0])],
        2: [
            entry(1, 5, "A fly.", moments[0]),
            entry(2, "1", "A dog.", moments[1], moments[2]),
            entry(3, 2, "A cat!", moments[0]),
            entry(4, 3, "A bird.", whole=False),
            entry(5, 4, "A cow.", moments[0]),
            entry(6, 7, "A bat.", moments[0], moments[1]),
        ],
        3: [
            entry(1, 2, "A cat.", *moments),
            entry(2, 1, "A dog.", *moments),
            entry(3, 3, "A bird.", *moments),
            entry(4, 4, "A cow.", *moments[:2], whole=False),
            entry(5, 6, "A bee.", *moments),
            entry(6, 7, "A bat.", *moments[1:]),
        ],
    }
    assert training(sets) == [
        "top2.json, row 1: query 5: is not in top3.json",
        "top2.json, row 2: query 1, moment 1: differs from top3.json, row 2",
        "top2.json, row 2: query 1, moment 2: differs from top3.json, row 2",
        "top2.json, row 3: query 2: has another text in top3.json",
        "top2.json, row 3: query 2: has 1 moments, but top3.json has 2 for it",
        "top2.json, row 6: query 7, moment 1: differs from top3.json, row 6",
        "top2.json, row 6: query 7, moment 2: differs from top3.json, row 6",
        "top2.json: query 6 is missing; top3.json has it in row 5",
        "top1.json, row 1: query 2: has another text in top2.json",
        "top1.json, row 2: query 1, moment 1: differs from top2.json, row 2",
        "top1.json: query 5 is missing; top2.json has it in row 1",
        "top1.json: query 3 is missing; top2.json has it in row 4",
        "top1.json: query 4 is missing; top2.json has it in row 5",
        "top1.json: query 7 is missing; top2.json has it in row 6",
    ]
