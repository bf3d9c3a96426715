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
from golden_benchmarks import read_golden
from scored import write_files
from scoring.nine_runs import MODELS, SPLITS, VARIANTS, write_nine

KEYS = [f"ndcg@20,{mu}" for mu in (0.3, 0.5, 0.7)]


def scored(
    folder: Path, *, baseline: str | None = None, intervals: bool = False, means_only: bool = False, **more: Any
) -> dict[str, Any]:
    asked = {"k": [20], "preset": "tvr-ranking"} | more
    boards = scored_files.score_splits(run_files.read_run_list(folder / "runs.toml"), **asked)
    by = [] if means_only else ["show"]
    summaries = {split: board.summary(by, errors=not means_only) for split, board in boards.items()}
    if baseline or intervals:
        for split, board in boards.items():
            add_statistics(summaries[split], board, Sureness(baseline, resamples=300))
    return joined_scores(summaries)


def latex(summary: dict[str, Any], **shown: Any) -> str:
    return SCORE_FORMATS["latex"](summary, views_table.Shown(**shown))


def body(text: str, number: int = 0) -> list[list[str]]:
    """The rows of a block, by default the first one, as cells without marks."""
    block = [part for table in text.split(r"\toprule")[1:] for part in table.split(r"\midrule")[1::2]][number]
    lines = [line.removesuffix(r" \\").strip() for line in block.splitlines() if line.endswith(r"\\")]
    marks = r"\\textbf\{(.*?)\}|\\phantom\{.*?\}\}|\$\^.*?\$|\{\\scriptsize (.*)\}"
    return [[re.sub(marks, r"\1\2", cell).strip() for cell in line.split("&")] for line in lines]


def value_of(folder: Path, model: str, variant: str, split: str, key: str, seed: int = 1) -> float:
    """A mean by the evaluation of that one file."""
    file = folder / f"{model}_{variant}_{seed}_{split}.json"
    (run,) = scored_files.evaluate_files(folder / f"{split}.json", [file], k=[20], preset="tvr-ranking")["runs"]
    mean: float = run["measures"][key]
    return mean


def test_nine_runs_are_the_published_table_of_baselines(tmp_path: Path) -> None:
    """TVR-Ranking's Table 5: model and training set down, thresholds with val and test beside each other across."""
    write_nine(tmp_path)
    text = latex(scored(tmp_path), variant="Top N", wide=True)
    heads = text.split(r"\toprule")[1].split(r"\midrule")[0].splitlines()[1:]
    assert [line.strip() for line in heads if "cmidrule" not in line and line.strip()] == [
        r"&  & \multicolumn{6}{c}{NDCG@20, IoU$>\mu$} \\",
        r"&  & \multicolumn{2}{c}{$\mu=0.3$} & \multicolumn{2}{c}{$\mu=0.5$} & \multicolumn{2}{c}{$\mu=0.7$} \\",
        r"Model & Top N & Val & Test & Val & Test & Val & Test \\",
    ]
    rows = body(text)
    assert [row[:2] for row in rows] == [
        [model if n == 0 else "", variant] for model in MODELS for n, variant in enumerate(VARIANTS)
    ]
    for row, (model, variant) in zip(rows, [(m, v) for m in MODELS for v in VARIANTS], strict=True):
        expected = [value_of(tmp_path, model, variant, split, key) for key in KEYS for split in SPLITS]
        assert [float(cell) for cell in row[2:]] == pytest.approx(expected, abs=5e-5)


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
    text = latex(scored(tmp_path, k=[10, 20, 40], means_only=True), wide=True)
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
    text = latex(joined_scores({"": board.summary()}), variant=listed.variant_title, wide=True)
    rows_shown = [line for line in text.split(r"\midrule")[1].splitlines() if line.endswith(r"\\")]
    assert [line.split("&")[2].strip() for line in rows_shown] == ["500"] * 6 + ["497"] * 3
    assert not any("textbf" in line for line in rows_shown[6:])
    assert sum("textbf" in line for line in rows_shown[:6]) >= 1


def test_seeds_are_mean_and_sample_deviation(tmp_path: Path) -> None:
    """Table 7 of the paper, in percent."""
    write_nine(tmp_path, seeds=3)
    summary = scored(tmp_path, baseline="XML 1 seed 1")
    text = latex(summary, percent=True, wide=True)
    assert r"; in percent; mean $\pm$ sample standard deviation over 3 seeds; best in bold." in text
    assert "dagger" not in text, "means over seeds were not tested"
    rows = [[*first, *second[2:]] for first, second in zip(body(text), body(text, 1), strict=True)]
    assert len(rows) == 9
    for row, (model, variant) in zip(rows, [(m, v) for m in MODELS for v in VARIANTS], strict=True):
        cells = iter(row[2:])
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
    text = latex(scored(tmp_path), wide=True)
    rows = [line for line in text.split(r"\midrule")[1].splitlines() if line.endswith(r"\\")]
    assert [line.split("&")[2].strip() for line in rows] == ["12 / 9"] * 6 + ["11 / 9"] * 3
    for n in range(3, 9):
        bold = [at for at, line in enumerate(rows) if "textbf" in line.split("&")[n]]
        assert bold, "every column has a best"
        assert all(at < 6 if n % 2 else at >= 6 for at in bold), (n, bold)
    assert "; best in bold among runs that count the same queries." in text


def test_daggers_say_which_way_and_stand_only_where_it_was_tested(tmp_path: Path) -> None:
    write_nine(tmp_path)
    summary = scored(tmp_path, baseline="CONQUER 20")
    text = latex(summary, intervals=False, wide=True)
    (before, rest) = text.split(r"\midrule")[0], text.split(r"\midrule")[1]
    assert (
        r"$\dagger$$\uparrow$ above, $\dagger$$\downarrow$ below CONQUER 20, p \textless{} 0.05 (sign-flip test, Holm)."
        in before
    )
    lines = [line for line in rest.splitlines() if line.endswith(r"\\")]
    names = [(model, variant) for model in MODELS for variant in VARIANTS]
    columns = [(key, split) for key in KEYS for split in SPLITS]
    signs = set()
    for (model, variant), line in zip(names, lines, strict=True):
        for cell, (key, split) in zip(line.removesuffix(r" \\").split("&")[2:], columns, strict=True):
            run = next(run for run in summary["splits"][split]["runs"] if run["name"] == f"{model} {variant}")
            told = run.get("comparison", {}).get(key)
            sign = ""
            if told and told["p_holm"] < 0.05:
                sign = r"\uparrow" if told["difference"] > 0 else r"\downarrow"
            assert re.findall(r"arrow\}\$|phantom", cell) == (["arrow}$"] if sign else ["phantom", "arrow}$"])
            assert sign in cell
            signs.add(sign)
    assert signs == {"", r"\uparrow", r"\downarrow"}, "or the test shows nothing"
    assert "dagger" not in latex(scored(tmp_path))


def test_intervals_groups_and_errors_are_in_the_table(tmp_path: Path) -> None:
    write_nine(tmp_path)
    summary = scored(tmp_path, intervals=True)
    text = latex(summary, percent=True, wide=True)
    (run,) = (run for run in summary["splits"]["test"]["runs"] if run["name"] == "XML 40")
    interval = run["intervals"][KEYS[1]]
    assert f"{{[}}{100 * interval['low']:.2f}, {100 * interval['high']:.2f}{{]}}" in text
    assert "In brackets 95 \\% bootstrap intervals." in text
    assert r"{NDCG@20, IoU$>0.5$ by show}" in text
    assert "{friends}" in text
    assert "{(12 / 9)}" in text
    assert "wrong time" in text
    assert latex(summary, intervals=False).count("{[}") == 0


def test_a_benchmark_is_printed_as_its_evaluator_prints_it(tmp_path: Path) -> None:
    (tmp_path / "truth.txt").write_text("AAAAA 0.0 10.0##a person sits\nBBBBB 5.0 20.0##a person runs\n")
    (tmp_path / "run.json").write_text('{"AAAAA#0": [["AAAAA", 0, 9, 0.5]], "BBBBB#0": [["BBBBB", 30, 40, 0.5]]}')
    board = scored_files.score_files(tmp_path / "truth.txt", [tmp_path / "run.json"], benchmark="charades-sta")
    summary = board.summary()
    text = latex(summary)
    figures = summary["benchmark"]["figures"]
    heads = text.split(r"\toprule")[1].split(r"\midrule")[::2]
    names = []
    for head in heads:
        lines = [line.removesuffix(r" \\").split("&")[1:] for line in head.strip().splitlines()]
        names += [" ".join(filter(None, map(str.strip, words))) for words in zip(*lines, strict=True)]
    assert names == [figure["name"] for figure in figures]
    cells = [cell for number in range(len(heads)) for row in body(text, number) for cell in row[1:]]
    assert cells == [f"{100 * summary['runs'][0]['figures'][figure['name']]:.2f}" for figure in figures]


LONG = "a/very_long/path.of+a-run/without=any,space/" + "x" * 60
NAMES = ["Ours (no pre-training, larger batch)", LONG, 'α & "50%" {x}_y~^\\ #1 $', "[a] * --", "caption"]


def named(folder: Path) -> list[run_files.RunFile]:
    """Runs with long and hostile names; the last is an upper bound."""
    _, runs = write_files(folder)
    return [run_files.RunFile(runs[n % 2], name) for n, name in enumerate(NAMES)]


@pytest.fixture(scope="module")
def tables(tmp_path_factory: pytest.TempPathFactory) -> dict[bool, list[str]]:
    """Every kind of table: several splits, variants, seeds, statistics, groups, errors, a benchmark, long names.

    The tables of one column are under False, those of a page under True.
    """
    folder = tmp_path_factory.mktemp("tables")
    nine, seeds = folder / "nine", folder / "seeds"
    nine.mkdir()
    seeds.mkdir()
    write_nine(nine, lacking="XML")
    write_nine(seeds, seeds=2)
    runs = named(folder)
    board = scored_files.score_files(folder / "val.json", runs, k=[3, 50], missing="skip")
    hostile = board.summary(["duration", "show"], errors=True)
    add_statistics(hostile, board, Sureness(NAMES[0], resamples=100))
    golden = read_golden("qvhighlights", folder)
    files = [run_files.RunFile(golden.run, name) for name in ("Moment-DETR", "QD-DETR", "Ours")]
    figures = scored_files.score_files(golden.truth, files, benchmark="qvhighlights", also=["miou"]).summary()
    statistics = scored(nine, baseline="CONQUER 20", intervals=True, k=[10, 20])
    over_seeds = scored(seeds, means_only=True)
    return {
        wide: [
            latex(statistics, percent=True, label="tab:a_b", caption="Ours & theirs, 100 %", wide=wide),
            latex(over_seeds, wide=wide),
            latex(hostile, wide=wide),
            latex(board.summary(), digits=2, wide=wide),
            latex(figures, wide=wide),
        ]
        for wide in (False, True)
    }


def test_a_table_is_for_one_column_unless_it_is_wide(tables: dict[bool, list[str]]) -> None:
    narrow, wide = "".join(tables[False]), "".join(tables[True])
    assert set(re.findall(r"\\begin\{(table\*?)\}", narrow)) == {"table"}
    assert set(re.findall(r"\\begin\{(table\*?)\}", wide)) == {"table*"}
    labels = re.findall(r"\\label\{(.*?)\}", narrow)
    assert labels == ["tab:a_b", *(f"tab:a_b-{n}" for n in range(2, len(labels) + 1))]
    for caption in re.findall(r"\\caption\{(.*)\}", narrow + wide):
        assert re.search(r"[^.]\.$", caption), caption
        assert ".." not in caption


def test_the_caption_ends_every_sentence_once(tmp_path: Path) -> None:
    board = scored_files.score_files(*write_files(tmp_path), k=[5], measures=["ndcg"])
    for given in ("Our runs", "Our runs. ", "Our runs."):
        caption = r"\caption{Our runs. Preset paper; 12 queries, 72 moments; best in bold.}"
        assert caption in latex(board.summary(), caption=given)


def test_long_names_continue_in_the_next_line(tmp_path: Path) -> None:
    board = scored_files.score_files(tmp_path / "val.json", named(tmp_path), k=[5], mu=[0.5], measures=["ndcg"])
    lines = latex(board.summary()).split(r"\midrule")[1].splitlines()
    names = [line.split(" & ")[0].strip() for line in lines if line.endswith(r"\\")]
    assert len(names) > len(NAMES)
    joined_again = "".join(name.removeprefix(r"\enspace ") for name in names).replace(r"\_", "_")
    assert LONG in joined_again
    assert [bool(re.search(r" & .*\d\.\d{4}", line)) for line in lines if line.endswith(r"\\")] == [
        not name.startswith(r"\enspace") for name in names
    ], "the number stands beside the first line"


def test_more_runs_than_a_page_has_room_for_continue_in_another_table(tmp_path: Path) -> None:
    truth, (run, *_) = write_files(tmp_path)
    runs = [run_files.RunFile(run, f"run {n}") for n in range(100)]
    text = latex(scored_files.score_files(truth, runs, k=[5], mu=[0.5], measures=["ndcg"]).summary())
    pages = text.split(r"\begin{table}")[1:]
    assert [len(re.findall(r"run \d+ &", page)) for page in pages] == [34, 33, 33]
    assert all(r"NDCG@5, IoU$\geq\mu$" in page for page in pages)
    assert text.count("Continued from the table before.") == 2


CLASSES = {"article": "10pt,twocolumn", "IEEEtran": "conference", "acmart": "sigconf,nonacm"}


def typesets(of_class: str = "article") -> bool:
    """Whether there is a LaTeX here with a document class and the package that the tables ask for."""
    if not shutil.which("pdflatex"):
        return False
    asked = ["kpsewhich", "booktabs.sty", f"{of_class}.cls"]
    return subprocess.run(asked, capture_output=True, text=True, check=False).stdout.count("\n") == 2


@pytest.mark.parametrize("of_class", CLASSES)
def test_latex_takes_every_table_and_none_leaves_its_column(
    tables: dict[bool, list[str]], tmp_path: Path, of_class: str
) -> None:
    if not typesets(of_class):
        pytest.skip(f"there is no pdflatex with booktabs and {of_class} here")
    labelled = [table.replace("tab:", f"tab:{n}:") for n, table in enumerate([*tables[False], *tables[True]])]
    head = f"\\documentclass[{CLASSES[of_class]}]{{{of_class}}}\n\\usepackage{{booktabs}}\n\\begin{{document}}\n"
    body = "\\clearpage\n".join(f"Text.\n{table}" for table in labelled)
    (tmp_path / "paper.tex").write_text(
        f"{head}\\title{{T}}\\author{{A}}\\maketitle\n{body}See \\ref{{tab:0:a_b}}.\\end{{document}}\n"
    )
    found = subprocess.run(
        ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "paper.tex"],
        cwd=tmp_path,
        capture_output=True,
        check=False,
    )
    log = (tmp_path / "paper.log").read_text(encoding="latin-1")
    assert found.returncode == 0, log[-2000:]
    assert (tmp_path / "paper.pdf").stat().st_size > 10_000
    assert re.findall(r"Overfull \\hbox.*|Float too large.*", log) == []
