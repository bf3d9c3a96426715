"""Turn the agreement board (how far annotators agree) into tables of plain values, for its charts and CSV files."""

from collections.abc import Callable, Iterable
from dataclasses import asdict
from typing import Any

from backend.campaign.monitoring.quality.model import AgreementBoard, GroupAgreement, Verdicts

Row = dict[str, Any]
"""Maps each column to a text, a number or None."""
Rows = list[Row]


def table(board: AgreementBoard, name: str) -> Rows:
    """Return the rows of one table of the agreement board (how far annotators agree).

    `name` is the name of the table in `TABLES`. A figure that is undefined is None, and its `reason` says why.
    """
    return _MAKERS[name](board)


def _figures(board: AgreementBoard) -> Rows:
    return [{"figure": key, **asdict(figure)} for key, figure in board.figures.items()]


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
    """Return how often each grade occurs among raw grades and among final relevances.

    A row has the keys `kind`, `grade`, `count` and `share`.
    """
    rows: Rows = []
    for kind, counts in (("raw grades", board.histogram), ("relevances", [*board.summary["relevance"].values()])):
        total = max(sum(counts), 1)
        rows += [
            {"kind": kind, "grade": grade, "count": count, "share": count / total} for grade, count in enumerate(counts)
        ]
    return rows


def _people(board: AgreementBoard) -> Rows:
    return [
        {
            "annotator": person.name,
            "grades": person.grades,
            "most_used": person.most_used,
            "most_used_share": person.most_used_share,
            "bias": person.bias.value,
            "bias_low": person.bias.low,
            "bias_high": person.bias.high,
            "bias_n": person.bias.n,
            "reason": person.bias.reason,
        }
        for person in board.people
    ]


def _spread(board: AgreementBoard) -> Rows:
    return [
        {"annotator": person.name, "grade": grade, "count": count, "share": count / max(person.grades, 1)}
        for person in board.people
        for grade, count in enumerate(person.histogram)
    ]


def _couples(board: AgreementBoard) -> Rows:
    return [
        {
            "first": board.people[couple.first].name,
            "second": board.people[couple.second].name,
            **_of_couple(asdict(couple)),
        }
        for couple in board.couples
    ]


def _of_couple(couple: Row) -> Row:
    return {key: couple[key] for key in ("n", "kappa_plain", "kappa_quadratic", "reason")}


def _groups(label: str, groups: Iterable[GroupAgreement]) -> Rows:
    return [
        {
            label: group.name,
            **({"split": group.split} if group.split else {}),
            **_counts(group.settled, named=False),
            **{"grades": group.grades, "mean": group.mean, "alpha_ordinal": group.alpha_ordinal, "equal": group.exact},
            **{
                "within_tolerance": group.within,
                "by_two_share": group.settled.by_two / group.pairs,
                "reason": group.reason,
            },
        }
        for group in groups
    ]


def _person_weeks(board: AgreementBoard) -> Rows:
    return [
        {
            **{"week": period.week, "annotator": period.name, "grades": period.grades, "most_used": period.most_used},
            **{"most_used_share": period.most_used_share, "bias": period.bias, "bias_n": period.n},
        }
        for period in board.person_weeks
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
