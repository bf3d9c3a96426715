"""The lead's page "Agreement" over a real project: its parts, what is undefined, who may see it."""

from collections.abc import Callable
from concurrent.futures import Future
from typing import NamedTuple

import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from annotate_app.server import jobs
from backend.campaign.monitoring.quality.agreement_board import agreement_board
from backend.campaign.monitoring.quality.model import BoardPart
from backend.campaign.nouns import OPERATOR, Person, Role
from backend.campaign.setup.people import accounts
from backend.core import processes
from reading import words
from support import NOW, Judging

Open = Callable[..., AppTest]
HOSTILE = "<img src=x onerror=alert(1)>"


class Begun(NamedTuple):
    """A process that was begun."""

    future: Future[None]
    work: Callable[[], None]
    niceness: int


@pytest.fixture
def now() -> list[float]:
    """The clock, to be turned."""
    return [NOW]


@pytest.fixture
def worker(monkeypatch: pytest.MonkeyPatch) -> list[Begun]:
    """The processes that were begun: their futures, and what they would do. A test says when one is done."""
    begun: list[Begun] = []

    def alone(work: Callable[..., None], *arguments: object, niceness: int) -> Future[None]:
        future: Future[None] = Future()
        begun.append(Begun(future, lambda: work(*arguments), niceness))
        return future

    monkeypatch.setattr(processes, "alone", alone)
    return begun


@pytest.fixture
def open_page(
    open_judging: Callable[..., AppTest], worker: list[Begun], now: list[float], monkeypatch: pytest.MonkeyPatch
) -> Open:
    """Opens the page as the lead, or another one."""
    st.cache_resource.clear()
    monkeypatch.setattr("time.time", lambda: now[0])

    return lambda lead=None: open_judging("agreement", lead)


@pytest.fixture
def leo(judging: Judging) -> Person:
    """A second lead."""
    return accounts.add(judging.project.store, OPERATOR, "Leo", Role.LEAD, now=NOW)


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


def test_an_empty_project_says_what_will_be_here(open_page: Open, worker: list[Begun]) -> None:
    app = open_page()
    assert "No grades yet" in words(app)


def test_figures_stand_there_before_their_intervals(open_page: Open, graded: Judging, worker: list[Begun]) -> None:
    app = open_page()
    board = agreement_board(graded.project, OPERATOR)
    alpha = board.figures["alpha_ordinal"]
    assert alpha.value is not None
    assert alpha.low is not None
    said = words(app)
    assert f"{alpha.value:.3f}" in said
    assert f"{alpha.low:.3f} to" not in said
    assert "Computing intervals" in said
    assert "118 grades by 2 annotators on 59 pairs" in said
    assert worker[0].niceness == 19
    worker[0].work()
    said = words(app.run())
    assert f"{alpha.low:.3f} to {alpha.high:.3f}" in said
    assert "Computing intervals" not in said


def test_every_lead_sees_one_job_for_the_same_grades(
    open_page: Open, graded: Judging, worker: list[Begun], leo: Person
) -> None:
    for lead in (None, leo, leo):  # and after a reload
        st.cache_resource.clear()  # at another front end
        assert "Computing intervals" in words(open_page(lead))
        assert jobs.in_menu(graded.project, leo) == {"Agreement": "working"}
    assert len(worker) == 1
    worker[0].work()
    alpha = agreement_board(graded.project, OPERATOR).figures["alpha_ordinal"]
    for lead in (None, leo):
        st.cache_resource.clear()
        assert f"{alpha.low:.3f} to {alpha.high:.3f}" in words(open_page(lead))
    assert jobs.in_menu(graded.project, leo) == {}
    assert len(worker) == 1, "the result is kept for whoever comes later"
    for file in (graded.project.folder / "cache").glob("job-*.json"):
        file.unlink()
    st.cache_resource.clear()
    assert "Computing intervals" in words(open_page())
    assert len(worker) == 2


def test_intervals_whose_server_stopped_are_interrupted_and_can_be_started_again(
    open_page: Open, graded: Judging, worker: list[Begun], leo: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    open_page()
    monkeypatch.setattr(processes, "is_ending", lambda: True)
    worker[0].future.set_exception(KeyboardInterrupt())
    st.cache_resource.clear()
    app = open_page(leo)
    assert "**Computing the intervals** was interrupted, because the server stopped." in words(app)
    assert jobs.in_menu(graded.project, leo) == {"Agreement": "interrupted"}
    app.button(key="intervals_again").click().run()
    assert "Computing intervals" in words(app)
    assert jobs.in_menu(graded.project, leo) == {"Agreement": "working"}
    worker[1].work()
    assert "Computing intervals" not in words(app.run())


def test_every_part_shows_what_it_is_of(open_page: Open, graded: Judging) -> None:
    app = open_page()
    assert "How the pairs were settled" in words(app)
    assert "val" in words(app)
    assert "Grades and relevances" in words(part(app, "Grades"))
    assert "Who agrees with whom" in words(part(app, "Annotators"))
    assert "Anna" in words(app)
    assert "Agreement by day" in words(part(app, "Over time"))
    queries = part(app, "Queries").dataframe[0].value
    assert len(queries) == 3
    assert queries["within_tolerance"].is_monotonic_increasing
    assert queries["pairs"].sum() == 59


def test_everything_can_be_of_a_part_of_the_pairs(open_page: Open, graded: Judging, worker: list[Begun]) -> None:
    app = open_page()
    app.selectbox(key="address-split").set_value("test").run()
    of_test = agreement_board(graded.project, OPERATOR, BoardPart(split="test"), resamples=0)
    said = words(app)
    assert f"Only test: {of_test.summary['rows']} grades by 2 annotators" in said
    assert f"{of_test.figures['alpha_ordinal'].value:.3f}" in said
    assert len(worker) == 2
    assert "Who agrees with whom" in words(part(app, "Annotators"))
    val = next(one.name for one in agreement_board(graded.project, OPERATOR).queries if one.split == "val")
    app.selectbox(key="address-of").set_value(val).run()
    assert "No graded pair matches" in words(app)
    app.selectbox(key="address-split").set_value("").run()
    assert f"Only \u201c{val}\u201d: " in words(app)


def test_what_is_undefined_says_why(open_page: Open, judging: Judging) -> None:
    judging.grade(0, judging.pairs()[0].pair, 3)
    said = words(open_page())
    assert "undefined: no pair has two grades" in said
    assert "undefined: no pair was graded by two annotators" in said


def test_a_name_that_is_markup_is_text(open_page: Open, graded: Judging) -> None:
    graded.project.store.db.conn.execute("UPDATE annotator SET name = ? WHERE name = 'Anna'", [HOSTILE])
    tables = [element.proto.body for element in part(open_page(), "Annotators").get("html")]
    assert any("&lt;img src=x" in table for table in tables)
    assert not any("<img src=x" in table for table in tables)


def test_while_people_grade_the_board_holds_for_a_minute(
    open_page: Open, graded: Judging, worker: list[Begun], now: list[float]
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


def test_a_worker_that_fails_takes_nothing_away(open_page: Open, graded: Judging, worker: list[Begun]) -> None:
    app = open_page()
    worker[0].future.set_exception(RuntimeError("out of memory"))
    said = words(app.run())
    assert "The intervals could not be computed" in said
    assert "Alpha, ordinal, all rounds" in said


def test_other_rules_are_compared_when_asked_for(
    open_page: Open, graded: Judging, worker: list[Begun], leo: Person
) -> None:
    app, of_leo = part(open_page(), "Other rules"), part(open_page(leo), "Other rules")
    assert "This changes nothing" in words(app)
    app.button(key="compare_others").click().run()
    of_leo.button(key="compare_others").click().run()
    for page in (app, of_leo):
        assert "Comparing. This takes" in words(page)
        assert page.button(key="compare_others").disabled
    assert len(worker) == 2, "a second lead joins the first"
    worker[1].work()
    for page in (app.run(), part(open_page(leo), "Other rules")):
        said = words(page)
        assert "Dawid-Skene, posterior median" in said
        assert "started by Leo." in said
        assert "Comparing. This takes" not in said


def test_a_comparison_that_fails_says_so_and_can_be_made_again(
    open_page: Open, graded: Judging, worker: list[Begun]
) -> None:
    app = part(open_page(), "Other rules")
    app.button(key="compare_others").click().run()
    worker[1].future.set_exception(RuntimeError("out of memory"))
    assert "The comparison failed" in words(app.run())
    app.button(key="compare_others").click().run()
    assert "Comparing. This takes" in words(app)
