"""Truth from the annotation files that benchmarks were published as: sentences, each with its moment in one video.

A sentence is a query, its moment relevant by 1. Where the file gives sentences no id, a query is called `VIDEO#N`, N
counting the sentences of the video from 0, as in files of pools.
"""

import json
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace

from backend.core.captioned import (
    CHARADES_LINE,
    CaptionedMoment,
    Parsing,
    charades_lines,
    didemo_entries,
    query_id,
    sentences_of_videos,
)
from backend.core.errors import InputError
from backend.core.messages import said
from backend.core.undecodable import UNDECODABLE
from backend.scoring.files.entries import Group, truth_of
from backend.scoring.files.entry_rows import Names, name_only
from backend.scoring.matching.columns import Truth

Query = tuple[int | str, Sequence[CaptionedMoment]]
"""A query's id and its moments."""
_NAMES = Names("video", ("start", "end"), "relevance")
_PEEK = 1 << 16
"""So many bytes are looked at for what a file is."""
_VIDEOS = re.compile(r'\{\s*"(?:[^"\\]|\\.)*"\s*:\s*(?=\{)')
_LIST = re.compile(r"\[\s*(?=\{)")
_SHOWN = 3


def sentences_truth(content: bytes, file: str) -> Truth | None:
    r"""Truth of a file of Charades-STA (text or JSON), ActivityNet Captions, TACoS or DiDeMo; None if it is none.

    Moments that end before they begin exist in the published files: those queries are left out, as the published
    evaluators do. Ends after that of the video are cut there, as they do too. Both are told in `notes`.

    In DiDeMo several people placed each sentence: every one's moment is relevant.

    Raises:
        InputError: it is one, with everything in it that is not of its shape.

    >>> truth = sentences_truth(b"ABC12 24.3 30.4##person sits.\nABC12 0 2.5##person stands.", "test.txt")
    >>> (truth.queries, truth.end_s.tolist()) if truth else None
    (('ABC12#0', 'ABC12#1'), [30.4, 2.5])
    """
    queries = sentences(content, file)
    return None if queries is None else _truth(queries, file)


def sentences(content: bytes, file: str) -> list[Query] | None:
    """The queries of such a file with their moments as they stand there; None of any other.

    Raises:
        InputError: it is one, with everything in it that is not of its shape.
    """
    text = content[:_PEEK].decode("utf-8", "ignore").lstrip()
    if opening := _VIDEOS.match(text):
        fields = _first(text[opening.end() :])
        if not {"timestamps", "sentences"} <= fields:
            return None
        if "retrieval_pool" in fields:
            raise InputError.single(
                file, said("is a file of pools: give it with --pool, and its moments are the truth")
            )
        frames = "duration" not in fields and {"fps", "num_frames"} <= fields
        return _of_videos(sentences_of_videos(content, file, frames=frames), file)
    if opening := _LIST.match(text):
        return _of_didemo(content, file) if {"description", "times"} <= _first(text[opening.end() :]) else None
    if text[:1] not in ("{", "[") and CHARADES_LINE.fullmatch(text.split("\n", 1)[0]):
        return _of_videos(charades_lines(content, file), file)
    return None


def _first(text: str) -> frozenset[str]:
    """The fields of the object that a text begins with; of one that goes on further, those that begin before."""
    try:
        found, _ = json.JSONDecoder().raw_decode(text)
        return frozenset(found)
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


def _truth(queries: Iterable[Query], file: str) -> Truth:
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
        *_told(file, left_out, "moments that do not end after they begin were left out, as published evaluators do"),
        *_told(file, cut, "moments that go on after their video were cut at its end, as published evaluators do"),
    ]
    return replace(truth_of(groups, file, _NAMES, name_only), durations=durations, notes=tuple(notes))


def _told(file: str, moments: Sequence[CaptionedMoment], what: str) -> list[str]:
    if not moments:
        return []
    places = ", ".join(moment.place for moment in moments[:_SHOWN]) + (", ..." if len(moments) > _SHOWN else "")
    return [f"{file}: {len(moments):,} {what} ({places})"]
