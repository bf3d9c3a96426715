"""How deep judging has to go."""

from pathlib import Path

from backend.campaign.nouns import Operator, Person
from backend.campaign.review import probes
from backend.campaign.review.probes import ProbeReport
from backend.campaign.setup.people import permissions
from backend.campaign.setup.project.folder import Project


def write_probe_figures(project: Project, by: Person | Operator, out: Path) -> ProbeReport:
    """Write the figure of all probes, and its data, into a folder.

    Raises:
        ProjectError: nothing is probed, or nothing of it is judged yet.
    """
    permissions.require_in_charge(project.store, by)
    return probes.write(project, out)
