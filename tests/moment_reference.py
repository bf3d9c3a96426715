"""MMN and CroCs written as plain loops in NumPy: the map, the network, and the losses of MVMR's equations 2 to 6."""

import math
from collections.abc import Iterator, Sequence

import numpy as np

Cell = tuple[int, int]


def cells_of(clips: int, pooling: Sequence[int]) -> list[Cell]:
    """The valid cells by rows: moments of 1 + (sum of steps so far) clips that start at a multiple of the step."""
    found = {(n, n) for n in range(clips)}
    offset = 0
    for group, count in enumerate(pooling):
        for _ in range(count):
            offset += 2**group
            found |= {(i, i + offset) for i in range(0, clips - offset, 2**group)}
    return sorted(found)


def moment_map(clips: np.ndarray, cells: Sequence[Cell]) -> np.ndarray:
    """`(N, dim)` to `(dim, N, N)`: each cell is the maximum over its clips."""
    found = np.zeros((clips.shape[1], len(clips), len(clips)))
    for i, j in cells:
        found[:, i, j] = clips[i : j + 1].max(axis=0)
    return found


def convolved(maps: np.ndarray, weight: np.ndarray, bias: np.ndarray, padding: int) -> np.ndarray:
    """`(videos, inputs, N, N)` by a kernel `(outputs, inputs, k, k)`."""
    padded = np.pad(maps, ((0, 0), (0, 0), (padding, padding), (padding, padding)))
    k = weight.shape[2]
    size = padded.shape[2] - k + 1
    found = np.zeros((len(maps), len(weight), size, size))
    for row in range(size):
        for column in range(size):
            seen = padded[:, :, row : row + k, column : column + k]
            found[:, :, row, column] = np.einsum("vcij,ocij->vo", seen, weight) + bias
    return found


def normed(maps: np.ndarray, weight: np.ndarray, bias: np.ndarray) -> np.ndarray:
    """Batch normalisation over the videos and cells of a batch."""
    mean, variance = maps.mean(axis=(0, 2, 3), keepdims=True), maps.var(axis=(0, 2, 3), keepdims=True)
    scaled = (maps - mean) / np.sqrt(variance + 1e-5)
    return scaled * weight[None, :, None, None] + bias[None, :, None, None]


def unit(vector: np.ndarray) -> np.ndarray:
    return vector / np.linalg.norm(vector)


class Network:
    """MMN's network in plain NumPy, in training mode; `weights` have their names in the torch module."""

    def __init__(self, weights: dict[str, np.ndarray], model: dict) -> None:
        self.w, self.model = weights, model
        self.cells = cells_of(model["clips"] // model["pool"], model["pooling"])

    def videos(self, clips: np.ndarray) -> dict[str, np.ndarray]:
        """`(videos, L, frame_dim)` to unit vectors `(videos, C, d)`."""
        pool, k, layers = self.model["pool"], self.model["kernel"], self.model["layers"]
        first = np.maximum(clips @ self.w["clip_layer.weight"].T + self.w["clip_layer.bias"], 0)
        pooled = first.reshape(len(clips), -1, pool, first.shape[2]).mean(axis=2)
        maps = np.stack([moment_map(one, self.cells) for one in pooled])
        seen = np.zeros((1, 1, pooled.shape[1], pooled.shape[1]))
        for i, j in self.cells:
            seen[0, 0, i, j] = 1
        for n in range(layers):
            padding = 0 if n else (k - 1) * layers // 2
            maps = convolved(maps, *self._of(f"convolutions.convolutions.{n}"), padding)
            maps = np.maximum(normed(maps, *self._of(f"convolutions.norms.{n}")), 0)
            count = convolved(seen, np.ones((1, 1, k, k)), np.zeros(1), padding)
            maps = np.where(count > 0, maps / np.maximum(count, 1), 0)
            seen = (count > 0).astype(float)
        moments = np.stack([maps[:, :, i, j] for i, j in self.cells], axis=1)
        return {space: self._head(moments, f"moment_heads.{space}") for space in ("iou", "match")}

    def queries(self, words: np.ndarray, mask: np.ndarray) -> dict[str, np.ndarray]:
        """`(queries, W, dim)` to unit vectors `(queries, d)`."""
        mean = np.stack([tokens[there].mean(axis=0) for tokens, there in zip(words, mask, strict=True)])
        scaled = (mean - mean.mean(axis=1, keepdims=True)) / np.sqrt(mean.var(axis=1, keepdims=True) + 1e-5)
        weight, bias = self._of("sentence_norm")
        return {space: self._head(scaled * weight + bias, f"sentence_heads.{space}") for space in ("iou", "match")}

    def _of(self, name: str) -> tuple[np.ndarray, np.ndarray]:
        return self.w[f"{name}.weight"], self.w[f"{name}.bias"]

    def _head(self, vectors: np.ndarray, name: str) -> np.ndarray:
        weight, bias = self._of(name)
        return np.apply_along_axis(unit, -1, vectors @ weight.T + bias)


def iou(a: Sequence[float], b: Sequence[float]) -> float:
    shared = max(0.0, min(a[1], b[1]) - max(a[0], b[0]))
    return shared / (a[1] - a[0] + b[1] - b[0] - shared)


def scaled(value: float, low: float, high: float) -> float:
    return min(1.0, max(0.0, (value - low) / (high - low)))


def cross_entropy(cosine: float, target: float) -> float:
    p = 1 / (1 + math.exp(-10 * cosine))
    return -(target * math.log(p) + (1 - target) * math.log(1 - p))


def matching(right: float, wrong: Iterator[float], margin: float, temperature: float) -> float:
    """Equation 5 for one right pair."""
    top = math.exp((right - margin) / temperature)
    return -math.log(top / (top + math.fsum(math.exp(one / temperature) for one in wrong)))


def losses(
    network: Network,
    videos: dict[str, np.ndarray],
    queries: dict[str, np.ndarray],
    video_of: Sequence[int],
    spans: Sequence[Sequence[float]],
    wrong_videos: Sequence[set[int]],
    wrong_queries: Sequence[set[int]],
    *,
    margin: float = 0.4,
    temperature: float = 0.1,
    top: int = 1,
    low: float = 0.5,
    high: float = 1.0,
    negative_iou: float = 0.5,
    negative_bce: float = 0.0,
    zeros: bool = False,
) -> dict[str, float]:
    """Equations 4 and 5 for pairs with their negatives; `zeros` counts the left-out cells with the cosine 0."""
    cells, pool = network.cells, network.model["pool"]
    count = terms = 0.0
    to_cells, to_queries = [], []
    for i, (v, span) in enumerate(zip(video_of, spans, strict=True)):
        overlap = [iou((pool * first, pool * (last + 1)), span) for first, last in cells]
        for c, value in enumerate(overlap):
            terms += cross_entropy(queries["iou"][i] @ videos["iou"][v][c], scaled(value, low, high))
            count += 1
        for other in wrong_videos[i] if negative_bce else ():
            for moment in videos["iou"][other]:
                terms += negative_bce * cross_entropy(queries["iou"][i] @ moment, 0.0)
                count += negative_bce
        wrong = []
        for other in range(len(videos["match"])):
            for c, moment in enumerate(videos["match"][other]):
                counts = overlap[c] < negative_iou if other == v else other in wrong_videos[i]
                if counts or zeros:
                    wrong.append(float(queries["match"][i] @ moment) if counts else 0.0)
        best = sorted(range(len(cells)), key=lambda c: -overlap[c])[:top]
        for c in best:
            moment = videos["match"][v][c]
            right = float(queries["match"][i] @ moment)
            to_cells.append(matching(right, iter(wrong), margin, temperature))
            others = (float(queries["match"][j] @ moment) for j in sorted(wrong_queries[i]))
            to_queries.append(matching(right, others, margin, temperature))
    return {"bce": terms / count, "cells": float(np.mean(to_cells)), "queries": float(np.mean(to_queries))}


def hard_probabilities(scores: np.ndarray, golden: np.ndarray, potential: np.ndarray) -> np.ndarray:
    """Equations 2 and 3, cell by cell."""
    found = np.zeros(scores.shape)
    for row, anchors in enumerate(golden):
        if not anchors.any():
            continue
        mean = math.fsum(scores[row, n] for n in np.flatnonzero(anchors)) / int(anchors.sum())
        for n in np.flatnonzero(potential[row]):
            found[row, n] = math.exp(-((scores[row, n] - mean) ** 2))
        if found[row].sum() > 0:
            found[row] /= math.fsum(found[row])
    return found
