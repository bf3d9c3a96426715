"""Write output files and folders atomically, and refuse bad targets up front.

What is being made lies in a folder beside its place. Nobody else's folder has such a name, so only that one is ever
cleared away.
"""

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from backend.core.errors import ProjectError, ReelRankError

OURS = ".reelrank-"
"""How the names of such folders begin; one that is found was left by a process that was killed."""


def require_new_folder(out: Path) -> None:
    """Refuse what cannot become a new folder. Nothing is made yet; an empty folder is as good as none.

    Raises:
        ProjectError: something is there, or cannot be made there.
    """
    with _told(out):
        place = out.resolve()
        if place == Path.cwd():
            raise ProjectError.said(
                "{out} is the current folder: name a new one, such as {example}", out=out, example=out / "release-1"
            )
        if place.is_dir():
            if any(place.iterdir()):
                raise ProjectError.said(
                    "{out} exists already and is not empty: ReelRank never overwrites, name a new folder", out=out
                )
            if place.is_mount():
                raise ProjectError.said("{out} is a mounted disk: name a new folder in it", out=out)
        elif place.exists():
            raise ProjectError.said("{out} is a file: name a new folder", out=out)
        require_room(place)


def require_new_file(out: Path) -> None:
    """Refuse what cannot become a new file. Nothing is made yet.

    Raises:
        ProjectError: something is there, or cannot be made there.
    """
    with _told(out):
        if out.exists():
            raise ProjectError.said("{out} exists already: ReelRank never overwrites, name another", out=out)
        require_room(out)


def require_room(out: Path) -> None:
    """Refuse a place in which nothing can be made: by trying, because rights do not tell of a read-only disk.

    Folders that are missing on the way are no hindrance, and are not made.

    Raises:
        ProjectError: no file and no folder can be made there.
    """
    nearest = next(folder for folder in out.resolve().parents if folder.exists())
    if not nearest.is_dir():
        raise ProjectError.said("{out} cannot be written: {nearest} is not a folder", out=out, nearest=nearest)
    with _told(nearest), tempfile.TemporaryDirectory(prefix=OURS, dir=nearest):
        pass


@contextmanager
def own_folder(place: Path) -> Iterator[Path]:
    """A folder of ours beside `place`, on the same disk, gone afterwards with all that is in it."""
    with tempfile.TemporaryDirectory(prefix=OURS, dir=place.parent) as own:
        yield Path(own)


@contextmanager
def new_folder(out: Path) -> Iterator[Path]:
    """A folder to fill that becomes `out` once it is whole; nothing is left of a failure.

    Raises:
        ProjectError: see `require_new_folder`; or the disk does not do what it is told.
    """
    require_new_folder(out)
    with _told(out):
        place = out.resolve()
        place.parent.mkdir(parents=True, exist_ok=True)
        with own_folder(place) as own:
            part = own / "part"  # in it and not itself: what arrives has the rights that folders have here
            part.mkdir()
            yield part
            if place.exists():
                place.rmdir()
            part.rename(place)


@contextmanager
def new_files(folder: Path) -> Iterator[Path]:
    """A folder to fill with files that go into `folder` once all are whole; a file of the same name is replaced.

    `folder` is made where it is missing.

    Raises:
        ProjectError: the disk does not do what it is told; then none has gone there, or only some.
    """
    with _told(folder):
        folder.mkdir(parents=True, exist_ok=True)
        with own_folder(folder / "file") as own:
            yield own
            for part in sorted(own.iterdir()):
                part.replace(folder / part.name)


def last_written(own: Path) -> float:
    """When somebody last wrote into a folder of ours, in seconds since 1970; what goes meanwhile counts no more."""
    newest = 0.0
    for path in (own, *own.rglob("*")):
        with suppress(FileNotFoundError):
            newest = max(newest, path.lstat().st_mtime)
    return newest


@contextmanager
def _told(out: Path) -> Iterator[None]:
    """Say what could not be written, and why, in words for a person."""
    try:
        yield
    except ReelRankError:
        raise
    except OSError as error:
        raise ProjectError.said(
            "{out} cannot be written: {strerror}. Choose another place.", out=out, strerror=error.strerror
        ) from error
