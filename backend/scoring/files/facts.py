"""Read query texts, video durations and query types from truth files.

Reads: truth and video map files. Writes: nothing.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import msgspec

from backend.core.reading import UNDECODABLE, unpacked_bytes
from backend.core.typed_text import nfc
from backend.scoring.files.annotations import annotated_queries
from backend.scoring.matching.columns import Truth


@dataclass(frozen=True, slots=True)
class Facts:
    """Query texts by query id, and video durations in seconds by video name. Unknown ones are absent."""

    texts: Mapping[str, str]
    durations: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class Source:
    """One input of an evaluation, with size in bytes and SHA-256 hash if it is a file.

    `what` says which input it is: `truth`, `run`, `videos`, `pools` or `first step`.
    """

    what: str
    name: str
    size: int | None
    sha256: str | None


@dataclass(frozen=True, slots=True)
class Inputs:
    """The files that scores were computed from, with the query texts and durations in them.

    `title` is a short name of the truth, and `truth` the name of its file. `sources` lists each file with its hash.
    """

    title: str
    truth: str
    facts: Facts
    sources: tuple[Source, ...]


def read_facts(truth: Path, videos: Path | None = None) -> Facts:
    """Return the query texts and video durations in a truth file, and the durations in a video map.

    Truth files have them if they are a release's `val.json` or `test.json`, or a benchmark's own file. Other formats
    have no texts and durations.
    """
    texts: dict[str, str] = {}
    durations: dict[str, float] = {}
    content = unpacked_bytes(truth)
    for entry in _decoded(content, list[_Entry], []):
        texts |= {nfc(str(entry.query_id)): entry.query} if entry.query else {}
        durations |= {nfc(m.video_name): m.duration for m in entry.relevant_moment if m.duration}
    if not texts:
        for line in _lines(content):
            texts |= {nfc(str(line.id)): line.text} if line.text else {}
            durations |= {line.video: line.duration} if line.duration else {}
    if not texts:
        for query in annotated_queries(content, str(truth)) or ():
            texts[nfc(str(query.query))] = query.text
            durations |= {moment.video: moment.duration_s for moment in query.moments if moment.duration_s}
    if videos:
        mapped = unpacked_bytes(videos)
        parts = [_decoded(mapped, _Videos, {}), *_decoded(mapped, dict[str, _Videos], {}).values()]
        durations |= {nfc(name): value[0] for part in parts for name, value in part.items()}
    return Facts(texts, durations)


_Videos = dict[str, tuple[float, int]]
"""A video map, or one split of it, as in TVR."""


def with_line_facts(truth: Truth, content: bytes) -> Truth:
    """Add the query types, query texts and video durations that files of TVR and QVHighlights have to a truth.

    `content` has the bytes of the truth's file. For a file of another kind the truth is returned unchanged.
    """
    lines = _lines(content)
    if not lines:
        return truth
    types = {nfc(str(line.id)): line.type for line in lines if line.type}
    known = tuple(types[str(query)] for query in truth.queries) if len(types) == len(truth.queries) else ()
    texts = {nfc(str(line.id)): line.text for line in lines if line.text}
    return replace(
        truth, types=known, durations={line.video: line.duration for line in lines if line.duration}, texts=texts
    )


class _Moment(msgspec.Struct):
    video_name: str = ""
    duration: float | None = None


class _Entry(msgspec.Struct):
    query_id: int | str
    query: str = ""
    relevant_moment: list[_Moment] = []


class _Line(msgspec.Struct):
    """One line of a TVR or QVHighlights file: the query's id, text and type, and its video with the duration.

    The two benchmarks use different names for the same field, such as `desc_id` and `qid`.
    """

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
    """Return the lines of a TVR or QVHighlights file; empty for any other file, or if a line is malformed."""
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
