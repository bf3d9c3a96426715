"""One table of a paper: what stands in its cells, and that LaTeX takes it."""

import json
import random
import re
import shutil
import statistics
import subprocess
from pathlib import Path
from typing import Any

import pytest

from backend.scoring import run_files, scored_files
from backend.scoring.statistics.sureness import Sureness, add_statistics
from backend.scoring.tables import SCORE_FORMATS
from backend.scoring.views import table as views_table
from backend.scoring.views.splits import joined as joined_scores
from scored import write_files
from scoring.nine_runs import MODELS, SPLITS, VARIANTS, write_nine

KEYS = [f"ndcg@20,{mu}" for mu in (0.3, 0.5, 0.7)]


def scored(folder: Path, *, baseline: str | None = None, intervals: bool = False, **more: Any) -> dict[str, Any]:
    asked = {"k": [20], "preset": "tvr-ranking"} | more
    boards = scored_files.score_splits(run_files.read_run_list(folder / "runs.toml"), **asked)
    summaries = {split: board.summary(["show"], errors=True) for split, board in boards.items()}
    if baseline or intervals:
        for split, board in boards.items():
            add_statistics(summaries[split], board, Sureness(baseline, resamples=300))
    return joined_scores(summaries)


def latex(summary: dict[str, Any], **shown: Any) -> str:
    return SCORE_FORMATS["latex"](summary, views_table.Shown(**shown))


def body(text: str) -> list[list[str]]:
    """The rows of the first block as cells, without marks."""
    (first, *_) = text.split(r"\midrule")[1:]
    lines = [line.removesuffix(r" \\").strip() for line in first.splitlines() if line.endswith(r"\\")]
    return [[re.sub(r"\\textbf\{(.*?)\}|\$\^.*?\$", r"\1", cell).strip() for cell in line.split("&")] for line in lines]


def value_of(folder: Path, model: str, variant: str, split: str, key: str, seed: int = 1) -> float:
    """A mean by the evaluation of that one file."""
    file = folder / f"{model}_{variant}_{seed}_{split}.json"
    (run,) = scored_files.evaluate_files(folder / f"{split}.json", [file], k=[20], preset="tvr-ranking")["runs"]
    mean: float = run["measures"][key]
    return mean


def test_nine_runs_are_the_published_table_of_baselines(tmp_path: Path) -> None:
    """TVR-Ranking's Table 5: model and training set down, thresholds with val and test beside each other across."""
    write_nine(tmp_path)
    text = latex(scored(tmp_path), variant="Top N")
    heads = text.split(r"\toprule")[1].split(r"\midrule")[0].splitlines()[1:]
    assert [line.strip() for line in heads if "cmidrule" not in line and line.strip()] == [
        r"&  &  & \multicolumn{6}{c}{NDCG@20, IoU$>\mu$} \\",
        r"&  &  & \multicolumn{2}{c}{$\mu=0.3$} & \multicolumn{2}{c}{$\mu=0.5$} & \multicolumn{2}{c}{$\mu=0.7$} \\",
        r"Model & Top N & Queries & Val & Test & Val & Test & Val & Test \\",
    ]
    rows = body(text)
    assert [row[:2] for row in rows] == [
        [model if n == 0 else "", variant] for model in MODELS for n, variant in enumerate(VARIANTS)
    ]
    assert {row[2] for row in rows} == {"12 / 9"}
    for row, (model, variant) in zip(rows, [(m, v) for m in MODELS for v in VARIANTS], strict=True):
        expected = [value_of(tmp_path, model, variant, split, key) for key in KEYS for split in SPLITS]
        assert [float(cell) for cell in row[3:]] == pytest.approx(expected, abs=5e-5)


def test_python_has_the_same_table(tmp_path: Path) -> None:
    """As docs/evaluating.md has it."""
    from reelrank import Shown, joined, read_run_list, score_splits, to_latex

    runs = read_run_list(str(write_nine(tmp_path)))
    boards = score_splits(runs, videos=runs.videos, k=[20], preset="tvr-ranking")
    table = to_latex(joined({split: board.summary() for split, board in boards.items()}), Shown(variant="Top N"))
    summaries = scored(tmp_path)["splits"]
    for part in summaries.values():
        for run in part["runs"]:
            del run["by"], run["errors"]
    assert table == latex({"splits": summaries}, variant="Top N")


def test_more_cut_offs_stand_below_each_other_in_the_same_tabular(tmp_path: Path) -> None:
    """Table 6 of the paper: a block a cut-off."""
    write_nine(tmp_path)
    text = latex(scored(tmp_path, k=[10, 20, 40]))
    assert re.findall(r"\{6\}\{c\}\{NDCG@(\d+), IoU\$>\\mu\$\}", text) == ["10", "20", "40"]
    assert text.count(r"\begin{tabular}") == text.count(r"\end{tabular}") == 1


@pytest.mark.long
def test_two_real_runs_and_seven_spoilt_ones_are_the_published_table(shared: Path, tmp_path: Path) -> None:
    """The published predictions of two baselines for 500 queries; the truth is invented near what they predict."""
    source = shared / "data" / "tvr_ranking"
    names = {n: name for name, (_, n) in json.loads((source / "video_name_duration_id.json").read_text()).items()}
    rng = random.Random(8)
    lines = [f'truth = "truth.json"\nvideos = "{source}/video_name_duration_id.json"\nvariant = "Top N"']
    truth: list[dict[str, Any]] = []
    for model, file in (("ReLoCLNet", "ReLoCLNet_top_40_val"), ("XML", "XML_top20_val")):
        rows = json.loads((source / "runs" / f"{file}.json").read_text())
        for query in [] if truth else rows:
            near = [(names[v], [s, e]) for v, s, e, _ in rng.sample(query["predictions"], 12)]
            moments = [{"video_name": v, "timestamp": span, "relevance": rng.randrange(5)} for v, span in near]
            truth.append({"query_id": query["query_id"], "relevant_moment": moments})
        for number, variant in enumerate((40, 20, 1) if model == "ReLoCLNet" else (20, 40, 1)):
            spoilt = [
                {**q, "predictions": [[v, s + number, e + number, x] for v, s, e, x in q["predictions"]]} for q in rows
            ]
            (tmp_path / f"{model}{variant}.json").write_text(json.dumps(spoilt))
            lines.append(f'[[run]]\nfile = "{model}{variant}.json"\nmodel = "{model}"\nvariant = {variant}')
    first = json.loads((tmp_path / "XML20.json").read_text())
    for variant in (1, 20, 40):  # a third model that leaves three queries out, as published files of CONQUER do
        (tmp_path / f"C{variant}.json").write_text(json.dumps(first[: 500 - 3]))
        lines.append(f'[[run]]\nfile = "C{variant}.json"\nmodel = "CONQUER"\nvariant = {variant}')
    (tmp_path / "truth.json").write_text(json.dumps(truth))
    (tmp_path / "runs.toml").write_text("\n".join(lines))
    listed = run_files.read_run_list(tmp_path / "runs.toml")
    (board,) = scored_files.score_splits(listed, videos=listed.videos, k=[20], preset="tvr-ranking").values()
    text = latex(joined_scores({"": board.summary()}), variant=listed.variant_title)
    rows_shown = [line for line in text.split(r"\midrule")[1].splitlines() if line.endswith(r"\\")]
    assert [line.split("&")[2].strip() for line in rows_shown] == ["500"] * 6 + ["497"] * 3
    assert not any("textbf" in line for line in rows_shown[6:])
    assert sum("textbf" in line for line in rows_shown[:6]) >= 1


def test_seeds_are_mean_and_sample_deviation(tmp_path: Path) -> None:
    """Table 7 of the paper, in percent."""
    write_nine(tmp_path, seeds=3)
    summary = scored(tmp_path, baseline="XML 1 seed 1")
    text = latex(summary, percent=True)
    assert r"Mean $\pm$ sample standard deviation over 3 seeds." in text
    assert "In percent." in text
    assert "dagger" not in text, "means over seeds were not tested"
    rows = body(text)
    assert len(rows) == 9
    for row, (model, variant) in zip(rows, [(m, v) for m in MODELS for v in VARIANTS], strict=True):
        cells = iter(row[3:])
        for key in KEYS:
            for split in SPLITS:
                values = [100 * value_of(tmp_path, model, variant, split, key, seed) for seed in (1, 2, 3)]
                shown = [float(part) for part in next(cells).split(r"$\pm$")]
                assert shown == pytest.approx([statistics.mean(values), statistics.stdev(values)], abs=0.0051)
    over = {(row["model"], row["variant"], row["split"]): row for row in summary["over_seeds"]}
    assert over["XML", "20", "test"]["seeds"] == ["1", "2", "3"]
    values = [value_of(tmp_path, "XML", "20", "test", KEYS[0], seed) for seed in (1, 2, 3)]
    assert over["XML", "20", "test"]["measures"][KEYS[0]] == pytest.approx(
        {"mean": statistics.mean(values), "sd": statistics.stdev(values)}
    )


def test_runs_over_fewer_queries_say_so_and_are_never_bold(tmp_path: Path) -> None:
    """ReLoCLNet is the best of the nine; without one query of val it takes no part there, and does in test."""
    write_nine(tmp_path, lacking="ReLoCLNet")
    text = latex(scored(tmp_path))
    rows = [line for line in text.split(r"\midrule")[1].splitlines() if line.endswith(r"\\")]
    assert [line.split("&")[2].strip() for line in rows] == ["12 / 9"] * 6 + ["11 / 9"] * 3
    for n in range(3, 9):
        bold = [at for at, line in enumerate(rows) if "textbf" in line.split("&")[n]]
        assert bold, "every column has a best"
        assert all(at < 6 if n % 2 else at >= 6 for at in bold), (n, bold)
    assert "the most that do; means over other queries are not comparable with them" in text


def test_daggers_say_which_way_and_stand_only_where_it_was_tested(tmp_path: Path) -> None:
    write_nine(tmp_path)
    summary = scored(tmp_path, baseline="CONQUER 20")
    text = latex(summary, intervals=False)
    (before, rest) = text.split(r"\midrule")[0], text.split(r"\midrule")[1]
    assert r"above and $\dagger$$\downarrow$ below CONQUER 20: p \textless{} 0.05" in before
    lines = [line for line in rest.splitlines() if line.endswith(r"\\")]
    names = [(model, variant) for model in MODELS for variant in VARIANTS]
    columns = [(key, split) for key in KEYS for split in SPLITS]
    signs = set()
    for (model, variant), line in zip(names, lines, strict=True):
        for cell, (key, split) in zip(line.removesuffix(r" \\").split("&")[3:], columns, strict=True):
            run = next(run for run in summary["splits"][split]["runs"] if run["name"] == f"{model} {variant}")
            told = run.get("comparison", {}).get(key)
            sign = ""
            if told and told["p_holm"] < 0.05:
                sign = r"\uparrow" if told["difference"] > 0 else r"\downarrow"
            assert (r"\dagger" in cell, sign in cell) == (bool(sign), True)
            signs.add(sign)
    assert signs == {"", r"\uparrow", r"\downarrow"}, "or the test shows nothing"
    assert "dagger" not in latex(scored(tmp_path))


def test_intervals_groups_and_errors_are_in_the_table(tmp_path: Path) -> None:
    write_nine(tmp_path)
    summary = scored(tmp_path, intervals=True)
    text = latex(summary, percent=True)
    (run,) = (run for run in summary["splits"]["test"]["runs"] if run["name"] == "XML 40")
    interval = run["intervals"][KEYS[1]]
    assert f"{{[}}{100 * interval['low']:.2f}, {100 * interval['high']:.2f}{{]}}" in text
    assert "In brackets: 95 \\% percentile bootstrap over queries." in text
    assert r"{NDCG@20, IoU$>0.5$ by show}" in text
    assert "friends (12 / 9)" in text
    assert "wrong time" in text
    assert latex(summary, intervals=False).count("{[}") == 0


def test_a_benchmark_is_printed_as_its_evaluator_prints_it(tmp_path: Path) -> None:
    (tmp_path / "truth.txt").write_text("AAAAA 0.0 10.0##a person sits\nBBBBB 5.0 20.0##a person runs\n")
    (tmp_path / "run.json").write_text('{"AAAAA#0": [["AAAAA", 0, 9, 0.5]], "BBBBB#0": [["BBBBB", 30, 40, 0.5]]}')
    board = scored_files.score_files(tmp_path / "truth.txt", [tmp_path / "run.json"], benchmark="charades-sta")
    summary = board.summary()
    text = latex(summary)
    figures = summary["benchmark"]["figures"]
    assert all(figure["name"] in text.replace("{", "").replace("}", "").replace("\\", "") for figure in figures)
    (row,) = body(text)
    assert (
        row[2:] == [f"{100 * summary['runs'][0]['figures'][figure['name']]:.2f}" for figure in figures][: len(row) - 2]
    )


def typesets() -> bool:
    """Whether there is a LaTeX here with the package that the tables ask for."""
    if not shutil.which("pdflatex"):
        return False
    return subprocess.run(["kpsewhich", "booktabs.sty"], capture_output=True, check=False).returncode == 0


@pytest.mark.skipif(not typesets(), reason="there is no pdflatex with booktabs here")
def test_latex_takes_every_table(tmp_path: Path) -> None:
    folder, plain = tmp_path / "nine", tmp_path / "plain"
    folder.mkdir()
    plain.mkdir()
    write_nine(folder, seeds=2, lacking="XML")
    truth, runs = write_files(plain)
    runs[0].rename(plain / "[a] * --.json")
    board = scored_files.score_files(truth, [plain / "[a] * --.json", *runs[1:]], k=[3, 5], missing="skip")
    hostile = board.summary(["duration"], errors=True)
    add_statistics(hostile, board, Sureness("poor", resamples=100))
    tables = [latex(scored(folder, intervals=True), percent=True, label="tab:a_b", caption="Ours & theirs, 100 %.")]
    tables += [latex(hostile), latex(board.summary(), digits=2)]
    head = "\\documentclass{article}\n\\usepackage[margin=1cm]{geometry}\n\\usepackage{booktabs}\n\\begin{document}\n"
    (tmp_path / "paper.tex").write_text(f"{head}{''.join(tables)}See \\ref{{tab:a_b}}.\\end{{document}}\n")
    found = subprocess.run(
        ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "paper.tex"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert found.returncode == 0, found.stdout[-2000:]
    assert (tmp_path / "paper.pdf").stat().st_size > 10_000
