"""Encodings of positions, which tell a transformer the order of clips."""

import torch
from torch import Tensor


def positions(length: int, hidden: int) -> Tensor:
    """Return position encodings, `(length, hidden)`, for videos of any length.

    Source: Vaswani et al. 2017, "Attention Is All You Need", section 3.5. For each even n below `hidden`, the encoding
    of clip number p (from 0) has sin(p / 10000^(n / hidden)) at n, and the cosine of the same angle at n + 1. So the
    encoding of clip 0 is 0, 1, 0, 1, ...
    """
    angle = torch.arange(length)[:, None] / 10000 ** (torch.arange(0, hidden, 2) / hidden)
    return torch.stack([angle.sin(), angle.cos()], dim=-1).flatten(1)
