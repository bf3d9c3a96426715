"""Compute the statistics of annotation files or of a release folder, without a project.

*Reads* the annotation files; or, of a release folder, `val.json`, `test.json`, the largest `train_topNN.json` (the
smaller ones are parts of it) and `video_corpus.json`, where they exist. *Writes* nothing.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from mmap import mmap
from pathlib import Path
from typing import TypeVar

import msgspec

from backend.campaign.corpus.importing import formats
from backend.campaign.corpus.importing.model import END_SLACK_S, ImportOptions, Parsed
from backend.campaign.release.statistics import rules
from backend.campaign.release.statistics.rules import TRAINING, Figures, Holdings, Span, Statistics
from backend.core import lexicon
from backend.core.errors import InputError, Problem
from backend.core.file_system import require_own
from backend.core.progress import Progress, Steps, steps_of
from backend.core.reading import UNDECODABLE, file_bytes, mapped_bytes
from backend.core.typed_text import nfc

VIDEOS_FILE = "video_corpus.json"
_GRADED = ("val.json", "test.json")
_NO_RELEASE = "is not of the form of a release: {error}"
_STEP = 1_000
_Shape = TypeVar("_Shape")


class _Moment(msgspec.Struct, gc=False):
    video_name: str
    timestamp: tuple[float, float]
    duration: float | None = None


class _Query(msgspec.Struct, gc=False):
    query: str
    relevant_moment: list[_Moment]


@dataclass(slots=True)
class _Part:
    """What is read of one file of queries; `pairs` maps each moment to its number of queries."""

    queries: list[str] = field(default_factory=list)
    pairs: Counter[Span] = field(default_factory=Counter)
    durations: dict[str, float | None] = field(default_factory=dict)


def query_files(folder: Path) -> list[Path]:
    """Return the files of a release folder whose queries are counted: val, test and the largest training set.

    The list is empty if the folder is no release.

    Raises:
        InputError: one of the files is a link out of the folder.
    """
    graded = [folder / name for name in _GRADED if (folder / name).is_file()]
    sizes = {int(size[1]): path for path in folder.glob("train_top*.json") if (size := TRAINING.fullmatch(path.stem))}
    return [require_own(path, folder) for path in ([*graded, sizes[max(sizes)]] if sizes else graded)]


def read_release(folder: Path, *, progress: Steps | None = None) -> Holdings:
    """Return the queries, pairs and video durations of a release folder.

    `progress` is called with (queries read, all queries).

    Raises:
        InputError: a file does not have the format of a release, or no query has a moment.
    """
    holdings = _read(folder, query_files(folder), progress)
    if not holdings.pairs:
        raise InputError.single(folder, "the release has no query with a moment")
    return holdings


def training_figures(folder: Path) -> Figures | None:
    """Return the figures of the largest training set of a release folder; None if it has no training queries.

    Raises:
        InputError: the file does not have the format of a release.
    """
    holdings = _read(folder, [path for path in query_files(folder) if TRAINING.fullmatch(path.stem)], None)
    return next(
        (
            rules.part_figures(holdings, part, lexicon.parts_of_speech)
            for part, queries in holdings.queries.items()
            if queries
        ),
        None,
    )


def _read(folder: Path, files: Sequence[Path], progress: Steps | None) -> Holdings:
    """Return what some files of queries hold, with the durations of `video_corpus.json`."""
    durations: dict[str, float | None] = {}
    videos = require_own(folder / VIDEOS_FILE, folder)
    if videos.is_file():
        for video, (duration_s, _) in _decoded(file_bytes(videos), dict[str, tuple[float, int]], videos).items():
            durations[nfc(video)] = duration_s
    pairs: Counter[Span] = Counter()
    parts = _read_parts(files, progress)
    for part in parts.values():
        pairs.update(part.pairs)
        for video, known in part.durations.items():
            durations.setdefault(video, known)
    return Holdings(
        queries={name: part.queries for name, part in parts.items()},
        pairs=pairs,
        durations=durations,
        moments={name: part.pairs.keys() for name, part in parts.items()},
    )


def _read_parts(files: Sequence[Path], progress: Steps | None) -> dict[str, _Part]:
    """Read files of queries. A training set has millions of moments, so one query is decoded at a time."""
    entries = {path: _decoded(mapped_bytes(path), list[msgspec.Raw], path) for path in files}
    decoder = msgspec.json.Decoder(_Query)
    steps, done = sum(map(len, entries.values())), 0
    parts: dict[str, _Part] = {}
    for path, queries in entries.items():
        part = parts[path.stem] = _Part()
        for row, entry in enumerate(queries, start=1):
            try:
                query = decoder.decode(entry)
            except UNDECODABLE as error:
                raise InputError.single(path, _NO_RELEASE.format(error=error), row) from None
            part.queries.append(query.query)
            for moment in query.relevant_moment:
                video = nfc(moment.video_name)
                part.pairs[(video, *moment.timestamp)] += 1
                if part.durations.get(video) is None:
                    part.durations[video] = moment.duration
            done += 1
            if progress and (done % _STEP == 0 or done == steps):
                progress(done, steps)
    return parts


def _decoded(data: bytes | mmap, shape: type[_Shape], path: Path) -> _Shape:
    try:
        return msgspec.json.decode(data, type=shape)
    except UNDECODABLE as error:
        raise InputError.single(path, _NO_RELEASE.format(error=error)) from None


def file_statistics(
    places: Sequence[Path],
    *,
    format: str | None = None,  # noqa: A002 - the word of the public contract
    types: frozenset[str] | None = None,
    columns: Mapping[str, str] | None = None,
    progress: Progress | None = None,
) -> Statistics:
    """Return the statistics of all annotation files of one corpus together, or of one release folder.

    Args:
        places: annotation files, or one folder of a release.
        format: format of the annotation files, as in `import_corpus`.
        types: the types of TVR's caption lines to count; None for those that the paper uses.
        columns: maps the usual name of a column or field to its name in the files, such as `{"start": "begin"}`.
        progress: called with (name of the step, steps done, all steps).

    Raises:
        InputError: a file has problems, or a folder is no release.
    """
    folders = [place for place in places if place.is_dir()]
    steps = steps_of(progress, "reading")
    if not folders:
        holdings = read(places, format, ImportOptions(types, columns or {}), progress=steps)
    elif len(places) > 1:
        raise InputError.single(folders[0], "is a folder: name it alone, or name annotation files")
    elif not query_files(folders[0]):
        message = "is neither a project (no reelrank.db) nor a release (no val.json, test.json or train_topNN.json)"
        raise InputError.single(folders[0], message)
    else:
        holdings = read_release(folders[0], progress=steps)
    return rules.count(
        holdings, lexicon.parts_of_speech, lexicon.name(), progress=steps_of(progress, "counting the words of queries")
    )


def read(
    files: Sequence[Path],
    format: str | None,  # noqa: A002 - the word of the public contract
    options: ImportOptions,
    *,
    progress: Steps | None = None,
) -> Holdings:
    """Return the queries, pairs and video durations of annotation files, read in the same way as for an import.

    Args:
        files: one file, or the files of the splits of one corpus.
        format: format of all files; None to recognise each by its content.
        options: how to read the files.
        progress: called with (files read, all files).

    Raises:
        InputError: the files have problems, all of which are listed.
    """
    queries: dict[str, list[str]] = {}
    pairs: Counter[Span] = Counter()
    moments: dict[str, set[Span]] = {}
    durations: dict[str, float | None] = {}
    notes: list[str] = []
    problems: list[Problem] = []
    for path, times in Counter(files).items():
        if times > 1:
            raise InputError.single(path, "is named twice: name it once")
    one_of_each_name = len({path.name for path in files}) == len(files)
    for done, path in enumerate(files, start=1):
        try:
            parsed = formats.parse(format, file_bytes(path), path.name, options)
        except InputError as refusal:
            problems += refusal.problems
            continue
        # Several windows of one query (QVHighlights) are several moments of one entry.
        entries = {(moment.row, moment.sentence): moment.caption for moment in parsed.moments}
        part = path.name if one_of_each_name else str(path)
        queries[part] = list(entries.values())
        moments[part] = {(moment.video, moment.start_s, moment.end_s) for moment in parsed.moments}
        notes += [f"{path.name}: {note}" for note in _notes(parsed)]
        for moment in parsed.moments:
            pairs[moment.video, moment.start_s, moment.end_s] += 1
            known = durations.setdefault(moment.video, moment.duration_s)
            if known is None:
                durations[moment.video] = moment.duration_s
            elif moment.duration_s is not None and abs(moment.duration_s - known) > END_SLACK_S:
                problem = f"video {moment.video} lasts {moment.duration_s} s here, but {known} s in another file"
                problems.append(moment.problem(path.name, problem))
        if progress:
            progress(done, len(files))
    if problems:
        raise InputError(problems)
    return Holdings(queries, pairs, durations, tuple(notes), moments)


def _notes(parsed: Parsed) -> list[str]:
    """Return a note for each kind of entry in an annotation file that is not counted, with the number of entries."""
    notes = [f"{left.count:,} not counted: {left.why}" for left in parsed.left_out]
    if parsed.merged:
        notes.append(f"{parsed.merged:,} not counted: it repeats an earlier one's video, span and caption")
    return notes
