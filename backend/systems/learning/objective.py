"""The data of a training, and what the loop asks of any system: negatives of a batch, and figures of validation."""

from dataclasses import dataclass
from pathlib import Path

import msgspec
import numpy as np
import torch

from backend.core.errors import InputError
from backend.core.progress import Steps
from backend.core.reading import file_bytes
from backend.scoring.evaluate import evaluate
from backend.systems.learning import predicting
from backend.systems.learning.checkpoints import ModelCard
from backend.systems.learning.config import Config
from backend.systems.learning.first_step import FirstRun
from backend.systems.learning.material import (
    AskedQueries,
    Clips,
    EncodedTexts,
    QueryKey,
    TrainingPairs,
    fingerprint,
)
from backend.systems.learning.rivals import NegativeSampler, rivals_of, rivals_of_run, sampler_of_scores
from backend.systems.learning.system import Batch, Rivals, Sizes, StagePlan, System
from backend.systems.learning.systems import system_class

_ANY_TIME = ("release", "features", "subtitles", "out", "embeddings", "seeds", "device", "preset")
"""Settings that may change before training resumes, because what they name is compared; the others may not."""


@dataclass(frozen=True, slots=True, eq=False)
class TrainingMaterial:
    """The data that training needs.

    Attributes:
        clips: the features of all videos, averaged over clips (short pieces).
        pairs: the training pairs of a query and a moment.
        queries: the encoded training queries.
        val: the validation queries.
        val_queries: the encoded validation queries.
        frames: the identity of the features of frames, and of subtitles: their encoder and rate.
        sentences: the identity of the sentence encoder.
        negatives: what may be a negative of which query, from the folder of negatives; None if there is none.
        negative_queries: the encoded queries of that folder, if they are drawn.
        first: the run of the first step, for systems of two steps.
        query_ids: the ids of the training queries; needed with `first` alone.
    """

    clips: Clips
    pairs: TrainingPairs
    queries: EncodedTexts
    val: AskedQueries
    val_queries: EncodedTexts
    frames: str
    sentences: str
    negatives: NegativeSampler | None = None
    negative_queries: EncodedTexts | None = None
    first: FirstRun | None = None
    query_ids: tuple[QueryKey, ...] = ()

    @property
    def sizes(self) -> Sizes:
        """The lengths of features and of sentence vectors."""
        subtitles = self.clips.subtitle_dim
        return Sizes(self.clips.rows.shape[1] - subtitles, self.queries.vectors.shape[1], subtitles)

    def longest(self, config: Config) -> int:
        """Return the most clips (short pieces of a video) that a predicted moment may have.

        That of the longest training moment, or for videos of equally many clips all of them. The setting
        `predict.longest_s` comes before it, see `predicting`.
        """
        if hasattr(config.model, "clips"):
            return int(self.clips.counts.max())
        return int((self.pairs.last - self.pairs.first).max()) + 1

    def fingerprint(self, config: Config) -> str:
        """Return a hash of all settings and data that affect the weights or the choice of the best weights.

        The seed is not part of it. Training resumes only if the hash is unchanged.
        """
        settings = msgspec.to_builtins(config)
        for name in _ANY_TIME:
            settings.pop(name)
        for name in system_class(config.system).path_fields:
            settings["model"].pop(name)
        settings["training"].pop("patience")  # it only says how far to go
        settings["training"] |= {"epochs": config.epochs, "evaluate_every": config.evaluate_every}
        (settings["negatives"] or {}).pop("folder", None)
        pairs = (self.pairs.query, self.pairs.video, self.pairs.span, self.pairs.weight)
        texts = (array for one in (self.queries, self.val_queries) for array in (one.vectors, one.tokens, one.starts))
        clips = (self.clips.rows, self.clips.starts, self.clips.durations_s)
        negatives = self.negatives.fingerprint() if self.negatives else ""
        first = [array for pair in (self.first.lists.values() if self.first else ()) for array in pair]
        truth = np.frombuffer(file_bytes(Path(self.val.file)), dtype=np.uint8)
        described = msgspec.json.encode((settings, self.clips.videos)).decode()
        return fingerprint(described, *texts, *clips, *pairs, *first, negatives, truth)


def hard_sampler(network: System, material: TrainingMaterial, progress: Steps | None = None) -> NegativeSampler:
    """Return the sampler that draws negatives by the network's scores of all training queries and training videos.

    It takes about 16 bytes for each query and video.
    """
    queries, videos = np.unique(material.pairs.query), np.unique(material.pairs.video)
    scores = predicting.score_videos(network, material.clips, material.queries, queries, videos, progress=progress)
    folder = material.negatives
    potential = None if folder is None else folder.potential(queries, videos, masked=False)
    return sampler_of_scores(scores, queries, videos, material.pairs, len(material.clips.videos), potential)


def negatives_of(
    config: Config,
    material: TrainingMaterial,
    network: System,
    plan: StagePlan,
    hard: NegativeSampler | None,
    batch: Batch,
    seed: int,
) -> Rivals | None:
    """Return the negatives of a batch; None if there is no folder of negatives, sampler by scores, or first step.

    Args:
        config: all settings.
        material: the data for these settings.
        network: the system.
        plan: the stage of training.
        hard: the sampler by scores; None if the stage draws none.
        batch: the batch.
        seed: the random seed of the draws.
    """
    if material.first is not None:
        return rivals_of_run(batch, material.pairs, material.first, material.query_ids, material.clips, seed)
    folder, drawn, counts, texts = material.negatives, hard, (plan.hard_videos, plan.hard_queries), material.queries
    if drawn is None and config.negatives is not None and material.negative_queries is not None:
        drawn, counts, texts = folder, (config.negatives.count,) * 2, material.negative_queries
    if folder is None and drawn is None:
        return None
    return rivals_of(
        batch,
        material.pairs,
        folder,
        drawn,
        counts,
        material.clips,
        texts,
        torch.Generator().manual_seed(seed),
        masked=not network.draws_positives,
    )


def figures(config: Config, material: TrainingMaterial, network: System) -> dict[str, float]:
    """Return the mean NDCG@20 of the validation queries by IoU threshold, under keys such as `ndcg@20,0.5`.

    `reelrank evaluate` gives the same values.
    """
    val = material.val
    run = predicting.predict(
        network,
        material.clips,
        val.ids,
        material.val_queries,
        config.predict,
        material.longest(config),
        first=material.first,
    )
    scores = evaluate(val.file, run, k=20, measures="ndcg")
    return dict(scores.mean)


def network_of(system: str, sizes: Sizes, model: msgspec.Struct, loss: msgspec.Struct) -> System:
    """Return a new network of a system, with random weights.

    Raises:
        InputError: the system's options do not fit together.
    """
    try:
        return system_class(system)(sizes, model, loss)
    except ValueError as error:
        raise InputError.single(f"system {system}", str(error)) from None


def card_of(config: Config, material: TrainingMaterial, seed: int, epoch: float, ndcg: float) -> ModelCard:
    """Return the description of weights; see `ModelCard`."""
    sizes, paths = material.sizes, system_class(config.system).path_fields
    model = {name: value for name, value in msgspec.to_builtins(config.model).items() if name not in paths}
    return ModelCard(
        system=config.system,
        model=model,
        loss=msgspec.to_builtins(config.loss),
        predict=config.predict,
        seed=seed,
        epoch=epoch,
        ndcg=ndcg,
        frame_dim=sizes.frame_dim,
        sentence_dim=sizes.sentence_dim,
        subtitle_dim=sizes.subtitle_dim,
        longest=material.longest(config),
        frames=material.frames,
        sentences=material.sentences,
    )
