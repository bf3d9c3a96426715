"""A release says under which version of the guideline its grades were given."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from backend.campaign.nouns import OPERATOR
from backend.campaign.qualification.guideline.versions import reword_guideline
from backend.campaign.release.export.freezing import export_release
from backend.campaign.release.export.rows import grades_by_guideline
from support import NOW, PARTLY, Judging


def test_grades_are_counted_by_the_version_that_stood_at_their_time(judging: Judging, tmp_path: Path) -> None:
    first, second, third = (pair.pair for pair in judging.pairs()[:3])
    for who in (0, 1):
        judging.grade(who, first, 3, at=NOW)
    grading = judging.project.campaign.grading
    reworded = replace(grading, reminders=("Look twice.",))
    judging.grade(0, second, 3, at=NOW + 9.5)
    reword_guideline(judging.project, judging.lead, reworded, "Shorter.", now=NOW + 10)
    judging.grade(1, second, 3, at=NOW + 10)
    for who in (0, 1):
        judging.grade(who, third, 2, at=NOW + 11)
    export_release(judging.project, OPERATOR, tmp_path / "out", PARTLY, now=NOW + 20)
    manifest = json.loads((tmp_path / "out" / "manifest.json").read_text())
    assert manifest["guideline"] == {"version": 2, "grades_by_version": {"1": 3, "2": 3}}
    assert "| grades by version of the guideline 1 / 2 | 3 / 3 |" in (tmp_path / "out" / "README.md").read_text()


@pytest.mark.parametrize(("noted", "wanted"), [(True, {1: 2, 2: 2}), (False, {1: 4, 2: 0})])
def test_grades_after_the_clock_was_set_back_are_of_the_new_version(
    judging: Judging, noted: bool, wanted: dict[int, int]
) -> None:
    """Versions of before ReelRank noted the last grade have nothing but their time."""
    first, second = (pair.pair for pair in judging.pairs()[:2])
    for who in (0, 1):
        judging.grade(who, first, 3, at=NOW)
    reworded = replace(judging.project.campaign.grading, reminders=("Look twice.",))
    reword_guideline(judging.project, judging.lead, reworded, "Shorter.", now=NOW + 1)
    for who in (0, 1):
        judging.grade(who, second, 3, at=NOW - 86_400)
    if not noted:
        judging.rows("DROP TRIGGER event_no_update")
        judging.rows("UPDATE event SET payload = '{}' WHERE kind = 'guideline_changed'")
    assert grades_by_guideline(judging.project.store.db) == wanted


def test_a_version_that_nobody_graded_under_is_named_all_the_same(judging: Judging, tmp_path: Path) -> None:
    for who in (0, 1):
        judging.grade(who, judging.pairs()[0].pair, 3)
    grading = judging.project.campaign.grading
    reword_guideline(judging.project, judging.lead, replace(grading, reminders=()), "None.", now=NOW + 10)
    export_release(judging.project, OPERATOR, tmp_path / "out", PARTLY, now=NOW + 20)
    manifest = json.loads((tmp_path / "out" / "manifest.json").read_text())
    assert manifest["guideline"] == {"version": 2, "grades_by_version": {"1": 2, "2": 0}}
