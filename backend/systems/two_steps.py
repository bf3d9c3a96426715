"""PRMR: videos first, by one run, then moments in the best of them, by another.

The two-step search that papers compare with (Yang et al., "MVMR", CIKM 2024, section 7; TVR-Ranking, section 5): some
system for whole videos leaves the best five, and only moments of these are answers. Both are run files, so any two
systems of which runs are there can be put together.
"""

from collections.abc import Iterator

import numpy as np

from backend.core.errors import InputError
from backend.scoring.matching.columns import Run
from backend.scoring.pools.pooling import TOP_VIDEOS
from backend.systems.model import TOP, Answers, Predicted, SearchTask


def answer(task: SearchTask, videos: Run, moments: Run, *, best: int = TOP_VIDEOS, top: int = TOP) -> Answers:
    """What the second run found in the videos that the first one finds first.

    Predictions count in the order in which a run has them. Queries that one of the runs lacks are not answered.

    Args:
        task: whose queries are answered.
        videos: of the first step; its times do not matter.
        moments: of the second step.
        best: how many videos are left.
        top: answers a query.

    Raises:
        InputError: the runs and the task share no query.
    """
    first = {query: _videos(videos, rows, best) for query, rows in _by_query(videos)}
    second = dict(_by_query(moments))
    found = {
        query: list(_predicted(moments, second[query], first[query], top))
        for query in task.queries
        if query in first and query in second
    }
    if not found:
        raise InputError.single(task.source, f"shares no query with both {videos.file} and {moments.file}")
    return found


def _by_query(run: Run) -> Iterator[tuple[str, range]]:
    for number, query in enumerate(run.queries):
        yield str(query), range(int(run.offsets[number]), int(run.offsets[number + 1]))


def _videos(run: Run, rows: range, best: int) -> frozenset[str]:
    return frozenset(list(dict.fromkeys(run.videos[run.video[row]] for row in rows))[:best])


def _predicted(run: Run, rows: range, videos: frozenset[str], top: int) -> Iterator[Predicted]:
    left = [row for row in rows if run.videos[run.video[row]] in videos][:top]
    for place, row in enumerate(left):
        score = float(run.score[row])
        told = score if np.isfinite(score) else 1 - place / len(left)
        yield Predicted(run.videos[run.video[row]], float(run.start_s[row]), float(run.end_s[row]), told)
