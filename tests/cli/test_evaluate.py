"""`reelrank evaluate`: every format parses back to the same numbers and names its preset and options."""

import csv
import io
import json
import re
from pathlib import Path

import pytest

from backend.core.where import Where
from backend.scoring.evaluate import evaluate
from cli.conftest import Run
from scored import QUERIES, write_files

OPTIONS = ("--option", "missing=skip", "--min-relevance", "2", "--k", "1,5", "--mu", "0.3,0.5")


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, list[Path]]:
    return write_files(tmp_path)


@pytest.fixture
def arguments(files: tuple[Path, list[Path]]) -> list[object]:
    truth, runs = files
    return ["evaluate", "--truth", truth, *(part for run in runs for part in ("--run", run)), *OPTIONS]


@pytest.fixture
def expected(files: tuple[Path, list[Path]]) -> dict[str, dict[str, float]]:
    """The means by `evaluate`, which the golden tests hold to the papers."""
    truth = {
        entry["query_id"]: [
            {
                "video": m["video_name"],
                "start": m["timestamp"][0],
                "end": m["timestamp"][1],
                "relevance": m["relevance"],
            }
            for m in entry["relevant_moment"]
        ]
        for entry in json.loads(files[0].read_text())
    }
    options = {"k": [1, 5], "mu": [0.3, 0.5], "min_relevance": 2, "missing": "skip"}
    return {path.stem: evaluate(truth, json.loads(path.read_text()), **options)["mean"] for path in files[1]}


def rows(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text)))


def test_csv_holds_every_mean_with_its_run_preset_and_options(
    reelrank: Run, arguments: list[object], expected: dict[str, dict[str, float]]
) -> None:
    out = reelrank.out(*arguments, "--format", "csv")
    found = rows(out)
    assert {
        row["run"]: {r["measure"]: float(r["value"]) for r in found if r["run"] == row["run"]} for row in found
    } == (expected)
    assert {(row["preset"], row["options"]) for row in found} == {("paper", "missing=skip min_relevance=2")}
    assert {(row["run"], row["queries"], row["missing"]) for row in found} == {
        ("good", "12", "0"),
        ("poor", "12", "0"),
        ("a<b>&'_{x}|`", "10", "2"),
    }


def test_json_to_a_file_holds_what_json_to_the_screen_holds(
    reelrank: Run, arguments: list[object], expected: dict[str, dict[str, float]], tmp_path: Path
) -> None:
    _, out, err = reelrank(*arguments, "--json", "-")
    assert err == ""
    result = json.loads(out)
    assert {run["name"]: run["measures"] for run in result["runs"]} == expected
    assert result["options"] == {"missing": "skip", "min_relevance": 2}
    assert result["runs"][2]["missing"] == ["q0", "q1"]
    table = reelrank.out(*arguments, "--json", tmp_path / "scores.json")
    assert json.loads((tmp_path / "scores.json").read_text()) == result
    assert "preset paper, missing=skip, min_relevance=2; 12 queries, 72 moments" in table
    assert json.loads(reelrank(*arguments, "--format", "json")[1]) == result


def test_markdown_is_one_table_whose_cells_are_the_means(
    reelrank: Run, arguments: list[object], expected: dict[str, dict[str, float]]
) -> None:
    _, out, _ = reelrank(*arguments, "--format", "markdown")
    lines = [line for line in out.splitlines() if line.startswith("|")]
    cells = [[cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]] for line in lines]
    assert {len(row) for row in cells} == {4}
    assert cells[0][3] == r"a&lt;b&gt;&'\_{x}\|\`"
    shown = {row[0].replace("\\", ""): [float(cell) for cell in row[1:]] for row in cells[2:]}
    assert shown == {
        key: [pytest.approx(means[key], abs=5e-5) for means in expected.values()] for key in expected["good"]
    }
    assert "paper, missing=skip, min\\_relevance=2" in out


def test_latex_escapes_names_marks_the_best_and_says_the_conventions(
    reelrank: Run, arguments: list[object], expected: dict[str, dict[str, float]]
) -> None:
    _, out, _ = reelrank(*arguments, "--measure", "ndcg,axiou", "--format", "latex")
    assert r"\caption{Preset paper, missing=skip, min\_relevance=2; 12 queries, 72 moments; best in bold" in out
    assert r"a\textless{}b\textgreater{}\&'\_\{x\}\textbar{}` & " in out
    assert out.count(r"\begin{tabular}") == out.count(r"\end{tabular}") == 1
    assert f"\\textbf{{{expected['good']['ndcg@5,0.5']:.4f}}}" in out
    body = [line for line in out.splitlines() if line.endswith(r"\\")]
    assert {line.count(" & ") for line in body if line.strip().startswith("good")} == {3}
    assert [line.split(" & ")[1] for line in body if line.strip().startswith(("good", "a"))] == ["12", "10"] * 3


def test_latex_has_the_measure_that_the_screen_has_unless_others_are_chosen(
    reelrank: Run, arguments: list[object], tmp_path: Path
) -> None:
    measures = r"(NDCG|AP|R|AxIoU|DCG)@5"
    _, brief, _ = reelrank(*arguments, "--format", "latex")
    assert set(re.findall(measures, brief)) == {"NDCG"}
    _, everything, _ = reelrank(*arguments, "--format", "latex", "--all")
    assert set(re.findall(measures, everything)) == {"NDCG", "AP", "R", "AxIoU", "DCG"}
    assert reelrank(*arguments, "--out", tmp_path / "scores.txt")[1] == f"Written: {tmp_path / 'scores.txt'}\n"
    assert "\nNDCG@K, IoU>=mu: how well" in (tmp_path / "scores.txt").read_text()


def test_per_query_values_are_those_of_evaluate_and_average_to_the_means(
    reelrank: Run, arguments: list[object], expected: dict[str, dict[str, float]], tmp_path: Path
) -> None:
    reelrank(*arguments, "--option", "missing=zero", "--per-query", tmp_path / "each.csv")
    found = rows((tmp_path / "each.csv").read_text())
    assert len(found) == 3 * QUERIES
    good = [row for row in found if row["run"] == "good"]
    for key, mean in expected["good"].items():
        assert sum(float(row[key]) for row in good) / QUERIES == pytest.approx(mean, abs=1e-12)
    lacking = [row for row in found if row["missing"] == "true"]
    assert [(row["run"], row["query"]) for row in lacking] == [("a<b>&'_{x}|`", "q0"), ("a<b>&'_{x}|`", "q1")]
    assert {row[key] for row in lacking for key in expected["good"]} == {"0.0"}
    assert {(row["preset"], row["options"]) for row in found} == {("paper", "min_relevance=2")}


def test_groups_add_up_and_show_their_sizes_in_every_format(reelrank: Run, arguments: list[object]) -> None:
    by = [part for name in ("duration", "show", "relevance") for part in ("--by", name)]
    result = json.loads(reelrank(*arguments, *by, "--json", "-")[1])
    for run in result["runs"]:
        for part in run["by"].values():
            groups = part["groups"].values()
            assert sum(group["queries"] for group in groups) == run["counted"]
            for key, mean in run["measures"].items():
                whole = sum(g["queries"] * g["measures"][key] for g in groups if g["queries"])
                assert whole / run["counted"] == pytest.approx(mean, abs=1e-12)
    table = rows(reelrank(*arguments, *by, "--format", "csv")[1])
    assert {row["by"] for row in table} == {"", "duration", "show", "relevance"}
    assert "friends" in reelrank(*arguments, *by)[1]
    assert "| friends | 10-12 |" in reelrank(*arguments, *by, "--format", "markdown")[1]


def test_a_baseline_brings_intervals_differences_and_groups_that_repeat_with_the_seed(
    reelrank: Run, arguments: list[object]
) -> None:
    asked = (*arguments, "--measure", "ndcg", "--baseline", "poor", "--resamples", "500", "--seed", "3", "--json", "-")
    first, again = (reelrank(*asked)[1] for _ in range(2))
    assert first == again
    result = json.loads(first)
    assert result["baseline"] == "poor"
    assert (result["statistics"]["seed"], result["statistics"]["queries"]) == (3, 10)
    for run in result["runs"]:
        for key, mean in run["measures"].items():
            interval = run["intervals"][key]
            assert interval["low"] <= mean <= interval["high"]
        for found in run.get("comparison", {}).values():
            assert found["wins"] + found["ties"] + found["losses"] == 10
    assert "comparison" not in result["runs"][1]
    # The third run is the second without two queries: over those that both have, they are one.
    assert all(found["difference"] == 0 for found in result["runs"][2]["comparison"].values())
    assert any({"poor", "a<b>&'_{x}|`"} <= set(group) for group in result["statistics"]["groups"])
    out = reelrank(*asked[:-2])[1]
    assert "Holm" in out
    assert "500 resamples, seed 3" in out
    table = rows(reelrank(*asked[:-2], "--format", "csv")[1])
    assert {row["baseline"] for row in table} == {"", "poor"}


def test_by_default_doubts_come_first_and_then_one_small_table(
    reelrank: Run, files: tuple[Path, list[Path]], tmp_path: Path
) -> None:
    """Of each query's seven predictions in `good` one lies in a video without a truth, and shows nothing judged."""
    truth, (good, poor, third) = files
    out = reelrank.out("evaluate", "--truth", truth, "--run", good, poor, f"third={third}")
    lines = out.splitlines()
    blank = lines.index("")
    assert lines[0] == "third has no predictions for 2 of 12 queries, which count 0: q0, q1"
    assert re.fullmatch(
        r"Never judged, of the first 20 predictions: good 14%, poor \d+%, third \d+% \(they count as not relevant\)",
        lines[1],
    )
    assert (
        lines[2] == "In videos that the truth does not name, of the first 40 predictions: good 14%, poor 14%, third 14%"
    )
    assert all(line.startswith("Warning: ") for line in lines[3:blank])
    assert "poor.json: the scores of 12 queries are not in falling order" in lines[3]
    sentence, title, head, *rows, _, more = lines[blank + 1 :]
    assert sentence == "preset paper; 12 queries, 72 moments"
    assert title.startswith("NDCG@K, IoU>=mu: ")
    assert head.split() == ["K", "run", "IoU>=0.3", "IoU>=0.5", "IoU>=0.7"]
    runs = (("good", good), ("poor", poor), ("third", third))
    means = {name: evaluate(truth, path, measures="ndcg").mean for name, path in runs}
    numbers = [row.split()[-4:] for row in rows]
    assert numbers == [
        [name, *(f"{means[name][f'ndcg@{k},{mu}']:.4f}" for mu in (0.3, 0.5, 0.7))]
        for k in (10, 20, 40)
        for name in means
    ]
    assert [row.split()[0] for row in rows[::3]] == ["10", "20", "40"]
    assert more == "--all also prints the other measures: axiou_ap, recall, recall_gt, axiou, dcg."
    assert max(map(len, lines[blank + 1 :])) <= 100


def test_a_run_that_leaves_nothing_to_doubt_begins_with_the_preset(reelrank: Run, tmp_path: Path) -> None:
    truth = {"query_id": "q", "relevant_moment": [{"video_name": "v", "timestamp": [0, 9], "relevance": 1}]}
    (tmp_path / "truth.json").write_text(json.dumps([truth]))
    (tmp_path / "run.json").write_text(json.dumps({"q": [["v", 0, 9, 1.0]]}))
    asked = ("evaluate", "--truth", tmp_path / "truth.json", "--run", tmp_path / "run.json")
    out = reelrank(*asked, "--preset", "tvr-ranking")[1].splitlines()
    assert out[0] == "preset tvr-ranking; 1 query, 1 moment"
    assert [line.split() for line in out[2:]] == [
        ["K", "IoU>0.3", "IoU>0.5", "IoU>0.7"],
        *[[k, "1.0000", "1.0000", "1.0000"] for k in ("10", "20", "40")],
    ]


def test_all_prints_every_measure_and_what_it_stands_for(reelrank: Run, arguments: list[object]) -> None:
    summary = json.loads(reelrank(*arguments, "--json", "-")[1])
    lines = reelrank(*arguments, "--all")[1].splitlines()
    shown = {line.split()[0]: line.split()[1:] for line in lines if "@" in line.split(":")[0] and ":" not in line}
    for key in summary["runs"][0]["measures"]:
        assert shown[key] == [f"{run['measures'][key]:.4f}" for run in summary["runs"]]
    for name in ("ndcg@K,mu", "axiou_ap@K,theta", "recall@K,theta", "recall_gt@K,theta", "axiou@K", "dcg@K"):
        assert any(line.startswith(f"{name}: ") for line in lines)
    assert not any("--all" in line for line in lines)


def test_measures_that_were_asked_for_are_all_printed(reelrank: Run, arguments: list[object]) -> None:
    out = reelrank(*arguments, "--measure", "ndcg", "--measure", "axiou")[1]
    keys = [line.split()[0] for line in out.splitlines() if re.match(r"(ndcg|axiou)@\d", line)]
    assert keys == ["ndcg@1,0.3", "ndcg@1,0.5", "ndcg@5,0.3", "ndcg@5,0.5", "axiou@1", "axiou@5"]
    assert "axiou@K: AxIoU@K; mean over the ranks" in out
    assert "--all" not in out


def test_the_table_goes_to_a_file_and_every_file_is_confirmed(
    reelrank: Run, arguments: list[object], tmp_path: Path
) -> None:
    shown = reelrank(*arguments)[1]
    table, each, chart, page = (tmp_path / name for name in ("table.txt", "each.csv", "by-k.svg", "scores.html"))
    more = ("--per-query", each, "--chart", chart, "--report", page)
    assert reelrank(*arguments, "--out", table) == (0, f"Written: {table}\n", "")
    assert table.read_text() == shown
    told = "".join(f"Written: {path}\n" for path in (chart, page, each))
    assert reelrank(*arguments, *more) == (0, shown + told, "")
    code, out, err = reelrank(*arguments, *more, "--json", "-")
    assert (code, err) == (0, told)
    assert json.loads(out)["preset"] == "paper"
    assert reelrank(*arguments, "--format", "csv", "--out", tmp_path / "x.csv")[1:] == (
        f"Written: {tmp_path}/x.csv\n",
        "",
    )
    code, out, err = reelrank(*arguments, "--json", "-", "--out", table)
    assert (json.loads(out)["preset"], err) == ("paper", f"Written: {table}\n")


@pytest.mark.parametrize(
    ("more", "code", "message"),
    [
        (["--baseline", "nobody"], 1, "'nobody' is not one of good, poor"),
        (["--measure", "ndgc"], 1, "'ndgc' is not one of"),
        (["--resamples", "0", "--intervals"], 1, "0 is not at least 1"),
        (["--by", "size"], 2, "'size' is not one of"),
        (["--format", "csv", "--out", "no/such/folder/x.csv"], 1, "cannot be written"),
        (["--report", "no/such/folder/x.html"], 1, "cannot be written"),
        (["--project", "."], 2, "add --report FILE.html"),
        (["--report", "x.html", "--project", "no/such/project"], 1, "no/such/project"),
    ],
)
def test_what_cannot_be_done_is_refused_in_words(
    reelrank: Run, arguments: list[object], more: list[str], code: int, message: str
) -> None:
    found, out, err = reelrank(*arguments, *more)
    assert found == code
    assert message in " ".join(err.replace("│", " ").split())
    assert "Traceback" not in out + err


@pytest.mark.parametrize("option", ["--report", "--per-query", "--json", "--out"])
@pytest.mark.parametrize("place", ["no/such/folder/x", "."])
def test_a_place_for_nothing_is_refused_before_anything_is_read(reelrank: Run, option: str, place: str) -> None:
    """Scoring may take minutes; what is wrong with the truth would be told next."""
    more = ["--format", "csv"] if option == "--out" else []
    err = reelrank.refusal("evaluate", "--truth", "gone.json", "--run", "gone.json", option, place, *more)
    assert f"{place} cannot be written" in err
    assert "gone.json" not in err


def test_one_run_given_twice_is_refused(reelrank: Run, files: tuple[Path, list[Path]]) -> None:
    assert "is given twice" in reelrank.refusal(
        "evaluate", "--truth", files[0], "--run", files[1][0], "--run", files[1][0]
    )


def test_charts_of_papers_are_drawn_by_name(reelrank: Run, arguments: list[object], tmp_path: Path) -> None:
    by_k, order = tmp_path / "by-k.svg", tmp_path / "order.svg"
    assert reelrank(*arguments, "--chart", by_k, "--chart", f"order={order}")[0] == 0
    drawn = by_k.read_text()
    assert all(text in drawn for text in ("NDCG by cut-off", "IoU&gt;=0.3", "IoU&gt;=0.5", "missing=skip", ">poor<"))
    drawn = order.read_text()
    assert all(text in drawn for text in ("The same runs under other measures", "R@5, IoU&gt;=0.5", "tau-b", ">poor<"))


@pytest.mark.parametrize(
    ("chart", "code", "message"),
    [
        ("ordr=x.svg", 2, "'ordr' is not one of by-k, order, own-video"),
        ("order=x.pdf", 2, "x.pdf is neither .svg nor .png"),
        ("own-video=x.svg", 2, "needs pools: add --pool FILE"),
        ("by-k=x.svg", 1, "by-k would be empty: ndcg@5,0.5 has only one cut-off: give several"),
        ("order=x.svg", 1, "order would be empty: this chart compares the order of runs: give at least two runs"),
    ],
)
def test_a_chart_of_nothing_is_refused_in_words(
    reelrank: Run, files: tuple[Path, list[Path]], tmp_path: Path, chart: str, code: int, message: str
) -> None:
    name, _, file = chart.partition("=")
    asked = ("evaluate", "--truth", files[0], "--run", files[1][0], "--k", "5", "--mu", "0.5")
    page = tmp_path / "scores.html"
    found, _, err = reelrank(*asked, "--chart", f"{name}={tmp_path / file}", "--report", page)
    assert found == code
    assert message in " ".join(re.sub("[│╭╮╰╯─]", " ", err).split())
    assert not (tmp_path / file).exists()
    assert not page.exists()


def test_a_measure_without_a_cut_off_is_no_line_by_cut_off(
    reelrank: Run, files: tuple[Path, list[Path]], tmp_path: Path
) -> None:
    asked = ("evaluate", "--truth", files[0], "--run", files[1][0], "--measure", "map,axiou@1,axiou@5")
    assert (
        "map@0.3 has no cut-off: put a measure with cut-offs first, such as --measure recall --k 1,5,10"
        in reelrank.refusal(*asked, "--chart", f"by-k={tmp_path / 'x.svg'}")
    )


def test_scores_and_refusals_do_not_depend_on_where_runs_are_read(
    reelrank: Run, arguments: list[object], files: tuple[Path, list[Path]], tmp_path: Path, on_cluster: Where
) -> None:
    places = ((), ("--jobs", 2), ("--cluster", on_cluster.cluster))
    here, *there = [reelrank(*arguments, "--errors", "--json", "-", *place) for place in places]
    assert here[0] == 0
    assert there == [here, here]
    broken = [tmp_path / f"broken{n}.json" for n in range(2)]
    for n, path in enumerate(broken):
        entries = json.loads(files[1][0].read_text())
        path.write_text(json.dumps({**entries, "nowhere": next(iter(entries.values()))} if n else [entries]))
    wrong = [*arguments, *(part for path in broken for part in ("--run", path))]
    here, *there = [reelrank(*wrong, *place) for place in places]
    assert (here[0], all(path.name in here[2] for path in broken)) == (1, True)
    assert there == [here, here]


def test_an_upper_bound_stands_last_and_is_named_on_the_screen(
    reelrank: Run, files: tuple[Path, list[Path]], tmp_path: Path
) -> None:
    truth, (good, poor, _) = files
    (tmp_path / "caption.json").write_bytes(good.read_bytes())
    asked = ("evaluate", "--truth", truth, "--k", 5, "--mu", 0.5, "--run")
    out = reelrank.out(*asked, tmp_path / "caption.json", poor)
    assert "caption is an upper bound: it knows what no competing system can know, so it is never ranked." in out
    rows = [line.rsplit(maxsplit=1)[0] for line in out.splitlines() if re.match(r"(caption|poor) .*\d\.\d{4}$", line)]
    assert rows == ["poor", "caption (upper bound)"]
    assert "Oracle (upper bound)" in reelrank.out(*asked, f"Oracle={good}", poor, "--upper-bound", "Oracle")
    assert "upper bound" not in reelrank.out(*asked, f"Ours={tmp_path / 'caption.json'}", poor), "a name of one's own"
    code, _, err = reelrank(*asked, poor, "--upper-bound", "Oracle")
    assert (code, "'Oracle' is not one of poor" in err) == (2, True)
