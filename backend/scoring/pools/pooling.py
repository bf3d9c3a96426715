"""Choose how a run is scored in pools; `reelrank` exports `PoolConventions` as `Pooling`."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, get_args

from backend.core.errors import InputError, Problem

Outside = Literal["error", "drop"]
TOP_VIDEOS = 5
"""Of the two-step, where only the first step's file is given."""


@dataclass(frozen=True, slots=True)
class PoolConventions:
    """The choices that change what of a run counts in pools.

    Raises:
        InputError: naming every choice that there is not.

    >>> PoolConventions(one_per_video=True).options
    {'one_per_video': True}
    """

    outside: Outside = "error"
    """Moments of videos that are not in the query's pool: refuse the file, or leave them out and count them."""
    one_per_video: bool = False
    """Keep the best moment of each video by score, then rank the videos by it (MVMR, section 3)."""
    top_videos: int | None = None
    """Two-step: only moments of this many videos, those that the first step ranks highest; None is one step."""

    def __post_init__(self) -> None:
        problems = []
        if self.outside not in get_args(Outside):
            known = ", ".join(get_args(Outside))
            problems.append(Problem("outside_pool", None, f"{self.outside!r} is not one of {known}"))
        if self.top_videos is not None and (isinstance(self.top_videos, bool) or self.top_videos < 1):
            problems.append(Problem("top_videos", None, f"{self.top_videos!r} is not at least 1"))
        if problems:
            raise InputError(problems)

    @property
    def options(self) -> dict[str, str | bool | float]:
        """The choices that are not the usual ones, as they stand beside the numbers."""
        chosen: dict[str, str | bool | float] = {}
        if self.outside != "error":
            chosen["outside_pool"] = self.outside
        if self.one_per_video:
            chosen["one_per_video"] = True
        if self.top_videos is not None:
            chosen["top_videos"] = self.top_videos
        return chosen


@dataclass(frozen=True, slots=True)
class PoolFile:
    """A file of pools to score runs in, and how: what `score_files` takes as `pool`."""

    path: Path
    pooling: PoolConventions = field(default_factory=PoolConventions)
    first_step: Path | None = None
    """A run whose scores rank the videos of a pool; only the best `pooling.top_videos` (5) of them are looked at."""
    own_video: bool = False
    """Whether each run is also scored in the query's own video alone."""
