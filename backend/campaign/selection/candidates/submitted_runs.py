"""Read and check the runs that are submitted for pooling, and merge them with the moments of a project.

*Reads* run files, queries, videos, what was pooled before. *Writes* nothing. What is new for one query is a
moment of the project for those after it: what runs found at nearly the same times becomes one moment, and one clip.
"""

import hashlib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import count
from pathlib import Path

import numpy as np

from backend.campaign.corpus.importing.model import END_SLACK_S
from backend.campaign.nouns import Split
from backend.campaign.selection.candidates.model import (
    CandidateSource,
    FoundSpan,
    KnownSpan,
    MergedSpan,
    SeenSpan,
    SourceKind,
    pool,
)
from backend.campaign.selection.queries.model import QueryRow
from backend.core.errors import InputError, Problem
from backend.core.ids import MomentId, QueryId
from backend.core.messages import said, said_n
from backend.core.reading import bytes_of, unpack
from backend.core.timespan import to_lattice
from backend.core.typed_text import is_readable
from backend.scoring.files.formats import read_videos, run_file
from backend.scoring.files.text import PartlyRead
from backend.scoring.matching.columns import Indices, Run
from backend.scoring.run_files import RunFile, named_files

LONGEST_NAME = 100


@dataclass(frozen=True, slots=True)
class CandidatePooling:
    """How runs are pooled into candidates.

    `depth` predictions of each query are taken of each run; spans that overlap by `iou` or more are one candidate;
    `videos` is a file that names the videos that runs give by index: `name -> [duration, index]`.
    """

    depth: int = 20
    iou: float = 0.7
    videos: Path | None = None


@dataclass(frozen=True, slots=True)
class Submitted:
    """A run that may be pooled. `query_ids` are those of its queries, in its order."""

    name: str
    sha256: str
    run: Run
    query_ids: tuple[QueryId, ...]

    def top(self, depth: int) -> Indices:
        """Where its first predictions of each query stand, in its own order."""
        size = np.diff(self.run.offsets)
        place = np.arange(len(self.run.video)) - np.repeat(self.run.offsets[:-1], size)
        return np.flatnonzero(place < depth)


def read(
    given: Sequence[str | Path | RunFile],
    *,
    queries: Iterable[QueryRow],
    durations: Mapping[str, float],
    pooled: Sequence[CandidateSource],
    options: CandidatePooling,
) -> list[Submitted]:
    """Read runs in any form that `evaluate` reads, in the order of their names.

    Args:
        given: files, as texts `NAME=FILE` or `FILE`.
        queries: all queries of the project.
        durations: seconds that each video of the project lasts.
        pooled: sources of before.
        options: of the pooling.

    Raises:
        InputError: with everything that is wrong with any of them.
    """
    files = named_files(given)
    names = None if options.videos is None else read_videos(options.videos)
    split_of = {str(query.query_id): query.split for query in queries}
    problems: list[Problem] = []
    found: list[Submitted] = []
    named: dict[str, str] = {}
    for one in files:
        try:
            packed = bytes_of(one.path)
            sha256 = hashlib.sha256(packed).hexdigest()
            if why := _not_again(one.name, sha256, named, pooled, options.depth):
                problems.append(Problem(str(one.path), None, why))
            named.setdefault(sha256, one.name)
            run, refused = _run(packed, one.path, names)
        except InputError as error:
            problems += error.problems
            continue
        wrong = [*refused, *_query_problems(run, split_of), *_prediction_problems(run, durations)]
        problems += sorted(wrong, key=lambda problem: problem.row or 0)
        if not wrong:
            ids = tuple(QueryId(int(str(query))) for query in run.queries)
            found.append(Submitted(one.name, sha256, run, ids))
    if problems:
        raise InputError(problems)
    return sorted(found, key=lambda one: one.name)


def _run(packed: bytes, path: Path, videos: Mapping[int, str] | None) -> tuple[Run, Sequence[Problem]]:
    """A run, or what of it has the right shape, with what is wrong with the rest."""
    try:
        return run_file(unpack(packed, path.name), str(path), videos), ()
    except PartlyRead as refused:
        if not isinstance(refused.rest, Run):
            raise
        return refused.rest, refused.problems


def _not_again(
    name: str, sha256: str, named: Mapping[str, str], pooled: Sequence[CandidateSource], depth: int
) -> str | None:
    """Why a run cannot be pooled beside the others, or again."""
    if sha256 in named:
        return said("is the same file as {named}: give each run once", named=named[sha256])
    if not is_readable(name) or len(name) > LONGEST_NAME or ";" in name:
        return said(
            "the name of a run needs 1 to {longest} visible characters and no semicolon: give one as NAME=FILE",
            longest=LONGEST_NAME,
        )
    runs = [source for source in pooled if source.kind is SourceKind.RUN]
    if before := [source for source in runs if source.sha256 == sha256 and source.depth >= depth]:
        return said(
            "was already pooled as {name} to depth {depth}, so it adds nothing: leave it out",
            name=before[0].name,
            depth=before[0].depth,
        )
    if any(source.name == name and source.sha256 != sha256 for source in runs):
        return said("another run was already pooled as {name}: give this one another name, as NAME=FILE", name=name)
    return None


def _query_problems(run: Run, split_of: Mapping[str, Split]) -> Iterable[Problem]:
    if not run.queries:
        yield Problem(run.file, None, said("has no queries"))
    for query, row in zip(run.queries, run.query_rows, strict=True):
        split = split_of.get(str(query))
        if split is None:
            yield Problem(run.file, row, said("query {query} is not in this project", query=query))
        elif split is Split.TRAIN:
            why = said("query {query} is a training query, whose moments are not graded", query=query)
            yield Problem(run.file, row, why)


def _prediction_problems(run: Run, durations: Mapping[str, float]) -> Iterable[Problem]:
    """What is wrong with predictions; a video that the project lacks is named once."""
    wrong = run.span_problems()
    lasts = np.array([durations.get(video, np.nan) for video in run.videos])
    with np.errstate(invalid="ignore"):
        late = np.flatnonzero(run.end_s > lasts[run.video] + END_SLACK_S)
    for position in late:
        end_s, video_s = run.end_s[position], lasts[run.video[position]]
        message = said("end {end_s:g} is after its video, which lasts {lasts:g} s", end_s=end_s, lasts=video_s)
        wrong.setdefault(int(position), message)
    for position in np.flatnonzero(~np.isfinite(run.score)):
        wrong.setdefault(int(position), said("the score is not a number"))
    yield from (run.problem(position, message) for position, message in wrong.items())
    unknown = np.flatnonzero(np.isnan(lasts[run.video]))
    times = Counter(run.video[unknown].tolist())
    told: set[int] = set()
    for position in unknown:
        video = int(run.video[position])
        if video not in told:
            told.add(video)
            message = said("video {video!r} is not in this project", video=run.videos[video])
            if more := times[video] - 1:
                message = said_n(
                    "{message} ({n} more prediction is in it)",
                    "{message} ({n:,} more predictions are in it)",
                    more,
                    message=message,
                )
            yield run.problem(int(position), message)


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
