"""Compare two releases of anybody: folders or zips.

*Reads* releases. *Writes* nothing.
"""

from collections import defaultdict
from pathlib import Path

import msgspec

from backend.campaign.release.export.model import Adjudicated
from backend.campaign.release.export.opening import ReleaseFiles, opened
from backend.campaign.release.export.rules.diffing import ComparedRelease, JudgedSpan, ReleaseDiff, Span, compare
from backend.core.errors import InputError
from backend.core.messages import said
from backend.core.progress import Progress
from backend.core.release_entries import GradedMoment, read_queries
from backend.core.text_files import csv_text, read_csv, whole
from backend.core.typed_text import nfc
from backend.core.undecodable import UNDECODABLE

TRUTH = {"val": "val.json", "test": "test.json"}
COLUMNS = ("query_id", "query", "pair_id", "video_name", "start", "end", "before", "after", "reason")
_PAIRS, _RAW = "raw_query_moment_pair.csv", "raw_annotation.csv"


class _Manifest(msgspec.Struct):
    """What is read of a manifest; published releases have none."""

    created_at: str = ""
    adjudicated: Adjudicated = Adjudicated.INCLUDE
    queries_left_out: dict[str, list[int | str]] = {}


def read(path: Path, name: str | None = None) -> tuple[ComparedRelease, str]:
    """What is compared of a release, and the state that it is of (`2026-03-14T09:26:53+00:00`, empty where unknown).

    Raises:
        InputError: it cannot be read as a release.
    """
    with opened(path) as files:
        queries: dict[str, tuple[str, str]] = {}
        relevances: dict[Span, int] = {}
        judged: dict[Span, JudgedSpan] = {}
        if not any(file in files.places for file in TRUTH.values()):
            raise InputError.single(
                path, said("is no release: it has none of {files}", files=", ".join(TRUTH.values()))
            )
        for split, file in TRUTH.items():
            if file not in files.places:
                continue
            found = read_queries(files.read(file), file, GradedMoment)
            if found.problems:
                raise InputError(found.problems)
            for entry in found.entries:
                queries[str(entry.query_id)] = (split, entry.query)
                for _, moment in entry.moments:
                    span = Span(str(entry.query_id), moment.video_name, *moment.timestamp)
                    relevances[span] = moment.relevance
                    judged[span] = JudgedSpan("" if moment.pair_id is None else str(moment.pair_id))
        manifest = _manifest(files)
        told = _judged(files)
        return ComparedRelease(
            name=name or files.name,
            queries=queries,
            relevances=relevances,
            judged={**judged, **told},
            told=bool(told),
            left_out={str(query): why for why, those in manifest.queries_left_out.items() for query in those},
            adjudicated=manifest.adjudicated is Adjudicated.INCLUDE,
        ), manifest.created_at


def diff_releases(before: Path, after: Path, *, progress: Progress | None = None) -> ReleaseDiff:
    """Return what changed from one release to another; `progress` is called with (what is done, done, all).

    Raises:
        InputError: one of them cannot be read as a release.
    """
    (one, _), (other, _) = read_both((before, None), (after, None), progress)
    return compare(one, other, {})


def read_both(
    before: tuple[Path, str | None], after: tuple[Path, str | None], progress: Progress | None
) -> list[tuple[ComparedRelease, str]]:
    """Two releases, each by its place and its name; see `read`."""
    found = []
    for done, (place, name) in enumerate((before, after), start=1):
        if progress:
            progress(said("reading releases"), done - 1, 2)
        found.append(read(place, name))
        if progress:
            progress(said("reading releases"), done, 2)
    return found


def diff_csv(found: ReleaseDiff) -> str:
    """Return every change as CSV, a row each: queries first, which have no moment."""
    queries = ((one.query_id, "", "", "", "", "", one.before, one.after, one.reason) for one in found.queries)
    pairs = (
        (one.query_id, one.query, one.pair_id, one.video, one.start_s, one.end_s, one.before, one.after, one.reason)
        for one in found.pairs
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
    """Verdict and grades of every pair, where the release tells them in the form of ours."""
    if _PAIRS not in files.places or _RAW not in files.places:
        return {}
    raw = read_csv(files.read(_RAW), _RAW, ["pair_id", "relevance"], may_be_empty=True)
    given: defaultdict[str, list[int]] = defaultdict(list)
    for pair_id, grade in zip(raw.columns["pair_id"], raw.columns["relevance"], strict=True):
        if (value := whole(grade)) is not None:
            given[pair_id.strip()].append(value)
    wanted = ("pair_id", "query_id", "video_name", "start", "end", "verdict")
    pairs = read_csv(files.read(_PAIRS), _PAIRS, ["pair_id"], wanted[1:])
    if any(name not in pairs.columns for name in wanted):
        return {}
    found = {}
    for pair_id, query_id, video, start, end, verdict in zip(*(pairs.columns[name] for name in wanted), strict=True):
        try:
            span = Span(nfc(query_id.strip()), nfc(video), float(start), float(end))
        except ValueError:
            raise InputError.single(
                _PAIRS,
                said(
                    "pair {pair_id}: start {start!r} or end {end!r} is no number", pair_id=pair_id, start=start, end=end
                ),
            ) from None
        found[span] = JudgedSpan(pair_id.strip(), verdict, tuple(given[pair_id.strip()]))
    return found
