"""Memory and time of a training step of each system, by the size of its batch: `make bench`.

Each measurement has a process of its own with one thread. Data are random, of TVR's sizes: clips of 512 numbers, 51 of
them for systems with `clip_s`, tokens and sentences of 384 numbers. Networks have their default sizes, and each pair of
a batch has a video of its own. Never fails on a time.
"""

import multiprocessing
import time

import msgspec
import numpy as np
import pytest
import torch
from torch import Tensor

from backend.systems.learning.loop import losses_of
from backend.systems.learning.system import Batch, DrawnQueries, DrawnVideos, Rivals, Sizes
from backend.systems.learning.systems import SYSTEMS, system_class
from bench.tables import peak_memory_mb, sized, table

pytestmark = pytest.mark.bench

FRAME_DIM, SENTENCE_DIM, CLIPS, TOKENS = 512, 384, 51, 14
MAPS = ("mmn", "crocs", "g2l")
MAP_BATCHES, BATCHES = sized((1,), (1, 2, 4)), sized((8,), (8, 16, 32))
STEPS, HARD = 3, (4, 8)


def videos(count: int, clips: int) -> tuple[Tensor, Tensor]:
    return torch.randn(count, clips, FRAME_DIM), torch.ones(count, clips, dtype=torch.bool)


def texts(count: int) -> tuple[Tensor, Tensor, Tensor]:
    tokens = torch.randn(count, TOKENS, SENTENCE_DIM)
    return tokens, torch.ones(count, TOKENS, dtype=torch.bool), torch.randn(count, SENTENCE_DIM)


def drawn(size: int, each: int) -> tuple[Tensor, Tensor]:
    """Rows of `each` different negatives for each pair, and that all count."""
    return torch.arange(size * each).view(size, each), torch.ones(size, each, dtype=torch.bool)


def random_batch(size: int, clips: int) -> Batch:
    rows, mask = videos(size, clips)
    words, words_mask, vectors = texts(size)
    first = torch.randint(0, clips // 2, (size,))
    last = first + clips // 8
    index, span = torch.arange(size), torch.stack([first, last + 1], dim=1).float()
    own = torch.eye(size, dtype=torch.bool)
    return Batch(
        np.arange(size), index, index, words, words_mask, vectors, rows, mask, first, last, span, torch.ones(size), own
    )


def step_of(name: str, size: int, hard: tuple[int, int]) -> tuple[float, float, float]:
    """Return the seconds of CPU of the faster and of the slower of two steps, and the peak memory in MB."""
    torch.set_num_threads(1)
    torch.manual_seed(0)
    cls = system_class(name)
    model = msgspec.convert({"similarity": "disjoint"} if name == "conquer" else {}, cls.ModelOptions)
    clips = getattr(model, "clips", CLIPS)
    network = cls(Sizes(FRAME_DIM, SENTENCE_DIM), model, cls.LossOptions()).train()
    optimiser = torch.optim.AdamW(network.parameters(), lr=1e-4)
    batch, rivals = random_batch(size, clips), None
    some_videos, some_queries = hard
    if some_videos:
        wrong = DrawnVideos(*videos(size * some_videos, clips), *drawn(size, some_videos))
        queries = DrawnQueries(*texts(size * some_queries), *drawn(size, some_queries)) if some_queries else None
        rivals = Rivals(~batch.positives, wrong, queries)
    took = []
    for _ in range(STEPS):
        begun = time.process_time()
        loss = losses_of(network, batch, rivals, "fp32")["loss"]
        optimiser.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]  # torch has no types there
        optimiser.step()
        took.append(time.process_time() - begun)
    return min(took[1:]), max(took[1:]), peak_memory_mb()


def test_step_of_each_system() -> None:
    work = [(name, size, (3, 0) if name == "conquer" else (0, 0)) for name in SYSTEMS for size in sizes_of(name)]
    work += [("crocs", size, HARD) for size in sized((1,), (1, 2))]
    rows = []
    for name, size, hard in work:
        with multiprocessing.get_context("spawn").Pool(1) as process:
            fast, slow, peak = process.apply(step_of, (name, size, hard))
        label = f"{name}, {hard[0]} videos drawn" if hard[0] else name
        rows.append((label, str(size), f"{fast:.3f} s", f"{fast / size:.3f} s", f"{slow:.3f} s", f"{peak:.0f}"))
        print(rows[-1], flush=True)
    table("A step of training, one thread", rows, ("torch",), "system|pairs|CPU|a pair|slower step|peak MB")


def sizes_of(name: str) -> tuple[int, ...]:
    return MAP_BATCHES if name in MAPS else BATCHES
