"""Train a model with a random seed, stop early by the NDCG of validation queries, and resume where training stopped.

On a CPU, the same seed gives exactly the same weights, even if training was stopped and resumed. They may differ if
torch uses another number of threads.

The loop knows no system, only the interface `system.System`. A system may have several stages; each stage but the
first starts from the best weights of the one before.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import msgspec
import torch
from torch import Tensor

from backend.core.errors import InputError, ProjectError
from backend.core.progress import Progress, steps_of
from backend.systems.learning import checkpoints, objective
from backend.systems.learning.batches import batches, order_seed, stage_seed, step_seeds
from backend.systems.learning.checkpoints import TrainingState, Validation
from backend.systems.learning.config import Config
from backend.systems.learning.objective import TrainingMaterial
from backend.systems.learning.rivals import NegativeSampler
from backend.systems.learning.schedule import is_evaluated, rate_factor
from backend.systems.learning.system import Batch, Rivals, StagePlan, System

STOPPING = "ndcg@20,0.5"
"""The key of the figure that early stopping compares."""


@dataclass(frozen=True, slots=True)
class SeedReport:
    """The outcome of training with one random seed.

    Attributes:
        folder: the folder with its files.
        seed: the seed.
        epochs: the number of epochs done in all stages, such as 2.5.
        best: the number of epochs done at the evaluation with the best NDCG on the validation queries, of the last
            stage.
        ndcg: the mean NDCG of the validation queries at this evaluation.
        resumed: the number of epochs done before this call; 0 for a fresh start.
        stopped_early: whether a stage stopped before its last configured epoch.
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
        try:
            return _train(config, material, seed, device, folder, progress)
        except _compiler_errors(config) as error:
            fault = str(error).strip().splitlines()[0]
            raise ProjectError(f"torch cannot compile here ({fault}): take `training.compile` out") from error


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
    with repeatable(seed):
        network = objective.network_of(config.system, material.sizes, config.model, config.loss).to(device)
        plans = network.stage_plans()
        before = _epochs(config, material, plans, state)
        if config.training.compile:
            compile_encoders(network)
        while True:
            stage = _Stage(config, material, network, plans[state.stage - 1], seed, state.stage)
            state = stage.run(state, stored[1] if stored else None, progress)
            if state.stage == len(plans):
                break
            checkpoints.keep_best_of(folder, state.stage)
            state, stored = msgspec.structs.replace(state, stage=state.stage + 1, step=0, sums={}, pairs=0), None
    best, done = best_of(state.of_stage), _epochs(config, material, plans, state)
    if before < done or not (folder / checkpoints.PICTURES[-1]).exists():
        checkpoints.write_pictures(folder, state.evaluations, STOPPING, best.epoch)
    stopped_early = done < config.epochs * len(plans)
    return SeedReport(folder, seed, done, best.epoch, best.figures[STOPPING], before, stopped_early)


def _epochs(config: Config, material: TrainingMaterial, plans: Sequence[StagePlan], state: TrainingState) -> float:
    """Return the number of epochs done in all stages."""
    return state.epochs_before + state.step / _epoch_steps(config, material, plans[state.stage - 1])


def _epoch_steps(config: Config, material: TrainingMaterial, plan: StagePlan) -> int:
    return math.ceil(len(material.pairs) / (plan.batch or config.training.batch))


def _compiler_errors(config: Config) -> tuple[type[Exception], ...]:
    """Return the errors of torch.compile, which takes seconds to load."""
    return (torch._dynamo.exc.TorchDynamoException,) if config.training.compile else ()


def compile_encoders(network: System) -> None:
    """Let torch.compile translate the encoders of videos and queries when they are first called."""
    for name in ("encode_videos", "encode_queries"):
        setattr(network, name, torch.compile(getattr(network, name), dynamic=True))


def best_of(evaluations: Sequence[Validation]) -> Validation:
    """Return the evaluation with the best NDCG on the validation queries; the first one if several are equal."""
    return max(evaluations, key=lambda one: (one.figures[STOPPING], -one.epoch))


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


class _Stage:
    """One stage of training: from its first weights, or from where it was stopped, to its end."""

    def __init__(
        self, config: Config, material: TrainingMaterial, network: System, plan: StagePlan, seed: int, stage: int
    ) -> None:
        self.config, self.material, self.network, self.plan = config, material, network, plan
        self.seed, self.stage, self.folder = seed, stage, folder_of(config, seed)
        self.draws = stage_seed(seed, stage)
        self.batch = plan.batch or config.training.batch
        self.epoch_steps = _epoch_steps(config, material, plan)
        self.steps = config.epochs * self.epoch_steps
        self.device = next(network.parameters()).device
        self.hard: NegativeSampler | None = None

    def run(
        self, state: TrainingState, stored: Mapping[str, Tensor] | None, progress: Progress | None
    ) -> TrainingState:
        """Train to the end of the stage, and return the last state.

        Args:
            state: the state to continue from.
            stored: the tensors of that state, to continue a stage that was stopped; None to begin it.
            progress: called with (name of the work, steps done, steps of all epochs).
        """
        options = self.config.training
        if self.stage > 1:
            _, weights = checkpoints.read_best(self.folder, self.stage - 1)
            checkpoints.load_weights(self.network, weights, self.folder)
        done = self._done(state)
        if not done and (self.plan.hard_videos or self.plan.hard_queries):
            scoring = steps_of(progress, f"scoring negatives, seed {self.seed}")
            self.hard = objective.hard_sampler(self.network, self.material, scoring)
        optimiser = torch.optim.AdamW(
            self.network.parameters(), lr=options.learning_rate, weight_decay=options.weight_decay
        )
        if stored:
            checkpoints.restore(self.network, optimiser, stored)
        elif self.stage > 1:  # from here on, the best weights are those of this stage
            checkpoints.write_last(self.folder, self.network, optimiser, state)
        while not self._done(state):
            state = self._rest_of_epoch(optimiser, state, progress)
        return state

    def _done(self, state: TrainingState) -> bool:
        evaluations = state.of_stage
        if not evaluations:
            return False
        waited = len(evaluations) - 1 - evaluations.index(best_of(evaluations))
        return state.step >= self.steps or waited >= self.config.training.patience

    def _rest_of_epoch(
        self, optimiser: torch.optim.Optimizer, state: TrainingState, progress: Progress | None
    ) -> TrainingState:
        """Train to the end of an epoch, or until the stage stops early, and return the new state.

        The state is saved after each evaluation and at the end of the epoch.
        """
        config, material, options = self.config, self.material, self.config.training
        epoch, skip = divmod(state.step, self.epoch_steps)
        self.network.epoch = epoch + 1
        sums, pairs, step = dict(state.sums), state.pairs, state.step
        order = order_seed(self.draws, epoch + 1)
        running: Tensor | None = None
        for batch in batches(
            material.pairs, material.clips, material.queries, self.batch, order, self.device, skip=skip
        ):
            for group in optimiser.param_groups:
                factor = self.plan.learning_rate * rate_factor(step, self.steps, options.warmup)
                group["lr"] = options.learning_rate * factor
            losses = self._step(optimiser, batch, step_seeds(self.draws, step))
            if running is None:
                running = torch.tensor([sums.get(name, 0.0) for name in losses], dtype=torch.float64)
            running += torch.stack(list(losses.values())).double().cpu() * len(batch.numbers)
            pairs += len(batch.numbers)
            step += 1
            if progress:
                progress(f"training, seed {self.seed}", step, self.steps)
            evaluated = is_evaluated(step, self.steps, self.epoch_steps, config.evaluate_every)
            if not evaluated and step % self.epoch_steps:
                continue
            sums = dict(zip(losses, running.tolist(), strict=True))
            if not math.isfinite(sums["loss"]):
                fault = "losses are no longer finite: lower `training.learning_rate`"
                raise InputError.single(self.folder, f"epoch {epoch + 1}: {fault}")
            evaluations = state.evaluations
            if evaluated:
                means = {name: total / pairs for name, total in sums.items()}
                evaluations = (*evaluations, self._validated(state.epochs_before + step / self.epoch_steps, means))
                sums, pairs, running = {}, 0, None
            state = TrainingState(state.fingerprint, step, sums, pairs, evaluations, self.stage)
            if evaluated and best_of(state.of_stage) is evaluations[-1]:
                best = evaluations[-1]
                card = objective.card_of(config, material, self.seed, best.epoch, best.figures[STOPPING])
                checkpoints.write_best(self.folder, self.network, card)
            if evaluated:
                checkpoints.write_table(self.folder, evaluations)
            checkpoints.write_last(self.folder, self.network, optimiser, state)
            if self._done(state):
                break
        return state

    def _validated(self, epoch: float, losses: dict[str, float]) -> Validation:
        figures = objective.figures(self.config, self.material, self.network)
        return Validation(epoch, losses, figures, self.stage)

    def _step(self, optimiser: torch.optim.Optimizer, batch: Batch, seeds: tuple[int, int]) -> dict[str, Tensor]:
        """Update the weights by one batch, and return its losses; `seeds` are those of dropout and of negatives."""
        dropout, draws = seeds
        self.network.train()
        torch.manual_seed(dropout)
        rivals = objective.negatives_of(self.config, self.material, self.network, self.plan, self.hard, batch, draws)
        losses = losses_of(self.network, batch, rivals, self.config.training.precision)
        optimiser.zero_grad()
        losses["loss"].backward()  # type: ignore[no-untyped-call]  # torch has no types there
        optimiser.step()
        return {name: loss.detach() for name, loss in losses.items()}


def losses_of(network: System, batch: Batch, rivals: Rivals | None, precision: str) -> dict[str, Tensor]:
    """Return the losses of a batch, computed in "fp32", or in "bf16" where torch's autocast takes bfloat16."""
    with torch.autocast(batch.clips.device.type, dtype=torch.bfloat16, enabled=precision == "bf16"):
        return network.losses(batch, rivals)
