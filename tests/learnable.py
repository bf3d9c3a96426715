"""Made-up material that can be learned: videos show one topic after the other, and queries name topics."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import msgspec
import numpy as np
import torch

from backend.systems.learning.config import Config, PredictOptions, TrainingOptions
from backend.systems.learning.material import (
    AskedQueries,
    EncodedTexts,
    TrainingPair,
    TrainingSet,
    read_clips,
    read_pairs,
)
from backend.systems.learning.objective import TrainingMaterial
from backend.systems.learning.system import Sizes
from backend.systems.learning.systems.late import Late, LossOptions, ModelOptions

TOPICS, DIM, CLIPS, CLIP_S = 6, 12, 9, 2.0
"""Each topic is shown for three clips, three topics a video."""


class HeldFeatures:
    """Features in memory, with the surface of those in files."""

    def __init__(self, rate: float, arrays: dict[str, np.ndarray]) -> None:
        self.rate, self.arrays = rate, arrays
        self.dim = next(iter(arrays.values())).shape[1]

    def of(self, video: str) -> np.ndarray:
        return self.arrays[video]


@contextmanager
def one_thread() -> Iterator[None]:
    """For small sums, where a second thread would only wait for the first."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


def topics_of(video: int) -> list[int]:
    return [(video + step * step) % TOPICS for step in range(3)]


def features(videos: int, rng: np.random.Generator) -> HeldFeatures:
    shown = rng.standard_normal((TOPICS, DIM))
    rows = {
        f"v{n}": np.repeat(shown[topics_of(n)], 3, axis=0) + 0.1 * rng.standard_normal((CLIPS, DIM))
        for n in range(videos)
    }
    return HeldFeatures(1 / CLIP_S, {name: one.astype(np.float32) for name, one in rows.items()})


def late(hidden: int = 16, dropout: float = 0.0, **loss: object) -> Late:
    """A network for such material."""
    options = LossOptions(**loss)  # type: ignore[arg-type]  # whoever calls gives the fields
    return Late(Sizes(DIM, 10), ModelOptions(hidden=hidden, heads=2, dropout=dropout, clip_s=CLIP_S), options)


def material(
    folder: Path, *, videos: int = 8, seed: int = 0, clips: int | None = None, words: bool = False
) -> TrainingMaterial:
    """Training pairs of all videos and topics; validation queries are the topics, with all their moments as truth.

    Each query has two tokens, which are its vector and half of it.
    """
    rng = np.random.default_rng(seed)
    seconds = {f"v{n}": CLIPS * CLIP_S for n in range(videos)}
    made = read_clips(features(videos, rng), "features.h5", seconds, None if clips else CLIP_S, clips=clips)
    named = rng.standard_normal((TOPICS, 10))
    found = [(topic, n, 6.0 * place) for n in range(videos) for place, topic in enumerate(topics_of(n))]
    pairs = [
        TrainingPair(row, topic, f"v{n}", start, start + 6.0, 0.9)
        for row, (topic, n, start) in enumerate(found, start=1)
    ]
    training = TrainingSet("train_top01.json", tuple(f"topic {n}" for n in range(TOPICS)), pairs)
    truth = [
        {
            "query_id": 100 + topic,
            "query": f"shows topic {topic}",
            "relevant_moment": [
                {"video_name": f"v{n}", "timestamp": [start, start + 6.0], "duration": 18.0, "relevance": 4}
                for one, n, start in found
                if one == topic
            ],
        }
        for topic in range(TOPICS)
    ]
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "val.json").write_bytes(msgspec.json.encode(truth))
    val = AskedQueries(
        str(folder / "val.json"), tuple(100 + n for n in range(TOPICS)), tuple(str(one["query"]) for one in truth)
    )
    vectors = named.astype(np.float32)
    asked = (named + 0.05 * rng.standard_normal(named.shape)).astype(np.float32)
    queries, asked_texts = (encoded(one, words=words) for one in (vectors, asked))
    pairs_read = read_pairs(training, made, weighted=True)
    return TrainingMaterial(made, pairs_read, queries, val, asked_texts, "frames", "words")


def encoded(vectors: np.ndarray, *, words: bool = False) -> EncodedTexts:
    """Encoded texts with these vectors."""
    if not words:
        return EncodedTexts.without_tokens(vectors)
    tokens = np.repeat(vectors, 2, axis=0) * np.tile(np.float32([1, 0.5]), len(vectors))[:, None]
    return EncodedTexts(vectors, tokens, np.arange(0, 2 * len(vectors) + 1, 2))


def config(folder: Path, **changes: object) -> Config:
    """Settings that learn such material in seconds."""
    given = Config(
        release=str(folder),
        features=str(folder / "features.h5"),
        out=str(folder / "out"),
        model=ModelOptions(hidden=16, heads=2, dropout=0.1, clip_s=CLIP_S),
        training=TrainingOptions(epochs=3, evaluate_every=1, batch=8, learning_rate=3e-3),
        loss=LossOptions(),
        predict=PredictOptions(videos=8, moments=20),
    )
    return msgspec.structs.replace(given, **changes)


def differences(plain: Callable[[np.ndarray], float], at: np.ndarray, step: float = 1e-6) -> np.ndarray:
    """The gradient, by moving each number a little both ways."""
    found = np.zeros_like(at)
    for place in np.ndindex(at.shape):
        up, down = at.copy(), at.copy()
        up[place] += step
        down[place] -= step
        found[place] = (plain(up) - plain(down)) / (2 * step)
    return found
