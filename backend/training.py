"""Train a system for video moment retrieval: read wrong answers for queries, and compute the matching loss.

`reelrank mvmr negatives` writes the wrong answers (negatives).

A potential negative of a query is a video that may serve as a wrong answer to it (equation 1). A weak negative is any
potential negative. A strong negative is drawn at random with the probabilities p': of text similarity, or of a model's
scores (equation 3).

Source: Yang et al. 2024, "MVMR: A New Framework for Evaluating Faithfulness of Video Moment Retrieval against Multiple
Distractors" (CIKM), section 6, read as in docs/decisions/051-negatives-and-crocs.md. The loss here is equation 5,
L_rmm, as a mean over pairs, with one vector for each moment. The system `crocs` has the whole of CroCs: the map of
moments, the cross-entropy of equation 4, and their sum, equation 6. Here s is the cosine of a query and a moment, D the
margin (psi in the paper) and T the temperature; e(x) is the exponential function. Pair i is a query q_i and its moment
m_i. The two halves are:

- L_q = -mean_i log( e((s(q_i, m_i) - D) / T) / (e((s(q_i, m_i) - D) / T) + sum_m e(s(q_i, m) / T)) ), where m runs over
  the weak and the strong negatives of q_i. The weak ones are the moments of the batch whose video is a potential
  negative of q_i. The strong ones are moments of videos drawn by p'(v|q).
- L_v = the same with the roles exchanged: m_i against its negative queries. The weak ones are the queries of the batch
  for which the video of m_i is a potential negative. The strong ones are drawn by p'(q|v).

L_rmm = L_q + L_v.
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
    """The probabilities with which wrong answers (negatives) are drawn for each query, or for each video.

    `probability` is float32 `(anchors, others)`. It is above 0 for potential negatives (possible wrong answers), else
    0. For p'(v|q), a row (anchor) is a query and a column is a video; for p'(q|v) it is the other way round.
    """

    def __init__(self, probability: Tensor) -> None:
        self.probability = probability

    def potential(self, anchors: Tensor, others: Tensor) -> Tensor:
        """Return for each pair of a row and a column of `probability` whether the column is a possible wrong answer.

        Such columns are the potential negatives of the row. Within a batch they are its weak negatives (equation 1).

        Args:
            anchors: int64 `(anchors,)`, indices of rows.
            others: int64 `(others,)`, indices of columns.

        Returns:
            bool `(anchors, others)`, True where the probability is above 0.
        """
        return self.probability[anchors[:, None], others[None, :]] > 0

    def weak(self, anchors: Tensor, count: int, generator: torch.Generator | None = None) -> tuple[Tensor, Tensor]:
        """Draw `count` different wrong answers (potential negatives) for each anchor, all equally likely.

        An anchor is the index of a row of `probability`. Arguments and results are those of `strong`: indices of
        columns and a mask, both `(anchors, count)`.
        """
        return _draw((self.probability[anchors] > 0).float(), count, generator)

    def strong(self, anchors: Tensor, count: int, generator: torch.Generator | None = None) -> tuple[Tensor, Tensor]:
        """Draw `count` different potential negatives for each anchor, one after the other by their probabilities.

        A potential negative is a possible wrong answer; an anchor is the index of a row of `probability`.

        Args:
            anchors: int64 `(anchors,)`, indices of rows.
            count: the number of negatives, at most the number of columns.
            generator: a random generator, for repeatable draws.

        Returns:
            Indices of columns, int64 `(anchors, count)`, and a bool mask of the same shape. An anchor with fewer
            potential negatives has False and arbitrary indices at the end.
        """
        return _draw(self.probability[anchors], count, generator)


def _draw(weights: Tensor, count: int, generator: torch.Generator | None) -> tuple[Tensor, Tensor]:
    """Draw `count` columns of each row without replacement, by weight; return (indices of columns, mask).

    The mask is False where a row has no further column with a weight above 0.

    Each entry of a row gets a random waiting time, exponentially distributed with its weight as the rate. The columns
    with the shortest times are drawn. This equals drawing one by one by weight; weight 0 is never drawn.
    """
    rings = torch.empty_like(weights).exponential_(generator=generator) / weights
    first = rings.masked_fill(weights == 0, torch.inf).topk(count, dim=1, largest=False)
    return first.indices, first.values.isfinite()


@dataclass(frozen=True, slots=True, eq=False)
class Negatives:
    """The negatives (wrong videos for queries) that `reelrank mvmr negatives` wrote into a folder.

    Attributes:
        query_ids: the id of each query, such as `VIDEO#N` for sentence N (from 0) about a video, in the order of the
            distributions' rows or columns.
        queries: the texts of the queries.
        videos: the names of the videos, in the order of the distributions' rows or columns.
        own: the index in `videos` of each query's own video, int64 `(queries,)`.
        videos_given_query: p'(v|q), the probabilities with which videos are drawn for a query, `(queries, videos)`.
        queries_given_video: p'(q|v), the probabilities with which queries are drawn for a video, `(videos, queries)`.
    """

    query_ids: tuple[str, ...]
    queries: tuple[str, ...]
    videos: tuple[str, ...]
    own: Tensor
    videos_given_query: Distribution
    queries_given_video: Distribution


def read_negatives(folder: Path) -> Negatives:
    """Read the negatives (wrong videos for queries) that `reelrank mvmr negatives` wrote into a folder.

    Each of the two tables of probabilities takes 4 bytes for each pair of a query and a video. Charades-STA's training
    set takes 530 MB in all.

    Raises:
        InputError: a file cannot be read, or the two files do not belong together.
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
    """Return (texts of the named columns, matrix of probabilities) of a Parquet file.

    The file is read one row group at a time, to save memory.
    """
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
            columns: dict[str, list[str]] = {name: [] for name in names}
            probability = np.empty((file.metadata.num_rows, kind.list_size), dtype=np.float32)
            done = 0
            for group in range(file.num_row_groups):
                table = file.read_row_group(group)
                for name in names:
                    columns[name] += table.column(name).to_pylist()
                for chunk in table.column("probability").chunks:
                    probability[done : done + len(chunk)] = chunk.flatten().to_numpy().reshape(len(chunk), -1)
                    done += len(chunk)
    except (OSError, pa.ArrowException) as error:
        raise InputError.single(path, f"cannot be read as Parquet: {str(error).splitlines()[0]}") from None
    return columns, torch.from_numpy(probability)


class CroCsLoss(nn.Module):
    """The matching loss of CroCs, equation 5 of Yang et al. 2024: queries against wrong moments, and the reverse.

    Attributes:
        temperature: T, above 0, by which cosines are divided; the published configurations for Charades-STA have 0.1.
        margin: D, by how much the cosine of a right pair must exceed those of wrong pairs; the same configurations have
            0.4.
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
        """Return the loss of a batch of pairs (query, moment) as a scalar tensor.

        A potential negative is a video that may serve as a wrong answer; a strong negative was drawn at random from
        these. Vectors need not be normalised. In shapes, `dim` is the length of a vector, and `any` is the largest
        number of strong negatives of a pair.

        Args:
            queries: vectors, `(pairs, dim)`.
            moments: vectors, `(pairs, dim)`; moment i belongs to query i.
            potential: bool `(pairs, pairs)`, whether the video of moment j is a potential negative of query i, from
                `Distribution.potential`; the diagonal does not matter.
            strong_moments: `(pairs, any, dim)`, moments of the strong negatives of each query; None for none.
            strong_queries: `(pairs, any, dim)`, strong negatives of each moment's video; None for none.
            strong_moments_mask: bool `(pairs, any)`, False for entries of `strong_moments` to ignore; None to use all.
            strong_queries_mask: the same for `strong_queries`.

        Raises:
            ValueError: `potential` has another shape.
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
        """Return the loss of one direction, queries against moments or the reverse: one half of equation 5.

        Args:
            right: the cosine of each right pair, `(pairs,)`.
            cosine: the cosine of each query with each moment, `(pairs, pairs)`; transposed for the reverse.
            weak: bool of the same shape, whether the column is a weak negative of the row: a possible wrong answer to
                it.
            anchors: vectors of the rows, `(pairs, dim)`: queries, or moments for the reverse.
            strong: vectors of each row's strong negatives (wrong answers drawn at random), `(pairs, any, dim)`; None
                for none.
            mask: bool `(pairs, any)`, False for strong negatives to ignore; None to use all.
        """
        chosen = [(right - self.margin)[:, None], cosine.masked_fill(~weak, -torch.inf)]
        if strong is not None:
            hard = torch.einsum("pd,psd->ps", anchors, normalize(strong, dim=-1))
            chosen.append(hard if mask is None else hard.masked_fill(~mask, -torch.inf))
        logits = torch.cat(chosen, dim=1) / self.temperature
        return (logits.logsumexp(dim=1) - logits[:, 0]).mean()
