"""Train a model on a release, and predict moments with a trained model; no project is needed.

*Reads* a configuration, a release, features of frames, and negatives (similar queries and videos that do not match).
*Writes* a folder for each random seed, or a run: a file with the predicted moments of each query.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Literal

import msgspec

from backend.core import release_entries
from backend.core.atomic_output import require_new_file, require_room
from backend.core.errors import InputError
from backend.core.progress import Progress, steps_of
from backend.core.reading import file_bytes
from backend.core.release_entries import AnyMoment, GradedMoment, Moment, Queries
from backend.encoders import cache, sentence
from backend.encoders.sentence import Encoder
from backend.encoders.tokens import encode_tokens_cached
from backend.scoring.files.formats import VIDEO_MAP
from backend.scoring.pools.files import read_pools
from backend.systems.feature_files import open_features, require_videos
from backend.systems.learning import checkpoints, loop, objective, predicting
from backend.systems.learning.config import Config, config_of, read_config
from backend.systems.learning.first_step import read_first_run, within_pools
from backend.systems.learning.loop import SeedReport
from backend.systems.learning.material import (
    AskedQueries,
    Clips,
    EncodedTexts,
    TrainingPair,
    TrainingSet,
    read_clips,
    read_pairs,
    require_queries,
    with_subtitles,
)
from backend.systems.learning.objective import TrainingMaterial
from backend.systems.learning.rivals import sampler_of_folder
from backend.systems.learning.system import Sizes
from backend.systems.learning.systems import system_class
from backend.systems.model import write_answers
from backend.training import read_negatives

AskedSplit = Literal["val", "test", "train"]


@dataclass(frozen=True, slots=True)
class PredictReport:
    """The outcome of predicting moments with a trained model, and writing them to a run file.

    Attributes:
        out: the run file, which has the predicted moments of each query.
        queries: the number of queries.
        videos: the number of videos that were searched.
        seed: the random seed of the model's training.
        epoch: the number of epochs done when the model's weights were saved, such as 2.5.
    """

    out: Path
    queries: int
    videos: int
    seed: int
    epoch: float


def train_model(config: Path, *, system: str | None = None, progress: Progress | None = None) -> tuple[SeedReport, ...]:
    """Train a system with each random seed of a configuration, and return one report for each seed.

    Trainings that were stopped continue, and finished ones are kept.

    Args:
        config: a TOML file, see `backend.systems.learning.config.Config`.
        system: the name of a system to train instead of the one in the file.
        progress: called with (name of the step, number done, number of all).

    Raises:
        InputError: the configuration, the release, the features or the negatives have problems.
        ProjectError: the folder `out` has other files, another process trains into it, or a GPU is asked for and there
            is none.
        EncoderUnavailable: the sentence encoder cannot be loaded.
    """
    return _train(read_config(config, system), progress)


def train_release(
    release: Path, fields: Mapping[str, Any], *, progress: Progress | None = None
) -> tuple[SeedReport, ...]:
    """Train a system on a release without a configuration file; otherwise like `train_model`.

    Args:
        release: the folder of the release.
        fields: the fields of `Config` that differ from their defaults; `features` and `out` are needed.
        progress: called with (name of the step, number done, number of all).
    """
    return _train(config_of({"release": str(release), **fields}, str(release), Path.cwd()), progress)


def _train(settings: Config, progress: Progress | None) -> tuple[SeedReport, ...]:
    require_room(Path(settings.out))
    for seed in settings.seeds:
        checkpoints.require_alone(loop.folder_of(settings, seed))
    device = loop.device_of(settings)
    material = _material(settings, progress)
    return tuple(loop.train(settings, material, seed, device, progress) for seed in settings.seeds)


def predict_run(
    folder: Path,
    out: Path,
    *,
    split: AskedSplit = "test",
    release: Path | None = None,
    features: Path | None = None,
    subtitles: Path | None = None,
    first_run: Path | None = None,
    pools: Path | None = None,
    nms: float | None = None,
    progress: Progress | None = None,
) -> PredictReport:
    """Predict moments with a trained model in the videos of a release, or of pools, and write them to a run file.

    Args:
        folder: the folder of one seed, made by `train_model`.
        out: the run file to make; it must not exist.
        split: the queries to answer: those of `val.json`, of `test.json`, or those of training, for which a system of
            two steps needs a first run.
        release: the folder of the release; None is the folder that training used.
        features: the file of features; None is the file that training used.
        subtitles: the file of subtitle features; None is the file that training used, if any.
        first_run: the run of the first step of a system of two steps; None is the one that training used.
        pools: a file of pools, whose queries are answered instead, each in the videos of its pool. No release is read.
        nms: the IoU, above 0 to 1, above which a better moment suppresses a worse one; None is what training used.
        progress: called with (name of the step, number done, number of all).

    Raises:
        InputError: the folder has no weights, or these need other features or another sentence encoder.
        ProjectError: `out` exists, or cannot be written.
        EncoderUnavailable: the sentence encoder cannot be loaded.
    """
    require_new_file(out)
    card, weights = checkpoints.read_best(folder)
    settings = checkpoints.read_settings(folder)
    home = Path(settings.release) if release is None else release
    files = msgspec.structs.replace(
        settings,
        features=str(features or settings.features),
        subtitles=str(subtitles) if subtitles else settings.subtitles,
    )
    device = loop.device_of(settings)
    pooled = None if pools is None else read_pools(pools)
    if pooled is not None:
        asked = pooled.queries
        queries = AskedQueries(str(pools), tuple(one.query_id for one in asked), tuple(one.text for one in asked))
    else:
        queries = _training_queries(home, settings.top) if split == "train" else _asked_queries(home / f"{split}.json")
    encoder = _encoder(settings)
    if encoder.identity != card.sentences:
        fault = f"was trained with the sentence encoder {card.sentences}, but `encoder` is now {encoder.identity}"
        raise InputError.single(folder, fault)
    sizes, cls = Sizes(card.frame_dim, card.sentence_dim, card.subtitle_dim), system_class(card.system)
    paths = {name: getattr(settings.model, name) for name in cls.path_fields}
    if first_run is not None:
        if "first_run" not in paths:
            raise InputError.single(first_run, f"is not needed: the system {card.system} has no first step")
        paths["first_run"] = str(first_run)
    try:
        model = msgspec.convert({**card.model, **paths}, cls.ModelOptions)
        loss = msgspec.convert(card.loss, cls.LossOptions)
    except msgspec.ValidationError as error:
        raise InputError.single(folder, f"does not fit this version of {card.system}: {error}") from None
    videos = _videos(home) if pooled is None else pooled.durations
    clips, frames = _clips(files, videos, model, sizes, progress)
    if frames != card.frames:
        fault = f"holds features of {frames}, but the model was trained with {card.frames}"
        raise InputError.single(files.features, fault)
    network = objective.network_of(card.system, sizes, model, loss).to(device)
    checkpoints.load_weights(network, weights, folder)
    texts = _encoded(encoder, queries.texts, settings, progress, words=cls.uses_words)
    first = None
    if (step := cls.first_step(model, loss)) is not None:
        first = read_first_run(step, clips.videos, others=pooled is not None)
        first.require(queries.ids, queries.file)
    options = card.predict if nms is None else msgspec.structs.replace(card.predict, nms=nms)
    if pooled is not None:
        options = options if first else msgspec.structs.replace(options, videos=pooled.size)
        first = within_pools(pooled, clips.videos, first)
    run = predicting.predict(
        network,
        clips,
        queries.ids,
        texts,
        options,
        card.longest,
        first=first,
        progress=steps_of(progress, "predicting"),
    )
    write_answers(out, run)
    return PredictReport(out, len(run), len(clips.videos), card.seed, card.epoch)


def _material(settings: Config, progress: Progress | None) -> TrainingMaterial:
    """Return the data that training needs, after checking that its files fit together.

    The files are the release, the features, and the negatives (similar queries and videos that do not match).
    """
    home, cls = Path(settings.release), system_class(settings.system)
    training = _training(home, settings.top)
    val = _asked_queries(home / "val.json")
    encoder = _encoder(settings)
    clips, frames = _clips(settings, _videos(home), settings.model, None, progress)
    pairs = read_pairs(training, clips, weighted=getattr(settings.loss, "weighted", None))
    texts = partial(_encoded, encoder, settings=settings, progress=progress, words=cls.uses_words)
    sampler = negative_queries = None
    if settings.negatives is not None:
        folder, uniform = Path(settings.negatives.folder), settings.negatives.draw == "uniform"
        negatives = read_negatives(folder)
        sampler = sampler_of_folder(negatives, folder, training.texts, pairs, clips, uniform=uniform)
        negative_queries = texts(negatives.queries) if cls.takes_negatives == "drawn" else None
    first = None
    if (step := cls.first_step(settings.model, settings.loss)) is not None:
        first = read_first_run(step, clips.videos)
        first.require(training.ids, training.file)
        first.require(val.ids, val.file)
    return TrainingMaterial(
        clips,
        pairs,
        texts(training.texts),
        val,
        texts(val.texts),
        frames,
        encoder.identity,
        sampler,
        negative_queries,
        first,
        training.ids,
    )


def _encoder(settings: Config) -> Encoder:
    return sentence.load(sentence.resolve(settings.encoder or sentence.DEFAULT_NAME, settings.encoder_kind))


def _encoded(
    encoder: Encoder, texts: tuple[str, ...], settings: Config, progress: Progress | None, *, words: bool
) -> EncodedTexts:
    folder = cache.shared_folder() if settings.embeddings is None else Path(settings.embeddings)
    vectors = cache.encode_cached(encoder, texts, folder, progress=steps_of(progress, "encoding sentences"))
    if not words:
        return EncodedTexts.without_tokens(vectors)
    tokens, starts = encode_tokens_cached(encoder, texts, folder, progress=steps_of(progress, "encoding tokens"))
    return EncodedTexts(vectors, tokens, starts)


def _videos(home: Path) -> Mapping[str, float]:
    videos, problems = release_entries.read_videos(file_bytes(home / VIDEO_MAP), str(home / VIDEO_MAP))
    if problems:
        raise InputError(problems)
    return videos


def _clips(
    settings: Config, videos: Mapping[str, float], model: msgspec.Struct, sizes: Sizes | None, progress: Progress | None
) -> tuple[Clips, str]:
    """Return the clips of all videos, and the identity of their features; `sizes` are those of a trained network.

    Raises:
        InputError: a file has problems, or does not fit the network.
    """
    dim, needed = (None, None) if sizes is None else (sizes.frame_dim, sizes.subtitle_dim)
    clips, identity = _features(settings.features, settings.rate, videos, model, dim, progress)
    if settings.subtitles is None:
        if needed:
            raise InputError.single(settings.features, "the model was trained with subtitles: name their file, too")
        return clips, identity
    if needed == 0:
        raise InputError.single(settings.subtitles, "the model was trained without subtitles: leave this file out")
    subtitles, of_subtitles = _features(settings.subtitles, settings.subtitle_rate, videos, model, needed, progress)
    return with_subtitles(clips, subtitles), f"{identity}; subtitles: {of_subtitles}"


def _features(
    file: str,
    rate: float | None,
    videos: Mapping[str, float],
    model: msgspec.Struct,
    dim: int | None,
    progress: Progress | None,
) -> tuple[Clips, str]:
    clip_s, clips = getattr(model, "clip_s", None), getattr(model, "clips", None)
    with open_features(Path(file), rate) as features:
        require_videos(features, videos)
        steps = steps_of(progress, "reading features")
        read = read_clips(features, file, videos, clip_s, clips=clips, dim=dim, progress=steps)
        return read, loop.identity_of(features.encoder, features.rate)


def _asked_queries(file: Path) -> AskedQueries:
    """Return the queries of a release's `val.json` or `test.json`; raise an `InputError` if it has problems."""
    entries = _queries(file, GradedMoment).entries
    queries = AskedQueries(
        str(file), tuple(entry.query_id for entry in entries), tuple(entry.query for entry in entries)
    )
    require_queries(queries)
    return queries


def _training_queries(home: Path, top: int) -> AskedQueries:
    training = _training(home, top)
    queries = AskedQueries(training.file, training.ids, training.texts)
    require_queries(queries)
    return queries


def _training(home: Path, top: int) -> TrainingSet:
    file = home / release_entries.training_file(top)
    if home.is_dir() and not file.is_file():
        available = ", ".join(sorted(path.name for path in home.glob("train_top*.json"))) or "none"
        raise InputError.single(home, f"has no {file.name} (field `top`); training sets there: {available}")
    entries = _queries(file, Moment).entries
    pairs = [
        TrainingPair(entry.row, place, moment.video_name, *moment.timestamp, moment.similarity)
        for place, entry in enumerate(entries)
        for _, moment in entry.moments
    ]
    texts, ids = (tuple(getattr(entry, name) for entry in entries) for name in ("query", "query_id"))
    return TrainingSet(str(file), texts, pairs, ids)


def _queries(file: Path, kind: type[AnyMoment]) -> Queries[AnyMoment]:
    queries = release_entries.read_queries(file_bytes(file), str(file), kind)
    if queries.problems:
        raise InputError(queries.problems)
    return queries
