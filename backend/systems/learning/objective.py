"""What the late-interaction system gives the training loop: its data, its network, its loss and its figures."""

import math
from dataclasses import dataclass
from pathlib import Path

import msgspec
import numpy as np
import torch
from torch import Tensor

from backend.core.reading import file_bytes
from backend.scoring.evaluate import evaluate
from backend.systems.learning import predicting
from backend.systems.learning.batches import Batch
from backend.systems.learning.checkpoints import ModelCard
from backend.systems.learning.config import Config
from backend.systems.learning.losses import hinge_loss, nce_loss, positives_of, span_loss
from backend.systems.learning.material import AskedQueries, Clips, Floats, TrainingPairs, fingerprint
from backend.systems.learning.network import LateInteraction, video_scores
from backend.systems.learning.rivals import Rivals, crocs_loss
from backend.training import CroCsLoss

Network = LateInteraction
"""What the loop trains."""
_ANY_TIME = ("release", "features", "out", "embeddings", "seeds", "device")
"""Settings that may change before training resumes, because the data itself is compared; the others may not."""


@dataclass(frozen=True, slots=True, eq=False)
class TrainingMaterial:
    """The data that training needs.

    Vectors are float32 `(texts, dim)`.

    Attributes:
        clips: the frame features of all videos, averaged over clips (short pieces of equal length).
        pairs: the training pairs of a query and a moment.
        vectors: the vectors of the training queries.
        val: the validation queries.
        val_vectors: the vectors of the validation queries.
        frames: the identity of the frame features: their encoder and rate.
        sentences: the identity of the sentence encoder.
        rivals: videos and queries that are similar but do not match, for the loss `crocs`; None for other losses.
        rival_vectors: the vectors of the queries in `rivals`.
    """

    clips: Clips
    pairs: TrainingPairs
    vectors: Floats
    val: AskedQueries
    val_vectors: Floats
    frames: str
    sentences: str
    rivals: Rivals | None = None
    rival_vectors: Floats | None = None

    def longest(self, config: Config) -> int:
        """Return the most clips (short pieces of a video) that a predicted moment may have.

        The limit comes from the setting `predict.longest_s`, or without one from the longest training moment.
        """
        if config.predict.longest_s is not None:
            return max(1, math.ceil(config.predict.longest_s / self.clips.clip_s - 1e-6))
        return int((self.pairs.last - self.pairs.first).max()) + 1

    def fingerprint(self, config: Config) -> str:
        """Return a hash of all settings and data that affect the weights or the choice of the best weights.

        The seed is not part of it. Training resumes only if the hash is unchanged.
        """
        settings = msgspec.to_builtins(config)
        for name in _ANY_TIME:
            settings.pop(name)
        settings["training"].pop("patience")  # it only says how far to go
        settings["training"] |= {"epochs": config.epochs, "evaluate_every": config.evaluate_every}
        (settings["negatives"] or {}).pop("folder", None)
        pairs = (self.pairs.query, self.pairs.video, self.pairs.first, self.pairs.last, self.pairs.weight)
        arrays = (self.vectors, self.val_vectors, self.clips.rows, self.clips.starts, self.clips.durations_s)
        rivals = self.rivals.fingerprint() if self.rivals else ""
        truth = np.frombuffer(file_bytes(Path(self.val.file)), dtype=np.uint8)
        described = msgspec.json.encode((settings, self.clips.videos)).decode()
        return fingerprint(described, *arrays, *pairs, rivals, truth)


def loss_of(
    config: Config, material: TrainingMaterial, network: LateInteraction, batch: Batch, generator: torch.Generator
) -> tuple[Tensor, Tensor, Tensor]:
    """Return three scalars: the loss of a batch, its part for the place of the moment, and its part for the video.

    The span loss rates where in its video a moment is found, the video loss which video is chosen. The loss is the
    video loss plus `config.loss.span` times the span loss. Both parts are means over the pairs of the batch, weighted
    by the pairs' weights; the video loss `crocs` has no weights.
    """
    options, own_only = config.loss, config.loss.positives == "own"
    queries, videos = network.queries(batch.vectors), network.videos(batch.clips, batch.mask)
    logits = network.span_logits(queries.location, videos.location, batch.mask)
    span = (batch.weight * span_loss(*logits, batch.first, batch.last)).mean()
    if options.video == "crocs":
        if material.rivals is None or material.rival_vectors is None or config.negatives is None:
            raise ValueError("crocs needs negatives")
        count = config.negatives.count
        drawn = material.rivals.draw(batch, count, generator, masked=not own_only)
        loss = CroCsLoss(options.temperature, options.margin)
        video = crocs_loss(loss, network, batch, drawn, material.clips, material.rival_vectors, queries, videos)
    else:
        scores = video_scores(queries, videos)
        positives = positives_of(batch.positives, own_only=own_only)
        each = (
            nce_loss(scores, positives, options.temperature)
            if options.video == "nce"
            else hinge_loss(scores, positives, options.margin)
        )
        video = (batch.weight * each).mean()
    return options.span * span + video, span, video


def figures(config: Config, material: TrainingMaterial, network: LateInteraction) -> dict[str, float]:
    """Return the mean NDCG@20 of the validation queries by IoU threshold, under keys such as `ndcg@20,0.5`.

    `reelrank evaluate` gives the same values.
    """
    val = material.val
    run = predicting.predict(
        network, material.clips, val.ids, material.val_vectors, config.predict, material.longest(config)
    )
    scores = evaluate(val.file, run, k=20, measures="ndcg")
    return dict(scores.mean)


def network_of(config: Config, material: TrainingMaterial) -> LateInteraction:
    """Return a new network for these data, with random weights."""
    return LateInteraction(card_of(config, material, 0, 0.0, 0.0).shape)


def card_of(config: Config, material: TrainingMaterial, seed: int, epoch: float, ndcg: float) -> ModelCard:
    """Return the description of weights; see `ModelCard`."""
    return ModelCard(
        config.model,
        config.predict,
        seed,
        epoch,
        ndcg,
        material.clips.rows.shape[1],
        material.vectors.shape[1],
        material.longest(config),
        material.frames,
        material.sentences,
    )
