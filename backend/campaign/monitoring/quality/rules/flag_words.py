"""Explain quality flags to the lead in a sentence or two: the figure, the number of cases, and the limit."""

from backend.campaign.monitoring.quality.model import FlagKind
from backend.campaign.monitoring.quality.rules.people import Interval
from backend.core.messages import said, said_n

NO_GRADES = said("No grade yet.")
NOTHING_MET = said("No grade and no skip yet.")
NOT_MEASURED = said("None of the grades has a measured time and a known clip.")
NOBODY_ELSE = said("Nobody else graded these pairs.")
NO_TIMES = said("The file of the earlier campaign does not say when grades were given.")

_SHARES = {
    FlagKind.TOO_FAST: said(
        "{share} of {grades} came faster than the clip can be judged; more than {limit} is a flag."
    ),
    FlagKind.UNSEEN: said(
        "{share} of {grades} came before half of the clip can have been on screen; more than {limit} is a flag."
    ),
}

_SKIPPED = {
    FlagKind.SKIPS: said("{count:,} of {pairs} handed out were skipped ({share}); more than {limit} is a flag."),
    FlagKind.REPORTS: said(
        "{count:,} of {pairs} handed out were reported as broken ({share}); more than {limit} is a flag."
    ),
}


def share(kind: FlagKind, value: float, n: int, limit: float) -> str:
    """Return the sentence that explains a flag about grades given too fast, or before the clip can have been seen.

    `value` is the share of such grades among `n`. A share above `limit` raises the flag.
    """
    return said(_SHARES[kind], share=_percent(value), grades=_grades(n), limit=_percent(limit))


def skipped(kind: FlagKind, count: int, n: int, limit: float) -> str:
    """Return the sentence that explains a flag about pairs that an annotator skipped or reported as broken.

    `count` is the number of such pairs among the `n` that they were given. A share above `limit` raises the flag.
    """
    pairs = said_n("{n:,} pair", "{n:,} pairs", n)
    return said(_SKIPPED[kind], count=count, share=_percent(count / n), pairs=pairs, limit=_percent(limit))


def few_pairs(n: int, fewest: int) -> str:
    """Return a note that `n` pairs are too few to raise a quality flag; an empty text if there are `fewest` or more."""
    return "" if n >= fewest else said(" Too few to be a flag: {fewest} pairs are needed.", fewest=fewest)


def one_grade(grade: int, value: float, n: int, limit: float, others: float | None) -> str:
    """Return the sentences about an annotator's most used grade, and how often others gave it to the same pairs.

    `value` is its share among their `n` grades, and `others` its share among the others' grades (None: there are none).
    A share above `limit` raises the flag.
    """
    told = said(
        "{share} of {grades} are {grade}; more than {limit} is a flag.",
        share=_percent(value),
        grades=_grades(n),
        grade=grade,
        limit=_percent(limit),
    )
    if others is None:
        return told
    return said("{told} Others gave {grade} to these pairs in {share}.", told=told, grade=grade, share=_percent(others))


def bias(value: float, n: int, interval: Interval | None, limit: float) -> str:
    """Return the sentence that tells how far an annotator's grades differ from the others' grades on the same pairs.

    `value` is the mean difference over `n` grades, positive if the annotator is more generous. `interval` is its 99 %
    interval. A difference of `limit` or more raises the flag.
    """
    way = said("higher") if value >= 0 else said("lower")
    return said(
        "On average {by:.2f} {way} than the others on the same pairs, over {grades}{sure}; {limit:g} or more, with 0 "
        "outside the interval, is a flag.",
        by=abs(value),
        way=way,
        grades=_grades(n),
        sure=_interval_words(interval),
        limit=limit,
    )


def drift(new: float, old: float, of_new: int, of_old: int, interval: Interval | None, limit: float) -> str:
    """Return the sentence that compares an annotator's newest grades with their earlier ones.

    `new` and `old` are mean differences from the others' grades, over `of_new` newest and `of_old` earlier grades.
    `interval` is the 99 % interval of the change. A change of `limit` or more raises the flag.
    """
    way = said("higher") if new >= old else said("lower")
    return said(
        "Against the others, the newest {grades} are {by:.2f} {way} than the {before:,} earlier ones, "
        "{new} and {old}{sure}; {limit:g} or more, with 0 outside the interval, is a flag.",
        grades=_grades(of_new),
        by=abs(new - old),
        way=way,
        before=of_old,
        new=_signed(new),
        old=_signed(old),
        sure=_interval_words(interval),
        limit=limit,
    )


def agreement(
    new: float, old: float, of_new: int, of_old: int, interval: Interval | None, limit: float, tolerance: int
) -> str:
    """Return the sentence that compares an annotator's agreement in their newest grades with that in earlier ones.

    The first two grades of a pair agree if they differ by at most `tolerance`. `new` and `old` are shares of grades
    that agree, over `of_new` newest and `of_old` earlier grades. `interval` is the 99 % interval of the change. A fall
    by `limit` or more raises the flag.
    """
    agree = said("Within {tolerance} of", tolerance=tolerance) if tolerance else said("The same as")
    return said(
        "{agree} the other first grade of the pair: {new} of the newest {grades}, {old} of the "
        "{before:,} earlier ones{sure}; a drop of {limit:.0f} points or more, with 0 outside the "
        "interval, is a flag.",
        agree=agree,
        new=_percent(new),
        grades=_grades(of_new),
        old=_percent(old),
        before=of_old,
        sure=_interval_words(interval, 100, 0, points=True),
        limit=100 * limit,
    )


def few(n: int, fewest: int) -> str:
    """Return a note that `n` grades are too few to raise a quality flag; empty if there are `fewest` or more."""
    return "" if n >= fewest else said(" Too few to be a flag: {fewest} grades are needed.", fewest=fewest)


def too_few_in_time(n: int, newest: int) -> str:
    """Return the sentence that `n` grades are too few to compare the last `newest` of them with as many before."""
    return said(
        "{grades} that can be compared are too few: the newest {newest} need at least {newest} "
        "earlier ones to compare with.",
        grades=_grades(n),
        newest=newest,
    )


def _percent(share: float) -> str:
    """Return a share as text: `4.5 %`, `45 %`."""
    return f"{100 * share:.1f}".removesuffix(".0") + " %"


def _grades(n: int) -> str:
    return said_n("{n:,} grade", "{n:,} grades", n)


def _signed(value: float, digits: int = 2) -> str:
    return f"{value:+.{digits}f}".replace("-", "\u2212")


def _interval_words(interval: Interval | None, times: int = 1, digits: int = 2, *, points: bool = False) -> str:
    if interval is None:
        return ""
    low, high = (_signed(times * end, digits) for end in interval)
    if points:
        return said(" (99 % interval {low} to {high} points)", low=low, high=high)
    return said(" (99 % interval {low} to {high})", low=low, high=high)
