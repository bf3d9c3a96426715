"""Train a model on a release, and predict moments with a trained model; no project is needed.

*Reads* a configuration, a release, features of frames, and negatives (similar queries and videos that do not match).
*Writes* a folder for each random seed, or a run: a file with the predicted moments of each query.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from backend.core import release_entries
from backend.core.atomic_output import require_new_file, require_room
from backend.core.errors import InputError
from backend.core.progress import Progress, steps_of
from backend.core.reading import file_bytes
from backend.core.release_entries import AnyMoment, GradedMoment, Moment, Queries
from backend.encoders import cache, sentence
from backend.encoders.sentence import Encoder, FloatArray
from backend.scoring.files.formats import VIDEO_MAP
from backend.systems.feature_files import Features, open_features, require_videos
from backend.systems.learning import checkpoints, loop, predicting
from backend.systems.learning.config import Config, read_config
from backend.systems.learning.loop import SeedReport
from backend.systems.learning.material import (
    AskedQueries,
    Clips,
    TrainingPair,
    TrainingSet,
    read_clips,
    read_pairs,
    require_queries,
)
from backend.systems.learning.network import LateInteraction
from backend.systems.learning.objective import TrainingMaterial
from backend.systems.learning.rivals import Rivals
from backend.systems.model import write_answers
from backend.training import read_negatives

AskedSplit = Literal["val", "test"]


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


def train_model(config: Path, *, progress: Progress | None = None) -> tuple[SeedReport, ...]:
    """Train a model with each random seed of a configuration, and return one report for each seed.

    Trainings that were stopped continue, and finished ones are kept.

    Args:
        config: a TOML file, see `backend.systems.learning.config.Config`.
        progress: called with (name of the step, number done, number of all).

    Raises:
        InputError: the configuration, the release, the features or the negatives have problems.
        ProjectError: the folder `out` has other files, another process trains into it, or a GPU is asked for and there
            is none.
        EncoderUnavailable: the sentence encoder cannot be loaded.
    """
    settings = read_config(config)
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
    progress: Progress | None = None,
) -> PredictReport:
    """Predict moments with a trained model in all videos of a release, and write them to a run file.

    Args:
        folder: the folder of one seed, made by `train_model`.
        out: the run file to make; it must not exist.
        split: the queries to answer: those of `val.json` or of `test.json`.
        release: the folder of the release; None is the folder that training used.
        features: the file of features; None is the file that training used.
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
    file = Path(settings.features) if features is None else features
    device = loop.device_of(settings)
    queries = _asked_queries(home / f"{split}.json")
    encoder = _encoder(settings)
    if encoder.identity != card.sentences:
        fault = f"was trained with the sentence encoder {card.sentences}, but `encoder` is now {encoder.identity}"
        raise InputError.single(folder, fault)
    with open_features(file, settings.rate) as opened:
        if (made := loop.identity_of(opened.encoder, opened.rate)) != card.frames:
            fault = f"holds features of {made}, but the model was trained with {card.frames}"
            raise InputError.single(file, fault)
        clips = _clips(opened, file, home, card.model.clip_s, card.frame_dim, progress)
    network = LateInteraction(card.shape).to(device)
    checkpoints.load_weights(network, weights, folder)
    vectors = _vectors(encoder, queries.texts, settings, progress)
    run = predicting.predict(
        network, clips, queries.ids, vectors, card.predict, card.longest, progress=steps_of(progress, "predicting")
    )
    write_answers(out, run)
    return PredictReport(out, len(run), len(clips.videos), card.seed, card.epoch)


def _material(settings: Config, progress: Progress | None) -> TrainingMaterial:
    """Return the data that training needs, after checking that its files fit together.

    The files are the release, the frame features, and the negatives (similar queries and videos that do not match).
    """
    home, file = Path(settings.release), Path(settings.features)
    training = _training(home, settings.top)
    val = _asked_queries(home / "val.json")
    encoder = _encoder(settings)
    with open_features(file, settings.rate) as features:
        frames = loop.identity_of(features.encoder, features.rate)
        clips = _clips(features, file, home, settings.model.clip_s, None, progress)
    pairs = read_pairs(training, clips, weighted=settings.loss.weighted)
    rivals = rival_vectors = None
    if settings.negatives is not None:
        folder, uniform = Path(settings.negatives.folder), settings.negatives.draw == "uniform"
        rivals = Rivals(read_negatives(folder), folder, training.texts, pairs, clips, uniform=uniform)
        rival_vectors = _vectors(encoder, rivals.negatives.queries, settings, progress)
    vectors = _vectors(encoder, training.texts, settings, progress)
    val_vectors = _vectors(encoder, val.texts, settings, progress)
    return TrainingMaterial(clips, pairs, vectors, val, val_vectors, frames, encoder.identity, rivals, rival_vectors)


def _encoder(settings: Config) -> Encoder:
    return sentence.load(sentence.resolve(settings.encoder or sentence.DEFAULT_NAME, settings.encoder_kind))


def _vectors(encoder: Encoder, texts: tuple[str, ...], settings: Config, progress: Progress | None) -> FloatArray:
    folder = cache.shared_folder() if settings.embeddings is None else Path(settings.embeddings)
    return cache.encode_cached(encoder, texts, folder, progress=steps_of(progress, "encoding sentences"))


def _clips(
    features: Features, file: Path, home: Path, clip_s: float, dim: int | None, progress: Progress | None
) -> Clips:
    videos, problems = release_entries.read_videos(file_bytes(home / VIDEO_MAP), str(home / VIDEO_MAP))
    if problems:
        raise InputError(problems)
    require_videos(features, videos)
    return read_clips(features, str(file), videos, clip_s, dim=dim, progress=steps_of(progress, "reading features"))


def _asked_queries(file: Path) -> AskedQueries:
    """Return the queries of a release's `val.json` or `test.json`; raise an `InputError` if it has problems."""
    entries = _queries(file, GradedMoment).entries
    queries = AskedQueries(
        str(file), tuple(entry.query_id for entry in entries), tuple(entry.query for entry in entries)
    )
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
    return TrainingSet(str(file), tuple(entry.query for entry in entries), pairs)


def _queries(file: Path, kind: type[AnyMoment]) -> Queries[AnyMoment]:
    queries = release_entries.read_queries(file_bytes(file), str(file), kind)
    if queries.problems:
        raise InputError(queries.problems)
    return queries
