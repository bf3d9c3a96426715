"""The contracts of the layout break when they are crossed: each is crossed once in a copy, and must say so."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
CROSSED = {
    "Imports go one way": ("backend/scoring/tables.py", "import backend.api"),
    "The stages of a campaign are ordered": (
        "backend/campaign/corpus/importing/rows.py",
        "import backend.campaign.review.status",
    ),
    "The features of a stage are ordered": (
        "backend/campaign/corpus/captions/rewriting.py",
        "import backend.campaign.corpus.describing.work",
    ),
    "Scoring knows no campaign, no database, no video, no model": ("backend/scoring/evaluate.py", "import pandas"),
    "Rules are pure": ("backend/campaign/judging/rules.py", "import datetime"),
    "SQL in rows and in the store": ("backend/campaign/judging/grades.py", "import sqlite3"),
    "sqlite-utils is taken from the store's engine": ("backend/campaign/setup/people/rows.py", "import sqlite_utils"),
    "Pages and commands use verbs, models and rules": (
        "backend/cli/exam.py",
        "import backend.campaign.qualification.exam.rows.exams",
    ),
    "The back end does not know its front end": ("backend/cli/output.py", "import streamlit"),
    "Training is for training loops: nothing else here loads it": (
        "backend/campaign/selection/pools/negatives.py",
        "import backend.training",
    ),
    "Systems are asked for by releases and commands": (
        "backend/campaign/review/status.py",
        "import backend.systems.feature_files",
    ),
    "Pictures in media, models in encoders": ("backend/campaign/review/status.py", "import av"),
    "The front end is layered": ("annotate_app/session/auth.py", "import annotate_app.shared.look"),
    "No import cycles": ("backend/core/errors.py", "import backend.core.text_files"),
}


@pytest.fixture(scope="module")
def verdicts(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """KEPT or BROKEN of every contract, in a copy of the code in which every one is crossed."""
    copy = tmp_path_factory.mktemp("crossed")
    for package in ("annotate_app", "backend"):
        shutil.copytree(ROOT / package, copy / package, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "pyproject.toml", copy)
    for file, line in CROSSED.values():
        path = copy / file
        path.write_text(f"{path.read_text(encoding='utf-8')}\n{line}\n", encoding="utf-8")
    command = "from importlinter.cli import lint_imports_command; lint_imports_command()"
    done = subprocess.run(
        [sys.executable, "-c", command, "--no-cache"],
        cwd=copy,
        env={"PYTHONPATH": str(copy), "PATH": "", "COLUMNS": "200"},
        capture_output=True,
        text=True,
    )
    return dict(re.findall(r"^(\S.*) (KEPT|BROKEN)(?: \(.*\))?$", done.stdout, re.MULTILINE)) or {"": done.stderr}


@pytest.mark.parametrize("contract", CROSSED)
def test_a_contract_breaks_when_it_is_crossed(verdicts: dict[str, str], contract: str) -> None:
    assert verdicts[contract] == "BROKEN"


def test_every_contract_is_crossed_here(verdicts: dict[str, str]) -> None:
    assert set(verdicts) == set(CROSSED)
