"""Cut a video into overlapping windows, and hold how they are looked at."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, inf

from backend.core.errors import InputError

LENGTHS_S = (4.0, 8.0, 16.0, 32.0)
"""Of windows: TVR's moments last 9 s in the mean, those of ActivityNet Captions 36 s."""
PER_S = 1.0
NMS = 0.5


@dataclass(frozen=True, slots=True)
class Windowing:
    """How videos are looked at.

    Attributes:
        per_s: frames a second.
        lengths_s: of windows, in seconds; each begins half a length after the one before it.
        nms: IoU in (0, 1] above which a window falls to a better one of its video.
    """

    per_s: float = PER_S
    lengths_s: tuple[float, ...] = LENGTHS_S
    nms: float = NMS

    def __post_init__(self) -> None:
        """Refuse what means nothing."""
        if not 0 < self.per_s < inf:
            raise InputError.single("frames a second", f"{self.per_s:g} is not above 0")
        if not self.lengths_s or not all(0 < length < inf for length in self.lengths_s):
            raise InputError.single("windows", f"{list(self.lengths_s)} are not lengths above 0")
        if not 0 < self.nms <= 1:
            raise InputError.single("nms", f"{self.nms:g} is not above 0 and at most 1")


def windows(duration_s: float, lengths_s: Sequence[float]) -> list[tuple[float, float]]:
    """Windows of a video, by length, then by time; the last of each length ends with the video.

    A length that the video does not have gives the whole video, once.

    >>> windows(10.0, [4.0, 8.0])
    [(0.0, 4.0), (2.0, 6.0), (4.0, 8.0), (6.0, 10.0), (0.0, 8.0), (2.0, 10.0)]
    >>> windows(5.0, [4.0, 8.0, 16.0])
    [(0.0, 4.0), (1.0, 5.0), (0.0, 5.0)]
    """
    found: dict[tuple[float, float], None] = {}
    for length_s in lengths_s:
        if length_s >= duration_s:
            found[0.0, duration_s] = None
            continue
        steps = ceil((duration_s - length_s) / (length_s / 2))
        for step in range(steps):
            found[step * length_s / 2, step * length_s / 2 + length_s] = None
        found[duration_s - length_s, duration_s] = None
    return list(found)
