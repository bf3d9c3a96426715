"""Open a release: a folder, or a zip that holds the files, perhaps within one folder.

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

_SYSTEM_FILES = ("__MACOSX", ".DS_Store", "Thumbs.db")
"""Names of files and folders that operating systems add to folders and zips."""


MOST_MEMBERS = 10_000
"""The largest number of files in a zip."""

Opener = Callable[[], IO[bytes]]
"""A function that opens one file for reading."""


@dataclass(frozen=True, slots=True)
class ReleaseFiles:
    """The files of a release by name, such as `val.json`, or `data/val.parquet` for a file in a subfolder.

    `places` maps each name to a function that opens the file.
    """

    name: str
    """Name of the folder, or of the zip without its ending."""
    places: Mapping[str, Opener]

    def read(self, file: str) -> bytes:
        """Return the bytes of a file.

        Raises:
            InputError: the file cannot be read.
        """
        with self._open(file) as stream:
            return stream.read()

    def sha256(self, file: str) -> str:
        """Return the SHA-256 of a file, in hexadecimal digits. Large files are read piece by piece.

        Raises:
            InputError: the file cannot be read.
        """
        digest = hashlib.sha256()
        with self._open(file) as stream:
            while part := stream.read(1 << 20):
                digest.update(part)
        return digest.hexdigest()

    @contextmanager
    def _open(self, file: str) -> Iterator[IO[bytes]]:
        try:
            with self.places[file]() as stream:
                yield stream
        except (OSError, zipfile.BadZipFile, zlib.error, EOFError, RuntimeError, NotImplementedError) as error:
            # One file of a zip may be damaged, or need a password.
            raise InputError.single(
                file, said("cannot be read: {fault}", fault=getattr(error, "strerror", None) or error)
            ) from None


@contextmanager
def open_release(path: Path) -> Iterator[ReleaseFiles]:
    """Open a release folder or zip, and yield its files.

    Raises:
        InputError: the path is neither a folder nor a zip; it is empty or too large; or a file is a link out of the
            folder.
    """
    if path.is_dir():
        places = {
            file.relative_to(path).as_posix(): _opener(require_own(file, path))
            for file in sorted(path.rglob("*"))
            if file.is_file()
        }
        yield _release_files(path, path.resolve().name, places)
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
        yield _release_files(
            path, path.stem, _without_folder({info.filename: partial(archive.open, info) for info in members})
        )


def _opener(file: Path) -> Opener:
    return lambda: file.open("rb")


def _without_folder(members: Mapping[str, Opener]) -> dict[str, Opener]:
    """Return the files of a zip by name. If one folder holds all of them, the names are relative to it."""
    files = {name: member for name, member in members.items() if not _is_system_file(name)}
    tops = {PurePosixPath(name).parts[0] for name in files}
    if len(tops) == 1 and all("/" in name for name in files):
        return {name.split("/", 1)[1]: member for name, member in files.items()}
    return files


def _release_files(path: Path, name: str, places: Mapping[str, Opener]) -> ReleaseFiles:
    files = {file: place for file, place in places.items() if not _is_system_file(file)}
    if not files:
        raise InputError.single(path, said("is empty: a release has val.json, test.json and others"))
    return ReleaseFiles(name, files)


def _is_system_file(file: str) -> bool:
    return any(part in _SYSTEM_FILES for part in PurePosixPath(file).parts)
