"""What evaluation costs, beside the published function and other libraries in the same run: `make bench`.

REELRANK_PUBLISHED is the path of the published evaluator (Ranking-VMR/TVR-Ranking, modules/ndcg_iou.py); without it,
and for libraries that are not installed, those rows are left out. Only equality is asserted, never a time. Times are
those of the processor, all threads together: a machine that is busy with other work changes them little.
"""

import importlib.util
import os
import time
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from multiprocessing import get_context

import numpy as np
import pytest

import retrieval
from backend.scoring.evaluate import evaluate
from backend.scoring.matching.columns import Run, Truth, offsets_of
from backend.scoring.measures.ndcg import dcg, ideal_dcg, ranks_within, ratio
from backend.scoring.pools.model import PoolConventions, PoolMoment, PoolQuery, Pools
from backend.scoring.pools.scoring import prepare_pools, score_in_pools
from backend.scoring.presets import POOL_K, POOL_MEASURES, POOL_MU, Settings, settle
from backend.scoring.scores import AnswerKey, prepare_run, prepare_truth, score
from bench import tables
from bench.tables import peak_memory_mb, table

pytestmark = pytest.mark.bench

K, MU = (10, 20, 40), (0.3, 0.5, 0.7)
VIDEOS = 2_000
PACKAGES = ("numpy", "scipy")
timed = partial(tables.timed, clock=time.process_time)


def columns(queries: int, predictions: int, moments: int, seed: int = 2) -> tuple[Truth, Run]:
    """Truth and run as readers hand them over: 25 videos a query, two in five predictions near a truth moment."""
    rng = np.random.default_rng(seed)
    near = rng.integers(VIDEOS, size=(queries, 25))
    sizes = np.full(queries, moments // queries) + (np.arange(queries) < moments % queries)
    names, ids = tuple(f"v{n}" for n in range(VIDEOS)), tuple(range(queries))
    of = np.repeat(np.arange(queries), sizes)
    start = np.round(rng.uniform(0, 60, moments), 2)
    end = np.round(start + rng.uniform(1, 30, moments), 2)
    video = near[of, rng.integers(25, size=moments)]
    shared = {"queries": ids, "query_rows": tuple(range(1, queries + 1)), "videos": names}
    truth = Truth(
        file="truth",
        **shared,
        offsets=offsets_of(sizes),
        video=video,
        start_s=start,
        end_s=end,
        row=of + 1,
        number=ranks_within(of) + 1,
        relevance=rng.integers(5, size=moments).astype(float),
    )
    count = queries * predictions
    of = np.repeat(np.arange(queries), predictions)
    model = truth.offsets[of] + rng.integers(sizes[of])
    close = rng.random(count) < 0.4
    begin = np.where(close, np.abs(start[model] + rng.normal(0, 2, count)), rng.uniform(0, 60, count)).round(2)
    length = np.where(close, (end - start)[model] * rng.uniform(0.5, 1.5, count), rng.uniform(1, 30, count)).round(2)
    run = Run(
        file="run",
        **shared,
        offsets=offsets_of(np.full(queries, predictions)),
        video=np.where(close, video[model], near[of, rng.integers(25, size=count)]),
        start_s=begin,
        end_s=np.round(begin + length, 2),
        row=of + 1,
        number=ranks_within(of) + 1,
        score=-ranks_within(of).astype(float),
    )
    return truth, run


def as_published(truth: Truth, run: Run) -> tuple[dict, dict]:
    """The same data in the objects that the published function takes."""

    def grouped(spans, more):
        rows = [
            {"video_name": spans.videos[v], "timestamp": [s, e], **extra}
            for v, s, e, extra in zip(
                spans.video.tolist(), spans.start_s.tolist(), spans.end_s.tolist(), more, strict=True
            )
        ]
        edges = spans.offsets.tolist()
        return {query: rows[low:high] for query, low, high in zip(spans.queries, edges, edges[1:], strict=False)}

    relevance = [{"relevance": int(value)} for value in truth.relevance]
    return grouped(truth, relevance), grouped(run, [{}] * len(run.video))


def published_function():
    path = os.environ.get("REELRANK_PUBLISHED")
    if not path:
        return None
    spec = importlib.util.spec_from_file_location("published_ndcg_iou", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    module.tqdm = lambda items, desc: items  # its progress bar would be timed too
    return module.calculate_ndcg_iou


def test_official_size() -> None:
    truth, run = columns(2_781, 40, 77_036)
    rows, reference = [], None
    official = settle("tvr-ranking", K, MU, {})
    published = published_function()
    if published is not None:
        answer, predicted = as_published(truth, run)
        means = published(answer, predicted, MU, K)
        reference = timed(lambda: published(answer, predicted, MU, K), 3)
        rows.append(("the published function", f"{reference * 1e3:,.0f} ms", "1"))
        assert whole(truth, run, official) == {f"ndcg@{k},{mu}": means[k][mu] for k in K for mu in MU}

    def row(what: str, work: partial) -> None:
        took = timed(work, 25)
        rows.append((what, f"{took * 1e3:.1f} ms", f"{reference / took:.0f} times faster" if reference else ""))

    key = prepare_truth(truth, official)
    row("`tvr-ranking`, NDCG, 9 values", partial(score, key, prepare_run(run, key, official), official))
    row("the same, the run checked and ranked too", partial(run_too, key, run, official))
    row("the same, the truth checked and sorted too", partial(whole, truth, run, official))
    graded, full = (settle("paper", K, MU, {}, measures=measures) for measures in (["ndcg"], None))
    for what, settings in (("NDCG", graded), ("all measures", full)):
        key = prepare_truth(truth, settings)
        what = f"`paper` (exact arithmetic), {what}, {len(settings.keys)} values"
        row(what, partial(score, key, prepare_run(run, key, settings), settings))
    table("2,781 queries x 40 predictions, 77,036 truths, from columns, CPU time", rows, PACKAGES)
    rows = rows[:1] if published else []
    answer, predicted = as_ours(truth, run)
    for what, options in (("`tvr-ranking`, NDCG", {"preset": "tvr-ranking"}), ("`paper`, all measures", {})):
        values = len(evaluate(answer, predicted, **options)["mean"])
        row(f"{what}, {values} values", partial(evaluate, answer, predicted, **options))
    table("The same, `evaluate` of dicts and lists, values of every query too, CPU time", rows, PACKAGES)


def as_ours(truth: Truth, run: Run) -> tuple[dict, dict]:
    """The same data in the objects that `reelrank.evaluate` is shown with."""
    answer, predicted = as_published(truth, run)
    moments = {
        query: [
            {
                "video": row["video_name"],
                **dict(zip(("start", "end"), row["timestamp"], strict=True)),
                "relevance": row["relevance"],
            }
            for row in rows
        ]
        for query, rows in answer.items()
    }
    lists = {
        query: [[row["video_name"], *row["timestamp"], 1 / (n + 1)] for n, row in enumerate(rows)]
        for query, rows in predicted.items()
    }
    return moments, lists


def run_too(key: AnswerKey, run: Run, settings: Settings) -> dict[str, float]:
    return score(key, prepare_run(run, key, settings), settings).mean(settings)


def whole(truth: Truth, run: Run, settings: Settings) -> dict[str, float]:
    return run_too(prepare_truth(truth, settings), run, settings)


def large(size: tuple[int, int, int], official: bool) -> tuple[float, float, float, float]:
    """Seconds of preparing and of scoring, GB at most before and after; in a process of its own."""
    truth, run = columns(*size)
    settings = settle("tvr-ranking" if official else "paper", (10, 100, size[1]), MU, {})
    before = peak_memory_mb()
    start = time.process_time()
    key = prepare_truth(truth, settings)
    ranked = prepare_run(run, key, settings)
    ready = time.process_time()
    score(key, ranked, settings)
    done = time.process_time()
    after = peak_memory_mb()
    return ready - start, done - ready, before / 1e3, after / 1e3


def test_large_runs() -> None:
    rows = []
    for size in ((2_781, 1_000, 77_036), (100_000, 40, 2_770_000)):
        for official in (True, False):
            with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
                prepare, compute, before, after = pool.submit(large, size, official).result()
            what = f"{size[0]:,} x {size[1]:,}, {size[2]:,} truths, " + (
                "`tvr-ranking`" if official else "`paper`, all measures"
            )
            rows.append((what, f"{prepare:.1f} s", f"{compute:.1f} s", f"{after:.2f} GB", f"{before:.2f} GB"))
    head = "queries x predictions|check and sort|score|peak memory|of which the making of the columns"
    table("Large runs, K 10, 100 and the whole list, from columns, CPU time", rows, PACKAGES, head)


def pooled_columns(queries: int, videos: int, size: int, predictions: int, seed: int = 3) -> tuple[Pools, Run]:
    """Pools of `size` videos with two positives each, and a run within them, scores falling."""
    rng = np.random.default_rng(seed)
    names = [f"v{n}" for n in range(videos)]
    chosen = np.array([rng.choice(videos, size, replace=False) for _ in range(queries)])
    found = []
    for number, of_query in enumerate(chosen.tolist()):
        own, other = (PoolMoment(names[video], 5.0, 15.0, "") for video in of_query[:2])
        found.append(PoolQuery(f"q{number}", "", own, (own, other), tuple(names[video] for video in of_query)))
    of = np.repeat(np.arange(queries), predictions)
    start = rng.uniform(0, 20, len(of)).round(2)
    run = Run(
        file="run",
        queries=tuple(query.query_id for query in found),
        query_rows=tuple(range(1, queries + 1)),
        offsets=offsets_of(np.full(queries, predictions)),
        videos=tuple(names),
        video=chosen[of, rng.integers(size, size=len(of))],
        start_s=start,
        end_s=start + rng.integers(1, 15, len(of)),
        row=of + 1,
        number=ranks_within(of) + 1,
        score=-ranks_within(of).astype(float),
    )
    return Pools(tuple(found), dict.fromkeys(names, 40.0), {}), run


def test_pools() -> None:
    pools, run = pooled_columns(3_716, 1_334, 50, 1_000)
    settings = settle("paper", POOL_K, POOL_MU, {}, theta=POOL_MU, measures=POOL_MEASURES)

    def scored(pooling: PoolConventions, *, own_video: bool = False) -> dict[str, float]:
        pooled = prepare_pools(pools, "pools", pooling)
        return score_in_pools(pooled, {"run": run}, settings, own_video=own_video).runs[0].means

    rows = [
        (what, f"{timed(work, 3):.2f} s")
        for what, work in (
            ("every prediction", lambda: scored(PoolConventions())),
            ("one moment a video", lambda: scored(PoolConventions(one_per_video=True))),
            ("two steps, five videos", lambda: scored(PoolConventions(top_videos=5))),
            ("every prediction, and the own video beside", lambda: scored(PoolConventions(), own_video=True)),
        )
    ]
    assert scored(PoolConventions(top_videos=50)) == scored(PoolConventions())
    table(
        "In pools: 3,716 queries x 1,000 predictions, 50 of 1,334 videos each, 20 values, from columns, CPU time",
        rows,
        PACKAGES,
        "what|measured",
    )


def test_ranking_part() -> None:
    truth, run = columns(2_781, 40, 77_036)
    settings = settle("paper", K, (0.5,), {}, measures=["ndcg"])
    key = prepare_truth(truth, settings)
    ranked = prepare_run(run, key, settings)
    spans = (ranked.truth_query[run.query], ranked.truth_video, run.start_s, run.end_s)
    taken = retrieval.taken(key.index, *spans, 0.5)
    hit = np.flatnonzero(taken >= 0)
    relevance, rank = key.index.relevance[taken[hit]], ranks_within(run.query)
    query = truth.query
    grades = truth.relevance.astype(np.int64)

    def ours() -> np.ndarray:
        ideal = ideal_dcg(query, grades, 2_781, K, "linear")
        return ratio(dcg(run.query[hit], rank[hit], relevance, 2_781, K, "linear"), ideal)

    expected = ours().mean(axis=1)
    assert score(key, ranked, settings).values.mean(axis=1) == pytest.approx(expected, abs=1e-15)
    rows = [("ReelRank, the ideal ranking included", f"{timed(ours, 15) * 1e3:.1f} ms", "")]
    # Documents are truth moments, numbered as in the index, or a prediction that took none.
    index_query = np.repeat(key.index.group_key // key.index.videos, key.index.group_size)
    qrels: dict[str, dict[str, int]] = {str(q): {} for q in range(2_781)}
    for n, (q, grade) in enumerate(zip(index_query.tolist(), key.index.relevance.tolist(), strict=True)):
        qrels[str(q)][f"t{n}"] = grade
    listed: dict[str, dict[str, float]] = {str(q): {} for q in range(2_781)}
    for n, (q, place, t) in enumerate(zip(run.query.tolist(), rank.tolist(), taken.tolist(), strict=True)):
        listed[str(q)][f"t{t}" if t >= 0 else f"p{n}"] = 1000.0 - place
    for name in PEERS:
        if importlib.util.find_spec(name) is not None:
            took, means = PEERS[name](qrels, listed)
            assert means == pytest.approx(expected, abs=1e-6)
            rows.append((name, *took))
    table("The ranking part alone: NDCG@10,20,40 of what was matched at 0.5, preset `paper`, CPU time", rows, PACKAGES)


def with_pytrec_eval(qrels, listed):
    import pytrec_eval

    evaluator = pytrec_eval.RelevanceEvaluator(qrels, {f"ndcg_cut.{','.join(map(str, K))}"})
    took = timed(lambda: evaluator.evaluate(listed))
    values = evaluator.evaluate(listed).values()
    return (f"{took * 1e3:.0f} ms", ""), [np.mean([row[f"ndcg_cut_{k}"] for row in values]) for k in K]


def with_ir_measures(qrels, listed):
    import ir_measures
    from ir_measures import nDCG

    measures = [nDCG @ k for k in K]
    evaluator = ir_measures.evaluator(measures, qrels)
    took = timed(lambda: evaluator.calc_aggregate(listed))
    means = evaluator.calc_aggregate(listed)
    return (f"{took * 1e3:.0f} ms", ""), [means[measure] for measure in measures]


def with_ranx(qrels, listed):
    import ranx

    ranx.Qrels(qrels), ranx.Run(listed)  # it compiles at its first call
    begin = time.process_time()
    answer, run = ranx.Qrels(qrels), ranx.Run(listed)
    loading = time.process_time() - begin
    names = [f"ndcg@{k}" for k in K]
    means = ranx.evaluate(answer, run, names)
    took = timed(lambda: ranx.evaluate(answer, run, names))
    return (f"{took * 1e3:.0f} ms", f"and {loading * 1e3:.0f} ms to load"), [means[name] for name in names]


PEERS = {"pytrec_eval": with_pytrec_eval, "ir_measures": with_ir_measures, "ranx": with_ranx}
