"""Hold ground truth and runs as columns of numbers, which readers produce and measures use.

Values may still be invalid here (an end before its start). `span_problems` lists them without refusing anything,
because the conventions of an evaluation decide which problems matter.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any, Self, cast

import numpy as np
from numpy.typing import NDArray

from backend.core.errors import Problem
from backend.core.messages import said
from backend.core.timespan import Flags, Floats

Indices = NDArray[np.int64]
Grades = NDArray[np.int64] | NDArray[np.float64]
"""Relevances: whole numbers if all of them are, or else float64."""
QueryKey = int | str
"""A query id as its file writes it; ids are compared as text."""
HIGHEST_RELEVANCE = 4
HIGHEST_GRADE = 1000
"""The highest relevance that is accepted if the gain is named; the gain 2**1000 still fits into a float64."""


class VideoMap(dict[int, str]):
    """The names of videos by index; its attribute `durations` maps names to seconds, where the duration is known."""

    def __init__(self, names: Mapping[int, str], durations: Mapping[str, float]) -> None:
        super().__init__(names)
        self.durations = durations

    def __reduce__(self) -> tuple[Any, ...]:
        """Tell `pickle` how to rebuild the map, so that the durations are kept."""
        return VideoMap, (dict(self), self.durations)


@dataclass(frozen=True, slots=True)
class Spans:
    """N moments as columns, grouped by query.

    Attributes:
        file: the name of the file, for messages.
        queries: the query ids; `queries[i]` owns the moments `offsets[i]:offsets[i + 1]`, in file order.
        query_rows: the row of each query in the file.
        offsets: where each query's moments begin, and the end of the last; shape (Q + 1,).
        videos: the names of the videos.
        video: each moment's index in `videos`, shape (N,).
        start_s: starts in seconds, shape (N,).
        end_s: ends in seconds, shape (N,).
        row: the row of each moment in the file (the entry, or the line of a .jsonl file), from 1; shape (N,).
        number: the number of each moment among those of its query, from 1; shape (N,).
    """

    file: str
    queries: tuple[QueryKey, ...]
    query_rows: tuple[int, ...]
    offsets: Indices
    videos: tuple[str, ...]
    video: Indices
    start_s: Floats
    end_s: Floats
    row: Indices
    number: Indices

    @property
    def query(self) -> Indices:
        """The index in `queries` of each moment's query, shape (N,)."""
        return np.repeat(np.arange(len(self.queries)), np.diff(self.offsets))

    def take(self, chosen: Indices) -> Self:
        """Return only the moments at the positions `chosen`, in that order.

        The positions must keep each query's moments together.
        """
        sizes = np.bincount(self.query[chosen], minlength=len(self.queries))
        values = {column.name: getattr(self, column.name) for column in fields(self) if column.name != "offsets"}
        columns: dict[str, Any] = {
            name: value[chosen] for name, value in values.items() if isinstance(value, np.ndarray)
        }
        return replace(self, offsets=offsets_of(sizes), **columns)

    def of_queries(self, flags: Flags) -> Self:
        """Return only the flagged queries and their moments; the flags have shape (Q,)."""
        if flags.all():
            return self
        moments = self if not np.diff(self.offsets)[~flags].any() else self.take(np.flatnonzero(flags[self.query]))
        chosen = np.flatnonzero(flags)
        return replace(
            moments,
            queries=tuple(self.queries[i] for i in chosen),
            query_rows=tuple(self.query_rows[i] for i in chosen),
            offsets=offsets_of(np.diff(moments.offsets)[chosen]),
        )

    def answered(self) -> Self:
        """Return only the queries that have at least one moment."""
        return self.of_queries(np.diff(self.offsets) > 0)

    def groups_of_equals(self) -> tuple[Indices, Indices]:
        """Find moments with the same query, video and times.

        Returns:
            The positions of all moments, sorted so that equal ones are neighbours. Then the indices of this array at
            which a new group of equal moments begins.
        """
        span = (self.query * len(self.videos) + self.video, self.start_s)
        order = order_within(*span)
        again = ~_differ(span, order)
        alike = np.flatnonzero(
            again | np.append(again[1:], False)
        )  # few begin together: only these need sorting by end
        positions = order[alike]
        order[alike] = positions[np.lexsort((self.end_s[positions], *(column[positions] for column in span[::-1])))]
        return order, np.flatnonzero(_differ((*span, self.end_s), order))

    def problem(self, position: int, message: str) -> Problem:
        """Return a problem about the moment at `position`. It names the moment's file, row, query and number."""
        query = self.queries[int(self.query[position])]
        return row_problem(self.file, int(self.row[position]), query, int(self.number[position]), message)

    def span_problems(self) -> dict[int, str]:
        """Return a message for each moment whose start and end are impossible, by the moment's position."""
        good = np.isfinite(self.start_s) & np.isfinite(self.end_s)
        good &= (self.start_s >= 0) & (self.end_s > self.start_s)
        return {int(i): _span_message(float(self.start_s[i]), float(self.end_s[i])) for i in np.flatnonzero(~good)}


@dataclass(frozen=True, slots=True)
class Truth(Spans):
    """The graded moments of each query; `relevance` has shape (N,).

    A relevance should be a whole number 0-4, unless the caller names the gain. `types` has the type of each query as in
    TVR (`v`, `t`, `vt`); it is empty unless the file gives a type for every query. `durations` maps video names to
    seconds, as far as a file gives them. `catalogue` has the names of all videos that can be searched (the
    corpus); None if no video map was given. `notes` say what reading changed in the file's content; they are shown
    beside the scores.
    """

    relevance: Floats
    types: tuple[str, ...] = ()
    durations: Mapping[str, float] = field(default_factory=dict)
    catalogue: frozenset[str] | None = None
    notes: tuple[str, ...] = ()
    texts: Mapping[str, str] = field(default_factory=dict)
    """The texts of queries by their ids as text, as far as an annotation file gives them."""

    def of_queries(self, flags: Flags) -> "Truth":
        """Return only the flagged queries, their types and their moments; the flags have shape (Q,)."""
        truth = Spans.of_queries(self, flags)
        if not self.types or truth is self:
            return truth
        return replace(truth, types=tuple(self.types[i] for i in np.flatnonzero(flags)))

    @property
    def grades(self) -> Grades:
        """The relevance of each moment, as whole numbers if all of them are, shape (N,)."""
        whole = self.relevance.astype(np.int64)
        return whole if (whole == self.relevance).all() else self.relevance

    @property
    def scale(self) -> Grades:
        """All relevances that the truth may have, rising.

        They are 0-4. If a moment has another relevance, they are the relevances that occur.
        """
        grades = self.grades
        if grades.dtype == np.int64 and grades.max(initial=0) <= HIGHEST_RELEVANCE:
            grades = np.arange(HIGHEST_RELEVANCE + 1, dtype=np.int64)
        return cast("Grades", np.unique(grades))

    def relevance_problems(self, *, any_grade: bool = False) -> dict[int, str]:
        """Return a message for each moment whose relevance is invalid, by the moment's position.

        With `any_grade`, a relevance may be any number from 0 to `HIGHEST_GRADE` (1000).
        """
        rel = self.relevance
        if any_grade:
            return {
                int(i): said(
                    "relevance {relevance:g} is not a number from 0 to {highest}",
                    relevance=rel[i],
                    highest=HIGHEST_GRADE,
                )
                for i in np.flatnonzero(~((rel >= 0) & (rel <= HIGHEST_GRADE)))
            }
        good = (rel == np.rint(rel)) & (rel >= 0) & (rel <= HIGHEST_RELEVANCE)
        return {
            int(i): said("relevance {relevance:g} is not one of 0, 1, 2, 3, 4", relevance=rel[i])
            for i in np.flatnonzero(~good)
        }


@dataclass(frozen=True, slots=True)
class AnswerCounts:
    """How many answers of a language model a run was read from, and in how many of them no time was found."""

    total: int
    unparsed: int

    def summary(self) -> dict[str, int | float]:
        """Return the counts and the share of answers without a time, as an object for JSON.

        >>> AnswerCounts(8, 2).summary()
        {'total': 8, 'unparsed': 2, 'unparsed_share': 0.25}
        """
        return {"total": self.total, "unparsed": self.unparsed, "unparsed_share": self.unparsed / max(self.total, 1)}


@dataclass(frozen=True, slots=True)
class Run(Spans):
    """A system's ranked predictions; `score` has shape (N,).

    `notes` say which parts of the file were not read; they are shown beside the scores. `tasks` maps the name of each
    task to its run, if all tasks of one of TVR's own prediction files were read. `answers` is None unless the run was
    read from answers of a language model.
    """

    score: Floats
    notes: tuple[str, ...] = ()
    tasks: Mapping[str, "Run"] = field(default_factory=dict)
    answers: AnswerCounts | None = None


def grade_text(relevance: float) -> str:
    """Return a relevance as text, without decimals if it is a whole number.

    >>> grade_text(4), grade_text(3.0), grade_text(0.5)
    ('4', '3', '0.5')
    """
    return str(int(relevance)) if relevance == int(relevance) else str(relevance)


def order_within(groups: Indices, values: Floats | Indices) -> Indices:
    """Return the positions of items sorted by group, then by value; ties keep their order.

    An item has its group's number (below 2**53) in `groups`, and its value at the same position in `values`.

    If the groups are nearly in order already, as in files, this is much faster than `np.lexsort`.

    >>> order_within(np.array([0, 1, 0]), np.array([2.0, 0.0, 1.0])).tolist()
    [2, 0, 1]
    """
    if values.dtype == np.int64 and len(groups):
        lowest = int(values.min())
        span = int(values.max()) - lowest + 1
        if int(groups.min()) >= 0 and (int(groups.max()) + 1) * span * len(groups) < 2**63:
            # Each number combines group, value and position. Sorting them is faster than an argsort.
            numbers = ((groups * span + values) - lowest) * len(groups) + np.arange(len(groups))
            numbers.sort()
            return np.asarray(numbers % len(groups))
    both = np.empty(len(groups), dtype=np.complex128)  # sorted by real, then by imaginary part
    both.real, both.imag = groups, values
    return np.argsort(both, kind="stable")


def _differ(columns: tuple[Floats | Indices, ...], order: Indices) -> Flags:
    """Return whether each row differs from the one before it in any column, with the rows taken in the order `order`.

    The first row always differs.
    """
    fresh = np.zeros(len(order), dtype=bool)
    fresh[:1] = True
    for column in columns:
        ordered = column[order]
        fresh[1:] |= ordered[1:] != ordered[:-1]
    return fresh


def offsets_of(sizes: Indices) -> Indices:
    """Return the index at which each group begins and, as one more value, the index where the last group ends.

    They are 0 and the running sums of the group sizes.
    """
    return np.concatenate([np.zeros(1, dtype=np.int64), np.cumsum(sizes)])


def row_problem(file: str, row: int, query: QueryKey, number: int, message: str) -> Problem:
    """Return a `Problem` that says `message` about the `number`-th moment of a query, in a row of a file."""
    return Problem(
        file, row, said("query {query}, moment {number}: {message}", query=query, number=number, message=message)
    )


def _span_message(start_s: float, end_s: float) -> str:
    if not (np.isfinite(start_s) and np.isfinite(end_s)):
        return said("[{start_s}, {end_s}] is not two finite times", start_s=start_s, end_s=end_s)
    if start_s < 0:
        return said("start {start_s} is before the video begins", start_s=start_s)
    return said("end {end_s} is not after start {start_s}", end_s=end_s, start_s=start_s)
