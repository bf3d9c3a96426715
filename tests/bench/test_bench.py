"""What the product costs, each figure beside a peer or a limit measured in the same run: `make bench`.

Prints Markdown tables for docs/performance.md. Never fails on a number; nothing here runs by default.
"""

import os
import platform
import random
import statistics
import time
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path

import av
import numpy as np
import pytest

from backend import api
from backend.encoders import sentence
from backend.encoders.search import top_moments
from backend.media import demo
from backend.media.demo import render

pytestmark = pytest.mark.bench


def timed(work: Callable[[], object], runs: int = 5) -> float:
    """Median seconds."""
    took = []
    for _ in range(runs):
        start = time.perf_counter()
        work()
        took.append(time.perf_counter() - start)
    return statistics.median(took)


def table(title: str, rows: list[tuple[str, str, str]]) -> None:
    packages = ", ".join(f"{name} {version(name)}" for name in ("numpy", "faiss-cpu", "torch", "av", "streamlit"))
    load = os.getloadavg()[0]
    print(f"\n### {title}\n\n{os.cpu_count()} cores, Python {platform.python_version()}, {packages}, load {load:.1f}\n")
    print("| what | measured | beside |\n| --- | ---: | --- |")
    for row in rows:
        print(f"| {' | '.join(row)} |")


def test_search() -> None:
    from sentence_transformers.util import semantic_search

    rng = np.random.default_rng(1)
    captions = rng.normal(size=(72_842, 384)).astype(np.float32)
    captions /= np.linalg.norm(captions, axis=1, keepdims=True)
    queries = captions[rng.choice(len(captions), 500)]
    moments = [[n] for n in range(len(captions))]
    ours = timed(lambda: top_moments(queries, captions, moments, 40), 3)
    peer = timed(lambda: semantic_search(queries, captions, top_k=40), 3)
    product = timed(lambda: queries @ captions.T, 3)
    table(
        "Top 40 of 72,842 captions for 500 queries, ties decided by rule",
        [
            ("top_moments", f"{ours:.2f} s", ""),
            ("sentence-transformers semantic_search", f"{peer:.2f} s", f"{peer / ours:.1f} times ours"),
            ("the matrix product alone", f"{product:.2f} s", f"ours is {ours / product:.1f} times that"),
        ],
    )


def test_encoding() -> None:
    words = [
        "a",
        "woman",
        "walks",
        "to",
        "the",
        "sofa",
        "and",
        "sits",
        "down",
        "with",
        "her",
        "mug",
        "while",
        "another",
        "man",
        "opens",
        "door",
    ]
    rng = random.Random(1)
    texts = [" ".join(rng.choices(words, k=rng.randint(6, 16))) for _ in range(1000)]
    encoder = sentence.load(sentence.resolve("minilm"))
    encoder.encode(texts[:32])
    took = timed(lambda: encoder.encode(texts), 1)
    table("MiniLM, 1,000 captions", [("encode", f"{took:.1f} s", f"{1000 / took:.0f} captions/s")])


def test_evaluation() -> None:
    rng = random.Random(2)

    def span() -> tuple[float, float]:
        start = round(rng.uniform(0, 60), 2)
        return start, round(start + rng.uniform(1, 30), 2)

    videos = [f"v{n}" for n in range(2000)]
    truth, run = {}, {}
    for query in range(2781):
        near = rng.choices(videos, k=25)
        truth[query] = [
            {"video": v, "start": s, "end": e, "relevance": rng.randrange(5)}
            for v in rng.choices(near, k=28)
            for s, e in [span()]
        ]
        run[query] = [[v, *span(), 1.0 / n] for n, v in enumerate(rng.choices(near, k=40), 1)]
    paper = timed(lambda: api.evaluate(truth, run), 3)
    official = timed(lambda: api.evaluate(truth, run, preset="official"), 3)
    table(
        "NDCG@10,20,40, IoU >= 0.3, 0.5, 0.7: 2,781 queries x 40 predictions, 77,868 truths, from Python objects",
        [("preset paper", f"{paper * 1e3:.0f} ms", ""), ("preset official", f"{official * 1e3:.0f} ms", "")],
    )


def test_clips(tmp_path: Path) -> None:
    name = demo.VIDEOS[0]
    source = tmp_path / f"{name}.mp4"
    render.write_video(source, render.frames(render.scene(name)))

    def decode() -> None:
        with av.open(str(source)) as container:
            container.streams.video[0].thread_count = 1
            for frame in container.decode(video=0):
                if frame.time is not None and frame.time >= 8:
                    break

    cut = timed(lambda: api.cut(source, 0.0, 8.0, tmp_path / "out.mp4"))
    limit = timed(decode)
    table(
        "An 8 s clip of 640x360, 25 frames a second",
        [("cut", f"{cut:.2f} s", ""), ("decoding alone", f"{limit:.2f} s", f"{cut / limit:.1f} times that")],
    )
