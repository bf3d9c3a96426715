"""`reelrank evaluate --pool`: what is refused, counted and printed, and what stands side by side."""

import csv
import io
import json
from pathlib import Path

import pytest

from cli.conftest import Run

EXAMPLE = Path(__file__).parents[2] / "assets/example"
POOLS, RUN = EXAMPLE / "pools.json", EXAMPLE / "pools_run.json"
ASKED = ("evaluate", "--pool", POOLS, "--run", RUN)


@pytest.fixture
def strayed(tmp_path: Path) -> Path:
    """The example's run with two predictions of a video outside the pool before all others of a query."""
    run = json.loads(RUN.read_text())
    run["kitchen#0"] = [["garage", 0, 5, 1.0], ["garage", 1, 5, 0.95], *run["kitchen#0"]]
    (tmp_path / "strayed.json").write_text(json.dumps(run))
    return tmp_path / "strayed.json"


def result(reelrank: Run, *arguments: object) -> dict[str, object]:
    out = reelrank.out(*arguments, "--json", "-")
    found: dict[str, object] = json.loads(out)
    return found


def means(reelrank: Run, *arguments: object) -> dict[str, float]:
    (run,) = result(reelrank, *arguments)["runs"]  # type: ignore[misc]  # a list, as the test above this one holds
    found: dict[str, float] = run["measures"]
    return found


def test_the_measures_are_those_of_mvmr_unless_others_are_asked_for(reelrank: Run) -> None:
    keys = {
        *(f"{name}@{n},{m}" for name in ("recall", "ndcg") for n in (1, 5, 20, 50) for m in (0.5, 0.7)),
        *(f"axiou@{n}" for n in (1, 5, 20, 50)),
    }
    assert set(means(reelrank, *ASKED)) == keys
    assert set(means(reelrank, *ASKED, "--measure", "dcg", "--k", "3")) == {"dcg@3"}
    twelve = [*(f"recall_gt@{k},{t}" for k in (1, 5, 10) for t in (0.3, 0.5, 0.7)), "axiou@1", "axiou@5", "axiou@10"]
    assert list(means(reelrank, *ASKED, "--preset", "axiou")) == twelve
    help_text = " ".join(reelrank("evaluate", "--help")[1].split())
    assert "[default: 10,20,40; in pools 1,5,20,50; preset axiou 1,5,10]" in help_text
    assert "[default: 0.3,0.5,0.7; in pools 0.5,0.7]" in help_text


def test_predictions_outside_are_refused_with_file_query_and_video_and_counted(reelrank: Run, strayed: Path) -> None:
    err = reelrank.refusal("evaluate", "--pool", POOLS, "--run", strayed)
    assert f"{strayed}: 2 predictions of 1 queries are of videos outside their query's pool in {POOLS}" in err
    assert f"{strayed}, row 1: query kitchen#0, moment 2: video garage is not in the query's pool" in err


def test_a_refusal_names_the_first_and_counts_all(reelrank: Run, tmp_path: Path) -> None:
    (tmp_path / "far.json").write_text(json.dumps({"kitchen#0": [["garage", n, n + 1, -n] for n in range(5000)]}))
    err = reelrank.refusal("evaluate", "--pool", POOLS, "--run", tmp_path / "far.json")
    assert "5,000 predictions of 1 queries" in err
    assert err.count("is not in the query's pool") == 9


def test_predictions_outside_are_left_out_and_counted_where_that_is_asked_for(reelrank: Run, strayed: Path) -> None:
    asked = ("evaluate", "--pool", POOLS, "--run", strayed, "--outside-pool", "drop")
    found = result(reelrank, *asked)
    assert found["options"] == {"pool": "pools.json", "outside_pool": "drop"}
    (run,) = found["runs"]  # type: ignore[misc]
    assert run["outside_pool"] == 2
    assert run["measures"] == means(reelrank, *ASKED)
    out = reelrank.out(*asked)
    assert "pools of 3 of 4 videos; predictions outside them, left out: strayed 2" in out
    assert "they were left out" in out


def test_options_of_runs_stand_beside_the_numbers_in_every_format(reelrank: Run, tmp_path: Path) -> None:
    first = tmp_path / "first.json"
    first.write_text(json.dumps({"kitchen#0": [["hall", 0, 0, 2.0], ["porch", 0, 0, 1.0]]}))
    asked = (*ASKED, "--one-per-video", "--first-step", first)
    expected = {"pool": "pools.json", "first_step": "first.json", "one_per_video": True, "top_videos": 5}
    assert result(reelrank, *asked)["options"] == expected
    for format_ in ("csv", "markdown", "latex"):
        out = reelrank(*asked, "--format", format_)[1].replace("\\_", "_")
        assert all(text in out for text in ("pool=pools.json", "first_step=first.json", "one_per_video=true"))
    assert "2 queries of" in reelrank(*asked)[1]  # of which the first step has no video


def test_the_first_step_decides_which_videos_count(reelrank: Run, tmp_path: Path) -> None:
    first = tmp_path / "first.json"
    run = json.loads(RUN.read_text())
    # The right videos first: the second step can no longer be distracted.
    first.write_text(json.dumps({query: [[query.partition("#")[0], 0, 0, 1.0]] for query in run}))
    found = means(reelrank, *ASKED, "--first-step", first, "--top-videos", "1")
    assert found["recall@1,0.5"] == pytest.approx(2 / 3)
    assert found["recall@5,0.5"] == 1.0


def test_own_video_and_pool_stand_side_by_side_in_table_json_csv_and_chart(reelrank: Run, tmp_path: Path) -> None:
    chart = tmp_path / "figure.svg"
    out = reelrank.out(*ASKED, "--own-video", "--chart", chart, "--json", tmp_path / "scores.json")
    (run,) = json.loads((tmp_path / "scores.json").read_text())["runs"]
    assert (run["measures"]["recall@1,0.5"], run["own_video"]["measures"]["recall@1,0.5"]) == (
        0.0,
        pytest.approx(2 / 3),
    )
    line = next(line for line in out.splitlines() if line.startswith("pools_run  recall@1,0.5"))
    assert line.split() == ["pools_run", "recall@1,0.5", "0.6667", "0.0000", "-0.6667", "100.0%"]
    # R1 and R5: 2/3 and 1 in the own video, 0 and 1 in the pool.
    line = next(line for line in out.splitlines() if "mean of recall@1,0.5 and recall@5,0.5" in line)
    assert line.split()[-4:] == ["0.8333", "0.5000", "-0.3333", "40.0%"]
    expected = {"own_video": 5 / 6, "pool": 1 / 2, "drop": 1 / 3, "relative_drop": 2 / 5}
    assert run["overconfidence"] == pytest.approx(expected)
    drawn = chart.read_text()
    assert all(
        text in drawn for text in ("own video", "pool", "pools_run", "AxIoU@K", "R@K, IoU&gt;=0.5", ">0.67<", ">0.83<")
    )
    rows = list(csv.DictReader(io.StringIO(reelrank(*ASKED, "--own-video", "--format", "csv")[1])))
    own = {row["measure"]: float(row["value"]) for row in rows if (row["by"], row["group"]) == ("video", "own")}
    assert own == run["own_video"]["measures"]
    assert (
        "| pools\\_run | recall@1,0.5 | 0.6667 | 0.0000 |" in reelrank(*ASKED, "--own-video", "--format", "markdown")[1]
    )


def test_overconfidence_stands_in_a_paper_s_table_and_not_without_its_measures(reelrank: Run) -> None:
    out = reelrank.out(*ASKED, "--own-video", "--format", "latex", "--percent")
    (row,) = [line for line in out.split("\\textbf")[0].splitlines() if "83.33" in line]
    assert [cell.strip(" \\") for cell in row.split("&")][-3:] == ["83.33", "50.00", "33.33"]
    asked = (*ASKED, "--own-video", "--measure", "recall@1,0.5")
    assert "overconfidence" not in result(reelrank, *asked)["runs"][0]  # type: ignore[index]
    assert "mean of" not in reelrank.out(*asked)


def test_the_benchmark_takes_the_own_video_and_two_steps(reelrank: Run, tmp_path: Path) -> None:
    """Table 3 of MVMR: a video retriever narrows each pool to its best videos, then moments are searched there."""
    run = json.loads(RUN.read_text())
    run["kitchen#0"] = [row for row in run["kitchen#0"] if row[0] != "kitchen"]
    (tmp_path / "run.json").write_text(json.dumps(run))
    first = tmp_path / "retriever.json"
    first.write_text(json.dumps({query: [[query.partition("#")[0], 0, 0, 1.0]] for query in run}))
    asked = ("evaluate", "--pool", POOLS, "--run", tmp_path / "run.json", "--benchmark", "mvmr")
    found = result(reelrank, *asked, "--own-video", "--first-step", first)
    assert found["options"]["first_step"] == "retriever.json"  # type: ignore[index]
    assert found["options"]["top_videos"] == 5  # type: ignore[index]
    (scored,) = found["runs"]  # type: ignore[misc]
    # Nothing is left of kitchen#0 in its own video: it counts 0 there, and is not missing.
    plain = result(reelrank, *asked[:-2], "--own-video", "--measure", "recall", "--k", "1,5", "--theta", "0.3,0.5,0.7")
    (expected,) = plain["runs"]  # type: ignore[misc]
    own = expected["own_video"]["measures"]
    assert {key: scored["own_video"]["measures"][key] for key in own} == pytest.approx(own)
    assert (scored["own_video"]["counted"], own["recall@5,0.5"]) == (3, pytest.approx(2 / 3))
    # The first step keeps only the own videos, so both settings see the same.
    assert scored["overconfidence"]["drop"] == 0


def test_the_report_has_the_texts_and_lengths_of_the_pools(reelrank: Run, tmp_path: Path) -> None:
    page = tmp_path / "scores.html"
    assert reelrank(*ASKED, "--errors", "--by", "relevance", "--intervals", "--report", page)[0] == 0
    text = page.read_text()
    assert "A person opens the fridge." in text
    assert "pool=pools.json" in text
    assert "predictions outside them, left out: pools_run 0" in text
    assert "The truth comes from the pools" in text


def test_a_pool_takes_the_names_of_videos_from_a_map(reelrank: Run, tmp_path: Path) -> None:
    names = ["kitchen", "hall", "porch", "garage"]
    (tmp_path / "map.json").write_text(json.dumps({name: [20, number] for number, name in enumerate(names)}))
    run = {
        query: [[names.index(row[0]), *row[1:]] for row in rows] for query, rows in json.loads(RUN.read_text()).items()
    }
    (tmp_path / "run.json").write_text(json.dumps(run))
    found = means(
        reelrank, "evaluate", "--pool", POOLS, "--run", tmp_path / "run.json", "--videos", tmp_path / "map.json"
    )
    assert found == means(reelrank, *ASKED)


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (("--run", RUN), 2, "give --truth FILE, or --pool FILE"),
        (("--truth", RUN, "--run", RUN, "--one-per-video"), 2, "needs pools: add --pool FILE"),
        (("--truth", RUN, "--run", RUN, "--outside-pool", "drop"), 2, "needs pools: add --pool FILE"),
        (("--truth", RUN, "--run", RUN, "--chart", "own-video=x.svg"), 2, "needs pools: add --pool FILE"),
        (("--pool", POOLS, "--run", RUN, "--chart", "x.pdf"), 2, "x.pdf is neither .svg nor .png"),
        (("--pool", POOLS, "--run", RUN, "--chart", "no/such/folder/x.svg"), 1, "cannot be written"),
        (("--pool", POOLS, "--run", RUN, "--top-videos", "0"), 2, "0 is not in the range x>=1"),
        (("--pool", POOLS, "--run", RUN, "--first-step", "no.json"), 1, "no.json: cannot be read"),
        (("--pool", EXAMPLE / "val.json", "--run", RUN), 1, "val.json"),
        (("--pool", POOLS, "--run", EXAMPLE / "run.json"), 1, "pools.json has 0 of this run's 1 query ids"),
    ],
)
def test_what_cannot_be_done_is_refused_in_words(
    reelrank: Run, arguments: tuple[object, ...], code: int, message: str
) -> None:
    found, out, err = reelrank("evaluate", *arguments)
    assert (found, out) == (code, "")
    assert message in " ".join(err.replace("│", " ").split())
