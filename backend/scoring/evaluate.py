"""Score a run against graded ground truth, both given as Python objects (the last arrow of the pipeline).

Reads and writes nothing; files are for `scoreboard`.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, SupportsIndex, TypedDict

from backend.ground.errors import InputError
from backend.scoring.files.entries import parse_run_mapping, parse_truth_mapping
from backend.scoring.matching.columns import QueryKey
from backend.scoring.pools.model import Pools
from backend.scoring.pools.pooling import Pooling
from backend.scoring.pools.scoring import prepare_pools
from backend.scoring.presets import DEFAULT_K, DEFAULT_MU, Options, Preset, settle
from backend.scoring.scores import prepare_run, prepare_truth, score


class Evaluation(TypedDict):
    """Means over queries and the values of each query, both by key, such as `ndcg@K,mu`."""

    mean: dict[str, float]
    per_query: dict[QueryKey, dict[str, float]]


def evaluate(
    truth: Mapping[Any, Sequence[Mapping[str, Any]]] | None,
    run: Mapping[Any, Sequence[Sequence[Any]]],
    *,
    preset: Preset = "paper",
    k: Iterable[SupportsIndex] = DEFAULT_K,
    mu: Iterable[float] = DEFAULT_MU,
    theta: Iterable[float] = DEFAULT_MU,
    order: str | None = None,
    missing: str | None = None,
    min_relevance: int = 1,
    gain: str | None = None,
    iou_compare: str | None = None,
    arithmetic: str | None = None,
    zero_relevance: str | None = None,
    unknown: str | None = None,
    no_relevant: str | None = None,
    duplicates: str | None = None,
    dedupe_predictions: bool | None = None,
    invalid: str | None = None,
    nms: float | None = None,
    measures: Iterable[str] | None = None,
    pools: Pools | None = None,
    pooling: Pooling | None = None,
    first_step: Mapping[Any, Sequence[Sequence[Any]]] | None = None,
) -> Evaluation:
    """Measures of a run: the mean over queries, and each query's value.

    Args:
        truth: `{query: [{"video", "start", "end", "relevance"}]}`; times in seconds, relevance 0-4. None where the own
            and positive moments of `pools` are.
        run: `{query: [[video, start, end, score], ...]}`, best first.
        preset: `paper` or `tvr-ranking`; gives every option below that is None.
        k: rank cut-offs, whole numbers from 1.
        mu: IoU thresholds of NDCG, in (0, 1].
        theta: IoU thresholds of measures without graded relevance (recall, recall_gt, axiou_ap, map), in (0, 1].
        order: rank predictions as they stand (`file`) or by falling score, stable (`score`).
        missing: a truth query that the run lacks counts 0 (`zero`; preset `paper`), is left out of the mean
            (`skip`; preset `tvr-ranking`) or is refused (`error`).
        min_relevance: relevance (1-4) from which a moment counts for measures without graded relevance.
        gain: of NDCG and DCG, `linear` (x) or `exp2` (2**x - 1).
        iou_compare: of NDCG, IoU `ge` or `gt` mu.
        arithmetic: `exact` whole numbers, `float64`, or `float32` as the evaluators of TVR, MMN and MVMR have it.
        zero_relevance: truth moments of relevance 0 take predictions (`absorb`) or are not there (`drop`).
        unknown: queries of the run that the truth lacks: `error` or `ignore`.
        no_relevant: queries without relevant moment: count 0 (`zero`) or are left out (`skip`).
        duplicates: equal truth moments: `keep` or `merge_max`.
        dedupe_predictions: drop later ones of equal predictions of a query.
        invalid: impossible moments, mu outside (0, 1]: `error`, `skip` them, or `zero` (see `Conventions`).
        nms: non-maximum suppression: IoU in (0, 1] above which a prediction falls to a better one, by score, of the
            same query and video; what stays is ranked by score.
        measures: names of measures (`rank` stands for `recall`, `ap` for `axiou_ap`), or keys such as `ndcg@20,0.5`,
            `map@avg` and `miou`, which name one value whatever `k`, `mu` and `theta` are. Where not given, those of
            the papers (all but `map` and `miou`) in preset `paper`, `ndcg` alone in `tvr-ranking`.
        pools: from `reelrank.read_pools`: each query is searched in its own pool of videos, as in MVMR.
        pooling: what of the run counts in pools, such as `Pooling(one_per_video=True)`.
        first_step: `{query: [[video, start, end, score], ...]}`, whose scores rank the videos of a pool; only the best
            five, or `pooling.top_videos`, are looked at. Its times do not matter.

    Returns:
        Values keyed `ndcg@K,mu`, `recall@K,theta` (IoU >= theta), `recall_gt@K,theta` (>), `axiou_ap@K,theta` (>),
        `axiou@K`, `dcg@K`, `map@theta` (>=), `map@avg` and `miou`, such as `ndcg@10,0.3`, in 0..1 except DCG, which is
        not normalised. `per_query` has the queries of the run in its order, then the missing ones if they count; `mean`
        is NumPy's mean of them in that order, `{}` if none counts.

    Raises:
        InputError: naming `truth`, `run`, `first_step` or `pools` and the row, or the option, for all that is wrong.

    >>> truth = {"q": [{"video": "v1", "start": 12, "end": 19, "relevance": 4},
    ...                {"video": "v1", "start": 20, "end": 28, "relevance": 2}]}
    >>> run = {"q": [["v1", 10, 30, 0.9], ["v1", 9, 29, 0.8]]}
    >>> evaluate(truth, run, k=[2], mu=[0.3], measures=["ndcg", "axiou"])["mean"]
    {'ndcg@2,0.3': 0.8597186998521972, 'axiou@2': 0.4}

    The predictions take relevance 2, then 4: (2 + 4/log2(3)) / (4 + 2/log2(3)).
    """
    options: Options = {
        "gain": gain,
        "iou_compare": iou_compare,
        "arithmetic": arithmetic,
        "zero_relevance": zero_relevance,
        "missing": missing,
        "unknown": unknown,
        "no_relevant": no_relevant,
        "order": order,
        "duplicates": duplicates,
        "dedupe_predictions": dedupe_predictions,
        "invalid": invalid,
        "nms": nms,
    }
    settings = settle(preset, k, mu, options, theta=theta, min_relevance=min_relevance, measures=measures)
    columns = None if truth is None else parse_truth_mapping(truth)
    predictions, narrowing = parse_run_mapping(run), None
    if pools is not None:
        first = None if first_step is None else parse_run_mapping(first_step, "first_step")
        pooled = prepare_pools(pools, "pools", pooling or Pooling(), truth=columns, first=first)
        columns, narrowing = pooled.truth, pooled.narrowing
        predictions = pooled.places.without_short(predictions)
    elif columns is None or pooling is not None or first_step is not None:
        missing_one = "truth" if columns is None else "pools"
        raise InputError.single(missing_one, "is missing: give a truth or pools; pooling and a first step are of pools")
    key = prepare_truth(columns, settings)
    scores = score(key, prepare_run(predictions, key, settings, narrowing), settings)
    keys = settings.keys
    rows = [dict(zip(keys, row, strict=True)) for row in scores.values.T.tolist()]
    return {"mean": scores.mean(settings), "per_query": dict(zip(scores.queries, rows, strict=True))}
