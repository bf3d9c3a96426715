"""The page My work, new links on the page People, and the way to the account."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

import annotate_app
from backend.campaign.monitoring.quality.flags import my_work
from backend.campaign.setup.people.accounts import invited, new_invitation
from reading import words
from small_project import OPEN, SmallProject
from support import NOW

Open = Callable[..., AppTest]


def grade_open_pairs(project: SmallProject, *people: int) -> None:
    """These annotators, by their places, grade the pairs that are open, just now."""
    for rank in OPEN:
        for who in people:
            project.grade(who, project.pair(3, rank).pair, 2)


def test_my_work_shows_the_persons_own_numbers(open_page_of: Open) -> None:
    app = open_page_of("my_work", "Ben")
    assert [title.value for title in app.title] == ["My work"]
    assert {metric.label: metric.value for metric in app.metric} == {
        "Today": "0",
        "Last 7 days": "55",
        "In all": "55",
        "Active time": "5 min",
        "Median a grade": "6.0 s",
        # By hand: of 50 settled pairs Ben gave 22 one less than Ana, which is half a grade below their mean.
        "Same as the relevance": "56%",
        "Within one grade": "100%",
        "Mean difference": "\N{MINUS SIGN}0.22",
    }
    assert [expander.label for expander in app.expander][:1] == ["How my time counts"]
    said = words(app)
    assert "<td>September 2026</td><td>0.09</td>" in said
    assert "On average you grade 0.22 below what was agreed: you are stricter." in said
    assert "Over 50 pairs that you graded and that are settled; open and escalated ones are left out." in said
    assert "You skipped no pair; a skip is never a grade." in said
    assert "This project has no exam" in said
    assert "14 <small>25%</small>" in said, "14 of 55 grades are 3"
    assert 'href="/grade"' in said
    assert "You skipped 1 pair; a skip is never a grade." in words(open_page_of("my_work", "Ana"))


def test_agreement_is_not_told_of_a_few_pairs(open_page_of: Open) -> None:
    app = open_page_of("my_work", "Dee")
    assert (
        "Of your 1 pair, 0 are settled for good. 1 is waiting for other people's grades, or came to no common "
        "relevance. Agreement is shown from ten settled pairs on: fewer say little."
    ) in words(app)
    assert "Mean difference" not in [metric.label for metric in app.metric]


def test_nothing_settled_yet_says_what_it_waits_for_and_what_is_left_out(
    open_page_of: Open, real_project: SmallProject
) -> None:
    """As the page said "0 settled" while the lead saw 44, all graded within the last 15 minutes."""
    from annotate_app.screens.my_work import settlement

    dee, ben = (real_project.annotators.index(real_project.person(name)) for name in ("Dee", "Ben"))
    grade_open_pairs(real_project, dee, ben)
    assert {real_project.pair(3, rank).verdict for rank in OPEN} == {"consensus"}, "what the lead sees"
    assert (
        "Of your 4 pairs, 0 are settled for good. 3 had a grade in the last 15 minutes, which may still be taken "
        "back: what they come to counts here after that. 1 is waiting"
    ) in words(open_page_of("my_work", "Dee"))
    work = my_work(real_project.project, real_project.person("Dee"), now=NOW)
    assert settlement(replace(work, imported=1, in_all=1_340)).endswith(
        " 1,337 are waiting for other people's grades, or came to no common relevance."
        " 1 grade of an earlier campaign is not counted on this page."
    )
    assert settlement(replace(work, in_all=1, settled=1, recent=0)) == "Of your 1 pair, 1 is settled for good."


def test_who_has_not_graded_yet_is_told_so(open_page_of: Open, real_project: SmallProject) -> None:
    real_project.join("Fay")
    app = open_page_of("my_work", "Fay")
    assert "You have not graded anything yet." in words(app)
    assert not app.metric


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


def test_a_forgotten_password_gets_a_new_link_that_stays_until_it_is_dismissed(
    open_page_of: Open, real_project: SmallProject
) -> None:
    ben, project = real_project.person("Ben"), real_project.project
    _, lost = new_invitation(project, real_project.lead, ben.annotator_id, now=NOW)
    app = open_page_of("people", "Lea")
    app.button(key="link-3").click().run()
    _, _, token = app.session_state["invitations"][0].url.partition("/session/invitation/")
    assert invited(project, token, now=NOW) == ben
    assert invited(project, lost, now=NOW) is None
    assert "**Send this link to Ben**" in words(app.run())
    next(button for button in app.button if button.label == "Dismiss").click().run()
    assert "**Send this link to Ben**" not in words(app)


def test_no_link_for_oneself_nor_for_who_is_suspended(open_page_of: Open) -> None:
    app = open_page_of("people", "Lea")
    assert [app.button(key=f"link-{number}").disabled for number in (1, 2, 3, 4)] == [True, False, False, True]


@pytest.mark.parametrize("who", ["Ana", "Lea"])
def test_the_name_in_the_header_leads_to_the_account(browser_of: Callable[[str], None], who: str) -> None:
    browser_of(who)
    app = AppTest.from_file(str(Path(annotate_app.__file__).with_name("main.py")), default_timeout=60).run()
    assert 'href="/session/account"' in words(app)
