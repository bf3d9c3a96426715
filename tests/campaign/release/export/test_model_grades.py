"""Grades of models in a release: only on request, in a file of their own, told as a model's, and checked."""

import hashlib
import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from backend.campaign.monitoring.model_judge import rows
from backend.campaign.monitoring.model_judge.model import AnswerOutcome, Judge, ModelAnswer
from backend.campaign.nouns import OPERATOR
from backend.campaign.release.export.freezing import export_release
from backend.campaign.release.export.importing import import_release
from backend.campaign.release.export.kept_releases import list_releases
from backend.campaign.release.export.model import ReleaseOptions
from backend.campaign.release.export.validating import validate_release
from backend.core.errors import ProjectError
from backend.core.ids import PairId
from backend.store.connection import writing
from support import NOW, PARTLY, Judging

FILE = "model-grades.json"
WITH = ReleaseOptions(unfinished=True, with_model_grades=True)
EYE, EAR = Judge("qqeye", "judge-1+0123456789ab"), Judge("qqear", "judge-1+ba9876543210")


@pytest.fixture
def settled(judging: Judging) -> Judging:
    """Ten pairs with a relevance."""
    for pair in judging.pairs()[:10]:
        for who in (0, 1):
            judging.grade(who, pair.pair, 2)
    return judging


def graded_by(judging: Judging, judge: Judge, *grades: int) -> None:
    """A model grades the first pairs, and fails at the next."""
    found = judging.rows("SELECT pair_id, text FROM pair JOIN query USING (query_id) ORDER BY pair_id")
    answers = [
        ModelAnswer(PairId(pair), text, AnswerOutcome.GRADED, grade, f"qqreason {grade}", 9, 9, None, NOW)
        for (pair, text), grade in zip(found, grades, strict=False)
    ]
    pair, text = found[len(grades)]
    failed = ModelAnswer(PairId(pair), text, AnswerOutcome.FAILED, None, "qqfailed", 9, 9, None, NOW)
    with writing(judging.project.store) as db:
        rows.add(db, judge, "eyes.example", [*answers, failed])


def files(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_a_release_is_the_same_byte_for_byte_whatever_models_said(settled: Judging, tmp_path: Path) -> None:
    export_release(settled.project, OPERATOR, tmp_path / "before", PARTLY, keep=False, now=NOW + 1)
    graded_by(settled, EYE, *[4] * 20)
    export_release(settled.project, OPERATOR, tmp_path / "after", PARTLY, keep=False, now=NOW + 500)
    assert files(tmp_path / "after") == files(tmp_path / "before")


def test_on_request_they_are_in_a_file_of_their_own_and_told_as_a_models(settled: Judging, tmp_path: Path) -> None:
    export_release(settled.project, OPERATOR, tmp_path / "plain", PARTLY, keep=False, now=NOW)
    graded_by(settled, EYE, 4, 0, 3)
    graded_by(settled, EAR, 1)
    export_release(settled.project, OPERATOR, tmp_path / "with", WITH, now=NOW)

    plain, released = files(tmp_path / "plain"), files(tmp_path / "with")
    assert released.keys() - plain.keys() == {FILE}
    changed = {name for name in plain if plain[name] != released[name]}
    assert changed == {"README.md", "manifest.json", "croissant.json"}
    ids = [row[0] for row in settled.rows("SELECT pair_id FROM pair ORDER BY pair_id LIMIT 3")]
    document = json.loads(released[FILE])
    assert document["about"].startswith("Grades that models gave, not people.")
    assert document["judges"] == [
        {
            **{"model": "qqear", "prompt_version": EAR.prompt_version},
            "grades": [{"pair_id": ids[0], "grade": 1, "reason": "qqreason 1"}],
        },
        {
            **{"model": "qqeye", "prompt_version": EYE.prompt_version},
            "grades": [
                {"pair_id": pair, "grade": grade, "reason": f"qqreason {grade}"}
                for pair, grade in zip(ids, (4, 0, 3), strict=True)
            ],
        },
    ]
    told = {"model": "qqeye", "prompt_version": EYE.prompt_version, "grades": 3}
    manifest = json.loads(released["manifest.json"])
    assert manifest["model_grades"]["file"] == FILE
    assert manifest["model_grades"]["part_of_the_truth"] is False
    assert told in manifest["model_grades"]["judges"]
    assert "model_grades" not in json.loads(plain["manifest.json"])
    card = released["README.md"].decode()
    assert "## Grades of models" in card
    assert "- `qqeye` (prompt `judge-1+0123456789ab`): 3 grades.\n" in card
    assert [name for name, data in released.items() if b"qqreason" in data] == [FILE]
    assert list_releases(settled.project, OPERATOR)[0].settings == ("with unfinished queries", "with grades of models")


def test_validate_knows_them_and_an_import_leaves_them_out(settled: Judging, tmp_path: Path) -> None:
    graded_by(settled, EYE, 4, 0, 3)
    export_release(settled.project, OPERATOR, tmp_path / "with", WITH, keep=False, now=NOW)
    report = validate_release(tmp_path / "with")
    assert report.clean
    assert report.found["model grades"] == 3
    assert f"{FILE}: 3 grades of models, apart from the truth" in report.checked
    import_release(tmp_path / "with", tmp_path / "again", now=NOW)


@pytest.mark.parametrize(
    ("edit", "problems"),
    [
        (lambda grades: grades[0].update(grade=5), ["grade 5 is not on the scale, 0 to 4"]),
        (lambda grades: grades[0].update(pair_id=9999), ["there is no such pair in the release"]),
        (lambda grades: grades.append(grades[1]), ["is graded twice"]),
        (lambda grades: grades[0].update(grade="4"), ["is no file of models' grades: "]),
        (lambda grades: grades[0].pop("reason"), ["is no file of models' grades: "]),
    ],
    ids=["scale", "pair", "twice", "text", "no reason"],
)
def test_what_is_wrong_with_them_is_named(
    settled: Judging, tmp_path: Path, edit: Callable[[Any], None], problems: list[str]
) -> None:
    graded_by(settled, EYE, 4, 0, 3)
    export_release(settled.project, OPERATOR, tmp_path / "with", WITH, keep=False, now=NOW)
    folder = Path(shutil.copytree(tmp_path / "with", tmp_path / "edited"))
    document = json.loads((folder / FILE).read_text())
    edit(document["judges"][0]["grades"])
    data = json.dumps(document).encode()
    (folder / FILE).write_bytes(data)
    manifest = json.loads((folder / "manifest.json").read_text())
    manifest["files"][FILE] = hashlib.sha256(data).hexdigest()
    (folder / "manifest.json").write_text(json.dumps(manifest))
    found = validate_release(folder).problems
    assert [problem.file for problem in found] == [FILE] * len(problems)
    assert all(words in str(problem) for words, problem in zip(problems, found, strict=True))


def test_without_a_grade_of_a_model_the_release_is_refused(settled: Judging, tmp_path: Path) -> None:
    with pytest.raises(ProjectError, match="no model has graded a pair yet"):
        export_release(settled.project, OPERATOR, tmp_path / "with", WITH, now=NOW)
    assert not (tmp_path / "with").exists()
