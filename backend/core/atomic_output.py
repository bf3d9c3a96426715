"""Write output files and folders atomically, and refuse bad targets up front.

Output is made in a temporary folder beside its target, and moved into place when it is complete. The name of the
temporary folder tells which process made it, so that the next one to write there removes what a killed one left.
"""

import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from filecmp import cmp
from pathlib import Path

from backend.core.days import done_at
from backend.core.errors import AlreadyDone, ProjectError, ReelRankError
from backend.core.leftovers import remove_leftovers, temporary_prefix


def has_file(folder: Path, name: str) -> bool:
    """Return whether a folder that was named has a file of this name; False if nothing can be there."""
    with suppress(OSError):  # too long a name
        return (folder / name).is_file()
    return False


def require_new_folder(out: Path) -> None:
    """Check that a path can become a new folder, without making it; an existing empty folder is fine.

    Raises:
        ProjectError: something else exists there, or nothing can be made there.
    """
    remove_leftovers([out.resolve().parent])
    with _explained_errors(out):
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
    """Check that a path can become a new file, without making it.

    Raises:
        ProjectError: something exists there, or nothing can be made there.
    """
    remove_leftovers([out.resolve().parent])
    with _explained_errors(out):
        if out.exists():
            raise ProjectError.said("{out} exists already: ReelRank never overwrites, name another", out=out)
        require_room(out)


def require_room(out: Path) -> None:
    """Check that a file or folder can be made at a path, by making a temporary folder in its nearest existing parent.

    Permissions alone would not show that a disk is read-only. Missing parent folders are fine, and are not made.

    Raises:
        ProjectError: no file and no folder can be made there.
    """
    nearest = next(folder for folder in out.resolve().parents if folder.exists())
    if not nearest.is_dir():
        raise ProjectError.said("{out} cannot be written: {nearest} is not a folder", out=out, nearest=nearest)
    remove_leftovers([nearest])
    with _explained_errors(nearest), tempfile.TemporaryDirectory(prefix=temporary_prefix(), dir=nearest):
        pass


@contextmanager
def own_folder(place: Path) -> Iterator[Path]:
    """Provide a temporary folder beside `place`, on the same disk, and remove it with its content afterwards.

    First those that killed processes left there are removed.
    """
    remove_leftovers([place.parent])
    with tempfile.TemporaryDirectory(prefix=temporary_prefix(), dir=place.parent) as temporary:
        yield Path(temporary)


@contextmanager
def new_folder(out: Path, *, unless_has: str = "") -> Iterator[Path]:
    """Provide a folder to fill, which becomes `out` at the end; after an error nothing is left of it.

    With `unless_has`, the name of a file, an `out` that has this file is refused at the end instead of the beginning,
    so that the caller can compare it by `refuse_if_same`.

    Raises:
        ProjectError: see `require_new_folder`; or writing failed.
    """
    if not (unless_has and has_file(out, unless_has)):
        require_new_folder(out)
    with _explained_errors(out):
        place = out.resolve()
        place.parent.mkdir(parents=True, exist_ok=True)
        with own_folder(place) as temporary:
            part = temporary / "part"  # unlike the temporary folder it gets the permissions that folders have here
            part.mkdir()
            yield part
            require_new_folder(out)
            if place.exists():
                place.rmdir()
            part.rename(place)


def refuse_if_same(part: Path, out: Path) -> None:
    """Check whether a folder has all files of another, byte for byte, so that there is nothing left to write.

    Args:
        part: the folder with the files that are to be written.
        out: the folder that they are to be written to; it may be missing.

    Raises:
        AlreadyDone: it has; the message says when the last of them was written.
    """
    names = [file.relative_to(part) for file in part.rglob("*") if file.is_file()]
    if all((out / name).is_file() and cmp(part / name, out / name, shallow=False) for name in names):
        raise AlreadyDone(done_at(max((out / name).stat().st_mtime for name in names), None, time.time()))


@contextmanager
def new_files(folder: Path) -> Iterator[Path]:
    """Provide a folder to fill with files, which move into `folder` at the end and replace files of the same names.

    `folder` is made if it is missing.

    Raises:
        ProjectError: writing failed; then none of the files are in `folder`, or only some.
    """
    with _explained_errors(folder):
        folder.mkdir(parents=True, exist_ok=True)
        with own_folder(folder / "file") as temporary:
            yield temporary
            for part in sorted(temporary.iterdir()):
                part.replace(folder / part.name)


@contextmanager
def _explained_errors(out: Path) -> Iterator[None]:
    """Turn an `OSError` into a `ProjectError` that says what could not be written, and why."""
    try:
        yield
    except ReelRankError:
        raise
    except OSError as error:
        raise ProjectError.said(
            "{out} cannot be written: {strerror}. Choose another place.", out=out, strerror=error.strerror
        ) from error
