"""What is measured of a video."""

from dataclasses import dataclass
from fractions import Fraction


@dataclass(frozen=True, slots=True)
class VideoFacts:
    """What was measured of one video. `fps` is the exact average frame rate.

    `sha256` names the content: of a file its bytes, of a folder its frames and their rate. `size_bytes` is of all of
    it. `frames` are those that the video announces; with `decoded` each of them was looked at. `damage` says what is
    wrong with a video that can be shown all the same; empty where nothing is known to be.
    """

    path: str
    fps: Fraction
    duration_s: float
    width_px: int
    height_px: int
    has_audio: bool
    sha256: str
    codec: str = ""
    frames: int = 0
    size_bytes: int = 0
    decoded: bool = False
    damage: str = ""
