"""Write baselines to compare with, and features for systems to learn from, of a project.

*Reads* queries, captions, moments, videos. *Writes* vectors, which are kept; a run, or a file of features.
"""

from pathlib import Path

from backend.campaign.corpus.captions import rows
from backend.campaign.corpus.importing import rows as corpus
from backend.campaign.nouns import Lead, Operator, Split
from backend.campaign.selection.queries import rows as queries
from backend.campaign.setup.people.permissions import in_charge
from backend.campaign.setup.project.folder import Project
from backend.core.errors import ProjectError
from backend.core.progress import Progress
from backend.core.where import HERE, Where, placed
from backend.encoders import sentence
from backend.encoders.clip import load_clip
from backend.store.connection import reading
from backend.systems import extracting
from backend.systems.baseline_runs import CLIP, BaselineReport, advice, clip_name, require_writable, write_run
from backend.systems.baselines import BaselineOptions
from backend.systems.extracting import FeaturesReport
from backend.systems.model import KnownMoment, SearchTask


@in_charge
def write_baseline(
    project: Project,
    by: Lead | Operator,
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
    settings = project.settings
    spec = sentence.resolve(settings.encoder, settings.encoder_kind, settings.encoder_dtype)
    options = require_writable(name, out, options)
    return write_run(name, _task(project, split), out, options, spec, visual, project.embeddings, where, progress)


@in_charge
def write_frame_features(
    project: Project,
    by: Lead | Operator,
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
    extracting.require_extractable(out, rate)
    with reading(project.store) as db:
        files = {name: project.source(facts) for name, facts in corpus.all_facts(db).items()}
        without_file = corpus.videos_without_file(db)
    clip = placed(load_clip(clip_name(encoder), advice("--encoder")), where)
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


def _task(project: Project, split: str | None) -> SearchTask:
    """Return what a project gives to systems; moments of captions with the text of a query are no training moments."""
    judged = (Split.VAL, Split.TEST)
    if split not in (None, *judged):
        raise ProjectError(f"{split!r} is not val or test: only these are judged")
    with reading(project.store) as db:
        asked = queries.query_rows(db, judged)
        details = corpus.moment_details(db)
        captions = sorted(rows.searchable_captions(db), key=lambda one: one.moment_id)
        durations = corpus.video_durations(db)
        files = {name: project.source(facts) for name, facts in corpus.all_facts(db).items()}
    wanted = {str(one.query_id): one.text for one in asked if split in (None, one.split)}
    if not wanted:
        raise ProjectError(
            f"there are no queries yet: draw them on the page Set up, or run `reelrank queries {project.folder}`"
        )
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
