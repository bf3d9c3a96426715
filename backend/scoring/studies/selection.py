"""Ties and choices: queries on which a measure cannot tell systems apart, and models it would select.

Source: AxIoU (Togashi et al., CVPR 2022), section 6 (all-tied query ratio, model selection).
"""

import numpy as np

from backend.ground.timespan import Floats
from backend.scoring.statistics.resampling import TIE
from backend.scoring.studies.study import Cell, SystemValues


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


def model_selection(validation: SystemValues, test: SystemValues) -> list[dict[str, Cell]]:
    """z-scores on the test set of the models that each measure selects on validation: a row for each two measures.

    Where several models tie for the best on validation, the value is the mean of their z-scores.

    Args:
        validation: the models' values on validation queries.
        test: the same models and measures on test queries.
    """
    z = z_scores(test.means)
    rows: list[dict[str, Cell]] = []
    for choosing, scores in zip(validation.measures, validation.means, strict=True):
        best = selected(scores)
        names = "; ".join(validation.systems[n] for n in best)
        for judging, under in zip(test.measures, z, strict=True):
            rows.append(
                {
                    "validation_measure": choosing,
                    "selected": names,
                    "test_measure": judging,
                    "z": float(under[best].mean()),
                }
            )
    return rows
