"""Keep the folder of one seed: its weights, what going on needs, its history. Files arrive whole or not at all.

`settings.json` says what it was made of and where that lies; `best.safetensors` has the weights with the best NDCG and
a card, which know nothing of places; `last.safetensors` the state after the last epoch; `history.csv`, and the pictures
of the same name, tell people about it. Nothing is pickled, so reading somebody's checkpoint runs nothing of theirs.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TypeVar

import msgspec
import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save
from torch import Tensor, nn

from backend.core.atomic_output import OURS, new_files, require_room
from backend.core.errors import InputError, ProjectError
from backend.core.locking import locked
from backend.core.reading import UNDECODABLE, bytes_of
from backend.core.text_files import csv_text
from backend.systems.learning.config import Config, ModelOptions, PredictOptions
from backend.systems.learning.network import Shape

SETTINGS, BEST, LAST, HISTORY = "settings.json", "best.safetensors", "last.safetensors", "history.csv"
_FIRST = {SETTINGS, BEST, HISTORY}
"""What may be there although no epoch was finished."""
_ABOUT = "about"
_MODEL, _OPTIMISER = "model.", "optimiser."
_Struct = TypeVar("_Struct", bound=msgspec.Struct)


class Epoch(msgspec.Struct, frozen=True):
    """What one epoch came to: means of losses over pairs, and figures of the validation queries by key."""

    epoch: int
    loss: float
    span: float
    video: float
    figures: dict[str, float]


class TrainingState(msgspec.Struct, frozen=True):
    """How far training came; `fingerprint` is of settings and data."""

    fingerprint: str
    epochs: tuple[Epoch, ...]


class ModelCard(msgspec.Struct, frozen=True):
    """What weights are of, and what they need."""

    model: ModelOptions
    predict: PredictOptions
    seed: int
    epoch: int
    ndcg: float
    frame_dim: int
    sentence_dim: int
    longest: int
    """Clips that a span may have."""
    frames: str
    """Identity of what made the features."""
    sentences: str
    """Identity of the sentence encoder."""

    @property
    def shape(self) -> Shape:
        """What the network is like."""
        model = self.model
        return Shape(self.frame_dim, self.sentence_dim, model.hidden, model.heads, model.dropout)


@contextmanager
def alone(folder: Path) -> Iterator[None]:
    """Nobody else trains into this folder meanwhile; the lock lies beside it.

    Raises:
        ProjectError: somebody does, or nothing can be written there.
    """
    require_room(folder)
    folder.parent.mkdir(parents=True, exist_ok=True)
    with ExitStack() as held:
        try:
            held.enter_context(locked(_lock_of(folder), wait=False))
        except BlockingIOError:
            told = "is being trained into by another process"
            raise ProjectError(f"{folder} {told}: wait for it, or name another folder `out`") from None
        yield


def require_alone(folder: Path) -> None:
    """Refuse a folder that somebody trains into now; nothing is made.

    Raises:
        ProjectError: see `alone`.
    """
    if _lock_of(folder).exists():
        with alone(folder):
            pass


def _lock_of(folder: Path) -> Path:
    return folder.with_name(f".{folder.name}.lock")


def write_settings(folder: Path, config: Config) -> None:
    """Write the settings, with the places where everything lies now."""
    with new_files(folder) as part:
        (part / SETTINGS).write_bytes(msgspec.json.format(msgspec.json.encode(config)) + b"\n")


def read_settings(folder: Path) -> Config:
    """The settings of a folder.

    Raises:
        InputError: there are none that can be read.
    """
    file = folder / SETTINGS
    data = bytes_of(file)
    try:
        return msgspec.json.decode(data, type=Config)
    except UNDECODABLE as error:
        raise InputError.single(file, f"was not written by training: {error}") from None


def write_best(folder: Path, network: nn.Module, card: ModelCard) -> None:
    """Write the best weights so far."""
    _write(folder, BEST, network.state_dict(), card)


def write_last(folder: Path, network: nn.Module, optimiser: torch.optim.Optimizer, state: TrainingState) -> None:
    """Write all that going on needs."""
    tensors = {_MODEL + name: tensor for name, tensor in network.state_dict().items()}
    for number, values in optimiser.state_dict()["state"].items():
        tensors |= {f"{_OPTIMISER}{number}.{name}": tensor for name, tensor in values.items()}
    _write(folder, LAST, tensors, state)


def read_best(folder: Path) -> tuple[ModelCard, dict[str, Tensor]]:
    """The card and the weights of a folder.

    Raises:
        InputError: there are none that can be read.
    """
    if not (folder / BEST).is_file():
        message = f"has no {BEST}: name a folder such as OUT/seed-0, which `reelrank train` has made"
        raise InputError.single(folder, message)
    return _read(folder / BEST, ModelCard)


def load_weights(network: nn.Module, weights: Mapping[str, Tensor], folder: Path) -> None:
    """Put weights into a network.

    Raises:
        InputError: they are of another network.
    """
    try:
        network.load_state_dict(dict(weights))
    except RuntimeError as error:
        told = str(error).splitlines()[-1].strip()
        raise InputError.single(folder / BEST, f"does not fit this program's network: {told}") from None


def read_state(folder: Path) -> tuple[TrainingState, dict[str, Tensor]] | None:
    """How far training came there; None where it has not begun.

    Raises:
        ProjectError: other things are there.
        InputError: the state cannot be read.
    """
    if not (folder / LAST).is_file():
        if folder.exists() and (not folder.is_dir() or any(map(_others, folder.iterdir()))):
            raise ProjectError(f"{folder} exists, but was not made by training: name another folder `out`")
        return None
    return _read(folder / LAST, TrainingState)


def _others(path: Path) -> bool:
    """Whether something was not made by training; what a killed process left unfinished was."""
    return path.name not in _FIRST and not path.name.startswith(OURS)


def restore(network: nn.Module, optimiser: torch.optim.Optimizer, tensors: Mapping[str, Tensor]) -> None:
    """Put network and optimiser back to what `write_last` wrote."""
    network.load_state_dict({name.removeprefix(_MODEL): t for name, t in tensors.items() if name.startswith(_MODEL)})
    state: dict[int, dict[str, Tensor]] = {}
    for name, tensor in tensors.items():
        if name.startswith(_OPTIMISER):
            number, _, what = name.removeprefix(_OPTIMISER).partition(".")
            state.setdefault(int(number), {})[what] = tensor
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
            about = msgspec.json.decode((opened.metadata() or {})[_ABOUT], type=kind)
            return about, {name: opened.get_tensor(name) for name in opened.keys()}  # noqa: SIM118 - no mapping
    except (SafetensorError, OSError, KeyError, *UNDECODABLE) as error:
        told = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise InputError.single(file, f"is not a checkpoint of this program, or is damaged: {told}") from None


PICTURES = ("history.png", "history.svg")


def write_table(folder: Path, epochs: Sequence[Epoch]) -> None:
    """Write `history.csv`: a row an epoch."""
    figures = list(epochs[0].figures)
    rows = [[one.epoch, one.loss, one.span, one.video, *(one.figures[key] for key in figures)] for one in epochs]
    with new_files(folder) as part:
        text = csv_text(["epoch", "loss", "span", "video", *figures], rows)
        (part / HISTORY).write_text(text, "utf-8", newline="")


def write_pictures(folder: Path, epochs: Sequence[Epoch], stopping: str, best: int) -> None:
    """Draw both: losses above, the figures of the validation queries below, with a rule at the best epoch.

    Args:
        folder: where to.
        epochs: at least one.
        stopping: key of the figure that decides.
        best: the best epoch by it.
    """
    # The renderer takes long to load.
    from backend.scoring.drawing import Specification, channel, save

    losses = [
        {"epoch": one.epoch, "what": what, "value": value}
        for one in epochs
        for what, value in (("all", one.loss), ("spans", one.span), ("videos", one.video))
    ]
    figures = [
        {"epoch": one.epoch, "what": key, "value": value} for one in epochs for key, value in one.figures.items()
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
                    "mark": {"type": "line", "point": len(epochs) < 2},
                    "encoding": {"x": x, "y": y, "color": color},
                },
            ],
        }

    both = {
        "title": f"the broken line is epoch {best}, the best by {stopping}",
        "vconcat": [lines(losses, "training loss"), lines(figures, "validation queries")],
        "resolve": {"scale": {"color": "independent"}},
    }
    with new_files(folder) as part:
        for name in PICTURES:
            save(both, part / name)
