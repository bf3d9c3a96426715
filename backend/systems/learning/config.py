"""Read the settings of a training run from a TOML file, and report every wrong field before anything is loaded."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import msgspec
from msgspec import Meta

from backend.core.errors import InputError, Problem
from backend.core.reading import UNDECODABLE, fault_of, file_bytes
from backend.systems.learning.field_types import Count, Positive, Seed, Share
from backend.systems.learning.schedule import default_epochs, default_evaluate_every
from backend.systems.learning.systems import SYSTEMS, system_class

if TYPE_CHECKING:
    from backend.systems.learning.system import System

_MASK_REPLACED = (
    "field `loss.mask_positives` is no longer read: take it out for the loss of the paper, or write `positives = "
    '"own"` in its place for that of the published code'
)
_ALPHA_MOVED = "field `predict.alpha` has moved: write `alpha` in the table [model]"


class TrainingOptions(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Options of the training loop, with AdamW's learning rate and weight decay.

    Attributes:
        epochs: the number of epochs of each stage, by which the learning rate falls to 0; None takes 4,000 / N.
        evaluate_every: the number of epochs from one evaluation on the validation queries to the next, such as 0.5 for
            two an epoch; None takes 20 / N.
        batch: the number of (query, moment) pairs in a batch.
        learning_rate: the highest learning rate; see `schedule.rate_factor`.
        warmup: the share of all steps in which the learning rate rises to its highest.
        weight_decay: the weight decay.
        patience: a stage of training stops after so many evaluations without a better NDCG.
        precision: "bf16" computes the losses in bfloat16 where torch's autocast does; weights stay float32.
        compile: whether torch.compile translates the encoders of videos and queries for training. The first steps take
            long, the others less.
    """

    epochs: Count | None = None
    evaluate_every: Positive | None = None
    batch: Annotated[int, Meta(ge=2, le=1_000_000)] = 128
    learning_rate: Positive = 1e-4
    warmup: Share = 0.01
    weight_decay: Annotated[float, Meta(ge=0, le=1e6)] = 0.01
    patience: Count = 10
    precision: Literal["fp32", "bf16"] = "fp32"
    compile: bool = False


class NegativesOptions(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The folder of negatives, which says for each query what may be a wrong answer; and draws from it.

    `draw` and `count` are for `late` with the loss `crocs`, which draws strong negatives from the folder: videos and
    queries that are similar but do not match.

    Attributes:
        folder: the output folder of `reelrank mvmr negatives`.
        draw: `similar` draws by the probability p', more similar negatives more often. `uniform` draws all potential
            negatives equally often.
        count: for each pair, the number of videos drawn for its query, and of queries drawn for its video.
    """

    folder: str
    draw: Literal["similar", "uniform"] = "similar"
    count: Count = 4


class PredictOptions(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Options for predicting moments with the trained network; see `predicting`.

    Attributes:
        videos: the number of best videos of a query in which moments are searched, by systems that score videos first.
        moments: the number of predicted moments of a query in the run.
        longest_s: the length of the longest predicted moment, in seconds. None takes that of the longest moment of the
            training set, or no limit for systems that divide each video into the same number of clips.
        nms: the IoU above which a better moment suppresses a worse one (non-maximum suppression). None suppresses none,
            as in TVR-Ranking's own code.
    """

    videos: Count = 100
    moments: Count = 100
    longest_s: Positive | None = None
    nms: Annotated[float, Meta(gt=0, le=1)] | None = None


class Config(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The settings of a training run, which trains once with each random seed.

    Attributes:
        release: folder of a release as `reelrank export` writes it, with training set, validation and test queries.
        features: file of frame features.
        out: folder that gets a folder for each seed.
        system: the name of the system, see `backend.systems.learning.systems`.
        preset: the name of one of the system's presets, whose settings replace the defaults; None for none.
        rate: rows of features for each second of video, for files that do not state it.
        subtitles: file of subtitle features, with the same layout as `features`; None for none.
        subtitle_rate: rows of subtitle features for each second of video, for files that do not state it.
        encoder: the sentence encoder; None takes SimCSE from the model hub.
        encoder_kind: "sup", "unsup" or "minilm"; None guesses it from the name.
        embeddings: folder that caches vectors of sentences; None takes the user's cache folder.
        top: N of the training set `train_topN.json`, which has the N most similar moments of each query.
        seeds: the random seeds.
        device: `cpu`, `cuda`, or `auto` for a GPU where torch finds one.
        model: the `ModelOptions` of the system.
        loss: the `LossOptions` of the system.
    """

    release: str
    features: str
    out: str
    system: str = "late"
    preset: str | None = None
    rate: Positive | None = None
    subtitles: str | None = None
    subtitle_rate: Positive | None = None
    encoder: str | None = None
    encoder_kind: str | None = None
    embeddings: str | None = None
    top: Count = 20
    seeds: Annotated[tuple[Seed, ...], Meta(min_length=1)] = (0,)
    device: Literal["auto", "cpu", "cuda"] = "auto"
    model: Any = None
    training: TrainingOptions = TrainingOptions()
    loss: Any = None
    negatives: NegativesOptions | None = None
    predict: PredictOptions = PredictOptions()

    @property
    def epochs(self) -> int:
        """The number of epochs of a stage, from the settings or by `schedule.default_epochs`."""
        return self.training.epochs or default_epochs(self.top)

    @property
    def evaluate_every(self) -> float:
        """The number of epochs between evaluations, from the settings or by `schedule.default_evaluate_every`."""
        return self.training.evaluate_every or default_evaluate_every(self.top)


def read_config(file: Path, system: str | None = None) -> Config:
    """Return the settings in a TOML file, with paths made absolute; relative ones start at the file's folder.

    Args:
        file: the TOML file.
        system: the name of a system to take instead of the one in the file.

    Raises:
        InputError: the file is missing or not TOML, or a field is wrong.
    """
    data = file_bytes(file)
    try:
        raw = msgspec.toml.decode(data)
    except UNDECODABLE as error:
        raise InputError.single(file, f"is not TOML: {error}") from None
    changed = upgrade(raw)
    return config_of(raw | ({"system": system} if system else {}), str(file), file.resolve().parent, changed)


def config_of(raw: Mapping[str, Any], source: str, home: Path, more_faults: list[str] | None = None) -> Config:
    """Return the settings in a mapping such as a TOML file has; relative paths start at `home`.

    Raises:
        InputError: a field is wrong; names `source`.
    """
    try:
        config = decode(raw)
    except msgspec.ValidationError as error:
        raise InputError.single(source, fault_of(error)) from None
    if faults := [*(more_faults or []), *_faults(config)]:
        raise InputError([Problem(source, None, message) for message in faults])
    return _resolve_paths(config, home)


def decode(raw: Mapping[str, Any]) -> Config:
    """Return decoded settings, with the tables of their system, and its preset below what they say themselves.

    Raises:
        msgspec.ValidationError: a field is wrong.
    """
    name, preset = raw.get("system", "late"), raw.get("preset")
    if name not in SYSTEMS:
        raise msgspec.ValidationError(f"there is no system {name!r}: the systems are {', '.join(SYSTEMS)}")
    cls = system_class(name)
    if preset is not None:
        raw = {**raw, **_with_preset(cls, preset, raw)}
    typed = msgspec.convert(raw, _tables_of(cls))
    return Config(**{field: getattr(typed, field) for field in Config.__struct_fields__})


def _with_preset(cls: "type[System]", preset: str, raw: Mapping[str, Any]) -> dict[str, Any]:
    if preset not in cls.presets:
        known = ", ".join(cls.presets) or "none"
        raise msgspec.ValidationError(f"system {cls.name} has no preset {preset!r}: its presets are {known}")
    given = {name: raw.get(name, {}) for name in cls.presets[preset]}
    return {
        name: {**cls.presets[preset][name], **table} if isinstance(table, dict) else table
        for name, table in given.items()
    }


def _tables_of(cls: "type[System]") -> type[Config]:
    """Return a subclass of `Config` whose tables `model` and `loss` are those of a system."""
    tables = [("model", cls.ModelOptions, cls.ModelOptions()), ("loss", cls.LossOptions, cls.LossOptions())]
    made = msgspec.defstruct("Config", tables, bases=(Config,), frozen=True, forbid_unknown_fields=True)
    return made  # type: ignore[return-value]  # msgspec says type[Struct]


def upgrade(raw: Any) -> list[str]:
    """Change decoded settings of an earlier version to those of this one.

    Returns:
        What to change in a file that somebody wrote, one message for each such field.
    """
    changed = []
    if isinstance(raw, dict):
        loss, predict, model = (raw.get(name) for name in ("loss", "predict", "model"))
        if isinstance(loss, dict) and loss.pop("mask_positives", None) is not None:
            changed.append(_MASK_REPLACED)
        if isinstance(predict, dict) and "alpha" in predict:
            raw["model"] = {"alpha": predict.pop("alpha"), **(model if isinstance(model, dict) else {})}
            changed.append(_ALPHA_MOVED)
    return changed


def _faults(config: Config) -> list[str]:
    faults = list(system_class(config.system).faults(config.model, config.loss, negatives=config.negatives is not None))
    if len(set(config.seeds)) < len(config.seeds):
        faults.append(f"field `seeds` names a seed twice: {', '.join(map(str, config.seeds))}")
    if config.subtitle_rate is not None and config.subtitles is None:
        faults.append("field `subtitle_rate` is for a file of `subtitles`: name one, or take it out")
    return faults


def _resolve_paths(config: Config, home: Path) -> Config:
    def place(path: str) -> str:
        return str(home / Path(path).expanduser())

    def places(paths: Any) -> Any:
        return place(paths) if isinstance(paths, str) else paths and tuple(map(place, paths))

    negatives, fields = config.negatives, system_class(config.system).path_fields
    return msgspec.structs.replace(
        config,
        release=place(config.release),
        features=place(config.features),
        subtitles=None if config.subtitles is None else place(config.subtitles),
        out=place(config.out),
        encoder=place(config.encoder) if config.encoder and config.encoder.startswith((".", "~")) else config.encoder,
        embeddings=None if config.embeddings is None else place(config.embeddings),
        negatives=negatives and msgspec.structs.replace(negatives, folder=place(negatives.folder)),
        model=msgspec.structs.replace(config.model, **{name: places(getattr(config.model, name)) for name in fields}),
    )
