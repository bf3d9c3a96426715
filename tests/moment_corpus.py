"""A made-up corpus with a known answer: the tokens of a query are a fixed linear map of the clips of its moment."""

from itertools import pairwise
from types import SimpleNamespace

import numpy as np
import torch

from backend.systems.learning.system import System

DIM, WORDS_DIM, CLIPS = 16, 20, 8
CUTS = ((0, 2, 5, 8), (0, 3, 4, 8), (0, 4, 6, 8), (0, 1, 5, 8))
"""Every video shows three things, one after the other."""


class Corpus:
    """Videos of three moments each; every moment has a query for training and one to be asked."""

    def __init__(self, videos: int = 24, seed: int = 0, noise: float = 0.3) -> None:
        rng = np.random.default_rng(seed)
        words_of = rng.standard_normal((DIM, WORDS_DIM)) / DIM**0.5
        self.clips = np.zeros((videos, CLIPS, DIM), dtype=np.float32)
        self.pairs: list[tuple[int, int, int]] = []
        for video in range(videos):
            cuts = CUTS[video % len(CUTS)]
            for first, end in pairwise(cuts):
                self.clips[video, first:end] = rng.standard_normal(DIM)
                self.pairs.append((video, first, end))
        self.clips += 0.1 * rng.standard_normal(self.clips.shape).astype(np.float32)
        shape = (2, len(self.pairs), CLIPS, WORDS_DIM)
        self.words = np.zeros(shape, dtype=np.float32)
        self.mask = np.zeros(shape[1:3], dtype=bool)
        for row, (video, first, end) in enumerate(self.pairs):
            said = self.clips[video, first:end] @ words_of
            self.words[:, row, : end - first] = said + noise * rng.standard_normal((2, *said.shape))
            self.mask[row, : end - first] = True

    def batch(self, rows: np.ndarray) -> SimpleNamespace:
        """The training pairs with these numbers."""
        video, first, end = (torch.tensor(column) for column in np.array(self.pairs)[rows].T)
        words, mask = torch.from_numpy(self.words[0, rows]), torch.from_numpy(self.mask[rows])
        return SimpleNamespace(
            numbers=rows,
            query=torch.from_numpy(rows),
            video=video,
            words=words,
            words_mask=mask,
            vectors=words.sum(dim=1),
            clips=torch.from_numpy(self.clips)[video],
            mask=torch.ones(len(rows), CLIPS, dtype=torch.bool),
            first=first,
            last=end - 1,
            span=torch.stack([first, end], dim=1).float(),
            weight=torch.ones(len(rows)),
            positives=video[:, None] == video,
        )

    def right(self, system: System, *, asked: int = 1) -> float:
        """The share of queries whose best moment of all videos is right: Rank 1 at an IoU of 0.5."""
        system.eval()
        words, mask = torch.from_numpy(self.words[asked]), torch.from_numpy(self.mask)
        with torch.no_grad():
            queries = system.encode_queries(words, mask, words.sum(dim=1))
            videos = system.encode_videos(
                torch.from_numpy(self.clips), torch.ones(self.clips.shape[:2], dtype=torch.bool)
            )
            scores = system.span_scores(queries, videos)
        hits = 0
        for (video, first, end), best in zip(self.pairs, scores.flatten(1).argmax(dim=1).tolist(), strict=True):
            found, start, last = np.unravel_index(best, scores.shape[1:])
            shared = max(0, min(end, last + 1) - max(first, start))
            hits += found == video and shared / (end - first + last + 1 - start - shared) >= 0.5
        return hits / len(self.pairs)
