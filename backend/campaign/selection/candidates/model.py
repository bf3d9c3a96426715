"""The sources of candidates as values; merge what several sources found, as TREC pools; draw what a probe judges. Pure.

Spans come as whole multiples of one step, so that an overlap of exactly the threshold is never a matter of rounding.
"""

import random
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from fractions import Fraction
from typing import NamedTuple, TypeVar

from backend.core.events import Event, EventGroup, Payload, value_text
from backend.core.ids import MomentId, QueryId
from backend.core.messages import said


class SourceKind(StrEnum):
    """How a source finds candidates."""

    CAPTIONS = "captions"
    """The similarity of query and caption under an encoder."""
    VISUAL = "visual"
    """The similarity of query and frames under an encoder of both."""
    RUN = "run"
    """A system's run, pooled with others."""


@dataclass(frozen=True, slots=True)
class CandidateSource:
    """What candidates come from.

    `name` is an encoder's identity or what a run is called; `sha256` that of a run's file, None for encoders; `depth`
    how many moments of each query were taken of it. `part` is 1 for the sources that made the lists, more for those of
    later poolings.
    """

    kind: SourceKind
    name: str
    sha256: str | None
    depth: int
    part: int = 1

    @property
    def label(self) -> str:
        """What people call it: a run's name, or the kind of similarity."""
        return self.name if self.kind is SourceKind.RUN else self.kind.value


@dataclass(frozen=True, slots=True)
class FoundSpan:
    """A span that a source found for a query, and the candidate that it is.

    `rank` and `score` are those of the source's own list, the score None where a release told of it. The span is the
    source's; that of the moment is near it.
    """

    query_id: QueryId
    moment_id: MomentId
    rank: int
    score: float | None
    start_s: float
    end_s: float


@dataclass(frozen=True, slots=True)
class FoundBy:
    """A source that found a candidate, and its rank and score there; of several near spans the best."""

    source: CandidateSource
    rank: int
    score: float | None


@dataclass(frozen=True, slots=True)
class PooledRun:
    """What came of one run.

    Of its `spans` that were taken, `candidates` is how many candidates they are, `alone` how many of those nothing else
    found, `new` how many were handed out to nobody before.
    """

    name: str
    sha256: str
    spans: int
    candidates: int
    alone: int
    new: int


@dataclass(frozen=True, slots=True)
class PoolingReport:
    """What came of pooling runs.

    `queries` have something that a run or a caption found, `without` other queries that are judged have nothing of it.
    `candidates` are new on the lists, `moments` of them new in the project, `pairs` handed out at once. `encoder` is
    that of the captions beside the runs, None without them; `split_ties` as `CandidateReport` has it; the files of
    `without_file` videos are not known yet. `visual` is the identity of what looked at frames, None where nothing did;
    `unseen` says of every video that it could not look at why.
    """

    part: int
    runs: tuple[PooledRun, ...]
    queries: int
    without: int
    candidates: int
    moments: int
    pairs: int
    encoder: str | None
    split_ties: int
    without_file: int
    visual: str | None = None
    unseen: tuple[str, ...] = ()
    unread: tuple[str, ...] = ()
    """What the encoder does not read of captions and queries, a sentence each."""


def _pooled_runs(payload: Payload) -> str:
    """The runs that were pooled, if any, in words."""
    names = [value_text(run.get("name")) for run in payload.get("pooled") or [] if isinstance(run, dict)]
    return said("pooling {runs}", runs=", ".join(names)) if names else ""


def _choice_words(payload: Payload) -> str:
    # The encoder with its hashes is in the candidates' record; its name says which it is.
    encoder, runs = str(payload.get("encoder") or "").partition(" ")[0], _pooled_runs(payload)
    by = said("{encoder} and {runs}", encoder=encoder, runs=runs) if encoder and runs else encoder or runs or "–"
    return said(
        "chose {candidates} candidates for {queries} queries by {by}",
        candidates=value_text(payload.get("candidates")),
        queries=value_text(payload.get("queries")),
        by=by,
    )


def _addition_words(payload: Payload) -> str:
    return said(
        "added {candidates} candidates by {runs}; {pairs} pairs were handed out",
        candidates=value_text(payload.get("candidates")),
        runs=_pooled_runs(payload),
        pairs=value_text(payload.get("pairs")),
    )


CANDIDATES_CHOSEN = Event("candidates_chosen", EventGroup.MATERIAL, _choice_words)
"""encoder (null without captions), queries, candidates; with probes also probed, probe_pairs, seed; with runs also
pooled (name, sha256 and depth of each), iou, moments: how many are new"""
CANDIDATES_ADDED = Event("candidates_added", EventGroup.MATERIAL, _addition_words)
"""pooled, iou, moments, queries, candidates, pairs: what later runs found beside the lists"""


class SeenSpan(NamedTuple):
    """A span of a video as a source found it: at which rank of its list, from 1; which source, by its number."""

    rank: int
    video: str
    start: int
    end: int
    source: int
    score: float = 0.0


class KnownSpan(NamedTuple):
    """A moment of the project."""

    video: str
    start: int
    end: int
    moment_id: MomentId


@dataclass(slots=True)
class MergedSpan:
    """A candidate with everything that is near it."""

    video: str
    start: int
    end: int
    moment_id: MomentId
    seen: list[SeenSpan] = field(default_factory=list)


_Near = TypeVar("_Near", KnownSpan, MergedSpan)


def pool(
    seen: Iterable[SeenSpan],
    listed: Iterable[MergedSpan],
    moments: Mapping[str, Sequence[KnownSpan]],
    iou: Fraction,
    numbers: Iterator[MomentId],
) -> list[MergedSpan]:
    """The candidates that these spans are: those found at a better rank first.

    Best rank first, each span is the candidate that it overlaps most, if by `iou` or more; else the project's moment
    that it overlaps most, if by `iou` or more, which becomes a candidate; else it becomes one itself. So every span
    overlaps its candidate by `iou`, and who grades the candidate has graded the span. Which order the sources come in
    does not matter.

    Args:
        seen: of one query.
        listed: what is a candidate of the query already; what is near it is added to it.
        moments: all moments of the project by video.
        iou: overlap from which two spans are the same, above 0 and at most 1.
        numbers: for moments that the project lacks.

    Returns:
        Every candidate that something was seen as: by best rank, by how many sources found it, by place.

    >>> from itertools import count
    >>> near = [SeenSpan(1, "v", 0, 10, 0), SeenSpan(1, "w", 5, 9, 1), SeenSpan(2, "v", 1, 10, 1)]
    >>> [(one.video, one.end, len(one.seen)) for one in pool(near, [], {}, Fraction(7, 10), count(-1, -1))]
    [('v', 10, 2), ('w', 9, 1)]
    """
    chosen: defaultdict[str, list[MergedSpan]] = defaultdict(list)
    for one in listed:
        chosen[one.video].append(one)
    for span in sorted(seen):
        same = _nearest(span, chosen[span.video], iou)
        if same is None:
            moment = _nearest(span, moments.get(span.video, ()), iou)
            same = MergedSpan(*moment) if moment else MergedSpan(span.video, span.start, span.end, next(numbers))
            chosen[span.video].append(same)
        same.seen.append(span)
    return sorted(
        (one for found in chosen.values() for one in found if one.seen),
        key=lambda one: (
            min(span.rank for span in one.seen),
            -len({span.source for span in one.seen}),
            *(one.video, one.start, one.end),
        ),
    )


def _nearest(span: SeenSpan, among: Iterable[_Near], iou: Fraction) -> _Near | None:
    """What overlaps a span most, if by enough; of equals the earlier, then the shorter one."""
    found, best = None, (iou, 0, 0)
    for one in among:
        inter = min(span.end, one.end) - max(span.start, one.start)
        union = (span.end - span.start) + (one.end - one.start) - inter
        if inter <= 0 or inter * iou.denominator < union * iou.numerator:
            continue
        place = (Fraction(inter, union), -one.start, -one.end)
        if found is None or place > best:
            found, best = one, place
    return found


_Ranked = TypeVar("_Ranked")

PROBE_TOP, PROBE_OTHERS = 60, 60
"""How many of the most similar moments of a query, and of all others, its probe wants judged (TVR-Ranking)."""


def probed(texts: Collection[str], count: int, seed: int) -> set[str]:
    """The queries to probe, drawn by seed: the same in whatever order they come.

    >>> probed(["a", "b", "c"], 2, 7) == probed(["c", "b", "a"], 2, 7), len(probed(["a", "b"], 2, 7))
    (True, 2)
    """
    return set(random.Random(seed).sample(sorted(texts), count))


def probe(ranked: Sequence[_Ranked], text: str, seed: int) -> list[_Ranked]:
    """The top of all moments, which come best first, and a draw from those after it; in the order of rank.

    >>> found = probe(range(1, 1001), "A cat sits.", 7)
    >>> found[:60] == [*range(1, 61)], len(found), min(found[60:]) > 60, found == sorted(set(found))
    (True, 120, True, True)
    """
    rest = range(PROBE_TOP, len(ranked))
    others = random.Random(f"{seed} {text}").sample(rest, min(PROBE_OTHERS, len(rest)))
    return [*ranked[:PROBE_TOP], *(ranked[place] for place in sorted(others))]
