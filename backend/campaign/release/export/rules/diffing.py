"""Compare two releases, with the reasons for each change that they or the log give. Pure."""

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
    """How a pair stands in the files of a release, settled or not."""

    pair_id: str
    verdict: str = ""
    grades: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class ComparedRelease:
    """What is compared of a release.

    Attributes:
        name: what it is called.
        queries: (split, text) of those in the truth, by id.
        relevances: of the moments in the truth.
        judged: the pairs that its files tell of.
        told: whether they tell verdict and grades of every pair that was handed out.
        left_out: of queries that are not in the truth, why, as far as the manifest says.
        adjudicated: whether what leads decided is in the truth.
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
    """A query that only one of the releases has, or both with another text or in another split.

    `before` and `after` are what is different: `val: a text`, empty where the query is not there.
    """

    query_id: str
    before: str
    after: str
    reason: str


@dataclass(frozen=True, slots=True)
class PairChange:
    """A moment of a query that both releases have, whose relevance is another one or only in one of them (None)."""

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
    """What is different from `before` to `after`.

    `same` are the moments that both have with one relevance, `moved` by how much the others of both differ: relevance
    after less before, and how often. Moments of queries that only one has are counted in `moments_gone` and
    `moments_new` with all others.
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
        """Whether the truth is the same."""
        return not (self.queries or self.pairs)


def compare(before: ComparedRelease, after: ComparedRelease, log: Mapping[str, Sequence[str]]) -> ReleaseDiff:
    """What is different between two releases.

    Args:
        before: one of them.
        after: the other.
        log: what leads did about pairs between the two, in words, by pair id; empty where nobody kept it.
    """
    moved: dict[int, int] = {}
    pairs: list[PairChange] = []
    same = gone = new = 0
    for span in _all(before.relevances, after.relevances):
        was, now = before.relevances.get(span), after.relevances.get(span)
        if was == now:
            same += 1
            continue
        gone += now is None
        new += was is None
        if was is not None and now is not None:
            moved[now - was] = moved.get(now - was, 0) + 1
        if span.query_id in before.queries and span.query_id in after.queries:
            pair_id = next((one.judged[span].pair_id for one in (after, before) if span in one.judged), "")
            text = after.queries[span.query_id][1]
            reason = joined("; ", [*_reasons(span, before, after), *log.get(pair_id, ())])
            pairs.append(PairChange(span.query_id, text, pair_id, *span[1:], was, now, reason))
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
    for query_id in _all(before.queries, after.queries):
        was, now = before.queries.get(query_id), after.queries.get(query_id)
        if was != now:
            left_out = (after if now is None else before).left_out.get(query_id, "")
            reason = (
                said("left out of the other release: {why}", why=_LEFT_OUT.get(left_out, left_out)) if left_out else ""
            )
            yield QueryChange(query_id, _place(was), _place(now), reason)


def _reasons(span: Span, before: ComparedRelease, after: ComparedRelease) -> Iterator[str]:
    """Why the relevance of a pair may be another one, as far as the files of both tell."""
    if not (before.told and after.told):
        return
    was, now = before.judged.get(span), after.judged.get(span)
    if was is None or now is None:
        yield said("handed out in the meantime") if was is None else said("no longer among its pairs")
        return
    if was.verdict != now.verdict:
        became = [_VERDICTS.get(one.verdict, one.verdict) for one in (was, now)]
        yield said("{was} became {now}", was=became[0], now=became[1])
    elif now.verdict == "adjudicated" and before.adjudicated and after.adjudicated:
        yield said("a lead gave another relevance")
    if now.verdict == "adjudicated" and before.adjudicated != after.adjudicated:
        yield said("one of the releases leaves adjudicated pairs out")
    if sorted(was.grades) != sorted(now.grades):
        yield said("grades {was} became {now}", was=_listed(was.grades), now=_listed(now.grades))


def _place(query: tuple[str, str] | None) -> str:
    return ": ".join(query) if query else ""


def _listed(grades: Sequence[int]) -> str:
    return ", ".join(map(str, grades)) or said("none")


def _all(before: Mapping[_Key, object], after: Mapping[_Key, object]) -> list[_Key]:
    """The keys of both, those of the first one first."""
    return [*before, *(key for key in after if key not in before)]
