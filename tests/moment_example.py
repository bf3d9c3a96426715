"""A small made-up batch for MMN and CroCs, and weights by a formula, so that other code can run on the same numbers."""

import math
from types import SimpleNamespace

import torch
from torch import Tensor, nn

from backend.systems.learning.system import DrawnQueries, DrawnVideos, Rivals, Sizes

SIZES = Sizes(frame_dim=5, sentence_dim=7)
MODEL = {"clips": 16, "pool": 2, "pooling": (3, 2), "hidden": 6, "kernel": 3, "layers": 2, "joint": 4, "power": 0.5}
"""N = 8; moments of 1 to 4 clips start at every clip, those of 6 and 8 at every other."""
VIDEO = (0, 0, 1, 2, 2)
SPANS = ((0.0, 4.5), (9.25, 15.0), (2.5, 12.0), (4.5, 8.5), (2.5, 10.5))
"""In clips. The moments of pairs 0 and 1 do not overlap; those of pairs 3 and 4 have an IoU of exactly 0.5. No moment
has the same IoU with two of the three nearest cells."""
LENGTHS = (3, 4, 2, 4, 1)


def wave(shape: tuple[int, ...], k: float, scale: float = 1.0) -> Tensor:
    """scale * sin(k n) for n = 1, 2, ... in this shape."""
    numbers = torch.arange(1, math.prod(shape) + 1, dtype=torch.float64)
    return (scale * torch.sin(k * numbers)).reshape(shape)


def with_formula_weights(system: nn.Module) -> nn.Module:
    """Weight number i, in the order of their names, is a sine of a frequency of its own; norms are near 1."""
    system.double()
    with torch.no_grad():
        for number, (name, weight) in enumerate(sorted(system.named_parameters())):
            values = wave(tuple(weight.shape), 0.37 + 0.113 * number, 0.5)
            weight.copy_(1 + 0.2 * values if "norm" in name and name.endswith("weight") else values)
    return system


def batch(*, clips: int = 16, frame_dim: int = 5, sentence_dim: int = 7) -> SimpleNamespace:
    """Five pairs of three videos."""
    video = torch.tensor(VIDEO)
    mask = torch.arange(4) < torch.tensor(LENGTHS)[:, None]
    shown = wave((3, clips, frame_dim), 0.73) + wave((3, clips, frame_dim), 0.0191)
    return SimpleNamespace(
        numbers=torch.arange(5),
        query=torch.arange(5),
        video=video,
        words=wave((5, 4, sentence_dim), 1.31) + 0.3 * wave((5, 4, sentence_dim), 0.057),
        words_mask=mask,
        vectors=torch.zeros(5, sentence_dim, dtype=torch.float64),
        clips=shown[video],
        mask=torch.ones(5, clips, dtype=torch.bool),
        first=torch.tensor([int(start) for start, _ in SPANS]),
        last=torch.tensor([math.ceil(end) - 1 for _, end in SPANS]),
        span=torch.tensor(SPANS, dtype=torch.float64),
        weight=torch.tensor([1.0, 0.5, 0.25, 1.0, 0.75], dtype=torch.float64),
        positives=video[:, None] == video,
    )


def drawn_videos(count: int = 4) -> DrawnVideos:
    """Other videos; pair i is given two of them, the second of which does not count for pair 1."""
    shown = wave((count, 16, 5), 1.93) + wave((count, 16, 5), 0.0317)
    counts = torch.ones(5, 2, dtype=torch.bool)
    counts[1, 1] = False
    rows = (torch.arange(5)[:, None] + torch.tensor([0, 2])) % count
    return DrawnVideos(shown, torch.ones(count, 16, dtype=torch.bool), rows, counts)


def drawn_queries(count: int = 6) -> DrawnQueries:
    """Other queries; pair i is given three of them, the last of which does not count for pair 2."""
    mask = torch.arange(3) < 1 + torch.arange(count)[:, None] % 3
    counts = torch.ones(5, 3, dtype=torch.bool)
    counts[2, 2] = False
    rows = (torch.arange(5)[:, None] + torch.tensor([0, 1, 4])) % count
    return DrawnQueries(wave((count, 3, 7), 2.17), mask, torch.zeros(count, 7, dtype=torch.float64), rows, counts)


def rivals(*, drawn: bool) -> Rivals:
    """Video 2 is no potential negative of query 0, nor video 0 of query 3."""
    potential = torch.tensor(VIDEO)[:, None] != torch.tensor(VIDEO)
    potential[0, 3:] = potential[3, :2] = False
    return Rivals(potential, drawn_videos(), drawn_queries()) if drawn else Rivals(potential)
