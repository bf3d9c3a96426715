"""The tables behind the charts and files of the agreement board: what stands in which column."""

from typing import Any

import pytest

from backend.campaign.monitoring.quality.model import (
    WHOLE,
    AgreementBoard,
    Couple,
    Figure,
    GroupAgreement,
    PersonGrades,
    PersonPeriod,
    Verdicts,
)
from backend.campaign.monitoring.quality.rules.board_tables import TABLES, table

SETTLED = Verdicts("all", 80, 40, 20, 10, 5, 4, 1)
COUNTS = {"pairs": 80, "by_two": 40, "by_four": 20, "by_six": 10, "adjudicated": 5, "discarded": 4, "waiting": 1}


ALONE = Figure(None, 0, "grades", "nobody else graded their pairs")


def board(**other: Any) -> AgreementBoard:
    """A board in which no two numbers of a row are alike."""
    kept: dict[str, Any] = {
        "summary": {"relevance": {"0": 6, "1": 2}},
        "figures": {
            "alpha_ordinal": Figure(0.5, 160, "grades", "", 0.4, 0.6),
            "kappa_plain": Figure(None, 0, "couples of annotators", "no pair was graded by two annotators"),
        },
        "settled": (SETTLED, Verdicts("val", 2, 2, 0, 0, 0, 0, 0)),
        "lowest_highest": ((3, 1), (0, 4)),
        "histogram": (3, 1),
        "people": (
            PersonGrades("Anna", 3, (2, 1), 0, 0.7, True, Figure(0.25, 2, "grades", "", 0.125, 0.375)),
            PersonGrades("Boris", 1, (0, 1), 1, 1.0, False, ALONE),
        ),
        "couples": (Couple(1, 0, 60, 0.25, 0.75, "said"),),
        "days": (GroupAgreement("2026-03-09", 160, 6, 1.5, 0.1, 0.2, 0.3, SETTLED, ""),),
        "weeks": (GroupAgreement("2026-03-16", 160, 7, 2.5, None, 0.4, 0.6, SETTLED, "all grades are the same"),),
        "queries": (GroupAgreement("He sits.", 160, 8, 3.5, 0.7, 0.8, 0.9, SETTLED, "", "test"),),
        "person_weeks": (PersonPeriod("2026-03-16", "Anna", 9, 1, 0.6, -0.5, 4),),
    }  # fmt: skip
    return AgreementBoard(
        part=WHOLE, resamples=0, tolerance=1, imported=0, simulated=0, most_used_limit=0.45, **{**kept, **other}
    )


EXPECTED: dict[str, list[dict[str, Any]]] = {
    "figures": [
        {**{"figure": "alpha_ordinal", "value": 0.5, "n": 160, "of": "grades"},
         **{"reason": "", "low": 0.4, "high": 0.6}},
        {**{"figure": "kappa_plain", "value": None, "n": 0, "of": "couples of annotators"},
         **{"reason": "no pair was graded by two annotators", "low": None, "high": None}},
    ],
    "pairs": [
        {"part": "all", **COUNTS, "by_two_share": 0.5, "by_four_share": 0.25, "by_six_share": 0.125,
         "adjudicated_share": 0.0625, "discarded_share": 0.05, "waiting_share": 0.0125},
        {"part": "val", **dict.fromkeys(COUNTS, 0), "pairs": 2, "by_two": 2,
         **{f"{name}_share": 0.0 for name in COUNTS if name != "pairs"}, "by_two_share": 1.0},
    ],
    "lowest-highest": [
        {"lowest": 0, "highest": 0, "pairs": 3, "share": 0.375},
        {"lowest": 0, "highest": 1, "pairs": 1, "share": 0.125},
        {"lowest": 1, "highest": 1, "pairs": 4, "share": 0.5},
    ],
    "grades": [
        {"kind": "raw grades", "grade": 0, "count": 3, "share": 0.75},
        {"kind": "raw grades", "grade": 1, "count": 1, "share": 0.25},
        {"kind": "relevances", "grade": 0, "count": 6, "share": 0.75},
        {"kind": "relevances", "grade": 1, "count": 2, "share": 0.25},
    ],
    "people": [
        {"annotator": "Anna", "grades": 3, "most_used": 0, "most_used_share": 0.7, "bias": 0.25, "bias_low": 0.125,
         "bias_high": 0.375, "bias_n": 2, "reason": ""},
        {"annotator": "Boris", "grades": 1, "most_used": 1, "most_used_share": 1.0, "bias": None, "bias_low": None,
         "bias_high": None, "bias_n": 0, "reason": "nobody else graded their pairs"},
    ],
    "spread": [
        {"annotator": "Anna", "grade": 0, "count": 2, "share": 2 / 3},
        {"annotator": "Anna", "grade": 1, "count": 1, "share": 1 / 3},
        {"annotator": "Boris", "grade": 0, "count": 0, "share": 0.0},
        {"annotator": "Boris", "grade": 1, "count": 1, "share": 1.0},
    ],
    "couples": [
        {"first": "Boris", "second": "Anna", "n": 60, "kappa_plain": 0.25, "kappa_quadratic": 0.75, "reason": "said"}
    ],
    "days": [
        {"day": "2026-03-09", **COUNTS, "grades": 6, "mean": 1.5, "alpha_ordinal": 0.1, "equal": 0.2,
         "within_tolerance": 0.3, "by_two_share": 0.25, "reason": ""}
    ],
    "weeks": [
        {"week": "2026-03-16", **COUNTS, "grades": 7, "mean": 2.5, "alpha_ordinal": None, "equal": 0.4,
         "within_tolerance": 0.6, "by_two_share": 0.25, "reason": "all grades are the same"}
    ],
    "person-weeks": [
        {"week": "2026-03-16", "annotator": "Anna", "grades": 9, "most_used": 1, "most_used_share": 0.6, "bias": -0.5,
         "bias_n": 4}
    ],
    "queries": [
        {"query": "He sits.", "split": "test", **COUNTS, "grades": 8, "mean": 3.5, "alpha_ordinal": 0.7, "equal": 0.8,
         "within_tolerance": 0.9, "by_two_share": 0.25, "reason": ""}
    ],
}  # fmt: skip


@pytest.mark.parametrize("name", EXPECTED)
def test_every_column_holds_what_it_is_called(name: str) -> None:
    found = table(board(), name)
    assert found == EXPECTED[name]
    assert [list(row) for row in found] == [list(row) for row in EXPECTED[name]], "in this order, as in the files"


def test_no_table_is_left_out_here() -> None:
    assert set(TABLES) == set(EXPECTED)


def test_nothing_graded_is_a_share_of_nothing() -> None:
    person = PersonGrades("Anna", 0, (0, 0), 0, 0.0, False, ALONE)
    empty = board(
        **{"lowest_highest": ((0, 0), (0, 0)), "histogram": (0, 0), "people": (person,)},
        summary={"relevance": {"0": 0, "1": 0}},
    )
    for name in ("lowest-highest", "grades", "spread"):
        assert {row["share"] for row in table(empty, name)} == {0.0}


def test_a_single_one_is_all_of_it() -> None:
    single = board(lowest_highest=((0, 1), (0, 0)), histogram=(0, 1), summary={"relevance": {"0": 1, "1": 0}})
    assert [row["share"] for row in table(single, "lowest-highest")] == [0.0, 1.0, 0.0]
    assert [row["share"] for row in table(single, "grades")] == [0.0, 1.0, 1.0, 0.0]
