"""Sources of candidates, merging of several sources (TREC pooling), and the draw of a probe. Pure.

A probe is a sample of a query's moments that is graded to learn how deep judging must go. Starts and ends of spans are
whole multiples of a small time step. So overlaps are exact, and rounding never decides whether an overlap reaches the
threshold.
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
    """The ways in which a source finds candidates: by captions, by video frames, or as a system's run."""

    CAPTIONS = "captions"
    """The similarity of query and caption under an encoder."""
    VISUAL = "visual"
    """The similarity of query and frames under an encoder of both."""
    RUN = "run"
    """A system's run, pooled with others."""


@dataclass(frozen=True, slots=True)
class CandidateSource:
    """A source of candidates: an encoder that searched for them, or a system's run.

    `name` is the encoder's identity or the name of the run. `sha256` is the hash of the run's file, None for encoders.
    `depth` is the number of moments taken from the source for each query. `part` is 1 for the sources of the original
    candidate lists. It is higher for runs that were pooled later.
    """

    kind: SourceKind
    name: str
    sha256: str | None
    depth: int
    part: int = 1

    @property
    def label(self) -> str:
        """The source's name as shown on pages: a run's name, or the kind of similarity."""
        return self.name if self.kind is SourceKind.RUN else self.kind.value


@dataclass(frozen=True, slots=True)
class CandidateReport:
    """The result of choosing candidates, the moments that are most similar to each query.

    A candidate list ends after a fixed number of moments. `split_ties` counts the queries where this end falls between
    moments with the same text, so that one of them is a candidate and another is not. `without_file` counts the videos
    whose file is not known yet, so that their moments cannot be judged. `probed` counts the queries with a probe, which
    is a sample graded to learn how deep judging must go. `probe_pairs` counts the pairs that only probes add. `unread`
    names the parts of captions and queries that the encoder does not read, one sentence each.
    """

    queries: int
    candidates: int
    pairs: int
    encoder: str
    split_ties: int
    without_file: int
    probed: int
    probe_pairs: int
    unread: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class FoundSpan:
    """A span that a source found for a query, and the candidate moment that it was merged into.

    `rank` and `score` are those in the source's own list. The score is None where the source comes from a release.
    `start_s` and `end_s` are the times that the source gave, in seconds; the moment's own times are near them.
    """

    query_id: QueryId
    moment_id: MomentId
    rank: int
    score: float | None
    start_s: float
    end_s: float


@dataclass(frozen=True, slots=True)
class FoundBy:
    """A source that found a candidate, with the candidate's rank and score in its list.

    If several spans of the source were merged into the candidate, these are the rank and score of the best one.
    """

    source: CandidateSource
    rank: int
    score: float | None


@dataclass(frozen=True, slots=True)
class PooledRun:
    """The result of pooling one run, that is, of making its best predictions candidates.

    `spans` counts the spans taken from the run, and `candidates` the candidates they were merged into. Of these,
    `alone` counts those that no other source found, and `new` those that annotators were never given before.
    """

    name: str
    sha256: str
    spans: int
    candidates: int
    alone: int
    new: int


@dataclass(frozen=True, slots=True)
class PoolingReport:
    """The result of pooling runs, that is, of making their best predictions candidates.

    `part` is 1 for the pooling that made the candidate lists, and higher for later ones. `queries` counts the queries
    for which a source found something, `without` the other queries to be judged. `candidates` counts the candidates
    that are new on the lists. Of these, `moments` counts those that are new in the project, and `pairs` those given to
    annotators at once. `encoder` is the encoder for captions; it is None if captions were not searched. `split_ties`
    counts the queries whose last candidate has the same text as a moment that was left out. `without_file` counts the
    videos whose file is not known yet. `visual` is the identity of the model that looked at frames; it is None if none
    did. `unseen` gives the reason for each video that the model could not look at.
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
    """The parts of captions and queries that the encoder does not read, one sentence each."""


def _pooled_runs(payload: Payload) -> str:
    names = [value_text(run.get("name")) for run in payload.get("pooled") or [] if isinstance(run, dict)]
    return said("pooling {runs}", runs=", ".join(names)) if names else ""


def _choice_words(payload: Payload) -> str:
    # The name of the encoder is enough here: the record of the candidates has it with its hashes.
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
"""encoder (null without captions), queries, candidates, asked; with probes also probed, probe_pairs, seed; with runs
also pooled (name, sha256 and depth of each), iou, moments: how many are new"""
CANDIDATES_ADDED = Event("candidates_added", EventGroup.MATERIAL, _addition_words)
"""pooled, iou, moments, asked, queries, candidates, pairs: candidates that later runs added to the lists, last: the
highest number of work so far, by its column"""


class SeenSpan(NamedTuple):
    """A span of a video as a source found it.

    `start` and `end` are whole multiples of a small time step, which is the same for all spans. `rank` is the span's
    place in the source's list, from 1; `source` is the number of the source.
    """

    rank: int
    video: str
    start: int
    end: int
    source: int
    score: float = 0.0


class KnownSpan(NamedTuple):
    """A moment of the project.

    `start` and `end` are whole multiples of a small time step, which is the same for all spans.
    """

    video: str
    start: int
    end: int
    moment_id: MomentId


@dataclass(slots=True)
class MergedSpan:
    """A candidate, with all found spans that were merged into it.

    `start` and `end` are whole multiples of a small time step, which is the same for all spans. `seen` has the found
    spans.
    """

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
    """Merge the spans that sources found for a query into candidates, and return the candidates by best rank.

    Spans are taken by rank, the best first. A span joins the candidate that it overlaps most, if by `iou` or more.
    Otherwise it joins the moment of the project that it overlaps most, if by `iou` or more. That moment becomes a
    candidate. Otherwise the span itself becomes a candidate. So every span overlaps its candidate by `iou` or more, and
    a grade of the candidate holds for the span. The order of the sources does not matter.

    Args:
        seen: spans that sources found for one query.
        listed: candidates that the query has already; spans near them are added to them.
        moments: all moments of the project by video.
        iou: overlap from which two spans are the same, above 0 and at most 1.
        numbers: yields numbers for moments that the project lacks.

    Returns:
        Every candidate that a span was merged into. They are ordered by best rank, then by the number of sources that
        found them (most first), then by video and times.

    >>> from itertools import count
    >>> near = [SeenSpan(1, "v", 0, 10, 0), SeenSpan(1, "w", 5, 9, 1), SeenSpan(2, "v", 1, 10, 1)]
    >>> [(one.video, one.end, len(one.seen)) for one in pool(near, [], {}, Fraction(7, 10), count(-1, -1))]
    [('v', 10, 2), ('w', 9, 1)]
    """
    chosen: defaultdict[str, list[MergedSpan]] = defaultdict(list)
    for candidate in listed:
        chosen[candidate.video].append(candidate)
    for span in sorted(seen):
        same = _nearest(span, chosen[span.video], iou)
        if same is None:
            moment = _nearest(span, moments.get(span.video, ()), iou)
            same = MergedSpan(*moment) if moment else MergedSpan(span.video, span.start, span.end, next(numbers))
            chosen[span.video].append(same)
        same.seen.append(span)
    return sorted(
        (candidate for found in chosen.values() for candidate in found if candidate.seen),
        key=lambda candidate: (
            min(span.rank for span in candidate.seen),
            -len({span.source for span in candidate.seen}),
            *(candidate.video, candidate.start, candidate.end),
        ),
    )


def _nearest(span: SeenSpan, among: Iterable[_Near], iou: Fraction) -> _Near | None:
    """Return the moment or candidate that overlaps a span most; None if none overlaps it by `iou` or more.

    Of several that overlap it equally, the one that starts earlier is taken, then the shorter one.
    """
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
"""Number of a query's most similar moments, and of other moments, in a probe (TVR-Ranking)."""


def probed(texts: Collection[str], count: int, seed: int) -> set[str]:
    """Draw the queries for which a probe is judged, a sample of moments that tells how deep judging must go.

    The draw depends on the seed, but not on the order of the texts.

    >>> probed(["a", "b", "c"], 2, 7) == probed(["c", "b", "a"], 2, 7), len(probed(["a", "b"], 2, 7))
    (True, 2)
    """
    return set(random.Random(seed).sample(sorted(texts), count))


def probe(ranked: Sequence[_Ranked], text: str, seed: int) -> list[_Ranked]:
    """Return the moments to judge in a query's probe: the best of its ranking, and some drawn from all others, by rank.

    `ranked` has all moments, the most similar first. The first `PROBE_TOP` are taken, and `PROBE_OTHERS` of the others.
    The draw depends on the query's text and on the seed.

    >>> found = probe(range(1, 1001), "A cat sits.", 7)
    >>> found[:60] == [*range(1, 61)], len(found), min(found[60:]) > 60, found == sorted(set(found))
    (True, 120, True, True)
    """
    rest = range(PROBE_TOP, len(ranked))
    others = random.Random(f"{seed} {text}").sample(rest, min(PROBE_OTHERS, len(rest)))
    return [*ranked[:PROBE_TOP], *(ranked[place] for place in sorted(others))]
