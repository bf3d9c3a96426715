"""Makes a release in a process of its own: minutes of work that no page and no annotator may feel."""

from concurrent.futures import Future
from pathlib import Path

from backend import api
from backend.campaign.nouns import Person
from backend.campaign.release.export.model import ReleaseOptions
from backend.core import processes


def make(folder: Path, person: Person, options: ReleaseOptions, name: str, notes: str, now: float) -> tuple[str, bool]:
    """Runs in the worker, with a connection of its own; the name of the release, and whether it was made before."""
    report = api.export_release(api.open_project(folder), person, None, options, name=name, notes=notes, now=now)
    return report.name, report.again


def start(
    folder: Path, person: Person, options: ReleaseOptions, name: str, notes: str, now: float
) -> Future[tuple[str, bool]]:
    """Begins a release and returns at once; the process ends with its work."""
    return processes.alone(make, folder, person, options, name, notes, now)
