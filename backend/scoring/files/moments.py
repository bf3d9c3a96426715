"""Columns of the moments of a file, from entries that are decoded a few at a time and let go again."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

import numpy as np

from backend.core.timespan import Floats
from backend.scoring.files.entries import Numbering, gather
from backend.scoring.files.entry_rows import NameVideo, lasting
from backend.scoring.files.layout import Layout
from backend.scoring.files.words import DURATION
from backend.scoring.matching.columns import Indices, QueryKey


@dataclass(frozen=True, slots=True)
class ReadMoments:
    """Q queries of `sizes` moments each, N in all, by query.

    `query_rows` and `rows` are the places of queries and moments in the file, from 1; `rows` is None where a moment's
    is its query's. `video` is a place in `called`, in the order in which the file first calls each.
    """

    queries: Sequence[QueryKey]
    query_rows: Sequence[int]
    sizes: Indices
    rows: Indices | None
    video: Indices
    called: Sequence[QueryKey]
    start_s: Floats
    end_s: Floats
    value: Floats

    def spans(self, file: str, name: NameVideo) -> dict[str, Any]:
        """The fields of `Spans`."""
        found = gather(file, self.queries, self.query_rows, self.sizes, self.video, self.called, name, self.rows)
        return {**found, "start_s": self.start_s, "end_s": self.end_s}


class Columns:
    """Takes entries of a layout, as `entry_type` makes them; `queries` are theirs where they do not name them."""

    def __init__(self, layout: Layout, queries: list[QueryKey]) -> None:
        self.moments = 0
        self._layout = layout
        self._queries = queries
        self._query_of, self._video_of = Numbering(), Numbering()
        self._pieces: list[dict[str, Any]] = []
        self.durations: dict[str, float] = {}

    def add(self, entries: list[Any]) -> None:
        """The next entries."""
        layout = self._layout
        piece: dict[str, Any] = {}
        if layout.flat:
            moments = entries
            piece["query"] = self._query_of.of([moment.query for moment in moments])
        else:
            lists = entries if layout.query is None else [entry.items for entry in entries]
            moments = list(chain.from_iterable(lists))
            piece["sizes"] = np.fromiter(map(len, lists), np.int64, len(lists))
            if layout.query:
                self._queries += [entry.query for entry in entries]
        n = len(moments)
        self.moments += n
        if n and hasattr(moments[0], DURATION):
            self.durations |= lasting({moment.video: moment.duration for moment in moments if moment.duration}.items())
        if layout.video:
            videos = list(chain.from_iterable([entry.video] * len(entry.items) for entry in entries))
        else:
            videos = [moment.video for moment in moments]
        piece["video"] = self._video_of.of(videos)
        paired = layout.names is not None and len(layout.names.times) == 1
        times = [moment.times for moment in moments] if paired else moments
        piece["start_s"] = np.fromiter([time.start for time in times], np.float64, n)
        piece["end_s"] = np.fromiter([time.end for time in times], np.float64, n)
        ones = layout.relevant
        piece["value"] = np.ones(n) if ones else np.fromiter([moment.value for moment in moments], np.float64, n)
        self._pieces.append(piece)

    def as_listed(self) -> ReadMoments:
        """What was added, where entries are queries."""
        rows = range(1, len(self._queries) + 1)
        return ReadMoments(
            queries=self._queries, query_rows=rows, rows=None, called=list(self._video_of.known), **self._joined()
        )

    def by_query(self) -> ReadMoments:
        """What was added, where entries are moments: brought together by query, in the order of first moments."""
        columns = self._joined()
        # The number 5 and the text "5" are one query.
        numbers: dict[str, int] = {}
        known = list(self._query_of.known)
        number = np.array([numbers.setdefault(str(query), len(numbers)) for query in known], np.int64)
        query = columns.pop("query")
        order = np.argsort(number[query], kind="stable")
        sizes = np.bincount(number[query], minlength=len(numbers))
        first = order[np.cumsum(sizes) - sizes]
        columns = {name: column[order] for name, column in columns.items()}
        columns["video"], called = _in_order(columns["video"], list(self._video_of.known))
        queries = [known[place] for place in query[first]]
        rows = (first + 1).tolist()
        return ReadMoments(queries=queries, query_rows=rows, sizes=sizes, rows=order + 1, called=called, **columns)

    def _joined(self) -> dict[str, Any]:
        return {name: np.concatenate([piece.pop(name) for piece in self._pieces]) for name in list(self._pieces[0])}


def _in_order(numbers: Indices, known: Sequence[QueryKey]) -> tuple[Indices, list[QueryKey]]:
    """Numbered again, by first occurrence.

    >>> _in_order(np.array([2, 0, 2, 1]), ["a", "b", "c"])
    (array([0, 1, 0, 2]), ['c', 'a', 'b'])
    """
    first = np.empty(len(known), np.int64)
    first[numbers[::-1]] = np.arange(len(numbers))[::-1]  # of several places the last one written stays
    order = np.argsort(first)
    renumbered = np.empty(len(known), np.int64)
    renumbered[order] = np.arange(len(known))
    return renumbered[numbers], [known[place] for place in order]
