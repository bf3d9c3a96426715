"""Compute relevances by mean, median or Dawid-Skene, to compare with those of the consensus rule.

These relevances are shown only for comparison, and never replace those by the consensus rule.

Dawid-Skene estimates how each annotator errs. For each person, a table says how often they give each grade to pairs of
each right grade. The method weights each person's grades by their table. Grades are ordered, so a pair's relevance is
the median of its posterior: of all grades, the one with the least expected distance from the right one.

Source: A. P. Dawid and A. M. Skene, "Maximum Likelihood Estimation of Observer Error-Rates Using the EM Algorithm"
(Applied Statistics 28, 1979). The first posteriors and the lowest allowed probability are those of crowd-kit 1.4, so
the results are the same as there.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from backend.campaign.monitoring.quality.model import AggregatorCount, AggregatorReport, OtherRelevance
from backend.campaign.monitoring.quality.rules.pairs import Codes, GradedPairs
from backend.campaign.nouns import Rounding, Verdict
from backend.core.progress import Steps
from backend.scoring.statistics.agreement import Floats

ITERATIONS = 100
LEARNING = "estimating each annotator's errors"
"""The name of this step in a progress bar."""
TOLERANCE = 1e-5
"""Stop once an iteration gains less than this in the mean log-likelihood of a pair."""
_LEAST = 1e-10
"""The least probability of any error, so that none is impossible."""


@dataclass(frozen=True, slots=True, eq=False)
class Errors:
    """The estimates of Dawid and Skene's method.

    `posterior` has shape [pairs, grades]: the probability that each grade is the right one. `tables` has shape [people,
    grades, grades]: the probability that a person gives a grade (last axis) to a pair with a certain right grade
    (middle axis). `likelihoods` are the mean log-likelihoods of a pair after each iteration.
    """

    posterior: Floats
    tables: Floats
    likelihoods: tuple[float, ...]


def dawid_skene(grades: GradedPairs, *, progress: Steps | None = None) -> Errors:
    """Estimate each annotator's errors and the right grades in turns, starting from the shares of each pair's grades.

    Args:
        grades: the grades of all pairs. Repeated grades count too; each pair has at least one grade.
        progress: called with (iterations done, most iterations); the last call says that all are done.
    """
    people, size = len(grades.people), grades.highest + 1
    order = np.argsort(grades.pair, kind="stable")
    pair, annotator, grade = (column[order] for column in (grades.pair, grades.annotator, grades.grade))
    begins = np.searchsorted(pair, np.arange(grades.pairs))
    counts = grades.counts().astype(np.float64)
    posterior = counts / counts.sum(axis=1, keepdims=True)
    likelihoods: list[float] = []
    for iteration in range(1, ITERATIONS + 1):
        tables = _tables(posterior, pair, annotator * size + grade, people, size)
        # Log-likelihoods of each right grade, shape [rows, grades], to be summed over the rows of a pair.
        spoken = np.log(tables).transpose(0, 2, 1)[annotator, grade]
        with np.errstate(divide="ignore"):
            joint = np.add.reduceat(spoken, begins, axis=0) + np.log(posterior.mean(axis=0))
        top = joint.max(axis=1, keepdims=True)
        weights = np.exp(joint - top)
        total = weights.sum(axis=1, keepdims=True)
        posterior = weights / total
        likelihoods.append(float((top + np.log(total)).mean()))
        if progress:
            progress(iteration, ITERATIONS)
        if len(likelihoods) > 1 and likelihoods[-1] - likelihoods[-2] < TOLERANCE:
            break
    if progress:
        progress(ITERATIONS, ITERATIONS)
    return Errors(posterior, tables, tuple(likelihoods))


def _tables(posterior: Floats, pair: Codes, cell: Codes, people: int, size: int) -> Floats:
    """Return the probability that each person gives each grade to a pair, for each right grade of the pair.

    `posterior` is the current estimate of the right grades. `pair` has the pair of each given grade, and `cell` its
    person and grade as one number. The result has shape [people, grades, grades].
    """
    by_right = [np.bincount(cell, weights=posterior[pair, right], minlength=people * size) for right in range(size)]
    given = np.maximum(np.stack(by_right).reshape(size, people, size).transpose(1, 0, 2), _LEAST)
    tables: Floats = given / given.sum(axis=2, keepdims=True)
    return tables


def posterior_medians(posterior: Floats) -> Codes:
    """Return the median of each pair's posterior: the lowest grade whose cumulative probability reaches a half.

    >>> posterior_medians(np.array([[0.2, 0.3, 0.5], [0.1, 0.2, 0.7]])).tolist()
    [1, 2]
    """
    # The margin makes a half of sums that miss it only by rounding of floats.
    return np.asarray((np.cumsum(posterior, axis=1) >= 0.5 - 1e-12).argmax(axis=1), dtype=np.int64)


def means(counts: Codes, rounding: Rounding) -> Codes:
    """Return the mean of all grades of each pair, rounded. `counts` has shape [pairs, grades].

    `rounding` tells whether halves are rounded up or down.

    >>> means(np.array([[1, 0, 0, 1], [0, 1, 1, 0]]), Rounding.HALF_DOWN).tolist()
    [1, 1]
    """
    n, total = counts.sum(axis=1), counts @ np.arange(counts.shape[1])
    # In whole numbers: (2 * total + n) // 2n rounds half up; one less in the numerator rounds half down.
    up = rounding is Rounding.HALF_UP
    return np.asarray((2 * total + n - (not up)) // (2 * n), dtype=np.int64)


def medians(counts: Codes, rounding: Rounding) -> Codes:
    """Return the median of all grades of each pair. `counts` has shape [pairs, grades].

    If there are two middle grades, their mean is rounded; `rounding` tells whether halves go up or down.

    >>> medians(np.array([[1, 1, 0, 2], [0, 1, 1, 0]]), Rounding.HALF_UP).tolist()
    [2, 2]
    """
    n, below = counts.sum(axis=1), np.cumsum(counts, axis=1)
    low = (below > ((n - 1) // 2)[:, None]).argmax(axis=1)
    high = (below > (n // 2)[:, None]).argmax(axis=1)
    return np.asarray((low + high + (rounding is Rounding.HALF_UP)) // 2, dtype=np.int64)


@dataclass(frozen=True, slots=True, eq=False)
class Compared:
    """The final relevance of each pair, and the relevances that mean, median and Dawid-Skene give it.

    `final` has the final relevance of each pair, -1 for a pair without one. `others` maps the name of each of these
    methods (aggregators) to its relevances of the same pairs. `counts` says how often each aggregator differs.
    `differs` has the numbers of the pairs, ascending, for which some aggregator differs from the final relevance.
    """

    final: Codes
    others: dict[str, Codes]
    counts: tuple[AggregatorCount, ...]
    differs: Codes


def compare(grades: GradedPairs, *, progress: Steps | None = None) -> Compared:
    """Compute relevances by mean, median and Dawid-Skene, and count how often they differ from the final ones.

    Args:
        grades: the current grades of all pairs.
        progress: called with (iterations done, most iterations) of Dawid-Skene, which takes most of the time.
    """
    kinds = grades.patterns()
    final = kinds.relevance[kinds.of_pair]
    others = {
        "mean": means(kinds.counts, grades.rounding)[kinds.of_pair],
        "median": medians(kinds.counts, grades.rounding)[kinds.of_pair],
        "dawid_skene": posterior_medians(dawid_skene(grades, progress=progress).posterior) if len(final) else final,
    }
    by_rule = kinds.having(Verdict.CONSENSUS)[kinds.of_pair]
    by_lead = kinds.having(Verdict.ADJUDICATED)[kinds.of_pair]
    without = kinds.without_relevance(grades.may_go_on)[kinds.of_pair]
    found, anywhere = [], np.zeros(len(final), dtype=bool)
    for name, made in others.items():
        other = made != final
        found.append(
            AggregatorCount(
                name,
                *(int(by_rule.sum()), int((by_rule & other).sum()), int((by_rule & (abs(made - final) > 1)).sum())),
                *(int(by_lead.sum()), int((by_lead & other).sum()), int(without.sum())),
            )
        )
        anywhere |= (by_rule | by_lead) & other
    return Compared(final, others, tuple(found), np.flatnonzero(anywhere))


def report(
    grades: GradedPairs, names: Sequence[str], queries: Sequence[str] = (), *, progress: Steps | None = None
) -> AggregatorReport:
    """Return how often relevances by mean, median and Dawid-Skene differ from the final ones, and for which pairs.

    Args:
        grades: the current grades of all pairs.
        names: the name of each pair, in the order of the pairs' numbers.
        queries: the text of each pair's query; empty if they are not known.
        progress: called with (iterations done, most iterations) of Dawid-Skene, which takes most of the time.
    """
    compared = compare(grades, progress=progress)
    scale = np.arange(grades.highest + 1)
    columns = (
        [tuple(np.repeat(scale, times).tolist()) for times in grades.counts()[compared.differs]],
        compared.final[compared.differs].tolist(),
        (grades.decided[compared.differs] >= 0).tolist(),
        *(made[compared.differs].tolist() for made in compared.others.values()),
    )
    pairs = [
        OtherRelevance(names[place], queries[place] if queries else "", *cells)
        for place, *cells in zip(compared.differs.tolist(), *columns, strict=True)
    ]
    return AggregatorReport(compared.counts, tuple(pairs))
