"""Feed the CroCs loss with strong negatives of a batch, from the folder of `reelrank mvmr negatives`.

What stands for a moment where the loss compares moments with queries: its clip that the query is nearest to. So the
loss is about the score by which videos are ranked, the best clip of a video. Of a right pair it is the best clip within
the moment, of a drawn video its best clip.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from backend.core.errors import InputError, Problem
from backend.systems.learning.material import Batch, Clips, Floats, Indices, TrainingPairs, fingerprint, padded
from backend.systems.learning.network import EncodedQueries, EncodedVideos, LateInteraction, clip_scores
from backend.training import CroCsLoss, Negatives

_NONE = -1


class Rivals:
    """Negatives of the pairs of a training set."""

    def __init__(
        self,
        negatives: Negatives,
        folder: Path,
        texts: Sequence[str],
        pairs: TrainingPairs,
        clips: Clips,
        *,
        uniform: bool,
    ) -> None:
        """Find queries and videos of the training set among those that negatives are known of.

        A video that they do not know has no sentence there, so it is nobody's negative and has none.

        Args:
            negatives: as they were read.
            folder: where from, for messages.
            texts: of the training set's queries; they are the same as their texts there.
            pairs: of the training set.
            clips: of all videos.
            uniform: draw all potential negatives alike, not by p'.

        Raises:
            InputError: a query of a pair is not there, or a video there has no clips.
        """
        self.negatives, self.pairs, self.clips, self.uniform = negatives, pairs, clips, uniform
        row_of: dict[str, int] = {}
        for row, text in enumerate(negatives.queries):
            row_of.setdefault(text.strip(), row)
        column_of = {video: column for column, video in enumerate(negatives.videos)}
        number_of = {video: number for number, video in enumerate(clips.videos)}
        self.rows = np.array([row_of.get(text.strip(), _NONE) for text in texts], dtype=np.int64)
        self.columns = np.array([column_of.get(video, _NONE) for video in clips.videos], dtype=np.int64)
        self.videos = np.array([number_of.get(video, _NONE) for video in negatives.videos], dtype=np.int64)
        place = {text.strip(): n for n, text in enumerate(texts)}
        self.asked = np.array([place.get(text.strip(), _NONE) for text in negatives.queries], dtype=np.int64)
        told = [
            *(f"has no query {texts[n]!r} of the training set" for n in np.unique(pairs.query) if self.rows[n] < 0),
            *(f"video {negatives.videos[n]!r} is not in video_corpus.json" for n in np.flatnonzero(self.videos < 0)),
        ]
        if told:
            raise InputError([Problem(str(folder), None, message) for message in told])

    def fingerprint(self) -> str:
        """A hash of all that is drawn from."""
        forward, backward = self.negatives.videos_given_query, self.negatives.queries_given_video
        return fingerprint(forward.probability.numpy(), backward.probability.numpy(), self.rows, self.columns)

    def draw(self, batch: Batch, count: int, generator: torch.Generator, *, masked: bool) -> "DrawnNegatives":
        """Strong negatives of a batch, at most `count` a pair and way.

        Args:
            batch: the pairs.
            count: how many.
            generator: of the draw, on the processor.
            masked: whether positives are no negatives (TVR-Ranking, C.1).
        """
        query, video = self.pairs.query[batch.numbers], self.pairs.video[batch.numbers]
        rows, columns = torch.from_numpy(self.rows[query]), torch.from_numpy(self.columns[video])
        known, columns = columns >= 0, columns.clamp(min=0)
        forward, backward = self.negatives.videos_given_query, self.negatives.queries_given_video
        of_query, of_video = (
            (one.weak if self.uniform else one.strong)(anchors, min(count, one.probability.shape[1]), generator)
            for one, anchors in ((forward, rows), (backward, columns))
        )
        potential = forward.potential(rows, columns) & known
        videos, videos_count = self.videos[of_query[0].numpy()], of_query[1]
        queries, queries_count = of_video[0].numpy(), of_video[1] & known[:, None]
        if masked:
            potential &= ~batch.positives.cpu()
            videos_count &= ~torch.from_numpy(self._positive(np.broadcast_to(query[:, None], videos.shape), videos))
            own = np.broadcast_to(video[:, None], queries.shape)
            queries_count &= ~torch.from_numpy(self._positive(self.asked[queries], own))
        return DrawnNegatives(potential, videos, videos_count, queries, queries_count)

    def _positive(self, queries: Indices, videos: Indices) -> "np.ndarray[tuple[int, ...], np.dtype[np.bool_]]":
        """Whether a video has a moment of a query of the training set; no query of it (-1) has any."""
        pairs = zip(queries.ravel().tolist(), videos.ravel().tolist(), strict=True)
        found = [query >= 0 and bool((self.pairs.positives[query] == video).any()) for query, video in pairs]
        return np.array(found, dtype=bool).reshape(videos.shape)


@dataclass(frozen=True, slots=True, eq=False)
class DrawnNegatives:
    """Which are negatives in a batch of B pairs with S drawn for each.

    `potential` `(B, B)`; `videos` `(B, S)`, numbers of clips' videos; `queries` `(B, S)`, rows of negatives; both with
    bools of the same shape, which of them count.
    """

    potential: Tensor
    videos: Indices
    videos_count: Tensor
    queries: Indices
    queries_count: Tensor


def crocs_loss(
    loss: CroCsLoss,
    network: LateInteraction,
    batch: Batch,
    drawn: DrawnNegatives,
    clips: Clips,
    vectors: Floats,
    queries: EncodedQueries,
    videos: EncodedVideos,
) -> Tensor:
    """The CroCs loss of a batch, a number; see `CroCsLoss`.

    Args:
        loss: with its temperature and margin.
        network: encodes what was drawn.
        batch: the pairs.
        drawn: their strong negatives.
        clips: of all videos.
        vectors: of the queries that negatives are known of, float32 `(queries, dim)`.
        queries: those of the batch, encoded.
        videos: those of the batch, encoded.
    """
    device = batch.clips.device
    scores = torch.einsum("bd,bld->bl", queries.retrieval, videos.retrieval)
    place = torch.arange(scores.shape[1], device=device)
    within = (place >= batch.first[:, None]) & (place <= batch.last[:, None])
    moments = _picked(videos.retrieval, scores.masked_fill(~within, -torch.inf).argmax(dim=1))
    distinct, inverse = np.unique(drawn.videos, return_inverse=True)
    rivals = network.videos(*padded(clips, distinct, device))
    which = torch.from_numpy(inverse.reshape(drawn.videos.shape)).to(device)
    nearest = clip_scores(queries, rivals).argmax(dim=-1).gather(1, which)
    asked = network.queries(torch.from_numpy(vectors[drawn.queries]).to(device)).retrieval
    found: Tensor = loss(
        queries.retrieval,
        moments,
        drawn.potential.to(device),
        rivals.retrieval[which, nearest],
        asked,
        strong_moments_mask=drawn.videos_count.to(device),
        strong_queries_mask=drawn.queries_count.to(device),
    )
    return found


def _picked(clips: Tensor, place: Tensor) -> Tensor:
    """One clip of each video, `(videos, D)`."""
    return clips[torch.arange(len(clips), device=clips.device), place]
