"""What is different between two releases, by hand."""

from collections.abc import Mapping
from typing import Any

import pytest

from backend.campaign.release.export.rules.diffing import (
    ComparedRelease,
    JudgedSpan,
    PairChange,
    QueryChange,
    Span,
    compare,
)
from backend.core.messages import Said

FIRST, SECOND, THIRD, OTHERS, GONE, NEW = (
    *(Span("1", "v", float(start), start + 2.0) for start in range(3)),
    *(Span(query, "v", 0.0, 2.0) for query in ("2", "3", "4")),
)


def release(
    name: str, queries: Mapping[str, tuple[str, str]], relevances: Mapping[Span, int], **more: Any
) -> ComparedRelease:
    return ComparedRelease(name, queries, relevances, **more)


def test_queries_and_relevances_that_differ_are_told_in_the_order_of_the_first_release() -> None:
    before = release(
        "v1",
        {"1": ("val", "A dog."), "2": ("val", "A cat."), "3": ("val", "A cow."), "5": ("val", "A bee.")},
        {SECOND: 4, FIRST: 1, OTHERS: 2, GONE: 3},
        left_out={"4": "unfinished", "3": "never read"},
        judged={SECOND: JudgedSpan("11"), FIRST: JudgedSpan("10")},
    )
    after = release(
        "v2",
        {"5": ("val", "A bee."), "4": ("test", "A fly."), "1": ("val", "A big dog."), "2": ("test", "A cat.")},
        {THIRD: 0, NEW: 1, FIRST: 3, OTHERS: 2},
        left_out={"3": "without_relevance", "4": "never read"},
        judged={FIRST: JudgedSpan("20"), THIRD: JudgedSpan("22")},
    )
    log = {"11": ("Lea did this", "and that"), "10": ("is not asked for",), "99": ("of nobody",)}
    found = compare(before, after, log)
    assert (found.before, found.after, found.equal) == ("v1", "v2", False)
    assert found.queries == (
        QueryChange("1", "val: A dog.", "val: A big dog.", ""),
        QueryChange("2", "val: A cat.", "test: A cat.", ""),
        QueryChange("3", "val: A cow.", "", "left out of the other release: none of its pairs had a relevance"),
        QueryChange("4", "", "test: A fly.", "left out of the other release: some of its pairs waited for grades"),
    )
    assert found.pairs == (
        PairChange("1", "A big dog.", "11", "v", 1.0, 3.0, 4, None, "Lea did this; and that"),
        PairChange("1", "A big dog.", "20", "v", 0.0, 2.0, 1, 3, ""),
        PairChange("1", "A big dog.", "22", "v", 2.0, 4.0, None, 0, ""),
    )
    assert (found.same, found.moments_gone, found.moments_new, dict(found.moved)) == (1, 2, 2, {2: 1})


def test_how_far_relevances_moved_is_counted_from_the_least() -> None:
    spans = [Span("1", "v", float(n), n + 1.0) for n in range(6)]
    queries = {"1": ("val", "A dog.")}
    before, after = (
        release(name, queries, dict(zip(spans, given, strict=True)))
        for name, given in (("v1", (1, 2, 0, 4, 1, 3)), ("v2", (3, 4, 0, 1, 0, 3)))
    )
    found = compare(before, after, {})
    assert list(found.moved.items()) == [(-3, 1), (-1, 1), (2, 2)]
    assert (found.same, found.moments_gone, found.moments_new) == (2, 0, 0)
    assert [one.pair_id for one in found.pairs] == [""] * 4


def test_a_release_and_itself_are_equal() -> None:
    one = release("v1", {"1": ("val", "A dog.")}, {FIRST: 1})
    assert compare(one, one, {}).equal
    assert not compare(one, release("v2", one.queries, {FIRST: 0}), {}).equal
    assert not compare(one, release("v2", {"1": ("val", "A cat.")}, one.relevances), {}).equal


@pytest.mark.parametrize(
    ("left_out", "reason"),
    [({}, ""), ({"2": "unfinished"}, ""), ({"1": "withdrawn"}, "left out of the other release: withdrawn")],
)
def test_why_a_query_is_left_out_is_told_as_far_as_it_is_known(left_out: dict[str, str], reason: str) -> None:
    found = compare(release("v1", {"1": ("val", "A dog.")}, {}), release("v2", {}, {}, left_out=left_out), {})
    assert found.queries == (QueryChange("1", "val: A dog.", "", reason),)


DISCARDED = JudgedSpan("1", "discarded", (0, 4, 1, 3))
CONSENSUS = JudgedSpan("1", "consensus", (3, 4))
DECIDED = JudgedSpan("1", "adjudicated", (3, 4))
HANDED_OUT = JudgedSpan("1", "open")


@pytest.mark.parametrize(
    ("was", "now", "adjudicated", "reason"),
    [
        (CONSENSUS, JudgedSpan("1", "consensus", (4, 3)), (True, True), ""),
        (CONSENSUS, JudgedSpan("1", "consensus", (3, 3)), (True, True), "grades 3, 4 became 3, 3"),
        (HANDED_OUT, CONSENSUS, (True, True), "open became consensus; grades none became 3, 4"),
        (DISCARDED, DECIDED, (True, True), "discarded became adjudicated; grades 0, 4, 1, 3 became 3, 4"),
        (CONSENSUS, DECIDED, (True, True), "consensus became adjudicated"),
        (DECIDED, DECIDED, (True, True), "a lead gave another relevance"),
        (DECIDED, DECIDED, (False, False), ""),
        (DECIDED, DECIDED, (True, False), "one of the releases leaves adjudicated pairs out"),
        (DECIDED, DECIDED, (False, True), "one of the releases leaves adjudicated pairs out"),
        (CONSENSUS, DECIDED, (True, False),
            "consensus became adjudicated; one of the releases leaves adjudicated pairs out"),
        (DECIDED, CONSENSUS, (True, False), "adjudicated became consensus"),
        (CONSENSUS, CONSENSUS, (True, False), ""),
        (None, CONSENSUS, (True, True), "handed out in the meantime"),
        (CONSENSUS, None, (True, True), "no longer among its pairs"),
    ],
)  # fmt: skip
def test_why_a_relevance_is_another_one(
    was: JudgedSpan | None, now: JudgedSpan | None, adjudicated: tuple[bool, bool], reason: str
) -> None:
    def both(told_before: bool, told_after: bool) -> str:
        before, after = (
            release(
                name,
                {"1": ("val", "A dog.")},
                {FIRST: relevance},
                judged={FIRST: one} if one else {},
                told=told,
                adjudicated=within,
            )
            for name, relevance, one, told, within in (
                ("v1", 3, was, told_before, adjudicated[0]),
                ("v2", 1, now, told_after, adjudicated[1]),
            )
        )
        (pair,) = compare(before, after, {}).pairs
        return pair.reason

    assert both(True, True) == reason
    # Files that do not tell of every pair tell nothing of why.
    assert both(True, False) == both(False, True) == both(False, False) == ""


def test_a_verdict_can_be_said_in_another_language_and_an_unknown_one_is_told_as_it_is() -> None:
    was, now = (
        release(
            verdict, {"1": ("val", "A dog.")}, {FIRST: relevance}, judged={FIRST: JudgedSpan("1", verdict)}, told=True
        )
        for verdict, relevance in (("consensus", 3), ("deferred", 2))
    )
    (change,) = compare(was, now, {}).pairs
    assert change.reason == "consensus became deferred"
    assert isinstance(change.reason, Said)
    part = change.reason.values["part_0"]
    assert isinstance(part, Said)
    assert isinstance(part.values["was"], Said), "a word of ours, which a catalogue has"
    assert not isinstance(part.values["now"], Said)
