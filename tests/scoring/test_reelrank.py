"""`import reelrank` for a researcher: what it gives, what it never loads, and that it needs nothing of POSIX."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import reelrank
from backend.scoring.evaluate import evaluate
from backend.scoring.scored_files import evaluate_files
from scored import write_files

ROOT = Path(__file__).parents[2]
HEAVY = (
    *("pandas", "torch", "sqlite3", "_sqlite3", "sqlite_utils", "av", "cv2", "sentence_transformers"),
    *("streamlit", "starlette", "altair", "vl_convert", "jinja2", "scipy", "typer", "rich", "argon2"),
)
POSIX = ("fcntl", "resource", "termios", "pwd", "grp")
BARRED = f"""
import importlib.abc, os, sys

class Barred(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {(*HEAVY, *POSIX)!r} or name.startswith(("backend.campaign", "backend.store")):
            raise ImportError(name + " is barred here")

sys.meta_path.insert(0, Barred())
for name in ("fork", "sched_getaffinity", "getuid", "geteuid", "sysconf"):
    delattr(os, name)
"""


def python(code: str, *arguments: object) -> str:
    found = subprocess.run(
        [sys.executable, "-c", code, *map(str, arguments)],
        capture_output=True,
        text=True,
        encoding="utf-8",
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        check=False,
    )
    assert found.returncode == 0, found.stderr
    return found.stdout


def test_it_is_the_same_function_as_that_of_the_api() -> None:
    assert reelrank.evaluate is evaluate
    for name in reelrank.__all__:
        assert getattr(reelrank, name) is not None
    assert set(reelrank.__all__) <= {*dir(reelrank), "__version__"}
    with pytest.raises(AttributeError, match="has no attribute 'evalute'"):
        reelrank.evalute  # type: ignore[attr-defined]  # noqa: B018  # the typing error is the point


def test_objects_and_files_are_scored_where_there_is_neither_a_campaign_nor_posix(tmp_path: Path) -> None:
    truth, runs = write_files(tmp_path)
    code = (
        BARRED
        + """
import json
from pathlib import Path
from reelrank import compare, evaluate, evaluate_files, score_files

truth = {"q": [{"video": "v", "start": 0, "end": 10, "relevance": 2}]}
run = {"q": [["v", 0, 2, 0.9], ["v", 0, 5, 0.8]]}
mean = evaluate(truth, run, k=[2], mu=[0.5], theta=[0.5])["mean"]
files = [Path(name) for name in sys.argv[1:]]
assert "tabular" in compare(truth, {"one": run, "two": run}).to_latex()
summary = evaluate_files(files[0], files[1:], k=[5])
board = score_files(files[0], files[1:], k=[5])
errors = board.summary(["show"], errors=True)["runs"][0]["errors"]["moments"]
print(json.dumps([mean, summary["runs"][0]["measures"], errors]))
"""
    )
    mean, measures, errors = json.loads(python(code, truth, *runs))
    assert mean == {
        "ndcg@2,0.5": pytest.approx(0.6309297535714575),
        **{"axiou_ap@2,0.5": 0.0, "recall@2,0.5": 1.0, "recall_gt@2,0.5": 0.0},
        **{"axiou@2": pytest.approx(0.35), "dcg@2": pytest.approx(0.2 + 0.5 * 0.6309297535714575)},
    }
    assert measures == evaluate_files(truth, runs, k=[5])["runs"][0]["measures"]
    assert errors > 0


def test_importing_it_loads_nothing_heavy() -> None:
    loaded = python("import reelrank, sys\nprint(*sys.modules)").split()
    assert not set(HEAVY) & set(loaded)
    assert not [name for name in loaded if name.startswith(("backend.campaign", "backend.store", "backend.api"))]


def test_the_class_for_campaigns_loads_nothing_heavy_until_one_is_opened() -> None:
    loaded = python("from reelrank import Campaign\nimport sys\nprint(*sys.modules)").split()
    assert not set(HEAVY) & set(loaded)
    assert not [name for name in loaded if name.startswith("backend.store")]


def test_what_is_barred_is_really_barred() -> None:
    """The test above would pass whatever the code did if the bar did not hold."""
    for name in ("sqlite3", "fcntl", "backend.campaign.nouns"):
        code = f"{BARRED}\ntry:\n    import {name}\nexcept ImportError as error:\n    print(error)"
        assert "is barred here" in python(code)
