"""Systems to compare with, and features for systems to learn from."""

from dataclasses import dataclass
from pathlib import Path

from backend.campaign.captions.rows import rewrites
from backend.campaign.corpus import rows as corpus
from backend.campaign.nouns import Operator, Person, Split
from backend.campaign.people import gate
from backend.campaign.project.folder import Project
from backend.campaign.queries import rows as queries
from backend.encoders import cache, sentence
from backend.encoders.clip import CLIP_NAME, load_clip
from backend.encoders.sentence import EncoderSpec
from backend.ground.arriving import require_new_file
from backend.ground.errors import ProjectError
from backend.ground.progress import Progress
from backend.ground.where import HERE, Where, placed
from backend.store.connection import reading
from backend.systems import baselines, extracting
from backend.systems.baselines import BASELINES, BaselineOptions
from backend.systems.extracting import FeaturesReport
from backend.systems.model import KnownMoment, SearchTask
from backend.systems.reading import read_task
from backend.systems.run_out import write_answers

CLIP = "clip"
"""Short for the usual CLIP model of the hub."""
_ADVICE = "name the folder of one with {option}"


@dataclass(frozen=True, slots=True)
class BaselineReport:
    """What was written, what the baseline has seen, and why videos are not in it that could not be looked at."""

    name: str
    seen: str
    queries: int
    predictions: int
    unanswered: int
    unseen: tuple[str, ...]


def write_baseline(
    project: Project,
    by: Person | Operator,
    name: str,
    out: Path,
    options: BaselineOptions | None = None,
    *,
    split: str | None = None,
    visual: str = CLIP,
    where: Where = HERE,
    progress: Progress | None = None,
) -> BaselineReport:
    """Answer the validation and test queries of a project by a baseline, and write the run.

    Args:
        project: the project, whose encoder and kept vectors are used.
        by: who does.
        name: one of `BASELINES`.
        out: the run file, which must not be there.
        options: of the baseline.
        split: `val` or `test`; None for both.
        visual: the CLIP model of `clip`: its name, its folder, or `clip` for the usual one.
        where: where sentences and frames are encoded.
        progress: called with (what is done, done, all).

    Raises:
        InputError: there is no such baseline, or it lacks something that it needs.
        ProjectError: the file is there already, or the project has no queries.
        EncoderUnavailable: a model cannot be had.
    """
    gate.in_charge(project.store, by)
    settings = project.settings
    spec = sentence.resolve(settings.encoder, settings.encoder_kind, settings.encoder_dtype)
    options = _ready(name, out, options)
    return _written(name, _task(project, split), out, options, spec, visual, project.embeddings, where, progress)


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
    """The same for a truth file, or for the folder of a release; no project needed.

    Args:
        source: the truth, or the folder.
        name: see `write_baseline`, as for what is not said here.
        out: see there.
        options: see there.
        videos: a map `name -> [duration, index]` of all videos; without one those of the truth are searched.
        training: a truth or training set that `prior` learns from; that of a release unless another is named.
        folder: of the video files, which `clip` looks at.
        split: of a release.
        encoder: of `caption`; SimCSE from the model hub unless another is named.
        kind: of the encoder.
        embeddings: where vectors are kept; the person's cache folder unless another is named.
        visual: see there.
        where: see there.
        progress: see there.
    """
    spec = sentence.resolve(encoder or sentence.DEFAULT_NAME, kind)
    options = _ready(name, out, options)
    task = read_task(source, videos=videos, training=training, folder=folder, split=split)
    return _written(name, task, out, options, spec, visual, embeddings or cache.shared_folder(), where, progress)


def write_frame_features(
    project: Project,
    by: Person | Operator,
    out: Path,
    *,
    encoder: str = CLIP,
    rate: float = 1.0,
    where: Where = HERE,
    progress: Progress | None = None,
) -> FeaturesReport:
    """Write the features of the frames of all videos of a project whose files are known, as HDF5.

    Args:
        project: the project, which keeps the vectors too: what was broken off goes on where it was.
        by: who does.
        out: the file, which must not be there.
        encoder: a CLIP model: its name, its folder, or `clip` for the usual one.
        rate: rows a second.
        where: where frames are encoded.
        progress: called with (what is done, done, all).

    Raises:
        InputError: no video can be looked at, or the name or the rate means nothing.
        ProjectError: the file is there already.
        EncoderUnavailable: the model cannot be had.
    """
    gate.in_charge(project.store, by)
    extracting.require_extractable(out, rate)
    with reading(project.store) as db:
        files = {name: project.source(facts) for name, facts in corpus.all_facts(db).items()}
        without_file = corpus.videos_without_file(db)
    clip = placed(load_clip(_clip_name(encoder), _ADVICE.format(option="--encoder")), where)
    return extracting.extract(
        files,
        clip,
        out,
        project.embeddings,
        per_s=rate,
        source=project.name,
        missing=without_file,
        progress=progress,
    )


def _ready(name: str, out: Path, options: BaselineOptions | None) -> BaselineOptions:
    options = options or BaselineOptions()
    baselines.require_baseline(name, options)
    require_new_file(out)
    return options


def _written(
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
    found, unseen = baselines.answer(
        name,
        task,
        options,
        encoder=lambda: placed(sentence.load(spec), where),
        clip=lambda: placed(load_clip(_clip_name(visual), _ADVICE.format(option="--visual")), where),
        embeddings=embeddings,
        progress=progress,
    )
    write_answers(out, found)
    predictions = sum(map(len, found.values()))
    return BaselineReport(name, BASELINES[name], len(found), predictions, len(task.queries) - len(found), unseen)


def _clip_name(name: str) -> str:
    return CLIP_NAME if name == CLIP else name


def _task(project: Project, split: str | None) -> SearchTask:
    """What a project gives to systems. Moments of captions with the text of a query are no training moments."""
    judged = (Split.VAL, Split.TEST)
    if split not in (None, *judged):
        raise ProjectError(f"{split!r} is not val or test: only these are judged")
    with reading(project.store) as db:
        asked = queries.query_rows(db, judged)
        details = corpus.moment_details(db)
        captions = sorted(rewrites.searchable_captions(db), key=lambda one: one.moment_id)
        durations = corpus.video_durations(db)
        files = {name: project.source(facts) for name, facts in corpus.all_facts(db).items()}
    wanted = {str(one.query_id): one.text for one in asked if split in (None, one.split)}
    if not wanted:
        raise ProjectError(f"there are no queries yet: run `reelrank queries {project.folder}` first")
    texts = {one.text for one in asked}
    known = [
        (one.moment_id, KnownMoment(of.video, of.start_s, of.end_s, one.text.strip()))
        for one in captions
        for of in (details[one.moment_id],)
    ]
    drawn = {moment_id for moment_id, one in known if one.caption in texts}
    training = dict.fromkeys(one._replace(caption="") for moment_id, one in known if moment_id not in drawn)
    return SearchTask(
        project.name,
        wanted,
        durations,
        captions=[one for _, one in known],
        training=tuple(training),
        training_durations=durations,
        files=files,
    )
