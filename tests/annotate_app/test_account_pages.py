"""The page My work, new links on the page People, and the way to the account, against the fake api."""

import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

sys.path.insert(0, str(Path(__file__).parent))
import annotate_app
import fake_api
from backend.campaign.nouns import Role

Open = Callable[..., AppTest]


@pytest.fixture
def project(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> fake_api.Project:
    fake_api.install(monkeypatch)
    return fake_api.made_up(tmp_path)


@pytest.fixture
def open_page(open_screen: Open) -> Open:
    """Opens one page as Ana, or as somebody else."""
    return lambda page, who="Ana": open_screen(page, who)


def words(app: AppTest) -> str:
    kinds = ("title", "subheader", "markdown", "caption", "info", "warning", "error")
    written = [element.value for kind in kinds for element in app.get(kind)]
    return "\n".join([*written, *(element.proto.body for element in app.get("html"))])


def test_my_work_shows_the_persons_own_numbers(open_page: Open) -> None:
    app = open_page("my_work")
    assert [title.value for title in app.title] == ["My work"]
    assert {metric.label: metric.value for metric in app.metric} == {
        "Today": "12",
        "Last 7 days": "214",
        "In all": "1,340",
        "Active time": "3 h 07 min",
        "Median a grade": "6.5 s",
        "Same as the relevance": "60%",
        "Within one grade": "95%",
        "Mean difference": "\N{MINUS SIGN}0.25",
    }
    assert [expander.label for expander in app.expander][:1] == ["How my time counts"]
    assert "<td>October 2025</td><td>1.10</td></tr><tr><td>September 2025</td><td>2.02</td>" in words(app)
    said = words(app)
    assert "On average you grade 0.25 below what was agreed: you are stricter." in said
    assert "Over 1,204 pairs that you graded and that are settled; open and escalated ones are left out." in said
    assert "You skipped 7 pairs" in said
    assert "This project has no exam" in said
    assert "402 <small>30%</small>" in said, "402 of 1340 grades are 3"
    assert 'href="/grade"' in said


def test_agreement_is_not_told_of_a_few_pairs(open_page: Open, project: fake_api.Project) -> None:
    project.work = replace(project.work, settled=9, agreement=None)
    app = open_page("my_work")
    assert (
        "Of your 1,340 pairs, 9 are settled for good. 36 had a grade in the last 15 minutes, which may still be taken "
        "back: what they come to counts here after that. 1,295 are waiting for other people's grades, or came to no "
        "common relevance. Agreement is shown from ten settled pairs on: fewer say little."
    ) in words(app)
    assert "Mean difference" not in [metric.label for metric in app.metric]


def test_nothing_settled_yet_says_what_it_waits_for_and_what_is_left_out(
    open_page: Open, project: fake_api.Project
) -> None:
    """As the page said "0 settled" while the lead saw 44, all graded within the last 15 minutes."""
    work = replace(project.work, in_all=44, settled=0, recent=44, imported=1, agreement=None)
    project.work = work
    assert (
        "Of your 44 pairs, 0 are settled for good. 44 had a grade in the last 15 minutes, which may still be taken "
        "back: what they come to counts here after that. 1 grade of an earlier campaign is not counted on this page."
    ) in words(open_page("my_work"))
    project.work = replace(work, in_all=1, settled=1, recent=0, imported=0)
    assert "Of your 1 pair, 1 is settled for good. Agreement is shown" in words(open_page("my_work"))


def test_who_has_not_graded_yet_is_told_so(open_page: Open, project: fake_api.Project) -> None:
    project.work = replace(project.work, in_all=0, grades=(0, 0, 0, 0, 0))
    app = open_page("my_work")
    assert "You have not graded anything yet." in words(app)
    assert not app.metric


def test_my_work_is_for_annotators(open_page: Open) -> None:
    assert "This page is for annotators. You are signed in as Lea (lead)." in words(open_page("my_work", "Lea"))


@pytest.mark.parametrize(
    ("difference", "sentence"),
    [
        (0.04, "You are neither stricter nor more generous than what was agreed."),
        (-0.04, "You are neither stricter nor more generous than what was agreed."),
        (0.5, "On average you grade 0.50 above what was agreed: you are more generous."),
        (-0.5, "On average you grade 0.50 below what was agreed: you are stricter."),
    ],
)
def test_a_higher_grade_than_agreed_is_generous(difference: float, sentence: str) -> None:
    from annotate_app.screens.my_work import leaning

    assert leaning(difference) == sentence


@pytest.mark.parametrize(
    ("seconds", "words"), [(0, "0 s"), (48.4, "48 s"), (60, "1 min"), (3599, "1 h 00 min"), (111_900, "31 h 05 min")]
)
def test_a_time_is_written_as_people_say_it(seconds: float, words: str) -> None:
    from annotate_app.screens.my_work import duration

    assert duration(seconds) == words


def test_a_forgotten_password_gets_a_new_link_that_is_shown_once(open_page: Open, project: fake_api.Project) -> None:
    project.invitations["invite-Ben"] = "Ben"
    app = open_page("people", "Lea")
    app.button(key="link-3").click().run()
    assert app.code[0].value.endswith("/session/invitation/again-Ben")
    assert "**Send this link to Ben**" in words(app)
    assert project.invitations == {"again-Ben": "Ben"}
    assert app.run().code.len == 0


def test_no_link_for_oneself_nor_for_who_is_suspended(open_page: Open) -> None:
    app = open_page("people", "Lea")
    assert [app.button(key=f"link-{number}").disabled for number in (1, 2, 3, 4)] == [True, False, False, True]


def test_a_link_asked_for_by_no_lead_any_more_is_not_made(open_page: Open, project: fake_api.Project) -> None:
    app = open_page("people", "Lea")
    project.people["Lea"] = replace(project.people["Lea"], role=Role.ANNOTATOR)
    app.button(key="link-3").click().run()
    assert project.invitations == {}


@pytest.mark.parametrize("who", ["Ana", "Lea"])
def test_the_name_in_the_header_leads_to_the_account(
    project: fake_api.Project, monkeypatch: pytest.MonkeyPatch, who: str
) -> None:
    from annotate_app.session import auth

    monkeypatch.setenv(auth.PROJECT_VARIABLE, str(project.folder))
    monkeypatch.setattr(auth, "token", lambda: f"token-of-{who}")
    app = AppTest.from_file(str(Path(annotate_app.__file__).with_name("main.py")), default_timeout=60).run()
    assert 'href="/session/account"' in words(app)
