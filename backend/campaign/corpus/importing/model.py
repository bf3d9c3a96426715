"""Annotation files as values: captioned moments, what was left out of them, and what a format is."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from backend.core.captioned import CaptionedMoment
from backend.core.errors import Problem
from backend.core.events import Event, EventGroup
from backend.core.messages import said
from backend.core.reading import Sample
from backend.media.sources import VideoFacts

__all__ = [
    "END_SLACK_S",
    "CaptionedMoment",
    "CorpusFormat",
    "ImportOptions",
    "LeftOut",
    "Parsed",
    "Trouble",
    "VideoTrouble",
]

END_SLACK_S = 1.0
"""How far a moment may end after its video and still be kept: published durations are often rounded."""


@dataclass(frozen=True, slots=True)
class LeftOut:
    """Entries that were left out: why, how many, and where the first of them stand."""

    why: str
    count: int
    where: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Parsed:
    """What an annotation file holds, in file order.

    `format` is the name of its format. `left_out` tells of entries that were not taken, `merged` counts those that
    repeat the video, span and caption of an earlier one. `notes` says other oddities in words for the person who
    imports. `published` says that nobody who imports the file wrote it: what is impossible in it is left out, not
    refused. `end_slack_s` is how many seconds a moment may end after its video.
    """

    moments: list[CaptionedMoment]
    notes: list[str] = field(default_factory=list)
    left_out: Sequence[LeftOut] = ()
    merged: int = 0
    published: bool = False
    end_slack_s: float = END_SLACK_S
    format: str = ""


@dataclass(frozen=True, slots=True)
class ImportOptions:
    """How a file is to be read.

    `types` are the types of TVR's lines to keep, None for the paper's choice. `columns` maps our names of columns or
    fields to those of the file: `{"start": "begin"}`.
    """

    types: frozenset[str] | None = None
    columns: Mapping[str, str] = field(default_factory=dict)


class Trouble(StrEnum):
    """What is wrong with a video; all but damage keep its clips from being shown."""

    MISSING = "missing"
    UNREADABLE = "unreadable"
    CHANGED = "changed"
    """It has another content than the one that was taken in."""
    DAMAGED = "damaged"


@dataclass(frozen=True, slots=True)
class VideoTrouble:
    """What is wrong with one video, in words."""

    video: str
    trouble: Trouble
    message: str


Read = Callable[[bytes, str, ImportOptions], Parsed]


@dataclass(frozen=True, slots=True)
class CorpusFormat:
    """A format of annotation files: its name, how its files look, and how they are read.

    `entry` is half a sentence that says what one entry looks like. `fits(sample, options)` says whether a file looks
    like one of this format. `read(data, file, options)` parses the bytes of a file, and raises `InputError` with
    every problem of it. `takes` are the options (fields of `ImportOptions`) that mean something here.
    """

    name: str
    entry: str
    fits: Callable[[Sample, ImportOptions], bool]
    read: Read
    takes: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class FoundVideo:
    """A video file that the project has now: `new` unless it had it before, under this name."""

    name: str
    facts: VideoFacts
    new: bool


@dataclass(frozen=True, slots=True)
class RegisterReport:
    """What a folder of videos gave.

    `videos` are those that the project has now, in order of their names, `problems` the files that were not taken, each
    with the reason, in order of the files.
    """

    videos: tuple[FoundVideo, ...]
    problems: tuple[Problem, ...]

    @property
    def new(self) -> int:
        """How many videos the project did not have."""
        return sum(video.new for video in self.videos)


CORPUS_IMPORTED = Event(
    "corpus_imported",
    EventGroup.MATERIAL,
    said("imported {file}: {videos} videos, {moments} moments, {captions} captions"),
)
"""file, format, videos, moments, captions"""
VIDEOS_REGISTERED = Event(
    "videos_registered", EventGroup.MATERIAL, said("added videos from the folder {folder}: {videos} new")
)
"""folder, videos: how many are new, not_taken: files"""
