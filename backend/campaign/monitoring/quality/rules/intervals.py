"""How sure a mean, or a difference of two, is that a flag is about.

People work through a query at a time, and a query's pairs are alike; taken one by one they would look surer than they
are. So the unit is a run of 20 grades given one after the other, as in the method of batch means, and the intervals are
Student's over the means of runs. All are of 99 %: a lead looks every day, at dozens of people, and of intervals of 95 %
one in twenty would be beside the truth.

Sources: A. M. Law, "Simulation Modeling and Analysis", chapter 9 (batch means); B. L. Welch, "The generalization of
'Student's' problem when several different population variances are involved" (1947).
"""

from math import sqrt

from backend.campaign.monitoring.quality.rules.columns import Floats

SURE = 0.99
RUN = 20
"""A batch of the usual size."""

Interval = tuple[float, float]


def of_mean(values: Floats) -> Interval | None:
    """The interval of the mean of values in the order of giving; None for fewer than two runs.

    >>> import numpy as np
    >>> [round(end, 3) for end in of_mean(np.repeat([0.0, 1.0], 20))]
    [-31.328, 32.328]
    """
    means = runs(values)
    if len(means) < 2:
        return None
    reach = _student(len(means) - 1) * sqrt(_error(means))
    return float(values.mean()) - reach, float(values.mean()) + reach


def of_difference(new: Floats, old: Floats) -> Interval | None:
    """The interval of the mean of the new values minus that of the old; None where either has fewer than two runs.

    The degrees of freedom are Welch's: the two may differ in number and in spread.

    >>> import numpy as np
    >>> [round(end, 3) for end in of_difference(np.repeat([2.0, 4.0], 20), np.repeat([0.0, 1.0, 2.0], 20))]
    [-13.84, 17.84]
    """
    if min(len(runs(new)), len(runs(old))) < 2:
        return None
    errors = [_error(runs(values)) for values in (new, old)]
    difference, error = float(new.mean() - old.mean()), sum(errors)
    if error == 0:
        return difference, difference
    freedom = error**2 / sum(one**2 / (len(runs(values)) - 1) for one, values in zip(errors, (new, old), strict=True))
    reach = _student(freedom) * sqrt(error)
    return difference - reach, difference + reach


def runs(values: Floats) -> Floats:
    """The means of runs of 20 values, the last of them the newest; what is left over at the beginning is no run.

    >>> import numpy as np
    >>> runs(np.arange(45.0)).tolist()
    [14.5, 34.5]
    """
    means: Floats = values[len(values) % RUN :].reshape(-1, RUN).mean(axis=1)
    return means


def _error(means: Floats) -> float:
    """The squared standard error of the mean of runs."""
    return float(means.var(ddof=1)) / len(means)


def _student(freedom: float) -> float:
    from scipy.special import stdtrit

    return float(stdtrit(freedom, (1 + SURE) / 2))
