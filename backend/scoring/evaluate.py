"""Score a run against graded ground truth, both given as Python objects (the last arrow of the pipeline).

Reads and writes nothing; files are for `scoreboard`.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, SupportsIndex, TypedDict

from backend.scoring.files.entries import parse_run_mapping, parse_truth_mapping
from backend.scoring.matching.columns import QueryKey
from backend.scoring.presets import DEFAULT_K, DEFAULT_MU, Options, Preset, settle
from backend.scoring.scores import prepare_run, prepare_truth, score


class Evaluation(TypedDict):
    """Means over queries and the values of each query, both by key, such as `ndcg@K,mu`."""

    mean: dict[str, float]
    per_query: dict[QueryKey, dict[str, float]]


def evaluate(
    truth: Mapping[Any, Sequence[Mapping[str, Any]]],
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
    measures: Iterable[str] | None = None,
) -> Evaluation:
    """Measures of a run: the mean over queries, and each query's value.

    Args:
        truth: `{query: [{"video", "start", "end", "relevance"}]}`; times in seconds, relevance 0-4.
        run: `{query: [[video, start, end, score], ...]}`, best first.
        preset: `paper` or `official`; gives every option below that is None.
        k: rank cut-offs, whole numbers from 1.
        mu: IoU thresholds of NDCG, in (0, 1].
        theta: IoU thresholds of measures without graded relevance (recall, recall_gt, axiou_ap), in (0, 1].
        order: rank predictions as they stand (`file`) or by falling score, stable (`score`).
        missing: a truth query that the run lacks counts 0 (`zero`; preset `paper`), is left out of the mean
            (`skip`; preset `official`) or is refused (`error`).
        min_relevance: relevance (1-4) from which a moment counts for measures without graded relevance.
        gain: of NDCG and DCG, `linear` (x) or `exp2` (2**x - 1).
        iou_compare: of NDCG, IoU `ge` or `gt` mu.
        arithmetic: `exact` whole numbers, or `float64`.
        zero_relevance: truth moments of relevance 0 take predictions (`absorb`) or are not there (`drop`).
        unknown: queries of the run that the truth lacks: `error` or `ignore`.
        no_relevant: queries without relevant moment: count 0 (`zero`) or are left out (`skip`).
        duplicates: equal truth moments: `keep` or `merge_max`.
        dedupe_predictions: drop later ones of equal predictions of a query.
        invalid: impossible moments, mu outside (0, 1]: `error`, `skip` them, or `zero` (see `Conventions`).
        measures: names of measures (`rank` stands for `recall`, `ap` for `axiou_ap`); all in preset `paper`, `ndcg`
            alone in `official` where not given.

    Returns:
        Values keyed `ndcg@K,mu`, `recall@K,theta` (IoU >= theta), `recall_gt@K,theta` (>), `axiou_ap@K,theta` (>),
        `axiou@K` and `dcg@K`, such as `ndcg@10,0.3`, in 0..1 except DCG, which is not normalised. `per_query` has the
        queries of the run in its order, then the missing ones if they count; `mean` is NumPy's mean of them in that
        order, `{}` if none counts.

    Raises:
        InputError: naming `truth` or `run` and the row, or the option, for all that is wrong.

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
    }
    settings = settle(preset, k, mu, options, theta=theta, min_relevance=min_relevance, measures=measures)
    key = prepare_truth(parse_truth_mapping(truth), settings)
    scores = score(key, prepare_run(parse_run_mapping(run), key, settings), settings)
    rows = [dict(zip(settings.keys, row, strict=True)) for row in scores.values.T.tolist()]
    return {"mean": scores.mean(settings), "per_query": dict(zip(scores.queries, rows, strict=True))}
