"""Notes with grades on the pages: leads read and answer them, their authors read the replies; against the fake api."""

import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

sys.path.insert(0, str(Path(__file__).parent))
import fake_api
from backend.campaign.judging.model import MyReply
from backend.campaign.nouns import Verdict
from backend.campaign.review.model import GivenNote, GivenReply
from backend.core.ids import QueryId
from reading import read

Open = Callable[..., AppTest]
HOSTILE = "<b>cup</b> *or* $x$ :smile: bowl?"


@pytest.fixture
def project(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> fake_api.Project:
    """Two pairs of the first query have a note, the second one answered."""
    fake_api.install(monkeypatch)
    made = fake_api.made_up(tmp_path)
    pairs = made.pairs[QueryId(1)]
    settled = [at for at, pair in enumerate(pairs) if pair.verdict is Verdict.CONSENSUS and len(pair.grades) > 1]
    answer = GivenReply(1, "Max", "Look *again*.", fake_api.NOON)
    for at, note in zip(settled[:2], (GivenNote(71, "Answered?", answer), GivenNote(72, HOSTILE)), strict=True):
        first, *others = pairs[at].grades
        pairs[at] = replace(pairs[at], grades=(replace(first, note=note), *others))
    return made


@pytest.fixture
def open_page(open_screen: Open) -> Open:
    """Opens one page as the lead, or as somebody else."""
    return open_screen


def notes_page(open_page: Open) -> AppTest:
    return open_page("disagreements", show="notes")


def said(app: AppTest) -> list[str]:
    """All Markdown of the page as a browser shows it."""
    return [read(element.value) for element in app.markdown]


def reply(app: AppTest, note: int, text: str) -> None:
    app.text_input(key=f"reply-text-{note}").input(text)
    (button,) = (one for one in app.button if str(one.key).startswith(f"FormSubmitter:reply-{note}-"))
    button.click().run()
    assert not app.exception


def test_notes_without_a_reply_come_first_and_are_counted(open_page: Open, project: fake_api.Project) -> None:
    app = notes_page(open_page)
    assert "Notes  1" in app.segmented_control(key="address-show").options
    assert "1 note without a reply; pairs with answered notes come last." in [read(one.value) for one in app.caption]
    whole = "\n".join(said(app))
    assert "**Ana** wrote with" in whole
    assert f"“{HOSTILE}”" in whole, "sign by sign: nothing of it is Markdown"
    assert "Answered?" not in whole
    app.button(key="case-next").click().run()
    whole = "\n".join(said(app))
    assert "Answered?" in whole
    assert "Max replied, " in whole
    assert "“Look *again*.”" in whole
    app.checkbox(key="dis_hide").check().run()
    whole = "\n".join(said(app))
    assert "**Annotator 1** wrote with" in whole
    assert "A lead replied, " in whole
    assert "Max" not in whole


def test_a_lead_replies_and_the_count_goes_down(open_page: Open, project: fake_api.Project) -> None:
    app = notes_page(open_page)
    reply(app, 72, "A bowl is <i>fine</i>.")
    assert app.toast[0].value == "Kept. They read it once the pair is settled for good."
    assert "Notes  0" in app.segmented_control(key="address-show").options
    assert any("“A bowl is <i>fine</i>.”" in one for one in said(app))
    assert app.text_input(key="reply-text-72").value == "", "the form for rewording begins empty"
    reply(app, 72, "A bowl is not.")
    assert any("“A bowl is not.”" in one for one in said(app))


def test_whose_reply_was_overtaken_keeps_their_words(open_page: Open, project: fake_api.Project) -> None:
    app = notes_page(open_page)
    fake_api.reply_to_note(project, project.people["Lea"], 72, "ask me", now=fake_api.NOON)
    reply(app, 72, "My own words.")
    assert read(app.error[0].value).startswith("Max replied just now: “<b>ask</b> me”")
    assert app.text_input(key="reply-text-72").value == "My own words."
    reply(app, 72, "My own words.")
    assert any("“My own words.”" in one for one in said(app))


def test_notes_stand_with_the_pair_wherever_leads_look_at_it(open_page: Open, project: fake_api.Project) -> None:
    decide = (Verdict.DISCARDED, Verdict.ESCALATED)
    pairs, at = next(
        (pairs, at) for pairs in project.pairs.values() for at, pair in enumerate(pairs) if pair.verdict in decide
    )
    first, *others = pairs[at].grades
    pairs[at] = replace(pairs[at], grades=(replace(first, note=GivenNote(73, "Beside a verdict")), *others))
    assert any("“Beside a verdict”" in one for one in said(open_page("disagreements", case=pairs[at].pair)))


def test_without_any_note_the_list_says_how_one_is_written(open_page: Open, project: fake_api.Project) -> None:
    project.pairs = {}
    assert "key N" in notes_page(open_page).success[0].value


def test_replies_reach_their_person_on_my_work(open_page: Open, project: fake_api.Project) -> None:
    project.replies = [
        MyReply(2, "A *new* query", 3, HOSTILE, "A <i>bowl</i>.", fake_api.NOON, is_new=True),
        MyReply(1, "An old query", 0, "Why?", "So.", fake_api.NOON, is_new=False),
    ]
    app = open_page("my_work", "Ana")
    whole = "\n".join(said(app))
    assert "A *new* query" in whole
    assert f"You wrote with 3: “{HOSTILE}”" in whole
    assert "“A <i>bowl</i>.”" in whole
    assert "Lea" not in whole, "who replied is a lead, no more"
    assert app.expander[0].label == "1 reply that you have read"
    assert not any(one.is_new for one in project.replies), "seen is read"
    app.run()
    assert sum("green-badge" in element.value for element in app.markdown) == 1, "still marked in this visit"
    assert open_page("my_work", "Ana").expander[0].label == "2 replies that you have read"


def test_my_work_says_nothing_of_replies_where_there_is_none(open_page: Open) -> None:
    assert "Replies to your notes" not in [element.value for element in open_page("my_work", "Ana").subheader]
