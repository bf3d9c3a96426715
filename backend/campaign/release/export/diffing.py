"""Compare two releases, or compute the statistics of one. A release is a folder or a zip.

*Reads* releases. *Writes* nothing.
"""

from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec

from backend.campaign.release.earlier.model import PUBLISHED_HIGHEST
from backend.campaign.release.export.model import Adjudicated
from backend.campaign.release.export.opening import ReleaseFiles, open_release
from backend.campaign.release.export.rules.diffing import ComparedRelease, JudgedSpan, ReleaseDiff, Span, compare
from backend.campaign.release.export.rules.statistics import Documents, JudgedPair, ReleaseStatistics, statistics
from backend.campaign.release.statistics.rules import Figures
from backend.core.errors import InputError, Problem
from backend.core.messages import said
from backend.core.progress import Progress
from backend.core.reading import UNDECODABLE
from backend.core.release_entries import GradedMoment, read_queries, read_videos
from backend.core.text_files import csv_text, read_csv, whole
from backend.core.typed_text import nfc

TRUTH = {"val": "val.json", "test": "test.json"}
COLUMNS = ("query_id", "query", "pair_id", "video_name", "start", "end", "before", "after", "reason")
_BATCH_SIZE = 20
"""The batch size of TVR-Ranking, for releases that do not state their own."""
_PAIRS, _RAW = "raw_query_moment_pair.csv", "raw_annotation.csv"


class _Manifest(msgspec.Struct):
    """The fields of a release's `manifest.json` that this module reads, with defaults for releases without one."""

    scale: list[object] = []
    batch_size: int = _BATCH_SIZE
    created_at: str = ""
    adjudicated: Adjudicated = Adjudicated.INCLUDE
    queries_left_out: dict[str, list[int | str]] = {}


def read(path: Path, name: str | None = None) -> tuple[ComparedRelease, str]:
    """Return the content of a release for a comparison, and the time of the last change that it includes.

    The time looks like `2026-03-14T09:26:53+00:00`, and is empty if the manifest does not state it. `name` is what to
    call the release; None takes the name of its file.

    Raises:
        InputError: the path cannot be read as a release.
    """
    with open_release(path) as files:
        queries: dict[str, tuple[str, str]] = {}
        relevances: dict[Span, int] = {}
        judged: dict[Span, JudgedSpan] = {}
        if not any(file in files.places for file in TRUTH.values()):
            raise InputError.single(
                path, said("is not a release: it has none of {files}", files=", ".join(TRUTH.values()))
            )
        for split, file in TRUTH.items():
            if file not in files.places:
                continue
            content = read_queries(files.read(file), file, GradedMoment)
            if content.problems:
                raise InputError(content.problems)
            for entry in content.entries:
                queries[str(entry.query_id)] = (split, entry.query)
                for _, moment in entry.moments:
                    span = Span(str(entry.query_id), moment.video_name, *moment.timestamp)
                    relevances[span] = moment.relevance
                    judged[span] = JudgedSpan("" if moment.pair_id is None else str(moment.pair_id))
        manifest = _manifest(files)
        judged_pairs = _judged(files)
        return ComparedRelease(
            name=name or files.name,
            queries=queries,
            relevances=relevances,
            judged={**judged, **judged_pairs},
            told=bool(judged_pairs),
            left_out={
                str(query): reason for reason, query_ids in manifest.queries_left_out.items() for query in query_ids
            },
            adjudicated=manifest.adjudicated is Adjudicated.INCLUDE,
        ), manifest.created_at


def diff_releases(before: Path, after: Path, *, progress: Progress | None = None) -> ReleaseDiff:
    """Return the differences between two releases, each the path of a folder or zip.

    `progress` is called with (name of the step, steps done, all steps).

    Raises:
        InputError: one of the paths cannot be read as a release.
    """
    (first, _), (second, _) = read_both((before, None), (after, None), progress)
    return compare(first, second, {})


def read_both(
    before: tuple[Path, str | None], after: tuple[Path, str | None], progress: Progress | None
) -> list[tuple[ComparedRelease, str]]:
    """Read two releases, each given as (path, name to call it), and return what `read` returns for each.

    `progress` is called with (name of the step, steps done, all steps).
    """
    releases = []
    for done, (place, name) in enumerate((before, after), start=1):
        if progress:
            progress(said("reading releases"), done - 1, 2)
        releases.append(read(place, name))
        if progress:
            progress(said("reading releases"), done, 2)
    return releases


def diff_csv(diff: ReleaseDiff) -> str:
    """Return every difference between two releases as CSV, one row each: first queries, then pairs.

    The columns of the moment are empty for a query.
    """
    queries = (
        (change.query_id, "", "", "", "", "", change.before, change.after, change.reason) for change in diff.queries
    )
    pairs = (
        (
            change.query_id,
            change.query,
            change.pair_id,
            change.video,
            change.start_s,
            change.end_s,
            change.before,
            change.after,
            change.reason,
        )
        for change in diff.pairs
    )
    return csv_text(COLUMNS, [*queries, *pairs], for_people=True)


def _manifest(files: ReleaseFiles) -> _Manifest:
    if "manifest.json" not in files.places:
        return _Manifest()
    data = files.read("manifest.json")
    try:
        return msgspec.json.decode(data, type=_Manifest)
    except UNDECODABLE as error:
        raise InputError.single("manifest.json", said("is not a manifest: {error}", error=error)) from None


def _judged(files: ReleaseFiles) -> dict[Span, JudgedSpan]:
    """Return the verdict (outcome of grading) and the grades of every pair of a release, by query and moment.

    The dict is empty if the files lack the columns that ReelRank's own releases have.
    """
    if _PAIRS not in files.places or _RAW not in files.places:
        return {}
    raw = read_csv(files.read(_RAW), _RAW, ["pair_id", "relevance"], may_be_empty=True)
    grades: defaultdict[str, list[int]] = defaultdict(list)
    for pair_id, grade in zip(raw.columns["pair_id"], raw.columns["relevance"], strict=True):
        if (value := whole(grade)) is not None:
            grades[pair_id.strip()].append(value)
    columns = ("pair_id", "query_id", "video_name", "start", "end", "verdict")
    pairs = read_csv(files.read(_PAIRS), _PAIRS, ["pair_id"], columns[1:])
    if any(name not in pairs.columns for name in columns):
        return {}
    judged = {}
    for pair_id, query_id, video, start, end, verdict in zip(*(pairs.columns[name] for name in columns), strict=True):
        try:
            span = Span(nfc(query_id.strip()), nfc(video), float(start), float(end))
        except ValueError:
            raise InputError.single(
                _PAIRS,
                said(
                    "pair {pair_id}: start {start!r} or end {end!r} is not a number",
                    pair_id=pair_id,
                    start=start,
                    end=end,
                ),
            ) from None
        judged[span] = JudgedSpan(pair_id.strip(), verdict, tuple(grades[pair_id.strip()]))
    return judged


_NEEDED = ("pair_id", "query_id", "split", "rank", "verdict")


def release_statistics(folder: Path, training: Figures | None = None) -> ReleaseStatistics | None:
    """Return the statistics of a release (the paper's Tables 1 and 4), for each split and for both together.

    `training` are the figures of its largest pseudo training set. Returns None if the release has neither `val.json`
    nor `test.json`.

    Raises:
        InputError: a file does not have the format of a release.
    """
    content = documents(folder)
    return None if content is None else statistics(content, training)


def documents(path: Path) -> Documents | None:
    """Return the content of a release from which its statistics are computed.

    Returns None if it has neither `val.json` nor `test.json`. Without `manifest.json`, the scale and batch size of
    TVR-Ranking are assumed. If a moment has a higher relevance than the scale, the scale is extended. If the release
    has no file of pairs with rank and verdict, `pairs` is empty, and there are no statistics about batches and
    verdicts.

    Raises:
        InputError: a file does not have the format of a release.
    """
    with open_release(path) as files:
        if not any(file in files.places for file in TRUTH.values()):
            return None
        problems: list[Problem] = []
        corpus: dict[str, float] = {}
        if "video_corpus.json" in files.places:
            corpus, problems = read_videos(files.read("video_corpus.json"), "video_corpus.json")
        truth = {split: _queries(files, split, corpus, problems) for split in TRUTH}
        if problems:
            raise InputError(problems)
        manifest = _manifest(files)
        highest = len(manifest.scale) - 1 if manifest.scale else PUBLISHED_HIGHEST
        relevances = [
            moment["relevance"]
            for queries in truth.values()
            for query in queries
            for moment in query["relevant_moment"]
        ]
        return Documents(
            truth={split: queries for split, queries in truth.items() if queries},
            corpus=corpus,
            pairs=list(_handed_out(files)),
            highest=max([highest, *relevances]),
            batch_size=manifest.batch_size,
        )


def _queries(
    files: ReleaseFiles, split: str, corpus: dict[str, float], problems: list[Problem]
) -> list[dict[str, Any]]:
    """Return the queries of a split, and add the problems of its file to `problems`.

    `corpus` has the duration of each video in seconds, for moments that do not state it.
    """
    name = TRUTH[split]
    if name not in files.places:
        return []
    content = read_queries(files.read(name), name, GradedMoment)
    problems += content.problems
    queries: list[dict[str, Any]] = []
    for entry in content.entries:
        moments = []
        for number, moment in entry.moments:
            duration_s = moment.duration or corpus.get(moment.video_name)
            if duration_s is None:
                message = said(
                    "query {query_id}, moment {number}: no file says how long {video_name} lasts",
                    query_id=entry.query_id,
                    number=number,
                    video_name=moment.video_name,
                )
                problems.append(Problem(name, entry.row, message))
            moments.append({**msgspec.structs.asdict(moment), "duration": duration_s})
        queries.append({"query_id": entry.query_id, "query": entry.query, "relevant_moment": moments})
    return queries


def _handed_out(files: ReleaseFiles) -> Iterator[JudgedPair]:
    """Yield the pairs that annotators were given, with their numbers of grades.

    There are none if the release lacks the files or columns for this.
    """
    if _PAIRS not in files.places or _RAW not in files.places:
        return
    pairs = read_csv(files.read(_PAIRS), _PAIRS, (), _NEEDED, may_be_empty=True)
    raw = read_csv(files.read(_RAW), _RAW, (), ["pair_id"], may_be_empty=True)
    if problems := [*pairs.problems, *raw.problems]:
        raise InputError(problems)
    if len(pairs.columns) < len(_NEEDED) or not raw.columns:
        return
    grades = Counter(raw.columns["pair_id"])
    for row, *cells in zip(pairs.rows, *pairs.columns.values(), strict=True):
        line = dict(zip(pairs.columns, cells, strict=True))
        rank = line["rank"]
        if not (rank.isascii() and rank.isdecimal() and int(rank)):
            raise InputError.single(_PAIRS, said("`rank` is {rank!r}, not a whole number from 1 on", rank=rank), row)
        yield JudgedPair(line["split"], line["query_id"], int(rank), line["verdict"], grades[line["pair_id"]])
