"""Train a model with a random seed, stop early by the NDCG of validation queries, and resume where training stopped.

On a CPU, the same seed gives exactly the same weights, even if training was stopped and resumed. They may differ if
torch uses another number of threads.

The loop knows no system: `objective` has the network, its loss and its figures.
"""

import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import torch
from torch import Tensor

from backend.core.errors import InputError, ProjectError
from backend.core.progress import Progress
from backend.systems.learning import checkpoints, objective
from backend.systems.learning.batches import Batch, batches, order_seed, step_seeds
from backend.systems.learning.checkpoints import TrainingState, Validation
from backend.systems.learning.config import Config
from backend.systems.learning.objective import Network, TrainingMaterial
from backend.systems.learning.schedule import is_evaluated, rate_factor

STOPPING = "ndcg@20,0.5"
"""The key of the figure that early stopping compares."""


@dataclass(frozen=True, slots=True)
class SeedReport:
    """The outcome of training with one random seed.

    Attributes:
        folder: the folder with its files.
        seed: the seed.
        epochs: the number of epochs done, such as 2.5.
        best: the number of epochs done at the evaluation with the best NDCG on the validation queries.
        ndcg: the mean NDCG of the validation queries at this evaluation.
        resumed: the number of epochs done before this call; 0 for a fresh start.
        stopped_early: whether training stopped before the last configured epoch.
    """

    folder: Path
    seed: int
    epochs: float
    best: float
    ndcg: float
    resumed: float
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
        progress: called with (name of the work, steps done, steps of all epochs).

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
    state = stored[0] if stored else TrainingState(made_of)
    resumed, epoch_steps = state.step, math.ceil(len(material.pairs) / config.training.batch)
    with repeatable(seed):
        network = objective.network_of(config, material).to(device)
        options = config.training
        optimiser = torch.optim.AdamW(network.parameters(), lr=options.learning_rate, weight_decay=options.weight_decay)
        if stored:
            checkpoints.restore(network, optimiser, stored[1])
        while not _done(config, state, epoch_steps):
            state = _rest_of_epoch(config, material, network, optimiser, seed, state, progress)
    best = best_of(state.evaluations)
    if resumed < state.step or not (folder / checkpoints.PICTURES[-1]).exists():
        checkpoints.write_pictures(folder, state.evaluations, STOPPING, best.epoch)
    done, before = state.step / epoch_steps, resumed / epoch_steps
    return SeedReport(folder, seed, done, best.epoch, best.figures[STOPPING], before, done < config.epochs)


def best_of(evaluations: Sequence[Validation]) -> Validation:
    """Return the evaluation with the best NDCG on the validation queries; the first one if several are equal."""
    return max(evaluations, key=lambda one: (one.figures[STOPPING], -one.epoch))


def _done(config: Config, state: TrainingState, epoch_steps: int) -> bool:
    evaluations = state.evaluations
    if not evaluations:
        return False
    waited = len(evaluations) - 1 - evaluations.index(best_of(evaluations))
    return state.step >= config.epochs * epoch_steps or waited >= config.training.patience


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


def _rest_of_epoch(
    config: Config,
    material: TrainingMaterial,
    network: Network,
    optimiser: torch.optim.Optimizer,
    seed: int,
    state: TrainingState,
    progress: Progress | None,
) -> TrainingState:
    """Train to the end of an epoch, or until training stops early, and return the new state.

    The state is saved after each evaluation and at the end of the epoch.
    """
    options, folder = config.training, folder_of(config, seed)
    epoch_steps = math.ceil(len(material.pairs) / options.batch)
    steps, (epoch, skip) = config.epochs * epoch_steps, divmod(state.step, epoch_steps)
    device = next(network.parameters()).device
    sums, step, evaluations = torch.tensor(state.sums, dtype=torch.float64), state.step, state.evaluations
    order = order_seed(seed, epoch + 1)
    for batch in batches(material.pairs, material.clips, material.vectors, options.batch, order, device, skip=skip):
        for group in optimiser.param_groups:
            group["lr"] = options.learning_rate * rate_factor(step, steps, options.warmup)
        losses = torch.stack(_step(config, material, network, optimiser, batch, step_seeds(seed, step)))
        pairs = len(batch.numbers)
        sums += torch.cat([losses.double().cpu(), torch.ones(1, dtype=torch.float64)]) * pairs
        step += 1
        if progress:
            progress(f"training, seed {seed}", step, steps)
        evaluated = is_evaluated(step, steps, epoch_steps, config.evaluate_every)
        if not evaluated and step % epoch_steps:
            continue
        if not math.isfinite(sums[0]):
            fault = "losses are no longer finite: lower `training.learning_rate`"
            raise InputError.single(folder, f"epoch {epoch + 1}: {fault}")
        if evaluated:
            loss, span, video = (sums[:3] / sums[3]).tolist()
            sums = torch.zeros(4, dtype=torch.float64)
            figures = objective.figures(config, material, network)
            evaluations = (*evaluations, Validation(step / epoch_steps, loss, span, video, figures))
            best = best_of(evaluations)
            if best is evaluations[-1]:
                card = objective.card_of(config, material, seed, best.epoch, best.figures[STOPPING])
                checkpoints.write_best(folder, network, card)
            checkpoints.write_table(folder, evaluations)
        state = TrainingState(state.fingerprint, step, tuple(sums.tolist()), evaluations)
        checkpoints.write_last(folder, network, optimiser, state)
        if _done(config, state, epoch_steps):
            break
    return state


def _step(
    config: Config,
    material: TrainingMaterial,
    network: Network,
    optimiser: torch.optim.Optimizer,
    batch: Batch,
    seeds: tuple[int, int],
) -> tuple[Tensor, ...]:
    """Update the weights by one batch, and return its losses; `seeds` are those of dropout and of drawn negatives."""
    dropout, draws = seeds
    network.train()
    torch.manual_seed(dropout)
    losses = objective.loss_of(config, material, network, batch, torch.Generator().manual_seed(draws))
    optimiser.zero_grad()
    losses[0].backward()  # type: ignore[no-untyped-call]  # torch has no types there
    optimiser.step()
    return tuple(loss.detach() for loss in losses)
