"""Score runs against graded ground truth: NDCG@K, IoU>=mu (the last arrow of the pipeline).

Reads: truth, run and video map files, or the same as Python objects. Writes: nothing.
"""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, SupportsIndex, TypedDict, Unpack

import msgspec

from backend.core.errors import InputError, Problem
from backend.core.metrics.columns import QueryKey, Run, Truth
from backend.core.metrics.presets import DEFAULT_K, DEFAULT_MU, Options, Preset, settle
from backend.core.metrics.scoring import prepare_run, prepare_truth, score
from backend.core.runs import parse_run, parse_run_mapping, parse_truth, parse_truth_mapping, parse_video_map


class Evaluation(TypedDict):
    """Means over queries and the values of each query, both by `ndcg@K,mu`, in 0..1."""

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
) -> Evaluation:
    """NDCG@K, IoU>=mu of a run: the mean over queries, and each query's value.

    Args:
        truth: `{query: [{"video", "start", "end", "relevance"}]}`; times in seconds, relevance 0-4.
        run: `{query: [[video, start, end, score], ...]}`, best first.
        preset: `paper` or `official`; gives every option below that is None.
        k: rank cut-offs, whole numbers from 1.
        mu: IoU thresholds in (0, 1].
        theta: thresholds of measures without graded relevance; NDCG has none, so they are only checked.
        order: rank predictions as they stand (`file`) or by falling score, stable (`score`).
        missing: a truth query that the run lacks counts 0 (`zero`; preset `paper`), is left out of the mean
            (`skip`; preset `official`) or is refused (`error`).
        min_relevance: what counts as relevant where relevance is not graded (1-4); only checked, as `theta`.
        gain: `linear` (rel) or `exp2` (2**rel - 1).
        iou_compare: IoU `ge` or `gt` mu.
        arithmetic: `exact` whole numbers, or `float64`.
        zero_relevance: truth moments of relevance 0 take predictions (`absorb`) or are not there (`drop`).
        unknown: queries of the run that the truth lacks: `error` or `ignore`.
        no_relevant: queries without relevant moment: count 0 (`zero`) or are left out (`skip`).
        duplicates: equal truth moments: `keep` or `merge_max`.
        dedupe_predictions: drop later ones of equal predictions of a query.
        invalid: impossible moments, mu outside (0, 1]: `error`, `skip` them, or `zero` (see `Conventions`).

    Returns:
        Values keyed `ndcg@K,mu`, such as `ndcg@10,0.3`. `per_query` has the queries of the run in its order,
        then the missing ones if they count; `mean` is NumPy's mean of them in that order, `{}` if none counts.

    Raises:
        InputError: naming `truth` or `run` and the row, or the option, for all that is wrong.

    >>> truth = {"q": [{"video": "v1", "start": 12, "end": 19, "relevance": 4},
    ...                {"video": "v1", "start": 20, "end": 28, "relevance": 2}]}
    >>> run = {"q": [["v1", 10, 30, 0.9], ["v1", 9, 29, 0.8]]}
    >>> evaluate(truth, run, k=[2], mu=[0.3])["mean"]  # takes 2, then 4: (2 + 4/log2(3)) / (4 + 2/log2(3))
    {'ndcg@2,0.3': 0.8597186998521972}
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
    settings = settle(preset, k, mu, options, theta=theta, min_relevance=min_relevance)
    key = prepare_truth(parse_truth_mapping(truth), settings)
    scores = score(key, prepare_run(parse_run_mapping(run), key, settings), settings)
    rows = [dict(zip(settings.keys, row, strict=True)) for row in scores.values.T.tolist()]
    return {"mean": scores.mean(settings), "per_query": dict(zip(scores.queries, rows, strict=True))}


def evaluate_files(
    truth_path: Path,
    run_paths: Sequence[Path],
    *,
    videos: Path | None = None,
    preset: Preset = "paper",
    k: Iterable[SupportsIndex] = DEFAULT_K,
    mu: Iterable[float] = DEFAULT_MU,
    **options: Unpack[Options],
) -> dict[str, Any]:
    """Score run files: the object that `reelrank evaluate --json` prints.

    Returns:
        `{"preset", "options", "truth": {"queries", "moments"}, "runs": [{"name", "queries", "missing",
        "measures"}], "warnings"}`: `options` are those that differ from the preset, `missing` the ids of truth
        queries that the run lacks, as the truth file writes them, `queries` how many of them it has.

    Raises:
        InputError: with the problems of all files; nothing is scored then.
    """
    settings = settle(preset, k, mu, options)
    problems: list[Problem] = []
    key = names = None
    try:
        key = prepare_truth(read_truth(truth_path), settings)
    except InputError as error:
        problems += error.problems
    try:
        names = None if videos is None else read_videos(videos)
    except InputError as error:
        raise InputError([*problems, *error.problems]) from None
    prepared = []
    for path in run_paths:
        try:
            run = read_run(path, names)
            if key is not None:
                prepared.append(prepare_run(run, key, settings))
        except InputError as error:
            problems += error.problems
    if problems or key is None:
        raise InputError(problems)
    stems = [path.stem for path in run_paths]
    warnings = [*key.warnings, *(warning for run_ in prepared for warning in run_.warnings)]
    runs = []
    for path, run_ in zip(run_paths, prepared, strict=True):
        scores = score(key, run_, settings)
        if not scores.queries:
            warnings.append(f"{path}: no query counts, so there is no mean")
        runs.append(
            {
                "name": path.stem if stems.count(path.stem) == 1 else str(path),
                "queries": len(key.truth.queries) - len(run_.missing),
                "missing": [key.truth.queries[i] for i in run_.missing],
                "measures": scores.mean(settings),
            }
        )
    return {
        "preset": settings.preset,
        "options": settings.changed,
        "truth": {"queries": len(key.truth.queries), "moments": len(key.truth.video)},
        "runs": runs,
        "warnings": warnings,
    }


def read_truth(path: Path) -> Truth:
    """Truth of a TVR-Ranking `val.json`, or of the older file with one JSON object per line and pair."""
    content = _content(path)
    if content.lstrip()[:1] == b"{":
        return parse_truth(_json_lines(content, path), str(path))
    return parse_truth(_json(content, path), str(path))


def read_run(path: Path, videos: Mapping[int, str] | None = None) -> Run:
    """A run file in any of its three formats; `videos` (from `read_videos`) names videos given by index."""
    return parse_run(_json(_content(path), path), str(path), videos)


def read_videos(path: Path) -> dict[int, str]:
    """`index -> name` of a map file `{name: [duration, index]}`."""
    return parse_video_map(_json(_content(path), path), str(path))


def _content(path: Path) -> bytes:
    try:
        content = path.read_bytes()
    except OSError as error:
        raise InputError.single(path, f"cannot be read: {error.strerror}") from None
    content = content.removeprefix(b"\xef\xbb\xbf")
    if not content.strip():
        raise InputError.single(path, "is empty")
    try:
        content.decode("utf-8")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise InputError.single(path, "is not UTF-8 text from here on; save it as UTF-8", line) from None
    return content


def _json(content: bytes, path: Path, row: int | None = None) -> object:
    try:
        return msgspec.json.decode(content)
    except msgspec.DecodeError as error:
        raise InputError.single(path, f"is not JSON: {error}", row) from None


def _json_lines(content: bytes, path: Path) -> list[object]:
    documents: list[object] = []
    problems: list[Problem] = []
    for row, line in enumerate(content.split(b"\n"), start=1):
        try:
            documents.append(_json(line, path, row) if line.strip() else None)
        except InputError as error:
            problems += error.problems
    if problems:
        raise InputError(problems)
    return documents
