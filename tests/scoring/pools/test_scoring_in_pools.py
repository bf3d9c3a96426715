"""Runs in pools against plain loops that share nothing with the code, and what must hold whatever the data."""

import json
import math
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from backend.core.errors import InputError
from backend.scoring.evaluate import evaluate
from backend.scoring.files.entries import parse_run_mapping
from backend.scoring.pools.files import parse_pools, read_pools
from backend.scoring.pools.model import PoolConventions, PoolFile, PoolMoment, PoolQuery, Pools
from backend.scoring.pools.places import places_of
from backend.scoring.pools.scoring import InPools
from backend.scoring.scored_files import score_files

K, LEVELS = (1, 2, 5), (0.5, 0.7)
ASKED = {"k": K, "mu": LEVELS, "theta": LEVELS, "measures": ["recall", "axiou", "ndcg"]}
VIDEOS = "abcde"
POOL = 3


@st.composite
def pooled_runs(draw):
    """Pools of three videos out of five, and a run that also predicts moments of other videos; ties abound."""
    time = st.integers(0, 16).map(lambda n: n / 2)
    span = st.tuples(time, time).map(sorted).filter(lambda pair: pair[0] < pair[1])
    queries, run = [], {}
    for number in range(draw(st.integers(1, 4))):
        videos = tuple(draw(st.permutations(VIDEOS))[:POOL])
        own = PoolMoment(videos[0], *draw(span), "own")
        others = draw(
            st.lists(st.builds(PoolMoment, st.sampled_from(videos), st.just(0.0), time, st.just("x")), max_size=3)
        )
        others = [moment for moment in others if moment.end_s > 0]
        ident = f"{videos[0]}#{number}"
        queries.append(PoolQuery(ident, "own", own, (own, *others), videos))
        row = st.builds(lambda v, s, x: [v, *s, x], st.sampled_from(VIDEOS), span, st.integers(-2, 3))
        if draw(st.integers(0, 4)):
            run[ident] = draw(st.lists(row, max_size=9))
    return Pools(tuple(queries), dict.fromkeys(VIDEOS, 9.0), {}), run


def plain_top(rows, n):
    """The n videos of the best score; among equals those whose best moment comes first."""
    names = []
    for row in sorted(rows, key=lambda row: -row[3]):
        if row[0] not in names:
            names.append(row[0])
    return names[:n]


def plain_narrow(rows, query, *, top=None, first=None, one_per_video=False, own=False):
    rows = [row for row in rows if row[0] in query.videos]
    if own:
        return [row for row in rows if row[0] == query.videos[0]]
    if top:
        ranked = rows if first is None else [row for row in first if row[0] in query.videos]
        chosen = plain_top(ranked, top)
        rows = [row for row in rows if row[0] in chosen]
    if one_per_video:
        kept, seen = [], set()
        for row in sorted(rows, key=lambda row: -row[3]):  # stable, as Python's sort is
            if row[0] not in seen:
                seen.add(row[0])
                kept.append(row)
        rows = kept
    return rows


def plain_iou(row, moment):
    """Exact, of the decimals that the numbers print as."""
    if row[0] != moment[0]:
        return Fraction(0)
    p0, p1, g0, g1 = (Fraction(repr(float(x))) for x in (row[1], row[2], moment[1], moment[2]))
    shared = max(Fraction(0), min(p1, g1) - max(p0, g0))
    return shared / ((p1 - p0) + (g1 - g0) - shared)


def plain_values(rows, moments):
    """Rank n@m, AxIoU and NDCG of one query by their definitions."""
    best = [max((plain_iou(row, moment) for moment in moments), default=Fraction(0)) for row in rows]
    values = {}
    for k in K:
        padded = (best + [Fraction(0)] * k)[:k]
        values[f"axiou@{k}"] = float(sum(max(padded[:j]) for j in range(1, k + 1)) / k)
        for level in LEVELS:
            m = Fraction(repr(level))
            values[f"recall@{k},{level}"] = float(any(value >= m for value in padded))
            free, gained = list(moments), 0.0
            for rank, row in enumerate(rows[:k], start=1):
                near = max(free, key=lambda moment: plain_iou(row, moment), default=None)
                if near is not None and plain_iou(row, near) >= m:
                    free.remove(near)
                    gained += 1 / math.log2(rank + 1)
            ideal = sum(1 / math.log2(rank + 1) for rank in range(1, min(k, len(moments)) + 1))
            values[f"ndcg@{k},{level}"] = gained / ideal if moments else 0.0
    return values


def moments_of(query, *, own=False):
    found = list(dict.fromkeys((m.video, m.start_s, m.end_s) for m in query.positives))
    return [moment for moment in found if not own or moment[0] == query.videos[0]]


def assert_same(found, pools, run, **how):
    for query in pools.queries:
        rows = plain_narrow(run.get(query.query_id, []), query, **how)
        expected = plain_values(rows, moments_of(query, own=how.get("own", False)))
        assert found[query.query_id] == pytest.approx(expected, abs=1e-12)


@settings(max_examples=100, deadline=None)
@given(pooled_runs(), st.booleans(), st.none() | st.integers(1, 4))
def test_the_fast_way_equals_the_plain_loops(given_data, one_per_video, top):
    pools, run = given_data
    pooling = PoolConventions("drop", one_per_video, top)
    found = evaluate(None, run, pools=pools, pooling=pooling, **ASKED)["per_query"]
    assert_same(found, pools, run, top=top, one_per_video=one_per_video)


@settings(max_examples=50, deadline=None)
@given(pooled_runs(), st.integers(1, 3), st.randoms(use_true_random=False))
def test_a_first_step_of_another_run_equals_the_plain_loops(given_data, top, random):
    pools, run = given_data
    first = {
        query.query_id: [[v, 0, 0, random.randint(0, 2)] for v in VIDEOS[: random.randint(0, 5)]]
        for query in pools.queries
    }
    pooling = PoolConventions("drop", top_videos=top)
    found = evaluate(None, run, pools=pools, pooling=pooling, first_step=first, **ASKED)["per_query"]
    for query in pools.queries:
        rows = plain_narrow(run.get(query.query_id, []), query, top=top, first=first[query.query_id])
        assert found[query.query_id] == pytest.approx(plain_values(rows, moments_of(query)), abs=1e-12)


@settings(max_examples=50, deadline=None)
@given(pooled_runs(), st.booleans())
def test_leaving_out_what_is_outside_equals_a_run_that_never_had_it(given_data, one_per_video):
    pools, run = given_data
    inside = {
        query.query_id: plain_narrow(run[query.query_id], query) for query in pools.queries if query.query_id in run
    }
    left_out = evaluate(None, run, pools=pools, pooling=PoolConventions("drop", one_per_video), **ASKED)
    assert left_out == evaluate(None, inside, pools=pools, pooling=PoolConventions("error", one_per_video), **ASKED)


@settings(max_examples=50, deadline=None)
@given(pooled_runs())
def test_one_moment_a_video_is_one_moment_a_video(given_data):
    pools, run = given_data
    narrowing = InPools(places_of(pools, "pools"), PoolConventions("drop", one_per_video=True))
    ordered = {query: sorted(rows, key=lambda row: -row[3]) for query, rows in run.items()}
    once = narrowing.narrow(parse_run_mapping(ordered))
    again = narrowing.narrow(once)
    for column in ("query", "video", "start_s", "end_s", "score"):
        assert np.array_equal(getattr(once, column), getattr(again, column))
    key = once.query * len(once.videos) + once.video
    assert len(np.unique(key)) == len(key)


@settings(max_examples=50, deadline=None)
@given(pooled_runs(), st.booleans())
def test_two_steps_over_all_videos_are_one(given_data, one_per_video):
    pools, run = given_data
    one = evaluate(None, run, pools=pools, pooling=PoolConventions("drop", one_per_video), **ASKED)
    assert evaluate(None, run, pools=pools, pooling=PoolConventions("drop", one_per_video, POOL), **ASKED) == one
    # A run that is its own first step is one, given or not.
    for top in (1, 2):
        two = PoolConventions("drop", one_per_video, top)
        itself = evaluate(None, run, pools=pools, pooling=two, first_step=run, **ASKED)
        assert evaluate(None, run, pools=pools, pooling=two, **ASKED) == itself


POOLS_TEXT = json.dumps(
    {
        "a": {
            "duration": 20,
            "timestamps": [[1, 5], [9, 12], [2, 3]],
            "sentences": ["He sits.", "She runs.", "He sits down."],
            "pos_moments": [[["b", "A man sits.", [0, 4]]], [], []],
            "retrieval_pool": [["a", "b", "c"], ["a", "c", "d"], ["a", "b"]],
        },
        **{
            name: {"duration": 20, "timestamps": [], "sentences": [], "pos_moments": [], "retrieval_pool": []}
            for name in "bcd"
        },
    }
)
RUN = {"a#0": [["b", 0, 4, 0.9], ["a", 1, 5, 0.8], ["a", 1, 4, 0.7]], "a#1": [["c", 0, 3, 0.5], ["a", 9, 11, 0.4]]}


@pytest.fixture
def pools_path(tmp_path: Path) -> Path:
    (tmp_path / "pools.json").write_text(POOLS_TEXT)
    return tmp_path / "pools.json"


def write(path: Path, document: object) -> Path:
    path.write_text(json.dumps(document))
    return path


def test_a_query_whose_pool_is_short_does_not_count_and_neither_do_its_predictions(pools_path: Path) -> None:
    run = write(pools_path.with_name("run.json"), RUN | {"a#2": [["a", 2, 3, 1.0]]})
    board = score_files(None, [run], pool=PoolFile(pools_path))
    assert board.queries == ("a#0", "a#1")
    assert board.summary()["pool"] == {"queries": 2, "videos": 4, "size": 3, "short": 1, "truth_outside_pool": 0}
    assert board.warnings == (f"{pools_path}: 1 queries have fewer than 3 videos; they do not count",)
    assert board.runs[0].means["recall@1,0.5"] == 0.5


def test_own_video_and_pool_stand_side_by_side(pools_path: Path) -> None:
    run = write(pools_path.with_name("run.json"), RUN)
    summary = score_files(None, [run], pool=PoolFile(pools_path, own_video=True)).summary()
    (found,) = summary["runs"]
    pools = parse_pools(POOLS_TEXT.encode(), "pools.json")
    means = {}
    for own, measures in ((False, found["measures"]), (True, found["own_video"]["measures"])):
        each = [
            plain_values(plain_narrow(RUN[query.query_id], query, own=own), moments_of(query, own=own))
            for query in pools.full
        ]
        for key in ("recall@1,0.5", "recall@5,0.7", "axiou@5", "ndcg@5,0.7", "ndcg@1,0.5"):
            assert measures[key] == pytest.approx(sum(values[key] for values in each) / 2, abs=1e-12)
        means[own] = sum(values[key] for values in each for key in ("recall@1,0.5", "recall@5,0.5")) / 4
    drop = means[True] - means[False]
    expected = {"own_video": means[True], "pool": means[False], "drop": drop, "relative_drop": drop / means[True]}
    assert found["overconfidence"] == pytest.approx(expected, abs=1e-12)
    assert drop > 0
    # In its own video the second query has [9, 11] of [9, 12] first; in the pool a distractor stands before it.
    assert (found["own_video"]["measures"]["recall@1,0.5"], found["measures"]["recall@1,0.5"]) == (1.0, 0.5)
    assert found["own_video"]["counted"] == 2


def test_a_truth_beside_the_pools_is_graded_and_lies_in_them(pools_path: Path) -> None:
    def graded(query: str, *moments: tuple[str, int, int, int]) -> dict[str, object]:
        names = ("video_name", "start", "end", "relevance")
        listed = [dict(zip(names, moment, strict=True)) for moment in moments]
        return {
            "query_id": query,
            "relevant_moment": [m | {"timestamp": [m.pop("start"), m.pop("end")]} for m in listed],
        }

    folder = pools_path.parent
    truth = write(folder / "truth.json", [graded("a#0", ("a", 1, 5, 2), ("b", 0, 4, 4))])
    run = write(folder / "run.json", {"a#0": RUN["a#0"]})
    board = score_files(truth, [run], pool=PoolFile(pools_path), k=[2], mu=[0.5])
    assert board.runs[0].means["ndcg@2,0.5"] == 1.0
    assert "notes" not in board.summary()
    # d is not in the pool of a#0, and a#7 has none.
    outside = write(
        folder / "outside.json", [graded("a#0", ("a", 1, 5, 2), ("d", 0, 4, 4)), graded("a#7", ("a", 1, 5, 2))]
    )
    with pytest.raises(InputError) as refusal:
        score_files(outside, [run], pool=PoolFile(pools_path))
    assert [str(problem) for problem in refusal.value.problems] == [
        f"{outside}, row 2: query a#7 has no pool in {pools_path}",
        f"{outside}: 1 moments of 1 queries are of videos outside their query's pool in {pools_path} "
        "(--outside-pool drop leaves them out)",
        f"{outside}, row 1: query a#0, moment 2: video d is not in the query's pool",
    ]
    dropped = write(folder / "dropped.json", [graded("a#0", ("a", 1, 5, 2), ("d", 0, 4, 4))])
    board = score_files(dropped, [run], pool=PoolFile(pools_path, PoolConventions("drop")), k=[2], mu=[0.5])
    assert board.summary()["pool"]["truth_outside_pool"] == 1
    assert board.runs[0].means["ndcg@2,0.5"] == pytest.approx(1 / math.log2(3))


def test_problems_of_all_files_come_together(pools_path: Path) -> None:
    folder = pools_path.parent
    bad = write(folder / "bad.json", {"a#0": [["d", 0, 4, 0.9]], "nobody": []})
    first = write(folder / "first.json", {"a#1": [["b", 0, 0, 1.0]]})
    with pytest.raises(InputError) as refusal:
        score_files(None, [bad], pool=PoolFile(pools_path, first_step=first))
    # A first step that is refused leaves nothing to narrow runs by.
    assert {problem.file for problem in refusal.value.problems} == {str(first)}
    with pytest.raises(InputError) as refusal:
        score_files(None, [bad], pool=PoolFile(pools_path))
    assert [(problem.row, problem.message.partition(":")[0]) for problem in refusal.value.problems] == [
        (2, "query nobody is not in the truth (the option unknown=ignore leaves such queries out)"),
        (
            None,
            "1 predictions of 1 queries are of videos outside their query's pool in "
            f"{pools_path} (--outside-pool drop leaves them out)",
        ),
        (1, "query a#0, moment 1"),
    ]


def test_a_score_that_is_no_number_cannot_choose_a_video() -> None:
    pools = parse_pools(POOLS_TEXT.encode(), "pools.json")
    run = {"a#0": [["a", 1, 5, math.nan]]}
    for pooling in (PoolConventions(one_per_video=True), PoolConventions(top_videos=1)):
        with pytest.raises(InputError, match="the score is not a number"):
            evaluate(None, run, pools=pools, pooling=pooling)
    with pytest.raises(InputError, match="first_step, row 1: query a#0, moment 1: the score is not a number"):
        evaluate(None, RUN, pools=pools, first_step=run)
    assert evaluate(None, run, pools=pools, **ASKED)["mean"]["recall@1,0.5"] == 0.5


@pytest.mark.parametrize(
    ("given_choices", "message"),
    [
        ({"outside": "ignore"}, "'ignore' is not one of error, drop"),
        ({"top_videos": 0}, "0 is not at least 1"),
        ({"top_videos": True}, "True is not at least 1"),
    ],
)
def test_choices_that_there_are_not_are_refused(given_choices, message) -> None:
    with pytest.raises(InputError, match=message):
        PoolConventions(**given_choices)


def test_neither_truth_nor_pools_is_refused_and_so_are_choices_about_no_pools() -> None:
    for truth, more in ((None, {}), ({"q": []}, {"pooling": PoolConventions()}), ({"q": []}, {"first_step": {}})):
        with pytest.raises(InputError, match="is missing: give a truth or pools"):
            evaluate(truth, {}, **more)
    with pytest.raises(InputError, match="is missing"):
        score_files(None, [])


def test_the_published_pools_give_a_perfect_run_everything_and_a_distracted_one_nothing_at_rank_one(
    shared: Path,
) -> None:
    pools = read_pools(shared / "data/mvmr/charades_test_mvmr.json")
    perfect = {
        query.query_id: [[*moment, -rank] for rank, moment in enumerate(moments_of(query))] for query in pools.full
    }
    mean = evaluate(None, perfect, pools=pools, k=[1, 50], theta=[0.7], measures=["recall", "axiou", "ndcg"], mu=[0.7])[
        "mean"
    ]
    assert (mean["recall@1,0.7"], mean["axiou@1"], mean["axiou@50"]) == (1.0, 1.0, 1.0)
    assert mean["ndcg@50,0.7"] == pytest.approx(1.0, abs=1e-12)
    distracted = {
        query.query_id: [[query.negatives[0], 0, 5, 9], *perfect[query.query_id]]
        for query in pools.full
        if query.negatives
    }
    mean = evaluate(None, distracted, pools=pools, k=[1, 2], theta=[0.7], measures=["recall"], missing="skip")["mean"]
    assert mean == {"recall@1,0.7": 0.0, "recall@2,0.7": 1.0}
