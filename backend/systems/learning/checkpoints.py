"""Read and write the files of a training run with one random seed: weights, training state and history.

Each seed has its own folder:

- `settings.json` has the settings and the paths of the data.
- `best.safetensors` has the weights of the evaluation with the best NDCG, and a `ModelCard` that describes them. It
  contains no paths. Of a system with several stages it has the best weights of the last stage that was evaluated.
- `stage-1.safetensors` has the best weights of stage 1 in the same form, from which stage 2 starts; and so on.
- `last.safetensors` has the state after the last epoch or evaluation, from which training can continue.
- `history.csv`, `history.png` and `history.svg` show the losses and measures of all evaluations.

Files are written atomically. Nothing is pickled, so reading a checkpoint never runs code from it.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, TypeVar

import msgspec
import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save
from torch import Tensor, nn

from backend.core.atomic_output import new_files, require_room
from backend.core.errors import InputError, ProjectError
from backend.core.leftovers import OURS
from backend.core.locking import locked
from backend.core.reading import UNDECODABLE, file_bytes
from backend.core.text_files import csv_text
from backend.systems.learning.config import Config, PredictOptions, decode, upgrade

SETTINGS, BEST, LAST, HISTORY = "settings.json", "best.safetensors", "last.safetensors", "history.csv"
_FIRST = {SETTINGS, BEST, HISTORY}
"""The files that a folder may have before its first state is saved."""
_ABOUT = "about"
_MODEL, _OPTIMISER = "model.", "optimiser."
_Struct = TypeVar("_Struct", bound=msgspec.Struct)


class Validation(msgspec.Struct, frozen=True):
    """The results of one evaluation on the validation queries, and of the steps since the one before it.

    Attributes:
        epoch: the number of epochs done, such as 2.5; those of earlier stages count.
        losses: the mean over the training pairs of these steps of the loss, "loss", and of its parts, by name.
        figures: the mean of each measure over the validation queries, by the measure's name.
        stage: the stage of training, from 1.
    """

    epoch: float
    losses: dict[str, float]
    figures: dict[str, float]
    stage: int = 1


class TrainingState(msgspec.Struct, frozen=True):
    """The state of training after a step.

    Attributes:
        fingerprint: a hash of the settings and data.
        step: the number of steps of the stage done.
        sums: since the last evaluation, the sums over training pairs of the loss and its parts, by name.
        pairs: the number of these pairs.
        evaluations: the results of all evaluations until now.
        stage: the stage of training, from 1.
    """

    fingerprint: str
    step: int = 0
    sums: dict[str, float] = {}
    pairs: int = 0
    evaluations: tuple[Validation, ...] = ()
    stage: int = 1

    @property
    def of_stage(self) -> tuple[Validation, ...]:
        """The evaluations of the current stage."""
        return tuple(one for one in self.evaluations if one.stage == self.stage)

    @property
    def epochs_before(self) -> float:
        """The number of epochs done in earlier stages."""
        return max((one.epoch for one in self.evaluations if one.stage < self.stage), default=0.0)


class ModelCard(msgspec.Struct, frozen=True):
    """A description of saved weights: how they were trained, and which features and sentence encoder they need.

    Attributes:
        system: the name of the system.
        model: its table `[model]`.
        loss: its table `[loss]`.
        predict: the options for predicting moments.
        seed: the random seed of the training.
        epoch: the number of epochs done when the weights were saved, such as 2.5.
        ndcg: the mean NDCG of the validation queries with these weights.
        frame_dim: the length of a frame's features.
        sentence_dim: the length of a sentence's vector.
        subtitle_dim: the length of a row of subtitle features; 0 if there are none.
        longest: the most clips (short pieces of a video) in a predicted span, if `predict` has no limit in seconds.
        frames: the encoder and the rate of the features of frames, and of subtitles.
        sentences: the identity of the sentence encoder.
    """

    model: dict[str, Any]
    predict: PredictOptions
    seed: int
    epoch: float
    ndcg: float
    frame_dim: int
    sentence_dim: int
    longest: int
    frames: str
    sentences: str
    subtitle_dim: int = 0
    system: str = "late"
    loss: dict[str, Any] = {}


@contextmanager
def alone(folder: Path) -> Iterator[None]:
    """Lock a training folder during the `with` block, so that no other process trains into it.

    The lock file is beside the folder.

    Raises:
        ProjectError: another process trains into the folder, or nothing can be written there.
    """
    require_room(folder)
    folder.parent.mkdir(parents=True, exist_ok=True)
    with ExitStack() as stack:
        try:
            stack.enter_context(locked(_lock_of(folder), wait=False))
        except BlockingIOError:
            fault = "is being trained into by another process"
            raise ProjectError(f"{folder} {fault}: wait for it, or name another folder `out`") from None
        yield


def require_alone(folder: Path) -> None:
    """Raise an error if another process trains into a folder; nothing is created.

    Raises:
        ProjectError: see `alone`.
    """
    if _lock_of(folder).exists():
        with alone(folder):
            pass


def _lock_of(folder: Path) -> Path:
    return folder.with_name(f".{folder.name}.lock")


def write_settings(folder: Path, config: Config) -> None:
    """Write the settings of a training run, with the current paths of all inputs, to `settings.json` in its folder."""
    with new_files(folder) as part:
        (part / SETTINGS).write_bytes(msgspec.json.format(msgspec.json.encode(config)) + b"\n")


def read_settings(folder: Path) -> Config:
    """Return the settings in a training run's folder, from `settings.json`.

    Raises:
        InputError: the file is missing or cannot be read.
    """
    file = folder / SETTINGS
    data = file_bytes(file)
    try:
        raw = msgspec.json.decode(data)
        upgrade(raw)
        return decode(raw)
    except UNDECODABLE as error:
        raise InputError.single(file, f"was not written by training: {error}") from None


def write_best(folder: Path, network: nn.Module, card: ModelCard) -> None:
    """Write the network's weights and their description to `best.safetensors`."""
    _write(folder, BEST, network.state_dict(), card)


def write_last(folder: Path, network: nn.Module, optimiser: torch.optim.Optimizer, state: TrainingState) -> None:
    """Write the state from which training can continue to `last.safetensors`."""
    tensors = {_MODEL + name: tensor for name, tensor in network.state_dict().items()}
    for number, values in optimiser.state_dict()["state"].items():
        tensors |= {f"{_OPTIMISER}{number}.{name}": tensor for name, tensor in values.items()}
    _write(folder, LAST, tensors, state)


def keep_best_of(folder: Path, stage: int) -> Path:
    """Copy the best weights to `stage-N.safetensors`, and return this file."""
    kept = folder / f"stage-{stage}.safetensors"
    content = file_bytes(folder / BEST)
    with new_files(folder) as part:
        (part / kept.name).write_bytes(content)
    return kept


def read_best(folder: Path, stage: int | None = None) -> tuple[ModelCard, dict[str, Tensor]]:
    """Return the description of a folder's best weights, and the weights by name.

    Args:
        folder: the folder of one seed.
        stage: the stage of training whose best weights to read; None takes the last one.

    Raises:
        InputError: the file is missing or cannot be read.
    """
    file = folder / (BEST if stage is None else f"stage-{stage}.safetensors")
    if not file.is_file():
        message = f"has no {file.name}: name a folder such as OUT/seed-0, which `reelrank train` has made"
        raise InputError.single(folder, message)
    return _read(file, ModelCard)


def load_weights(network: nn.Module, weights: Mapping[str, Tensor], folder: Path) -> None:
    """Load weights into a network; `folder` is where they were read from, for messages.

    Raises:
        InputError: the weights belong to a network of another shape.
    """
    try:
        network.load_state_dict(dict(weights))
    except RuntimeError as error:
        fault = f"{str(error).splitlines()[1].strip():.100}"
        raise InputError.single(folder / BEST, f"does not fit the network of {network.name}: {fault}") from None


def read_state(folder: Path) -> tuple[TrainingState, dict[str, Tensor]] | None:
    """Return the state of training in a folder, and the tensors of network and optimiser; None if none is saved.

    Raises:
        ProjectError: the folder exists and contains files that training did not make.
        InputError: the state cannot be read.
    """
    if not (folder / LAST).is_file():
        if folder.exists() and (not folder.is_dir() or any(map(_others, folder.iterdir()))):
            raise ProjectError(f"{folder} exists, but was not made by training: name another folder `out`")
        return None
    return _read(folder / LAST, TrainingState)


def _others(path: Path) -> bool:
    """Return whether this path in a folder is neither a file of training nor the leftover of a killed process."""
    return path.name not in _FIRST and not path.name.startswith(OURS)


def restore(network: nn.Module, optimiser: torch.optim.Optimizer, tensors: Mapping[str, Tensor]) -> None:
    """Load the tensors that `write_last` wrote into network and optimiser."""
    network.load_state_dict({name.removeprefix(_MODEL): t for name, t in tensors.items() if name.startswith(_MODEL)})
    state: dict[int, dict[str, Tensor]] = {}
    for name, tensor in tensors.items():
        if name.startswith(_OPTIMISER):
            number, _, field = name.removeprefix(_OPTIMISER).partition(".")
            state.setdefault(int(number), {})[field] = tensor
    optimiser.load_state_dict({**optimiser.state_dict(), "state": state})


def _write(folder: Path, name: str, tensors: Mapping[str, Tensor], about: msgspec.Struct) -> None:
    whole = {key: tensor.detach().cpu().contiguous() for key, tensor in tensors.items()}
    # One entry: several would come in any order.
    content = save(whole, {_ABOUT: msgspec.json.encode(about).decode()})
    with new_files(folder) as part:
        (part / name).write_bytes(content)


def _read(file: Path, kind: type[_Struct]) -> tuple[_Struct, dict[str, Tensor]]:
    try:
        with safe_open(file, framework="pt") as opened:
            raw = msgspec.json.decode((opened.metadata() or {})[_ABOUT])
            upgrade(raw)
            about = msgspec.convert(raw, kind)
            return about, {name: opened.get_tensor(name) for name in opened.keys()}  # noqa: SIM118 - no mapping
    except (SafetensorError, OSError, KeyError, *UNDECODABLE) as error:
        fault = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise InputError.single(file, f"is of another version, or damaged: {fault}. Train in another `out`") from None


PICTURES = ("history.png", "history.svg")


def write_table(folder: Path, evaluations: Sequence[Validation]) -> None:
    """Write the losses and measures of all evaluations to `history.csv`, one row for each."""
    figures, losses = list(evaluations[0].figures), list(evaluations[0].losses)
    staged = evaluations[-1].stage > 1
    rows = [
        [
            *([row.stage] if staged else []),
            f"{row.epoch:g}",
            *(row.losses[key] for key in losses),
            *(row.figures[key] for key in figures),
        ]
        for row in evaluations
    ]
    with new_files(folder) as part:
        text = csv_text([*(["stage"] if staged else []), "epoch", *losses, *figures], rows)
        (part / HISTORY).write_text(text, "utf-8", newline="")


def write_pictures(folder: Path, evaluations: Sequence[Validation], stopping: str, best: float) -> None:
    """Draw the losses and the validation measures of all evaluations, with a line at the best one.

    Writes `history.png` and `history.svg`.

    Args:
        folder: the folder to write to.
        evaluations: the results of at least one evaluation.
        stopping: the name of the measure that decides when to stop.
        best: the number of epochs done at the evaluation that is best by this measure.
    """
    # The renderer takes long to load.
    from backend.scoring.drawing import Specification, channel, save

    losses = [
        {"epoch": row.epoch, "what": key, "value": value} for row in evaluations for key, value in row.losses.items()
    ]
    figures = [
        {"epoch": row.epoch, "what": key, "value": value} for row in evaluations for key, value in row.figures.items()
    ]

    def lines(rows: list[dict[str, object]], title: str) -> Specification:
        x = channel("epoch:Q", title="epoch", axis={"tickMinStep": 1, "format": "d"})
        y, color = channel("value:Q", title=title), channel("what:N", title=title)
        return {
            "width": 420,
            "height": 180,
            "layer": [
                {
                    "data": {"values": [{"epoch": best}]},
                    "mark": {"type": "rule", "strokeDash": [4, 3], "color": "#7f7f7f"},
                    "encoding": {"x": channel("epoch:Q")},
                },
                {
                    "data": {"values": rows},
                    "mark": {"type": "line", "point": len(evaluations) < 2},
                    "encoding": {"x": x, "y": y, "color": color},
                },
            ],
        }

    both = {
        "title": f"the broken line is epoch {best:g}, the best by {stopping}",
        "vconcat": [lines(losses, "training loss"), lines(figures, "validation queries")],
        "resolve": {"scale": {"color": "independent"}},
    }
    with new_files(folder) as part:
        for name in PICTURES:
            save(both, part / name)
