"""Trained models beside baselines on the demo corpus, and CroCs sampling beside random negatives: `make bench`.

The shape of Tables 5 and 7 of TVR-Ranking, on 16 drawn videos: it shows that the loop closes, not how good a model is.
Grades are simulated from the similarity of query and caption, so what reads captions is near the best that there is.
Features are made here: every frame at 10 x 6 pixels, and how it differs from the one before. Prints Markdown tables for
docs/training.md. Never fails on a number; nothing here runs by default.
"""

import dataclasses
import json
import statistics
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import pytest
import torch
from scipy import stats

from backend.campaign import demo
from backend.campaign.demo import build_demo
from backend.campaign.nouns import OPERATOR
from backend.campaign.release.export.freezing import export_release
from backend.campaign.selection.pools.corpora import build_pools
from backend.campaign.selection.pools.model import PoolOptions
from backend.campaign.selection.pools.negatives import write_negatives
from backend.campaign.setup.project.folder import open_project
from backend.media.frames import frames_at
from backend.media.sources import source_at
from backend.scoring.evaluate import evaluate
from backend.scoring.pools.model import PoolConventions as Pooling
from backend.systems.baseline_runs import write_baseline_from_file
from backend.systems.baselines import BaselineOptions
from backend.systems.extracting import write_features
from backend.systems.learning import loop, trained_models
from backend.systems.learning.material import Clips, TrainingPairs, TrainingSet
from backend.systems.learning.trained_models import predict_run, train_model
from bench.tables import FULL, sized, table
from learnable import one_thread

pytestmark = pytest.mark.bench

PACKAGES = ("numpy", "torch", "reelrank")
RATE, WIDTH, HEIGHT = 4.0, 10, 6
KEY, SEEDS, CROCS_SEEDS = "ndcg@20,0.5", sized((0,), (0, 1, 2)), sized((0, 1), (0, 1, 2, 3, 4))
MASK_SEEDS = sized((0,), (0, 1, 2, 3))
SHORTER = sized(8, 1)
"""By so much than what docs/training.md tells, where only the way there and its time are looked at."""
POOL_KEYS = ("recall@1,0.5", "recall@5,0.5", "axiou@5")
TRAINING = {
    "N = 1": (1, f"epochs = {280 // SHORTER}\npatience = 80"),
    "N = 20": (20, f"epochs = {16 // SHORTER}\npatience = 6"),
    "N = 40": (40, f"epochs = {8 // SHORTER}\npatience = 4"),
    "N = 40, longer": (40, f"epochs = {16 // SHORTER}\npatience = 8"),
}
if not FULL:
    TRAINING = {name: TRAINING[name] for name in ("N = 1", "N = 20", "N = 40")}
"""About as many steps for each N, so that what differs is what is learned from; the last has twice as many."""


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The demo's release with 12 validation and 24 test queries, all of them graded, and features of its videos."""
    place = tmp_path_factory.mktemp("home")
    with pytest.MonkeyPatch.context() as patch:
        for name, value in (("VAL_QUERIES", 12), ("TEST_QUERIES", 24), ("SIMULATED_SHARE", 1.0)):
            patch.setattr(demo, name, value)
        project = build_demo(place / "demo", judged=True, now=time.time(), progress=lambda *_: None)
    export_release(project, OPERATOR, place / "release", now=time.time())
    project.store.close()
    write_features(place / "frames.h5", _features(place / "demo/videos"), rate=RATE, encoder="pixels and differences")
    train = json.loads((place / "release/train_top01.json").read_text())
    own = [(one["query"], one["relevant_moment"][0]) for one in train]
    lines = [
        {"video": m["video_name"], "start": m["timestamp"][0], "end": m["timestamp"][1], "caption": text}
        | {"duration": m["duration"]}
        for text, m in own
    ]
    (place / "queries.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    return place


def _features(folder: Path) -> Iterator[tuple[str, np.ndarray]]:
    for file in sorted(folder.glob("*.mp4")):
        pictures = frames_at(source_at(file), RATE)
        small = np.array([cv2.resize(one, (WIDTH, HEIGHT), interpolation=cv2.INTER_AREA) for one in pictures])
        flat = small.reshape(len(small), -1) / 255.0
        moved = np.abs(np.diff(flat, axis=0, prepend=flat[:1]))
        yield file.stem, np.concatenate([flat - flat.mean(), 3 * moved], axis=1).astype(np.float32)


def _settings(home: Path, name: str, training: str, seeds: tuple[int, ...], more: str = "") -> Path:
    top, steps = TRAINING[training]
    file = home / f"{name}.toml"
    file.write_text(
        f'release = "release"\nfeatures = "frames.h5"\nout = "{name}"\nencoder = "minilm"\nembeddings = "embeddings"\n'
        f"top = {top}\nseeds = {list(seeds)}\n[model]\nhidden = 64\nheads = 4\nclip_s = 0.5\ndropout = 0.2\n"
        f"[training]\nbatch = 32\nlearning_rate = 1e-3\n{steps}\n{more}"
    )
    return file


def _run_of(home: Path, folder: Path) -> Path:
    out = home / f"{folder.parent.name}-{folder.name}.json"
    predict_run(folder, out, split="test")
    return out


def _baseline(home: Path, name: str) -> list[dict[str, float]]:
    """Of every seed, where it draws."""
    found = []
    for seed in SEEDS if name != "caption" else SEEDS[:1]:
        out = home / f"{name}-{seed}.json"
        options = BaselineOptions(seed=seed)
        write_baseline_from_file(
            home / "release", name, out, options, split="test", encoder="minilm", embeddings=home / "embeddings"
        )
        found.append(_scores(home, out))
    return found


def _scores(home: Path, run: Path) -> dict[str, float]:
    return evaluate(str(home / "release/test.json"), str(run), k=(10, 20, 40), mu=(0.3, 0.5, 0.7), measures="ndcg").mean


def _spread(values: list[float]) -> str:
    return f"{statistics.mean(values):.3f}" + (f" ± {statistics.stdev(values):.3f}" if len(values) > 1 else "")


def test_pseudo_training_sets_beside_baselines(home: Path) -> None:
    rows: list[tuple[str, ...]] = []
    found = {name: _baseline(home, name) for name in ("random", "prior", "caption")}
    with one_thread():
        for number, training in enumerate(TRAINING):
            start = time.perf_counter()
            reports = train_model(_settings(home, f"training{number}", training, SEEDS))
            took = (time.perf_counter() - start) / len(SEEDS)
            found[training] = [_scores(home, _run_of(home, one.folder)) for one in reports]
            best = ", ".join(f"{one.best} of {one.epochs}" for one in reports)
            rows.append((training, best, _spread([one.ndcg for one in reports]), f"{took:.0f} s"))
    keys = [f"ndcg@{k},{mu}" for k in (10, 20, 40) for mu in (0.3, 0.5, 0.7)]
    table(
        "Test queries of the demo, NDCG@K, IoU >= mu (24 queries, 16 videos, simulated grades)",
        [(name, *(_spread([one[key] for one in scores]) for key in keys)) for name, scores in found.items()],
        PACKAGES,
        "|".join(["system", *(key.removeprefix("ndcg@") for key in keys)]),
    )
    table("Training", rows, PACKAGES, f"set|best epoch of each seed|val {KEY}|clock a seed")
    more, fewer = ([one[KEY] for one in found[training]] for training in ("N = 40", "N = 1"))
    print(f"\nN = 40 minus N = 1: {statistics.mean(more) - statistics.mean(fewer):+.3f}")


def _pools(home: Path) -> Path:
    """Pools of ten videos for the test queries, by the texts of the demo's captions; returns the file.

    Beside it a release is made that asks these queries by the names that they have there, `VIDEO#N`.
    """
    project = open_project(home / "demo")
    options = PoolOptions(pool=10, t_pos=0.8, t_neg=0.5)
    build_pools(project, OPERATOR, home / "pools", options, now=time.time())
    project.store.close()
    asked = {one["query"] for one in json.loads((home / "release/test.json").read_text())}
    pools = json.loads((home / "pools/pools.json").read_text())
    queries = []
    for video, one in pools.items():
        for number, text in enumerate(one["sentences"]):
            if text in asked:
                queries.append({"query_id": f"{video}#{number}", "query": text, "relevant_moment": []})
            else:  # trained on, or stopped by
                one["retrieval_pool"][number], one["pos_moments"][number] = [], []
    (home / "pools.json").write_text(json.dumps(pools))
    (home / "asked").mkdir()
    (home / "asked/test.json").write_text(json.dumps(queries))
    (home / "asked/video_corpus.json").write_bytes((home / "release/video_corpus.json").read_bytes())
    return home / "pools.json"


def _pool_scores(home: Path, pools: Path, folder: Path) -> dict[str, float]:
    out = home / f"{folder.parent.name}-{folder.name}-pool.json"
    predict_run(folder, out, split="test", release=home / "asked")
    drop = Pooling(outside="drop")
    return evaluate(None, str(out), pools=str(pools), pooling=drop, k=(1, 5), theta=0.5, measures=POOL_KEYS).mean


def test_crocs_sampling_beside_random_negatives(home: Path) -> None:
    write_negatives(home / "queries.jsonl", home / "negatives", threshold=0.8, encoder="minilm")
    pools = _pools(home)
    found: dict[str, list[dict[str, float]]] = {"similar": [], "uniform": []}
    with one_thread():
        for draw, scores in found.items():
            more = '[loss]\nvideo = "crocs"\nmargin = 0.4\n[negatives]\nfolder = "negatives"\ncount = 4\n'
            for one in train_model(_settings(home, draw, "N = 1", CROCS_SEEDS, f'{more}draw = "{draw}"\n')):
                scores.append(_scores(home, _run_of(home, one.folder)) | _pool_scores(home, pools, one.folder))
    rows = []
    for key in (*POOL_KEYS, "ndcg@20,0.3", KEY, "ndcg@20,0.7"):
        columns = [[one[key] for one in scores] for scores in found.values()]
        rows.append((key, "pool of 10" if key in POOL_KEYS else "all 16", *map(_spread, columns), _paired(*columns)))
    table(
        f"Strong negatives drawn by p' beside as many drawn alike, N = 1, {len(CROCS_SEEDS)} seeds, paired, 95 % by t",
        rows,
        PACKAGES,
        "measure|videos|by p'|uniform|difference",
    )


@pytest.mark.parametrize("top", sized([20], [20, 40]))
def test_what_the_mask_of_positives_leaves(home: Path, monkeypatch: pytest.MonkeyPatch, top: int) -> None:
    """The same pairs, masked by the videos of their query's first 20 moments, of all 40, or by none but the own one."""
    real, negatives = trained_models.read_pairs, loop.negatives_of

    def with_own(positives: torch.Tensor, *, masked: bool) -> torch.Tensor:
        return negatives(positives | torch.eye(len(positives), dtype=torch.bool), masked=masked)

    monkeypatch.setattr(loop, "negatives_of", with_own)
    rows = []
    for mask in (20, 40, None):
        lists = json.loads((home / f"release/train_top{mask or top}.json").read_text())

        def read(training: TrainingSet, clips: Clips, *, weighted: bool, lists: Any = lists) -> TrainingPairs:
            number = {video: n for n, video in enumerate(clips.videos)}
            shown = {one["query"]: {number[m["video_name"]] for m in one["relevant_moment"]} for one in lists}
            positives = tuple(np.array(sorted(shown[text])) for text in training.texts)
            return dataclasses.replace(real(training, clips, weighted=weighted), positives=positives)

        monkeypatch.setattr(trained_models, "read_pairs", read)
        more = "" if mask else "[loss]\nmask_positives = false\n"
        with one_thread():
            reports = train_model(_settings(home, f"pairs{top}mask{mask}", f"N = {top}", MASK_SEEDS, more))
        values = [_scores(home, _run_of(home, one.folder))[KEY] for one in reports]
        rows.append((f"N = {top}", str(mask or "own video"), _spread(values)))
    table(f"What the mask of positives leaves, {KEY}", rows, PACKAGES, "pairs|mask of|NDCG")


def _paired(ones: list[float], others: list[float]) -> str:
    """The mean difference of the same seeds, with its 95 % interval by Student's t."""
    difference = [one - other for one, other in zip(ones, others, strict=True)]
    half = float(stats.t.ppf(0.975, len(difference) - 1)) * statistics.stdev(difference) / len(difference) ** 0.5
    mean = statistics.mean(difference)
    return f"{mean:+.3f} [{mean - half:+.3f}, {mean + half:+.3f}]"
