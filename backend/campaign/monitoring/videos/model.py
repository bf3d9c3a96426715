"""Data types of video checks: the state of each video, and the report of a check."""

from dataclasses import dataclass
from fractions import Fraction

from backend.campaign.corpus.importing.model import Trouble
from backend.core.events import Event, EventGroup
from backend.core.messages import joined, said, said_n


@dataclass(frozen=True, slots=True)
class VideoState:
    """One video of the project. `path` is None while its file is not known.

    `message` describes its trouble in words. For a video with a trouble, `waiting` counts the pairs that still want
    grades, and `judged` those that somebody graded.
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
        """Whether its clips can be shown."""
        return self.path is not None and self.trouble in (None, Trouble.DAMAGED)

    @property
    def advice(self) -> str:
        """The effect of its trouble on the pairs, and what to do next; empty where there is none."""
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

    `moved` are the videos that were found elsewhere, each with its new path. `accepted` are those whose new content was
    accepted. `freed` is how many clips are handed out again. `decoded`: whether every picture was decoded.
    """

    videos: tuple[VideoState, ...]
    moved: tuple[tuple[str, str], ...]
    accepted: tuple[str, ...]
    freed: int
    decoded: bool

    @property
    def wrong(self) -> tuple[VideoState, ...]:
        """The videos with a trouble."""
        return tuple(one for one in self.videos if one.trouble is not None)


VIDEOS_LOOKED_AT = Event(
    "videos_looked_at", EventGroup.MATERIAL, said("checked {videos} videos: {wrong} with a problem")
)
"""videos, wrong (how many have a trouble), moved (how many), accepted (names of those with accepted new content)"""
VIDEOS_REMOVED = Event("videos_removed", EventGroup.MATERIAL, said("removed {count} videos: {videos}"))
"""count, videos: their names"""
