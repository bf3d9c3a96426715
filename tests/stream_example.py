"""A small made-up batch for XML and ReLoCLNet, and weights by a formula, for other code on the same numbers."""

import numpy as np
import torch
from torch import nn

from backend.systems.learning.system import Batch, Sizes
from moment_example import wave

FRAMES, SUBTITLES, TOKENS = 6, 5, 7
SIZES, FRAMES_ALONE = Sizes(FRAMES, TOKENS, SUBTITLES), Sizes(FRAMES, TOKENS)
MODEL = {"hidden": 8, "heads": 2, "max_clips": 9, "max_words": 6}
WORDS = (4, 2, 5, 3)
"""The number of tokens of each query."""


def by_formula(system: nn.Module) -> None:
    """Weight number i, in the order of their names, is a sine of a frequency of its own; those of norms are near 1."""
    system.double()
    norms = {f"{name}.weight" for name, part in system.named_modules() if isinstance(part, nn.LayerNorm)}
    with torch.no_grad():
        for number, (name, weight) in enumerate(sorted(system.named_parameters())):
            values = wave(tuple(weight.shape), 0.37 + 0.113 * number, 0.5)
            weight.copy_(1 + 0.2 * values if name in norms else values)


def batch(columns: int = FRAMES + SUBTITLES) -> Batch:
    """Four pairs of four videos of the same length. The last video has a moment of the first query, too."""
    span = torch.tensor([[0.0, 2.5], [1.0, 7.0], [3.25, 4.0], [0.0, 7.0]], dtype=torch.float64)
    positives = torch.eye(4, dtype=torch.bool)
    positives[0, 3] = True
    return Batch(
        numbers=np.arange(4),
        query=torch.arange(4),
        video=torch.arange(4),
        words=wave((4, 5, TOKENS), 1.31) + 0.3 * wave((4, 5, TOKENS), 0.057),
        words_mask=torch.arange(5) < torch.tensor(WORDS)[:, None],
        vectors=torch.zeros(4, TOKENS, dtype=torch.float64),
        clips=wave((4, 7, columns), 0.73) + wave((4, 7, columns), 0.0191),
        mask=torch.ones(4, 7, dtype=torch.bool),
        first=torch.tensor([0, 1, 3, 0]),
        last=torch.tensor([2, 6, 3, 6]),
        span=span,
        weight=torch.tensor([1.0, 0.5, 0.25, 0.75], dtype=torch.float64),
        positives=positives,
    )
