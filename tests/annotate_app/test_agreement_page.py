"""The lead's page "Agreement" over a real project: its parts, what is undefined, who may see it."""

from collections.abc import Callable
from concurrent.futures import Future
from typing import Any

import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from backend.campaign.monitoring.quality.agreement_board import agreement_board, other_relevances
from backend.campaign.monitoring.quality.model import BoardPart
from backend.campaign.nouns import OPERATOR
from reading import words
from support import NOW, Judging

Open = Callable[..., AppTest]
HOSTILE = "<img src=x onerror=alert(1)>"


@pytest.fixture
def now() -> list[float]:
    """The clock, to be turned."""
    return [NOW]


@pytest.fixture
def worker(monkeypatch: pytest.MonkeyPatch) -> list[Future[Any]]:
    """What was given to the worker; a test says when it is done."""
    from annotate_app.server import agreement_worker

    begun: list[Future[Any]] = []

    def start(*_: object) -> Future[Any]:
        begun.append(Future())
        return begun[-1]

    monkeypatch.setattr(agreement_worker, "start_board", start)
    return begun


@pytest.fixture
def open_page(
    open_judging: Callable[..., AppTest], worker: list[Future[Any]], now: list[float], monkeypatch: pytest.MonkeyPatch
) -> Open:
    """Opens the page as the lead."""
    st.cache_resource.clear()
    monkeypatch.setattr("time.time", lambda: now[0])
    return lambda: open_judging("agreement")


@pytest.fixture
def graded(judging: Judging) -> Judging:
    """All pairs but one with two grades each, by the same two people; every third couple of grades is one apart."""
    for number, pair in enumerate(judging.pairs()[:-1]):
        judging.grade(0, pair.pair, number % 5)
        judging.grade(1, pair.pair, min(number % 5 + (number % 3 == 0), 4))
    return judging


def part(app: AppTest, name: str) -> AppTest:
    app.segmented_control(key="address-part").set_value(name).run()
    assert not app.exception
    return app


def test_an_empty_project_says_what_will_be_here(open_page: Open, worker: list[Future[Any]]) -> None:
    app = open_page()
    assert "Nobody has graded anything yet" in words(app)


def test_figures_stand_there_before_their_intervals(
    open_page: Open, graded: Judging, worker: list[Future[Any]]
) -> None:
    app = open_page()
    board = agreement_board(graded.project, OPERATOR)
    alpha = board.figures["alpha_ordinal"]
    assert alpha.value is not None
    assert alpha.low is not None
    said = words(app)
    assert f"{alpha.value:.3f}" in said
    assert f"{alpha.low:.3f} to" not in said
    assert "Intervals are being computed" in said
    assert "118 grades that count, by 2 people, of 59 pairs" in said
    worker[0].set_result(board)
    said = words(app.run())
    assert f"{alpha.low:.3f} to {alpha.high:.3f}" in said
    assert "Intervals are being computed" not in said
    assert len(worker) == 1, "who looks at the same grades shares the work"


def test_every_part_shows_what_it_is_of(open_page: Open, graded: Judging) -> None:
    app = open_page()
    assert "What became of the pairs" in words(app)
    assert "val" in words(app)
    assert "Grades and relevances" in words(part(app, "Grades"))
    assert "Who agrees with whom" in words(part(app, "People"))
    assert "Anna" in words(app)
    assert "Agreement by day" in words(part(app, "Over time"))
    queries = part(app, "Queries").dataframe[0].value
    assert len(queries) == 3
    assert queries["within_tolerance"].is_monotonic_increasing
    assert queries["pairs"].sum() == 59


def test_everything_can_be_of_a_part_of_the_pairs(open_page: Open, graded: Judging, worker: list[Future[Any]]) -> None:
    app = open_page()
    app.selectbox(key="address-split").set_value("test").run()
    of_test = agreement_board(graded.project, OPERATOR, BoardPart(split="test"), resamples=0)
    said = words(app)
    assert f"Only test: {of_test.summary['rows']} grades that count, by 2 people" in said
    assert f"{of_test.figures['alpha_ordinal'].value:.3f}" in said
    assert len(worker) == 2
    assert "Who agrees with whom" in words(part(app, "People"))
    val = next(one.name for one in agreement_board(graded.project, OPERATOR).queries if one.split == "val")
    app.selectbox(key="address-of").set_value(val).run()
    assert "None of the graded pairs is of this part" in words(app)
    app.selectbox(key="address-split").set_value("").run()
    assert f"Only \u201c{val}\u201d: " in words(app)


def test_what_is_undefined_says_why(open_page: Open, judging: Judging) -> None:
    judging.grade(0, judging.pairs()[0].pair, 3)
    said = words(open_page())
    assert "undefined: no pair has two grades" in said
    assert "undefined: no pair was graded by two annotators" in said


def test_a_name_that_is_markup_is_text(open_page: Open, graded: Judging) -> None:
    graded.project.store.db.conn.execute("UPDATE annotator SET name = ? WHERE name = 'Anna'", [HOSTILE])
    tables = [element.proto.body for element in part(open_page(), "People").get("html")]
    assert any("&lt;img src=x" in table for table in tables)
    assert not any("<img src=x" in table for table in tables)


def test_while_people_grade_the_board_holds_for_a_minute(
    open_page: Open, graded: Judging, worker: list[Future[Any]], now: list[float]
) -> None:
    app, last = open_page(), graded.pairs()[-1].pair
    graded.grade(2, last, 1)
    assert "118 grades" in words(app.run())
    assert len(worker) == 1
    app.button(key="agreement_anew").click().run()
    assert "119 grades" in words(app)
    graded.grade(3, last, 1)
    now[0] += 61
    assert "120 grades" in words(app.run())


def test_a_worker_that_fails_takes_nothing_away(open_page: Open, graded: Judging, worker: list[Future[Any]]) -> None:
    app = open_page()
    worker[0].set_exception(RuntimeError("out of memory"))
    said = words(app.run())
    assert "The intervals could not be computed" in said
    assert "Alpha, ordinal, all rounds" in said


def test_other_rules_are_compared_when_asked_for(
    open_page: Open, graded: Judging, worker: list[Future[Any]], monkeypatch: pytest.MonkeyPatch
) -> None:
    from annotate_app.server import agreement_worker

    asked: Future[Any] = Future()
    monkeypatch.setattr(agreement_worker, "start_others", lambda *_: asked)
    app = part(open_page(), "Other rules")
    assert "Nothing becomes of it" in words(app)
    app.button(key="compare_others").click().run()
    assert "Being compared" in words(app)
    asked.set_result(other_relevances(graded.project, OPERATOR))
    said = words(app.run())
    assert "Dawid-Skene, posterior median" in said
    assert "Being compared" not in said
