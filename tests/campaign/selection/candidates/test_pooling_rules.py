"""Pooling against a second telling of it in fractions, and what holds whatever is pooled."""

from fractions import Fraction
from itertools import count

from hypothesis import given
from hypothesis import strategies as st

from backend.campaign.selection.candidates.model import KnownSpan, MergedSpan, SeenSpan, pool
from backend.core.ids import MomentId

SPANS = st.tuples(st.sampled_from("ab"), st.integers(0, 12), st.integers(1, 12)).map(
    lambda s: (s[0], s[1], s[1] + s[2])
)
RUNS = st.lists(st.lists(SPANS, max_size=6), min_size=1, max_size=4)
MOMENTS = st.lists(SPANS, max_size=5, unique=True)
IOUS = st.sampled_from([Fraction(1, 2), Fraction(7, 10), Fraction(1)])
Span = tuple[str, int, int]


def seen_in(runs: list[list[Span]], order: list[int] | None = None) -> list[SeenSpan]:
    """Every prediction with its rank; a run keeps its number in whatever order the runs come."""
    return [
        SeenSpan(rank, *span, source)
        for source in (order or range(len(runs)))
        for rank, span in enumerate(runs[source], start=1)
    ]


def pooled(seen: list[SeenSpan], listed: list[Span], moments: list[Span], iou: Fraction) -> list[MergedSpan]:
    known = [KnownSpan(*span, MomentId(number)) for number, span in enumerate(moments, start=1)]
    by_video = {video: [one for one in known if one.video == video] for video in "ab"}
    there = [MergedSpan(*span, MomentId(moments.index(span) + 1)) for span in listed]
    return pool(seen, there, by_video, iou, (MomentId(-number) for number in count(1)))


def overlap(one: Span, other: Span) -> Fraction:
    """By the sets of the steps that each covers."""
    if one[0] != other[0]:
        return Fraction(0)
    these, those = set(range(*one[1:])), set(range(*other[1:]))
    return Fraction(len(these & those), len(these | those))


def told_again(
    seen: list[SeenSpan], listed: list[Span], moments: list[Span], iou: Fraction
) -> dict[Span, set[SeenSpan]]:
    """Greedy by rank: the nearest candidate, else the nearest moment, else a new one."""
    chosen: dict[Span, set[SeenSpan]] = {span: set() for span in listed}

    def nearest(span: Span, among: list[Span]) -> Span | None:
        near = [one for one in among if overlap(span, one) >= iou]
        return min(near, key=lambda one: (-overlap(span, one), one[1], one[2]), default=None)

    for one in sorted(seen, key=lambda one: (one.rank, one.video, one.start, one.end)):
        span = (one.video, one.start, one.end)
        candidate = nearest(span, list(chosen)) or nearest(span, moments) or span
        chosen.setdefault(candidate, set()).add(one)
    return {span: found for span, found in chosen.items() if found}


@given(RUNS, MOMENTS, IOUS, st.data())
def test_the_candidates_are_those_of_the_other_telling(
    runs: list[list[Span]], moments: list[Span], iou: Fraction, data: st.DataObject
) -> None:
    listed = data.draw(st.lists(st.sampled_from(moments), unique=True)) if moments else []
    seen = seen_in(runs)
    found = pooled(seen, listed, moments, iou)
    assert {(one.video, one.start, one.end): set(one.seen) for one in found} == told_again(seen, listed, moments, iou)
    numbers = {span: number for number, span in enumerate(moments, start=1)}
    for one in found:
        number = numbers.get((one.video, one.start, one.end))
        assert one.moment_id == number if number else one.moment_id < 0


@given(RUNS, MOMENTS, IOUS, st.data())
def test_the_order_of_runs_does_not_matter_and_nothing_is_lost(
    runs: list[list[Span]], moments: list[Span], iou: Fraction, data: st.DataObject
) -> None:
    order = data.draw(st.permutations(range(len(runs))))
    found = pooled(seen_in(runs), [], moments, iou)
    again = pooled(seen_in(runs, order), [], moments, iou)
    assert [(one.video, one.start, one.end, sorted(one.seen)) for one in found] == [
        (one.video, one.start, one.end, sorted(one.seen)) for one in again
    ]
    assert sorted(span for one in found for span in one.seen) == sorted(seen_in(runs))
    for one in found:
        assert all(overlap((one.video, one.start, one.end), span[1:4]) >= iou for span in one.seen)
    ranks = [min(span.rank for span in one.seen) for one in found]
    assert ranks == sorted(ranks)


def test_by_hand() -> None:
    """Two runs; moments of the project at 0-10 and 20-30 of a."""
    runs: list[list[Span]] = [[("a", 1, 10), ("b", 0, 4)], [("a", 20, 27), ("a", 0, 11), ("b", 0, 3)]]
    found = pooled(seen_in(runs), [], [("a", 0, 10), ("a", 20, 30)], Fraction(7, 10))
    assert [(one.video, one.start, one.end, one.moment_id, len(one.seen)) for one in found] == [
        ("a", 0, 10, 1, 2),  # 9/10 of the first, 10/11 of the second: found twice, so before what was found once
        ("a", 20, 30, 2, 1),  # exactly 7/10
        ("b", 0, 4, -1, 2),  # 3/4 of it is the other run's third
    ]


def test_the_nearest_has_the_highest_iou_and_not_the_longest_overlap() -> None:
    """10-20 lies wholly in 0-20, of which it is half; 11-20 is 9/10 of it. The shortest span is one step long."""
    moments: list[Span] = [("a", 0, 20), ("a", 11, 20), ("b", 0, 1)]
    found = pooled(seen_in([[("a", 10, 20), ("b", 0, 1)]]), [], moments, Fraction(1, 2))
    assert [(one.video, one.start, one.moment_id) for one in found] == [("a", 11, 2), ("b", 0, 3)]


def test_of_equally_near_ones_that_begin_together_it_is_the_shorter() -> None:
    """0-4 and 0-9 both have 2/3 of their union with 0-6."""
    found = pooled(seen_in([[("a", 0, 6)]]), [], [("a", 0, 9), ("a", 0, 4)], Fraction(1, 2))
    assert [one.end for one in found] == [4]
    found = pooled(seen_in([[("a", 0, 6)]]), [], [("a", 0, 4), ("a", 0, 9)], Fraction(1, 2))
    assert [one.end for one in found] == [4]
