"""Define the data types of importing: parsed annotation files, skipped entries, formats, and problems of videos."""

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
    """Entries of an annotation file that were not imported for the same reason: the reason and their number.

    `where` says where the first few are in the file.
    """

    why: str
    count: int
    where: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Parsed:
    """The contents of an annotation file: its captioned moments in file order, and remarks.

    `format` is the name of its format. `left_out` lists entries that cannot be imported. `repeats` are entries that
    repeat the video, span and caption of an earlier one; `moments` does not have them. `notes` are other remarks for
    the user. `published` means that
    the file is of a published corpus, which the user cannot correct. So impossible entries are left out, and the file
    is not refused. `end_slack_s` is how many seconds a moment may end after the end of its video.
    """

    moments: list[CaptionedMoment]
    notes: list[str] = field(default_factory=list)
    left_out: Sequence[LeftOut] = ()
    repeats: Sequence[CaptionedMoment] = ()
    published: bool = False
    end_slack_s: float = END_SLACK_S
    format: str = ""

    @property
    def merged(self) -> int:
        """The number of entries that were left out because they repeat an earlier one."""
        return len(self.repeats)


@dataclass(frozen=True, slots=True)
class ImportOptions:
    """Options for reading an annotation file.

    `types` are the types of TVR's lines to keep; None keeps those that the TVR-Ranking paper uses. `columns` maps
    ReelRank's names of columns or fields to those in the file: `{"start": "begin"}`.
    """

    types: frozenset[str] | None = None
    columns: Mapping[str, str] = field(default_factory=dict)


class Trouble(StrEnum):
    """What is wrong with a video. Clips of a damaged video can still be shown; with any other trouble they cannot."""

    MISSING = "missing"
    UNREADABLE = "unreadable"
    CHANGED = "changed"
    """The content of the video differs from what was imported."""
    DAMAGED = "damaged"


@dataclass(frozen=True, slots=True)
class VideoTrouble:
    """A problem of one video, with a message that explains it."""

    video: str
    trouble: Trouble
    message: str


Read = Callable[[bytes, str, ImportOptions], Parsed]


@dataclass(frozen=True, slots=True)
class CorpusFormat:
    """A format of annotation files: its name, how to recognise it, and how to read it.

    `entry` is a phrase for messages that says what the file looks like. `fits(sample, options)` returns whether a file
    looks like this format. `read(data, file, options)` parses the bytes of a file, and raises `InputError` with all
    problems of the file. `takes` are the options (fields of `ImportOptions`) that work with this format.
    """

    name: str
    entry: str
    fits: Callable[[Sample, ImportOptions], bool]
    read: Read
    takes: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class FoundVideo:
    """A video file that was added to the project; `new` is False if the project already had a video of this name."""

    name: str
    facts: VideoFacts
    new: bool


@dataclass(frozen=True, slots=True)
class RegisterReport:
    """The result of adding a folder of videos to a project.

    `videos` are the added ones, sorted by name. `problems` are the files that were not added, each with the reason,
    sorted by file. If the same was added before and nothing changed, `done` says when and by whom.
    """

    videos: tuple[FoundVideo, ...]
    problems: tuple[Problem, ...]
    done: str = ""

    @property
    def new(self) -> int:
        """The number of videos that the project did not have before."""
        return sum(video.new for video in self.videos)


@dataclass(frozen=True, slots=True)
class ImportReport:
    """The result of an import: what the file has, what is new, and what was left out.

    `taken` are the numbers of accepted videos, moments and captions in the file. `videos`, `moments` and `captions`
    count those of these that are new in the project. `measured` counts videos whose files were measured. `merged`
    counts entries of the file that repeat an earlier one, and `left_out` lists entries that were not imported, with
    reasons. `dry_run` means that nothing was written; the report says what an import would write. `notes` are other
    remarks. `troubles` are videos that are missing or damaged. Moments of these videos are imported anyway, unless the
    duration of the video is unknown. `decoded` means that every frame of the measured videos was decoded, to find
    damage. If the same was imported before and nothing changed, `done` says when and by whom.
    """

    format: str
    taken: tuple[int, int, int]
    videos: int
    moments: int
    captions: int
    measured: int
    merged: int
    left_out: tuple[LeftOut, ...]
    notes: tuple[str, ...]
    dry_run: bool
    troubles: tuple[VideoTrouble, ...] = ()
    decoded: bool = False
    done: str = ""


CORPUS_IMPORTED = Event(
    "corpus_imported",
    EventGroup.MATERIAL,
    said("imported {file}: {videos} videos, {moments} moments, {captions} captions"),
)
"""file, format, videos, moments, captions, asked"""
VIDEOS_REGISTERED = Event(
    "videos_registered", EventGroup.MATERIAL, said("added videos from the folder {folder}: {videos} new")
)
"""folder, videos: how many are new, not_taken: how many files were not added, asked"""
