"""Merge submitted runs and the moments of a project into the candidates of each query: `rules.pool` on one lattice.

*Reads* and *writes* nothing. What is new for one query is a moment of the project for those after it, so that a scene
which several queries' runs found at nearly the same times becomes one moment, and one clip.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import count

import numpy as np

from backend.campaign.selection.candidates.model import FoundSpan
from backend.campaign.selection.candidates.rules import KnownSpan, MergedSpan, SeenSpan, pool
from backend.campaign.selection.candidates.submitted_runs import Submitted
from backend.core.ids import MomentId, QueryId
from backend.core.timespan import to_lattice

CAPTIONS, VISUAL = -1, -2
"""Numbers of captions and frames among the sources; runs are counted from 0."""
Listed = tuple[MomentId, int | None, float, int]
"""A moment that is a candidate already: its rank and score, and the number of the source that has them, if one has."""
Place = tuple[str, float, float]
"""A video, and where in it: start and end in seconds."""


class Merging:
    """Makes the candidates of one query after the other; `new` are moments that the project lacks so far.

    Those are numbered -1, -2, ... until they are stored.
    """

    def __init__(
        self, runs: Sequence[Submitted], places: Mapping[MomentId, Place], *, depth: int, iou: Fraction
    ) -> None:
        """Put all times on one lattice.

        Args:
            runs: checked ones.
            places: all moments of the project.
            depth: predictions of each query that are taken of each run.
            iou: overlap from which two spans are one candidate.
        """
        self.new: list[Place] = []
        self._runs, self._iou = runs, iou
        self._tops = [run.top(depth) for run in runs]
        times = np.concatenate(
            [
                np.array([place[1:] for place in places.values()], dtype=np.float64).reshape(-1),
                *(
                    column[top]
                    for run, top in zip(runs, self._tops, strict=True)
                    for column in (run.run.start_s, run.run.end_s)
                ),
            ]
        )
        steps = to_lattice(times).tolist()
        self._seconds: dict[int, float] = dict(zip(steps, times.tolist(), strict=True))
        self._known: dict[MomentId, KnownSpan] = {}
        self._moments: dict[str, list[KnownSpan]] = {}
        for number, (moment_id, place) in enumerate(places.items()):
            self._add(KnownSpan(place[0], steps[2 * number], steps[2 * number + 1], moment_id))
        self._columns: list[tuple[list[int], list[int]]] = []
        at = 2 * len(places)
        for top in self._tops:
            self._columns.append((steps[at : at + len(top)], steps[at + len(top) : at + 2 * len(top)]))
            at += 2 * len(top)
        self._rows = [_rows(run, top) for run, top in zip(runs, self._tops, strict=True)]

    def candidates(self, query_id: QueryId, listed: Iterable[Listed] = ()) -> list[MergedSpan]:
        """The candidates of a query that something found, best rank first; each has its moment, perhaps a new one.

        Args:
            query_id: the query.
            listed: its candidates so far, with rank and similarity where captions or frames find them now.
        """
        there: dict[MomentId, MergedSpan] = {}
        for moment_id, rank, score, source in listed:
            known = self._known[moment_id]
            one = there.setdefault(moment_id, MergedSpan(*known))
            if rank is not None:
                one.seen.append(SeenSpan(rank, *known[:3], source, score))
        numbers = (MomentId(-number) for number in count(len(self.new) + 1))
        found = pool(self._seen(query_id), there.values(), self._moments, self._iou, numbers)
        for one in sorted(found, key=lambda one: -one.moment_id):
            if one.moment_id not in self._known:
                self.new.append((one.video, self._seconds[one.start], self._seconds[one.end]))
                self._add(KnownSpan(one.video, one.start, one.end, one.moment_id))
        return found

    def found_spans(
        self, found: Mapping[QueryId, Sequence[MergedSpan]], ids: Mapping[MomentId, MomentId]
    ) -> dict[int, list[FoundSpan]]:
        """What each source found, by its number; `ids` has the stored number of every new moment."""
        spans: dict[int, list[FoundSpan]] = {}
        for query_id, candidates in found.items():
            for one in candidates:
                moment_id = ids.get(one.moment_id, one.moment_id)
                for seen in one.seen:
                    place = (self._seconds[seen.start], self._seconds[seen.end])
                    spans.setdefault(seen.source, []).append(
                        FoundSpan(query_id, moment_id, seen.rank, seen.score, *place)
                    )
        return spans

    def _add(self, moment: KnownSpan) -> None:
        self._known[moment.moment_id] = moment
        self._moments.setdefault(moment.video, []).append(moment)

    def _seen(self, query_id: QueryId) -> Iterator[SeenSpan]:
        for source, (one, top, (starts, ends), rows) in enumerate(
            zip(self._runs, self._tops, self._columns, self._rows, strict=True)
        ):
            first, last = rows.get(query_id, (0, 0))
            run = one.run
            for rank, place in enumerate(range(first, last), start=1):
                position = top[place]
                video = run.videos[run.video[position]]
                yield SeenSpan(rank, video, starts[place], ends[place], source, float(run.score[position]))


def _rows(run: Submitted, top: "np.ndarray[tuple[int], np.dtype[np.int64]]") -> dict[QueryId, tuple[int, int]]:
    """Where the top predictions of each query begin and end among those of all queries."""
    sizes = np.bincount(run.run.query[top], minlength=len(run.query_ids))
    ends = np.cumsum(sizes)
    return {
        query_id: (int(end - size), int(end)) for query_id, size, end in zip(run.query_ids, sizes, ends, strict=True)
    }
