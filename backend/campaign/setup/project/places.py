"""List every file and folder that ReelRank writes in a project, and refuse links that lead out of the project.

A project folder may come from a stranger. If `cache/clips` were a link, ReelRank would delete old files in the folder
to which it leads.
"""

import os
from collections.abc import Iterable, Iterator
from contextlib import suppress
from fnmatch import fnmatchcase
from pathlib import Path

from backend.core import leftovers
from backend.core.errors import ProjectError
from backend.core.file_system import leads_out
from backend.core.messages import said

DATABASE_FILE, SETTINGS_FILE = "reelrank.db", "reelrank.toml"
PLACES = (
    DATABASE_FILE,
    SETTINGS_FILE,
    "reelrank.*",  # what SQLite keeps beside the database, and copies of earlier databases
    "served-at.txt",
    "cast.csv",
    ".streamlit",
    ".streamlit/*",
    "cache",
    "cache/*",
    "cache/embeddings/*",
    "releases",
    "backups",
    "backups/*",
    "videos",
    "files",
    "pooled",
)
"""Paths in the project folder, each after its parent; `*` stands for any name."""


def is_project(folder: Path) -> bool:
    """Return whether a folder contains a project, even one that cannot be opened."""
    return (folder / DATABASE_FILE).exists() or (folder / SETTINGS_FILE).exists()


def projects_in(folder: Path) -> list[Path]:
    """Return the projects that lie in a folder which is no project itself, sorted by name; hidden folders do not count.

    The result is empty if the folder is a project, or is missing.
    """
    if is_project(folder) or not folder.is_dir():
        return []
    return sorted(inner for inner in folder.iterdir() if not inner.name.startswith(".") and is_project(inner))


def require_inside(folder: Path) -> None:
    """Refuse a project folder with links through which files outside it would be read, overwritten or deleted.

    Raises:
        ProjectError: a file or folder that ReelRank writes (see `PLACES`) is a link that leads out of the project.
    """
    for place in entries(folder):
        if os.path.islink(place) and leads_out(place, folder):
            raise ProjectError(
                said(
                    "{place} is a link to {target}, outside the project: put the file or folder itself "
                    "there. To keep a folder on another disk, mount that disk there (see docs/video-files.md)",
                    place=place,
                    target=os.path.realpath(place),
                )
            )


def remove_leftovers(folder: Path) -> None:
    """Remove what killed processes left where commands write in a project; see `backend.core.leftovers`."""
    caches = _folders_in(
        [folder / place for place in ("cache", "cache/embeddings") if not os.path.islink(folder / place)]
    )
    leftovers.remove_leftovers([folder, *_folders_in([folder]), *caches])


def _folders_in(folders: Iterable[Path]) -> Iterator[Path]:
    """Yield the folders in these folders; links are left out."""
    for folder in folders:
        with suppress(OSError), os.scandir(folder) as found:
            yield from (Path(entry) for entry in found if entry.is_dir(follow_symlinks=False))


def entries(folder: Path) -> Iterator[Path]:
    """Yield the path of each file and folder that ReelRank may write in a project, as listed in `PLACES`.

    For a pattern such as `cache/*`, yield all files and folders that match it.
    """
    for place in PLACES:
        path = folder / place
        if "*" not in path.name:
            yield path
        elif os.path.isdir(path.parent):
            with suppress(PermissionError):  # opening the database reports it in words
                names = sorted(os.listdir(path.parent))
                yield from (path.parent / name for name in names if fnmatchcase(name, path.name))
