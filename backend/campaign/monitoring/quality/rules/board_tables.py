"""Turn the agreement board into tables of plain values, for its charts and its CSV files."""

from collections.abc import Callable, Iterable
from dataclasses import asdict
from typing import Any

from backend.campaign.monitoring.quality.model import AgreementBoard, GroupAgreement, Verdicts

Row = dict[str, Any]
"""Maps each column to a text, a number or None."""
Rows = list[Row]


def table(board: AgreementBoard, name: str) -> Rows:
    """Return the rows of one of `TABLES`. An undefined figure is None, and `reason` says why."""
    return _MAKERS[name](board)


def _figures(board: AgreementBoard) -> Rows:
    return [{"figure": key, **asdict(one)} for key, one in board.figures.items()]


def _pairs(board: AgreementBoard) -> Rows:
    return [{**_counts(part), **_shares(part)} for part in board.settled]


def _lowest_highest(board: AgreementBoard) -> Rows:
    total = max(sum(map(sum, board.lowest_highest)), 1)
    return [
        {"lowest": low, "highest": high, "pairs": pairs, "share": pairs / total}
        for low, row in enumerate(board.lowest_highest)
        for high, pairs in enumerate(row)
        if low <= high
    ]


def _grades(board: AgreementBoard) -> Rows:
    """Count raw grades and final relevances, each with its share within its own kind."""
    found: Rows = []
    for kind, counts in (("raw grades", board.histogram), ("relevances", [*board.summary["relevance"].values()])):
        total = max(sum(counts), 1)
        found += [
            {"kind": kind, "grade": grade, "count": count, "share": count / total} for grade, count in enumerate(counts)
        ]
    return found


def _people(board: AgreementBoard) -> Rows:
    return [
        {
            "annotator": one.name,
            "grades": one.grades,
            "most_used": one.most_used,
            "most_used_share": one.most_used_share,
            "bias": one.bias.value,
            "bias_low": one.bias.low,
            "bias_high": one.bias.high,
            "bias_n": one.bias.n,
            "reason": one.bias.reason,
        }
        for one in board.people
    ]


def _spread(board: AgreementBoard) -> Rows:
    return [
        {"annotator": one.name, "grade": grade, "count": count, "share": count / max(one.grades, 1)}
        for one in board.people
        for grade, count in enumerate(one.histogram)
    ]


def _couples(board: AgreementBoard) -> Rows:
    return [
        {"first": board.people[one.first].name, "second": board.people[one.second].name, **_of_couple(asdict(one))}
        for one in board.couples
    ]


def _of_couple(couple: Row) -> Row:
    return {key: couple[key] for key in ("n", "kappa_plain", "kappa_quadratic", "reason")}


def _groups(what: str, groups: Iterable[GroupAgreement]) -> Rows:
    return [
        {
            what: one.name,
            **({"split": one.split} if one.split else {}),
            **_counts(one.settled, named=False),
            **{"grades": one.grades, "mean": one.mean, "alpha_ordinal": one.alpha_ordinal, "equal": one.exact},
            **{"within_tolerance": one.within, "by_two_share": one.settled.by_two / one.pairs, "reason": one.reason},
        }
        for one in groups
    ]


def _person_weeks(board: AgreementBoard) -> Rows:
    return [
        {
            **{"week": one.week, "annotator": one.name, "grades": one.grades, "most_used": one.most_used},
            **{"most_used_share": one.most_used_share, "bias": one.bias, "bias_n": one.n},
        }
        for one in board.person_weeks
    ]


def _counts(part: Verdicts, *, named: bool = True) -> Row:
    counted: Row = asdict(part)
    return counted if named else {key: value for key, value in counted.items() if key != "part"}


def _shares(part: Verdicts) -> Row:
    counted = asdict(part)
    names = ("by_two", "by_four", "by_six", "adjudicated", "discarded", "waiting")
    return {f"{name}_share": counted[name] / part.pairs for name in names}


_MAKERS: dict[str, Callable[[AgreementBoard], Rows]] = {
    "figures": _figures,
    "pairs": _pairs,
    "lowest-highest": _lowest_highest,
    "grades": _grades,
    "people": _people,
    "spread": _spread,
    "couples": _couples,
    "days": lambda board: _groups("day", board.days),
    "weeks": lambda board: _groups("week", board.weeks),
    "person-weeks": _person_weeks,
    "queries": lambda board: _groups("query", board.queries),
}
TABLES = tuple(_MAKERS)
