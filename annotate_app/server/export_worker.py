"""Makes a release in a process of its own: minutes of work that no page and no annotator may feel."""

from concurrent.futures import Future
from pathlib import Path

from backend import api
from backend.campaign.nouns import Person
from backend.campaign.release.model import ReleaseOptions
from backend.ground import processes


def make(folder: Path, person: Person, options: ReleaseOptions, now: float) -> Path:
    """Runs in the worker, with a connection of its own; returns the finished zip."""
    return api.export_zip(api.open_project(folder), person, options, now=now)


def start(folder: Path, person: Person, options: ReleaseOptions, now: float) -> Future[Path]:
    """Begins a release and returns at once; the process ends with its work."""
    return processes.alone(make, folder, person, options, now)
