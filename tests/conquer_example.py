"""A small made-up batch for CONQUER, and weights by a formula, so that other code can run on the same numbers."""

import math
from types import SimpleNamespace

import torch
from torch import Tensor, nn

from backend.systems.learning.system import DrawnVideos, Rivals, Sizes
from backend.systems.learning.systems.conquer import Conquer, ConquerLoss
from backend.systems.learning.systems.query_aware import ConquerOptions

PAIRS, LENGTH, WORDS, DRAWN = 3, 8, 5, 4
FRAMES, SUBTITLES, TOKENS = 5, 3, 7
VIDEO_OF = ((0, 1), (2, 3), (1, 3))
FIRST, LAST = (1, 0, 4), (3, 0, 7)


def wave(shape: tuple[int, ...], k: float, scale: float = 1.0) -> Tensor:
    """scale * sin(k n) for n = 1, 2, ... in this shape."""
    numbers = torch.arange(1, math.prod(shape) + 1, dtype=torch.float64)
    return (scale * torch.sin(k * numbers)).reshape(shape)


def system(*, similarity: str = "exclusive", subtitles: bool = True, loss: ConquerLoss | None = None) -> Conquer:
    """CONQUER with D = 8 in float64; weight number i, by name, is a sine of its own frequency, and norms are near 1."""
    options = {"hidden": 8, "heads": 2, "filters": 4, "clusters": 3, "longest": (LENGTH, WORDS), "dropout": 0.0}
    run = "first.json" if similarity == "general" else None
    model = ConquerOptions(**options, similarity=similarity, first_run=run, block=5)
    made = Conquer(Sizes(FRAMES, TOKENS, SUBTITLES if subtitles else 0), model, loss or ConquerLoss()).double()
    with torch.no_grad():
        for number, (name, weight) in enumerate(sorted(made.named_parameters())):
            values = wave(tuple(weight.shape), 0.37 + 0.113 * number, 0.5)
            norm = name.endswith("weight") and weight.dim() == 1
            weight.copy_(1 + 0.2 * values if norm else values)
    return made


def batch(*, padded: bool = False, subtitles: bool = True) -> SimpleNamespace:
    """Three pairs of three videos; `padded` shortens two videos and two queries, and moves the moments into them."""
    dim = FRAMES + (SUBTITLES if subtitles else 0)
    lengths, words = ((8, 5, 8), (5, 2, 3)) if padded else ((8, 8, 8), (5, 5, 5))
    return SimpleNamespace(
        video=torch.arange(PAIRS),
        words=wave((PAIRS, WORDS, TOKENS), 1.31) + 0.3 * wave((PAIRS, WORDS, TOKENS), 0.057),
        words_mask=torch.arange(WORDS) < torch.tensor(words)[:, None],
        vectors=torch.zeros(PAIRS, TOKENS, dtype=torch.float64),
        clips=(wave((PAIRS, LENGTH, 8), 0.73) + wave((PAIRS, LENGTH, 8), 0.0191))[..., :dim],
        mask=torch.arange(LENGTH) < torch.tensor(lengths)[:, None],
        first=torch.tensor(FIRST),
        last=torch.tensor(LAST),
        weight=torch.tensor([1.0, 0.5, 0.25], dtype=torch.float64),
    )


def rivals(*, padded: bool = False, subtitles: bool = True) -> Rivals:
    """Four other videos; each pair is given two of them, the second of which does not count for pair 1 if `padded`."""
    dim = FRAMES + (SUBTITLES if subtitles else 0)
    lengths = (8, 3, 8, 6) if padded else (8, 8, 8, 8)
    counts = torch.ones(PAIRS, 2, dtype=torch.bool)
    counts[1, 1] = not padded
    clips = (wave((DRAWN, LENGTH, 8), 1.93) + wave((DRAWN, LENGTH, 8), 0.0317))[..., :dim]
    mask = torch.arange(LENGTH) < torch.tensor(lengths)[:, None]
    return Rivals(torch.ones(PAIRS, PAIRS, dtype=torch.bool), DrawnVideos(clips, mask, torch.tensor(VIDEO_OF), counts))


def named(made: nn.Module) -> dict[str, Tensor]:
    """The weights by name."""
    return {name: weight.detach() for name, weight in made.named_parameters()}
