"""Ties and choices: queries on which a measure cannot tell systems apart, and models it would select.

Source: AxIoU (Togashi et al., CVPR 2022), section 6 (all-tied query ratio, model selection).
"""

from typing import Literal

import numpy as np

from backend.core.timespan import Floats
from backend.scoring.statistics.resampling import TIE
from backend.scoring.studies.study import Cell, SystemValues

Over = Literal["selected", "candidates"]


def all_tied(values: Floats) -> Floats:
    """Share of queries that give all systems one value: shape (..., systems, queries) to (...), in [0, 1].

    Two systems, two queries; the second query ties them:

    >>> float(all_tied(np.array([[0.5, 1.0], [0.25, 1.0]])))
    0.5
    """
    return np.asarray((np.ptp(values, axis=-2) <= TIE).mean(axis=-1), dtype=np.float64)


def tied_queries(table: SystemValues) -> list[dict[str, Cell]]:
    """The all-tied query ratio of every measure, one row each."""
    queries = table.values.shape[2]
    return [
        {"measure": measure, "queries": queries, "all_tied": round(float(ratio) * queries), "ratio": float(ratio)}
        for measure, ratio in zip(table.measures, all_tied(table.values), strict=True)
    ]


def z_scores(scores: Floats) -> Floats:
    """(score - mean) / standard deviation (ddof 0) along the last axis; 0 where all scores are the same.

    >>> z_scores(np.array([1.0, 2.0, 3.0, 2.0])).round(3).tolist()
    [-1.414, 0.0, 1.414, 0.0]
    """
    deviation = scores - scores.mean(axis=-1, keepdims=True)
    varies = np.ptp(scores, axis=-1, keepdims=True) > TIE
    result = np.zeros(scores.shape)
    np.divide(deviation, scores.std(axis=-1, keepdims=True), out=result, where=varies)
    return result


def selected(scores: Floats) -> list[int]:
    """Numbers of the systems of highest score, shape (systems,); more than one where they tie."""
    return [int(n) for n in np.flatnonzero(scores >= scores.max() - TIE)]


def model_selection(validation: SystemValues, test: SystemValues, over: Over = "selected") -> list[dict[str, Cell]]:
    """z-scores on the test set of the models that each measure selects on validation: a row for each two measures.

    Over the selected models, as in the paper, the z-scores of one test measure sum to 0: a model stands there once for
    every measure that selects it. Over the candidates a model stands once, selected or not. Where several models
    tie for the best on validation, the measure has the mean of their scores.

    Args:
        validation: the models' values on validation queries.
        test: the same models on test queries, under the same or other measures.
        over: whose mean and standard deviation make a score a z-score.
    """
    best = [selected(scores) for scores in validation.means]
    if over == "selected":
        found = z_scores(np.array([test.means[:, chosen].mean(axis=1) for chosen in best]).T).T
    else:
        z = z_scores(test.means)
        found = np.array([z[:, chosen].mean(axis=1) for chosen in best])
    rows: list[dict[str, Cell]] = []
    for choosing, chosen, values in zip(validation.measures, best, found, strict=True):
        names = "; ".join(validation.systems[n] for n in chosen)
        for judging, value in zip(test.measures, values, strict=True):
            rows.append({"validation_measure": choosing, "selected": names, "test_measure": judging, "z": float(value)})
    return rows
