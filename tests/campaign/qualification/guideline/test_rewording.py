"""The guideline's words: what two versions differ in, what a lead may change when, what annotators are told of it."""

import re
import sqlite3
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backend.campaign.nouns import OPERATOR, Role, Scale
from backend.campaign.qualification.guideline.rules import Change, Reading, changes, to_read
from backend.campaign.qualification.guideline.versions import (
    guideline_news,
    guideline_readers,
    guideline_versions,
    note_guideline_seen,
    reword_guideline,
    set_guideline_from_file,
)
from backend.campaign.setup.people import accounts as people
from backend.campaign.setup.project.model import Grading, Question
from backend.campaign.setup.project.sentence_encoder import init_project
from backend.core.errors import InputError, Overtaken, ProjectError
from support import NOW, Judging, new_campaign

WHY = "Grade 3 was too wide."
OLD = new_campaign().grading


def relabelled(grading: Grading, grade: int, label: str) -> Grading:
    meanings = tuple(replace(one, label=label) if one.grade == grade else one for one in grading.scale.meanings)
    return replace(grading, scale=Scale(meanings))


def test_what_differs_is_named_in_the_order_of_reading() -> None:
    new = replace(
        relabelled(OLD, 3, "Quite"),
        questions=(Question("What is done?", "Look twice."), *OLD.questions),
        reminders=OLD.reminders[:1] + OLD.reminders[2:],
        example_query="A cat sleeps.",
    )
    assert changes(OLD, new) == [
        Change("Question 1", "", "What is done? Look twice."),
        Change("Grade 3, label", "Well", "Quite"),
        Change("Query of the examples", "A woman pours coffee into a red cup.", "A cat sleeps."),
        Change("Reminder 2", "It is fine if nothing is relevant. A query may have no good clip at all.", ""),
    ]


TEXTS = st.lists(st.sampled_from("abcd"), max_size=5).map(tuple)


@given(TEXTS, TEXTS)
def test_only_texts_that_differ_are_told_and_all_of_them(before: tuple[str, ...], after: tuple[str, ...]) -> None:
    told = changes(replace(OLD, reminders=before), replace(OLD, reminders=after))
    assert (told == []) == (before == after)
    assert all(one.before != one.after for one in told)
    kept = len(after) - sum(bool(one.after) for one in told)
    assert kept == len(before) - sum(bool(one.before) for one in told)


@pytest.mark.parametrize(
    ("seen", "present", "tutorial", "expected"),
    [
        (None, 1, True, Reading.FIRST),
        (None, 4, True, Reading.FIRST),
        (None, 4, False, None),
        (1, 1, True, None),
        (1, 2, True, Reading.CHANGED),
        (1, 4, False, Reading.CHANGED),
    ],
)
def test_who_has_to_read_what(seen: int | None, present: int, tutorial: bool, expected: Reading | None) -> None:
    assert to_read(seen, present, tutorial=tutorial) is expected


def test_words_change_at_any_time_and_every_version_stays(judging: Judging) -> None:
    project, lead = judging.project, judging.lead
    judging.grade(0, judging.pairs()[0].pair, 3)
    number, changed = reword_guideline(project, lead, relabelled(OLD, 3, "Quite"), f" {WHY} ", now=NOW + 5)
    assert (number, [one.where for one in changed]) == (2, ["Grade 3, label"])
    assert project.campaign.scale.label(3) == "Quite"
    first, second = guideline_versions(project, OPERATOR)
    assert (first.version, first.since, first.by, first.reason, first.grading) == (1, None, None, "", OLD)
    assert (second.since, second.by, second.reason) == (NOW + 5, lead.name, WHY)
    assert second.grading == project.campaign.grading
    db = project.store.db.conn
    assert db.execute("SELECT payload FROM event WHERE kind = 'guideline_changed'").fetchone()[0] == (
        '{"version":2,"reason":"Grade 3 was too wide.","changed":["Grade 3, label"],"judgement":1}'
    )
    for statement in ("UPDATE guideline_version SET reason = 'x' WHERE version = 2", "DELETE FROM guideline_version"):
        with pytest.raises(sqlite3.IntegrityError, match="a version of the guideline is never changed"):
            db.execute(statement)


def test_once_somebody_graded_numbers_stay(judging: Judging) -> None:
    fewer = replace(OLD, scale=Scale(OLD.scale.meanings[:4]), tolerance=2)
    judging.grade(0, judging.pairs()[0].pair, 3)
    with pytest.raises(InputError) as refused:
        reword_guideline(judging.project, judging.lead, fewer, WHY, now=NOW)
    assert [problem.message for problem in refused.value.problems] == [
        "has 4 grades, but this campaign has 5, and somebody has graded",
        "tolerance is 2, but this campaign has 1, and somebody has graded",
    ]
    assert judging.project.campaign.grading == OLD


def test_before_anybody_graded_the_number_of_grades_may_change(judging: Judging) -> None:
    fewer = replace(OLD, scale=Scale(OLD.scale.meanings[:4]))
    reword_guideline(judging.project, judging.lead, fewer, WHY, now=NOW)
    assert judging.project.campaign.grading == fewer


def test_what_cannot_be_is_refused_and_nothing_changes(judging: Judging) -> None:
    project, lead = judging.project, judging.lead
    with pytest.raises(InputError, match="2 grades have the label 'touches'"):
        reword_guideline(project, lead, relabelled(OLD, 3, "Touches"), WHY, now=NOW)
    with pytest.raises(ProjectError, match="a change needs a reason"):
        reword_guideline(project, lead, relabelled(OLD, 3, "Quite"), " ", now=NOW)
    with pytest.raises(ProjectError, match="the reason has 201 characters"):
        reword_guideline(project, lead, relabelled(OLD, 3, "Quite"), "x" * 201, now=NOW)
    with pytest.raises(ProjectError, match="nothing changed"):
        reword_guideline(project, lead, OLD, WHY, now=NOW)
    assert len(guideline_versions(project, OPERATOR)) == 1
    assert project.campaign.grading == OLD


def test_of_two_leads_at_once_the_second_is_told(judging: Judging) -> None:
    reword_guideline(judging.project, judging.lead, relabelled(OLD, 3, "Quite"), WHY, now=NOW, based_on=1)
    with pytest.raises(Overtaken, match=r"Lea changed the guideline in the meantime \(version 2\)"):
        reword_guideline(judging.project, judging.lead, relabelled(OLD, 3, "Good"), WHY, now=NOW, based_on=1)


def test_news_are_those_since_the_version_that_somebody_knows(judging: Judging) -> None:
    project, lead, person = judging.project, judging.lead, judging.annotators[0]
    assert guideline_news(project, person) is None
    reword_guideline(project, lead, relabelled(OLD, 3, "Quite"), WHY, now=NOW)
    reword_guideline(project, lead, relabelled(relabelled(OLD, 3, "Good"), 0, "No"), "Shorter.", now=NOW)
    news = guideline_news(project, person)
    assert (news.version, list(news.reasons)) == (3, [WHY, "Shorter."])
    assert [(one.where, one.before, one.after) for one in news.changes] == [
        ("Grade 3, label", "Well", "Good"),
        ("Grade 0, label", "Unrelated", "No"),
    ]
    note_guideline_seen(project, person, 2, now=NOW)
    later = guideline_news(project, person)
    assert list(later.reasons) == ["Shorter."]
    note_guideline_seen(project, person, 3, now=NOW)
    note_guideline_seen(project, person, 3, now=NOW + 9)  # twice changes nothing
    assert guideline_news(project, person) is None
    assert guideline_readers(project, lead) == {1: 3, 3: 1}
    with pytest.raises(ProjectError, match="the guideline has no version 4"):
        note_guideline_seen(project, person, 4, now=NOW)


def test_somebody_new_has_no_news(judging: Judging) -> None:
    new = people.add(judging.project.store, OPERATOR, "Nova", Role.ANNOTATOR, now=NOW)
    reword_guideline(judging.project, judging.lead, relabelled(OLD, 3, "Quite"), WHY, now=NOW)
    assert guideline_news(judging.project, new) is None


def test_another_scale_from_the_beginning_is_the_first_version(tmp_path: Path) -> None:
    project = init_project(tmp_path / "p", encoder="minilm", scale="matches")
    (version,) = guideline_versions(project, OPERATOR)
    assert (version.version, version.grading) == (1, project.campaign.grading)
    assert len(version.grading.scale.meanings) == 2


GERMAN = {"Well": "Gut", OLD.questions[0].title: "Passt es?"}


def test_a_text_in_another_language_is_a_version_that_both_readers_count_in(judging: Judging) -> None:
    project, (reader, other, *_) = judging.project, judging.annotators
    new = replace(OLD, translations={"de": GERMAN})
    number, changed = reword_guideline(project, judging.lead, new, "German too", now=NOW)
    question = f"{OLD.questions[0].title} {OLD.questions[0].text}"
    german = f"Passt es? {OLD.questions[0].text}"
    assert changed == [Change("Question 1 (de)", question, german), Change("Grade 3, label (de)", "Well", "Gut")]
    assert project.campaign.grading == new
    assert guideline_versions(project, OPERATOR)[-1].grading == new
    assert [one.where for one in guideline_news(project, reader, "de").changes] == ["Question 1", "Grade 3, label"]
    assert (guideline_news(project, other, "en").reasons, guideline_news(project, other, "en").changes) == (
        ["German too"],
        [],
    )
    for person in (reader, other):
        note_guideline_seen(project, person, number, now=NOW)
    assert guideline_readers(project, OPERATOR) == {1: 2, number: 2}


def test_the_note_of_an_example_may_be_translated_and_no_other_one(judging: Judging, tmp_path: Path) -> None:
    lead, note = judging.lead.annotator_id, "The hand is there."
    judging.rows(
        "INSERT INTO example (grade, pair_id, note, lead_id, chosen_at) VALUES (3, 1, ?, ?, ?)", note, lead, NOW
    )
    new = replace(OLD, translations={"de": {note: "Die Hand ist da."}})
    _, changed = reword_guideline(judging.project, judging.lead, new, "German too", now=NOW)
    assert changed == [Change("Note “The hand is there.” (de)", "", "Die Hand ist da.")]
    assert new.told(note, "de") == "Die Hand ist da."
    file = tmp_path / "own.toml"
    texts = [f'[[grades]]\nlabel = "{one.label}"\n' for one in OLD.scale.meanings]
    file.write_text(f'tolerance = 1\n{"".join(texts)}[translations.de]\n"{note}" = "Die Hand."\n')
    set_guideline_from_file(judging.project, OPERATOR, file, WHY, now=NOW)
    assert judging.project.campaign.grading.translations == {"de": {note: "Die Hand."}}
    judging.rows("UPDATE example SET withdrawn_at = ?", NOW)
    with pytest.raises(ProjectError, match="This was done at"):
        set_guideline_from_file(judging.project, OPERATOR, file, WHY, now=NOW)
    with pytest.raises(ProjectError, match="nothing changed"):
        set_guideline_from_file(judging.project, OPERATOR, file, f"{WHY} Or so.", now=NOW)
    file.write_text(file.read_text().replace("The hand is", "A hand is"))
    with pytest.raises(InputError, match=r"'A hand is there\.' is no text of this guideline"):
        set_guideline_from_file(judging.project, OPERATOR, file, WHY, now=NOW)


def test_a_text_without_a_translation_stays_as_it_is() -> None:
    german = replace(OLD, translations={"de": GERMAN}).in_language("de")
    assert [one.label for one in german.scale.meanings][2:4] == [OLD.scale.label(2), "Gut"]
    assert (german.questions[0].title, german.questions[1:]) == ("Passt es?", OLD.questions[1:])
    assert replace(german, scale=OLD.scale, questions=OLD.questions) == OLD
    assert replace(OLD, translations={"de": GERMAN}).in_language("fr") == OLD


@pytest.mark.parametrize(
    ("texts", "told"),
    [
        ({"Good": "Gut"}, "translations.de: 'Good' is no text of this guideline"),
        ({"": "Gut"}, "translations.de: '' is no text of this guideline"),
        ({"Well": " "}, "translations.de: grade 3 has no label"),
        (
            {"Well": "x" * 25},
            "translations.de: the label of grade 3 has 25 characters: use at most 24, which fit on a button",
        ),
        ({"Well": OLD.scale.label(2)}, "translations.de: 2 grades have the label"),
    ],
)
def test_a_translation_that_cannot_be_shown_is_refused(judging: Judging, texts: dict[str, str], told: str) -> None:
    with pytest.raises(InputError, match=re.escape(told)):
        reword_guideline(judging.project, judging.lead, replace(OLD, translations={"de": texts}), WHY, now=NOW)
    assert len(guideline_versions(judging.project, OPERATOR)) == 1
