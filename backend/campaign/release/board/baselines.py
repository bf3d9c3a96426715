"""Write runs of baseline search systems, and files of frame features, for a project.

*Reads* queries, captions, moments, videos. *Writes* a run or a file of features. Computed vectors are stored in the
project, so that they are not computed again.
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
    """Search a project's validation and test queries with a baseline system, and write its predictions as a run file.

    Args:
        project: the project, whose encoder and stored vectors are used.
        by: the person who asks for it.
        name: one of `BASELINES`.
        out: the run file, which must not exist.
        options: options of the baseline.
        split: `val` or `test`; None for both.
        visual: the CLIP model of the baseline `clip`: its name, its folder, or `clip` for the default model.
        where: where sentences and frames are encoded: in processes of this machine, or on a cluster.
        progress: called with (name of the step, steps done, all steps).

    Raises:
        InputError: there is no such baseline, or the project lacks data that it needs, such as captions or video files.
        ProjectError: the file exists already, or the project has no queries.
        EncoderUnavailable: a model cannot be loaded.
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
    """Write frame features (CLIP vectors) of all videos of a project whose files are known, as HDF5.

    Args:
        project: the project. It stores the vectors too, so that an interrupted run continues where it stopped.
        by: the person who asks for it.
        out: the file, which must not exist.
        encoder: a CLIP model: its name, its folder, or `clip` for the default model.
        rate: vectors per second of video.
        where: where frames are encoded: in processes of this machine, or on a cluster.
        progress: called with (name of the step, steps done, all steps).

    Raises:
        InputError: no video can be read, or the encoder or the rate is invalid.
        ProjectError: the file exists already.
        EncoderUnavailable: the model cannot be loaded.
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
    """Return the queries, videos, captions and training moments of a project, as input of a search system.

    Moments whose caption is also a query are not training moments.
    """
    judged = (Split.VAL, Split.TEST)
    if split not in (None, *judged):
        raise ProjectError(f"{split!r} is not val or test: only these are judged")
    with reading(project.store) as db:
        judged_queries = queries.query_rows(db, judged)
        details = corpus.moment_details(db)
        captions = sorted(rows.searchable_captions(db), key=lambda caption: caption.moment_id)
        durations = corpus.video_durations(db)
        files = {name: project.source(facts) for name, facts in corpus.all_facts(db).items()}
    query_texts = {str(query.query_id): query.text for query in judged_queries if split in (None, query.split)}
    if not query_texts:
        raise ProjectError(
            f"there are no queries yet: draw them on the page Set up, or run `reelrank queries {project.folder}`"
        )
    texts = {query.text for query in judged_queries}
    known = [
        (caption.moment_id, KnownMoment(moment.video, moment.start_s, moment.end_s, caption.text.strip()))
        for caption in captions
        for moment in (details[caption.moment_id],)
    ]
    drawn = {moment_id for moment_id, moment in known if moment.caption in texts}
    training = dict.fromkeys(moment._replace(caption="") for moment_id, moment in known if moment_id not in drawn)
    return SearchTask(
        project.name,
        query_texts,
        durations,
        captions=[moment for _, moment in known],
        training=tuple(training),
        training_durations=durations,
        files=files,
    )
