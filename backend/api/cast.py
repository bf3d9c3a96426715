"""The cast: who is in the captions, and what takes the place of each name."""

from backend.campaign.captions import cast
from backend.campaign.captions.cast import CastReport
from backend.campaign.project.folder import Project


def propose_cast(project: Project) -> CastReport:
    """Write the names of the captions that the cast lacks, with a guess what they become, into `cast.csv`."""
    return cast.propose_cast(project)
