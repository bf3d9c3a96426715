"""Ground truth and runs as columns of numbers: what readers hand to the measures.

Values may still be wrong here (an end before its start): which of them matter is for the conventions of an
evaluation to say, so `span_problems` lists them and nothing is refused.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from backend.core.errors import Problem
from backend.core.messages import said
from backend.core.timespan import Flags, Floats

Indices = NDArray[np.int64]
QueryKey = int | str
"""A query id as its file writes it; ids are compared as text."""
HIGHEST_RELEVANCE = 4


class VideoMap(dict[int, str]):
    """A map of videos, `index -> name`; `durations` are seconds by name, as far as it says them."""

    def __init__(self, names: Mapping[int, str], durations: Mapping[str, float]) -> None:
        super().__init__(names)
        self.durations = durations

    def __reduce__(self) -> tuple[Any, ...]:
        """As it travels from one process to another."""
        return VideoMap, (dict(self), self.durations)


@dataclass(frozen=True, slots=True)
class Spans:
    """N moments grouped by query, as columns.

    `queries[i]` owns the moments `offsets[i]:offsets[i + 1]` in file order; `video` counts in `videos`; `row`
    is each moment's place in its file (the entry, or the line of a .jsonl file), from 1; `number` its place
    among its query's moments, from 1.
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
        """Query number of each moment, shape (N,)."""
        return np.repeat(np.arange(len(self.queries)), np.diff(self.offsets))

    def take(self, chosen: Indices) -> Self:
        """Only the moments at these positions, in this order; the order must not mix queries."""
        sizes = np.bincount(self.query[chosen], minlength=len(self.queries))
        values = {one.name: getattr(self, one.name) for one in fields(self) if one.name != "offsets"}
        columns: dict[str, Any] = {
            name: value[chosen] for name, value in values.items() if isinstance(value, np.ndarray)
        }
        return replace(self, offsets=offsets_of(sizes), **columns)

    def of_queries(self, kept: Flags) -> Self:
        """Only the queries with a flag, shape (Q,), and their moments."""
        if kept.all():
            return self
        moments = self if not np.diff(self.offsets)[~kept].any() else self.take(np.flatnonzero(kept[self.query]))
        chosen = np.flatnonzero(kept)
        return replace(
            moments,
            queries=tuple(self.queries[i] for i in chosen),
            query_rows=tuple(self.query_rows[i] for i in chosen),
            offsets=offsets_of(np.diff(moments.offsets)[chosen]),
        )

    def answered(self) -> Self:
        """Only the queries that have a moment."""
        return self.of_queries(np.diff(self.offsets) > 0)

    def groups_of_equals(self) -> tuple[Indices, Indices]:
        """Moments sorted so that equal spans of one query and video meet, and where each such group begins."""
        span = (self.query * len(self.videos) + self.video, self.start_s)
        order = order_within(*span)
        again = ~_differ(span, order)
        alike = np.flatnonzero(again | np.append(again[1:], False))  # few begin together: only these are sorted on
        places = order[alike]
        order[alike] = places[np.lexsort((self.end_s[places], *(column[places] for column in span[::-1])))]
        return order, np.flatnonzero(_differ((*span, self.end_s), order))

    def problem(self, position: int, message: str) -> Problem:
        """A problem with the moment at `position`, naming its file, row, query and place there."""
        query = self.queries[int(self.query[position])]
        return row_problem(self.file, int(self.row[position]), query, int(self.number[position]), message)

    def span_problems(self) -> dict[int, str]:
        """What is wrong with a moment's times, by position."""
        good = np.isfinite(self.start_s) & np.isfinite(self.end_s)
        good &= (self.start_s >= 0) & (self.end_s > self.start_s)
        return {int(i): _span_message(float(self.start_s[i]), float(self.end_s[i])) for i in np.flatnonzero(~good)}


@dataclass(frozen=True, slots=True)
class Truth(Spans):
    """Ground truth; `relevance` has shape (N,) and should be a whole number 0-4."""

    relevance: Floats
    types: tuple[str, ...] = ()
    """What each query tells of, in TVR `v`, `t` or `vt`; empty where the file does not say it of all."""
    durations: Mapping[str, float] = field(default_factory=dict)
    """Seconds that videos last, by name, as far as a file says it."""
    catalogue: frozenset[str] | None = None
    """The names of all videos, where a map of them was given."""
    notes: tuple[str, ...] = ()
    """What was done to the file in reading it, for whoever sees the scores."""

    def of_queries(self, kept: Flags) -> "Truth":
        """As of all spans, and the types of those queries."""
        found = Spans.of_queries(self, kept)
        if not self.types or found is self:
            return found
        return replace(found, types=tuple(self.types[i] for i in np.flatnonzero(kept)))

    def relevance_problems(self) -> dict[int, str]:
        """What is wrong with a moment's relevance, by position."""
        rel = self.relevance
        good = (rel == np.rint(rel)) & (rel >= 0) & (rel <= HIGHEST_RELEVANCE)
        return {
            int(i): said("relevance {relevance:g} is not one of 0, 1, 2, 3, 4", relevance=rel[i])
            for i in np.flatnonzero(~good)
        }


@dataclass(frozen=True, slots=True)
class Run(Spans):
    """A system's ranked predictions; `score` has shape (N,)."""

    score: Floats
    notes: tuple[str, ...] = ()
    """What of the file was not read, for whoever sees the scores."""
    tasks: Mapping[str, "Run"] = field(default_factory=dict)
    """Where all tasks of one of TVR's own prediction files were read: each under its name."""


def order_within(groups: Indices, values: Floats | Indices) -> Indices:
    """Positions sorted by group (below 2**53), then by value; equals keep their order.

    Where the groups are nearly in order already, as in files, this takes a small part of the time of `np.lexsort`.

    >>> order_within(np.array([0, 1, 0]), np.array([2.0, 0.0, 1.0])).tolist()
    [2, 0, 1]
    """
    if values.dtype == np.int64 and len(groups):
        lowest = int(values.min())
        span = int(values.max()) - lowest + 1
        if int(groups.min()) >= 0 and (int(groups.max()) + 1) * span * len(groups) < 2**63:
            # Group, value and place in one number: sorting these is faster than sorting places by them.
            numbers = ((groups * span + values) - lowest) * len(groups) + np.arange(len(groups))
            numbers.sort()
            return np.asarray(numbers % len(groups))
    both = np.empty(len(groups), dtype=np.complex128)  # sorted by real, then by imaginary part
    both.real, both.imag = groups, values
    return np.argsort(both, kind="stable")


def _differ(columns: tuple[Floats | Indices, ...], order: Indices) -> Flags:
    """Whether each row, in this order, differs from the one before it in some column; the first does."""
    fresh = np.zeros(len(order), dtype=bool)
    fresh[:1] = True
    for column in columns:
        ordered = column[order]
        fresh[1:] |= ordered[1:] != ordered[:-1]
    return fresh


def offsets_of(sizes: Indices) -> Indices:
    """Where each group begins, and the end: 0 and the running sums."""
    return np.concatenate([np.zeros(1, dtype=np.int64), np.cumsum(sizes)])


def row_problem(file: str, row: int, query: QueryKey, number: int, message: str) -> Problem:
    """A problem with the `number`-th moment of a query."""
    return Problem(
        file, row, said("query {query}, moment {number}: {message}", query=query, number=number, message=message)
    )


def _span_message(start_s: float, end_s: float) -> str:
    if not (np.isfinite(start_s) and np.isfinite(end_s)):
        return said("[{start_s}, {end_s}] is not two finite times", start_s=start_s, end_s=end_s)
    if start_s < 0:
        return said("start {start_s} is before the video begins", start_s=start_s)
    return said("end {end_s} is not after start {start_s}", end_s=end_s, start_s=start_s)
