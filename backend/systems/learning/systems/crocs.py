"""CroCs: MMN that learns from filtered negatives, and then from hard negatives of its own scores.

Paper: Yang et al. 2024, "MVMR: A New Framework for Evaluating Faithfulness of Video Moment Retrieval against Multiple
Distractors", CIKM, sections 6 and 7.1, appendix B.1. Public code: yny0506/Massive-Videos-Moment-Retrieval, commit
122883f, folder CROCS; it has the losses, but neither the training loop nor the sampler.

The network and the score are those of `mmn`, and so are equations 4 to 6. The two stages differ in the negatives:

1. A video is a potential negative of a query if its text similarity is below t_tr = 0.9 (equation 1, written by
   `reelrank mvmr negatives`). All other videos of the batch are left out of both halves of equation 5. The cells of
   potential negatives are also in equation 4, with the target 0. After this stage it is the paper's CroCs with a
   dagger: `stage = 1`.
2. Training goes on from the best checkpoint of stage 1 with a tenth of the learning rate. For each pair, `hard_videos`
   videos are drawn by p'(v|q) and `hard_queries` queries by p'(q|v) (equations 2 and 3, see `hard_negatives`). The
   cells of these videos, and the cells of the own video that overlap little with the moment, are the negatives of the
   query; these queries are the negatives of the moment. The rest of the batch is not used.

Without a folder of negatives, the potential negatives of a query are the videos without a moment of it.

Departures, with reasons, besides those of `mmn`:

- Filtered pairs leave the sums. In the public code, their cosine becomes 0 and still counts, and the other cosines are
  multiplied by the share of pairs that remain, inside the exponential function. The equations have neither.
- The public loss of stage 1 sets the cosine of a moment with every query above the threshold to 0, its own included.
  Equation 5 needs its own query in the denominator, so it stays.
- Equation 4 is one mean over all candidates, in which the moment's own video drowns among many wrong ones: on our
  made-up corpus, Rank 1 is 47 to 68 % where the default gives 96 to 100 % (five seeds). The public code of stage 2
  takes the mean over the own video, plus that over drawn videos divided by their number. Here a cell of a wrong video
  counts `negative_bce`, so that 50 of them weigh as much as the own video; 1 is equation 4 as printed, 0 is MMN.
- A step of stage 2 encodes up to 1 + `hard_videos` videos for each pair of the batch, so a batch has two pairs
  (`hard_batch`); in the public code it is one video. Nothing is drawn by p'(m|q) and p'(q|m): the paper itself replaces
  them by p'(v|q) and p'(q|v), to save time.
"""

from typing import Annotated, ClassVar, Literal, cast

import torch
from msgspec import Meta, Struct
from torch import Tensor

from backend.systems.learning.field_types import Count, Positive
from backend.systems.learning.matching import first_rows
from backend.systems.learning.system import Batch, DrawnQueries, DrawnVideos, Encoded, Presets, Rivals, StagePlan
from backend.systems.learning.systems.mmn import MMN
from backend.systems.learning.systems.mmn import LossOptions as MatchingOptions
from backend.systems.learning.systems.moment_presets import MODELS, PREDICT, published_training


class LossOptions(MatchingOptions, frozen=True, forbid_unknown_fields=True):
    """Options of the loss: those of MMN, and the negatives. The defaults are those for Charades-STA.

    Attributes:
        stage: the last stage of training: 1 for filtered negatives alone, 2 to go on with hard negatives.
        hard_videos: the number of videos drawn for a query in stage 2.
        hard_queries: the number of queries drawn for a video in stage 2.
        hard_batch: the number of pairs in a batch of stage 2.
        hard_learning_rate: the factor of the learning rate in stage 2.
        negative_bce: how much a cell of a wrong video counts in equation 4, beside one of the right video.
    """

    stage: Literal[1, 2] = 2
    hard_videos: Count = 50
    hard_queries: Count = 100
    hard_batch: Count = 2
    hard_learning_rate: Positive = 0.1
    negative_bce: Annotated[float, Meta(ge=0, le=1000)] = 0.02


class CroCs(MMN):
    """MMN with the negatives of CroCs."""

    name = "crocs"
    paper = "Yang et al. 2024, MVMR: Evaluating Faithfulness of Video Moment Retrieval against Distractors, CIKM"
    LossOptions: ClassVar[type[Struct]] = LossOptions
    takes_negatives = "potential"
    presets: ClassVar[Presets] = {
        "charades": {
            "model": MODELS["charades"],
            "loss": {"margin": 0.4, "weight": 0.05, "hard_videos": 50, "hard_queries": 100},
            "training": published_training(1e-4, 48, 50),
            "predict": PREDICT["charades"],
        },
        "activitynet": {
            "model": MODELS["activitynet"],
            "loss": {"margin": 0.3, "weight": 0.1, "hard_videos": 100, "hard_queries": 200},
            "training": published_training(8e-4, 48, 18),
            "predict": PREDICT["activitynet"],
        },
        "tacos": {
            "model": MODELS["tacos"],
            "loss": {
                "min_iou": 0.3,
                "max_iou": 0.7,
                "top": 3,
                "margin": 0.1,
                "weight": 0.05,
                "hard_videos": 5,
                "hard_queries": 100,
            },
            "training": published_training(1.5e-3, 4, 250),
            "predict": PREDICT["tacos"],
        },
    }

    def stage_plans(self) -> tuple[StagePlan, ...]:
        """Return the stages of training: filtered negatives, then hard negatives."""
        loss = cast(LossOptions, self.loss)
        hard = StagePlan(loss.hard_learning_rate, loss.hard_batch, loss.hard_videos, loss.hard_queries)
        return (StagePlan(), hard)[: loss.stage]

    def losses(self, batch: Batch, rivals: Rivals | None) -> dict[str, Tensor]:
        """Return the losses of a batch: those of stage 2 if hard negatives were drawn, else those of stage 1."""
        videos, of_pair = self.batch_videos(batch)
        queries = self.encode_queries(batch.words, batch.words_mask, batch.vectors)
        wrong = ~batch.positives if rivals is None else rivals.potential & ~batch.positives
        wrong_videos, wrong_queries = wrong[:, first_rows(of_pair)], wrong.T | self.apart(batch)
        if rivals is not None and rivals.videos is not None:
            videos, wrong_videos = self._with_videos(videos, wrong_videos, rivals.videos)
        if rivals is not None and rivals.queries is not None:
            queries, wrong_queries = self._with_queries(queries, wrong_queries, rivals.queries)
        weight = cast(LossOptions, self.loss).negative_bce
        return self.losses_of(batch, of_pair, queries, videos, wrong_videos, wrong_queries, negative_bce=weight)

    def _with_videos(self, videos: Encoded, wrong: Tensor, drawn: DrawnVideos) -> tuple[Encoded, Tensor]:
        """Return the batch's videos and the drawn ones, and which are negatives: the drawn ones alone."""
        more = self.encode_videos(drawn.clips, drawn.mask)
        hard = _chosen(drawn.video_of, drawn.video_counts, len(drawn.clips))
        return _joined(videos, more), torch.cat([torch.zeros_like(wrong), hard], dim=1)

    def _with_queries(self, queries: Encoded, wrong: Tensor, drawn: DrawnQueries) -> tuple[Encoded, Tensor]:
        """Return the batch's queries and the drawn ones, and which are negatives: the drawn ones alone."""
        more = self.encode_queries(drawn.words, drawn.mask, drawn.vectors)
        hard = _chosen(drawn.query_of, drawn.query_counts, len(drawn.words))
        return _joined(queries, more), torch.cat([torch.zeros_like(wrong), hard], dim=1)


def _joined(first: Encoded, second: Encoded) -> Encoded:
    return {space: torch.cat([first[space], second[space]]) for space in first}


def _chosen(rows: Tensor, counts: Tensor, number: int) -> Tensor:
    """Return which of `number` drawn items were drawn for each pair, bool `(pairs, number)`."""
    chosen = torch.zeros(len(rows), number, dtype=torch.int64, device=rows.device)
    return chosen.scatter_add(1, rows, counts.to(chosen)) > 0
