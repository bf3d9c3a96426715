"""What the two files of an earlier campaign say: grades in their seats, pairs with their moments, and both together."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from backend.campaign.nouns import Split
from backend.core.errors import Problem

Span = tuple[str, float, float]
"""A moment: (video, start_s, end_s)."""


class EarlierGrade(NamedTuple):
    """One row of the raw annotations, with the seat it takes; None where the file does not say."""

    row: int
    pair_id: int
    seat_no: int
    repeat: bool
    """A further grade of the same worker at the pair."""
    worker: str
    grade: int
    graded_at: float | None
    active_ms: int | None
    elapsed_ms: int | None
    contexts: int | None
    simulated: bool


class EarlierPair(NamedTuple):
    """One row of the file of pairs; `verdict` and `relevance` as they are written there, to compare with ours."""

    row: int
    pair_id: int
    query: str
    query_id: int | None
    split: Split | None
    span: Span
    rank: int
    similarity: float | None
    caption: str | None
    verdict: str | None
    relevance: str | None


@dataclass(frozen=True, slots=True)
class EarlierCampaign:
    """What both files hold. While there are `problems`, only what could be read."""

    raw_file: str
    pairs_file: str
    grades: Sequence[EarlierGrade] = ()
    """By pair, then seat."""
    workers: Sequence[str] = ()
    re_opened: frozenset[int] = frozenset()
    """Pairs about which a lead asked two more people, after four grades."""
    pairs: Sequence[EarlierPair] = ()
    durations: dict[str, float] = field(default_factory=dict)
    """Seconds of the videos whose duration the file of pairs says."""
    graded_twice: int = 0
    """Pairs at which somebody graded more than once."""
    duplicate_rows: int = 0
    problems: Sequence[Problem] = ()
