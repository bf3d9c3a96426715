"""What becomes of the videos of a folder."""

from dataclasses import dataclass

from backend.ground.errors import Problem
from backend.media.facts import VideoFacts


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
