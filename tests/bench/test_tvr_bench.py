"""TVR's published evaluator beside `--benchmark tvr`, on TVR's validation sentences: the same figures, and the time.

REELRANK_TVR_EVAL names `standalone_eval/eval.py` of jayleicn/TVRetrieval in a copy of yours; without it nothing runs.
"""

import importlib.util
import json
import os
import random
from pathlib import Path

import numpy as np
import pytest

from backend.scoring.scored_files import score_files
from backend.scoring.views.ranking import figures
from bench.tables import table, timed

PREDICTIONS = 20

pytestmark = pytest.mark.bench


@pytest.fixture
def evaluator():
    path = os.environ.get("REELRANK_TVR_EVAL")
    if not path:
        pytest.skip("REELRANK_TVR_EVAL names no published evaluator")
    spec = importlib.util.spec_from_file_location("published_tvr_eval", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    module.tqdm = lambda items, **_: items  # its progress bar would be timed too
    return module


def made_up(truth: list[dict]) -> dict:
    """Predictions of all tasks, many of which meet their moment at a threshold exactly."""
    rng = random.Random(1)
    names = sorted({line["vid_name"] for line in truth})
    index = {name: number + 9 for number, name in enumerate(names)}

    def moment(start: float, end: float) -> list[float]:
        if rng.random() < 0.3:
            return [start, round(start + (end - start) * rng.choice([0.5, 0.7]), 4)]
        near = [round((time + rng.uniform(-3, 3)) / 1.5) * 1.5 for time in (start, end)]
        return [max(0.0, near[0]), max(near[0], near[1], 0.0) + 1.5]

    def predictions(line: dict, task: str) -> list[list[float]]:
        found = []
        for rank in range(PREDICTIONS):
            own = task == "SVMR" or rng.random() < 0.3
            video = index[line["vid_name"] if own else rng.choice(names)]
            found.append([video, *([0, 0] if task == "VR" else moment(*line["ts"])), float(-rank)])
        return found

    tasks = {
        task: [{"desc_id": line["desc_id"], "predictions": predictions(line, task)} for line in truth]
        for task in ("VCMR", "SVMR", "VR")
    }
    return {"video2idx": index, **tasks}


def test_every_figure_is_the_published_one(
    evaluator, shared: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(np, "bool", np.bool_, raising=False)  # what it was called when that code was written
    path = shared / "data" / "tvr" / "tvr_val_release.jsonl"
    truth = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    run = made_up(truth)
    (tmp_path / "run.json").write_text(json.dumps(run))
    printed = evaluator.eval_retrieval(run, truth, verbose=False)
    expected = {
        f"{task.removesuffix('_by_type')} {name}": f"{value:.2f}"
        for task, of_task in printed.items()
        for name, value in of_task.items()
        if name != "desc_type_ratio"
    }
    summary = score_files(path, [tmp_path / "run.json"], benchmark="tvr").summary()
    assert {row[0].text: row[2].text for row in figures(summary).rows} == expected
    alone = timed(lambda: evaluator.eval_retrieval(run, truth, verbose=False), 1)
    ours = timed(lambda: score_files(path, [tmp_path / "run.json"], benchmark="tvr"), 3)
    rows = [
        ("the published evaluator alone", f"{alone:.1f} s"),
        ("`--benchmark tvr`, from files", f"{ours:.1f} s"),
    ]
    table(
        f"TVR: {len(truth):,} sentences, three tasks, {PREDICTIONS} predictions each", rows, ["numpy"], "what|measured"
    )
