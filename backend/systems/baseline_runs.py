"""Answer queries with a baseline system, and write its run: a file with the predicted moments of each query.

*Reads* the queries from a truth file (the graded moments of each query) or a release folder, and cached vectors of
sentences and frames. *Writes* the run, and new vectors into the cache.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from backend.core.atomic_output import require_new_file
from backend.core.errors import InputError, VideoUnreadable
from backend.core.progress import Progress
from backend.core.reading import unpacked_bytes
from backend.core.release_entries import Moment, read_queries
from backend.core.where import HERE, Where, placed
from backend.encoders import cache, sentence
from backend.encoders.clip import CLIP_NAME, load_clip
from backend.encoders.sentence import EncoderSpec
from backend.media.sources import Source
from backend.scoring.files.facts import read_facts
from backend.scoring.files.formats import map_of, read_truth
from backend.scoring.files.release_folder import choose_truth, truths_in
from backend.systems import baselines
from backend.systems.baselines import BASELINES, BaselineOptions
from backend.systems.model import KnownMoment, SearchTask, write_answers

CLIP = "clip"
"""Short for the usual CLIP model of the model hub."""


@dataclass(frozen=True, slots=True)
class BaselineReport:
    """The outcome of writing a baseline's run.

    Attributes:
        name: the baseline.
        seen: what the baseline has seen of videos, queries and captions, in words.
        queries: the number of answered queries.
        predictions: the number of predicted moments of all queries.
        unanswered: the number of queries without an answer.
        unseen: for each video that could not be read, the reason.
    """

    name: str
    seen: str
    queries: int
    predictions: int
    unanswered: int
    unseen: tuple[str, ...]


def write_baseline_from_file(
    source: Path,
    name: str,
    out: Path,
    options: BaselineOptions | None = None,
    *,
    videos: Path | None = None,
    training: Path | None = None,
    folder: Path | None = None,
    split: str | None = None,
    encoder: str | None = None,
    kind: str | None = None,
    embeddings: Path | None = None,
    visual: str = CLIP,
    where: Where = HERE,
    progress: Progress | None = None,
) -> BaselineReport:
    """Answer the queries of a truth file or release with a baseline system, and write its run; no project is needed.

    A run is a file with the predicted moments of each query.

    Args:
        source: a truth file (the graded moments of each query), or the folder of a release.
        name: the baseline: `random`, `prior` (usual places of moments), `caption` (similar captions), `clip` (similar
            frames) or `two-step` (two runs combined).
        out: the run file to make; it must not exist.
        options: options of the baseline; None takes the defaults.
        videos: a JSON file of the videos to search, `{name: [duration in seconds, video number]}`. None takes the
            release's own file, or without one the videos that the truth names.
        training: a truth or training set that `prior` learns from; None takes the release's own.
        folder: the folder of the video files, which `clip` needs.
        split: `val` or `test`, to answer only these queries of a release; None answers both.
        encoder: the sentence encoder of `caption`; None takes SimCSE from the model hub.
        kind: the kind of the sentence encoder: "sup" or "unsup" (supervised or unsupervised SimCSE) or "minilm"; None
            derives it from the name.
        embeddings: the folder that caches vectors; None takes the user's cache folder.
        visual: the CLIP model of `clip`: its name, its folder, or `clip` for CLIP ViT-B/32.
        where: the processes or machines that encode sentences and frames.
        progress: called with (name of the step, number done, number of all).

    Raises:
        InputError: there is no such baseline, a file has problems, or the baseline lacks an input.
        ProjectError: `out` exists.
        EncoderUnavailable: a model cannot be loaded.
    """
    spec = sentence.resolve(encoder or sentence.DEFAULT_NAME, kind)
    options = require_writable(name, out, options)
    task = read_task(source, videos=videos, training=training, folder=folder, split=split)
    return write_run(name, task, out, options, spec, visual, embeddings or cache.shared_folder(), where, progress)


def require_writable(name: str, out: Path, options: BaselineOptions | None) -> BaselineOptions:
    """Check a baseline's name and options, and that the file `out` does not exist; return the options.

    Options of None become the defaults.

    Raises:
        InputError: there is no such baseline. Or it is `two-step`, which combines two runs (files of predicted
            moments), and the options name fewer than two.
        ProjectError: `out` exists.
    """
    options = options or BaselineOptions()
    baselines.require_baseline(name, options)
    require_new_file(out)
    return options


def write_run(
    name: str,
    task: SearchTask,
    out: Path,
    options: BaselineOptions,
    spec: EncoderSpec,
    visual: str,
    embeddings: Path,
    where: Where,
    progress: Progress | None,
) -> BaselineReport:
    """Answer the queries of a task with a baseline system, and write its run: a file with the predicted moments.

    Args:
        name: the name of the baseline.
        task: the queries and videos.
        out: the run file to make.
        options: the options of the baseline.
        spec: the sentence encoder, for the baseline `caption`.
        visual: the CLIP model, for the baseline `clip`: its name, its folder, or `clip` for CLIP ViT-B/32.
        embeddings: the folder that caches vectors.
        where: the processes or machines that encode sentences and frames.
        progress: called with (name of the step, number done, number of all).
    """
    answers, unseen = baselines.answer(
        name,
        task,
        options,
        encoder=lambda: placed(sentence.load(spec), where),
        clip=lambda: placed(load_clip(clip_name(visual), advice("--visual")), where),
        embeddings=embeddings,
        progress=progress,
    )
    write_answers(out, answers)
    predictions = sum(map(len, answers.values()))
    return BaselineReport(name, BASELINES[name], len(answers), predictions, len(task.queries) - len(answers), unseen)


def clip_name(name: str) -> str:
    """Return the name of a CLIP model on the model hub: `clip` stands for CLIP ViT-B/32, others are unchanged."""
    return CLIP_NAME if name == CLIP else name


def advice(option: str) -> str:
    """Return the advice for an unavailable CLIP model: to name its folder with this command-line option."""
    return f"name its folder with {option}"


TRAINING = "train_top01.json"
"""The file of a release with the moments of captions that no query was drawn from."""


def read_task(
    source: Path,
    *,
    videos: Path | None = None,
    training: Path | None = None,
    folder: Path | None = None,
    split: str | None = None,
) -> SearchTask:
    """Read the task of a baseline from files: the queries, the videos to search, and moments that some baselines use.

    Args:
        source: a truth file (the graded moments of each query), or the folder of a release.
        videos: a JSON file of the videos to search, `{name: [duration in seconds, video number]}`. None takes the
            release's own file, or without one the videos that the truths name.
        training: a truth or training set with moments of other queries, for the baseline `prior`; None takes the
            release's own.
        folder: the folder of the video files, for the baseline `clip`.
        split: `val` or `test`, to read only these queries of a release; None reads both.

    Raises:
        InputError: a file has problems, or the folder is not a release.
    """
    truths, videos = [source], None if videos is None else map_of(videos)
    if source.is_dir():
        truths = [choose_truth(source, split=split).path] if split else list(truths_in(source).values())
        videos = videos or _if_exists(map_of(source))
        training = training or _if_exists(source / TRAINING)
    elif split is not None and source.exists():
        raise InputError.single(source, "is a single truth, which has no splits: leave --split out")
    queries: dict[str, str] = {}
    durations: dict[str, float] = {}
    captions: dict[KnownMoment, None] = {}
    for path in truths:
        truth, facts = read_truth(path), read_facts(path, videos)
        queries |= {str(query): facts.texts.get(str(query), "") for query in truth.queries}
        durations |= dict(truth.durations) | dict(facts.durations)
        if missing := next((name for name in truth.videos if name not in durations), None):
            raise InputError.single(path, f"does not say how long video {missing} lasts: name a map of the videos")
        captions |= dict.fromkeys(moment for moment in _moments(path) if moment.caption)
    known, lengths = _training(training) if training else ((), {})
    return SearchTask(
        str(source),
        queries,
        durations,
        captions=tuple(captions),
        training=known,
        training_durations={**durations, **lengths},
        files=_files(folder, durations) if folder else {},
    )


def _if_exists(path: Path) -> Path | None:
    return path if path.exists() else None


def _training(path: Path) -> tuple[tuple[KnownMoment, ...], Mapping[str, float]]:
    """Return the distinct moments in a truth or training file, and the durations of its videos in seconds, by name.

    The captions of the moments are left empty.
    """
    lengths = read_facts(path).durations
    if moments := _moments(path):
        return tuple(dict.fromkeys(row._replace(caption="") for row in moments)), lengths
    truth = read_truth(path)
    columns = zip((truth.videos[n] for n in truth.video), truth.start_s.tolist(), truth.end_s.tolist(), strict=True)
    return tuple(dict.fromkeys(KnownMoment(*row) for row in columns)), {**truth.durations, **lengths}


def _moments(path: Path) -> list[KnownMoment]:
    """Return the moments of a release's truth or training file; an empty list if the file has another format.

    Raises:
        InputError: only a part of the file has the format of a release.
    """
    queries = read_queries(unpacked_bytes(path), str(path), Moment)
    if queries.entries and queries.problems:
        raise InputError(queries.problems)
    return [
        KnownMoment(moment.video_name, *moment.timestamp, moment.caption or "")
        for entry in queries.entries
        for _, moment in entry.moments
    ]


def _files(folder: Path, names: Sequence[str] | Mapping[str, float]) -> dict[str, Source]:
    """Return the video files in a folder by video name; videos without a file there are left out."""
    from backend.media.video_folder import VideoFolder  # PyAV, which only those need who look at videos

    videos = VideoFolder(folder)
    files: dict[str, Source] = {}
    for name in names:
        try:
            files[name] = videos.find(name)
        except VideoUnreadable:
            continue  # whoever looks at videos tells which could not be looked at
    return files
