"""The values in the two files of an earlier campaign (grades in seats, pairs with moments), and what an import took."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from backend.campaign.nouns import Split
from backend.core.errors import Problem

Span = tuple[str, float, float]
"""A moment: (video, start_s, end_s)."""
ENCODER = "imported"
"""Stands in the place of an encoder's identity at pairs that nobody here has chosen."""
PUBLISHED_HIGHEST, PUBLISHED_TOLERANCE = 4, 1
"""The scale, 0 to 4, and the tolerance of TVR-Ranking: what such a file is read by where there is no project."""


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


@dataclass(frozen=True, slots=True)
class JudgementsReport:
    """What an import took, and what is odd about it. Verdicts are those of the pairs that the file grades."""

    rows: int
    pairs: int
    """Pairs that the file of raw annotations grades."""
    workers: int
    people_added: int
    renumbered: dict[str, int]
    """Workers who could not keep their number, with the one they have here."""
    videos: int
    moments: int
    queries: int
    queries_renumbered: int
    """Queries of the file of pairs that have another number here."""
    batches: int
    pairs_added: int
    pairs_known: int
    """Pairs of either file that the project already had."""
    pairs_by_number: int
    """Pairs of which nothing but the number is known."""
    pairs_without_grade: int
    """Pairs of the file of pairs that the raw annotations do not grade."""
    consensus: int
    discarded: int
    open: int
    adjudicated: int
    sent_on: tuple[int, ...]
    """Escalated pairs that wait for two further annotators from now on."""
    never_sent_on: tuple[int, ...]
    """Escalated pairs that cannot be judged any more, because only their number is known."""
    pairs_graded_twice_by_one: int
    duplicate_rows: int
    missing_ids: int
    """Numbers below the highest one that no pair has."""
    verdicts_that_differ: int | None
    """Pairs whose verdict or relevance is another one in the file of pairs; None if it says neither."""
