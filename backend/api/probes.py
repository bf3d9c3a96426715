"""How deep judging has to go."""

from pathlib import Path

from backend.campaign.nouns import Operator, Person
from backend.campaign.people import gate
from backend.campaign.project.folder import Project
from backend.campaign.review import probing
from backend.campaign.review.probing import ProbeReport


def write_probe_figures(project: Project, by: Person | Operator, out: Path) -> ProbeReport:
    """Write the figure of all probes, and its data, into a folder.

    Raises:
        ProjectError: nothing is probed, or nothing of it is judged yet.
    """
    gate.in_charge(project.store, by)
    return probing.write(project, out)
