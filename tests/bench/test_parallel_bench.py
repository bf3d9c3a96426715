"""The same work in one process, on all cores, and by a Dask cluster of this machine: `make bench`.

What comes out is compared, bytes and all. A cluster on one machine wins nothing over its cores: it shows what the way
there costs. Prints Markdown tables for docs/performance.md, and never fails on a number.
"""

import json
import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import msgspec
import numpy as np
import pytest

from backend.campaign import demo
from backend.core.where import HERE, Where, placed
from backend.encoders import sentence
from backend.encoders.cache import encode_cached
from backend.media.content import sha256_of
from backend.media.jobs import ClipCache, clip_job
from backend.media.together import cut_ahead
from backend.scoring.scored_files import score_files
from backend.scoring.studies.stability import stability
from backend.scoring.studies.study import SystemValues
from bench.tables import sized, table
from bench.test_evaluation_bench import as_ours, columns

pytestmark = pytest.mark.bench

TURNS = sized(1, 3)
TEXTS = sized(1_000, 2_000)
QUERIES = 2_781
RUNS, PREDICTIONS = sized(4, 8), 400


@pytest.fixture(scope="module")
def places() -> Iterator[dict[str, Where]]:
    distributed = pytest.importorskip("distributed")
    cores = os.cpu_count() or 1
    with distributed.LocalCluster(
        n_workers=cores, threads_per_worker=1, processes=True, dashboard_address=":0"
    ) as local:
        yield {
            "one process": HERE,
            f"{cores} processes": Where(cores),
            f"a Dask cluster of {cores} workers": Where(cluster=local.scheduler_address),
        }


def compare(title: str, places: dict[str, Where], work: Callable[[Where, str], object], *packages: str) -> None:
    """Some turns each, by the clock, the start of processes and the loading of models in them included."""
    took: dict[str, list[float]] = {name: [] for name in places}
    found = []
    for turn in range(TURNS):
        for name, where in places.items():
            start = time.perf_counter()
            found.append(work(where, f"{turn} {name}"))
            took[name].append(time.perf_counter() - start)
    assert all(one == found[0] for one in found), "what came out"
    medians = {name: float(np.median(times)) for name, times in took.items()}
    rows = [[name, f"{s:.1f} s", f"{medians['one process'] / s:.2f}"] for name, s in medians.items()]
    table(
        f"{title}, medians of {TURNS}",
        rows,
        (*packages, "loky", "distributed"),
        "where|by the clock|times as fast as one process",
    )


def test_clips(shared: Path, places: dict[str, Where], tmp_path: Path) -> None:
    folder = shared / "data" / "videos"
    lines = [json.loads(line) for line in (folder / "moments.jsonl").read_text("utf-8").splitlines()]
    moments = [(folder / line["vid_name"], *map(float, line["ts"])) for line in lines]
    moments += [(path, start, start + 3.0) for path in demo.clip_folder().glob("*.mp4") for start in (0.5, 2.0)]
    moments = moments[:: sized(4, 1)]
    contents = {path: sha256_of(path) for path in {path for path, *_ in moments}}

    def work(where: Where, turn: str) -> dict[str, bytes]:
        cache = ClipCache(tmp_path / turn)
        jobs = [clip_job(cache, path, start_s, end_s, contents[path]) for path, start_s, end_s in moments]
        assert cut_ahead(jobs, where).cut == len({job.path for job in jobs})
        return {job.path.name: job.path.read_bytes() for job in jobs}

    compare(f"{len(moments)} clips cut ahead", places, work, "av")


def test_embeddings(shared: Path, places: dict[str, Where], tmp_path: Path) -> None:
    entries = json.loads((shared / "data" / "charades_sta" / "charades_test.json").read_text("utf-8"))
    texts = sorted({text for entry in entries.values() for text in entry["sentences"]})[:TEXTS]
    made: dict[str, np.ndarray] = {}

    def work(where: Where, turn: str) -> None:
        encoder = placed(sentence.load(sentence.resolve("minilm")), where)
        made[turn] = encode_cached(encoder, texts, tmp_path / turn)

    compare(f"{len(texts):,} sentences encoded by MiniLM", places, work, "torch")
    first = made["0 one process"]
    furthest = max(float(np.abs(vectors - first).max()) for vectors in made.values())
    print(f"\nLargest difference between two vectors of one text: {furthest:.0e}")


def test_a_study(places: dict[str, Where]) -> None:
    rng = np.random.default_rng(1)
    values = np.clip(rng.normal(0.4, 0.2, (12, 9, QUERIES)) + np.linspace(0, 0.1, 9)[None, :, None], 0, 1)
    table_of = SystemValues(tuple(f"m{n}" for n in range(12)), tuple(f"s{n}" for n in range(9)), values)
    sizes = [10, 27, 72, 193, 517, 1_390]
    compare(
        f"Stability: 5,000 trials x {len(sizes)} sizes x 12 measures x 9 runs, {QUERIES:,} queries",
        places,
        lambda where, turn: stability(table_of, sizes, where=where),
        "numpy",
    )


def test_many_runs(places: dict[str, Where], tmp_path: Path) -> None:
    truth, run = as_ours(*columns(QUERIES, PREDICTIONS, 77_000))
    entries = [
        {
            "query_id": query,
            "relevant_moment": [
                {"video_name": one["video"], "timestamp": [one["start"], one["end"]], "relevance": one["relevance"]}
                for one in moments
            ],
        }
        for query, moments in truth.items()
    ]
    (tmp_path / "truth.json").write_bytes(msgspec.json.encode(entries))
    paths = [tmp_path / f"run{number}.json" for number in range(RUNS)]
    for path in paths:
        path.write_bytes(msgspec.json.encode(run))
    compare(
        f"{RUNS} runs of {QUERIES:,} x {PREDICTIONS} predictions read and scored, all measures",
        places,
        lambda where, turn: score_files(tmp_path / "truth.json", paths, where=where).summary(),
        "numpy",
        "msgspec",
    )
