"""Count the statistics of anybody's release, from its documents as far as it has them.

*Reads* a folder or zip. *Writes* nothing.
"""

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec

from backend.campaign.release.earlier.rules.raw_annotation import PUBLISHED_HIGHEST
from backend.campaign.release.export.opening import ReleaseFiles, opened
from backend.campaign.release.export.statistics.model import Documents, JudgedPair, ReleaseStatistics
from backend.campaign.release.export.statistics.rules import statistics
from backend.core.errors import InputError, Problem
from backend.core.messages import said
from backend.core.release_entries import GradedMoment, read_queries, read_videos
from backend.core.text_files import read_csv

_BATCH_SIZE = 20
"""Of TVR-Ranking, where a release does not say its own."""
_SPLITS = ("val", "test")
_NEEDED = ("pair_id", "query_id", "split", "rank", "verdict")


class _Manifest(msgspec.Struct):
    """What a release says of itself that is needed here."""

    scale: list[object] = []
    batch_size: int = _BATCH_SIZE


def release_statistics(folder: Path) -> ReleaseStatistics | None:
    """Return the paper's Tables 1 and 4 of a release, by split and for both; None where it has no graded truth.

    Raises:
        InputError: its files are not of their form.
    """
    found = documents(folder)
    return None if found is None else statistics(found)


def documents(path: Path) -> Documents | None:
    """The documents of a release; None where it has neither `val.json` nor `test.json`.

    Without `manifest.json` scale and batches are taken for TVR-Ranking's; a relevance above the scale makes it longer,
    so that none is left out. Without a file of pairs, or one that
    does not say rank and verdict, nothing is told of batches and of how pairs were settled.

    Raises:
        InputError: files are not of their form.
    """
    with opened(path) as files:
        if not any(f"{split}.json" in files.places for split in _SPLITS):
            return None
        problems: list[Problem] = []
        corpus: dict[str, float] = {}
        if "video_corpus.json" in files.places:
            corpus, problems = read_videos(files.read("video_corpus.json"), "video_corpus.json")
        truth = {split: _queries(files, split, corpus, problems) for split in _SPLITS}
        if problems:
            raise InputError(problems)
        says = _Manifest()
        if "manifest.json" in files.places:
            says = msgspec.json.decode(files.read("manifest.json"), type=_Manifest)
        said = len(says.scale) - 1 if says.scale else PUBLISHED_HIGHEST
        given = [one["relevance"] for found in truth.values() for query in found for one in query["relevant_moment"]]
        return Documents(
            truth={split: found for split, found in truth.items() if found},
            corpus=corpus,
            pairs=list(_pairs(files)),
            highest=max([said, *given]),
            batch_size=says.batch_size,
        )


def _queries(
    files: ReleaseFiles, split: str, corpus: dict[str, float], problems: list[Problem]
) -> list[dict[str, Any]]:
    """The queries of a split; what is wrong with them is added to the problems."""
    name = f"{split}.json"
    if name not in files.places:
        return []
    found = read_queries(files.read(name), name, GradedMoment)
    problems += found.problems
    queries: list[dict[str, Any]] = []
    for entry in found.entries:
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


def _pairs(files: ReleaseFiles) -> Iterator[JudgedPair]:
    """The pairs that were handed out, each with how many grades it has; none where the release does not tell."""
    names = ("raw_query_moment_pair.csv", "raw_annotation.csv")
    if not all(name in files.places for name in names):
        return
    pairs = read_csv(files.read(names[0]), names[0], (), _NEEDED, may_be_empty=True)
    raw = read_csv(files.read(names[1]), names[1], (), ["pair_id"], may_be_empty=True)
    if problems := [*pairs.problems, *raw.problems]:
        raise InputError(problems)
    if len(pairs.columns) < len(_NEEDED) or not raw.columns:
        return
    grades = Counter(raw.columns["pair_id"])
    for row, *cells in zip(pairs.rows, *pairs.columns.values(), strict=True):
        line = dict(zip(pairs.columns, cells, strict=True))
        rank = line["rank"]
        if not (rank.isascii() and rank.isdecimal() and int(rank)):
            raise InputError.single(names[0], said("`rank` is {rank!r}, not a whole number from 1 on", rank=rank), row)
        yield JudgedPair(line["split"], line["query_id"], int(rank), line["verdict"], grades[line["pair_id"]])
