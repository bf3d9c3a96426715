"""The lead's page "Guideline" over a real project: words, versions, and what newcomers practise on."""

import re
from collections.abc import Callable
from functools import partial

import pytest
from streamlit.testing.v1 import AppTest

from backend.campaign.nouns import OPERATOR
from backend.campaign.qualification.guideline.practice_pairs import (
    answer_practice,
    choose_practice,
    practice_figures,
    practice_items,
    practice_offers,
    practice_texts,
)
from backend.campaign.qualification.guideline.versions import guideline_versions, reword_guideline
from backend.core.ids import MomentId
from reading import words
from support import NOW, Judging

Open = Callable[..., AppTest]
WHY = "The hand is there."


@pytest.fixture
def open_page(judging: Judging, open_judging: Callable[..., AppTest]) -> Open:
    """Opens the page as the lead."""
    judging.rows("UPDATE video SET path = name")
    return partial(open_judging, "guideline")


def press(app: AppTest, label: str) -> None:
    next(button for button in app.button if button.label == label).click().run()
    assert not app.exception


def test_words_are_saved_as_a_version_with_a_reason(judging: Judging, open_page: Open) -> None:
    app = open_page()
    app.text_input(key="words-1-3-label").set_value("Quite").run()
    app.text_input(key="words-1-ask-4").set_value("Is it <loud>?").run()
    app.text_input(key="words-1-asked-4").set_value("Listen.").run()
    app.text_area(key="words-1-reminders").set_value("Look twice.\n\n Look again. ").run()
    press(app, "Save as version 2")
    assert "a change needs a reason" in words(app)
    assert app.text_input(key="words-1-3-label").value == "Quite", "what was typed is still there"
    app.text_input(key="words-1-reason").set_value("Well was too wide.").run()
    press(app, "Save as version 2")
    assert re.search(r"Version 2 saved; \d texts changed\.", words(app))
    grading = judging.project.campaign.grading
    assert grading.scale.label(3) == "Quite"
    assert (grading.questions[3].title, grading.questions[3].text) == ("Is it <loud>?", "Listen.")
    assert grading.reminders == ("Look twice.", "Look again.")
    table = next(one.proto.body for one in app.get("html") if "rr-changes" in one.proto.body)
    assert "<del>Well</del>" in table
    assert "<ins>Is it &lt;loud&gt;? Listen.</ins>" in table
    assert guideline_versions(judging.project, OPERATOR)[-1].by == "Lea"


def test_an_emptied_question_is_taken_out_and_a_label_may_not_be_empty(judging: Judging, open_page: Open) -> None:
    app = open_page()
    app.text_input(key="words-1-ask-2").set_value("").run()
    app.text_input(key="words-1-asked-2").set_value("").run()
    app.text_input(key="words-1-0-label").set_value(" ").run()
    app.text_input(key="words-1-reason").set_value("Two are enough.").run()
    press(app, "Save as version 2")
    assert "grade 0 has no label" in words(app)
    app.text_input(key="words-1-0-label").set_value("Unrelated").run()
    press(app, "Save as version 2")
    titles = [one.title for one in judging.project.campaign.grading.questions]
    assert titles == ["Do the actions match?", "Is it all in the clip?"]


def test_a_lead_who_was_overtaken_is_told(judging: Judging, open_page: Open) -> None:
    app = open_page()
    from dataclasses import replace

    grading = judging.project.campaign.grading
    reword_guideline(judging.project, judging.lead, replace(grading, reminders=()), "None needed.", now=NOW)
    app.text_input(key="words-1-3-label").set_value("Quite")
    app.text_input(key="words-1-reason").set_value("Well was too wide.")
    press(app, "Save as version 2")
    assert "Lea changed the guideline in the meantime (version 2)" in words(app)
    assert judging.project.campaign.scale.label(3) == "Well"


def test_practice_is_chosen_among_moments_for_a_text_and_taken_out(judging: Judging, open_page: Open) -> None:
    app = open_page()
    assert "No practice pairs yet" in words(app)
    text = practice_texts(judging.project, judging.lead)[0]
    app.selectbox(key="practice-text").select(text).run()
    offers = practice_offers(judging.project, judging.lead, text)
    first = offers[0].moment_id
    app.selectbox(key=f"practice-grade-{first}").select(4)
    press(app, "Add")
    assert "needs an explanation" in words(app)
    app.selectbox(key=f"practice-grade-{first}").select(4)
    app.text_area(key=f"practice-why-{first}").set_value(WHY)
    press(app, "Add")
    (figures,) = practice_figures(judging.project, judging.lead, now=NOW)
    assert (figures.query, figures.grade, figures.explanation) == (text, 4, WHY)
    me = judging.annotators[0]
    (item,) = practice_items(judging.project, me, now=NOW)
    answer_practice(judging.project, me, item.pair, 0, "k", now=NOW)
    app.run()
    assert "1 of 1 missed it at first." in words(app)
    press(app, "Remove")
    assert practice_figures(judging.project, judging.lead, now=NOW) == []


def test_the_tutorial_is_switched_off_and_on(judging: Judging, open_page: Open) -> None:
    choose_practice(judging.project, judging.lead, "Somebody waves.", MomentId(1), 3, WHY, now=NOW)
    app = open_page()
    app.toggle(key="tutorial-on").set_value(False).run()
    assert not judging.project.campaign.tutorial
    app.toggle(key="tutorial-on").set_value(True).run()
    assert judging.project.campaign.tutorial
