"""Predict the moments of queries with a trained system: the best spans of videos, in seconds.

A system that scores videos first is asked only for the spans of the best videos of a query, as in XML (Lei et al. 2020,
section 4, inference for moment retrieval in a corpus). The videos may also come from another system's run. Other
systems score the spans of all videos.

Videos are encoded in blocks, so that the encodings of a block take about `BLOCK_BYTES`. The best spans of each query
are merged over the blocks. A system that scores videos first goes through the blocks twice. If the encodings of all
videos take more than `KEPT_BYTES`, it encodes each video twice.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from backend.core.progress import Steps
from backend.scoring.files.entries import parse_run_mapping
from backend.scoring.matching.suppression import suppress
from backend.systems.learning.batches import padded, padded_texts
from backend.systems.learning.config import PredictOptions
from backend.systems.learning.first_step import FirstRun
from backend.systems.learning.material import Clips, EncodedTexts, Floats, Indices, QueryKey
from backend.systems.learning.system import Encoded, System
from backend.systems.model import Answers, Predicted, in_ms

VIDEOS_AT_ONCE, QUERIES_AT_ONCE = 64, 512
BLOCK_BYTES = 200 << 20
"""About how much memory the encodings of videos take, and apart from them the scores of spans."""
KEPT_BYTES = 1 << 30
"""How much memory the encodings of all videos may take, to be kept while videos and then spans are scored."""
_BEFORE_NMS = 10
"""So many times the moments of a run are looked at where some will be suppressed."""


@dataclass(frozen=True, slots=True, eq=False)
class ScoredSpans:
    """Spans of one query, best first. Each field has the shape `(spans,)`.

    Attributes:
        score: the score of the span.
        video: the index of its video.
        first: the number of its first clip in the video, from 0.
        last: the number of its last clip, which is part of the span.
    """

    score: Tensor
    video: Tensor
    first: Tensor
    last: Tensor


@dataclass(frozen=True, slots=True, eq=False)
class VideoBlock:
    """Videos that were encoded together.

    Attributes:
        videos: their indices, ascending.
        encoded: their encodings.
        length: the number of clips of the longest.
    """

    videos: Tensor
    encoded: Encoded
    length: int

    def taken(self, rows: Tensor) -> Encoded:
        """Return the encodings of some videos of the block; `rows` are their places in the block, from 0."""
        return {name: tensor[rows] for name, tensor in self.encoded.items()}


def best_spans(scores: Tensor, videos: Tensor, longest: Tensor, count: int) -> ScoredSpans:
    """Return the `count` best spans of some videos for one query, or all spans if there are fewer.

    Spans of equal score are in the order of their video, first clip and last clip.

    Args:
        scores: `(videos, clips, clips)`, the score of the span from a clip to a clip; -inf where there is no span.
        videos: `(videos,)`, the index of each video, ascending.
        longest: `(videos,)`, the largest number of clips in a span of each video.
        count: the number of spans to return.

    Example: one video has two clips and the scores ((-1, -2), (-inf, -1)); its spans may have two clips. Counting clips
    from 1, the order is (1, 1), (2, 2), (1, 2). There is no span (2, 1).
    """
    place = torch.arange(scores.shape[1], device=scores.device)
    after = place[None, :] - place[:, None]
    first, last = torch.nonzero((after >= 0) & (after < longest.max()), as_tuple=True)
    table = scores[:, first, last].float()
    whole = table.masked_fill(last - first >= longest[:, None], -torch.inf).flatten()
    count = min(count, int((whole > -torch.inf).sum()))
    if not count:
        return ScoredSpans(whole[:0], *(place[:0] for _ in range(3)))
    # The value of the last one is certain, which of its equals comes first is not: so these are put in order here.
    best = torch.nonzero(whole >= whole.topk(count).values[-1])[:, 0]
    best = best[whole[best].sort(descending=True, stable=True).indices[:count]]
    span = best % len(first)
    return ScoredSpans(whole[best], videos[best // len(first)], first[span], last[span])


def merged(parts: Sequence[ScoredSpans], count: int) -> ScoredSpans:
    """Return the `count` best spans of several lists of spans, in the order of `best_spans`."""
    if len(parts) == 1:
        return parts[0]
    columns = [torch.cat([getattr(part, name) for part in parts]) for name in ScoredSpans.__slots__]
    score, video, first, last = (column.cpu().numpy() for column in columns)
    order = torch.from_numpy(np.lexsort((last, first, video, -score))[:count]).to(columns[0].device)
    return ScoredSpans(*(column[order] for column in columns))


@torch.no_grad()
def predict(
    network: System,
    clips: Clips,
    ids: Sequence[QueryKey],
    texts: EncodedTexts,
    options: PredictOptions,
    longest: int,
    *,
    first: FirstRun | None = None,
    progress: Steps | None = None,
) -> Answers:
    """Return the predicted moments of all queries in all videos, best first, by query id.

    Args:
        network: the network with its weights; it is put into evaluation mode, which turns dropout off.
        clips: the clips (short pieces) of the videos to search in.
        ids: the ids of the queries.
        texts: the encoded texts of the queries.
        options: see `PredictOptions`.
        longest: the largest number of clips in a predicted moment, if `options` has none in seconds.
        first: the run of the first step, from which the videos of each query are taken; see `System.first_step`.
        progress: called with (queries done in all blocks of videos, all of them).
    """
    network.eval()
    device = next(network.parameters()).device
    queries = encoded_queries(network, texts, np.arange(len(ids)), device)
    listed = None if first is None else [first.candidates(query, options.videos) for query in ids]
    searched = None if listed is None else np.unique(np.concatenate([videos for videos, _ in listed]))
    blocks = VideoBlocks(network, clips, device, searched)
    best: Sequence[Tensor] | None = None
    if listed is not None:
        blocks.keep = False
        best = [torch.from_numpy(videos).to(device) for videos, _ in listed]
    elif (scores := _video_scores(network, blocks, queries, len(ids), len(clips.videos))) is not None:
        best = scores.sort(dim=1, descending=True, stable=True).indices[:, : options.videos].unbind()
    limits = torch.from_numpy(_limits(clips, options, longest)).to(device)
    count = options.moments * (_BEFORE_NMS if options.nms else 1)
    spans: list[list[ScoredSpans]] = [[] for _ in ids]
    place = torch.full((len(clips.videos),), -1, device=device)
    for number, block in enumerate(blocks):
        place.fill_(-1)
        place[block.videos] = torch.arange(len(block.videos), device=device)
        for query in range(len(ids)):
            rows = place[block.videos if best is None else best[query]]
            order = rows.argsort()[int((rows < 0).sum()) :]
            rows = rows[order]
            extra = {}
            if listed is not None:
                extra["first_score"] = torch.from_numpy(listed[query][1]).to(device)[order]
            one = {name: tensor[query : query + 1] for name, tensor in queries.items()}
            for part in torch.split(torch.arange(len(rows), device=device), _videos_at_once(block)):
                if not len(part):
                    continue
                taken = block.taken(rows[part]) | {name: values[part] for name, values in extra.items()}
                videos = block.videos[rows[part]]
                spans[query].append(best_spans(network.span_scores(one, taken)[0], videos, limits[videos], count))
            spans[query] = [merged(spans[query], count)] if spans[query] else []
            if progress:
                progress(number * len(ids) + query + 1, len(blocks) * len(ids))
    run = {str(query): _in_seconds(parts, clips) for query, parts in zip(ids, spans, strict=True)}
    return without_overlap(run, options.nms, options.moments) if options.nms else run


@torch.no_grad()
def score_videos(
    network: System, clips: Clips, texts: EncodedTexts, queries: Indices, videos: Indices, *, progress: Steps | None
) -> Floats:
    """Return r(q, v), float32 `(queries, videos)`: a system's score of each video, or of the best span in it.

    The result takes 4 bytes for each query and video.

    Args:
        network: the network; it is put into evaluation mode.
        clips: the clips of all videos.
        texts: the encoded texts.
        queries: the indices of the texts to score.
        videos: the indices of the videos to score, ascending.
        progress: called with (videos done, all videos).
    """
    network.eval()
    device = next(network.parameters()).device
    scores = np.empty((len(queries), len(videos)), dtype=np.float32)
    done, blocks = 0, VideoBlocks(network, clips, device, videos)
    blocks.keep = False
    for block in blocks:
        columns = np.searchsorted(videos, block.videos.cpu().numpy())
        at_once = _queries_at_once(block)
        for start in range(0, len(queries), at_once):
            part = queries[start : start + at_once]
            encoded = encoded_queries(network, texts, part, device)
            found = network.video_scores(encoded, block.encoded)
            if found is None:
                found = _best_of_spans(network, encoded, block, len(part))
            scores[start : start + len(part)][:, columns] = found.float().cpu().numpy()
        done += len(block.videos)
        if progress:
            progress(done, len(videos))
    return scores


def _best_of_spans(network: System, queries: Encoded, block: VideoBlock, count: int) -> Tensor:
    rows = torch.split(torch.arange(len(block.videos), device=block.videos.device), _videos_at_once(block))
    whole = []
    for query in range(count):
        one = {name: tensor[query : query + 1] for name, tensor in queries.items()}
        parts = [network.span_scores(one, block.taken(part)).flatten(2).amax(dim=2) for part in rows]
        whole.append(torch.cat(parts, dim=1))
    return torch.cat(whole)


def encoded_queries(network: System, texts: EncodedTexts, numbers: Indices, device: torch.device) -> Encoded:
    """Return the encodings of the texts with these indices, all padded to the same number of tokens."""
    counts = np.diff(texts.starts)[numbers]
    parts = [
        network.encode_queries(*padded_texts(texts, some, device, width=int(counts.max())))
        for some in np.split(numbers, range(QUERIES_AT_ONCE, len(numbers), QUERIES_AT_ONCE))
    ]
    return {name: torch.cat([part[name] for part in parts]) for name in parts[0]}


class VideoBlocks:
    """The encodings of videos, block by block; videos of similar length are together.

    They are kept for the next iteration if all of them take at most `KEPT_BYTES`, unless `keep` is False.
    """

    def __init__(self, network: System, clips: Clips, device: torch.device, videos: Indices | None = None) -> None:
        self._network, self._clips, self._device = network, clips, device
        numbers = np.arange(len(clips.videos)) if videos is None else videos
        order = numbers[np.argsort(clips.counts[numbers], kind="stable")]
        longest = self._encoded(order[-1:])
        size = sum(tensor.numel() * tensor.element_size() for tensor in longest.values())
        widths = clips.counts[order] / clips.counts[order[-1]]  # the others are smaller in proportion
        self._parts, start = [], 0
        for stop in range(1, len(order) + 1):
            if stop == len(order) or (stop + 1 - start) * widths[stop] * size > BLOCK_BYTES:
                self._parts.append(np.sort(order[start:stop]))
                start = stop
        self.keep = size * float(widths.sum()) <= KEPT_BYTES
        self._kept: dict[int, VideoBlock] = {}

    def __len__(self) -> int:
        """Return the number of blocks."""
        return len(self._parts)

    def __iter__(self) -> Iterator[VideoBlock]:
        """Yield the blocks; the videos of each ascend."""
        for number, some in enumerate(self._parts):
            block = self._kept.get(number)
            if block is None:
                length = int(self._clips.counts[some].max())
                block = VideoBlock(torch.from_numpy(some).to(self._device), self._encoded(some), length)
            if self.keep:
                self._kept[number] = block
            yield block

    def _encoded(self, videos: Indices) -> Encoded:
        width, whole = int(self._clips.counts[videos].max()), {}
        for start in range(0, len(videos), VIDEOS_AT_ONCE):
            some = slice(start, min(start + VIDEOS_AT_ONCE, len(videos)))
            part = self._network.encode_videos(*padded(self._clips, videos[some], self._device, width=width))
            for name, tensor in part.items():
                if not start:
                    whole[name] = tensor.new_empty((len(videos), *tensor.shape[1:]))
                whole[name][some] = tensor
        return whole


def _video_scores(network: System, blocks: VideoBlocks, queries: Encoded, count: int, videos: int) -> Tensor | None:
    """Return the score of each video for each query, `(queries, videos)`; None if the system has none."""
    scores: Tensor | None = None
    for block in blocks:
        at_once = _queries_at_once(block)
        for first in range(0, count, at_once):
            some = slice(first, first + at_once)
            part = network.video_scores({name: tensor[some] for name, tensor in queries.items()}, block.encoded)
            if part is None:
                blocks.keep = False
                return None
            scores = part.new_empty((count, videos)) if scores is None else scores
            scores[some, block.videos] = part
    return scores


def _videos_at_once(block: VideoBlock) -> int:
    """Return the number of videos of which one query's spans are scored at once."""
    return max(1, BLOCK_BYTES // (4 * block.length**2))


def _queries_at_once(block: VideoBlock) -> int:
    """Return the number of queries that are compared with all clips, or other parts, of the block's videos at once."""
    parts = max(tensor.shape[1] if tensor.dim() > 1 else 1 for tensor in block.encoded.values())
    return max(1, min(QUERIES_AT_ONCE, BLOCK_BYTES // (16 * len(block.videos) * parts)))


def _limits(clips: Clips, options: PredictOptions, longest: int) -> Indices:
    """Return the most clips of a predicted moment in each video."""
    if options.longest_s is None:
        return np.full(len(clips.videos), longest)
    return np.maximum(1, np.ceil(options.longest_s / clips.clip_s - 1e-6).astype(np.int64))


def _in_seconds(parts: Sequence[ScoredSpans], clips: Clips) -> list[Predicted]:
    return [
        in_ms(
            clips.videos[video],
            first * float(clips.clip_s[video]),
            min((last + 1) * float(clips.clip_s[video]), float(clips.durations_s[video])),
            round(score, 6),
        )
        for spans in parts
        for video, first, last, score in zip(
            *(column.tolist() for column in (spans.video, spans.first, spans.last, spans.score)), strict=True
        )
    ]


def without_overlap(run: Answers, level: float, moments: int) -> Answers:
    """Return at most `moments` predictions of each query, leaving out those that overlap a better one.

    This is non-maximum suppression: a moment is dropped if its IoU with a better one is above `level`. See
    `scoring.matching.suppression`.
    """
    suppressed = suppress(parse_run_mapping(run), level, arithmetic="exact")
    answers: Answers = {query: [] for query in run}
    columns = (suppressed.query, suppressed.video, suppressed.start_s, suppressed.end_s, suppressed.score)
    for query, video, start_s, end_s, score in zip(*(column.tolist() for column in columns), strict=True):
        rows = answers[str(suppressed.queries[query])]
        if len(rows) < moments:
            rows.append(Predicted(suppressed.videos[video], start_s, end_s, score))
    return answers
