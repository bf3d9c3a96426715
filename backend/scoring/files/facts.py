"""What scores were made from, and what it says besides the numbers: texts of queries, lengths of videos.

Reads: truth and video map files. Writes: nothing.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import msgspec

from backend.core.reading import UNDECODABLE, unpacked
from backend.core.typed_text import nfc
from backend.scoring.files.sentences import sentences
from backend.scoring.matching.columns import Truth


@dataclass(frozen=True, slots=True)
class Facts:
    """Query texts by id, video durations in seconds by name; both as far as they are known."""

    texts: Mapping[str, str]
    durations: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class Source:
    """A `truth`, a `run`, `videos`, `pools` or a `first step`, with size and hash of its file where there is one."""

    what: str
    name: str
    size: int | None
    sha256: str | None


@dataclass(frozen=True, slots=True)
class Inputs:
    """Everything that scores were made from; `title` and `truth` name the truth, short and as its file."""

    title: str
    truth: str
    facts: Facts
    sources: tuple[Source, ...]


def read_facts(truth: Path, videos: Path | None = None) -> Facts:
    """Facts where the truth is a `val.json` or a benchmark's own file, and the videos a map; none of other formats."""
    texts: dict[str, str] = {}
    durations: dict[str, float] = {}
    content = unpacked(truth)
    for entry in _decoded(content, list[_Entry], []):
        texts |= {nfc(str(entry.query_id)): entry.query} if entry.query else {}
        durations |= {nfc(m.video_name): m.duration for m in entry.relevant_moment if m.duration}
    if not texts:
        for line in _lines(content):
            texts |= {nfc(str(line.id)): line.text} if line.text else {}
            durations |= {line.video: line.duration} if line.duration else {}
    if not texts:
        for query, moments in sentences(content, str(truth)) or ():
            texts[nfc(str(query))] = moments[0].caption
            durations |= {one.video: one.duration_s for one in moments if one.duration_s}
    if videos:
        mapped = unpacked(videos)
        parts = [_decoded(mapped, _Videos, {}), *_decoded(mapped, dict[str, _Videos], {}).values()]
        durations |= {nfc(name): value[0] for part in parts for name, value in part.items()}
    return Facts(texts, durations)


_Videos = dict[str, tuple[float, int]]
"""A map of videos; it may be in splits, as TVR's."""


def described(truth: Truth, content: bytes) -> Truth:
    """A truth of lines of TVR or QVHighlights with what these say besides their moments: types, durations."""
    lines = _lines(content)
    if not lines:
        return truth
    types = {nfc(str(line.id)): line.type for line in lines if line.type}
    known = tuple(types[str(query)] for query in truth.queries) if len(types) == len(truth.queries) else ()
    return replace(truth, types=known, durations={line.video: line.duration for line in lines if line.duration})


class _Moment(msgspec.Struct):
    video_name: str = ""
    duration: float | None = None


class _Entry(msgspec.Struct):
    query_id: int | str
    query: str = ""
    relevant_moment: list[_Moment] = []


class _Line(msgspec.Struct):
    """What a line of TVR, or of QVHighlights, says of its query and of its video."""

    desc_id: int | str | None = None
    qid: int | str | None = None
    desc: str = ""
    query: str = ""
    vid_name: str = ""
    vid: str = ""
    duration: float | None = None
    type: str | None = None

    @property
    def id(self) -> int | str | None:
        return self.qid if self.desc_id is None else self.desc_id

    @property
    def text(self) -> str:
        return self.desc or self.query

    @property
    def video(self) -> str:
        return nfc(self.vid_name or self.vid)


_LINE = re.compile(rb'\s*\{[^\n]*"(ts|relevant_windows)"\s*:')


def _lines(content: bytes) -> list[_Line]:
    """The lines of such a file; none of another, or where one is not as it should be."""
    if not _LINE.match(content):
        return []
    try:
        lines = msgspec.json.Decoder(_Line).decode_lines(content)
    except UNDECODABLE:
        return []
    return lines if all(line.id is not None for line in lines) else []


def _decoded(content: bytes, shape: Any, otherwise: Any) -> Any:
    try:
        return msgspec.json.decode(content, type=shape)
    except UNDECODABLE:
        return otherwise
