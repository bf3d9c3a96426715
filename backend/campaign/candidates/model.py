"""What found candidates, as values."""

from dataclasses import dataclass
from enum import StrEnum

from backend.ground.ids import MomentId, QueryId


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


@dataclass(frozen=True, slots=True)
class FoundSpan:
    """A span that a source found for a query, and the candidate that it is.

    `rank` and `score` are those of the source's own list. The span is the source's; that of the moment is near it.
    """

    query_id: QueryId
    moment_id: MomentId
    rank: int
    score: float
    start_s: float
    end_s: float
