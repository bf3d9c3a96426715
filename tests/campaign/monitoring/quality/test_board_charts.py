"""The charts and files of the agreement board: they draw whatever was graded, and hold what the board says."""

import csv
import io

import numpy as np
import pytest

from backend.campaign.monitoring.quality import charts
from backend.campaign.monitoring.quality.agreement_files import agreement_csv, agreement_picture, agreement_picture_file
from backend.campaign.monitoring.quality.model import AgreementBoard
from backend.campaign.monitoring.quality.rules import board as rules
from backend.campaign.monitoring.quality.rules.board import Origins
from backend.campaign.monitoring.quality.rules.board_tables import TABLES
from backend.campaign.monitoring.quality.rules.pairs import GradedPairs
from backend.campaign.nouns import Rounding

HOSTILE = "<script>alert(1)</script>"


def board_of(highest: int, pairs: int = 60) -> AgreementBoard:
    """Two people at every pair, on two days of two queries; one of them has a name that is markup."""
    rng = np.random.default_rng(highest)
    pair = np.repeat(np.arange(pairs), 2)
    grade = rng.integers(0, highest + 1, 2 * pairs)
    graded = GradedPairs(
        *((HOSTILE, "Boris"), pair, np.tile([0, 1], pairs), grade, np.full(pairs, -1)),
        *(highest, 1, Rounding.HALF_UP, True),
        first_round=np.ones(2 * pairs, dtype=bool),
    )
    half = np.arange(pairs) % 2
    names = ("2026-03-09", "2026-03-16")
    origins = Origins(half, ("val", "test"), half, ("a", "b"), ("val", "test"), half[pair], names, half[:2], names)
    return rules.measure(graded, origins, resamples=20)


@pytest.mark.parametrize("highest", [pytest.param(1, marks=pytest.mark.long), 4])
def test_every_chart_can_be_drawn_on_any_scale(highest: int) -> None:
    board = board_of(highest)
    for name in charts.PICTURES:
        drawn = agreement_picture_file(board, name, "svg")
        assert drawn.startswith(b"<svg"), name
        assert b"<script>" not in drawn, name
        told = agreement_picture(board, name)
        assert told.title.encode() in drawn
        assert told.told
    assert agreement_picture_file(board, "grades", "png").startswith(b"\x89PNG")


def test_nothing_graded_is_drawn_as_nothing() -> None:
    board = board_of(4, pairs=0)
    for name in charts.PICTURES:
        assert agreement_picture_file(board, name, "svg").startswith(b"<svg"), name


def test_the_files_hold_what_the_board_says() -> None:
    board = board_of(4)
    read = {name: list(csv.DictReader(io.StringIO(agreement_csv(board, name)))) for name in TABLES}
    figures = {row["figure"]: row for row in read["figures"]}
    assert float(figures["alpha_ordinal"]["value"]) == board.figures["alpha_ordinal"].value
    assert float(figures["alpha_ordinal"]["low"]) == board.figures["alpha_ordinal"].low
    assert [row["part"] for row in read["pairs"]] == ["all", "val", "test"]
    assert sum(int(row["pairs"]) for row in read["lowest-highest"]) == 60
    assert sum(int(row["count"]) for row in read["spread"]) == 120
    assert sum(int(row["pairs"]) for row in read["queries"]) == 60
    assert [row["week"] for row in read["weeks"]] == ["2026-03-09", "2026-03-16"]
    assert {row["annotator"] for row in read["people"]} == {HOSTILE, "Boris"}
    assert [(row["first"], row["second"], row["n"]) for row in read["couples"]] == [(HOSTILE, "Boris", "60")]


def test_a_legend_takes_no_room_from_the_rows() -> None:
    board = board_of(4)
    plain, *with_legend = (
        agreement_picture(board, name).chart.to_dict()["height"]
        for name in ("people", "spread", "couples", "person-weeks")
    )
    assert min(with_legend) >= plain + 50
