"""The lead's page Gold, against the fake api: settings, how people stand, the answers behind a pause, letting go on."""

import json
import re
import sys
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

sys.path.insert(0, str(Path(__file__).parent))
import fake_api
from backend.campaign.qualification.gold.questions import GoldAnswer, GoldPerson
from backend.campaign.qualification.gold.rows import GoldFinding, GoldGrade
from backend.campaign.qualification.gold.rules import Consequence
from backend.campaign.setup.people.model import Pause
from backend.core.ids import PairKey, QueryId
from reading import read

Open = Callable[..., AppTest]
WHY = "Gold: 9 of 20 answers agree with the known grade, fewer than 50 %. The page Gold shows them."


def answer(number: int, own: int, right: int, note: str = "") -> GoldAnswer:
    query = "A woman puts a <b>cup</b> on the table"
    given = GoldGrade(number, PairKey(f"key10{number}"), QueryId(1), query, own, right, fake_api.NOON, note)
    return GoldAnswer(given, abs(own - right) <= 1, True)


@pytest.fixture
def project(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> fake_api.Project:
    fake_api.install(monkeypatch)
    return fake_api.made_up(tmp_path)


@pytest.fixture
def at_work(project: fake_api.Project) -> fake_api.Project:
    """Ana is paused, Ben was told, Cem has answered nothing."""
    people, settings = project.people, replace(project.gold.settings, on=True)
    project.gold = replace(project.gold, pairs=50, grades=(10, 10, 10, 10, 10), settings=settings)
    paused = GoldFinding(Consequence.PAUSED, 20, 9, 2, 300, fake_api.NOON)
    warned = GoldFinding(Consequence.WARNED, 10, 6, 0, 200, fake_api.NOON)
    project.pauses[people["Ana"].annotator_id] = Pause(fake_api.NOON, None, WHY)
    answers = (answer(1, 3, 4), answer(2, 0, 4, "is this a *cup*?"))
    project.golden = [
        GoldPerson(people["Ana"], answers, 0, 0, None, (paused,), Pause(fake_api.NOON, None, WHY), 10),
        GoldPerson(people["Ben"], (answer(3, 2, 2),) * 12, 11, 12, 100 * 11 / 12, (warned,), None, 0),
        GoldPerson(people["Cem"], (), 0, 0, None, (), None, 50),
    ]
    return project


@pytest.fixture
def open_page(open_screen: Open) -> Open:
    """Opens the page as the lead, or as somebody else."""
    return partial(open_screen, "gold")


def words(app: AppTest) -> str:
    kinds = ("title", "subheader", "markdown", "caption", "info", "warning", "error", "success", "text")
    written = [element.value for kind in kinds for element in app.get(kind)]
    return read("\n".join([*written, *(element.proto.body for element in app.get("html"))]))


def mounted(app: AppTest) -> str:
    """The list of answers."""
    found = [json.loads(one.proto.json).get("html", "") for one in app.get("bidi_component") if one.proto.json]
    return next(text for text in found if "aria-label='Answers'" in text)


def test_without_gold_the_page_says_what_it_is_and_offers_it(open_page: Open, project: fake_api.Project) -> None:
    app = open_page()
    assert "Gold is pairs whose grade is known, among everybody's work" in words(app)
    assert not app.tabs
    app.number_input(key="gold_share").set_value(7.5)
    app.number_input(key="gold_pairs").set_value(80)
    app.number_input(key="gold_warn").set_value(75.0)
    app.button[0].click().run()
    settings = project.gold.settings
    assert (settings.on, settings.share, settings.warn, settings.window) == (True, 0.075, 75, 20)
    assert "Gold is chosen from 80 pairs from now on." in words(app)
    assert "**7.5 % of everybody's pairs**" in words(app)


def test_who_is_paused_stands_with_the_reason_and_goes_on_by_a_press(
    open_page: Open, at_work: fake_api.Project
) -> None:
    app = open_page()
    assert WHY in words(app)
    assert "11 of the last 12 agree (91.7 %); 12 answers in all. They have met every gold pair: bring more." in words(
        app
    )
    assert "No answer yet." in words(app)
    who = at_work.people["Ana"].annotator_id
    assert [button.key for button in app.button if button.key and button.key.startswith("gold-go-on")] == [
        f"gold-go-on-{who}"
    ]
    # What led to it comes first, the worst answer before the others.
    assert app.selectbox(key="address-who").value == str(who)
    assert re.findall(r">(\d)</span> known [^>]*>(\d)</span> (far off|agrees)", mounted(app)) == [
        ("0", "4", "far off"),
        ("3", "4", "agrees"),
    ]
    assert "A woman puts a <b>cup</b> on the table" in words(app)
    assert "Note: “is this a *cup*?”" in words(app)
    chosen = open_page(answer="1")
    assert "Note:" not in words(chosen), "the address says which answer is on show"
    assert re.findall(r"data-opens='(\d+)' aria-current", mounted(chosen)) == ["1"]
    app.button(key=f"gold-go-on-{who}").click().run()
    assert not app.exception
    assert not at_work.pauses
    app.button(key="gold-off").click().run()
    assert "No gold is mixed into anybody's work just now." in words(app)


def test_the_page_is_for_leads(open_page: Open, at_work: fake_api.Project) -> None:
    app = open_page("Ana")
    assert WHY not in words(app)
    assert "This page is for leads." in words(app)


def test_gold_that_one_grade_alone_would_pass_is_said(open_page: Open, at_work: fake_api.Project) -> None:
    at_work.gold = replace(at_work.gold, constant=1, constant_right=80.0)
    app = open_page()
    assert "Whoever always gives 1 agrees with 80 % of it, and is not told" in words(app)
