"""Values that change over time with eased movement: the only clock of the demo is the time within a video."""

import bisect
import math
from collections.abc import Callable

Easing = Callable[[float], float]


def smooth(share: float) -> float:
    """Starts and ends at rest: 3p^2 - 2p^3 for p in [0, 1], held outside.

    >>> smooth(0.0), smooth(0.5), smooth(2.0)
    (0.0, 0.5, 1.0)
    """
    share = min(1.0, max(0.0, share))
    return share * share * (3 - 2 * share)


def gliding(ramp: float) -> Easing:
    """Constant speed with a gentle start and stop, each taking the share `ramp` (at most 0.5) of the time.

    >>> gliding(0.25)(0.5)
    0.5
    """
    speed = 1 / (1 - ramp)

    def ease(share: float) -> float:
        share = min(1.0, max(0.0, share))
        if share < ramp:
            return speed * share * share / (2 * ramp)
        if share > 1 - ramp:
            return 1 - speed * (1 - share) ** 2 / (2 * ramp)
        return speed * (share - ramp / 2)

    return ease


def pulse(t: float, start_s: float, end_s: float, ramp_s: float = 0.25) -> float:
    """0 outside `[start_s, end_s]`, 1 inside, with eased flanks of `ramp_s` within the span."""
    return smooth((t - start_s) / ramp_s) * smooth((end_s - t) / ramp_s)


def swing(t: float, hertz: float) -> float:
    """A sine of the given frequency, -1 to 1, that is 0 at t = 0."""
    return math.sin(2 * math.pi * hertz * t)


class Track:
    """One number over time, made of eased pieces; pieces must be added in order of their start."""

    def __init__(self, value: float) -> None:
        self._starts = [-math.inf]
        self._pieces: list[tuple[float, float, float, float, Easing]] = [(-1.0, 0.0, value, value, smooth)]

    def to(self, start_s: float, end_s: float, value: float, easing: Easing = smooth) -> None:
        """Move to `value` from whatever the track shows at `start_s`."""
        self._pieces.append((start_s, end_s, self.at(start_s), value, easing))
        self._starts.append(start_s)

    def at(self, t: float) -> float:
        """The value at time `t`."""
        start_s, end_s, before, after, easing = self._pieces[bisect.bisect_right(self._starts, t) - 1]
        if t >= end_s or before == after:
            return after
        return before + (after - before) * easing((t - start_s) / (end_s - start_s))
