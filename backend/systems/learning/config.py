"""Read the settings of a training run from a TOML file, and report every wrong field before anything is loaded."""

from pathlib import Path
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

from backend.core.errors import InputError, Problem
from backend.core.reading import UNDECODABLE, fault_of, file_bytes
from backend.systems.learning.schedule import default_epochs, default_evaluate_every

Count = Annotated[int, Meta(ge=1, le=1_000_000)]
Seed = Annotated[int, Meta(ge=0, le=2**31 - 1)]
Positive = Annotated[float, Meta(gt=0, le=1e6)]
Share = Annotated[float, Meta(ge=0, lt=1)]

_REPLACED = (
    "field `loss.mask_positives` is no longer read: take it out for the loss of the paper, or write `positives = "
    '"own"` in its place for that of the published code'
)


class ModelOptions(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Options of the network: size of encodings, attention heads, dropout, and the length of a clip in seconds.

    A clip is the piece of a video that gets one encoding, from the mean of its features.
    """

    hidden: Count = 256
    """D, numbers in every encoding."""
    heads: Count = 4
    """The number of heads of the self-attention; it divides `hidden`."""
    dropout: Share = 0.1
    clip_s: Positive = 1.5
    """Length of a clip in seconds. Features are averaged over a clip; spans begin and end with clips. TVR has 1.5."""


class TrainingOptions(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Options of the training loop, with AdamW's learning rate and weight decay.

    Attributes:
        epochs: the number of epochs, by which the learning rate falls to 0; None takes 4,000 / N.
        evaluate_every: the number of epochs from one evaluation on the validation queries to the next, such as 0.5 for
            two an epoch; None takes 20 / N.
        batch: the number of (query, moment) pairs in a batch.
        learning_rate: the highest learning rate; see `schedule.rate_factor`.
        warmup: the share of all steps in which the learning rate rises to its highest.
        weight_decay: the weight decay.
        patience: training stops after so many evaluations without a better NDCG.
    """

    epochs: Count | None = None
    evaluate_every: Positive | None = None
    batch: Annotated[int, Meta(ge=2, le=1_000_000)] = 128
    learning_rate: Positive = 1e-4
    warmup: Share = 0.01
    weight_decay: Annotated[float, Meta(ge=0, le=1e6)] = 0.01
    patience: Count = 10


class LossOptions(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Options of the loss, which has one part for the choice of the video and one for the place of the moment in it.

    Attributes:
        video: the loss for the choice of the video, as in ReLoCLNet (`nce`), XML (`hinge`) or MVMR (`crocs`).
        weighted: whether a pair's losses are multiplied by the similarity of its query and moment, except `crocs`
            (TVR-Ranking, C.1).
        positives: which videos of a batch match a query. `top`: all that have one of its top N moments (TVR-Ranking,
            C.1). `own`: only the video of the pair itself, as in TVR-Ranking's published code. A positive is in the
            numerator of `nce`, and no negative in `hinge` and `crocs`.
        temperature: the temperature T of `nce` and `crocs`, by which scores are divided.
        margin: the margin of `hinge` and `crocs`, by which a pair should score higher than its negatives. The default
            is XML's value for `hinge`; the published configuration of `crocs` has 0.4.
        span: the weight of the loss for the place of the moment; the other part has the weight 1.
    """

    video: Literal["nce", "hinge", "crocs"] = "nce"
    weighted: bool = True
    positives: Literal["top", "own"] = "top"
    temperature: Positive = 0.1
    margin: Annotated[float, Meta(ge=0, le=2)] = 0.1
    span: Annotated[float, Meta(ge=0, le=1e6)] = 1.0


class NegativesOptions(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Options of the loss `crocs`, which draws strong negatives: videos and queries that are similar but do not match.

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
        videos: the number of best videos of a query in which moments are searched.
        moments: the number of predicted moments of a query in the run.
        alpha: the weight of the video's score beside the score of the span in it (XML: 20).
        longest_s: the length of the longest predicted moment, in seconds; None takes that of the longest moment of the
            training set.
        nms: the IoU above which a better moment suppresses a worse one (non-maximum suppression). None suppresses none,
            as in TVR-Ranking's own code.
    """

    videos: Count = 100
    moments: Count = 100
    alpha: Annotated[float, Meta(ge=0, le=1000)] = 20.0
    longest_s: Positive | None = None
    nms: Annotated[float, Meta(gt=0, le=1)] | None = None


class Config(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The settings of a training run, which trains once with each random seed.

    Attributes:
        release: folder of a release as `reelrank export` writes it, with training set, validation and test queries.
        features: file of frame features.
        out: folder that gets a folder for each seed.
        rate: rows of features for each second of video, for files that do not state it.
        encoder: the sentence encoder; None takes SimCSE from the model hub.
        encoder_kind: "sup", "unsup" or "minilm"; None guesses it from the name.
        embeddings: folder that caches vectors of sentences; None takes the user's cache folder.
        top: N of the training set `train_topN.json`, which has the N most similar moments of each query.
        seeds: the random seeds.
        device: `cpu`, `cuda`, or `auto` for a GPU where torch finds one.
    """

    release: str
    features: str
    out: str
    rate: Positive | None = None
    encoder: str | None = None
    encoder_kind: str | None = None
    embeddings: str | None = None
    top: Count = 20
    seeds: Annotated[tuple[Seed, ...], Meta(min_length=1)] = (0,)
    device: Literal["auto", "cpu", "cuda"] = "auto"
    model: ModelOptions = ModelOptions()
    training: TrainingOptions = TrainingOptions()
    loss: LossOptions = LossOptions()
    negatives: NegativesOptions | None = None
    predict: PredictOptions = PredictOptions()

    @property
    def epochs(self) -> int:
        """The number of epochs, from the settings or by `schedule.default_epochs`."""
        return self.training.epochs or default_epochs(self.top)

    @property
    def evaluate_every(self) -> float:
        """The number of epochs between evaluations, from the settings or by `schedule.default_evaluate_every`."""
        return self.training.evaluate_every or default_evaluate_every(self.top)


def read_config(file: Path) -> Config:
    """Return the settings in a TOML file, with paths made absolute; relative ones start at the file's folder.

    Raises:
        InputError: the file is missing or not TOML, or a field is wrong.
    """
    data = file_bytes(file)
    try:
        raw = msgspec.toml.decode(data)
        replaced = drop_old_fields(raw)
        config = msgspec.convert(raw, Config)
    except msgspec.ValidationError as error:
        raise InputError.single(file, fault_of(error)) from None
    except UNDECODABLE as error:
        raise InputError.single(file, f"is not TOML: {error}") from None
    if faults := [*([_REPLACED] if replaced else []), *_faults(config)]:
        raise InputError([Problem(str(file), None, message) for message in faults])
    return _resolve_paths(config, file.resolve().parent)


def drop_old_fields(raw: Any) -> bool:
    """Remove the fields that earlier versions had from decoded settings; return whether there were any."""
    loss = raw.get("loss") if isinstance(raw, dict) else None
    return isinstance(loss, dict) and loss.pop("mask_positives", None) is not None


def _faults(config: Config) -> list[str]:
    faults = []
    if config.model.hidden % config.model.heads or config.model.hidden % 2:
        field = f"field `model.hidden` is {config.model.hidden}"
        faults.append(f"{field}: it has to be even, and `model.heads`, {config.model.heads}, has to divide it")
    if len(set(config.seeds)) < len(config.seeds):
        faults.append(f"field `seeds` names a seed twice: {', '.join(map(str, config.seeds))}")
    if config.loss.video == "crocs" and config.negatives is None:
        faults.append("field `loss.video` is crocs: add the table [negatives] with the `folder` of its negatives")
    if config.loss.video != "crocs" and config.negatives is not None:
        faults.append(f"table [negatives] is for `loss.video` crocs, not {config.loss.video}: take one of them out")
    return faults


def _resolve_paths(config: Config, home: Path) -> Config:
    def place(path: str) -> str:
        return str(home / Path(path).expanduser())

    negatives = config.negatives
    return msgspec.structs.replace(
        config,
        release=place(config.release),
        features=place(config.features),
        out=place(config.out),
        encoder=place(config.encoder) if config.encoder and config.encoder.startswith((".", "~")) else config.encoder,
        embeddings=None if config.embeddings is None else place(config.embeddings),
        negatives=negatives and msgspec.structs.replace(negatives, folder=place(negatives.folder)),
    )
