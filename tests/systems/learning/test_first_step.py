"""The run of a first step: its lists, what is refused, and which videos are drawn."""

import json
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from backend.core.errors import InputError
from backend.scoring.pools.model import PoolMoment, PoolQuery, Pools
from backend.systems.learning.first_step import FirstRun, FirstStep, read_first_run, within_pools

VIDEOS = ("a", "b", "c", "d", "e")
RUN = {"1": [["c", 0, 1, 4.0], ["a", 0, 1, 2.0], ["c", 5, 6, 1.0], ["e", 0, 1, 0.5]], "2": [["b", 0, 1, 0.25]]}


def written(folder: Path, run: object, name: str = "first.json") -> str:
    file = folder / name
    file.write_text(json.dumps(run))
    return str(file)


def test_a_video_counts_as_its_first_moment(tmp_path: Path) -> None:
    found = read_first_run(FirstStep((written(tmp_path, RUN),)), VIDEOS)
    videos, scores = found.candidates(1, 2)
    assert (videos.tolist(), scores.tolist()) == ([2, 0], [4.0, 2.0])
    videos, scores = found.candidates("1", 10)
    assert (videos.tolist(), scores.tolist()) == ([2, 0, 4], [4.0, 2.0, 0.5])


def test_linear_scores_become_logarithms(tmp_path: Path) -> None:
    found = read_first_run(FirstStep((written(tmp_path, RUN),), "linear"), VIDEOS)
    assert found.candidates("1", 3)[1].tolist() == pytest.approx(np.log([4.0, 2.0, 0.5]).tolist())
    file = written(tmp_path, {"1": [["a", 0, 1, -2.0]]}, "logs.json")
    with pytest.raises(InputError, match=r"logs\.json: query 1: scores of videos have to be above 0"):
        read_first_run(FirstStep((file,), "linear"), VIDEOS)


def test_several_runs_are_joined_but_share_no_query(tmp_path: Path) -> None:
    other = written(tmp_path, {"3": [["d", 0, 1, 1.0]]}, "other.json")
    found = read_first_run(FirstStep((written(tmp_path, RUN), other)), VIDEOS)
    assert found.candidates(3, 9)[0].tolist() == [3]
    found.require([1, 2, 3], "val.json")
    with pytest.raises(InputError, match=r"train\.json: .* 2 queries: 7, 8\. Predict them with the first system"):
        found.require([1, 7, 8], "train.json")
    again = written(tmp_path, {"2": [["d", 0, 1, 1.0]]}, "again.json")
    with pytest.raises(InputError, match=r"again\.json: query 2 is in another run"):
        read_first_run(FirstStep((written(tmp_path, RUN), again)), VIDEOS)


def test_unknown_videos_are_refused_or_left_out(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"2 videos are not in .*, such as c, e"):
        read_first_run(FirstStep((written(tmp_path, RUN),)), ("a", "b", "d"))
    some = read_first_run(FirstStep((written(tmp_path, RUN),)), ("a", "b", "d"), others=True)
    assert [some.candidates(query, 9)[0].tolist() for query in (1, 2)] == [[0], [1]]


def ranked(*, negatives: int, pool: int, count: int = 300) -> FirstRun:
    order, scores = np.arange(count)[::-1].copy(), np.zeros(count, dtype=np.float32)
    return FirstRun(FirstStep(("first.json",), negatives=negatives, pool=pool), {"1": (order, scores)})


def test_negatives_come_from_before_the_right_video_and_a_pool_after_it() -> None:
    """Place 5 (video 294) with a pool of 3: videos 299 to 291 without 294; 297 also has a moment of the query."""
    run, rng = ranked(negatives=2, pool=3), np.random.default_rng(0)
    seen: Counter[int] = Counter()
    for _ in range(800):
        drawn, counts = run.draw([1], np.array([294]), [np.array([294, 297])], rng)
        assert counts.all()
        assert drawn[0, 0] != drawn[0, 1]
        seen.update(drawn[0].tolist())
    assert set(seen) == {299, 298, 296, 295, 293, 292, 291}
    assert min(seen.values()) > 0.8 * 1600 / 7


def test_a_right_video_that_the_run_lacks_counts_as_place_100() -> None:
    run, rng = ranked(negatives=300, pool=10), np.random.default_rng(0)
    drawn, counts = run.draw([1], np.array([900]), [np.array([900])], rng)
    assert set(drawn[0][counts[0]].tolist()) == set(range(190, 300))
    assert set(drawn[0][~counts[0]].tolist()) == {900}


def test_draws_follow_the_generator() -> None:
    run = ranked(negatives=3, pool=50)
    first, second = (
        run.draw([1, 1], np.array([4, 290]), [np.array([4])] * 2, np.random.default_rng(8))[0].tolist()
        for _ in range(2)
    )
    assert first == second


def test_pools_narrow_a_first_run_or_stand_for_one(tmp_path: Path) -> None:
    own = PoolMoment("c", 0, 1, "a man")
    query = PoolQuery("1", "a man", own, (own,), ("c", "b", "e"))
    pools = Pools((query,), dict.fromkeys(VIDEOS, 9.0), {})
    videos, scores = within_pools(pools, VIDEOS, None).candidates("1", 9)
    assert (videos.tolist(), scores.tolist()) == ([2, 1, 4], [0.0, 0.0, 0.0])
    first = read_first_run(FirstStep((written(tmp_path, RUN),)), VIDEOS)
    videos, scores = within_pools(pools, VIDEOS, first).candidates("1", 9)
    assert (videos.tolist(), scores.tolist()) == ([2, 4], [4.0, 0.5])
