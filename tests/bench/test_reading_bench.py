"""What reading truths and runs costs beside parsing the same bytes alone, in the same run: `make bench`.

Prints Markdown tables for docs/performance.md. Never fails on a number; nothing here runs by default.
"""

import importlib
import json
import random
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

import msgspec
import pytest

from backend.campaign.nouns import OPERATOR
from backend.campaign.release.board.kept_runs import add_run, add_truth, load_run, load_truth
from backend.campaign.setup.project.sentence_encoder import init_project
from backend.scoring.files.formats import read_run, read_truth
from backend.scoring.scored_files import evaluate_files, score_files
from backend.scoring.statistics.sureness import Sureness, add_statistics
from backend.scoring.tables import SCORE_FORMATS
from bench.tables import sized, table, timed
from bench.test_evaluation_bench import MU, K, published_function

pytestmark = pytest.mark.bench

PACKAGES = ("msgspec", "numpy")
OFFICIAL, LARGE = 2_781, sized(15_000, 100_000)
DEEP, TIMES = sized(250, 1_000), sized(3, 9)
PEAK = """
import re, sys, time
from pathlib import Path
from backend.scoring.files.formats import read_run, read_truth
from backend.scoring.scored_files import evaluate_files
truth, run = Path(sys.argv[1]), Path(sys.argv[2])
start = time.perf_counter()
{work}
seconds = time.perf_counter() - start
print(seconds, int(re.findall(r"VmHWM:\\s+(\\d+)", Path("/proc/self/status").read_text())[0]) / 1e6)
"""


def write_nine(folder: Path) -> tuple[Path, list[Path]]:
    """The truth and nine runs of the official size, each the first one moved by another random time."""
    truth, first = write(folder, OFFICIAL)
    rows = msgspec.json.decode(first.read_bytes())
    runs = [first]
    for number in range(1, 9):
        rng = random.Random(number)
        moved = {
            query: [
                [video, (late := round(start + rng.uniform(0, number), 2)), late + 5, score]
                for video, start, _, score in found
            ]
            for query, found in rows.items()
        }
        runs.append(folder / f"run-{number}.json")
        runs[-1].write_bytes(msgspec.json.encode(moved))
    return truth, runs


def write(folder: Path, queries: int, *, per_query: int = 28, predictions: int = 40) -> tuple[Path, Path]:
    """Truth in the form of a release, and a run with names, of made-up moments."""
    rng = random.Random(2)
    videos = [f"castle_s{n % 9:02d}e{n % 20:02d}_seg02_clip_{n:02d}" for n in range(2000)]

    def span() -> list[float]:
        start = round(rng.uniform(0, 60), 2)
        return [start, round(start + rng.uniform(1, 30), 2)]

    pair = 0
    truth, run = folder / f"val-{queries}.json", folder / f"run-{queries}.json"
    with truth.open("w") as truths, run.open("w") as runs:
        for query in range(queries):
            near = rng.choices(videos, k=25)
            moments = []
            for video in rng.choices(near, k=per_query):
                pair += 1
                moments.append(
                    {
                        "pair_id": pair,
                        "video_name": video,
                        "timestamp": span(),
                        "duration": 90.02,
                        "caption": "A woman walks to the sofa and sits down with her mug.",
                        "similarity": round(rng.random(), 6),
                        "relevance": rng.randrange(5),
                    }
                )
            entry = {"query_id": query, "query": "Someone sits down on a sofa.", "relevant_moment": moments}
            truths.write(("[" if query == 0 else ", ") + json.dumps(entry))
            rows = [[video, *span(), 1.0 / n] for n, video in enumerate(rng.choices(near, k=predictions), 1)]
            runs.write(("{" if query == 0 else ", ") + f'"{query}": {json.dumps(rows)}')
        truths.write("]")
        runs.write("}")
    return truth, run


def parsers() -> dict[str, Callable[[bytes], object]]:
    found: dict[str, Callable[[bytes], object]] = {
        "msgspec": msgspec.json.decode,
        "json (standard library)": json.loads,
    }
    with suppress(ImportError):  # a peer, not a need
        found["orjson"] = importlib.import_module("orjson").loads
    return found


def test_reading_at_the_official_size(tmp_path: Path) -> None:
    truth, run = write(tmp_path, OFFICIAL)
    contents = {"truth": truth.read_bytes(), "run": run.read_bytes()}
    ours = {"truth": timed(lambda: read_truth(truth), TIMES), "run": timed(lambda: read_run(run), TIMES)}
    rows = [
        (f"{what}, {len(contents[what]) / 1e6:.1f} MB, to columns", f"{took * 1e3:.0f} ms", "")
        for what, took in ours.items()
    ]
    for name, parse in parsers().items():
        for what, content in contents.items():
            took = timed(lambda parse=parse, content=content: parse(content), TIMES)  # type: ignore[misc]
            rows.append(
                (f"{what}, {name} alone", f"{took * 1e3:.0f} ms", f"ours is {ours[what] / took:.2f} times that")
            )
    whole = timed(lambda: evaluate_files(truth, [run], preset="tvr-ranking"), TIMES)
    reading = sum(ours.values())
    rows.append(("bytes to 9 NDCG means, `tvr-ranking`", f"{whole * 1e3:.0f} ms", f"reading: {reading / whole:.0%}"))
    if published := published_function():
        took = timed(lambda: bytes_to_means(published, truth, run), 3)
        rows.append(
            ("the same, standard json and the published function", f"{took:.2f} s", f"{took / whole:.0f} times ours")
        )
        means = evaluate_files(truth, [run], preset="tvr-ranking")["runs"][0]["measures"]
        assert means == bytes_to_means(published, truth, run)
    table("Reading: 2,781 queries x 40 predictions, 77,868 graded moments", rows, PACKAGES)


def bytes_to_means(published: Callable[..., dict], truth: Path, run: Path) -> dict[str, float]:
    """The published way: parsed JSON, a dictionary for every moment, the published function."""
    answer = {str(entry["query_id"]): entry["relevant_moment"] for entry in json.loads(truth.read_bytes())}
    predicted = {
        query: [{"video_name": video, "timestamp": [start, end]} for video, start, end, _ in rows]
        for query, rows in json.loads(run.read_bytes()).items()
    }
    means = published(answer, predicted, MU, K)
    return {f"ndcg@{k},{mu}": means[k][mu] for k in K for mu in MU}


def test_a_kept_run_is_read_faster_than_its_file(tmp_path: Path) -> None:
    truth, run = write(tmp_path, OFFICIAL)
    project = init_project(tmp_path / "project", encoder="minilm")
    add = timed(
        lambda: (
            add_truth(project, OPERATOR, truth, now=0.0),
            add_run(project, OPERATOR, run, now=0.0),
        ),
        1,
    )
    load = timed(lambda: (load_truth(project, OPERATOR, truth.stem), load_run(project, OPERATOR, run.stem)))
    read = timed(lambda: (read_truth(truth), read_run(run)))
    table(
        "Truth and run of the official size, kept in a project",
        [
            ("add both", f"{add * 1e3:.0f} ms", ""),
            ("load both", f"{load * 1e3:.1f} ms", f"from their files: {read * 1e3:.0f} ms"),
        ],
        PACKAGES,
    )


@pytest.mark.parametrize(
    ("queries", "per_query", "predictions"), [(OFFICIAL, 28, DEEP), (LARGE, 10, 40)], ids=["deep", "wide"]
)
def test_large_files(tmp_path: Path, queries: int, per_query: int, predictions: int) -> None:
    truth, run = write(tmp_path, queries, per_query=per_query, predictions=predictions)
    rows = []
    with run.open("rb") as file:  # once, so that no line of the table pays for a file that was just written
        while file.read(1 << 20):
            pass
    for what, work in {
        "the run's bytes alone": "run.read_bytes()",
        "read the run": "read_run(run)",
        "json (standard library) alone": "import json; json.loads(run.read_bytes())",
        "msgspec alone": "import msgspec; msgspec.json.decode(run.read_bytes())",
        "read the truth": "read_truth(truth)",
        "read both and score 9 NDCG cells": "evaluate_files(truth, [run], measures=['ndcg'])",
        "read both and score all measures": "evaluate_files(truth, [run])",
    }.items():
        script = PEAK.format(work=work)
        done = subprocess.run(
            [sys.executable, "-c", script, truth, run], capture_output=True, text=True, check=True, cwd=tmp_path
        )
        seconds, gigabytes = map(float, done.stdout.split())
        rows.append((what, f"{seconds:.1f} s", f"peak {gigabytes:.2f} GB"))
    sizes = f"{run.stat().st_size / 1e6:.0f} MB and {truth.stat().st_size / 1e6:.0f} MB"
    moments = f"{queries:,} queries x {predictions:,} predictions, {queries * per_query:,} graded moments"
    table(f"{moments} ({sizes}), each in a process of its own", rows, PACKAGES)


def test_nine_runs_with_everything(tmp_path: Path) -> None:
    """From files to a LaTeX table: all measures, intervals, a baseline, groups and errors."""
    truth, paths = write_nine(tmp_path)
    steps: dict[str, list[float]] = {}

    def step(name: str, work: Callable[[], Any]) -> Any:
        start = time.perf_counter()
        found = work()
        steps.setdefault(name, []).append(time.perf_counter() - start)
        return found

    for _ in range(sized(1, 3)):
        board = step("read and score, all measures", partial(score_files, truth, paths))
        summary = step("groups and errors", partial(board.summary, ["duration", "relevance"], errors=True))
        asked = Sureness(board.runs[0].name)
        step("intervals, every run against a baseline", partial(add_statistics, summary, board, asked))
        text = step("LaTeX", partial(SCORE_FORMATS["latex"], summary))
        assert text.count(" & 2,781 & ") >= 9
    rows = [(name, f"{statistics.median(took):.2f} s") for name, took in steps.items()]
    rows.append(("all of it", f"{sum(statistics.median(took) for took in steps.values()):.2f} s"))
    table(
        "Nine runs of 2,781 queries x 40 predictions, 77,868 truths, from files, by the clock",
        rows,
        PACKAGES,
        "what|measured",
    )
