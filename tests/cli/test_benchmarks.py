"""`reelrank evaluate --benchmark` and `reelrank measures benchmarks`."""

import json
from collections.abc import Callable
from pathlib import Path

from backend.scoring.benchmarks import BENCHMARKS
from golden_benchmarks import read_golden

Run = Callable[..., tuple[int, str, str]]


def test_one_command_prints_the_published_figures(reelrank: Run, tmp_path: Path) -> None:
    golden = read_golden("charades_sta", tmp_path)
    asked = ("evaluate", "--benchmark", "charades-sta", "--truth", golden.truth, "--run", golden.run)
    code, out, err = reelrank(*asked, "--json", tmp_path / "scores.json")
    assert (code, err) == (0, "")
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
    code, out, _ = reelrank("measures", "benchmarks")
    assert code == 0
    assert [line.split()[0] for line in out.splitlines()[1:]] == list(BENCHMARKS)
    for one in BENCHMARKS.values():
        code, out, _ = reelrank("measures", "benchmarks", one.name)
        assert code == 0
        assert one.evaluator in out
        assert all(figure.name in out and (figure.key or figure.about) in out for figure in one.figures)


def test_an_unknown_benchmark_is_named_with_those_there_are(reelrank: Run) -> None:
    code, _, err = reelrank("measures", "benchmarks", "charades")
    assert code != 0
    assert "'charades' is not one of" in err
    assert "charades-sta" in err
