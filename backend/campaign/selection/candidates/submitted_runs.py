"""Read and check the runs that are submitted for pooling, all of them at once.

*Reads* run files, queries, videos, what was pooled before. *Writes* nothing.
"""

import hashlib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from backend.campaign.corpus.importing.model import END_SLACK_S
from backend.campaign.nouns import Split
from backend.campaign.selection.candidates.model import CandidateSource, SourceKind
from backend.campaign.selection.queries.model import QueryRow
from backend.core.errors import InputError, Problem
from backend.core.ids import QueryId
from backend.core.messages import said
from backend.core.person_names import is_readable
from backend.core.reading import bytes_of, unpack
from backend.scoring.files.formats import run_file
from backend.scoring.files.partial_reads import PartlyRead
from backend.scoring.files.reading import read_videos
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

    def place(self, positions: Indices) -> Indices:
        """The ranks of these predictions, from 1."""
        return positions - self.run.offsets[self.run.query[positions]] + 1


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
            "a run's name has at most {longest} characters that can be read, and no ;: give one as NAME=FILE",
            longest=LONGEST_NAME,
        )
    runs = [source for source in pooled if source.kind is SourceKind.RUN]
    before = [source for source in runs if source.sha256 == sha256 and source.depth >= depth]
    if before:
        return said(
            "was pooled before as {name}, {depth} deep: all that it found is there already",
            name=before[0].name,
            depth=before[0].depth,
        )
    if any(source.name == name and source.sha256 != sha256 for source in runs):
        return said("another run was pooled as {name} before: give this one another name, as NAME=FILE", name=name)
    return None


def _query_problems(run: Run, split_of: Mapping[str, Split]) -> Iterable[Problem]:
    if not run.queries:
        yield Problem(run.file, None, said("holds no query"))
    for query, row in zip(run.queries, run.query_rows, strict=True):
        split = split_of.get(str(query))
        if split is None:
            yield Problem(run.file, row, said("query {query} is not in this project", query=query))
        elif split is Split.TRAIN:
            yield Problem(
                run.file, row, said("query {query} is a training query, of which nothing is judged", query=query)
            )


def _prediction_problems(run: Run, durations: Mapping[str, float]) -> Iterable[Problem]:
    """What is wrong with predictions; a video that the project lacks is named once."""
    wrong = run.span_problems()
    lasts = np.array([durations.get(video, np.nan) for video in run.videos])
    with np.errstate(invalid="ignore"):
        late = np.flatnonzero(run.end_s > lasts[run.video] + END_SLACK_S)
    for position in late:
        wrong.setdefault(
            int(position),
            said(
                "end {end_s:g} is after its video, which lasts {lasts:g} s",
                end_s=run.end_s[position],
                lasts=lasts[run.video[position]],
            ),
        )
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
                message = said("{message} (and so {more:,} more)", message=message, more=more)
            yield run.problem(int(position), message)
