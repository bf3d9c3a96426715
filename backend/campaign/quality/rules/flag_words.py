"""Flags in words: the figure, its base, and what it is held against, each in a sentence or two for the lead."""

from backend.campaign.quality.model import FlagKind
from backend.campaign.quality.rules.intervals import Interval

NO_GRADES = "No grade yet."
NOT_MEASURED = "None of the grades has a measured time and a known clip."
NOBODY_ELSE = "Nobody else graded these pairs."
NO_TIMES = "The file of the earlier campaign does not say when the grades were given."

_ARE = {
    FlagKind.TOO_FAST: "came in less time than the clip can be judged in",
    FlagKind.UNSEEN: "came before half of the clip can have been on screen",
}


def share(kind: FlagKind, value: float, n: int, limit: float) -> str:
    """How many grades came too fast, or before the clip was seen."""
    return f"{_percent(value)} of {_grades(n)} {_ARE[kind]}; more than {_percent(limit)} is a flag."


def one_grade(grade: int, value: float, n: int, limit: float, others: float | None) -> str:
    """Which grade was given most, and how often others gave it to the same pairs."""
    said = f"{_percent(value)} of {_grades(n)} are {grade}; more than {_percent(limit)} is a flag."
    return said if others is None else f"{said} Others gave {grade} to these pairs in {_percent(others)}."


def bias(value: float, n: int, interval: Interval | None, limit: float) -> str:
    """How far the grades lie from those of the others."""
    way = "higher" if value >= 0 else "lower"
    return (
        f"On average {abs(value):.2f} {way} than the others on the same pairs, over {_grades(n)}"
        f"{_sure(interval)}; {limit:g} or more, with 0 outside the interval, is a flag."
    )


def drift(new: float, old: float, of_new: int, of_old: int, interval: Interval | None, limit: float) -> str:
    """How the newest grades lie against those before, both measured by the others."""
    way = "higher" if new >= old else "lower"
    return (
        f"Against the others, the newest {_grades(of_new)} are {abs(new - old):.2f} {way} than the {of_old:,} before, "
        f"{_signed(new)} and {_signed(old)}{_sure(interval)}; {limit:g} or more, with 0 outside the interval, is a "
        "flag."
    )


def agreement(
    new: float, old: float, of_new: int, of_old: int, interval: Interval | None, limit: float, tolerance: int
) -> str:
    """How often the newest grades agree with the other person's of the first round, and how often those before did."""
    agree = f"Within {tolerance} of" if tolerance else "The same as"
    return (
        f"{agree} the other first grade of the pair: {_percent(new)} of the newest {_grades(of_new)}, {_percent(old)} "
        f"of the {of_old:,} before{_sure(interval, 100, 0, ' points')}; {100 * limit:.0f} points less or worse, with 0 "
        "outside the interval, is a flag."
    )


def few(n: int, fewest: int) -> str:
    """Why a figure of few grades is no flag."""
    return "" if n >= fewest else f" Too few to be a flag: {fewest} grades are needed."


def too_few_in_time(n: int, newest: int) -> str:
    """Why the newest grades cannot be held against those before."""
    grades = f"{_grades(n)} that can be compared"
    return f"{grades} are too few: the newest {newest} are held against {newest} before them at least."


def _percent(share: float) -> str:
    """`4.5 %`, `45 %`."""
    return f"{100 * share:.1f}".removesuffix(".0") + " %"


def _grades(n: int) -> str:
    return f"{n:,} grade{'' if n == 1 else 's'}"


def _signed(value: float, digits: int = 2) -> str:
    return f"{value:+.{digits}f}".replace("-", "\u2212")


def _sure(interval: Interval | None, times: int = 1, digits: int = 2, unit: str = "") -> str:
    if interval is None:
        return ""
    low, high = (_signed(times * end, digits) for end in interval)
    return f" (99 % interval {low} to {high}{unit})"
