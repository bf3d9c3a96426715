"""`reelrank evaluate` with many runs: names, several files, lists of runs, splits, percent."""

import csv
import io
import json
from pathlib import Path

import pytest

from backend.scoring.scored_files import evaluate_files
from cli.conftest import Run
from scored import write_files
from scoring.nine_runs import write_nine

NDCG = ("--measure", "ndcg", "--k", "5", "--mu", "0.5")


def test_runs_have_names_and_several_follow_one_option(reelrank: Run, tmp_path: Path) -> None:
    truth, (good, poor, other) = write_files(tmp_path)
    code, out, err = reelrank(
        "evaluate", "--run", f"Ours={good}", poor, f"The third={other}", "--truth", truth, *NDCG, "--json", "-"
    )
    assert (code, err) == (0, "")
    assert [run["name"] for run in json.loads(out)["runs"]] == ["Ours", "poor", "The third"]
    again = reelrank("evaluate", f"--run=Ours={good}", poor, *NDCG, "--run", f"The third={other}", "--truth", truth)
    assert "\npreset paper; 12 queries" in again[1]
    assert all(name in again[1] for name in ("Ours", "poor", "The third"))


def test_a_list_of_nine_runs_is_one_table_in_every_format(reelrank: Run, tmp_path: Path) -> None:
    runs = write_nine(tmp_path)
    asked = ("evaluate", "--runs", runs, *NDCG)
    result = json.loads(reelrank(*asked, "--json", "-")[1])
    assert {split: len(part["runs"]) for split, part in result["splits"].items()} == {"val": 9, "test": 9}
    expected = {
        split: evaluate_files(tmp_path / f"{split}.json", [tmp_path / f"XML_20_1_{split}.json"], k=[5], mu=[0.5])
        for split in ("val", "test")
    }
    means = [expected[split]["runs"][0]["measures"]["ndcg@5,0.5"] for split in ("val", "test")]
    _, shown, _ = reelrank(*asked, "--percent", "--digits", "1")
    assert "val: 12 queries, 72 moments; test: 9 queries, 54 moments" in shown
    (line,) = [line for line in shown.splitlines() if line.startswith("XML") and line.split()[1] == "20"]
    assert line.split() == ["XML", "20", "12", "/", "9", *(f"{100 * mean:.1f}" for mean in means)]
    _, markdown, _ = reelrank(*asked, "--format", "markdown")
    assert f"| XML | 20 | 12 / 9 | {means[0]:.4f} | {means[1]:.4f} |" in markdown
    assert "| model | Top N | queries | mu=0.5 val | mu=0.5 test |" in markdown
    _, latex, _ = reelrank(*asked, "--format", "latex", "--label", "tab:x", "--caption", "Mine & yours.")
    assert r"\caption{Mine \& yours. Preset paper; val: 12 queries" in latex
    assert r"\label{tab:x}" in latex
    assert r"\begin{table}[t]" in latex
    assert r"\begin{table*}[t]" in reelrank(*asked, "--format", "latex", "--wide")[1]
    rows = list(csv.DictReader(io.StringIO(reelrank(*asked, "--format", "csv")[1])))
    assert len(rows) == 18
    of_xml = {row["split"]: float(row["value"]) for row in rows if (row["model"], row["variant"]) == ("XML", "20")}
    assert of_xml == dict(zip(("val", "test"), means, strict=True))


def test_one_split_of_a_list_has_all_that_a_truth_has(reelrank: Run, tmp_path: Path) -> None:
    runs = write_nine(tmp_path)
    for option in ("--report", "--per-query"):
        code, _, err = reelrank("evaluate", "--runs", runs, *NDCG, option, tmp_path / "x.html")
        assert code == 2
        assert "works on one split: add --split with one of val, test" in " ".join(err.replace("│", " ").split())
    code, out, _ = reelrank(
        "evaluate", "--runs", runs, "--split", "test", *NDCG, "--per-query", tmp_path / "each.csv", "--json", "-"
    )
    assert code == 0
    assert json.loads(out)["truth"]["queries"] == 9
    assert len((tmp_path / "each.csv").read_text().splitlines()) == 1 + 9 * 9


def test_a_split_of_a_release_is_chosen_by_name(reelrank: Run, tmp_path: Path) -> None:
    runs = write_nine(tmp_path)
    text = runs.read_text().replace('truth = {val = "val.json", test = "test.json"}\n', "")
    (tmp_path / "bare.toml").write_text(text)
    asked = ("evaluate", "--runs", tmp_path / "bare.toml", "--truth", tmp_path, *NDCG, "--json", "-")
    assert json.loads(reelrank(*asked)[1]) == json.loads(reelrank("evaluate", "--runs", runs, *NDCG, "--json", "-")[1])
    of_val = ("evaluate", "--truth", tmp_path, "--run", tmp_path / "XML_1_1_val.json", *NDCG, "--json", "-")
    code, out, err = reelrank(*of_val, "--split", "val")
    assert (code, err, json.loads(out)["truth"]) == (0, "", {"queries": 12, "moments": 72})
    code, _, err = reelrank(*of_val, "--split", "dev")
    assert (code, err) == (1, f"reelrank: {tmp_path}: has no dev.json; it has val.json, test.json\n")
    study = ("measures", "model-selection", "--truth-val", tmp_path, "--truth-test", tmp_path, *NDCG)
    models = [f"{name}={tmp_path}/{name}_1_1_val.json,{tmp_path}/{name}_1_1_test.json" for name in ("XML", "CONQUER")]
    assert reelrank(*study, "--run", models[0], "--run", models[1], "--out", tmp_path / "study")[0] == 0


def test_a_list_without_a_truth_takes_the_one_given(reelrank: Run, tmp_path: Path) -> None:
    truth, (good, _, _) = write_files(tmp_path)
    (tmp_path / "runs.toml").write_text(f'[[run]]\nfile = "{good.name}"\nmodel = "Ours"\nseed = 1')
    code, out, _ = reelrank("evaluate", "--runs", tmp_path / "runs.toml", "--truth", truth, *NDCG)
    assert code == 0
    assert "Ours" in out
    code, _, err = reelrank("evaluate", "--runs", write_nine(tmp_path), "--truth", truth)
    assert code == 2
    assert "runs.toml names the truth already" in " ".join(err.replace("│", " ").split())


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ([], "give runs with --run, or a list of them with --runs"),
        (["--run", "a.json", "--runs", "b.toml"], "give runs with --run, or a list of them with --runs"),
        (["--run", "a.json", "--split", "val"], "needs a list of runs or a release: add --runs FILE.toml"),
        (["--run", "runs.toml"], "runs.toml is a list of runs; give it with --runs"),
        (
            ["--run", "a.json", "--benchmark", "charades-sta", "--digits", "1"],
            "has its own number format",
        ),
        (["--run", "a.json", "--percent", "--format", "csv"], "CSV always has full numbers"),
        (["--run", "a.json", "--percent", "--json", "-"], "JSON always has full numbers"),
        (["--run", "a.json", "--label", "tab:x"], "needs --format latex"),
        (["--run", "a.json", "--wide", "--format", "markdown"], "needs --format latex"),
        (["--run", "a.json", "b.json", "--split", "val"], "needs a list of runs"),
    ],
)
def test_what_does_not_go_together_is_wrong_usage(reelrank: Run, more: list[str], message: str) -> None:
    code, _, err = reelrank("evaluate", "--truth", "t.json", *more)
    assert code == 2
    assert message in " ".join(err.replace("│", " ").split())


def test_studies_take_names_and_several_files_too(reelrank: Run, tmp_path: Path) -> None:
    truth, (good, poor, _) = write_files(tmp_path)
    asked = ("--k", "5", "--measure", "ndcg", "--json", "--out", tmp_path / "ties")
    code, out, _ = reelrank("measures", "ties", "--run", f"Ours={good}", poor, "--truth", truth, *asked)
    assert code == 0
    assert "Ours" in out
    assert "poor" in out
