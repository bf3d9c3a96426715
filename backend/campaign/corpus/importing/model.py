"""Data types of importing: parsed annotation files, entries left out, formats, and problems of videos."""

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
"""How many seconds a moment may end after its video and still be kept; published durations are often rounded."""


@dataclass(frozen=True, slots=True)
class LeftOut:
    """Entries that were left out: why, how many, and the places of the first of them."""

    why: str
    count: int
    where: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Parsed:
    """The contents of an annotation file, in file order.

    `format` is the name of its format. `left_out` lists entries that were left out. `merged` counts entries that repeat
    the video, span and caption of an earlier one. `notes` are other remarks for the person who imports. `published`
    means that the person who imports did not write the file: impossible entries are left out, and the file is not
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
    """Options for reading a file.

    `types` are the types of TVR's lines to keep; None keeps those that the paper uses. `columns` maps our names of
    columns or fields to those of the file: `{"start": "begin"}`.
    """

    types: frozenset[str] | None = None
    columns: Mapping[str, str] = field(default_factory=dict)


class Trouble(StrEnum):
    """Kinds of video trouble. Clips of a damaged video can still be shown; with any other trouble they cannot."""

    MISSING = "missing"
    UNREADABLE = "unreadable"
    CHANGED = "changed"
    """The content of the video differs from what was imported."""
    DAMAGED = "damaged"


@dataclass(frozen=True, slots=True)
class VideoTrouble:
    """A problem of one video, with a message."""

    video: str
    trouble: Trouble
    message: str


Read = Callable[[bytes, str, ImportOptions], Parsed]


@dataclass(frozen=True, slots=True)
class CorpusFormat:
    """A format of annotation files: its name, how to recognise it, and how to read it.

    `entry` is half a sentence that says what one entry looks like. `fits(sample, options)` returns whether a file looks
    like this format. `read(data, file, options)` parses the bytes of a file, and raises `InputError` with all problems
    of the file. `takes` are the options (fields of `ImportOptions`) that work with this format.
    """

    name: str
    entry: str
    fits: Callable[[Sample, ImportOptions], bool]
    read: Read
    takes: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class FoundVideo:
    """A video file that was added to the project. `new` is False if the project had a video of this name before."""

    name: str
    facts: VideoFacts
    new: bool


@dataclass(frozen=True, slots=True)
class RegisterReport:
    """The result of adding a folder of videos.

    `videos` are the added ones, in order of their names. `problems` are the files that were not added, each with the
    reason, in order of the files.
    """

    videos: tuple[FoundVideo, ...]
    problems: tuple[Problem, ...]

    @property
    def new(self) -> int:
        """The number of videos that the project did not have before."""
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
"""folder, videos: how many are new, not_taken: how many files were not added"""
