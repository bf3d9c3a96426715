"""Training utilities: read the negatives of `reelrank mvmr negatives`, and compute the CroCs loss.

Weak negatives are any potential ones, strong ones are drawn by p'. Equations 1 to 6 of Yang et al. 2024, "MVMR: A New
Framework for Evaluating Faithfulness of Video Moment Retrieval against Multiple Distractors" (CIKM), section CroCs, as
docs/decisions/051-negatives-and-crocs.md reads them. `backend/campaign/selection/pools/similarity.py` has 1 to 3. With
s the cosine of a query and a moment, D the margin, T the temperature, and for pair i of a query q_i and its moment m_i

(4) L_q = -mean_i log( e((s(q_i, m_i) - D) / T) / (e((s(q_i, m_i) - D) / T) + sum_m e(s(q_i, m) / T)) ),
    m over the weak negatives of q_i, moments of the batch in videos that are potential negatives of it, and over its
    strong negatives, moments of videos that were drawn by p'(v|q)
(5) L_v = the same from m_i to queries: of the batch if the video of m_i is a potential negative of them, and
    drawn by p'(q|v)
(6) L = L_q + L_v
"""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import torch
from pyarrow import parquet
from torch import Tensor, nn
from torch.nn.functional import normalize

from backend.core.errors import InputError

LARGEST_MATRIX = 32 << 30
"""Bytes. TVR's 87,175 queries by 17,435 training videos take 6 GB."""
VIDEOS_GIVEN_QUERY, QUERIES_GIVEN_VIDEO = "videos_given_query.parquet", "queries_given_video.parquet"


class Distribution:
    """How likely each of the others is drawn as a negative of each anchor: p'(v|q), or p'(q|v).

    `probability` is float32 `(anchors, others)`: 0 for what is no potential negative, and above 0 for what is.
    """

    def __init__(self, probability: Tensor) -> None:
        self.probability = probability

    def potential(self, anchors: Tensor, others: Tensor) -> Tensor:
        """Which of a batch are potential negatives of each other (equation 1): the weak negatives in a batch.

        Args:
            anchors: int64 `(anchors,)`, numbers of rows.
            others: int64 `(others,)`, numbers of columns.

        Returns:
            bool `(anchors, others)`.
        """
        return self.probability[anchors[:, None], others[None, :]] > 0

    def weak(self, anchors: Tensor, count: int, generator: torch.Generator | None = None) -> tuple[Tensor, Tensor]:
        """`count` different potential negatives of each anchor, all equally likely; see `strong`."""
        return _draw((self.probability[anchors] > 0).float(), count, generator)

    def strong(self, anchors: Tensor, count: int, generator: torch.Generator | None = None) -> tuple[Tensor, Tensor]:
        """`count` different potential negatives of each anchor, each next one drawn by p' among what is left.

        Args:
            anchors: int64 `(anchors,)`, numbers of rows.
            count: how many, at most as many as there are others.
            generator: of the draw, for draws that can be repeated.

        Returns:
            Numbers of columns, int64 `(anchors, count)`, and which of them count, bool of the same shape: an anchor
            with fewer potential negatives has False, and any numbers, at the end.
        """
        return _draw(self.probability[anchors], count, generator)


def _draw(weights: Tensor, count: int, generator: torch.Generator | None) -> tuple[Tensor, Tensor]:
    """Draw without replacement by weight.

    Whoever comes first of clocks that ring at random, each at the rate of its weight, is drawn by weight, and so is
    the next among the rest; one of weight 0 never rings.
    """
    rings = torch.empty_like(weights).exponential_(generator=generator) / weights
    first = rings.masked_fill(weights == 0, torch.inf).topk(count, dim=1, largest=False)
    return first.indices, first.values.isfinite()


@dataclass(frozen=True, slots=True, eq=False)
class Negatives:
    """What a folder of `reelrank mvmr negatives` holds.

    Attributes:
        query_ids: `VIDEO#N` of each query, in the order of rows and columns.
        queries: their texts.
        videos: names, in the order of rows and columns.
        own: for each query the number of its own video, int64 `(queries,)`.
        videos_given_query: p'(v|q), `(queries, videos)`.
        queries_given_video: p'(q|v), `(videos, queries)`.
    """

    query_ids: tuple[str, ...]
    queries: tuple[str, ...]
    videos: tuple[str, ...]
    own: Tensor
    videos_given_query: Distribution
    queries_given_video: Distribution


def read_negatives(folder: Path) -> Negatives:
    """Both distributions, held whole: 4 bytes for each query and video, twice (Charades-STA's training set: 530 MB).

    Raises:
        InputError: a file cannot be read, or the two do not belong together.
    """
    by_query, forward = _read(folder / VIDEOS_GIVEN_QUERY, ("query_id", "query", "video"))
    by_video, backward = _read(folder / QUERIES_GIVEN_VIDEO, ("video",))
    number = {video: n for n, video in enumerate(by_video["video"])}
    if forward.shape[::-1] != backward.shape or not number.keys() >= set(by_query["video"]):
        message = f"does not match {VIDEOS_GIVEN_QUERY} beside it: the queries or videos differ; write both again"
        raise InputError.single(folder / QUERIES_GIVEN_VIDEO, message)
    return Negatives(
        query_ids=tuple(by_query["query_id"]),
        queries=tuple(by_query["query"]),
        videos=tuple(by_video["video"]),
        own=torch.tensor([number[video] for video in by_query["video"]], dtype=torch.int64),
        videos_given_query=Distribution(forward),
        queries_given_video=Distribution(backward),
    )


def _read(path: Path, names: tuple[str, ...]) -> tuple[dict[str, list[str]], Tensor]:
    """The text columns of a file and its probabilities, a row group at a time."""
    try:
        with parquet.ParquetFile(path) as file:
            if missing := {*names, "probability"} - set(file.schema_arrow.names):
                raise InputError.single(path, f"has no column {', '.join(sorted(missing))}")
            kind = file.schema_arrow.field("probability").type
            if not pa.types.is_fixed_size_list(kind) or kind.value_type != pa.float32():
                raise InputError.single(path, f"its column probability is {kind}, not lists of floats of one length")
            sizes = [file.metadata.row_group(group).total_byte_size for group in range(file.num_row_groups)]
            if max([4 * file.metadata.num_rows * kind.list_size, *sizes]) > LARGEST_MATRIX:
                message = f"holds more than {LARGEST_MATRIX / 2**30:g} GiB of probabilities"
                raise InputError.single(path, message)
            found: dict[str, list[str]] = {name: [] for name in names}
            probability = np.empty((file.metadata.num_rows, kind.list_size), dtype=np.float32)
            done = 0
            for group in range(file.num_row_groups):
                table = file.read_row_group(group)
                for name in names:
                    found[name] += table.column(name).to_pylist()
                for chunk in table.column("probability").chunks:
                    probability[done : done + len(chunk)] = chunk.flatten().to_numpy().reshape(len(chunk), -1)
                    done += len(chunk)
    except (OSError, pa.ArrowException) as error:
        raise InputError.single(path, f"cannot be read as Parquet: {str(error).splitlines()[0]}") from None
    return found, torch.from_numpy(probability)


class CroCsLoss(nn.Module):
    """Equation 6; both directions weigh alike.

    Attributes:
        temperature: T, above 0; the published configurations for Charades-STA have 0.1.
        margin: D, by how much a right pair has to be better; there 0.4.
    """

    def __init__(self, temperature: float = 0.1, margin: float = 0.4) -> None:
        super().__init__()
        if not temperature > 0:
            raise ValueError(f"temperature must be above 0, not {temperature}")
        self.temperature = temperature
        self.margin = margin

    def forward(
        self,
        queries: Tensor,
        moments: Tensor,
        potential: Tensor,
        strong_moments: Tensor | None = None,
        strong_queries: Tensor | None = None,
        *,
        strong_moments_mask: Tensor | None = None,
        strong_queries_mask: Tensor | None = None,
    ) -> Tensor:
        """Return the loss of a batch as a scalar tensor. Vectors need not be normalised.

        Args:
            queries: `(pairs, dim)`.
            moments: `(pairs, dim)`; moment i is the right one of query i.
            potential: bool `(pairs, pairs)`, whether the video of moment j is a potential negative of query i, from
                `Distribution.potential`; the diagonal does not matter.
            strong_moments: `(pairs, any, dim)`, for each query moments of its strong negatives; None for none.
            strong_queries: `(pairs, any, dim)`, for each moment queries that are strong negatives of its video.
            strong_moments_mask: bool `(pairs, any)`, which of them count; None for all.
            strong_queries_mask: likewise.

        Raises:
            ValueError: `potential` is of another shape.
        """
        if potential.shape != (len(queries), len(moments)):
            raise ValueError(f"potential is {tuple(potential.shape)}, not {(len(queries), len(moments))}")
        q, m = normalize(queries, dim=-1), normalize(moments, dim=-1)
        cosine = q @ m.T
        right = cosine.diagonal()
        weak = potential & ~torch.eye(len(q), dtype=torch.bool, device=potential.device)
        return self._one_way(right, cosine, weak, q, strong_moments, strong_moments_mask) + self._one_way(
            right, cosine.T, weak.T, m, strong_queries, strong_queries_mask
        )

    def _one_way(
        self, right: Tensor, cosine: Tensor, weak: Tensor, anchors: Tensor, strong: Tensor | None, mask: Tensor | None
    ) -> Tensor:
        """Equations 4 and 5: `right` is `(pairs,)`, `cosine` and `weak` `(pairs, pairs)`, `anchors` `(pairs, dim)`."""
        chosen = [(right - self.margin)[:, None], cosine.masked_fill(~weak, -torch.inf)]
        if strong is not None:
            hard = torch.einsum("pd,psd->ps", anchors, normalize(strong, dim=-1))
            chosen.append(hard if mask is None else hard.masked_fill(~mask, -torch.inf))
        logits = torch.cat(chosen, dim=1) / self.temperature
        return (logits.logsumexp(dim=1) - logits[:, 0]).mean()
