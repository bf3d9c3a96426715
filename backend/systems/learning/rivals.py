"""Draw negatives for training: from the folder that `reelrank mvmr negatives` makes, or by a trained system's scores.

A potential negative of a query is a video that may serve as a wrong answer to it (equation 1 of Yang et al. 2024,
MVMR). A drawn negative of a query is such a video, drawn at random with the probability p'(v|q); a drawn negative of a
video is a query, drawn with p'(q|v). `hard_negatives` has p' by scores, docs/decisions/051-negatives-and-crocs.md the
one of the folder.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from backend.core.errors import InputError, Problem
from backend.systems.learning.batches import padded, padded_texts
from backend.systems.learning.first_step import FirstRun
from backend.systems.learning.hard_negatives import hard_probabilities
from backend.systems.learning.material import (
    Clips,
    EncodedTexts,
    Floats,
    Indices,
    QueryKey,
    TrainingPairs,
    fingerprint,
)
from backend.systems.learning.system import Batch, DrawnQueries, DrawnVideos, Rivals
from backend.training import Distribution, Negatives

_NONE = -1
Bools = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True, eq=False)
class NegativeSampler:
    """Draws videos and queries that do not match the pairs of a training set.

    Attributes:
        videos_given_query: p'(v|q), `(rows, columns)`: queries by videos.
        queries_given_video: p'(q|v), `(columns, rows)`.
        pairs: the pairs of the training set.
        rows: the row of each training query; -1 if it has none.
        columns: the column of each video; -1 if it has none.
        videos: the video of each column.
        asked: the training query of each row; -1 for other queries.
        uniform: whether all potential negatives are equally likely. Otherwise they are drawn by p'.
    """

    videos_given_query: Distribution
    queries_given_video: Distribution
    pairs: TrainingPairs
    rows: Indices
    columns: Indices
    videos: Indices
    asked: Indices
    uniform: bool = False

    def fingerprint(self) -> str:
        """Return a hash of the probabilities, queries and videos that decide which negatives are drawn."""
        forward, backward = self.videos_given_query.probability, self.queries_given_video.probability
        return fingerprint(forward.numpy(), backward.numpy(), self.rows, self.columns)

    def potential(self, queries: Indices, videos: Indices, *, masked: bool) -> Bools:
        """Return which videos are potential negatives of which training queries, `(queries, videos)`.

        Args:
            queries: indices of training queries.
            videos: indices of videos.
            masked: whether videos that have a moment of the query are left out (TVR-Ranking, C.1).
        """
        rows, columns = self.rows[queries], self.columns[videos]
        known = (rows >= 0)[:, None] & (columns >= 0)
        places = (torch.from_numpy(one.clip(min=0)) for one in (rows, columns))
        potential = self.videos_given_query.potential(*places).numpy() & known
        if masked:
            potential &= ~np.stack([np.isin(videos, self.pairs.positives[query]) for query in queries])
        return potential

    def draw_videos(
        self, queries: Indices, count: int, generator: torch.Generator, *, masked: bool
    ) -> tuple[Indices, Bools]:
        """Draw up to `count` videos for each of these training queries, see `potential`.

        Returns:
            Indices of videos, `(queries, count)`, and a mask of the same shape: False for entries to ignore.
        """
        rows = torch.from_numpy(self.rows[queries])
        drawn, counts = self._drawn(self.videos_given_query, rows, count, generator)
        videos = self.videos[drawn]
        if masked:
            counts &= ~self._positive(np.broadcast_to(queries[:, None], videos.shape), videos)
        return videos, counts

    def draw_queries(
        self, videos: Indices, count: int, generator: torch.Generator, *, masked: bool
    ) -> tuple[Indices, Bools]:
        """Draw up to `count` queries for each of these videos; returns rows and a mask, see `draw_videos`."""
        columns = self.columns[videos]
        drawn, counts = self._drawn(self.queries_given_video, torch.from_numpy(columns.clip(min=0)), count, generator)
        counts &= (columns >= 0)[:, None]
        if masked:
            counts &= ~self._positive(self.asked[drawn], np.broadcast_to(videos[:, None], drawn.shape))
        return drawn, counts

    def _drawn(
        self, distribution: Distribution, anchors: Tensor, count: int, generator: torch.Generator
    ) -> tuple[Indices, Bools]:
        draw = distribution.weak if self.uniform else distribution.strong
        drawn, counts = draw(anchors, min(count, distribution.probability.shape[1]), generator)
        return drawn.numpy(), counts.numpy()

    def _positive(self, queries: Indices, videos: Indices) -> Bools:
        """Return for each pair of a query and a video whether the video has a moment of the query.

        A query is its index in the training set. A query of -1 is not in the training set and gives False.
        """
        pairs = zip(queries.ravel().tolist(), videos.ravel().tolist(), strict=True)
        positive = [query >= 0 and bool((self.pairs.positives[query] == video).any()) for query, video in pairs]
        return np.array(positive, dtype=bool).reshape(videos.shape)


def sampler_of_folder(
    negatives: Negatives, folder: Path, texts: Sequence[str], pairs: TrainingPairs, clips: Clips, *, uniform: bool
) -> NegativeSampler:
    """Return the sampler of a folder of negatives; its rows are the queries of the folder.

    Videos are matched by name, and queries by text. A video that is not in the folder is never drawn as a negative,
    and it gets no negatives.

    Args:
        negatives: the contents of the folder.
        folder: the folder, for messages.
        texts: the texts of the training set's queries.
        pairs: the pairs of the training set.
        clips: the clips of all videos.
        uniform: see `NegativeSampler`.

    Raises:
        InputError: a query of the training set is not in the folder, or a video in the folder has no clips.
    """
    row_of: dict[str, int] = {}
    for row, text in enumerate(negatives.queries):
        row_of.setdefault(text.strip(), row)
    column_of = {video: column for column, video in enumerate(negatives.videos)}
    number_of = {video: number for number, video in enumerate(clips.videos)}
    place = {text.strip(): n for n, text in enumerate(texts)}
    rows = _indices(row_of.get(text.strip(), _NONE) for text in texts)
    videos = _indices(number_of.get(video, _NONE) for video in negatives.videos)
    messages = [
        *(f"has no query {texts[n]!r} of the training set" for n in np.unique(pairs.query) if rows[n] < 0),
        *(f"video {negatives.videos[n]!r} is not in video_corpus.json" for n in np.flatnonzero(videos < 0)),
    ]
    if messages:
        raise InputError([Problem(str(folder), None, message) for message in messages])
    return NegativeSampler(
        negatives.videos_given_query,
        negatives.queries_given_video,
        pairs,
        rows,
        _indices(column_of.get(video, _NONE) for video in clips.videos),
        videos,
        _indices(place.get(text.strip(), _NONE) for text in negatives.queries),
        uniform,
    )


def sampler_of_scores(
    scores: Floats,
    queries: Indices,
    videos: Indices,
    pairs: TrainingPairs,
    count: int,
    potential: Bools | None = None,
) -> NegativeSampler:
    """Return the sampler that draws by a system's scores; its rows are training queries.

    Args:
        scores: r(q, v), `(queries, videos)`.
        queries: the training query of each row.
        videos: the video of each column.
        pairs: the pairs of the training set.
        count: the number of all videos.
        potential: bool `(queries, videos)`, the potential negatives; None takes all. Videos that have a moment of the
            query are left out.
    """
    golden = np.stack([np.isin(videos, pairs.positives[query]) for query in queries])
    allowed = ~golden if potential is None else potential & ~golden
    forward, backward = hard_probabilities(scores, golden, allowed), hard_probabilities(scores.T, golden.T, allowed.T)
    rows = np.full(len(pairs.positives), _NONE, dtype=np.int64)
    rows[queries] = np.arange(len(queries))
    columns = np.full(count, _NONE, dtype=np.int64)
    columns[videos] = np.arange(len(videos))
    first, second = (Distribution(torch.from_numpy(one)) for one in (forward, backward))
    return NegativeSampler(first, second, pairs, rows, columns, videos, queries)


def _indices(numbers: Iterable[int]) -> Indices:
    return np.array(list(numbers), dtype=np.int64)


def rivals_of(
    batch: Batch,
    pairs: TrainingPairs,
    potential: NegativeSampler | None,
    drawn: NegativeSampler | None,
    counts: tuple[int, int],
    clips: Clips,
    texts: EncodedTexts,
    generator: torch.Generator,
    *,
    masked: bool,
) -> Rivals:
    """Return the negatives of a batch.

    Args:
        batch: the batch.
        pairs: the pairs of the training set.
        potential: the sampler that says which pairs may be negatives; None takes all.
        drawn: the sampler from which negatives are drawn; None draws none.
        counts: how many videos are drawn for each query, and how many queries for each video, at most.
        clips: the clips of all videos.
        texts: the encoded queries of the rows of `drawn`.
        generator: the random generator, on the CPU.
        masked: whether videos that have a moment of the query are left out (TVR-Ranking, C.1).
    """
    device = batch.clips.device
    query, video = pairs.query[batch.numbers], pairs.video[batch.numbers]
    if potential is not None:
        allowed = torch.from_numpy(potential.potential(query, video, masked=masked)).to(device)
    else:
        allowed = ~batch.positives if masked else torch.ones_like(batch.positives)
    videos = queries = None
    if drawn is not None and counts[0]:
        videos = _drawn_videos(*drawn.draw_videos(query, counts[0], generator, masked=masked), clips, device)
    if drawn is not None and counts[1]:
        numbers, kept = drawn.draw_queries(video, counts[1], generator, masked=masked)
        places = torch.arange(numbers.size, device=device).reshape(numbers.shape)
        texts_drawn = padded_texts(texts, numbers.ravel(), device)
        queries = DrawnQueries(*texts_drawn, places, torch.from_numpy(kept).to(device))
    return Rivals(allowed, videos, queries)


def rivals_of_run(
    batch: Batch, pairs: TrainingPairs, run: FirstRun, ids: Sequence[QueryKey], clips: Clips, seed: int
) -> Rivals:
    """Return the negatives of a batch: videos drawn from the run of a first step.

    Args:
        batch: the batch.
        pairs: the pairs of the training set.
        run: the run of the first step.
        ids: the ids of the training queries.
        clips: the clips of all videos.
        seed: the random seed of the draws.
    """
    videos = None
    if run.step.negatives:
        query, own = pairs.query[batch.numbers], pairs.video[batch.numbers]
        positives = [pairs.positives[number] for number in query]
        drawn = run.draw([ids[number] for number in query], own, positives, np.random.default_rng(seed))
        videos = _drawn_videos(*drawn, clips, batch.clips.device)
    return Rivals(~batch.positives, videos)


def _drawn_videos(numbers: Indices, counts: Bools, clips: Clips, device: torch.device) -> DrawnVideos:
    distinct, inverse = np.unique(numbers, return_inverse=True)
    places = torch.from_numpy(inverse.reshape(numbers.shape)).to(device)
    return DrawnVideos(*padded(clips, distinct, device), places, torch.from_numpy(counts).to(device))
