"""A campaign may have another scale: a kept one or a person's own file, refused as a whole and in words."""

import sqlite3
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from backend.campaign.nouns import Rounding
from backend.campaign.setup.project import rows as project_rows
from backend.campaign.setup.project import scale_file
from backend.campaign.setup.project.sentence_encoder import init_project
from backend.core.errors import InputError, ProjectError
from backend.store import sqlite
from backend.store.connection import writing
from backend.store.schema import migrations
from support import Judging, new_campaign

OWN = """
tolerance = 1
rounding = "half_down"
example_query = "A dog barks."
reminders = ["Listen."]

[[grades]]
label = "No"

[[grades]]
label = " Perhaps "
meaning = "One cannot tell"

[[grades]]
label = "Yes"
detail = "It barks."
example = "A dog barks at a cat."

[[questions]]
title = "Is there a dog?"
text = "Look for one."
"""


def test_a_project_may_be_made_with_two_grades(tmp_path: Path) -> None:
    project = init_project(tmp_path / "p", encoder="minilm", scale="matches")
    grading = project.campaign.grading
    assert [(one.grade, one.label) for one in grading.scale.meanings] == [(0, "Does not match"), (1, "Matches")]
    assert (grading.tolerance, grading.rounding) == (0, Rounding.HALF_UP)
    assert grading.questions
    assert grading.reminders
    assert grading == scale_file.load_scale("matches")


def test_a_scale_of_ones_own_is_read_back_as_it_was_written(tmp_path: Path) -> None:
    (tmp_path / "own.toml").write_text(OWN)
    grading = init_project(tmp_path / "p", encoder="minilm", scale=str(tmp_path / "own.toml")).campaign.grading
    assert [one.label for one in grading.scale.meanings] == ["No", "Perhaps", "Yes"]
    assert (grading.tolerance, grading.rounding, grading.example_query) == (1, Rounding.HALF_DOWN, "A dog barks.")
    assert [(one.title, one.text) for one in grading.questions] == [("Is there a dog?", "Look for one.")]
    assert grading.reminders == ("Listen.",)


def test_a_file_may_have_texts_in_other_languages_and_names_none_that_it_lacks(tmp_path: Path) -> None:
    file = tmp_path / "own.toml"
    file.write_text(OWN + '\n[translations.de]\n"Yes" = "Ja"\n"Listen." = "Hören Sie zu."\n')
    project = init_project(tmp_path / "p", encoder="lexical", scale=str(file))
    german = project.campaign.grading.in_language("de")
    assert [one.label for one in german.scale.meanings] == ["No", "Perhaps", "Ja"]
    assert (german.reminders, german.example_query) == (("Hören Sie zu.",), "A dog barks.")
    file.write_text(file.read_text().replace('"Yes" =', '"Yess" ='))
    with pytest.raises(InputError, match="'Yess' is no text of this guideline"):
        scale_file.read(file)


def test_without_a_scale_nothing_is_other_than_before(tmp_path: Path) -> None:
    assert init_project(tmp_path / "p", encoder="minilm").campaign == new_campaign()


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("tolerance = 1", "tolerance = 2", "tolerance is 2, so any two of the 3 grades would agree: write 0 to 1"),
        ("tolerance = 1", "", "missing required field `tolerance`"),
        ("half_down", "to_even", "to_even"),
        ('label = "No"', 'label = " "', "grade 0 has no label"),
        ('example_query = "A dog barks."', "", "has examples but no example_query: add the query that they belong to"),
        ('text = "Look for one."', "", "text"),
        ("tolerance = 1", "tolerance = 1\nseats = 3", "seats"),
        ("tolerance = 1", "tolerance = [", "own.toml"),
    ],
)
def test_what_no_scale_can_be_is_refused_and_no_project_is_made(tmp_path: Path, old: str, new: str, told: str) -> None:
    assert old in OWN
    (tmp_path / "own.toml").write_text(OWN.replace(old, new, 1))
    with pytest.raises(InputError) as refusal:
        init_project(tmp_path / "p", encoder="minilm", scale=str(tmp_path / "own.toml"))
    assert told in str(refusal.value)
    assert not (tmp_path / "p").exists()


def test_everything_that_is_wrong_is_told_at_once(tmp_path: Path) -> None:
    grades = "".join(f'[[grades]]\nlabel = "{label}"\n' for label in ("a", "b", "c", "d", "e", "A"))
    (tmp_path / "own.toml").write_text(f"tolerance = -1\n{grades}")
    with pytest.raises(InputError) as refusal:
        scale_file.load_scale(str(tmp_path / "own.toml"))
    assert [problem.message for problem in refusal.value.problems] == [
        "has 6 grades: a scale has 2 to 5",
        "tolerance is -1: write 0 or more",
        "2 grades have the label 'a'",
    ]


def test_a_name_that_nothing_has_is_refused_with_the_names_there_are(tmp_path: Path) -> None:
    with pytest.raises(ProjectError, match=r"stars is neither a scale nor a file: .* or one of matches"):
        init_project(tmp_path / "p", encoder="minilm", scale="stars")
    assert not (tmp_path / "p").exists()


def test_the_database_keeps_a_scale_out_once_somebody_has_graded(judging: Judging) -> None:
    project = judging.project
    judging.grade(0, judging.pairs()[0].pair, 3)
    with pytest.raises(sqlite3.IntegrityError, match="fixed once somebody has graded"), writing(project.store) as db:
        project_rows.set_grading(db, scale_file.load_scale("matches"))
    assert project.campaign.grading == new_campaign().grading


def test_a_project_from_before_says_to_annotators_what_it_always_said(tmp_path: Path) -> None:
    """The words of the guideline stood in the app until then."""
    store = sqlite.SqliteStore(tmp_path / "reelrank.db")
    migrations.apply(store.db, stop_before="m014_guideline")
    store.close()
    with closing(sqlite3.connect(tmp_path / "reelrank.db")) as db, db:
        db.execute("UPDATE campaign SET tolerance = 2, example_query = 'A cat.'")
    store = sqlite.SqliteStore(tmp_path / "reelrank.db")
    migrations.apply(store.db)
    grading = project_rows.grading(store.db)
    assert grading == replace(new_campaign().grading, tolerance=2, example_query="A cat.")
    assert [one.title for one in grading.questions] == [
        *("Do the actions match?", "Can you see it all?", "Is it all in the clip?")
    ]
    assert grading.reminders[0] == "A person alone is like a stop word: that somebody is there makes no clip relevant."
    assert grading.rounding is Rounding.HALF_UP
    store.close()
