"""A release says under which version of the guideline its grades were given."""

import json
from dataclasses import replace
from pathlib import Path

from backend.campaign.nouns import OPERATOR
from backend.campaign.qualification.guideline.versions import reword_guideline
from backend.campaign.release.export.freezing import export_release
from support import NOW, PARTLY, Judging


def test_grades_are_counted_by_the_version_that_stood_at_their_time(judging: Judging, tmp_path: Path) -> None:
    first, second, third = (pair.pair for pair in judging.pairs()[:3])
    for who in (0, 1):
        judging.grade(who, first, 3, at=NOW)
    grading = judging.project.campaign.grading
    reworded = replace(grading, reminders=("Look twice.",))
    reword_guideline(judging.project, judging.lead, reworded, "Shorter.", now=NOW + 10)
    judging.grade(0, second, 3, at=NOW + 9.5)
    judging.grade(1, second, 3, at=NOW + 10)
    for who in (0, 1):
        judging.grade(who, third, 2, at=NOW + 11)
    export_release(judging.project, OPERATOR, tmp_path / "out", PARTLY, now=NOW + 20)
    manifest = json.loads((tmp_path / "out" / "manifest.json").read_text())
    assert manifest["guideline"] == {"version": 2, "grades_by_version": {"1": 3, "2": 3}}
    assert "| grades by version of the guideline 1 / 2 | 3 / 3 |" in (tmp_path / "out" / "README.md").read_text()


def test_a_version_that_nobody_graded_under_is_named_all_the_same(judging: Judging, tmp_path: Path) -> None:
    for who in (0, 1):
        judging.grade(who, judging.pairs()[0].pair, 3)
    grading = judging.project.campaign.grading
    reword_guideline(judging.project, judging.lead, replace(grading, reminders=()), "None.", now=NOW + 10)
    export_release(judging.project, OPERATOR, tmp_path / "out", PARTLY, now=NOW + 20)
    manifest = json.loads((tmp_path / "out" / "manifest.json").read_text())
    assert manifest["guideline"] == {"version": 2, "grades_by_version": {"1": 2, "2": 0}}
