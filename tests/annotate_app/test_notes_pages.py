"""Notes with grades on the pages: leads read and answer them, their authors read the replies."""

from collections.abc import Callable

import pytest
from streamlit.testing.v1 import AppTest

from backend.campaign.review.adjudicating import my_replies, read_replies, reply_to_note
from reading import mounted, read
from small_project import ESCALATED, SmallProject
from support import NOW

Open = Callable[..., AppTest]
HOSTILE = "<b>cup</b> *or* $x$ :smile: bowl?"


@pytest.fixture
def note(real_project: SmallProject) -> int:
    """Two pairs of the first query have a note of Ana's; the first is answered, this is the other one."""
    answered = real_project.note("Ana", 1, 1, "Answered?")
    reply_to_note(real_project.project, real_project.other_lead, answered, "Look *again*.", now=NOW)
    return real_project.note("Ana", 1, 2, HOSTILE)


def notes_page(open_page_of: Open) -> AppTest:
    return open_page_of("disputes", show="notes")


def said(app: AppTest) -> list[str]:
    """All Markdown of the page as a browser shows it."""
    return [read(element.value) for element in app.markdown]


def reply(app: AppTest, note: int, text: str) -> None:
    app.text_input(key=f"reply-text-{note}").input(text)
    (button,) = (one for one in app.button if str(one.key).startswith(f"FormSubmitter:reply-{note}-"))
    button.click().run()
    assert not app.exception


@pytest.mark.usefixtures("note")
def test_notes_without_a_reply_come_first_and_are_counted(open_page_of: Open) -> None:
    app = notes_page(open_page_of)
    assert "Notes  1" in app.segmented_control(key="address-show").options
    assert "1 note without a reply. Pairs with answered notes come last." in [read(one.value) for one in app.caption]
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


@pytest.mark.usefixtures("note")
def test_the_note_comes_first_above_its_pair_and_in_the_list(open_page_of: Open) -> None:
    app = notes_page(open_page_of)
    (wrote,) = (nth for nth, one in enumerate(said(app)) if "**Ana** wrote with" in one)
    (why,) = (nth for nth, one in enumerate(said(app)) if "their mean" in one)
    assert wrote < why, "how the pair was settled comes below"
    assert "“&lt;b&gt;cup&lt;/b&gt; *or* $x$ :smile: bowl?”</b>" in mounted(app, "aria-label='Cases'")


def test_a_lead_replies_and_the_count_goes_down(open_page_of: Open, note: int) -> None:
    app = notes_page(open_page_of)
    reply(app, note, "A bowl is <i>fine</i>.")
    assert read(app.success[0].value) == "Reply saved. The annotator sees it once the pair is settled for good."
    assert "Notes  0" in app.segmented_control(key="address-show").options
    assert any("“A bowl is <i>fine</i>.”" in one for one in said(app))
    assert app.text_input(key=f"reply-text-{note}").value == "", "the form for rewording begins empty"
    reply(app, note, "A bowl is not.")
    assert any("“A bowl is not.”" in one for one in said(app))


def test_whose_reply_was_overtaken_keeps_their_words(open_page_of: Open, real_project: SmallProject, note: int) -> None:
    app = notes_page(open_page_of)
    reply_to_note(real_project.project, real_project.other_lead, note, "<b>ask</b> me", now=NOW)
    reply(app, note, "My own words.")
    assert read(app.error[0].value).startswith("Max replied just now: “<b>ask</b> me”")
    assert app.text_input(key=f"reply-text-{note}").value == "My own words."
    reply(app, note, "My own words.")
    assert any("“My own words.”" in one for one in said(app))


def test_notes_stand_with_the_pair_wherever_leads_look_at_it(open_page_of: Open, real_project: SmallProject) -> None:
    real_project.note("Ben", 3, ESCALATED[0], "Beside a verdict")
    pair = real_project.pair(3, ESCALATED[0])
    assert any("“Beside a verdict”" in one for one in said(open_page_of("disputes", case=pair.pair)))


def test_without_any_note_the_list_says_how_one_is_written(open_page_of: Open) -> None:
    assert "key N" in notes_page(open_page_of).success[0].value


def test_replies_reach_their_person_on_my_work(open_page_of: Open, real_project: SmallProject) -> None:
    project, lead, ana = real_project.project, real_project.lead, real_project.person("Ana")
    real_project.sql("UPDATE query SET text = 'A *new* query' WHERE query_id = 1")
    reply_to_note(project, lead, real_project.note("Ana", 2, 5, "Why?"), "So.", now=NOW)
    read_replies(project, ana, now=NOW)
    reply_to_note(project, lead, real_project.note("Ana", 1, 3, HOSTILE), "A <i>bowl</i>.", now=NOW)
    app = open_page_of("my_work", "Ana")
    whole = "\n".join(said(app))
    assert "A *new* query" in whole
    assert f"You wrote with 3: “{HOSTILE}”" in whole
    assert "“A <i>bowl</i>.”" in whole
    assert "Lea" not in whole, "who replied is a lead, no more"
    assert app.expander[0].label == "1 reply that you have read"
    assert not any(one.is_new for one in my_replies(project, ana, now=NOW)), "seen is read"
    app.run()
    assert sum("green-badge" in element.value for element in app.markdown) == 1, "still marked in this visit"
    assert open_page_of("my_work", "Ana").expander[0].label == "2 replies that you have read"


def test_my_work_says_nothing_of_replies_where_there_is_none(open_page_of: Open) -> None:
    assert "Replies to your notes" not in [element.value for element in open_page_of("my_work", "Ana").header]
