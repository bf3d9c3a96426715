"""Open a release that somebody handed on: a folder, or a zip with the files or with one folder of them.

*Reads* files. *Writes* nothing.
"""

import hashlib
import zipfile
import zlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path, PurePosixPath
from typing import IO

from backend.core.errors import InputError
from backend.core.file_system import require_own
from backend.core.messages import said
from backend.core.reading import LARGEST_UNPACKED

_NOT_OURS = ("__MACOSX", ".DS_Store", "Thumbs.db")
"""What other programs put beside the files of a folder, or into a zip."""


MOST_MEMBERS = 10_000
"""Files in a zip."""

Opener = Callable[[], IO[bytes]]
"""Opens one file to be read."""


@dataclass(frozen=True, slots=True)
class ReleaseFiles:
    """The files of a release by their names, such as `val.json`; those in a folder of it as `data/val.parquet`."""

    name: str
    """What the folder or zip is called."""
    places: Mapping[str, Opener]

    def read(self, file: str) -> bytes:
        """The bytes of a file.

        Raises:
            InputError: they cannot be read.
        """
        with self._opened(file) as stream:
            return stream.read()

    def sha256(self, file: str) -> str:
        """The SHA-256 of a file, of which only a part is held at once.

        Raises:
            InputError: it cannot be read.
        """
        digest = hashlib.sha256()
        with self._opened(file) as stream:
            while part := stream.read(1 << 20):
                digest.update(part)
        return digest.hexdigest()

    @contextmanager
    def _opened(self, file: str) -> Iterator[IO[bytes]]:
        try:
            with self.places[file]() as stream:
                yield stream
        except (OSError, zipfile.BadZipFile, zlib.error, EOFError, RuntimeError, NotImplementedError) as error:
            # A zip may be damaged in one member, or locked with a password.
            raise InputError.single(
                file, said("cannot be read: {fault}", fault=getattr(error, "strerror", None) or error)
            ) from None


@contextmanager
def opened(path: Path) -> Iterator[ReleaseFiles]:
    """The files of a release folder or zip.

    Raises:
        InputError: it is neither, or empty, or a file of it is a link out of the folder.
    """
    if path.is_dir():
        places = {
            file.relative_to(path).as_posix(): _opener(require_own(file, path))
            for file in sorted(path.rglob("*"))
            if file.is_file()
        }
        yield _found(path, path.resolve().name, places)
        return
    if not path.exists():
        raise InputError.single(path, said("is not there: name the folder or the zip of a release"))
    try:
        archive = zipfile.ZipFile(path)
    except (zipfile.BadZipFile, OSError):
        raise InputError.single(path, said("is neither a folder nor a zip: name those of a release")) from None
    with archive:
        members = [info for info in archive.infolist() if not info.is_dir()]
        if len(members) > MOST_MEMBERS:
            raise InputError.single(
                path,
                said("has more than {most} files: if that is right, unpack it yourself", most=MOST_MEMBERS),
            )
        if sum(info.file_size for info in members) > LARGEST_UNPACKED:
            message = said(
                "unpacks to more than {largest:g} GiB: if that is right, unpack it yourself",
                largest=LARGEST_UNPACKED / 2**30,
            )
            raise InputError.single(path, message)
        yield _found(path, path.stem, _without_folder({info.filename: partial(archive.open, info) for info in members}))


def _opener(file: Path) -> Opener:
    return lambda: file.open("rb")


def _without_folder(members: Mapping[str, Opener]) -> dict[str, Opener]:
    """The members by their names within the one folder that holds all of them, if one does."""
    ours = {name: member for name, member in members.items() if not _foreign(name)}
    tops = {PurePosixPath(name).parts[0] for name in ours}
    if len(tops) == 1 and all("/" in name for name in ours):
        return {name.split("/", 1)[1]: member for name, member in ours.items()}
    return ours


def _found(path: Path, name: str, places: Mapping[str, Opener]) -> ReleaseFiles:
    files = {file: place for file, place in places.items() if not _foreign(file)}
    if not files:
        raise InputError.single(path, said("is empty: a release has val.json, test.json and others"))
    return ReleaseFiles(name, files)


def _foreign(file: str) -> bool:
    return any(part in _NOT_OURS for part in PurePosixPath(file).parts)
