"""Data classes for an earlier campaign: the rows of its two files, and the report of an import."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from backend.campaign.nouns import Split
from backend.core.errors import Problem

Span = tuple[str, float, float]
"""A moment: (video, start_s, end_s)."""
ENCODER = "imported"
"""Stored in place of an encoder's identity with pairs that this project did not choose."""
PUBLISHED_HIGHEST, PUBLISHED_TOLERANCE = 4, 1
"""The highest grade (the scale is 0 to 4) and the tolerance of TVR-Ranking, used for files read without a project."""


class EarlierGrade(NamedTuple):
    """One row (grade) of the raw annotations; a field is None if the file does not state it.

    `seat_no` numbers the grades of a pair from 1. Each grade takes one seat (an annotator's place on the pair).
    `repeat` says whether the same worker graded the pair in an earlier row. `row` is the line in the file, from 1.
    `graded_at` is in seconds since 1970. `active_ms` is the work time, and `elapsed_ms` the time from the first frame
    to the key press, in milliseconds. `contexts` is how often the worker looked at the video around the clip.
    """

    row: int
    pair_id: int
    seat_no: int
    repeat: bool
    worker: str
    grade: int
    graded_at: float | None
    active_ms: int | None
    elapsed_ms: int | None
    contexts: int | None
    simulated: bool


class EarlierPair(NamedTuple):
    """One row of the file of pairs; a field is None if the file does not state it.

    `row` is the line in the file, from 1. `verdict` (the outcome of grading) and `relevance` (the final grade) are
    texts as in the file. The import computes both from the grades, and only counts where these texts differ.
    """

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
    """The content of an earlier campaign's file of raw annotations and of its file of pairs, if there is one.

    `re_opened` has the pairs that a lead gave to two more annotators after four grades. `durations` maps video names to
    seconds, for the videos whose duration the file of pairs states. `graded_twice` is how many pairs somebody graded
    more than once. `duplicate_rows` is how many rows repeat the pair, worker and grade of an earlier row. If there are
    `problems`, only the rows that could be read are included.
    """

    raw_file: str
    pairs_file: str
    grades: Sequence[EarlierGrade] = ()
    """In order of pair, then seat."""
    workers: Sequence[str] = ()
    re_opened: frozenset[int] = frozenset()
    pairs: Sequence[EarlierPair] = ()
    durations: dict[str, float] = field(default_factory=dict)
    graded_twice: int = 0
    duplicate_rows: int = 0
    problems: Sequence[Problem] = ()


@dataclass(frozen=True, slots=True)
class JudgementsReport:
    """Counts of what an import of judgements added, and of irregularities in its files.

    A verdict is the outcome of grading. The counts of verdicts (`consensus`, `discarded`, `open`, `adjudicated`) are
    about the pairs that the raw annotations grade.
    """

    rows: int
    pairs: int
    """Pairs that the file of raw annotations grades."""
    workers: int
    people_added: int
    renumbered: dict[str, int]
    """Maps each worker whose id in the file is not their id in this project to their id in this project."""
    videos: int
    moments: int
    queries: int
    queries_renumbered: int
    """Queries of the file of pairs that have another number in this project."""
    batches: int
    pairs_added: int
    pairs_known: int
    """Pairs of either file that the project already had."""
    pairs_by_number: int
    """Pairs of which only the number is known."""
    pairs_without_grade: int
    """Pairs of the file of pairs that the raw annotations do not grade."""
    consensus: int
    discarded: int
    open: int
    adjudicated: int
    sent_on: tuple[int, ...]
    """Escalated pairs that now wait for two further annotators."""
    never_sent_on: tuple[int, ...]
    """Escalated pairs that nobody can judge further, because only their number is known."""
    pairs_graded_twice_by_one: int
    duplicate_rows: int
    missing_ids: int
    """How many numbers below the highest pair number have no pair."""
    verdicts_that_differ: int | None
    """Pairs whose verdict or relevance differs from that in the file of pairs; None if the file has neither."""
