"""Draw the pairs of a training set in random order, a batch at a time, as tensors.

All randomness of an epoch follows from the seed and the number of the epoch, so that going on after a stop needs to
remember nothing of what was drawn before.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from backend.systems.learning.material import Clips, Floats, Indices, TrainingPairs


@dataclass(frozen=True, slots=True, eq=False)
class Batch:
    """Pairs, as tensors of one device; see `material.TrainingPairs`.

    `numbers` are the pairs' places in the training set, `positives` bool `(pairs, pairs)`: whether the video of pair j
    has a moment of the query of pair i.
    """

    numbers: Indices
    vectors: Tensor
    clips: Tensor
    mask: Tensor
    first: Tensor
    last: Tensor
    weight: Tensor
    positives: Tensor


def seeds_of(seed: int, epoch: int) -> tuple[int, int, int]:
    """Seeds of the order of an epoch, of what is dropped in it, and of the negatives drawn in it."""
    order, dropout, draws = np.random.SeedSequence([seed, epoch]).generate_state(3).tolist()
    return order, dropout, draws


def batches(
    pairs: TrainingPairs, clips: Clips, vectors: Floats, size: int, order: int, device: torch.device
) -> Iterator[Batch]:
    """All pairs once, in a random order; the last batch may be smaller.

    Args:
        pairs: of the training set.
        clips: of all videos.
        vectors: of the set's texts, float32 `(texts, dim)`.
        size: pairs a batch.
        order: seed of the order.
        device: where to.
    """
    numbers = np.random.default_rng(order).permutation(len(pairs))
    for start in range(0, len(numbers), size):
        yield batch_of(pairs, clips, vectors, numbers[start : start + size], device)


def batch_of(pairs: TrainingPairs, clips: Clips, vectors: Floats, numbers: Indices, device: torch.device) -> Batch:
    """These pairs."""
    query, video = pairs.query[numbers], pairs.video[numbers]
    filled, mask = padded(clips, video, device)
    return Batch(
        numbers,
        torch.from_numpy(vectors[query]).to(device),
        filled,
        mask,
        torch.from_numpy(pairs.first[numbers]).to(device),
        torch.from_numpy(pairs.last[numbers]).to(device),
        torch.from_numpy(pairs.weight[numbers]).to(device),
        torch.from_numpy(np.stack([np.isin(video, pairs.positives[one]) for one in query])).to(device),
    )


def padded(clips: Clips, videos: Indices, device: torch.device) -> tuple[Tensor, Tensor]:
    """The clips of these videos, float32 `(videos, clips, dim)`, filled up with 0, and bool `(videos, clips)`."""
    counts = clips.counts[videos]
    filled = np.zeros((len(videos), int(counts.max()), clips.rows.shape[1]), dtype=np.float32)
    for row, (video, count) in enumerate(zip(videos.tolist(), counts.tolist(), strict=True)):
        filled[row, :count] = clips.rows[clips.starts[video] : clips.starts[video] + count]
    mask = np.arange(filled.shape[1]) < counts[:, None]
    return torch.from_numpy(filled).to(device), torch.from_numpy(mask).to(device)
