"""Registered videos, options and reports of proposals, and moments as a lead sees them, as values."""

from dataclasses import dataclass
from enum import StrEnum

from backend.core.errors import Problem
from backend.core.events import Event, EventGroup, Payload, value_text
from backend.core.ids import MomentId
from backend.core.messages import said


class Origin(StrEnum):
    """Where a moment comes from. What a lead adds or changes by hand counts as imported: a person chose it."""

    IMPORTED = "imported"
    SHOTS = "shots"
    WINDOWS = "windows"
    DESCRIBED = "described"
    POOLED = "pooled"


@dataclass(frozen=True, slots=True)
class ByShots:
    """Moments are the shots: shorter ones than `shortest_s` are joined, longer ones than `longest_s` split evenly."""

    shortest_s: float = 2.0
    longest_s: float = 20.0


@dataclass(frozen=True, slots=True)
class ByWindows:
    """Moments are windows of these lengths (s), each begins a share `stride` of its length after the one before."""

    lengths_s: tuple[float, ...] = (5.0, 10.0, 20.0)
    stride: float = 0.5


@dataclass(frozen=True, slots=True)
class ProposeReport:
    """What was proposed: of `videos` videos `moments` now come from there, of them `new` ones; `gone` went.

    `stayed` were proposed before and are not any more, but something uses them. `shots` are those found in all videos,
    0 by windows. `problems` are the videos that could not be looked at.
    """

    videos: int
    moments: int
    new: int
    gone: int
    stayed: int
    shots: int
    problems: tuple[Problem, ...]


@dataclass(frozen=True, slots=True)
class MomentRow:
    """A moment as a lead sees it: `captions` and `pairs` are how many it has; `used` ones cannot be changed."""

    moment_id: MomentId
    video: str
    start_s: float
    end_s: float
    origin: Origin
    captions: int
    pairs: int
    used: bool


@dataclass(frozen=True, slots=True)
class VideoMoments:
    """A video with the moments it has, by where they come from; `shots` are None while nobody looked for them."""

    name: str
    duration_s: float
    has_file: bool
    shots: int | None
    moments: dict[Origin, int]
    used: int

    @property
    def total(self) -> int:
        """All its moments."""
        return sum(self.moments.values())


@dataclass(frozen=True, slots=True)
class TakenMoments:
    """What a file of moments brought: `new` of `moments` were not there, `gone` were and are not in the file."""

    moments: int
    new: int
    gone: int
    stayed: int


def _moments_words(payload: Payload) -> str:
    def spans(name: str) -> str:
        return ", ".join(f"{start:.2f}–{end:.2f} s" for start, end in payload.get(name) or ())

    went, came, video = spans("before"), spans("after"), value_text(payload.get("video"))
    if went and came:
        return said("made {came} of {went} among the moments of {video}", came=came, went=went, video=video)
    if came:
        return said("added {came} among the moments of {video}", came=came, video=video)
    return said("removed {went} among the moments of {video}", went=went, video=video)


MOMENTS_PROPOSED = Event(
    "moments_proposed",
    EventGroup.MATERIAL,
    said("proposed moments of {videos} videos by {by}: {moments} new, {gone} went"),
)
"""by (shots, windows), videos, moments: how many are new, gone: proposed before and used by nothing"""
MOMENTS_CHANGED = Event("moments_changed", EventGroup.MATERIAL, _moments_words)
"""video, before, after: starts and ends (s) of the moments that went and came"""
MOMENTS_TAKEN = Event(
    "moments_taken",
    EventGroup.MATERIAL,
    said("took moments of {videos} videos from {file}: {moments} new, {gone} went"),
)
"""file, videos, moments: how many are new, gone"""
