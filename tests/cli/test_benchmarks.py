"""`reelrank evaluate --benchmark` and `reelrank measures benchmarks`."""

import csv
import io
import json
from pathlib import Path

from backend.scoring.benchmarks import BENCHMARKS
from cli.conftest import Run
from golden_benchmarks import read_golden


def test_one_command_prints_the_published_figures(reelrank: Run, tmp_path: Path) -> None:
    golden = read_golden("charades_sta", tmp_path)
    asked = ("evaluate", "--benchmark", "charades-sta", "--truth", golden.truth, "--run", golden.run)
    out = reelrank.out(*asked, "--json", tmp_path / "scores.json")
    assert "Charades-STA, in percent" in out
    assert "Evaluator: TALL" in out
    for figure, value in golden.printed["TALL"].items():
        (line,) = [line for line in out.splitlines() if line.startswith(figure)]
        assert line.split()[-1] == value
    found = json.loads((tmp_path / "scores.json").read_text())
    assert found["benchmark"]["name"] == "charades-sta"
    shares = found["runs"][0]["figures"]
    assert {name: f"{100 * shares[name]:.2f}" for name in golden.printed["TALL"]} == golden.printed["TALL"]


def test_every_benchmark_is_listed_and_described(reelrank: Run) -> None:
    out = reelrank.out("measures", "benchmarks")
    assert [line.split()[0] for line in out.splitlines()[1:]] == list(BENCHMARKS)
    for one in BENCHMARKS.values():
        out = reelrank.out("measures", "benchmarks", one.name)
        assert one.evaluator in out
        assert all(figure.name in out and (figure.key or figure.about) in out for figure in one.figures)


def test_an_unknown_benchmark_is_named_with_those_there_are(reelrank: Run) -> None:
    code, _, err = reelrank("measures", "benchmarks", "charades")
    assert code != 0
    assert "'charades' is not one of" in err
    assert "charades-sta" in err


def test_csv_markdown_and_latex_have_the_figures_too(reelrank: Run, tmp_path: Path) -> None:
    golden = read_golden("qvhighlights", tmp_path)
    asked = ("evaluate", "--benchmark", "qvhighlights", "--truth", golden.truth, "--run", golden.run, "--format")
    expected = golden.printed["QVHighlights"]
    _, out, _ = reelrank(*asked, "csv")
    rows = [row for row in csv.DictReader(io.StringIO(out)) if row["by"] == "figure"]
    assert {row["group"]: f"{100 * float(row['value']):.2f}" for row in rows} == expected
    _, out, _ = reelrank(*asked, "markdown")
    cells = [[cell.strip() for cell in line.split("|")[1:-1]] for line in out.splitlines() if line.startswith("| ")]
    assert {name: value for name, _, value in cells[2:]} == expected
    _, out, _ = reelrank(*asked, "latex")
    assert all(name.split("-")[-1] in out and f" {value} " in out for name, value in expected.items())
