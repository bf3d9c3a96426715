"""What is measured of a video file."""

from dataclasses import dataclass
from fractions import Fraction


@dataclass(frozen=True, slots=True)
class VideoFacts:
    """What was measured of one video file. `fps` is the exact average frame rate."""

    path: str
    fps: Fraction
    duration_s: float
    width_px: int
    height_px: int
    has_audio: bool
    sha256: str
