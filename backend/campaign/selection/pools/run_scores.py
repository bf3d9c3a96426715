"""Read the scores of videos for queries from a run, to draw training negatives by them.

*Reads* a run of any format. *Writes* nothing.
"""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from backend.core.errors import InputError
from backend.core.reading import file_bytes
from backend.encoders.sentence import FloatArray
from backend.scoring.files.formats import read_run


@dataclass(frozen=True, slots=True, eq=False)
class ScoredVideos:
    """The scores of a run.

    Attributes:
        best: r(q, v), the highest score of a moment of each video, float32 `(queries, videos)`. A video that the run
            does not list for a query has the lowest score that it lists for the query, as it can have no higher one.
        share: the share of pairs of a query and a video that the run lists.
        sha256: the SHA-256 of the run's bytes.
    """

    best: FloatArray
    share: float
    sha256: str


def read(file: Path, queries: Sequence[str], videos: Sequence[str]) -> ScoredVideos:
    """Return the scores of videos for queries (MVMR, Yang et al. 2024, equation 3: the maximum over moments).

    Args:
        file: the run.
        queries: the ids of the queries.
        videos: the names of the videos; others in the run are ignored.

    Raises:
        InputError: the run lists no video for one of the queries, or has a score that is not a finite number.
    """
    run = read_run(file)
    row = {str(query): n for n, query in enumerate(queries)}
    column = {video: n for n, video in enumerate(videos)}
    rows = np.array([row.get(str(query), -1) for query in run.queries], dtype=np.int64)[run.query]
    columns = np.array([column.get(video, -1) for video in run.videos], dtype=np.int64)[run.video]
    known = (rows >= 0) & (columns >= 0)
    if not np.isfinite(run.score[known]).all():
        raise InputError.single(file, "has a score that is not a finite number")
    best = np.full((len(queries), len(videos)), -np.inf, dtype=np.float32)
    np.maximum.at(best, (rows[known], columns[known]), run.score[known].astype(np.float32))
    listed = np.isfinite(best)
    if missing := [queries[n] for n in np.flatnonzero(~listed.any(axis=1)).tolist()]:
        which = f"{len(missing):,} of {len(queries):,} queries, such as {missing[0]}"
        message = f"lists no video of the annotation file for {which}"
        raise InputError.single(file, f"{message}: predict with the ids VIDEO#N of all its sentences")
    lowest = np.where(listed, best, np.inf).min(axis=1, keepdims=True)
    return ScoredVideos(
        np.where(listed, best, lowest), float(listed.mean()), hashlib.sha256(file_bytes(file)).hexdigest()
    )
