"""The published evaluators of QVHighlights, Charades-STA, ActivityNet and DiDeMo beside `--benchmark`: the same digits.

REELRANK_EVALUATORS is a folder of yours with copies of their repositories, each by its own name: `moment_detr`, `TALL`,
`2D-TAN`, `LGI4temporalgrounding`, `LocalizingMoments`. What is not there is left out. Some of them are of Python 2;
what keeps Python 3 from running them (print, map) is put right here, and nothing else.
"""

import contextlib
import io
import json
import operator
import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pytest

from backend.scoring.scored_files import score_files
from backend.scoring.views.ranking import figures
from bench.tables import table, timed
from golden_benchmarks import FOLDER

pytestmark = pytest.mark.bench

RECALLS, THETAS = (1, 5), (0.3, 0.5, 0.7)


def code(*path: str) -> str:
    """A file of a published evaluator."""
    folder = os.environ.get("REELRANK_EVALUATORS")
    if not folder:
        pytest.skip("REELRANK_EVALUATORS names no folder of published evaluators")
    found = Path(folder, *path)
    if not found.exists():
        pytest.skip(f"there is no {found}")
    return found.read_text(encoding="utf-8")


def recalls(share: Callable[[int, float], float]) -> dict[str, str]:
    return {f"R@{k}, IoU={theta}": f"{100 * share(k, theta):.2f}" for k in RECALLS for theta in THETAS}


def tall(truth: list[Any], run: Any) -> dict[str, str]:
    text = code("TALL", "main.py").expandtabs(4).replace("map(operator.sub, x2, x1)", "list(map(operator.sub, x2, x1))")
    names: dict[str, Any] = {"operator": operator, "np": np}
    exec(text[text.index("def calculate_IoU") : text.index("'''\nevaluate the model")], names)  # a copy of theirs

    def share(k: int, theta: float) -> float:
        found = 0.0
        for entry in truth:
            rows = np.array([row[1:] for row in run[entry["query_id"]]])
            moment = [f"v_{entry['start']}_{entry['end']}"]
            found += names["compute_IoU_recall_top_n_forreg"](k, theta, rows[None, :, 2], rows[None], moment, None)
        return found / len(truth)

    return recalls(share)


def two_d_tan(truth: list[Any], run: Any) -> dict[str, str]:
    config = SimpleNamespace(TEST=SimpleNamespace(TIOU="0.3,0.5,0.7", RECALL="1,5", NMS_THRESH=1.0))
    modules = {
        "core": {},
        "core.config": {"config": config, "update_config": None},
        "terminaltables": {"AsciiTable": 0},
    }
    with pytest.MonkeyPatch.context() as patch:
        for name, content in modules.items():
            module = ModuleType(name)
            vars(module).update(content)
            patch.setitem(sys.modules, name, module)
        names: dict[str, Any] = {"__name__": "published"}
        exec(code("2D-TAN", "lib", "core", "eval.py"), names)  # a copy of theirs
    lists = [[row[1:3] for row in run[entry["query_id"]]] for entry in truth]
    shares, mean = names["eval"](lists, [{"times": [entry["start"], entry["end"]]} for entry in truth])
    return recalls(lambda k, theta: shares[THETAS.index(theta)][RECALLS.index(k)]) | {"mIoU": f"{100 * mean:.2f}"}


def lgi(truth: list[Any], run: Any) -> dict[str, str]:
    names: dict[str, Any] = {"__name__": "published"}
    exec(code("LGI4temporalgrounding", "src", "utils", "eval_utils.py"), names)  # a copy of theirs
    one = names["TALLEvaluator"]()

    def share(k: int, theta: float) -> float:
        lists = [([row[1:3] for row in run[entry["query_id"]]], [entry["start"], entry["end"]]) for entry in truth]
        return sum(one.eval_instance(rows, moment, k)[0][str(theta)] for rows, moment in lists) / len(truth)

    return recalls(share)


def didemo(truth: list[Any], run: Any) -> dict[str, str]:
    text = re.sub(r'print (".*?") %(\w+)', r"print(\1 % \2)", code("LocalizingMoments", "utils", "eval.py"))
    names: dict[str, Any] = {"__name__": "published"}
    exec(text.expandtabs(8).replace("from utils import *", ""), names)  # a copy of theirs
    segments = [[(row[1] // 5, row[2] // 5 - 1) for row in entry["predictions"]] for entry in run]
    said = io.StringIO()
    with contextlib.redirect_stdout(said):
        names["eval_predictions"](segments, truth)
    return dict(line.split(": ", 1) for line in said.getvalue().splitlines())


def qvhighlights(truth: Path, run: Path, out: Path) -> dict[str, str]:
    folder = Path(os.environ["REELRANK_EVALUATORS"], "moment_detr")
    asked = ["--submission_path", run, "--gt_path", truth, "--save_path", out, "--not_verbose"]
    command = [sys.executable, "standalone_eval/eval.py", *map(str, asked)]
    subprocess.run(command, check=True, cwd=folder, env={**os.environ, "PYTHONPATH": str(folder)}, capture_output=True)
    return {name: f"{value:.2f}" for name, value in json.loads(out.read_text())["brief"].items()}


@pytest.mark.parametrize(
    ("name", "evaluator", "published"),
    [
        ("charades_sta", "TALL", tall),
        ("charades_sta", "2D-TAN", two_d_tan),
        ("activitynet", "LGI", lgi),
        ("activitynet", "2D-TAN", two_d_tan),
        ("didemo", "DiDeMo", didemo),
    ],
)
def test_the_golden_values_are_what_the_published_code_prints(
    name: str, evaluator: str, published: Callable[[list[Any], Any], dict[str, str]]
) -> None:
    golden = json.loads((FOLDER / f"{name}.json").read_text(encoding="utf-8"))
    assert published(golden["truth"], golden["run"]) == golden["printed"][evaluator]


def test_qvhighlights_of_the_golden_file_and_of_the_published_sample(tmp_path: Path) -> None:
    code("moment_detr", "standalone_eval", "eval.py")
    golden = json.loads((FOLDER / "qvhighlights.json").read_text(encoding="utf-8"))
    for part in ("truth", "run"):
        (tmp_path / part).write_text("".join(json.dumps(entry) + "\n" for entry in golden[part]))
    assert qvhighlights(tmp_path / "truth", tmp_path / "run", tmp_path / "out") == golden["printed"]["QVHighlights"]
    folder = Path(os.environ["REELRANK_EVALUATORS"], "moment_detr")
    truth, run = folder / "data/highlight_val_release.jsonl", folder / "standalone_eval/sample_val_preds.jsonl"
    theirs = timed(lambda: qvhighlights(truth, run, tmp_path / "sample"), runs=1)
    expected = {name: f"{value:.2f}" for name, value in json.loads((tmp_path / "sample").read_text())["brief"].items()}
    boards = []
    ours = timed(lambda: boards.append(score_files(truth, [run], benchmark="qvhighlights")), runs=3)
    assert {row[0].text: row[2].text for row in figures(boards[0].summary()).rows} == expected
    rows = [["published, 8 processes", f"{theirs:.1f} s"], ["--benchmark qvhighlights", f"{ours:.2f} s"]]
    table("QVHighlights' published sample, from files to figures", rows, ("numpy",), "what|measured")
