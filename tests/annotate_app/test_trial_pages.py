"""The trial round on the lead's page Exam, against the fake api."""

import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

sys.path.insert(0, str(Path(__file__).parent))
import fake_api
from backend.campaign.qualification.exam.model import (
    CalibrationAnswer,
    CalibrationPair,
    CalibrationPerson,
    CalibrationRound,
)
from backend.core.ids import AnnotatorId, PairKey, QueryId
from reading import read

Open = Callable[..., AppTest]
ANA, BEN = AnnotatorId(2), AnnotatorId(3)
BEGIN = "trial-begin"


def pair(key: str, query: str, rank: int, *answers: tuple[AnnotatorId, str, int, str]) -> CalibrationPair:
    given = tuple(CalibrationAnswer(*answer) for answer in answers)
    return CalibrationPair(PairKey(key), QueryId(1), query, "v1", 1.0, 4.5, rank, given)


@pytest.fixture
def project(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> fake_api.Project:
    fake_api.install(monkeypatch)
    return fake_api.made_up(tmp_path)


@pytest.fixture
def begun(project: fake_api.Project) -> fake_api.Project:
    """A round that Ana has finished and Ben has not."""
    people = (CalibrationPerson(ANA, "Ana", 2, True), CalibrationPerson(BEN, "Ben", 1, False))
    apart = pair("k1", "A <b>cup</b> *falls*", 2, (ANA, "Ana", 4, "A <i>whole</i> *cup*"), (BEN, "Ben", 0, ""))
    project.trial = CalibrationRound(
        fake_api.NOON, "Lea", None, 1, people, (apart, pair("k2", "Two argue", 1, (ANA, "Ana", 3, "")))
    )
    return project


@pytest.fixture
def open_page(monkeypatch: pytest.MonkeyPatch, project: fake_api.Project) -> Open:
    """Opens the page Exam as a lead."""
    from annotate_app.session import auth

    def opened() -> AppTest:
        monkeypatch.setenv(auth.PROJECT_VARIABLE, str(project.folder))
        monkeypatch.setattr(auth, "token", lambda: "token-of-Lea")

        def script() -> None:
            import importlib

            importlib.import_module("annotate_app.screens.exam").page()

        app = AppTest.from_function(script, default_timeout=60).run()
        assert not app.exception
        return app

    return opened


def html(app: AppTest) -> str:
    return "\n".join(element.proto.body for element in app.get("html"))


def _choose(app: AppTest, query: QueryId) -> None:
    assert not app.multiselect(key="trial_queries").options, "nothing is offered before somebody looks for it"
    app.text_input(key="trial_search").set_value(str(query)).run()
    app.multiselect(key="trial_queries").select(query)


def test_a_round_is_begun_by_a_draw_or_with_chosen_queries(open_page: Open, project: fake_api.Project) -> None:
    app = open_page()
    app.number_input(key="trial_count").set_value(2)
    app.button(key=BEGIN).click().run()
    assert app.success[0].value == "The trial round asks 4 pairs of 2 queries."
    _choose(app, QueryId(2))
    app.button(key=BEGIN).click().run()
    asked = {"queries": 2, "pairs": 5, "seed": 1}
    assert project.trial_asked == [(asked, []), (asked, [QueryId(2)])]


def test_a_query_without_an_open_pair_is_refused_in_words(open_page: Open, project: fake_api.Project) -> None:
    app = open_page()
    _choose(app, QueryId(3))
    app.button(key=BEGIN).click().run()
    assert read(app.error[0].value) == "no open pair to ask belongs to query 3"
    assert project.trial_asked == []


@pytest.mark.usefixtures("begun")
def test_all_grades_and_notes_are_listed_with_or_without_names(open_page: Open) -> None:
    app = open_page()
    assert BEGIN not in [button.key for button in app.button], "one at a time"
    told = html(app)
    assert "<td>Ana</td><td>2 of 2</td><td>yes</td>" in told
    assert "<td>Ben</td><td>1 of 2</td><td>not yet</td>" in told
    assert "<td>4</td><td>4 0</td><td>1</td><td>2</td><td>A &lt;b&gt;cup&lt;/b&gt; *falls*</td>" in told
    assert "<td>A &lt;i&gt;whole&lt;/i&gt; *cup*</td>" in told
    assert "<td>no note</td>" in told
    assert any("A <b>cup</b> *falls*" in read(one.value) for one in app.markdown)
    app.checkbox(key="trial_hide").check().run()
    told = html(app)
    assert "Ana" not in told
    assert "<td>Annotator 2</td><td>1 of 2</td>" in told
    app.selectbox(key="address-trial").select_index(1).run()
    assert app.query_params["trial"] in ("k2", ["k2"]), "the pair stands in the address"
    assert any("Two argue" in read(one.value) for one in app.markdown)


def test_it_is_said_when_nobody_is_left_for_its_pairs(open_page: Open, begun: fake_api.Project) -> None:
    assert not open_page().warning
    assert begun.trial is not None
    begun.trial = replace(begun.trial, people=tuple(replace(one, answered=2) for one in begun.trial.people))
    assert "nobody is left who may grade these pairs" in open_page().warning[0].value


def test_a_round_is_ended_and_stays_to_be_read(open_page: Open, begun: fake_api.Project) -> None:
    app = open_page()
    app.button(key="trial-end").click().run()
    assert begun.trial is not None
    assert begun.trial.ended_at is not None
    assert "trial-end" not in [button.key for button in app.button]
    assert app.button(key=BEGIN)
    assert "<td>4 0</td>" in html(app)
