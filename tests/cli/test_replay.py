"""`reelrank replay` and `reelrank plan`: what they print and write, and how wrong usage is told."""

import csv
import json
import random
from pathlib import Path

import pytest

from cli.conftest import Run


@pytest.fixture
def finished(tmp_path: Path) -> list[object]:
    """The arguments of a replay: 12 queries with a batch of 20 pairs each, graded twice, and three runs."""
    rng = random.Random(5)
    raw, pairs = ["pair_id,worker,relevance"], ["pair_id,query,query_id,video_name,start,end,rank,similarity"]
    runs: dict[str, dict[str, list[list[object]]]] = {"good": {}, "fair": {}, "bad": {}}
    for query in range(12):
        values = {}
        for rank in range(1, 21):
            pair = 20 * query + rank - 1
            grade = rng.randint(0, 4)
            raw += [f"{pair},{who},{max(0, grade - who)}" for who in (0, 1)]
            pairs.append(f"{pair},query {query},{query},video {pair},0,5,{rank},0.5")
            values[f"video {pair}"] = grade
        for name, noise in (("good", 0.1), ("fair", 2.0), ("bad", 9.0)):
            order = sorted(values, key=lambda video: -values[video] - rng.gauss(0, noise))
            runs[name][str(query)] = [[video, 0, 5, -place] for place, video in enumerate(order)]
    (tmp_path / "raw.csv").write_text("\n".join(raw))
    (tmp_path / "pairs.csv").write_text("\n".join(pairs))
    for name, run in runs.items():
        (tmp_path / f"{name}.json").write_text(json.dumps(run))
    files = [tmp_path / f"{name}.json" for name in runs]
    return ["replay", tmp_path / "raw.csv", "--pairs", tmp_path / "pairs.csv", "--run", *files, "--resamples", 50]


def test_a_replay_prints_a_table_and_writes_its_figure_and_data(
    reelrank: Run, finished: list[object], tmp_path: Path
) -> None:
    wanted = ("--policy", "random=0.25,0.5", "--policy", "raters=0", "--out", tmp_path / "out")
    out = reelrank.out(*finished, *wanted)
    assert "12 queries; 3 systems; measure ndcg@20,0.5" in out
    lines = {" ".join(line.split()[:2]): line.split() for line in out.splitlines()}
    assert lines["all grades"][2:4] == ["480", "0.0%"]
    assert lines["random 0.25"][2:4] == ["120", "75.0%"]
    assert lines["random 0.5"][2:4] == ["240", "50.0%"]
    assert "raters (without the n annotators who differ most): tau-b >= 0.98 with 480 grades (setting 0)" in out
    assert {path.name for path in (tmp_path / "out").iterdir()} == {"replay.csv", "replay.png", "replay.svg"}
    rows = list(csv.DictReader((tmp_path / "out/replay.csv").open(encoding="utf-8")))
    assert [row["policy"] for row in rows] == ["all grades", "random", "random", "raters"]
    assert {row["measure"] for row in rows} == {"ndcg@20,0.5"}
    assert "share of grades saved" in (tmp_path / "out/replay.svg").read_text(encoding="utf-8")


def test_a_replay_as_json(reelrank: Run, finished: list[object], tmp_path: Path) -> None:
    code, out, err = reelrank(*finished, "--policy", "active", "--json", "--out", tmp_path / "out", "--k", 5)
    found = json.loads(out)
    assert (code, found["name"], found["choices"]["measure"]) == (0, "replay", "ndcg@5,0.5")
    assert [row["setting"] for row in found["rows"]] == [None, 0.1, 0.2, 0.3, 0.4, 0.6, 0.8]
    assert "replay.svg" in err


@pytest.mark.parametrize(
    ("more", "code", "told"),
    [
        (("--policy", "single=much"), 2, "is not NAME or NAME=V,V with numbers, such as single=0.8,0.9"),
        (("--policy", "best"), 1, "'best' is not one of single, settled, batches, raters, active, random"),
        (("--policy", "active=2"), 1, "active=2 is not from 0 to 1"),
        (("--draws", 0), 2, "0 is not in the range x>=1"),
    ],
)
def test_wrong_usage_of_replay(
    reelrank: Run, finished: list[object], more: tuple[object, ...], code: int, told: str
) -> None:
    found, _, err = reelrank(*finished, *more)
    assert found == code
    assert told in " ".join(err.replace("│", " ").split())


def test_a_plan_by_the_figures_of_tvr_ranking(reelrank: Run) -> None:
    out = reelrank.out("plan", "--difference", "0.02,0.05", "--sd", 0.2, "--wage", 14)
    lines = [line.split() for line in out.splitlines()]
    assert lines[-3] == ["difference", "queries", "batches", "pairs", "grades", "hours", "cost"]
    # 787 queries at 227,808 grades for 3,281, each 1,200 h / 227,808.
    assert lines[-2] == ["0.02", "787", "1,158", "23,143", "54,644", "287.8", "4,030"]
    assert "19.0 s a grade: around 1,200 working hours for 227,808 grades." in out
    made = json.loads(reelrank.out("plan", "--difference", "0.02", "--sd", 0.2, "--seconds", 30, "--json"))
    assert made["figures"]["seconds"] == 30
    assert made["plans"][0]["hours"] == pytest.approx(54_644 * 30 / 3_600)
    assert made["plans"][0]["cost"] is None


@pytest.mark.parametrize(
    ("arguments", "code", "told"),
    [
        (("--difference", "0.02"), 2, "give it, or a pilot and runs on it: --pilot DIR --run A B"),
        (("--difference", "0.02", "--run", "a.json"), 2, "needs the release that the runs are on: add --pilot DIR"),
        (("--difference", "0.02", "--sd", "0.1", "--seconds", "0"), 2, "0 is not above 0"),
        (("--difference", "0", "--sd", "0.1"), 1, "difference: 0 is not above 0"),
        (("--difference", "0.02", "--sd", "0.1", "--power", "2"), 1, "power: 2 is not above 0.05 and below 1"),
    ],
)
def test_wrong_usage_of_plan(reelrank: Run, arguments: tuple[str, ...], code: int, told: str) -> None:
    found, _, err = reelrank("plan", *arguments)
    assert found == code
    assert told in " ".join(err.replace("│", " ").split())
