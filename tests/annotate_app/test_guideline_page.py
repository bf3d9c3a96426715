"""The lead's page "Guideline" over a real project: words, versions, and what newcomers practise on."""

import json
import re
from collections.abc import Callable
from functools import partial

import pytest
from streamlit.testing.v1 import AppTest

from annotate_app import language
from annotate_app.shared import player
from backend.campaign.nouns import OPERATOR
from backend.campaign.qualification.guideline.practice_pairs import (
    answer_practice,
    choose_practice,
    practice_figures,
    practice_items,
    practice_offers,
    practice_texts,
)
from backend.campaign.qualification.guideline.rules import Example
from backend.campaign.qualification.guideline.versions import guideline_versions, reword_guideline
from backend.core.ids import MomentId, PairKey
from reading import words
from support import NOW, Judging

Open = Callable[..., AppTest]
WHY = "The hand is there."


@pytest.fixture
def open_page(judging: Judging, open_judging: Callable[..., AppTest]) -> Open:
    """Opens the page as the lead."""
    judging.rows("UPDATE video SET path = name")
    return partial(open_judging, "guideline")


def unsaved(app: AppTest) -> bool:
    """Whether the page warns of unsaved edits."""
    given = [json.loads(one.proto.json) for one in app.get("bidi_component") if one.proto.json]
    (changed,) = [one["changed"] for one in given if one.get("container") == ".st-key-guideline-words"]
    return bool(changed)


def press(app: AppTest, label: str) -> None:
    next(button for button in app.button if button.label == label).click().run()
    assert not app.exception


def test_texts_in_german_are_a_version_too_and_stay_when_english_is_reworded(judging: Judging, open_page: Open) -> None:
    app = open_page()
    app.toggle(key="words-1-de").set_value(True).run()
    app.text_input(key="words-1-de-4-label").set_value("Genau").run()
    app.text_input(key="words-1-de-ask-1").set_value("Passt es?").run()
    app.text_area(key="words-1-de-reminders").set_value("\nZweimal schauen.").run()
    app.radio(key="guideline-preview-language").set_value("de").run()
    app.text_input(key="words-1-reason").set_value("German too.").run()
    press(app, "Save as version 2")
    assert "Version 2 saved; 3 texts changed." in words(app)
    grading = judging.project.campaign.grading
    shown = {
        tag: player.guideline(judging.project.campaign, language=tag)["grades"][4]["label"] for tag in ("de", "en")
    }
    assert shown == {"de": "Genau", "en": grading.scale.label(4)}
    language.use("de")
    try:
        assert player.guideline(judging.project.campaign)["questions"][0]["title"] == "Passt es?"
    finally:
        language.use(None)
    label, asked, reminder = grading.scale.label(4), grading.questions[0].title, grading.reminders[1]
    assert grading.translations == {"de": {label: "Genau", asked: "Passt es?", reminder: "Zweimal schauen."}}
    table = next(one.proto.body for one in app.get("html") if "rr-changes" in one.proto.body)
    assert f"Grade 4, label (de)</td><td><del>{label}</del></td><td><ins>Genau</ins>" in table
    app.text_input(key="words-2-4-label").set_value("Perfect").run()
    app.text_input(key="words-2-reason").set_value("Shorter.").run()
    press(app, "Save as version 3")
    assert judging.project.campaign.grading.translations["de"]["Perfect"] == "Genau"
    app.text_input(key="words-3-de-4-label").set_value("Genau, und ohne jede Abweichung").run()
    app.text_input(key="words-3-reason").set_value("Longer.").run()
    press(app, "Save as version 4")
    assert "translations.de: the label of grade 4 has 31 characters: use at most 24, which fit on a button" in words(
        app
    )


def test_the_note_of_an_example_clip_is_translated_beside_the_words(judging: Judging, open_page: Open) -> None:
    lead, sql = judging.lead.annotator_id, "INSERT INTO example (grade, pair_id, note, lead_id, chosen_at) "
    judging.rows(f"{sql} VALUES (3, 1, ?, ?, ?)", WHY, lead, NOW)
    app = open_page()
    assert not unsaved(app)
    app.toggle(key="words-1-de").set_value(True).run()
    app.text_input(key="words-1-de-note-3").set_value("Die Hand ist da.").run()
    assert unsaved(app)
    app.text_input(key="words-1-reason").set_value("German too.").run()
    app.text_input(key="words-1-4-example").set_value("Well").run()  # as the label of grade 3
    app.text_input(key="words-1-de-3-label").set_value("Gut").run()
    press(app, "Save as version 2")
    assert judging.project.campaign.grading.translations == {"de": {WHY: "Die Hand ist da.", "Well": "Gut"}}
    example = Example(1, 3, PairKey("p"), "A cat.", WHY, showing=True)
    shown = player.guideline(judging.project.campaign, [example], "de")["grades"][3]["shown"]
    assert shown["note"] == "Die Hand ist da."
    judging.rows("UPDATE example SET withdrawn_at = ?", NOW)
    assert not unsaved(app.run()), "the translation stays, should the example come back"
    judging.rows(f"{sql} VALUES (3, 1, ?, ?, ?)", WHY, lead, NOW)
    app.run().text_input(key="words-2-de-note-3").set_value("").run()
    app.text_input(key="words-2-reason").set_value("No German note.").run()
    press(app, "Save as version 3")
    assert judging.project.campaign.grading.translations == {"de": {"Well": "Gut"}}


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
