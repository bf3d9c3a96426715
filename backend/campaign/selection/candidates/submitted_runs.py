"""Read and check the runs that are submitted for pooling, and merge them with the moments of a project.

*Reads* run files, queries, videos, earlier sources. *Writes* nothing. A moment that is new for one query counts as a
moment of the project for the next queries. So spans at nearly the same times become one moment, and one clip.
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
from backend.core.reading import file_bytes, unpack
from backend.core.timespan import to_lattice
from backend.core.typed_text import is_readable
from backend.scoring.files.formats import read_videos, run_file
from backend.scoring.files.text import PartlyRead
from backend.scoring.matching.columns import Indices, Run
from backend.scoring.run_files import RunFile, named_files

LONGEST_NAME = 100


@dataclass(frozen=True, slots=True)
class CandidatePooling:
    """Options for pooling runs, that is, for making their best predictions candidates.

    The first `depth` predictions of each query are taken from each run. Spans that overlap by `iou` or more become one
    candidate. `videos` is a file that names the videos if runs give them by index: `name -> [duration, index]`.
    """

    depth: int = 20
    iou: float = 0.7
    videos: Path | None = None


@dataclass(frozen=True, slots=True)
class Submitted:
    """A run that was checked: its name, the hash of its file, and its predictions.

    `query_ids` are the project's ids of its queries, in the order of the run.
    """

    name: str
    sha256: str
    run: Run
    query_ids: tuple[QueryId, ...]

    def top(self, depth: int) -> Indices:
        """Return the positions of the first `depth` predictions of each query, in the order of the run."""
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
    """Read and check runs in any file format that `evaluate` reads; return them sorted by name.

    Args:
        given: files, as texts `NAME=FILE` or `FILE`.
        queries: all queries of the project.
        durations: length of each video of the project, in seconds.
        pooled: the sources of candidates of earlier poolings.
        options: the depth, and the file of video names.

    Raises:
        InputError: with everything that is wrong with the runs.
    """
    files = named_files(given)
    names = None if options.videos is None else read_videos(options.videos)
    split_of = {str(query.query_id): query.split for query in queries}
    problems: list[Problem] = []
    submitted: list[Submitted] = []
    named: dict[str, str] = {}
    for file in files:
        try:
            packed = file_bytes(file.path)
            sha256 = hashlib.sha256(packed).hexdigest()
            if why := _not_again(file.name, sha256, named, pooled, options.depth):
                problems.append(Problem(str(file.path), None, why))
            named.setdefault(sha256, file.name)
            run, refused = _run(packed, file.path, names)
        except InputError as error:
            problems += error.problems
            continue
        wrong = [*refused, *_query_problems(run, split_of), *_prediction_problems(run, durations)]
        problems += sorted(wrong, key=lambda problem: problem.row or 0)
        if not wrong:
            ids = tuple(QueryId(int(str(query))) for query in run.queries)
            submitted.append(Submitted(file.name, sha256, run, ids))
    if problems:
        raise InputError(problems)
    return sorted(submitted, key=lambda file: file.name)


def _run(packed: bytes, path: Path, videos: Mapping[int, str] | None) -> tuple[Run, Sequence[Problem]]:
    """Return a run and its problems. Predictions that cannot be parsed are left out of the run."""
    try:
        return run_file(unpack(packed, path.name), str(path), videos), ()
    except PartlyRead as refused:
        if not isinstance(refused.rest, Run):
            raise
        return refused.rest, refused.problems


def _not_again(
    name: str, sha256: str, named: Mapping[str, str], pooled: Sequence[CandidateSource], depth: int
) -> str | None:
    """Return why a run cannot be pooled; None if it can.

    For example, the same file was given twice, or it was already pooled to this depth. `named` maps the hashes of files
    given before to their names.
    """
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
    """Yield what is wrong with a run's predictions. A video that the project lacks is reported only once."""
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
    reported: set[int] = set()
    for position in unknown:
        video = int(run.video[position])
        if video not in reported:
            reported.add(video)
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
"""Source numbers of captions and of frames; runs are numbered from 0."""
Listed = tuple[MomentId, int | None, float, int]
"""A moment that is a candidate already: (moment, rank or None, score, source number)."""
Place = tuple[str, float, float]
"""A span of a video: (video, start, end), in seconds."""


class Merging:
    """Merges the spans that sources found into candidate moments, one query after the other.

    `new` has the candidates that are not moments of the project yet. They are numbered -1, -2, ... until they are
    stored.
    """

    def __init__(
        self, runs: Sequence[Submitted], places: Mapping[MomentId, Place], *, depth: int, iou: Fraction
    ) -> None:
        """Prepare the merging: express all times as whole multiples of one small step, so that overlaps are exact.

        Args:
            runs: checked runs.
            places: all moments of the project.
            depth: number of predictions taken from each run for each query.
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
        position = 2 * len(places)
        for top in self._tops:
            self._columns.append(
                (steps[position : position + len(top)], steps[position + len(top) : position + 2 * len(top)])
            )
            position += 2 * len(top)
        self._rows = [_rows(run, top) for run, top in zip(runs, self._tops, strict=True)]

    def candidates(self, query_id: QueryId, listed: Iterable[Listed] = ()) -> list[MergedSpan]:
        """Merge the spans that sources found for a query; return its candidates by best rank.

        A candidate that is not a moment of the project yet is added to `new`.

        Args:
            query_id: the query.
            listed: candidates that the query has already, as (moment, rank, score, number of the source). The rank is
                None if neither captions nor frames found the candidate in this pooling.
        """
        by_moment: dict[MomentId, MergedSpan] = {}
        for moment_id, rank, score, source in listed:
            known = self._known[moment_id]
            candidate = by_moment.setdefault(moment_id, MergedSpan(*known))
            if rank is not None:
                candidate.seen.append(SeenSpan(rank, *known[:3], source, score))
        numbers = (MomentId(-number) for number in count(len(self.new) + 1))
        found = pool(self._seen(query_id), by_moment.values(), self._moments, self._iou, numbers)
        for candidate in sorted(found, key=lambda candidate: -candidate.moment_id):
            if candidate.moment_id not in self._known:
                self.new.append((candidate.video, self._seconds[candidate.start], self._seconds[candidate.end]))
                self._add(KnownSpan(candidate.video, candidate.start, candidate.end, candidate.moment_id))
        return found

    def found_spans(
        self, found: Mapping[QueryId, Sequence[MergedSpan]], ids: Mapping[MomentId, MomentId]
    ) -> dict[int, list[FoundSpan]]:
        """Map the number of each source to the spans that it found, with the candidate of each.

        `ids` maps temporary numbers of new moments to stored ones.
        """
        spans: dict[int, list[FoundSpan]] = {}
        for query_id, candidates in found.items():
            for candidate in candidates:
                moment_id = ids.get(candidate.moment_id, candidate.moment_id)
                for seen in candidate.seen:
                    place = (self._seconds[seen.start], self._seconds[seen.end])
                    spans.setdefault(seen.source, []).append(
                        FoundSpan(query_id, moment_id, seen.rank, seen.score, *place)
                    )
        return spans

    def _add(self, moment: KnownSpan) -> None:
        self._known[moment.moment_id] = moment
        self._moments.setdefault(moment.video, []).append(moment)

    def _seen(self, query_id: QueryId) -> Iterator[SeenSpan]:
        for source, (submitted, top, (starts, ends), rows) in enumerate(
            zip(self._runs, self._tops, self._columns, self._rows, strict=True)
        ):
            first, last = rows.get(query_id, (0, 0))
            run = submitted.run
            for rank, place in enumerate(range(first, last), start=1):
                position = top[place]
                video = run.videos[run.video[position]]
                yield SeenSpan(rank, video, starts[place], ends[place], source, float(run.score[position]))


def _rows(run: Submitted, top: "np.ndarray[tuple[int], np.dtype[np.int64]]") -> dict[QueryId, tuple[int, int]]:
    """Map each query to a slice of `top`: the positions of its first prediction and after its last one."""
    sizes = np.bincount(run.run.query[top], minlength=len(run.query_ids))
    ends = np.cumsum(sizes)
    return {
        query_id: (int(end - size), int(end)) for query_id, size, end in zip(run.query_ids, sizes, ends, strict=True)
    }
