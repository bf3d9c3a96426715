"""Return when the frames of a video are shown, for marks that are exact to the frame. Loads PyAV."""

from backend.campaign.corpus.describing.work import describe_clip
from backend.campaign.nouns import Annotator
from backend.campaign.setup.people import permissions
from backend.campaign.setup.project.folder import Project
from backend.media.frames import frame_times


@permissions.annotator_only
def describe_frames(project: Project, person: Annotator, video: str) -> list[float]:
    """Return the times of all frames of a video, in seconds on its own time line; the first need not be at 0.

    Raises:
        ProjectError: not theirs to describe, or they are paused.
        VideoUnreadable: there is no file, or nothing of it can be shown.
    """
    return frame_times(describe_clip(project, person, video).source)
