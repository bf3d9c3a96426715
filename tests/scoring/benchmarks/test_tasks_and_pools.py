"""Benchmarks of several tasks (TVR) and in pools (MVMR), beside their printed digits."""

import json
from pathlib import Path
from typing import Any

import pytest

from backend.core.errors import InputError
from backend.scoring.evaluate import evaluate
from backend.scoring.pools.model import PoolConventions, PoolFile
from backend.scoring.scored_files import score_files
from backend.scoring.views.ranking import figures
from golden_benchmarks import Golden, read_golden, score


@pytest.fixture
def tvr(tmp_path: Path) -> Golden:
    return read_golden("tvr", tmp_path)


@pytest.fixture
def mvmr(tmp_path: Path) -> Golden:
    return read_golden("mvmr", tmp_path)


def in_pools(golden: Golden, **options: Any) -> dict[str, str]:
    pool = PoolFile(golden.truth, PoolConventions())
    summary = score_files(None, [golden.run], benchmark="mvmr", pool=pool, **options).summary()
    return {row[0].text: row[2].text for row in figures(summary).rows}


def with_tasks(golden: Golden, folder: Path, *tasks: str) -> Path:
    content = json.loads(golden.run.read_text())
    path = folder / f"{'_'.join(tasks)}.json"
    path.write_text(json.dumps({key: content[key] for key in ("video2idx", *tasks)}))
    return path


class TestTasks:
    def test_a_task_that_a_file_lacks_has_no_figures_and_the_others_are_the_same(self, tvr: Golden, tmp_path: Path):
        (tmp_path / "fewer").mkdir()
        fewer = Golden(tvr.truth, with_tasks(tvr, tmp_path, "SVMR", "VR"), {})
        found, whole = score("tvr", fewer), score("tvr", tvr)
        assert {value for name, value in found.items() if name.startswith("VCMR")} == {"-"}
        rest = {name for name in whole if not name.startswith("VCMR")}
        assert {name: found[name] for name in rest} == {name: whole[name] for name in rest}

    def test_runs_without_a_task_in_common_are_refused(self, tvr: Golden, tmp_path: Path):
        runs = [with_tasks(tvr, tmp_path, "VCMR"), with_tasks(tvr, tmp_path, "SVMR")]
        with pytest.raises(InputError, match="share no part of the benchmark"):
            score_files(tvr.truth, runs, benchmark="tvr")

    def test_a_run_of_another_form_is_one_of_the_corpus(self, tvr: Golden, tmp_path: Path):
        content = json.loads(tvr.run.read_text())
        names = {index: name for name, index in content["video2idx"].items()}
        rows = {
            entry["desc_id"]: [[names[video], *rest] for video, *rest in entry["predictions"]]
            for entry in content["VCMR"]
        }
        (tmp_path / "plain.json").write_text(json.dumps(rows))
        found = score("tvr", Golden(tvr.truth, tmp_path / "plain.json", {}))
        expected = {name: text for name, text in tvr.printed["TVR"].items() if name.startswith("VCMR")}
        assert {name: found[name] for name in expected} == expected
        assert found["SVMR 0.5-r1"] == found["VR r1"] == "-"

    def test_without_types_there_are_no_figures_of_them(self, tvr: Golden, tmp_path: Path):
        lines = [json.loads(line) for line in tvr.truth.read_text().splitlines()]
        for line in lines:
            del line["type"]
        (tmp_path / "untyped.jsonl").write_text("\n".join(map(json.dumps, lines)))
        found = score("tvr", Golden(tmp_path / "untyped.jsonl", tvr.run, {}))
        assert found["VCMR 0.5-r1"] == tvr.printed["TVR"]["VCMR 0.5-r1"]
        assert found["VCMR v-0.5-r1"] == found["VR vt-r1"] == "-"

    def test_every_task_must_answer_every_sentence_and_no_other(self, tvr: Golden, tmp_path: Path):
        content = json.loads(tvr.run.read_text())
        content["VR"] = content["VR"][1:]
        (tmp_path / "gap.json").write_text(json.dumps(content))
        with pytest.raises(InputError, match="query 500 is missing"):
            score("tvr", Golden(tvr.truth, tmp_path / "gap.json", {}))


class TestPools:
    @pytest.mark.parametrize(("evaluator", "options"), [("MVMR", {}), ("MVMR, NMS 0.5", {"nms": 0.5})])
    def test_every_printed_digit_is_that_of_the_published_evaluator(
        self, mvmr: Golden, evaluator: str, options: dict[str, Any]
    ):
        expected = mvmr.printed[evaluator]
        found = in_pools(mvmr, **options)
        assert {name: found[name] for name in expected} == expected

    def test_it_needs_pools_and_no_truth(self, mvmr: Golden):
        for truth, pool in [(mvmr.truth, None), (mvmr.truth, PoolFile(mvmr.truth, PoolConventions()))]:
            with pytest.raises(InputError, match="mvmr takes its truth from the pools"):
                score_files(truth, [mvmr.run], benchmark="mvmr", pool=pool)

    def test_other_benchmarks_have_no_pools(self, mvmr: Golden):
        with pytest.raises(InputError, match="leave these and pools out"):
            score_files(None, [mvmr.run], benchmark="tvr", pool=PoolFile(mvmr.truth, PoolConventions()))


class TestPython:
    """The same from Python, by paths and by what the files hold."""

    def test_all_tasks_of_a_run_are_scored(self, tvr: Golden):
        content = json.loads(tvr.run.read_text())
        for run in (tvr.run, content):
            shares = evaluate(tvr.truth, run, benchmark="tvr").summary["runs"][0]["figures"]
            assert {name: f"{100 * shares[name]:.2f}" for name in tvr.printed["TVR"]} == tvr.printed["TVR"]

    def test_pools_are_given_in_place_of_a_truth(self, mvmr: Golden):
        shares = evaluate(None, mvmr.run, pools=mvmr.truth, benchmark="mvmr").summary["runs"][0]["figures"]
        assert {name: f"{100 * share:.2f}" for name, share in shares.items()} == mvmr.printed["MVMR"]
        with pytest.raises(InputError, match="mvmr takes its truth from the pools"):
            evaluate(mvmr.truth, mvmr.run, benchmark="mvmr")
