"""The videos below an address: of a bucket all that lie there, of a web server one file, or those that a list names."""

from collections import defaultdict
from pathlib import PurePosixPath
from urllib.parse import unquote

from backend.core.addresses import Address, place_of
from backend.core.errors import InputError, VideoUnreadable
from backend.core.messages import said
from backend.core.text_files import utf8
from backend.core.typed_text import nfc
from backend.media.probe import CLASH, EXTENSIONS
from backend.media.remote import listed, whole

LIST = ".txt"
"""How a list of addresses ends, one a line; lines that begin with # and empty ones say nothing."""


class RemoteFolder:
    """Videos at addresses, by their names with and without extension, and by their places below the folder.

    Names are compared in their composed form (NFC), those of web addresses also without percent signs.
    """

    def __init__(self, folder: Address) -> None:
        """Raises `InputError` for a list that is none, `StorageUnavailable` where nothing can be read."""
        self._folder = folder
        self._named: dict[str, list[Address]] = defaultdict(list)
        self._places: dict[str, Address] = {}
        found = _videos(folder)
        for place, address in sorted(found.items(), key=lambda one: _order(one[0])):
            at = PurePosixPath(place)
            self._places.setdefault(nfc(at.with_suffix("").as_posix()), address)
            names = {at.name, at.stem, at.as_posix(), at.with_suffix("").as_posix()}
            names |= set(map(unquote, names)) if address.in_web else set()
            for name in set(map(nfc, names)):
                self._named[name].append(address)
        self.videos = frozenset(found.values())

    def named(self) -> dict[str, Address]:
        """Every video: its place below the folder without extension -> its address, by place."""
        return dict(sorted(self._places.items()))

    def find(self, name: str) -> Address:
        """The video called `name` in an annotation; see `VideoFolder.find`.

        Raises:
            VideoUnreadable: none, several in different places, or two that are canonically equal in one.
        """
        wanted = nfc(name)
        at = PurePosixPath(wanted)
        for candidate in (wanted, at.with_suffix("").as_posix()) if at.suffix.lower() in EXTENSIONS else (wanted,):
            found = self._named.get(candidate, [])
            found = [one for one in found if one.parent == self._folder] or found
            if len({one.parent for one in found}) > 1:
                told = ", ".join(map(str, found))
                raise VideoUnreadable(
                    said(
                        "{name}: {why}",
                        name=name,
                        why=said("several videos of that name in {folder}: {told}", folder=self._folder, told=told),
                    )
                )
            if any(nfc(one.text) == nfc(found[0].text) for one in found[1:]):
                raise VideoUnreadable(said("{name}: {why}", name=name, why=CLASH))
            if found:
                return found[0]
        raise VideoUnreadable(said("{name}: {why}", name=name, why=said("no video in {folder}", folder=self._folder)))


def _order(place: str) -> tuple[int, str]:
    return EXTENSIONS.index(PurePosixPath(place).suffix.lower()), place


def _videos(folder: Address) -> dict[str, Address]:
    if folder.name.lower().endswith(EXTENSIONS):
        return {folder.name: folder}
    if folder.name.lower().endswith(LIST):
        return {one.name: one for one in _named_in(folder)}
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
    found = []
    for row, line in enumerate(utf8(whole(file), str(file)).decode("utf-8-sig", "replace").splitlines(), 1):
        if not (address := line.strip()) or address.startswith("#"):
            continue
        place = place_of(address if "://" in address else file.parent.joined(address).text)
        if not isinstance(place, Address) or not place.name.lower().endswith(EXTENSIONS):
            raise InputError.single(file, said("{address} is no address of a video", address=address), row)
        found.append(place)
    return found
