"""Makes a release in a process of its own: minutes of work that no page and no annotator may feel."""

from concurrent.futures import Future
from pathlib import Path

from backend import api
from backend.campaign.nouns import Person
from backend.ground import processes


def make(folder: Path, person: Person, with_published: bool, now: float) -> Path:
    """Runs in the worker, with a connection of its own; returns the finished zip."""
    return api.export_zip(api.open_project(folder), person, with_published=with_published, now=now)


def start(folder: Path, person: Person, with_published: bool, now: float) -> Future[Path]:
    """Begins a release and returns at once; the process ends with its work."""
    return processes.alone(make, folder, person, with_published, now)
