"""A made-up corpus with a known answer: the tokens of a query are a fixed linear map of the clips of its moment."""

import numpy as np
import torch

from backend.systems.learning.system import Batch, System

FRAMES, TOKENS, CLIPS, LONGEST = 12, 10, 8, 4


def corpus(videos: int, topics: int = 6, *, seed: int = 0, noise: float = 0.1) -> Batch:
    """Videos of three topics each, each shown for two to four clips, and all pairs of a moment and its query.

    `query` is the topic of the moment. So a topic that two videos show is one query with a moment in each.
    """
    rng, fixed = np.random.default_rng(seed), np.random.default_rng(99)
    wording = fixed.standard_normal((FRAMES, TOKENS)) / FRAMES**0.5
    looks = fixed.standard_normal((topics, FRAMES))
    shown, topic, spans, words = [], [], [], []
    for _ in range(videos):
        bounds = [0, *np.sort(rng.choice([2, 4, 6], 2, replace=False)).tolist(), CLIPS]
        these = rng.choice(topics, 3, replace=False)
        clips = np.repeat(looks[these], np.diff(bounds), axis=0)
        clips += noise * rng.standard_normal(clips.shape)
        for which, start, end in zip(these.tolist(), bounds[:-1], bounds[1:], strict=True):
            tokens = np.zeros((LONGEST, TOKENS))
            tokens[: end - start] = clips[start:end] @ wording + noise * rng.standard_normal((end - start, TOKENS))
            shown.append(clips)
            topic.append(which)
            spans.append([start, end])
            words.append(tokens)
    query, span = torch.tensor(topic), torch.tensor(spans)
    video = torch.arange(videos).repeat_interleave(3)
    tokens = torch.tensor(np.array(words), dtype=torch.float32)
    mask = torch.arange(LONGEST) < (span[:, 1:] - span[:, :1])
    return Batch(
        numbers=torch.arange(len(video)),
        query=query,
        video=video,
        words=tokens,
        words_mask=mask,
        vectors=tokens.sum(dim=1) / mask.sum(dim=1, keepdim=True),
        clips=torch.tensor(np.array(shown), dtype=torch.float32),
        mask=torch.ones(len(video), CLIPS, dtype=torch.bool),
        first=span[:, 0],
        last=span[:, 1] - 1,
        span=span.float(),
        weight=torch.ones(len(video)),
        positives=((query[:, None] == query)[:, :, None] & (video[:, None] == video)[None]).any(dim=1),
    )


def rows(pairs: Batch, chosen: torch.Tensor) -> Batch:
    """Some of the pairs."""
    held = {name: getattr(pairs, name)[chosen] for name in Batch.__slots__}
    return Batch(**{**held, "positives": pairs.positives[chosen][:, chosen]})


def learn(system: System, pairs: Batch, *, epochs: int, size: int, rate: float) -> None:
    """Train with AdamW, in batches in a random order."""
    torch.manual_seed(1)
    optimiser = torch.optim.AdamW(system.parameters(), rate)
    system.train()
    for _ in range(epochs):
        for chosen in torch.randperm(len(pairs.video)).split(size):
            optimiser.zero_grad()
            system.losses(rows(pairs, chosen), None)["loss"].backward()
            optimiser.step()


def rank_1(system: System, pairs: Batch) -> tuple[float, float]:
    """The share of queries whose best span, of all spans of all videos, has an IoU of 0.5 or more with a moment of it.

    The second value is the same with the spans of the pair's own video alone.
    """
    system.eval()
    own = torch.arange(len(pairs.video)) // 3
    with torch.no_grad():
        scores = system.span_scores(
            system.encode_queries(pairs.words, pairs.words_mask, pairs.vectors),
            system.encode_videos(pairs.clips[::3], pairs.mask[::3]),
        )
    same = pairs.query[:, None] == pairs.query
    in_video = scores[torch.arange(len(own)), own].flatten(1).argmax(dim=1)
    anywhere = scores.flatten(1).argmax(dim=1)
    shares = []
    for best in (anywhere, own * CLIPS**2 + in_video):
        video, start, end = best // CLIPS**2, best // CLIPS % CLIPS, best % CLIPS
        both = torch.minimum(end[:, None], pairs.last) - torch.maximum(start[:, None], pairs.first) + 1
        either = torch.maximum(end[:, None], pairs.last) - torch.minimum(start[:, None], pairs.first) + 1
        right = (both / either >= 0.5) & (video[:, None] == own) & same
        shares.append(right.any(dim=1).float().mean().item())
    return shares[0], shares[1]
