"""Write the run of a baseline for the queries of a truth file, a release, or any task.

*Reads* these files, and cached vectors of sentences and frames. *Writes* new vectors into the cache, and the run.
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
    """The outcome of writing a baseline's run: the counts, and the reason for each video that could not be read."""

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
    """Write the run of a baseline for a truth file or a release folder; no project is needed.

    Args:
        source: the truth file, or the folder of the release.
        name: one of `BASELINES`.
        out: the run file to make; it must not exist.
        options: see `BaselineOptions`.
        videos: a map `name -> [duration, index]` of all videos; None searches the videos of the truth.
        training: a truth or training set that `prior` learns from; None takes that of the release.
        folder: the folder of the video files, which `clip` needs.
        split: the split of a release.
        encoder: the sentence encoder of `caption`; None takes SimCSE from the model hub.
        kind: the kind of that encoder.
        embeddings: the folder that caches vectors; None takes the user's cache folder.
        visual: the CLIP model of `clip`: its name, its folder, or `clip` for the usual one.
        where: the processes or machines that encode sentences and frames.
        progress: called with (name of the step, number done, number of all).

    Raises:
        InputError: there is no such baseline, or it lacks an input.
        ProjectError: `out` exists.
        EncoderUnavailable: a model cannot be loaded.
    """
    spec = sentence.resolve(encoder or sentence.DEFAULT_NAME, kind)
    options = require_writable(name, out, options)
    task = read_task(source, videos=videos, training=training, folder=folder, split=split)
    return write_run(name, task, out, options, spec, visual, embeddings or cache.shared_folder(), where, progress)


def require_writable(name: str, out: Path, options: BaselineOptions | None) -> BaselineOptions:
    """Refuse a run that cannot be written, before any work; return the options of the baseline.

    Raises:
        InputError: there is no such baseline, or `prmr` lacks one of the two runs that it needs.
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
    """Answer the queries of a task by a baseline, and write the run."""
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
    """Return a model's name on the hub: `clip` is short for the usual one, other names stay."""
    return CLIP_NAME if name == CLIP else name


def advice(option: str) -> str:
    """Return the advice that is shown when a CLIP model cannot be loaded."""
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
    """Return the task of a truth, or of all truths of a release: queries, videos, moments.

    Args:
        source: a truth file, or the folder of a release.
        videos: a map `name -> [duration, index]` of all videos; None searches the videos that the truth names.
        training: a truth or training set for `prior`, with moments of other queries.
        folder: the folder of the video files.
        split: `val` or `test` of a release; None for both.

    Raises:
        InputError: a file has problems, or the folder is no release.
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
    """Return the distinct moments of a file, and the durations that it states."""
    lengths = read_facts(path).durations
    if moments := _moments(path):
        return tuple(dict.fromkeys(row._replace(caption="") for row in moments)), lengths
    truth = read_truth(path)
    columns = zip((truth.videos[n] for n in truth.video), truth.start_s.tolist(), truth.end_s.tolist(), strict=True)
    return tuple(dict.fromkeys(KnownMoment(*row) for row in columns)), {**truth.durations, **lengths}


def _moments(path: Path) -> list[KnownMoment]:
    """Return the moments of a file in the form of a release; an empty list for any other form.

    Raises:
        InputError: only a part of the file has this form.
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
    """Return the file of each video that has one in the folder."""
    from backend.media.video_folder import VideoFolder  # PyAV, which only those need who look at videos

    videos = VideoFolder(folder)
    files: dict[str, Source] = {}
    for name in names:
        try:
            files[name] = videos.find(name)
        except VideoUnreadable:
            continue  # whoever looks at videos tells which could not be looked at
    return files
