"""Draw the batches of a training in a random order, which the seed of the training decides."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from backend.systems.learning.material import Clips, EncodedTexts, Floats, Indices, TrainingPairs
from backend.systems.learning.system import Batch


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


def stage_seed(seed: int, stage: int) -> int:
    """Return the seed of everything random in a stage of training (from 1), for the seed of the training."""
    return seed if stage == 1 else int(np.random.SeedSequence([seed, stage], spawn_key=(2,)).generate_state(1)[0])


def batches(
    pairs: TrainingPairs,
    clips: Clips,
    queries: EncodedTexts,
    size: int,
    order: int,
    device: torch.device,
    *,
    skip: int = 0,
) -> Iterator[Batch]:
    """Yield all training pairs once, in batches in a random order; the last batch may be smaller.

    Args:
        pairs: the pairs of the training set.
        clips: the clips of all videos.
        queries: the encoded texts of the training set.
        size: the number of pairs in a batch.
        order: the random seed of the order.
        device: the device of the tensors.
        skip: the number of batches to leave out at the beginning.
    """
    numbers = np.random.default_rng(order).permutation(len(pairs))
    for start in range(skip * size, len(numbers), size):
        yield batch_of(pairs, clips, queries, numbers[start : start + size], device)


def batch_of(
    pairs: TrainingPairs, clips: Clips, queries: EncodedTexts, numbers: Indices, device: torch.device
) -> Batch:
    """Return the training pairs with these indices (`numbers`) as a batch."""
    query, video = pairs.query[numbers], pairs.video[numbers]
    words, words_mask, vectors = padded_texts(queries, query, device)
    filled, mask = padded(clips, video, device)
    positives = np.stack([np.isin(video, pairs.positives[number]) for number in query])

    def moved(array: npt.NDArray[Any]) -> Tensor:
        return torch.from_numpy(array).to(device)

    return Batch(
        numbers=numbers,
        query=moved(query),
        video=moved(video),
        words=words,
        words_mask=words_mask,
        vectors=vectors,
        clips=filled,
        mask=mask,
        first=moved(pairs.first[numbers]),
        last=moved(pairs.last[numbers]),
        span=moved(pairs.span[numbers]),
        weight=moved(pairs.weight[numbers]),
        positives=moved(positives),
    )


def padded_texts(
    texts: EncodedTexts, numbers: Indices, device: torch.device, *, width: int | None = None
) -> tuple[Tensor, Tensor, Tensor]:
    """Return the token vectors of the texts with these indices, their mask, and the sentence vectors.

    The token vectors, `(numbers, tokens, dim)`, are padded with 0 to `width`, or to the longest of these texts if that
    is None. The mask, `(numbers, tokens)`, is True where there is a token.
    """
    words, mask = _filled(texts.tokens, texts.starts, numbers, width)
    return (
        torch.from_numpy(words).to(device),
        torch.from_numpy(mask).to(device),
        torch.from_numpy(texts.vectors[numbers]).to(device),
    )


def padded(clips: Clips, videos: Indices, device: torch.device, *, width: int | None = None) -> tuple[Tensor, Tensor]:
    """Return the clips (short pieces) of the videos with these indices, and a mask that says which clips exist.

    The clips, `(videos, clips, dim)`, are padded with 0 to `width`, or to the longest of these videos if that is None.
    The mask, `(videos, clips)`, is True where there is a clip.
    """
    filled, mask = _filled(clips.rows, clips.starts, videos, width)
    return torch.from_numpy(filled).to(device), torch.from_numpy(mask).to(device)


def _filled(rows: Floats, starts: Indices, numbers: Indices, width: int | None) -> tuple[Floats, npt.NDArray[np.bool_]]:
    begins, counts = starts[numbers], starts[numbers + 1] - starts[numbers]
    filled = np.zeros((len(numbers), int(counts.max()) if width is None else width, rows.shape[1]), dtype=np.float32)
    for row, (begin, count) in enumerate(zip(begins.tolist(), counts.tolist(), strict=True)):
        filled[row, :count] = rows[begin : begin + count]
    return filled, np.arange(filled.shape[1]) < counts[:, None]
