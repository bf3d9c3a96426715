"""The two-dimensional map of a video's moments: row i, column j is the moment from clip i to clip j.

Source: MMN (Wang et al. 2022, "Negative Sample Matters: A Renaissance of Metric Learning for Temporal Grounding", AAAI,
section 3) and its public code; the map is that of 2D-TAN (Zhang et al. 2020). A video has N clips, so the map has N x N
cells. Only some cells hold a moment: the longer a moment, the fewer starts are on the map.
"""

from collections.abc import Iterator, Sequence
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.functional import conv2d, max_pool1d


def diagonals(clips: int, pooling: Sequence[int]) -> Iterator[tuple[int, int, Tensor, Tensor]]:
    """Yield (kernel, stride, rows, columns) for each filled diagonal above the main one, from the shortest moments.

    `kernel` and `stride` are those of the max pooling that makes the diagonal from the one before. Group g of `pooling`
    fills `pooling[g]` diagonals; lengths and starts of its moments are multiples of 2^g clips apart.

    Raises:
        ValueError: the groups ask for moments longer than the video.

    Example: with 5 clips and the groups (1, 1), moments of two clips start at every clip, those of four at every other.

    >>> [(i.tolist(), j.tolist()) for _, _, i, j in diagonals(5, (1, 1))]
    [([0, 1, 2, 3], [1, 2, 3, 4]), ([0], [3])]
    """
    offset = 0
    for group, count in enumerate(pooling):
        step = 2**group
        for number in range(count):
            offset += step
            if offset >= clips:
                raise ValueError(f"pooling {tuple(pooling)} asks for moments of {offset + 1} clips, but N is {clips}")
            opens = group > 0 and number == 0
            rows = torch.arange(0, clips - offset, step)
            yield (3, 2, rows, rows + offset) if opens else (2, 1, rows, rows + offset)


def map_faults(model: Any, loss: Any) -> list[str]:
    """Return what is wrong with the options of a system with such a map (those of `mmn`), one message for each fault.

    The map has N = `model.clips` / `model.pool` rows.
    """
    found = []
    longest = 1 + sum(count * 2**group for group, count in enumerate(model.pooling))
    number, rest = divmod(model.clips, model.pool)
    if rest:
        found.append(f"field `model.pool` is {model.pool}: it has to divide `model.clips`, {model.clips}")
    elif longest > number:
        found.append(f"field `model.pooling` asks for moments of {longest} clips, but a video has {number}: shorten it")
    if (model.kernel - 1) * model.layers % 2:
        found.append(f"field `model.kernel` is {model.kernel}: make it odd, or the number of `model.layers` even")
    if loss.min_iou >= loss.max_iou:
        found.append(f"field `loss.min_iou` is {loss.min_iou:g}: it has to be below `loss.max_iou`, {loss.max_iou:g}")
    return found


def valid_cells(clips: int, pooling: Sequence[int]) -> Tensor:
    """Return which cells hold a moment, bool `(N, N)`; the diagonal always does."""
    valid = torch.eye(clips, dtype=torch.bool)
    for _, _, rows, columns in diagonals(clips, pooling):
        valid[rows, columns] = True
    return valid


def max_pooled_map(clips: Tensor, pooling: Sequence[int]) -> Tensor:
    """Return the map of videos, `(videos, dim, N, N)`: each valid cell is the maximum over its clips, others are 0.

    Args:
        clips: the vectors of the clips, `(videos, N, dim)`.
        pooling: see `diagonals`.

    Example: clips 3, 1, 2 and the group (2,) give the cells 3, 1, 2 on the diagonal, 3 and 2 for two clips, and 3.

    >>> max_pooled_map(torch.tensor([[[3.], [1.], [2.]]]), (2,))[0, 0].tolist()
    [[3.0, 3.0, 3.0], [0.0, 1.0, 2.0], [0.0, 0.0, 2.0]]
    """
    row = clips.transpose(1, 2)
    found = torch.diag_embed(row)
    for kernel, stride, rows, columns in diagonals(clips.shape[1], pooling):
        row = max_pool1d(row, kernel, stride)
        found[:, :, rows, columns] = row
    return found


class MapConvolutions(nn.Module):
    """Convolutions over the map, which let a moment see the moments around it.

    Each layer is a convolution, batch normalisation and ReLU, and is then divided by the number of valid cells that the
    kernel saw (0 where it saw none). Batch normalisation is over the cells of all videos of a batch, so a batch of one
    video can be trained on, too. The first layer pads for all layers; the last one gives N x N cells again.
    """

    def __init__(self, inputs: int, hidden: int, kernel: int, layers: int, valid: Tensor) -> None:
        super().__init__()
        padding = (kernel - 1) * layers // 2
        self.convolutions = nn.ModuleList(
            nn.Conv2d(hidden if n else inputs, hidden, kernel, padding=0 if n else padding) for n in range(layers)
        )
        self.norms = nn.ModuleList(nn.BatchNorm2d(hidden) for _ in range(layers))
        self.layers = layers
        seen, ones = valid[None, None].double(), torch.ones(1, 1, kernel, kernel, dtype=torch.float64)
        for n in range(layers):
            counts = conv2d(seen, ones, padding=0 if n else padding).round()
            self.register_buffer(f"counts_{n}", counts.to(torch.get_default_dtype()), persistent=False)
            seen = (counts > 0).double()

    def forward(self, cells: Tensor) -> Tensor:
        """Return the map `(videos, hidden, N, N)` of a map `(videos, inputs, N, N)`."""
        for n, (convolution, norm) in enumerate(zip(self.convolutions, self.norms, strict=True)):
            counts = self.get_buffer(f"counts_{n}")
            cells = (norm(convolution(cells)).relu() / counts.clamp(min=1)).masked_fill(counts == 0, 0.0)
        return cells


def span_iou(spans: Tensor, others: Tensor) -> Tensor:
    """Return the IoU of each of `spans` `(A, 2)` with each of `others` `(B, 2)`, both (start, end): `(A, B)`.

    >>> span_iou(torch.tensor([[0., 2.]]), torch.tensor([[1., 3.], [2., 4.]]))[0].tolist()
    [0.3333333432674408, 0.0]
    """
    first, last = torch.maximum(spans[:, None, 0], others[:, 0]), torch.minimum(spans[:, None, 1], others[:, 1])
    shared = (last - first).clamp(min=0)
    lengths = (spans[:, 1] - spans[:, 0])[:, None] + (others[:, 1] - others[:, 0])
    return shared / (lengths - shared)
