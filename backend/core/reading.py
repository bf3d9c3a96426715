"""Read files (plain or gzip), and decode the entries of annotation files.

A file that cannot be read raises an error with the reason. A bad entry becomes a problem with its row.
"""

import json
import os
import re
import zlib
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from mmap import ACCESS_READ, mmap
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from backend.core.errors import InputError, Problem
from backend.core.messages import said
from backend.core.text_files import SEP_LINE, control_message, decode_text, utf8, visible
from backend.core.typed_text import escaped_control, nfc, unwanted_control

LARGEST_UNPACKED = 2 << 30
"""The most bytes that a gzip file may unpack to; a larger one is refused before it fills the memory."""

_GZIP = b"\x1f\x8b"
_STEP = 16 << 20


def file_bytes(path: Path) -> bytes:
    """Return the bytes of a file as stored, without unpacking.

    Raises:
        InputError: the file cannot be read.
    """
    try:
        return on_disk(path).read_bytes()
    except OSError as error:
        raise InputError.single(path, said("cannot be read: {strerror}", strerror=error.strerror)) from None


def mapped_bytes(path: Path) -> bytes | mmap:
    """Return the bytes of a file without loading it: the system reads what is used, and can drop it again.

    Use this for large files of which little is kept. The file must not be changed in place meanwhile.

    Raises:
        InputError: the file cannot be read.
    """
    try:
        with on_disk(path).open("rb") as file:
            # An empty file cannot be mapped.
            return mmap(file.fileno(), 0, access=ACCESS_READ) if os.fstat(file.fileno()).st_size else b""
    except OSError as error:
        raise InputError.single(path, said("cannot be read: {strerror}", strerror=error.strerror)) from None


def on_disk(path: Path) -> Path:
    """Return the existing path that equals `path` except for its Unicode form; `path` itself if there is none.

    For example, `é` may be stored as one character or as `e` with an accent. Names that people type, and names in
    annotation files, are in Unicode's composed form. File names on a Mac, or copied from one, may be decomposed.
    """
    if str(path).isascii() or path.exists():
        return path
    existing = Path(path.anchor)
    for part in path.relative_to(existing).parts:
        if not (existing / part).exists() and existing.is_dir():
            same = [name for name in os.listdir(existing) if nfc(name) == nfc(part)]
            part = same[0] if len(same) == 1 else part
        existing /= part
    return existing


def unpack(content: bytes, file: str) -> bytes:
    """Return the bytes of a text in UTF-8, unpacked if they are gzip with one or more members.

    Args:
        content: the bytes of the file; they alone show whether it is packed.
        file: the file's name, for messages.

    Raises:
        InputError: the data are cut off or damaged, unpack to more than `LARGEST_UNPACKED`, or are refused by `utf8`.
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


def unpacked_bytes(path: Path) -> bytes:
    """Return the bytes of a text file in UTF-8, unpacked if they are gzip.

    Raises:
        InputError: the file cannot be read or unpacked.
    """
    return unpack(file_bytes(path), str(path))


UNDECODABLE = (msgspec.MsgspecError, ValueError, RecursionError)
"""Errors of decoding: wrong syntax or shape; not UTF-8, or a number with too many digits; nested too deep."""


_Entry = TypeVar("_Entry")
_LINES_TRIED = 20
"""Number of first lines to try before a file counts as something else than lines of JSON."""


class FileLayout(StrEnum):
    """How the entries of a file are arranged, such as one JSON object in each line."""

    LINES = said("a JSON object a line")
    LIST = said("a JSON list")
    VIDEOS = said("a JSON object of videos")
    TEXT = "text"


@dataclass(frozen=True, slots=True)
class Sample:
    """What `sample` finds out about the format of a file.

    Attributes:
        layout: how its entries are arranged.
        fields: the names of the fields in the first readable entry.
        key: the key of the first entry if the file is a JSON object with a key for each video, else "".
        line: the first line.
    """

    layout: FileLayout
    fields: frozenset[str]
    key: str
    line: str


def sample(data: bytes, file: str) -> Sample:
    r"""Return the layout of a file, the fields of its first entry, and its first line.

    Raises:
        InputError: the file is not UTF-8, or empty.

    >>> sample(b'{"v_1": {"duration": 9, "sentences": []}}', "val_1.json").layout.value
    'a JSON object of videos'
    >>> sorted(sample(b'{"video": "v", "start": 0}\n{"video": "w"}\n', "m.jsonl").fields)
    ['start', 'video']
    """
    text = SEP_LINE.sub("", decode_text(data, file), count=1).lstrip()
    line = re.split("[\r\n]", text, maxsplit=1)[0]
    if text[0] == "{":
        for part in [part for part in text.split("\n", _LINES_TRIED)[:_LINES_TRIED] if part.strip()]:
            entry = _decode_or_none(part)
            if isinstance(entry, dict) and not (entry and all(isinstance(value, dict) for value in entry.values())):
                return Sample(FileLayout.LINES, frozenset(entry), "", line)
        decoded = _decode_or_none(text)
        if isinstance(decoded, dict) and decoded:
            key, entry = next(iter(decoded.items()))
            return Sample(FileLayout.VIDEOS, frozenset(entry if isinstance(entry, dict) else ()), key, line)
    if text[0] == "[":
        decoded = _decode_or_none(text)
        entry = decoded[0] if isinstance(decoded, list) and decoded else ()
        return Sample(FileLayout.LIST, frozenset(entry if isinstance(entry, dict) else ()), "", line)
    return Sample(FileLayout.TEXT, frozenset(), "", line)


def json_lines(kind: type[_Entry], data: bytes, file: str) -> tuple[list[tuple[int, _Entry]], list[Problem]]:
    """Decode a file with one JSON object a line; return (line number, entry) for each, and a problem for each bad line.

    Line numbers start at 1. Blank lines are skipped.
    """
    # Not splitlines: captions may contain the other line ends of Unicode.
    rows = ((row, text) for row, text in enumerate(decode_text(data, file).split("\n"), start=1) if text.strip())
    return decode_entries(kind, rows, file)


def json_list(kind: type[_Entry], data: bytes, file: str) -> tuple[list[tuple[int, _Entry]], list[Problem]]:
    """Decode a JSON list; return the entries with their numbers from 1, and a problem for each bad entry.

    Raises:
        InputError: the file is no JSON list.
    """
    raws = _decode_document(list[msgspec.Raw], data, file)
    return decode_entries(kind, enumerate(raws, start=1), file)


def video_entries(kind: type[_Entry], data: bytes, file: str) -> tuple[list[tuple[str, _Entry]], list[Problem]]:
    """Decode a JSON object that maps names of videos to entries.

    Returns (name, entry) for each good entry, decoded as `kind`, and a problem for each bad one.

    Raises:
        InputError: the file is no JSON object, or a name occurs twice (JSON readers silently take the last one).
    """
    decoder = msgspec.json.Decoder(kind)
    entries: list[tuple[str, _Entry]] = []
    problems: list[Problem] = []
    for video, raw in raw_entries(data, file).items():
        try:
            entries.append((video, decoder.decode(raw)))
        except msgspec.ValidationError as error:
            problems.append(Problem(file, None, said("video {video}: {fault}", video=video, fault=fault_of(error))))
        if control := unwanted_control(video) or escaped_control(bytes(raw)):
            problems.append(
                Problem(
                    file, None, said("video {video}: {fault}", video=visible(video), fault=control_message(control))
                )
            )
    return entries, problems


def raw_entries(data: bytes, file: str) -> dict[str, msgspec.Raw]:
    """Return the values of a JSON object by key, not decoded yet.

    Raises:
        InputError: the file is no JSON object, or a key occurs twice (JSON readers silently take the last one).
    """
    raws = _decode_document(dict[str, msgspec.Raw], data, file)
    twice: list[str] = []

    def note(pairs: list[tuple[str, Any]]) -> None:
        counts = Counter(nfc(name) for name, _ in pairs)
        if len(counts) < len(pairs):
            twice.extend(name for name, count in counts.items() if count > 1)

    try:
        json.loads(data, object_pairs_hook=note, parse_int=str, parse_float=str)
    except UNDECODABLE as error:  # in fields that the decoder above skips
        raise InputError.single(file, said("not valid JSON: {error}", error=error)) from None
    if twice:
        raise InputError(
            [Problem(file, None, said("{name!r} occurs twice in one object", name=name)) for name in twice]
        )
    return raws


def decode_entries(
    kind: type[_Entry], rows: Iterable[tuple[int, str | msgspec.Raw]], file: str
) -> tuple[list[tuple[int, _Entry]], list[Problem]]:
    """Decode the JSON of each row; return (row, entry) for each, and a problem for each bad entry."""
    decoder = msgspec.json.Decoder(kind)
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
            problems.append(Problem(file, row, control_message(control)))
    return entries, problems


def _decode_document(kind: type[_Entry], data: bytes, file: str) -> _Entry:
    text = decode_text(data, file)
    try:
        return msgspec.json.decode(text, type=kind)
    except msgspec.ValidationError as error:
        raise InputError.single(file, fault_of(error)) from None
    except UNDECODABLE as error:
        raise InputError.single(file, said("not valid JSON: {error}", error=error)) from None


def _decode_or_none(text: str) -> Any:
    try:
        return msgspec.json.decode(text)
    except UNDECODABLE:
        return None


def fault_of(error: msgspec.ValidationError) -> str:
    """Return the parser's error about an entry as a translatable message."""
    words, mark, place = str(error).partition(" - at `$")
    if mark and not place.startswith((".", "[")):
        return str(error)
    fault = words
    if match := re.fullmatch(r"Object missing required field `(.*)`", words):
        fault = said("Object missing required field `{field}`", field=match[1])
    elif match := re.fullmatch(r"Expected `(.*)`, got `(.*)`", words):
        fault = said("Expected `{wanted}`, got `{found}`", wanted=match[1], found=match[2])
    elif match := re.fullmatch(r"Expected `(.*)` of length (\d+)", words):
        fault = said("Expected `{wanted}` of length {length}", wanted=match[1], length=match[2])
    elif match := re.fullmatch(r"Expected `(.*)` of length (\d+), got (\d+)", words):
        fault = said(
            "Expected `{wanted}` of length {length}, got {given}", wanted=match[1], length=match[2], given=match[3]
        )
    if not mark:
        return fault
    return said("{fault} in field `{field}`", fault=fault, field=place.removeprefix(".").removesuffix("`"))
