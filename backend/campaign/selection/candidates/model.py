"""The sources of candidates, and what a pooling found, as values."""

from dataclasses import dataclass
from enum import StrEnum

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
