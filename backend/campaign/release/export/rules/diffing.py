"""Compare two releases, and explain each difference as far as their files and the log allow. Pure functions."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, TypeVar

from backend.core.messages import joined, said

_Key = TypeVar("_Key")


class Span(NamedTuple):
    """A moment of one query."""

    query_id: str
    video: str
    start_s: float
    end_s: float


@dataclass(frozen=True, slots=True)
class JudgedSpan:
    """The verdict (outcome of grading) and the grades of a released pair; empty where the files do not state them."""

    pair_id: str
    verdict: str = ""
    grades: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class ComparedRelease:
    """The content of a release that is compared with another one.

    Attributes:
        name: name of the release.
        queries: (split, text) of each query in the truth, by id.
        relevances: relevance of each moment in the truth.
        judged: the verdict and grades of each pair in its files, by moment.
        told: whether the files state verdict and grades of every pair that annotators were given.
        left_out: why each missing query is not in the truth, by query id, as far as the manifest states it.
        adjudicated: whether the truth includes pairs whose relevance a lead decided.
    """

    name: str
    queries: Mapping[str, tuple[str, str]]
    relevances: Mapping[Span, int]
    judged: Mapping[Span, JudgedSpan] = field(default_factory=dict)
    told: bool = False
    left_out: Mapping[str, str] = field(default_factory=dict)
    adjudicated: bool = True


@dataclass(frozen=True, slots=True)
class QueryChange:
    """A query that only one of two releases has, or whose text or split differs between them.

    `before` and `after` look like `val: a text`, and are empty if that release lacks the query.
    """

    query_id: str
    before: str
    after: str
    reason: str


@dataclass(frozen=True, slots=True)
class PairChange:
    """A moment whose relevance differs between two releases, for a query that both releases have.

    `before` and `after` are the relevances of the moment; None if that release lacks the moment.
    """

    query_id: str
    query: str
    pair_id: str
    video: str
    start_s: float
    end_s: float
    before: int | None
    after: int | None
    reason: str


@dataclass(frozen=True, slots=True)
class ReleaseDiff:
    """The differences between two releases.

    Attributes:
        before: name of the first release.
        after: name of the second release.
        queries: the changes of queries.
        pairs: the changed relevances of moments, for queries that both releases have.
        same: number of moments with the same relevance in both releases.
        moments_gone: number of moments that only the first release has, of all queries.
        moments_new: number of moments that only the second release has, of all queries.
        moved: maps a change of relevance (after minus before) to the number of moments with it.
    """

    before: str
    after: str
    queries: tuple[QueryChange, ...]
    pairs: tuple[PairChange, ...]
    same: int
    moments_gone: int
    moments_new: int
    moved: Mapping[int, int]

    @property
    def equal(self) -> bool:
        """Whether both releases have the same truth."""
        return not (self.queries or self.pairs)


def compare(before: ComparedRelease, after: ComparedRelease, log: Mapping[str, Sequence[str]]) -> ReleaseDiff:
    """Return the differences between two releases.

    Args:
        before: the first release.
        after: the second release.
        log: sentences about what leads did to pairs between the two releases, by pair id; empty if there is no record.
    """
    moved: dict[int, int] = {}
    pairs: list[PairChange] = []
    same = gone = new = 0
    for span in _all_keys(before.relevances, after.relevances):
        before_relevance, after_relevance = before.relevances.get(span), after.relevances.get(span)
        if before_relevance == after_relevance:
            same += 1
            continue
        gone += after_relevance is None
        new += before_relevance is None
        if before_relevance is not None and after_relevance is not None:
            moved[after_relevance - before_relevance] = moved.get(after_relevance - before_relevance, 0) + 1
        if span.query_id in before.queries and span.query_id in after.queries:
            pair_id = next((release.judged[span].pair_id for release in (after, before) if span in release.judged), "")
            text = after.queries[span.query_id][1]
            reason = joined("; ", [*_reasons(span, before, after), *log.get(pair_id, ())])
            pairs.append(PairChange(span.query_id, text, pair_id, *span[1:], before_relevance, after_relevance, reason))
    return ReleaseDiff(
        before=before.name,
        after=after.name,
        queries=tuple(_queries(before, after)),
        pairs=tuple(pairs),
        same=same,
        moments_gone=gone,
        moments_new=new,
        moved=dict(sorted(moved.items())),
    )


_LEFT_OUT = {
    "unfinished": said("some of its pairs waited for grades"),
    "without_relevance": said("none of its pairs had a relevance"),
}
_VERDICTS = {
    verdict: verdict
    for verdict in (said("open"), said("escalated"), said("consensus"), said("discarded"), said("adjudicated"))
}


def _queries(before: ComparedRelease, after: ComparedRelease) -> Iterator[QueryChange]:
    for query_id in _all_keys(before.queries, after.queries):
        was, now = before.queries.get(query_id), after.queries.get(query_id)
        if was != now:
            left_out = (after if now is None else before).left_out.get(query_id, "")
            reason = (
                said("left out of the other release: {why}", why=_LEFT_OUT.get(left_out, left_out)) if left_out else ""
            )
            yield QueryChange(query_id, _query_text(was), _query_text(now), reason)


def _reasons(span: Span, before: ComparedRelease, after: ComparedRelease) -> Iterator[str]:
    """Yield why the relevance of a pair may differ between two releases, as far as the files of both state it."""
    if not (before.told and after.told):
        return
    was, now = before.judged.get(span), after.judged.get(span)
    if was is None or now is None:
        yield said("handed out in the meantime") if was is None else said("no longer among its pairs")
        return
    if was.verdict != now.verdict:
        verdicts = [_VERDICTS.get(judged.verdict, judged.verdict) for judged in (was, now)]
        yield said("{was} became {now}", was=verdicts[0], now=verdicts[1])
    elif now.verdict == "adjudicated" and before.adjudicated and after.adjudicated:
        yield said("a lead gave another relevance")
    if now.verdict == "adjudicated" and before.adjudicated != after.adjudicated:
        yield said("one of the releases leaves adjudicated pairs out")
    if sorted(was.grades) != sorted(now.grades):
        yield said("grades {was} became {now}", was=_grades_text(was.grades), now=_grades_text(now.grades))


def _query_text(query: tuple[str, str] | None) -> str:
    return ": ".join(query) if query else ""


def _grades_text(grades: Sequence[int]) -> str:
    return ", ".join(map(str, grades)) or said("none")


def _all_keys(before: Mapping[_Key, object], after: Mapping[_Key, object]) -> list[_Key]:
    return [*before, *(key for key in after if key not in before)]
