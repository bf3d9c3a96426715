"""Draw strong negatives for training with the CroCs loss, from the folder that `reelrank mvmr negatives` makes.

The CroCs loss (Yang et al. 2024) is low if a query is more similar to its own moment than to videos that do not match.

A strong negative of a query is a video that is similar to it but does not match. A strong negative of a video is a
query that is similar to it but does not match. The loss compares a query with a single clip of each video, because
videos are ranked by their most similar clip. For a matching moment, this is the clip in the moment that is most similar
to the query. For a negative video, it is the most similar clip of the whole video.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from backend.core.errors import InputError, Problem
from backend.systems.learning.batches import Batch, padded
from backend.systems.learning.material import Clips, Floats, Indices, TrainingPairs, fingerprint
from backend.systems.learning.network import EncodedQueries, EncodedVideos, LateInteraction, clip_scores
from backend.training import CroCsLoss, Negatives

_NONE = -1


class Rivals:
    """Draws strong negatives for the pairs of a training set: similar videos and queries that do not match."""

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
        """Match the queries and videos of the training set with those in the folder of negatives.

        Negatives are similar videos and queries that do not match.

        Videos are matched by name, and queries by text. A video that is not in the folder is never drawn as a negative,
        and it gets no negatives.

        Args:
            negatives: the contents of the folder.
            folder: the folder, for messages.
            texts: the texts of the training set's queries.
            pairs: the pairs of the training set.
            clips: the clips of all videos.
            uniform: whether all potential negatives are equally likely. Otherwise more similar ones are more likely, by
                the probabilities p' in docs/decisions/051-negatives-and-crocs.md.

        Raises:
            InputError: a query of the training set is not in the folder, or a video in the folder has no clips.
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
        messages = [
            *(f"has no query {texts[n]!r} of the training set" for n in np.unique(pairs.query) if self.rows[n] < 0),
            *(f"video {negatives.videos[n]!r} is not in video_corpus.json" for n in np.flatnonzero(self.videos < 0)),
        ]
        if messages:
            raise InputError([Problem(str(folder), None, message) for message in messages])

    def fingerprint(self) -> str:
        """Return a hash of the probabilities, queries and videos that decide which negatives are drawn."""
        forward, backward = self.negatives.videos_given_query, self.negatives.queries_given_video
        return fingerprint(forward.probability.numpy(), backward.probability.numpy(), self.rows, self.columns)

    def draw(self, batch: Batch, count: int, generator: torch.Generator, *, masked: bool) -> "DrawnNegatives":
        """Draw strong negatives for the pairs of a batch: similar videos and queries that do not match.

        Args:
            batch: the pairs of the batch.
            count: the largest number of videos drawn for a query, and of queries drawn for a video.
            generator: the random generator, on the CPU.
            masked: whether videos that have a moment of the query are left out (TVR-Ranking, C.1).
        """
        query, video = self.pairs.query[batch.numbers], self.pairs.video[batch.numbers]
        rows, columns = torch.from_numpy(self.rows[query]), torch.from_numpy(self.columns[video])
        known, columns = columns >= 0, columns.clamp(min=0)
        forward, backward = self.negatives.videos_given_query, self.negatives.queries_given_video
        of_query, of_video = (
            (distribution.weak if self.uniform else distribution.strong)(
                anchors, min(count, distribution.probability.shape[1]), generator
            )
            for distribution, anchors in ((forward, rows), (backward, columns))
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
        """Return for each pair of a query and a video whether the video has a moment of the query.

        A query is its index in the training set. A query of -1 is not in the training set and gives False.
        """
        pairs = zip(queries.ravel().tolist(), videos.ravel().tolist(), strict=True)
        positive = [query >= 0 and bool((self.pairs.positives[query] == video).any()) for query, video in pairs]
        return np.array(positive, dtype=bool).reshape(videos.shape)


@dataclass(frozen=True, slots=True, eq=False)
class DrawnNegatives:
    """Negatives of a batch of B pairs: for each pair, S similar videos and S similar queries that do not match.

    Attributes:
        potential: bool `(B, B)`: whether the video of pair j may serve as a negative of the query of pair i.
        videos: the indices of drawn videos, `(B, S)`.
        videos_count: bool `(B, S)`, False for drawn videos to be ignored.
        queries: the drawn queries, `(B, S)`, as row numbers in the folder of negatives.
        queries_count: bool `(B, S)`, False for drawn queries to be ignored.
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
    """Return the CroCs loss of a batch, a scalar that is low if matching queries and videos are the most similar.

    `CroCsLoss` has the formula.

    Args:
        loss: the loss, with its temperature and margin.
        network: the network that encodes the drawn negatives.
        batch: the pairs of the batch.
        drawn: the strong negatives of these pairs: similar videos and queries that do not match.
        clips: the clips of all videos.
        vectors: the vectors of all queries in the folder of negatives, float32 `(queries, dim)`.
        queries: the encoded queries of the batch.
        videos: the encoded videos of the batch.
    """
    device = batch.clips.device
    scores = torch.einsum("bd,bld->bl", queries.retrieval, videos.retrieval)
    place = torch.arange(scores.shape[1], device=device)
    within = (place >= batch.first[:, None]) & (place <= batch.last[:, None])
    moments = _picked(videos.retrieval, scores.masked_fill(~within, -torch.inf).argmax(dim=1))
    distinct, inverse = np.unique(drawn.videos, return_inverse=True)
    rivals = network.videos(*padded(clips, distinct, device))
    places = torch.from_numpy(inverse.reshape(drawn.videos.shape)).to(device)
    nearest = clip_scores(queries, rivals).argmax(dim=-1).gather(1, places)
    drawn_queries = network.queries(torch.from_numpy(vectors[drawn.queries]).to(device)).retrieval
    value: Tensor = loss(
        queries.retrieval,
        moments,
        drawn.potential.to(device),
        rivals.retrieval[places, nearest],
        drawn_queries,
        strong_moments_mask=drawn.videos_count.to(device),
        strong_queries_mask=drawn.queries_count.to(device),
    )
    return value


def _picked(clips: Tensor, place: Tensor) -> Tensor:
    """Return the vector of one clip of each video, `(videos, D)`; `place` is the number of the clip in each video."""
    return clips[torch.arange(len(clips), device=clips.device), place]
