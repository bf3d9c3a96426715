"""Data types of video checks: the state of each video, and the report of a check."""

from dataclasses import dataclass
from fractions import Fraction

from backend.campaign.corpus.importing.model import Trouble
from backend.core.events import Event, EventGroup
from backend.core.messages import joined, said, said_n


@dataclass(frozen=True, slots=True)
class VideoState:
    """One video of the project, with the properties of its file and the problem that the last check found.

    `path` is None while its file is not known. `decoded` says whether the check decoded every picture. `message`
    describes the problem in words. If there is one, `waiting` counts the video's pairs that still need grades, and
    `judged` its pairs that somebody graded.
    """

    video: str
    path: str | None
    duration_s: float
    fps: Fraction | None
    width_px: int
    height_px: int
    codec: str
    has_audio: bool
    frames: int
    decoded: bool
    trouble: Trouble | None
    message: str
    waiting: int = 0
    judged: int = 0

    @property
    def shown(self) -> bool:
        """Whether clips of this video can be shown."""
        return self.path is not None and self.trouble in (None, Trouble.DAMAGED)

    @property
    def advice(self) -> str:
        """The effect of the video's problem on its pairs, and what to do next; empty if there is no problem."""
        told = []
        if self.waiting and not self.shown:
            told.append(said_n("{n} pair waits for it.", "{n:,} pairs wait for it.", self.waiting))
        match self.trouble:
            case Trouble.CHANGED:
                if self.judged:
                    told.append(
                        said_n(
                            "{n} pair was graded with the former content; its grades stay.",
                            "{n:,} pairs were graded with the former content; their grades stay.",
                            self.judged,
                        )
                    )
                told.append(said("Put the former file back, or accept the new content."))
            case Trouble.MISSING:
                told.append(said("Put the file back, or choose the folder that it is in now."))
            case Trouble.UNREADABLE:
                told.append(said("Replace it with an intact copy, then check again."))
            case Trouble.DAMAGED:
                told.append(said("Its clips are still shown. Replace it with an intact copy if you have one."))
        return joined(" ", told)


@dataclass(frozen=True, slots=True)
class VideoCheckReport:
    """The report of a check: all videos by name, and what changed.

    `moved` are the videos that were found elsewhere, each with its new path. `accepted` are the videos whose changed
    content was accepted. `freed` is the number of clips that can be shown again. `decoded` says whether every picture
    was decoded.
    """

    videos: tuple[VideoState, ...]
    moved: tuple[tuple[str, str], ...]
    accepted: tuple[str, ...]
    freed: int
    decoded: bool

    @property
    def wrong(self) -> tuple[VideoState, ...]:
        """The videos with a problem."""
        return tuple(one for one in self.videos if one.trouble is not None)


VIDEOS_LOOKED_AT = Event(
    "videos_looked_at", EventGroup.MATERIAL, said("checked {videos} videos: {wrong} with a problem")
)
"""videos, wrong (how many have a trouble), moved (how many), accepted (names of those with accepted new content)"""
VIDEOS_REMOVED = Event("videos_removed", EventGroup.MATERIAL, said("removed {count} videos: {videos}"))
"""count, videos: their names"""
