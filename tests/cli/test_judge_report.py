"""`reelrank judge report`: it prints what the verb computes, writes the pairs that differ, and says what is wrong."""

import json
from pathlib import Path

import pytest

from backend.campaign.nouns import OPERATOR
from backend.campaign.release.board.kept_runs import add_run
from backend.campaign.release.judge_report.measuring import judge_report
from cli.conftest import Run
from model_grades import JUDGE, says
from support import NOW, Judging


@pytest.fixture
def measured(judging: Judging, tmp_path: Path) -> Judging:
    """All pairs settled by two, a model that is often one off, and three runs."""
    pairs = judging.pairs()
    for number, pair in enumerate(pairs):
        judging.grade(0, pair.pair, number % 5)
        judging.grade(1, pair.pair, min(number % 5 + number % 2, 4))
    says(judging.project, {pair.pair_id: (number * 3 + number % 5) % 5 for number, pair in enumerate(pairs)})
    for shift in range(3):
        run: dict[str, list[list[object]]] = {}
        for pair in [*pairs[shift * 7 :], *pairs[: shift * 7]]:
            run.setdefault(str(pair.query_id), []).append([pair.video, pair.start_s, pair.end_s])
        (tmp_path / f"run{shift}.json").write_text(json.dumps(run))
        add_run(judging.project, OPERATOR, tmp_path / f"run{shift}.json", now=NOW)
    return judging


def test_json_has_every_figure_of_the_report(reelrank: Run, measured: Judging) -> None:
    found = json.loads(reelrank.out("judge", "report", measured.project.folder, "--json", "--splits", "2"))
    report = judge_report(measured.project, OPERATOR, JUDGE, splits=2)
    assert found["judge"] == {"model": "eye-1", "prompt_version": "judge-1"}
    assert (found["pairs"], found["queries"], found["splits"]) == (60, 3, 2)
    for key, figure in report.figures.items():
        assert found["figures"][key]["value"] == pytest.approx(figure.value)
    assert found["confusion"] == [list(row) for row in report.confusion]
    assert [order["change"]["key"] for order in found["orders"]] == [order.change.key for order in report.orders]
    assert [order["change"]["tau"] for order in found["orders"]] == [order.change.tau for order in report.orders]


def test_the_printed_tables_have_the_same_figures(reelrank: Run, measured: Judging, tmp_path: Path) -> None:
    out = tmp_path / "differences.csv"
    printed = reelrank.out("judge", "report", measured.project.folder, "--splits", "2", "--differences", out)
    report = judge_report(measured.project, OPERATOR, JUDGE, splits=2)
    lines = [" ".join(line.split()) for line in printed.splitlines()]
    assert lines[0] == "eye-1, prompt judge-1: 60 pairs of 3 queries compared with people."
    kappa = report.figures["kappa_quadratic"]
    bounds = f"{kappa.low:.3f} to {kappa.high:.3f}"
    assert f"Kappa, quadratic: model and relevance {kappa.value:.3f} {bounds} 60 model grades" in lines
    for grade, row in enumerate(report.confusion):
        assert " ".join(map(str, [grade, *row])) in lines
    for order in report.orders:
        (line,) = [line for line in lines if line.startswith(f"{order.change.key} ")]
        assert line.split()[1] == ("-" if order.change.tau is None else f"{order.change.tau:.3f}")
        assert line.endswith("none") == (order.change.swap is None)
    assert f"{report.apart} pairs differ by 2 or more" in printed
    assert len(out.read_text().splitlines()) == report.apart + 1


def test_what_cannot_be_measured_is_refused_in_a_sentence(reelrank: Run, judging: Judging, tmp_path: Path) -> None:
    code, out, err = reelrank("judge", "report", judging.project.folder)
    assert (code, out) == (1, "")
    assert "no model has graded pairs of this project: run `reelrank judge`" in err
    says(judging.project, {judging.pairs()[0].pair_id: 3})
    code, out, err = reelrank("judge", "report", judging.project.folder)
    assert (code, out) == (1, "")
    assert "no pair that eye-1 graded is settled by two people or more" in err
    (tmp_path / "there.csv").touch()
    code, _, err = reelrank("judge", "report", judging.project.folder, "--differences", tmp_path / "there.csv")
    assert code == 2
    assert "exists already" in err
