"""CONQUER in slow plain NumPy, one pair of a query and a video at a time, without padding: the equations as written."""

import math

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]
Weights = dict[str, Array]


def norm(rows: Array, weights: Weights, name: str) -> Array:
    """Layer normalisation of each row."""
    mean, spread = rows.mean(-1, keepdims=True), np.sqrt(rows.var(-1, keepdims=True) + 1e-5)
    return (rows - mean) / spread * weights[name + ".weight"] + weights[name + ".bias"]


def linear(rows: Array, weights: Weights, name: str) -> Array:
    """A linear layer with a bias."""
    return rows @ weights[name + ".weight"].T + weights[name + ".bias"]


def softmax(values: Array) -> Array:
    """The softmax of one row."""
    powers = np.exp(values - values.max())
    return powers / powers.sum()


def projection(rows: Array, weights: Weights, name: str) -> Array:
    """Layer norm, linear layer and ReLU."""
    return np.maximum(linear(norm(rows, weights, f"{name}.0"), weights, f"{name}.2"), 0)


def layer(rows: Array, weights: Weights, name: str, heads: int) -> Array:
    """One layer of BERT, head by head and row by row."""
    joined = rows @ weights[f"{name}.self_attn.in_proj_weight"].T + weights[f"{name}.self_attn.in_proj_bias"]
    queries, keys, values = np.split(joined, 3, axis=1)
    size = rows.shape[1] // heads
    seen = np.zeros_like(rows)
    for head in range(heads):
        part = slice(head * size, (head + 1) * size)
        for row in range(len(rows)):
            shares = softmax(keys[:, part] @ queries[row, part] / math.sqrt(size))
            seen[row, part] = shares @ values[:, part]
    rows = norm(rows + linear(seen, weights, f"{name}.self_attn.out_proj"), weights, f"{name}.norm1")
    inner = linear(rows, weights, f"{name}.linear1")
    inner = inner * 0.5 * (1 + np.vectorize(math.erf)(inner / math.sqrt(2)))
    return norm(rows + linear(inner, weights, f"{name}.linear2"), weights, f"{name}.norm2")


def block(rows: Array, weights: Weights, name: str, heads: int) -> Array:
    """A projection and a layer."""
    return layer(projection(rows, weights, f"{name}.projection"), weights, f"{name}.layer", heads)


def encode(parts: list[tuple[Array, int]], weights: Weights, name: str, heads: int) -> Array:
    """Rows of one or two kinds, each with its position in its own part."""
    positions, kinds = weights[f"{name}.positions.weight"], weights[f"{name}.kinds.weight"]
    placed = [
        row + kinds[kind] + positions[min(place, len(positions) - 1)]
        for part, kind in parts
        for place, row in enumerate(part)
    ]
    return layer(norm(np.array(placed), weights, f"{name}.norm"), weights, f"{name}.layer", heads)


def fusion(words: Array, weights: Weights) -> Array:
    """The weights of frames and subtitles, from NetVLAD."""
    assign, centres = weights["pooling.assign"], weights["pooling.centres"]
    shares = np.array([softmax(row) for row in norm(words @ assign, weights, "pooling.norm")])
    apart = np.zeros_like(centres)
    for cluster in range(centres.shape[1]):
        for word, share in zip(words, shares[:, cluster], strict=True):
            apart[:, cluster] += share * (word - centres[:, cluster])
        apart[:, cluster] /= np.linalg.norm(apart[:, cluster])
    return softmax(weights["fusion.weight"] @ (apart.ravel() / np.linalg.norm(apart)))


def aware(clips: Array, words: Array, weights: Weights) -> Array:
    """Query-aware features of clips."""
    vector = weights["similarity.weight"][0]
    scores = np.array([[vector @ np.concatenate([v, q, v * q]) for q in words] for v in clips])
    to_video = softmax(scores.max(axis=1)) @ clips
    to_query = np.array([softmax(row) @ words for row in scores])
    return np.array([np.concatenate([v, u, v * u, v * to_video]) for v, u in zip(clips, to_query, strict=True)])


def reader(rows: Array, weights: Weights, name: str) -> Array:
    """Two convolutions over clips, of widths 5 and 1."""
    wide, narrow = weights[f"{name}.0.weight"], weights[f"{name}.2.weight"][0, :, 0]
    logits = []
    for place in range(len(rows)):
        hidden = np.zeros(len(wide))
        for offset in range(-2, 3):
            if 0 <= place + offset < len(rows):
                hidden += wide[:, :, offset + 2] @ rows[place + offset]
        logits.append(narrow @ np.maximum(hidden, 0))
    return np.array(logits)


def pair(clips: Array, words: Array, weights: Weights, *, frames: int, heads: int = 2) -> tuple[Array, Array, float]:
    """Logits of start and end of each clip, and r_v, of raw clips (frames first, then subtitles) and raw tokens."""
    parts = [(projection(clips[:, :frames], weights, "frames"), 0)]
    if clips.shape[1] > frames:
        parts.append((projection(clips[:, frames:], weights, "subtitles"), 1))
    read = encode(parts, weights, "video_encoder", heads)
    query = encode([(projection(words, weights, "words"), 1)], weights, "query_encoder", heads)
    fused = read[: len(clips)]
    if len(parts) == 2:
        visual, subtitle = fusion(query, weights)
        fused = visual * fused + subtitle * read[len(clips) :]
    features = aware(fused, query, weights)
    context = block(features, weights, "context", heads)
    joined = np.concatenate([features, context], axis=1)
    begin = block(joined, weights, "begin", heads)
    end = block(np.concatenate([context, begin], axis=1), weights, "end", heads)
    relevance = 0.0
    if "video_head.0.weight" in weights:
        whole = block(joined, weights, "holistic", heads).max(axis=0)
        hidden = np.maximum(weights["video_head.0.weight"] @ whole, 0)
        relevance = float(weights["video_head.2.weight"][0] @ hidden)
    return reader(begin, weights, "readers.0"), reader(end, weights, "readers.1"), relevance
