"""What the product costs, each figure beside a peer or a limit measured in the same run: `make bench`.

Prints Markdown tables for docs/performance.md. Never fails on a number; nothing here runs by default.
"""

import random
from pathlib import Path

import av
import numpy as np
import pytest

from backend import api
from backend.campaign.demo import clips
from backend.encoders import sentence
from backend.encoders.search import top_moments
from bench.tables import table, timed

pytestmark = pytest.mark.bench


PACKAGES = ("numpy", "torch", "av", "streamlit")


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
        PACKAGES,
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
    table("MiniLM, 1,000 captions", [("encode", f"{took:.1f} s", f"{1000 / took:.0f} captions/s")], PACKAGES)


def test_clips(tmp_path: Path) -> None:
    source = clips.folder() / "bedroom_morning.mp4"

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
        PACKAGES,
    )
