"""Predict the moments of queries with a trained network: the best spans of the best videos, in seconds.

Only spans in the best videos of a query are scored, as in XML (Lei et al. 2020, section 4, inference for moment
retrieval in a corpus). The score of the span from clip i to clip j of the video v, i <= j, for the query q is
p_start(i) p_end(j) exp(alpha s(v, q)). Here p_start and p_end are the probabilities that the moment starts and ends at
a clip, s is the score of the video, and alpha is a weight. Runs contain the logarithm of this score.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from backend.core.progress import Steps
from backend.scoring.files.entries import parse_run_mapping
from backend.scoring.matching.suppression import suppress
from backend.systems.learning.batches import padded
from backend.systems.learning.config import PredictOptions
from backend.systems.learning.material import Clips, Floats, QueryKey
from backend.systems.learning.network import EncodedQueries, LateInteraction, video_scores
from backend.systems.model import Answers, Predicted, in_ms

VIDEOS_AT_ONCE, QUERIES_AT_ONCE = 64, 512
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


def best_spans(scores: Tensor, start: Tensor, end: Tensor, *, longest: int, count: int) -> ScoredSpans:
    """Return the `count` best spans of some videos for one query, or all spans if there are fewer.

    The probability that the moment starts at a clip is p_start, and that it ends there p_end. Spans of equal score are
    in the order of their video, first clip and last clip.

    Args:
        scores: `(videos,)`, the score of each video, which is added to the score of all its spans.
        start: log p_start, `(videos, clips)`, -inf where there is no clip.
        end: log p_end, `(videos, clips)`, -inf where there is no clip.
        longest: the largest number of clips in a span.
        count: the number of spans to return.

    Example: one video of score 0 has two clips, with p_start (.75, .25) and p_end (.5, .5), and `longest` is 2.
    Counting clips from 1, the spans (1, 1) and (1, 2) have the score log .375, and (2, 2) has log .125. There is no
    span (2, 1).
    """
    length = start.shape[1]
    place = torch.arange(length, device=start.device)
    after = place[None, :] - place[:, None]
    allowed = (after >= 0) & (after < longest)
    whole = (scores[:, None, None] + start[:, :, None] + end[:, None, :]).masked_fill(~allowed, -torch.inf).flatten()
    count = min(count, int(whole.isfinite().sum()))
    if not count:
        return ScoredSpans(whole[:0], *(place[:0] for _ in range(3)))
    # The value of the last one is certain, which of its equals comes first is not: so these are put in order here.
    best = torch.nonzero(whole >= whole.topk(count).values[-1])[:, 0]
    best = best[whole[best].sort(descending=True, stable=True).indices[:count]]
    return ScoredSpans(whole[best], best // length**2, best // length % length, best % length)


@torch.no_grad()
def predict(
    network: LateInteraction,
    clips: Clips,
    ids: Sequence[QueryKey],
    vectors: Floats,
    options: PredictOptions,
    longest: int,
    *,
    progress: Steps | None = None,
) -> Answers:
    """Return the predicted moments of all queries in all videos, best first, by query id.

    Args:
        network: the network with its weights; it is put into evaluation mode, which turns dropout off.
        clips: the clips (short pieces) of the videos to search in.
        ids: the ids of the queries.
        vectors: the vectors of the queries' texts, float32 `(queries, dim)`.
        options: see `PredictOptions`.
        longest: the largest number of clips in a predicted moment.
        progress: called with (queries done, all queries).
    """
    network.eval()
    device = next(network.parameters()).device
    queries = network.queries(torch.from_numpy(vectors).to(device))
    scores, location = _over_videos(network, clips, queries, device)
    starts = torch.from_numpy(clips.starts).to(device)
    counts = torch.from_numpy(clips.counts).to(device)
    run: Answers = {}
    for number, query in enumerate(ids):
        order = scores[number].sort(descending=True, stable=True).indices[: options.videos]
        place = torch.arange(int(counts[order].max()), device=device)
        mask = place < counts[order][:, None]
        rows = location[(starts[order][:, None] + place).clamp(max=len(location) - 1)]
        own = queries.location[number].expand(len(order), -1)
        start, end = (logits.log_softmax(dim=1) for logits in network.span_logits(own, rows, mask))
        spans = best_spans(
            options.alpha * scores[number][order],
            start,
            end,
            longest=longest,
            count=options.moments * (_BEFORE_NMS if options.nms else 1),
        )
        run[str(query)] = _in_seconds(spans, order[spans.video].tolist(), clips)
        if progress:
            progress(number + 1, len(ids))
    return without_overlap(run, options.nms, options.moments) if options.nms else run


def _over_videos(
    network: LateInteraction, clips: Clips, queries: EncodedQueries, device: torch.device
) -> tuple[Tensor, Tensor]:
    """Return the score of each video for each query, `(queries, videos)`, and the location encodings of all clips.

    The location encodings, `(clips, D)`, are vectors that serve to find a moment in its video. They are in the order of
    the videos.
    """
    scores = torch.empty((len(queries.retrieval), len(clips.videos)), device=device)
    location = []
    for begin in range(0, len(clips.videos), VIDEOS_AT_ONCE):
        block = np.arange(begin, min(begin + VIDEOS_AT_ONCE, len(clips.videos)))
        videos = network.videos(*padded(clips, block, device))
        location.append(videos.location[videos.mask])
        for first in range(0, len(scores), QUERIES_AT_ONCE):
            some = slice(first, first + QUERIES_AT_ONCE)
            part = EncodedQueries(queries.retrieval[some], queries.location[some])
            scores[some, begin : begin + len(block)] = video_scores(part, videos)
    return scores, torch.cat(location)


def _in_seconds(spans: ScoredSpans, videos: Sequence[int], clips: Clips) -> list[Predicted]:
    rows = zip(videos, spans.first.tolist(), spans.last.tolist(), spans.score.tolist(), strict=True)
    return [
        in_ms(
            clips.videos[video],
            first * clips.clip_s,
            min((last + 1) * clips.clip_s, float(clips.durations_s[video])),
            round(score, 6),
        )
        for video, first, last, score in rows
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
