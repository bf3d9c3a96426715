"""Other ways from grades to a relevance, beside the rule and never instead of it: mean, median, Dawid and Skene.

Dawid-Skene asks how everybody errs (a table for each person: which grades they give where another is right), and weighs
what they say by it. Grades are an order, so what it makes of a pair is the median of its posterior: of all grades, the
one with the least expected distance from the right one.

Source: A. P. Dawid and A. M. Skene, "Maximum Likelihood Estimation of Observer Error-Rates Using the EM Algorithm"
(Applied Statistics 28, 1979). Start and floor of probabilities are those of crowd-kit 1.4, so that posteriors are too.
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
"""What a progress bar calls it."""
TOLERANCE = 1e-5
"""Of the mean log-likelihood of a pair: below that gain another iteration changes nothing worth having."""
_LEAST = 1e-10
"""No error is impossible."""


@dataclass(frozen=True, slots=True, eq=False)
class Errors:
    """What Dawid and Skene's method finds.

    `posterior` has shape [pairs, grades]: how likely each grade is the right one. `tables`, of shape [people, grades,
    grades], say how likely a person gives a grade (last axis) where another is right. `likelihoods` are the mean
    log-likelihoods of a pair after each iteration.
    """

    posterior: Floats
    tables: Floats
    likelihoods: tuple[float, ...]


def dawid_skene(grades: GradedPairs, *, progress: Steps | None = None) -> Errors:
    """Estimate how everybody errs and what is right, in turns, from the shares of each pair's grades on.

    Args:
        grades: every grade counts, a repeated one too; each pair has one at least.
        progress: called with (iterations done, at most so many); the last call says all are done.
    """
    people, size = len(grades.people), grades.highest + 1
    order = np.argsort(grades.pair, kind="stable")
    pair, annotator, grade = (column[order] for column in (grades.pair, grades.annotator, grades.grade))
    begins = np.searchsorted(pair, np.arange(grades.pairs))
    counts = grades.counts().astype(np.float64)
    posterior = counts / counts.sum(axis=1, keepdims=True)
    found: list[float] = []
    for iteration in range(1, ITERATIONS + 1):
        tables = _tables(posterior, pair, annotator * size + grade, people, size)
        # What every grade speaks for, shape [rows, grades], added up over the rows of a pair.
        spoken = np.log(tables).transpose(0, 2, 1)[annotator, grade]
        with np.errstate(divide="ignore"):
            joint = np.add.reduceat(spoken, begins, axis=0) + np.log(posterior.mean(axis=0))
        top = joint.max(axis=1, keepdims=True)
        weights = np.exp(joint - top)
        total = weights.sum(axis=1, keepdims=True)
        posterior = weights / total
        found.append(float((top + np.log(total)).mean()))
        if progress:
            progress(iteration, ITERATIONS)
        if len(found) > 1 and found[-1] - found[-2] < TOLERANCE:
            break
    if progress:
        progress(ITERATIONS, ITERATIONS)
    return Errors(posterior, tables, tuple(found))


def _tables(posterior: Floats, pair: Codes, cell: Codes, people: int, size: int) -> Floats:
    """How likely each person gives each grade where another is right, if these are the chances of what is right."""
    by_right = [np.bincount(cell, weights=posterior[pair, right], minlength=people * size) for right in range(size)]
    given = np.maximum(np.stack(by_right).reshape(size, people, size).transpose(1, 0, 2), _LEAST)
    tables: Floats = given / given.sum(axis=2, keepdims=True)
    return tables


def posterior_medians(posterior: Floats) -> Codes:
    """Of each pair, the lowest grade that the right one is as likely to be at most as above.

    >>> posterior_medians(np.array([[0.2, 0.3, 0.5], [0.1, 0.2, 0.7]])).tolist()
    [1, 2]
    """
    # Halves that are one but for the last bit are halves.
    return np.asarray((np.cumsum(posterior, axis=1) >= 0.5 - 1e-12).argmax(axis=1), dtype=np.int64)


def means(counts: Codes, rounding: Rounding) -> Codes:
    """The mean of all grades of each pair, of shape [pairs, grades] as counts, rounded as the campaign does.

    >>> means(np.array([[1, 0, 0, 1], [0, 1, 1, 0]]), Rounding.HALF_DOWN).tolist()
    [1, 1]
    """
    n, total = counts.sum(axis=1), counts @ np.arange(counts.shape[1])
    # In whole numbers: (2 * total + n) // 2n is half up; what is just below it, half down.
    up = rounding is Rounding.HALF_UP
    return np.asarray((2 * total + n - (not up)) // (2 * n), dtype=np.int64)


def medians(counts: Codes, rounding: Rounding) -> Codes:
    """The median of all grades of each pair; a mean of two middle ones is rounded as the campaign does.

    >>> medians(np.array([[1, 1, 0, 2], [0, 1, 1, 0]]), Rounding.HALF_UP).tolist()
    [2, 2]
    """
    n, below = counts.sum(axis=1), np.cumsum(counts, axis=1)
    low = (below > ((n - 1) // 2)[:, None]).argmax(axis=1)
    high = (below > (n // 2)[:, None]).argmax(axis=1)
    return np.asarray((low + high + (rounding is Rounding.HALF_UP)) // 2, dtype=np.int64)


@dataclass(frozen=True, slots=True, eq=False)
class Compared:
    """What each aggregator makes of each pair, beside what is final.

    `final` has shape [pairs], -1 without relevance; `others` are of the same shape by the aggregators' names.
    """

    final: Codes
    others: dict[str, Codes]
    counts: tuple[AggregatorCount, ...]
    differs: Codes
    """The pairs of which an aggregator makes something else than what is final, ascending."""


def compare(grades: GradedPairs, *, progress: Steps | None = None) -> Compared:
    """Let every aggregator look at all pairs that are settled, and count where it disagrees with what is final.

    Args:
        grades: all that count.
        progress: as for `dawid_skene`, which is what takes long.
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
    """The same for people to read: how many pairs, and which.

    Args:
        grades: all that count.
        names: of the pairs.
        queries: their texts, where they are known.
        progress: as for `dawid_skene`.
    """
    found = compare(grades, progress=progress)
    scale = np.arange(grades.highest + 1)
    columns = (
        [tuple(np.repeat(scale, times).tolist()) for times in grades.counts()[found.differs]],
        found.final[found.differs].tolist(),
        (grades.decided[found.differs] >= 0).tolist(),
        *(made[found.differs].tolist() for made in found.others.values()),
    )
    pairs = [
        OtherRelevance(names[place], queries[place] if queries else "", *cells)
        for place, *cells in zip(found.differs.tolist(), *columns, strict=True)
    ]
    return AggregatorReport(found.counts, tuple(pairs))
