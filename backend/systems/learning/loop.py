"""Train a model with a random seed, stop early by the NDCG of validation queries, and resume after any epoch.

On a CPU, the same seed gives exactly the same weights, even if training was stopped and resumed. They may differ if
torch uses another number of threads.
"""

import math
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import msgspec
import numpy as np
import torch
from torch import Tensor

from backend.core.errors import InputError, ProjectError
from backend.core.progress import Progress
from backend.core.reading import file_bytes
from backend.scoring.evaluate import evaluate
from backend.systems.learning import checkpoints, predicting
from backend.systems.learning.checkpoints import Epoch, ModelCard, TrainingState
from backend.systems.learning.config import Config
from backend.systems.learning.material import (
    AskedQueries,
    Batch,
    Clips,
    Floats,
    TrainingPairs,
    batches,
    fingerprint,
    seeds_of,
)
from backend.systems.learning.network import (
    LateInteraction,
    hinge_loss,
    nce_loss,
    negatives_of,
    span_loss,
    video_scores,
)
from backend.systems.learning.rivals import Rivals, crocs_loss
from backend.training import CroCsLoss

STOPPING = "ndcg@20,0.5"
"""The key of the figure that early stopping compares."""
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
        """Return a hash of all settings and data that affect the weights or the choice of the best epoch.

        The seed is not part of it. Training resumes only if the hash is unchanged.
        """
        settings = msgspec.to_builtins(config)
        for name in _ANY_TIME:
            settings.pop(name)
        for name in ("epochs", "patience"):  # they only say how far to go
            settings["training"].pop(name)
        (settings["negatives"] or {}).pop("folder", None)
        pairs = (self.pairs.query, self.pairs.video, self.pairs.first, self.pairs.last, self.pairs.weight)
        arrays = (self.vectors, self.val_vectors, self.clips.rows, self.clips.starts, self.clips.durations_s)
        rivals = self.rivals.fingerprint() if self.rivals else ""
        truth = np.frombuffer(file_bytes(Path(self.val.file)), dtype=np.uint8)
        described = msgspec.json.encode((settings, self.clips.videos)).decode()
        return fingerprint(described, *arrays, *pairs, rivals, truth)


@dataclass(frozen=True, slots=True)
class SeedReport:
    """The outcome of training with one random seed.

    Attributes:
        folder: the folder with its files.
        seed: the seed.
        epochs: the number of finished epochs.
        best: the number of the epoch with the best NDCG on the validation queries, from 1.
        ndcg: the mean NDCG of the validation queries in this epoch.
        resumed: the epoch after which this call continued; 0 for a fresh start.
        stopped_early: whether training stopped before the last configured epoch.
    """

    folder: Path
    seed: int
    epochs: int
    best: int
    ndcg: float
    resumed: int
    stopped_early: bool


def device_of(config: Config) -> torch.device:
    """Return the device to compute on.

    Raises:
        ProjectError: a GPU is asked for, and there is none.
    """
    has_gpu = torch.cuda.is_available()
    if config.device == "cuda" and not has_gpu:
        raise ProjectError("field `device` is cuda, but torch finds no GPU here: set it to auto or cpu")
    return torch.device("cuda" if has_gpu and config.device != "cpu" else "cpu")


def folder_of(config: Config, seed: int) -> Path:
    """Return the folder for the files of the training with one seed, `seed-N` in the output folder."""
    return Path(config.out) / f"seed-{seed}"


def identity_of(encoder: str | None, rate: float) -> str:
    """Return a text that names features by their encoder and rate (rows for each second of video).

    A model has to search the same kind of features that it was trained on, so this text is stored with its weights.
    """
    return f"{encoder or 'an encoder that the file does not name'}, {rate:g} rows a second"


def train(
    config: Config, material: TrainingMaterial, seed: int, device: torch.device, progress: Progress | None = None
) -> SeedReport:
    """Train with one random seed until NDCG stops rising; continue a training that was stopped.

    `checkpoints` describes the files that are written.

    Args:
        config: all settings.
        material: the data for these settings.
        seed: the random seed of initial weights, order, dropout and negatives.
        device: the device to compute on.
        progress: called with (name of the step, batches done, batches of all epochs).

    Raises:
        ProjectError: the seed's folder has files that training did not make, or a training with other data or settings,
            or another process trains into it.
        InputError: a loss is not finite.
    """
    folder = folder_of(config, seed)
    with checkpoints.alone(folder):
        return _train(config, material, seed, device, folder, progress)


def _train(
    config: Config,
    material: TrainingMaterial,
    seed: int,
    device: torch.device,
    folder: Path,
    progress: Progress | None,
) -> SeedReport:
    made_of = material.fingerprint(config)
    stored = checkpoints.read_state(folder)
    if stored and stored[0].fingerprint != made_of:
        fault = "was trained with other settings, or other data"
        raise ProjectError(f"{folder} {fault}: name another folder `out`, or restore both to go on")
    checkpoints.write_settings(folder, config)
    with repeatable(seed):
        network = LateInteraction(_card(config, material, seed, None).shape).to(device)
        options = config.training
        optimiser = torch.optim.AdamW(network.parameters(), lr=options.learning_rate, weight_decay=options.weight_decay)
        epochs: list[Epoch] = []
        if stored:
            checkpoints.restore(network, optimiser, stored[1])
            epochs = list(stored[0].epochs)
        resumed = len(epochs)
        while not _done(config, epochs):
            epochs.append(_epoch(config, material, network, optimiser, seed, len(epochs) + 1, progress))
            best = best_of(epochs)
            if best is epochs[-1]:
                checkpoints.write_best(folder, network, _card(config, material, seed, best))
            checkpoints.write_table(folder, epochs)
            checkpoints.write_last(folder, network, optimiser, TrainingState(made_of, tuple(epochs)))
    best = best_of(epochs)
    if resumed < len(epochs) or not (folder / checkpoints.PICTURES[-1]).exists():
        checkpoints.write_pictures(folder, epochs, STOPPING, best.epoch)
    early = len(epochs) < config.training.epochs
    return SeedReport(folder, seed, len(epochs), best.epoch, best.figures[STOPPING], resumed, early)


def best_of(epochs: list[Epoch]) -> Epoch:
    """Return the epoch with the best NDCG on the validation queries; the first one if several are equal."""
    return max(epochs, key=lambda epoch: (epoch.figures[STOPPING], -epoch.epoch))


def _done(config: Config, epochs: list[Epoch]) -> bool:
    if not epochs:
        return False
    waited = len(epochs) - best_of(epochs).epoch
    return len(epochs) >= config.training.epochs or waited >= config.training.patience


@contextmanager
def repeatable(seed: int) -> Iterator[None]:
    """Seed torch and make its results repeatable in the `with` block; then restore its random state and settings."""
    before = torch.get_deterministic_debug_mode()
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        torch.set_deterministic_debug_mode("warn")
        try:
            yield
        finally:
            torch.set_deterministic_debug_mode(before)


def _epoch(
    config: Config,
    material: TrainingMaterial,
    network: LateInteraction,
    optimiser: torch.optim.Optimizer,
    seed: int,
    epoch: int,
    progress: Progress | None,
) -> Epoch:
    order, dropout, draws = seeds_of(seed, epoch)
    torch.manual_seed(dropout)
    generator = torch.Generator().manual_seed(draws)
    network.train()
    device = next(network.parameters()).device
    size = config.training.batch
    steps = math.ceil(len(material.pairs) / size)
    sums = torch.zeros(3, dtype=torch.float64)
    every = batches(material.pairs, material.clips, material.vectors, size, order, device)
    for done, batch in enumerate(every, start=1):
        losses = loss_of(config, material, network, batch, generator)
        optimiser.zero_grad()
        losses[0].backward()  # type: ignore[no-untyped-call]  # torch has no types there
        optimiser.step()
        sums += torch.stack(losses).detach().double().cpu() * len(batch.numbers)
        if progress:
            progress(f"training, seed {seed}", (epoch - 1) * steps + done, config.training.epochs * steps)
    loss, span, video = (sums / len(material.pairs)).tolist()
    if not math.isfinite(loss):
        fault = "losses are no longer finite: lower `training.learning_rate`"
        raise InputError.single(folder_of(config, seed), f"epoch {epoch}: {fault}")
    return Epoch(epoch, loss, span, video, figures(config, material, network))


def loss_of(
    config: Config, material: TrainingMaterial, network: LateInteraction, batch: Batch, generator: torch.Generator
) -> tuple[Tensor, Tensor, Tensor]:
    """Return three scalars: the loss of a batch, its part for the place of the moment, and its part for the video.

    The span loss rates where in its video a moment is found, the video loss which video is chosen. The loss is the
    video loss plus `config.loss.span` times the span loss. Both parts are means over the pairs of the batch, weighted
    by the pairs' weights; the video loss `crocs` has no weights.
    """
    options = config.loss
    queries, videos = network.queries(batch.vectors), network.videos(batch.clips, batch.mask)
    logits = network.span_logits(queries.location, videos.location, batch.mask)
    span = (batch.weight * span_loss(*logits, batch.first, batch.last)).mean()
    if options.video == "crocs":
        if material.rivals is None or material.rival_vectors is None or config.negatives is None:
            raise ValueError("crocs needs negatives")
        count = config.negatives.count
        drawn = material.rivals.draw(batch, count, generator, masked=options.mask_positives)
        loss = CroCsLoss(options.temperature, options.margin)
        video = crocs_loss(loss, network, batch, drawn, material.clips, material.rival_vectors, queries, videos)
    else:
        scores = video_scores(queries, videos)
        negatives = negatives_of(batch.positives, masked=options.mask_positives)
        each = (
            nce_loss(scores, negatives, options.temperature)
            if options.video == "nce"
            else hinge_loss(scores, negatives, options.margin)
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


def _card(config: Config, material: TrainingMaterial, seed: int, best: Epoch | None) -> ModelCard:
    return ModelCard(
        config.model,
        config.predict,
        seed,
        best.epoch if best else 0,
        best.figures[STOPPING] if best else 0.0,
        material.clips.rows.shape[1],
        material.vectors.shape[1],
        material.longest(config),
        material.frames,
        material.sentences,
    )
