"""Read query texts, video durations and query types from truth files, and truth from benchmarks' annotation files.

An annotation file has sentences, each with its moment in one video. Each sentence becomes a query, and its moment has
relevance 1. If a sentence has no id, the query is called `VIDEO#N`, as in files of pools. N counts the sentences of the
video from 0.

Reads: truth and video map files. Writes: nothing.
"""

import json
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import msgspec

from backend.core.captioned import (
    CHARADES_LINE,
    CaptionedMoment,
    Parsing,
    charades_lines,
    coco_captions,
    didemo_entries,
    query_id,
    sentences_of_videos,
)
from backend.core.errors import InputError
from backend.core.messages import said
from backend.core.reading import UNDECODABLE, unpacked_bytes
from backend.core.typed_text import nfc
from backend.scoring.files.entries import Group, truth_of
from backend.scoring.files.words import Names, name_only
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
        for query, moments in sentences(content, str(truth)) or ():
            texts[nfc(str(query))] = moments[0].caption
            durations |= {moment.video: moment.duration_s for moment in moments if moment.duration_s}
    if videos:
        mapped = unpacked_bytes(videos)
        parts = [_decoded(mapped, _Videos, {}), *_decoded(mapped, dict[str, _Videos], {}).values()]
        durations |= {nfc(name): value[0] for part in parts for name, value in part.items()}
    return Facts(texts, durations)


_Videos = dict[str, tuple[float, int]]
"""A video map, or one split of it, as in TVR."""


def with_line_facts(truth: Truth, content: bytes) -> Truth:
    """Return a truth with the query types and video durations in its file, if this is a file of TVR or QVHighlights.

    `content` is the file's bytes. For other files the truth is returned unchanged.
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


Query = tuple[int | str, Sequence[CaptionedMoment]]
"""A query's id and its moments."""
_NAMES = Names("video", ("start", "end"), "relevance")
_PEEK = 1 << 16
"""How many bytes are read to recognise a file's format."""
_VIDEOS = re.compile(r'\{\s*"(?:[^"\\]|\\.)*"\s*:\s*(?=\{)')
_LIST = re.compile(r"\[\s*(?=\{)")
_ANNOTATIONS = re.compile(r'\{\s*"annotations"\s*:\s*\[\s*(?=\{)')
_SHOWN = 3


def sentences_truth(content: bytes, file: str) -> Truth | None:
    r"""Return the truth in a benchmark's own annotation file, or None for any other file.

    The formats are Charades-STA (text or JSON, also that of TimeChat), ActivityNet Captions, TACoS and DiDeMo.
    Published files contain moments that end before they begin. Such queries are left out, and ends after the end of the
    video are cut there, as the published evaluators do. `notes` reports both. In DiDeMo several people marked the
    moment of each sentence; every such moment is relevant.

    Raises:
        InputError: the file has one of these formats; lists everything in it that has a wrong structure.

    >>> truth = sentences_truth(b"ABC12 24.3 30.4##person sits.\nABC12 0 2.5##person stands.", "test.txt")
    >>> (truth.queries, truth.end_s.tolist()) if truth else None
    (('ABC12#0', 'ABC12#1'), [30.4, 2.5])
    """
    queries = sentences(content, file)
    return None if queries is None else _truth(queries, file)


def sentences(content: bytes, file: str) -> list[Query] | None:
    """Return each query's id and moments in a benchmark's own annotation file. Other files give None.

    Unlike `sentences_truth`, it keeps impossible moments.

    Raises:
        InputError: lists everything in the file that has a wrong structure.
    """
    text = content[:_PEEK].decode("utf-8", "ignore").lstrip()
    if opening := _ANNOTATIONS.match(text):
        fields = _first(text[opening.end() :])
        return _of_captions(content, file) if {"image_id", "caption", "timestamp"} <= fields else None
    if opening := _VIDEOS.match(text):
        fields = _first(text[opening.end() :])
        if not {"timestamps", "sentences"} <= fields:
            return None
        if "retrieval_pool" in fields:
            raise InputError.single(
                file, said("is a file of pools: give it with --pool, and its moments become the truth")
            )
        frames = "duration" not in fields and {"fps", "num_frames"} <= fields
        return _of_videos(sentences_of_videos(content, file, frames=frames), file)
    if opening := _LIST.match(text):
        return _of_didemo(content, file) if {"description", "times"} <= _first(text[opening.end() :]) else None
    if text[:1] not in ("{", "[") and CHARADES_LINE.fullmatch(text.split("\n", 1)[0]):
        return _of_videos(charades_lines(content, file), file)
    return None


def _first(text: str) -> frozenset[str]:
    """Return the field names of the JSON object at the start of a text, which may be cut off.

    If the text ends inside the object, only the field names before that point are returned, nested ones included.
    """
    try:
        decoded, _ = json.JSONDecoder().raw_decode(text)
        return frozenset(decoded)
    except UNDECODABLE:
        return frozenset(re.findall(r'"(\w+)"\s*:', text))


def _of_videos(parsed: Parsing, file: str) -> list[Query]:
    moments, problems, _ = parsed
    if problems:
        raise InputError(sorted(problems, key=lambda problem: problem.row or 0))
    number: Counter[str] = Counter()
    queries: list[Query] = []
    for moment in moments:
        place = number[moment.video] if moment.sentence is None else moment.sentence - 1
        queries.append((query_id(moment.video, place), [moment]))
        number[moment.video] += 1
    return queries


def _of_didemo(content: bytes, file: str) -> list[Query]:
    entries, problems = didemo_entries(content, file)
    if problems:
        raise InputError(sorted(problems, key=lambda problem: problem.row or 0))
    return [(entry.annotation_id, [entry.moment(row, *times) for times in entry.times]) for row, entry in entries]


def _of_captions(content: bytes, file: str) -> list[Query]:
    moments, problems, _ = coco_captions(content, file)
    if problems:
        raise InputError(problems)
    return [(moment.external_id or "", [moment]) for moment in moments]


def _truth(queries: Sequence[Query], file: str) -> Truth:
    groups: list[Group] = []
    left_out: list[CaptionedMoment] = []
    cut: list[CaptionedMoment] = []
    durations: dict[str, float] = {}
    for query, moments in queries:
        items: list[object] = []
        for moment in moments:
            ends_s = moment.end_s if moment.duration_s is None else min(moment.end_s, moment.duration_s)
            starts_s = max(moment.start_s, 0.0)
            if moment.duration_s is not None:
                durations.setdefault(moment.video, moment.duration_s)
            if starts_s >= ends_s:
                left_out.append(moment)
                continue
            if (starts_s, ends_s) != (moment.start_s, moment.end_s):
                cut.append(moment)
            items.append({"video": moment.video, "start": starts_s, "end": ends_s, "relevance": 1})
        if items:
            groups.append(Group(query, moments[0].row, items))
    notes = [
        *_note(file, left_out, "moments that do not end after they begin were left out, as published evaluators do"),
        *_note(file, cut, "moments that end after their video were cut at its end, as published evaluators do"),
    ]
    texts = {nfc(str(query)): moments[0].caption for query, moments in queries}
    return replace(truth_of(groups, file, _NAMES, name_only), durations=durations, notes=tuple(notes), texts=texts)


def _note(file: str, moments: Sequence[CaptionedMoment], what: str) -> list[str]:
    if not moments:
        return []
    places = ", ".join(moment.place for moment in moments[:_SHOWN]) + (", ..." if len(moments) > _SHOWN else "")
    return [f"{file}: {len(moments):,} {what} ({places})"]
