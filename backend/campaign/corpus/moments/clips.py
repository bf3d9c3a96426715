"""Find the clips and thumbnails of moments that need not be pairs: what runs predicted, what lists show.

*Reads* videos, moments. *Writes* nothing.
"""

from backend.campaign.corpus.importing import rows as corpus_rows
from backend.campaign.nouns import Lead
from backend.campaign.setup.people.permissions import lead_only
from backend.campaign.setup.project.folder import Project
from backend.core.errors import VideoUnreadable
from backend.core.messages import said
from backend.media.jobs import ClipJob, clip_job, predicted, thumbnail


@lead_only
def moment_clip(project: Project, lead: Lead, video: str, start_s: float, end_s: float) -> ClipJob:
    """Return the clip of any moment of a video; what lies after the video's end is left out.

    A moment of the project has the clip that annotators see; any other has one of its own kind, so that the doctor
    knows it from a clip that nobody needs.

    Raises:
        NotAllowed: not a lead.
        VideoUnreadable: the project has no file of that video, or the moment begins after its end.
    """
    job, own = _moment(project, video, start_s, end_s)
    return job if own else predicted(job)


@lead_only
def moment_thumbnail(project: Project, lead: Lead, video: str, start_s: float, end_s: float) -> ClipJob:
    """Return the thumbnail of any span of a video, such as a moment or all of it.

    Raises:
        NotAllowed: not a lead.
        VideoUnreadable: the project has no file of that video, or the span begins after its end.
    """
    job, own = _moment(project, video, start_s, end_s)
    return thumbnail(job) if own else predicted(thumbnail(job))


def _moment(project: Project, video: str, start_s: float, end_s: float) -> tuple[ClipJob, bool]:
    """The clip of a span, and whether the project has it as a moment."""
    facts = corpus_rows.video_facts(project.store.db, video)
    if facts is None:
        raise VideoUnreadable(said("the project has no file of the video {video}", video=video))
    source = project.source(facts)
    if corpus_rows.is_moment(project.store.db, video, start_s, end_s):
        return clip_job(project.clips, source, start_s, end_s, facts.sha256), True
    if start_s >= facts.duration_s:
        raise VideoUnreadable(
            said(
                "the moment begins at {start_s:.2f} s, after the video's end at {duration_s:.2f} s",
                start_s=start_s,
                duration_s=facts.duration_s,
            )
        )
    return clip_job(project.clips, source, start_s, min(end_s, facts.duration_s), facts.sha256), False
