"""Find videos by name, in a folder or below an address."""

import os
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path, PurePath, PurePosixPath
from urllib.parse import unquote

from backend.core.addresses import Address, Place, place_of
from backend.core.errors import InputError, VideoUnreadable
from backend.core.file_system import leads_out
from backend.core.messages import said
from backend.core.text_files import utf8
from backend.core.typed_text import nfc
from backend.media.remote import listed, whole
from backend.media.sources import is_picture

EXTENSIONS = (
    *(".mp4", ".mkv", ".webm", ".avi", ".mov", ".m4v"),
    *(".mpg", ".mpeg", ".wmv", ".3gp", ".3g2", ".mts", ".m2ts"),  # as people's cameras named them, in DiDeMo
    *(".ts", ".vob", ".flv", ".ogv"),
)
"""Extensions of video files; of files that differ only in their extension, the one listed first here is used."""


class VideoFolder:
    """The videos in a folder and its subfolders, indexed once by name.

    A video is a file with one of `EXTENSIONS`, or a folder that holds frames but no video file. Links out of the folder
    are ignored, because its author could make them show a reader's private files. The folder itself may be a link.

    Names are compared in their composed form (NFC), because macOS returns file names decomposed.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._paths: dict[str, list[Path]] = defaultdict(list)
        files, folders, links = _videos_below(folder)
        for path in sorted(files, key=lambda path: (EXTENSIONS.index(path.suffix.lower()), path)):
            for name in _names(path.relative_to(folder)):
                self._paths[name].append(path)
        for path in sorted(folders):
            for name in {nfc(path.name), nfc(path.relative_to(folder).as_posix())}:
                self._paths[name].append(path)
        self._videos = {*files, *folders}
        self._links = {path: _names(path.relative_to(folder)) for path in sorted(links)}

    @property
    def links(self) -> tuple[Path, ...]:
        """Links out of the folder that are named like a video or lead to a folder; they are not followed."""
        return tuple(self._links)

    @property
    def videos(self) -> frozenset[Path]:
        """All video files and folders of frames."""
        return frozenset(self._videos)

    @property
    def clashes(self) -> list[Path]:
        """Videos whose names differ from another name in the same folder only in the Unicode form.

        Nobody can tell which of the two files an annotation means, so neither is used.
        """
        return [path for paths in self._paths.values() for path in paths[1:] if _clash([paths[0], path])]

    def named(self) -> dict[str, Path]:
        """Return every video by its path in the folder without extension, in order of these paths.

        Of files that differ only in their extension, only the file that `find` would return is included. Videos in
        `clashes` are left out.
        """
        relative = {path: path.relative_to(self._folder) for path in self._videos}
        places = {nfc((at if path.is_dir() else at.with_suffix("")).as_posix()) for path, at in relative.items()}
        return {place: self._paths[place][0] for place in sorted(places) if not _clash(self._paths[place])}

    def find(self, name: str) -> Path:
        """Return the file or folder of frames that an annotation calls `name`, with or without extension or subfolder.

        Files of the folder itself come before those in subfolders. An extension in the annotation that no file has
        (`dog.avi` for `dog.mp4`) is ignored.

        Raises:
            VideoUnreadable: there is no such file, several subfolders have one, two names in one folder are canonically
                equal, or it is a link out of the folder.
        """
        names = _candidates(name)
        for candidate in names:
            paths = self._paths.get(candidate, [])
            paths = [path for path in paths if path.parent == self._folder] or paths
            if len({path.parent for path in paths}) > 1:
                places = ", ".join(path.relative_to(self._folder).as_posix() for path in paths)
                raise VideoUnreadable.about(
                    name,
                    said(
                        "several video files have that name in {folder}: {places}", folder=self._folder, places=places
                    ),
                )
            if _clash(paths):
                raise VideoUnreadable.about(name, CLASH)
            if paths:
                return paths[0]
        linked = any(candidate in known for candidate in names for known in self._links.values())
        why = LINK_OUT if linked else said("no video file in {folder}", folder=self._folder)
        raise VideoUnreadable.about(name, why)


CLASH = said(
    "two videos of the folder have the same name, and differ only in how Unicode writes its "
    "letters: rename or remove one"
)


LINK_OUT = said(
    "is a link out of the folder, which is not followed: put the file itself there, or name the folder in which it lies"
)


def _names(place: PurePath) -> set[str]:
    """Return the names by which annotations may refer to a file in the folder."""
    return set(map(nfc, (place.name, place.stem, place.as_posix(), place.with_suffix("").as_posix())))


def _candidates(name: str) -> list[str]:
    """Return the names to look up for a name in an annotation: as it is, and without its extension."""
    at = PurePosixPath(nfc(name))
    return [nfc(name), *([at.with_suffix("").as_posix()] if at.suffix.lower() in EXTENSIONS else [])]


def _clash(paths: Sequence[Place]) -> bool:
    """Return whether the first of several paths differs from another one only in its Unicode form."""
    return any(nfc(str(path)) == nfc(str(paths[0])) for path in paths[1:])


def _videos_below(folder: Path) -> tuple[set[Path], set[Path], set[Path]]:
    """Return the video files in and below a folder, the folders of frames below it, and the links out of it."""
    files: set[Path] = set()
    folders: set[Path] = set()
    links: set[Path] = set()
    for at, below, names in os.walk(folder):
        here = Path(at)
        links |= {here / name for name in below if not name.startswith(".") and _is_link_out(here / name, folder)}
        # Names that begin with a dot belong to file managers.
        videos = [name for name in names if name.lower().endswith(EXTENSIONS) and not name.startswith(".")]
        existing = {path for name in videos if (path := here / name).is_file()}
        links |= (out := {path for path in existing if _is_link_out(path, folder)})
        files |= existing - out
        if not existing and here != folder and any(map(is_picture, names)):
            folders.add(here)
    return files, folders, links


def _is_link_out(path: Path, folder: Path) -> bool:
    return path.is_symlink() and leads_out(path, folder)


LIST = ".txt"
"""Extension of a list of addresses, one per line; empty lines and those that begin with # are ignored."""


class RemoteFolder:
    """Videos at addresses, indexed by their names with and without extension, and by their paths below the folder.

    Names are compared in their composed form (NFC). In web addresses, percent escapes are decoded too.
    """

    def __init__(self, folder: Address) -> None:
        """List the videos at an address: of a folder, one video, or a text file that lists addresses of videos.

        Raises:
            InputError: the file has a line that is not the address of a video, or a folder is on a web server, which
                cannot list its files.
            StorageUnavailable: nothing can be read.
        """
        self._folder = folder
        self._named: dict[str, list[Address]] = defaultdict(list)
        self._places: dict[str, Address] = {}
        addresses = _videos(folder)
        for place, address in sorted(addresses.items(), key=lambda entry: _order(entry[0])):
            at = PurePosixPath(place)
            self._places.setdefault(nfc(at.with_suffix("").as_posix()), address)
            names = _names(at)
            for name in names | {nfc(unquote(name)) for name in names if address.in_web}:
                self._named[name].append(address)
        self.videos = frozenset(addresses.values())

    def named(self) -> dict[str, Address]:
        """Return every video's address by its path below the folder without extension, in order of these paths."""
        return dict(sorted(self._places.items()))

    def find(self, name: str) -> Address:
        """Return the video that an annotation calls `name`; see `VideoFolder.find`.

        Raises:
            VideoUnreadable: there is no such video, several folders have one, or one folder has two whose names differ
                only in their Unicode form.
        """
        for candidate in _candidates(name):
            matches = self._named.get(candidate, [])
            matches = [address for address in matches if address.parent == self._folder] or matches
            if len({address.parent for address in matches}) > 1:
                listed = ", ".join(map(str, matches))
                raise VideoUnreadable.about(
                    name, said("several videos have that name in {folder}: {told}", folder=self._folder, told=listed)
                )
            if _clash(matches):
                raise VideoUnreadable.about(name, CLASH)
            if matches:
                return matches[0]
        raise VideoUnreadable.about(name, said("no video in {folder}", folder=self._folder))


def _order(place: str) -> tuple[int, str]:
    return EXTENSIONS.index(PurePosixPath(place).suffix.lower()), place


def _videos(folder: Address) -> dict[str, Address]:
    if folder.name.lower().endswith(EXTENSIONS):
        return {folder.name: folder}
    if folder.name.lower().endswith(LIST):
        return {address.name: address for address in _named_in(folder)}
    if folder.in_web:
        raise InputError.single(
            folder,
            said(
                "is on a web server, which does not list files: name a video, or a list of addresses ({list})",
                list=LIST,
            ),
        )
    keys = [key for key in listed(folder) if key.lower().endswith(EXTENSIONS)]
    return {key: folder.joined(key) for key in keys if not PurePosixPath(key).name.startswith(".")}


def _named_in(file: Address) -> list[Address]:
    addresses = []
    for row, line in enumerate(utf8(whole(file), str(file)).decode("utf-8-sig", "replace").splitlines(), 1):
        if not (address := line.strip()) or address.startswith("#"):
            continue
        place = place_of(address if "://" in address else file.parent.joined(address).text)
        if not isinstance(place, Address) or not place.name.lower().endswith(EXTENSIONS):
            raise InputError.single(file, said("{address} is not the address of a video", address=address), row)
        addresses.append(place)
    return addresses
