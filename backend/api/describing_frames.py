"""When the frames of a video are shown, for marks that are exact to the frame."""

from backend.campaign.corpus.describing import work
from backend.campaign.nouns import Person
from backend.campaign.setup.people import permissions
from backend.campaign.setup.project.folder import Project
from backend.media.frame_times import frame_times


def describe_frames(project: Project, person: Person, video: str) -> list[float]:
    """The times of all frames of a video, in seconds on its own time line; the first need not be at 0.

    Raises:
        NotAllowed: a lead.
        ProjectError: not theirs to describe.
        VideoUnreadable: there is no file, or nothing of it can be shown.
    """
    return frame_times(work.clip(project, permissions.require_annotator(project.store, person), video).source)
