"""No command loads what it does not use; imports were most of the time of those that people wait for."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from backend.campaign.setup.project.folder import Project
from scored import write_files

HEAVY = [
    "sqlite3",
    "sqlite_utils",
    "pandas",
    "pyarrow",
    "numpy",
    "scipy",
    "altair",
    "vl_convert",
    "av",
    "cv2",
    "torch",
    "rich",
    "faker",
    "openai",
]
RUN = f"""
import sys
from backend import cli
try:
    cli.main()
except SystemExit as leaving:
    code = leaving.code or 0
else:
    code = 0
sys.stderr.write(f"\\n{{[code, *(name for name in {HEAVY} if name in sys.modules)]!r}}")
"""


def loaded(*arguments: object) -> set[str]:
    """What of the heavy modules a command has loaded that ends well."""
    done = subprocess.run([sys.executable, "-c", RUN, *map(str, arguments)], capture_output=True, text=True, check=True)
    code, *names = json.loads(done.stderr.splitlines()[-1].replace("'", '"'))
    assert code == 0, done.stderr
    return set(names)


def test_help_loads_nothing() -> None:
    assert loaded("--help") == set()
    assert loaded("train", "--help") == set()


@pytest.mark.parametrize(
    ("command", "used"),
    [
        ("status DIR", {"rich"}),
        ("status DIR --json", set()),
        ("queries DIR --val 1 --test 1", set()),
        ("backup DIR DIR/monday.db", set()),
        ("doctor DIR", set()),
        ("users add DIR Zoe --role lead", set()),
    ],
)
def test_a_command_loads_the_database_and_what_it_uses(corpus_project: Project, command: str, used: set[str]) -> None:
    assert loaded(*command.replace("DIR", str(corpus_project.folder)).split()) == {"sqlite3", "sqlite_utils", *used}


def test_scoring_loads_no_database(tmp_path: Path) -> None:
    truth, runs = write_files(tmp_path)
    command = ["evaluate", "--truth", truth, "--run", runs[0], "--measure", "ndcg", "--json", "-"]
    assert loaded(*command) == {"numpy"}


def test_drawing_lots_needs_no_database_no_video_and_no_model(tmp_path: Path) -> None:
    truth = Path(__file__).parents[2] / "assets/example/val.json"
    assert loaded("baseline", "random", truth, tmp_path / "run.json") == {"numpy"}


def test_the_consensus_of_a_file_needs_no_database(tmp_path: Path) -> None:
    (tmp_path / "raw.csv").write_text("pair_id,worker,relevance\na,1,2\na,2,3\n")
    assert loaded("consensus", tmp_path / "raw.csv") == {"numpy"}


def test_the_row_of_a_corpus_needs_no_database() -> None:
    demo = Path(__file__).parents[2] / "assets/demo/moments.jsonl"
    assert loaded("stats", demo, "--format", "jsonl", "--json") == {"numpy"}


def test_a_release_of_anybody_needs_no_database(tmp_path: Path) -> None:
    (tmp_path / "val.json").write_text("[]")
    (tmp_path / "raw_annotation.csv").write_text("pair_id,worker,relevance\n1,1,2\n1,2,3\n")
    assert loaded("validate", tmp_path) == {"numpy"}


def test_who_imports_pandas_after_the_store_has_all_of_it() -> None:
    code = """
import sys
import dateutil.parser  # some versions bring a finder of their own
before = list(sys.meta_path)
from backend.store.engine import SqliteDatabase
assert "pandas" not in sys.modules and sys.meta_path == before
import pandas
from sqlite_utils import Database as Same
assert Same is SqliteDatabase and pandas.DataFrame({"a": [1]}).a.sum() == 1
"""
    subprocess.run([sys.executable, "-c", code], check=True)
