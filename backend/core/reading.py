"""Read files (plain or gzip), and the entries of annotation files.

Whatever cannot be read is refused with the reason; a bad entry is a problem with its row.
"""

import json
import os
import re
import zlib
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from backend.core.errors import InputError, Problem
from backend.core.messages import said
from backend.core.text_files import SEP_LINE, decode_text, told_control, utf8, visible
from backend.core.typed_text import escaped_control, nfc, unwanted_control

LARGEST_UNPACKED = 2 << 30
"""Bytes. A packed file that holds more is refused before it fills the memory."""

_GZIP = b"\x1f\x8b"
_STEP = 16 << 20


def bytes_of(path: Path) -> bytes:
    """The bytes of a file as they lie there.

    Raises:
        InputError: it cannot be read.
    """
    try:
        return on_disk(path).read_bytes()
    except OSError as error:
        raise InputError.single(path, said("cannot be read: {strerror}", strerror=error.strerror)) from None


def on_disk(path: Path) -> Path:
    """Return the path that exists on the disk under another Unicode form of the same name; else the path as given.

    People and lists write names composed; a Mac, and what was copied from one, may have them decomposed.
    """
    if str(path).isascii() or path.exists():
        return path
    found = Path(path.anchor)
    for part in path.relative_to(found).parts:
        if not (found / part).exists() and found.is_dir():
            same = [name for name in os.listdir(found) if nfc(name) == nfc(part)]
            part = same[0] if len(same) == 1 else part
        found /= part
    return found


def unpack(content: bytes, file: str) -> bytes:
    """Return a text without gzip (one or more members after one another, whatever the file's name), in UTF-8.

    Raises:
        InputError: the data are cut off or damaged, or unpack to more than `LARGEST_UNPACKED`; or see `utf8`.
    """
    parts: list[bytes] = []
    total = 0
    while content[:2] == _GZIP:
        member = zlib.decompressobj(wbits=31)
        while not member.eof:
            try:
                part = member.decompress(content, _STEP)
            except zlib.error as error:
                raise InputError.single(
                    file, said("is damaged: gzip cannot unpack it ({error})", error=error)
                ) from None
            total += len(part)
            if total > LARGEST_UNPACKED:
                message = said(
                    "unpacks to more than {largest:g} GiB: if that is right, unpack it yourself",
                    largest=LARGEST_UNPACKED / 2**30,
                )
                raise InputError.single(file, message)
            parts.append(part)
            content = member.unconsumed_tail
            if not part and not member.eof and not content:
                raise InputError.single(file, said("is cut off: the end of the gzip data is missing"))
        content = member.unused_data.lstrip(b"\0")
    if not parts:
        return utf8(content, file)
    if content:
        raise InputError.single(file, said("is damaged: there is other data after the end of the gzip data"))
    return utf8(parts[0] if len(parts) == 1 else b"".join(parts), file)


def unpacked(path: Path) -> bytes:
    """The bytes of a text file in UTF-8, out of gzip if they are packed.

    Raises:
        InputError: it cannot be read, or not be unpacked.
    """
    return unpack(bytes_of(path), str(path))


UNDECODABLE = (msgspec.MsgspecError, ValueError, RecursionError)
"""Not of that form, or of another shape; not UTF-8, or a number of more digits than Python takes; nested too deep."""


_Entry = TypeVar("_Entry")
_LOOKED_AT = 20
"""Lines that may be broken before a file is taken for something else than lines of JSON."""


class FileLayout(StrEnum):
    """How a file is laid out."""

    LINES = said("a JSON object a line")
    LIST = said("a JSON list")
    VIDEOS = said("a JSON object of videos")
    TEXT = "text"


@dataclass(frozen=True, slots=True)
class Sample:
    """What a file looks like: `fields` of its first entry, `key` before it in an object of videos, its first `line`."""

    layout: FileLayout
    fields: frozenset[str]
    key: str
    line: str


def sample(data: bytes, file: str) -> Sample:
    r"""Look at a file.

    Raises:
        InputError: not UTF-8, or empty.

    >>> sample(b'{"v_1": {"duration": 9, "sentences": []}}', "val_1.json").layout.value
    'a JSON object of videos'
    >>> sorted(sample(b'{"video": "v", "start": 0}\n{"video": "w"}\n', "m.jsonl").fields)
    ['start', 'video']
    """
    text = SEP_LINE.sub("", decode_text(data, file), count=1).lstrip()
    line = re.split("[\r\n]", text, maxsplit=1)[0]
    if text[0] == "{":
        for part in [part for part in text.split("\n", _LOOKED_AT)[:_LOOKED_AT] if part.strip()]:
            entry = _decoded(part)
            if isinstance(entry, dict) and not (entry and all(isinstance(value, dict) for value in entry.values())):
                return Sample(FileLayout.LINES, frozenset(entry), "", line)
        found = _decoded(text)
        if isinstance(found, dict) and found:
            key, entry = next(iter(found.items()))
            return Sample(FileLayout.VIDEOS, frozenset(entry if isinstance(entry, dict) else ()), key, line)
    if text[0] == "[":
        found = _decoded(text)
        entry = found[0] if isinstance(found, list) and found else ()
        return Sample(FileLayout.LIST, frozenset(entry if isinstance(entry, dict) else ()), "", line)
    return Sample(FileLayout.TEXT, frozenset(), "", line)


def json_lines(kind: type[_Entry], data: bytes, file: str) -> tuple[list[tuple[int, _Entry]], list[Problem]]:
    """The decoded lines of a file with a JSON object a line, each with its row, and a problem for each bad line."""
    # Not splitlines: captions may hold any of the other line ends that Unicode knows.
    rows = ((row, text) for row, text in enumerate(decode_text(data, file).split("\n"), start=1) if text.strip())
    return _decode(msgspec.json.Decoder(kind), rows, file)


def json_list(kind: type[_Entry], data: bytes, file: str) -> tuple[list[tuple[int, _Entry]], list[Problem]]:
    """The decoded entries of a JSON list, each with its number from 1, and a problem for each bad entry.

    Raises:
        InputError: it is no JSON list.
    """
    raws = _outermost(list[msgspec.Raw], data, file)
    return _decode(msgspec.json.Decoder(kind), enumerate(raws, start=1), file)


def video_entries(kind: type[_Entry], data: bytes, file: str) -> tuple[list[tuple[str, _Entry]], list[Problem]]:
    """The decoded entries of a JSON object, each with its name, and a problem for each bad one.

    Raises:
        InputError: it is no JSON object, or a name stands in it twice (of which every reader would take the last
            and say nothing).
    """
    raws = _outermost(dict[str, msgspec.Raw], data, file)
    twice: list[str] = []

    def note(pairs: list[tuple[str, Any]]) -> None:
        names = [nfc(name) for name, _ in pairs]
        if len(set(names)) < len(names):
            twice.extend(dict.fromkeys(name for name in names if names.count(name) > 1))

    try:
        json.loads(data, object_pairs_hook=note, parse_int=str, parse_float=str)
    except UNDECODABLE as error:  # what nobody asked for was passed over before
        raise InputError.single(file, said("not valid JSON: {error}", error=error)) from None
    if twice:
        raise InputError(
            [Problem(file, None, said("{name!r} occurs twice in one object", name=name)) for name in twice]
        )
    decoder = msgspec.json.Decoder(kind)
    entries: list[tuple[str, _Entry]] = []
    problems: list[Problem] = []
    for video, raw in raws.items():
        try:
            entries.append((video, decoder.decode(raw)))
        except msgspec.ValidationError as error:
            problems.append(Problem(file, None, said("video {video}: {fault}", video=video, fault=fault_of(error))))
        if control := unwanted_control(video) or escaped_control(bytes(raw)):
            problems.append(
                Problem(file, None, said("video {video}: {fault}", video=visible(video), fault=told_control(control)))
            )
    return entries, problems


def _decode(
    decoder: msgspec.json.Decoder[_Entry], rows: Iterable[tuple[int, str | msgspec.Raw]], file: str
) -> tuple[list[tuple[int, _Entry]], list[Problem]]:
    entries: list[tuple[int, _Entry]] = []
    problems: list[Problem] = []
    for row, text in rows:
        try:
            entries.append((row, decoder.decode(text)))
        except msgspec.ValidationError as error:
            problems.append(Problem(file, row, fault_of(error)))
        except UNDECODABLE as error:
            problems.append(Problem(file, row, said("not valid JSON: {error}", error=error)))
        if control := escaped_control(text if isinstance(text, str) else bytes(text)):
            problems.append(Problem(file, row, told_control(control)))
    return entries, problems


def _outermost(kind: type[_Entry], data: bytes, file: str) -> _Entry:
    text = decode_text(data, file)
    try:
        return msgspec.json.decode(text, type=kind)
    except msgspec.ValidationError as error:
        raise InputError.single(file, fault_of(error)) from None
    except UNDECODABLE as error:
        raise InputError.single(file, said("not valid JSON: {error}", error=error)) from None


def _decoded(text: str) -> Any:
    try:
        return msgspec.json.decode(text)
    except UNDECODABLE:
        return None


def fault_of(error: msgspec.ValidationError) -> str:
    """What the parser says of an entry, in the words of a message."""
    words, mark, place = str(error).partition(" - at `$")
    if mark and not place.startswith((".", "[")):
        return str(error)
    fault = words
    if found := re.fullmatch(r"Object missing required field `(.*)`", words):
        fault = said("Object missing required field `{field}`", field=found[1])
    elif found := re.fullmatch(r"Expected `(.*)`, got `(.*)`", words):
        fault = said("Expected `{wanted}`, got `{found}`", wanted=found[1], found=found[2])
    elif found := re.fullmatch(r"Expected `(.*)` of length (\d+)", words):
        fault = said("Expected `{wanted}` of length {length}", wanted=found[1], length=found[2])
    elif found := re.fullmatch(r"Expected `(.*)` of length (\d+), got (\d+)", words):
        fault = said(
            "Expected `{wanted}` of length {length}, got {given}", wanted=found[1], length=found[2], given=found[3]
        )
    if not mark:
        return fault
    return said("{fault} in field `{field}`", fault=fault, field=place.removeprefix(".").removesuffix("`"))
