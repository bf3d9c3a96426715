"""Write the run of a baseline: for the queries of files, or for any task.

*Reads* these files, and what is kept of sentences and frames. *Writes* vectors, which are kept, and the run.
"""

from dataclasses import dataclass
from pathlib import Path

from backend.core.atomic_output import require_new_file
from backend.core.progress import Progress
from backend.core.where import HERE, Where, placed
from backend.encoders import cache, sentence
from backend.encoders.clip import CLIP_NAME, load_clip
from backend.encoders.sentence import EncoderSpec
from backend.systems import baselines
from backend.systems.baselines import BASELINES, BaselineOptions
from backend.systems.model import SearchTask
from backend.systems.run_output import write_answers
from backend.systems.task_files import read_task

CLIP = "clip"
"""Short for the usual CLIP model of the model hub."""


@dataclass(frozen=True, slots=True)
class BaselineReport:
    """What was written, what the baseline has seen, and why videos are not in it that could not be looked at."""

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
    """Answer the queries of a truth file, or of the folder of a release, by a baseline; no project needed.

    Args:
        source: the truth, or the folder.
        name: one of `BASELINES`.
        out: the run file, which must not be there.
        options: of the baseline.
        videos: a map `name -> [duration, index]` of all videos; without one those of the truth are searched.
        training: a truth or training set that `prior` learns from; that of a release unless another is named.
        folder: of the video files, which `clip` looks at.
        split: of a release.
        encoder: of `caption`; SimCSE from the model hub unless another is named.
        kind: of the encoder.
        embeddings: where vectors are kept; the person's cache folder unless another is named.
        visual: the CLIP model of `clip`: its name, its folder, or `clip` for the usual one.
        where: where sentences and frames are encoded.
        progress: called with (what is done, done, all).

    Raises:
        InputError: there is no such baseline, or it lacks something that it needs.
        ProjectError: the file is there already.
        EncoderUnavailable: a model cannot be had.
    """
    spec = sentence.resolve(encoder or sentence.DEFAULT_NAME, kind)
    options = require_writable(name, out, options)
    task = read_task(source, videos=videos, training=training, folder=folder, split=split)
    return write_run(name, task, out, options, spec, visual, embeddings or cache.shared_folder(), where, progress)


def require_writable(name: str, out: Path, options: BaselineOptions | None) -> BaselineOptions:
    """Refuse, before the work, what cannot be written; return the options of the baseline.

    Raises:
        InputError: there is no such baseline, or it lacks a run.
        ProjectError: the file is there already.
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
    """Answer the queries of a task, and write the run."""
    found, unseen = baselines.answer(
        name,
        task,
        options,
        encoder=lambda: placed(sentence.load(spec), where),
        clip=lambda: placed(load_clip(clip_name(visual), advice("--visual")), where),
        embeddings=embeddings,
        progress=progress,
    )
    write_answers(out, found)
    predictions = sum(map(len, found.values()))
    return BaselineReport(name, BASELINES[name], len(found), predictions, len(task.queries) - len(found), unseen)


def clip_name(name: str) -> str:
    """Return the model of the hub that `clip` is short for; any other name is one."""
    return CLIP_NAME if name == CLIP else name


def advice(option: str) -> str:
    """Return what somebody may do where a CLIP model cannot be had."""
    return f"name the folder of one with {option}"
