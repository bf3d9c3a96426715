"""What scores were made from, and what it says besides the numbers: texts of queries, lengths of videos.

Reads: truth and video map files. Writes: nothing.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from backend.ground.reading import unpacked


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
    """Facts where the truth is a `val.json` and the videos a map; none of other formats."""
    texts: dict[str, str] = {}
    durations: dict[str, float] = {}
    for entry in _decoded(truth, list[_Entry], []):
        texts |= {str(entry.query_id): entry.query} if entry.query else {}
        durations |= {m.video_name: m.duration for m in entry.relevant_moment if m.duration}
    if videos:
        for name, value in _decoded(videos, dict[str, tuple[float, int]], {}).items():
            durations[name] = value[0]
    return Facts(texts, durations)


class _Moment(msgspec.Struct):
    video_name: str = ""
    duration: float | None = None


class _Entry(msgspec.Struct):
    query_id: int | str
    query: str = ""
    relevant_moment: list[_Moment] = []


def _decoded(path: Path, shape: Any, otherwise: Any) -> Any:
    try:
        return msgspec.json.decode(unpacked(path), type=shape)
    except ValueError:
        return otherwise
