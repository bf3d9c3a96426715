"""Draw the batches of a training in a random order, which the seed of the training decides."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from backend.systems.learning.material import Clips, Floats, Indices, TrainingPairs


@dataclass(frozen=True, slots=True, eq=False)
class Batch:
    """A batch of training pairs (a query and a moment each), as tensors on one device.

    Clips are short pieces of a video.

    Attributes:
        numbers: the indices of the pairs in the training set.
        vectors: the vector of each pair's query, `(pairs, dim)`.
        clips: the clips of each pair's video, `(pairs, clips, dim)`, padded with 0.
        mask: bool `(pairs, clips)`, True where there is a clip.
        first: the first clip of each moment, `(pairs,)`.
        last: its last clip.
        weight: the weight of each pair in the loss.
        positives: bool `(pairs, pairs)`: row i, column j says whether the video of pair j contains a moment of the
            query of pair i.
    """

    numbers: Indices
    vectors: Tensor
    clips: Tensor
    mask: Tensor
    first: Tensor
    last: Tensor
    weight: Tensor
    positives: Tensor


def order_seed(seed: int, epoch: int) -> int:
    """Return the random seed of the order of pairs in an epoch (from 1), for the seed of the training."""
    return int(np.random.SeedSequence([seed, epoch]).generate_state(1)[0])


def step_seeds(seed: int, step: int) -> tuple[int, int]:
    """Return the random seeds of a step: of dropout, and of drawing negatives.

    They depend only on the seed of the training and the number of the step. So a training can resume after any step
    without a record of earlier draws, and evaluations change nothing.
    """
    dropout, draws = np.random.SeedSequence([seed, step], spawn_key=(1,)).generate_state(2).tolist()
    return dropout, draws


def batches(
    pairs: TrainingPairs, clips: Clips, vectors: Floats, size: int, order: int, device: torch.device, *, skip: int = 0
) -> Iterator[Batch]:
    """Yield all training pairs once, in batches in a random order; the last batch may be smaller.

    Args:
        pairs: the pairs of the training set.
        clips: the clips of all videos.
        vectors: the vectors of the set's texts, float32 `(texts, dim)`.
        size: the number of pairs in a batch.
        order: the random seed of the order.
        device: the device of the tensors.
        skip: the number of batches to leave out at the beginning.
    """
    numbers = np.random.default_rng(order).permutation(len(pairs))
    for start in range(skip * size, len(numbers), size):
        yield batch_of(pairs, clips, vectors, numbers[start : start + size], device)


def batch_of(pairs: TrainingPairs, clips: Clips, vectors: Floats, numbers: Indices, device: torch.device) -> Batch:
    """Return the training pairs with these indices (`numbers`) as a batch."""
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
        torch.from_numpy(np.stack([np.isin(video, pairs.positives[number]) for number in query])).to(device),
    )


def padded(clips: Clips, videos: Indices, device: torch.device) -> tuple[Tensor, Tensor]:
    """Return the clips (short pieces) of the videos with these indices, and a mask that says which clips exist.

    The clips, `(videos, clips, dim)`, are padded with 0. The mask, `(videos, clips)`, is True where there is a clip.
    """
    counts = clips.counts[videos]
    filled = np.zeros((len(videos), int(counts.max()), clips.rows.shape[1]), dtype=np.float32)
    for row, (video, count) in enumerate(zip(videos.tolist(), counts.tolist(), strict=True)):
        filled[row, :count] = clips.rows[clips.starts[video] : clips.starts[video] + count]
    mask = np.arange(filled.shape[1]) < counts[:, None]
    return torch.from_numpy(filled).to(device), torch.from_numpy(mask).to(device)
