"""Read the settings of a training run from a TOML file, and report every wrong field before anything is loaded."""

from pathlib import Path
from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from backend.core.errors import InputError, Problem
from backend.core.reading import UNDECODABLE, fault_of, file_bytes

Count = Annotated[int, Meta(ge=1, le=1_000_000)]
Seed = Annotated[int, Meta(ge=0, le=2**31 - 1)]
Positive = Annotated[float, Meta(gt=0, le=1e6)]
Share = Annotated[float, Meta(ge=0, lt=1)]


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

    `batch` is the number of (query, moment) pairs in a batch. Training stops after `epochs` epochs, or after `patience`
    epochs without a better NDCG on the validation queries.
    """

    epochs: Count = 100
    batch: Annotated[int, Meta(ge=2, le=1_000_000)] = 128
    """Number of pairs of a query and a moment in a batch."""
    learning_rate: Positive = 1e-4
    weight_decay: Annotated[float, Meta(ge=0, le=1e6)] = 0.01
    patience: Count = 10
    """Training stops after this many epochs without a better NDCG on the validation queries."""


class LossOptions(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Options of the loss, which has one part for the choice of the video and one for the place of the moment in it.

    Attributes:
        video: the loss for the choice of the video, as in ReLoCLNet (`nce`), XML (`hinge`) or MVMR (`crocs`).
        weighted: whether the losses of a pair are multiplied by the similarity of its query and moment; `crocs` never
            is.
        mask_positives: whether videos that contain a moment of the query are never its negatives.
        temperature: T of `nce` and `crocs`.
        margin: the margin of `hinge` and `crocs`.
        span: the weight of the loss for the place of the moment; the other part has the weight 1.
    """

    video: Literal["nce", "hinge", "crocs"] = "nce"
    """The loss that tells videos apart: that of ReLoCLNet, XML, or MVMR."""
    weighted: bool = True
    """Whether the weight of a pair is its similarity (TVR-Ranking, C.1)."""
    mask_positives: bool = True
    """Whether a video that has a moment of the query is no negative of it in any batch (TVR-Ranking, C.1)."""
    temperature: Positive = 0.1
    """T of `nce` and `crocs`."""
    margin: Annotated[float, Meta(ge=0, le=2)] = 0.1
    """The margin of `hinge`, with XML's value, and of `crocs`, whose published configuration has 0.4."""
    span: Annotated[float, Meta(ge=0, le=1e6)] = 1.0
    """The weight of the span loss; the video loss has the weight 1."""


class NegativesOptions(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Options of the loss `crocs`, which draws strong negatives: videos and queries that are similar but do not match.

    Attributes:
        folder: the output folder of `reelrank mvmr negatives`.
        draw: `similar` draws more similar negatives more often; `uniform` draws all equally.
        count: the number of videos drawn for each query, and of queries for each video.
    """

    folder: str
    """A folder that `reelrank mvmr negatives` made."""
    draw: Literal["similar", "uniform"] = "similar"
    """`similar` draws by p': the more similar, the likelier. `uniform` draws all potential negatives equally."""
    count: Count = 4
    """Number of negatives drawn for each pair in each direction."""


class PredictOptions(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Options for predicting moments with the trained network; see `predicting`.

    Attributes:
        videos: the number of best videos of a query in which moments are searched.
        moments: the number of predicted moments of a query.
        alpha: the weight of the video's score beside the score of the span in it.
        longest_s: the length of the longest predicted moment, in seconds; None takes that of the training set.
        nms: the IoU above which a better moment suppresses a worse one; None suppresses none.
    """

    videos: Count = 100
    """Number of best videos of a query in which spans are searched."""
    moments: Count = 100
    """Number of predicted moments of a query in the run."""
    alpha: Annotated[float, Meta(ge=0, le=1000)] = 20.0
    """The weight of a video's score beside that of its span (XML: 20)."""
    longest_s: Positive | None = None
    """Length of the longest span, in seconds; None takes that of the longest moment of the training set."""
    nms: Annotated[float, Meta(gt=0, le=1)] | None = None
    """IoU of non-maximum suppression; without it there is none, as in TVR-Ranking's own code."""


class Config(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The settings of a training run, which trains once with each random seed.

    Attributes:
        release: folder of the release, with training set, validation and test queries.
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
    """Folder of a release as `reelrank export` writes it."""
    features: str
    """File of frame features."""
    out: str
    """Folder that gets a folder for each seed."""
    rate: Positive | None = None
    """Rows of features a second, for files that do not state it."""
    encoder: str | None = None
    """The sentence encoder; None takes SimCSE from the model hub."""
    encoder_kind: str | None = None
    embeddings: str | None = None
    """The folder that caches vectors of sentences; None takes the user's cache folder."""
    top: Count = 20
    """N of the training set `train_topN.json`."""
    seeds: Annotated[tuple[Seed, ...], Meta(min_length=1)] = (0,)
    device: Literal["auto", "cpu", "cuda"] = "auto"
    """`auto`: a GPU where torch finds one."""
    model: ModelOptions = ModelOptions()
    training: TrainingOptions = TrainingOptions()
    loss: LossOptions = LossOptions()
    negatives: NegativesOptions | None = None
    predict: PredictOptions = PredictOptions()


def read_config(file: Path) -> Config:
    """Return the settings in a TOML file, with paths made absolute; relative ones start at the file's folder.

    Raises:
        InputError: the file is missing or not TOML, or a field is wrong.
    """
    data = file_bytes(file)
    try:
        config = msgspec.toml.decode(data, type=Config)
    except msgspec.ValidationError as error:
        raise InputError.single(file, fault_of(error)) from None
    except UNDECODABLE as error:
        raise InputError.single(file, f"is not TOML: {error}") from None
    if faults := _faults(config):
        raise InputError([Problem(str(file), None, message) for message in faults])
    return _resolve_paths(config, file.resolve().parent)


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
