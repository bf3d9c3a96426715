"""Find the shots of a video: what one camera recorded without a break, between cuts, dissolves and fades.

Every frame is examined at 48 x 27 pixels. At a *cut*, a frame differs from the one before several times more than its
neighbours do, and the picture stays different afterwards. After a flash it does not stay different, so a flash is no
cut. In a *dissolve*, the first and the last picture differ, and the picture in the middle looks like their mean. When
things or the camera move, the middle does not look like that mean. When a lamp is switched on, the first and the last
picture are too similar. A *fade* goes through a picture without any content.

Measured against PySceneDetect in docs/decisions/080-moments.md.
"""

from collections.abc import Callable, Iterator

import numpy as np
from av.video.reformatter import Interpolation
from numpy.typing import NDArray

from backend.core.errors import VideoUnreadable
from backend.core.messages import said
from backend.media.decode import FrameSpan, opened, picture_stream
from backend.media.sources import Source

DETECTOR = "reelrank-shots-2"
"""Version of the detector; change it with anything below."""

CUT = 10.0
"""Least mean difference of two frames at a cut, of 255."""
CUT_RATIO = 3.0
"""Least ratio of the difference at a cut to the mean difference of the frames around it."""
AROUND = 5
"""Frames before and after that a difference is compared with."""
STAYS = 0.5
"""Least share of a cut's difference that remains between two frames before and one after."""

SPAN_S = 1.0
"""Seconds within which a dissolve is searched; longer ones are found if they change the picture enough in this time."""
DISSOLVE = 9.0
"""Least mean difference of the two ends of a dissolve, of 255."""
BLEND = 0.25
"""Largest difference of the middle picture from the mean of the ends, as a share of the ends' difference."""
ALIKE = 0.5
"""Largest correlation of the brightness of both ends at which they count as different pictures."""
FLAT = 4.0
"""Standard deviation of brightness, of 255, below which a picture has no content."""

_WIDTH, _HEIGHT = 48, 27
_AT_ONCE = 2_000
_NO_END_S = 1e9

_Pictures = NDArray[np.uint8]
_Numbers = NDArray[np.float64]


def find_shots(
    source: Source, duration_s: float, progress: Callable[[float], None] | None = None
) -> list[tuple[float, float]]:
    """Return the shots of a video as (start, end) in seconds, without gaps, from 0 to its end.

    After a cut, a shot begins at the exact time of its first frame. After a dissolve or a fade, it begins at the middle
    of the dissolve or fade.

    Args:
        source: a video file, or a folder of frames.
        duration_s: its measured duration.
        progress: called with the time reached, in seconds.

    Raises:
        VideoUnreadable: it is no video, or none of its pictures can be shown.
    """
    measured = _Measured()
    any_frame = False
    for times, pictures, final in _blocks(source):
        measured.add(times, pictures, final=final)
        any_frame = any_frame or len(times) > 0
        if progress and len(times):
            progress(float(times[-1]))
    if not any_frame:
        raise VideoUnreadable.named(source.name, said("is damaged: none of its frames can be shown"))
    begins = [0.0, *(time for time in measured.changes() if 0 < time < duration_s)]
    return list(zip(begins, [*begins[1:], duration_s], strict=True))


def _blocks(source: Source) -> Iterator[tuple[_Numbers, _Pictures, bool]]:
    """Yield all frames of a video in blocks: (times in seconds, small pictures, whether this is the last block).

    Pictures are `(n, 3, 27, 48)` for n frames. The last block may be empty.
    """
    with opened(source) as container:
        stream = picture_stream(container, source)
        times: list[float] = []
        pictures: list[_Pictures] = []
        for frame in FrameSpan(container, stream, 0.0, _NO_END_S):
            small = frame.picture.reformat(_WIDTH, _HEIGHT, "yuv444p", interpolation=Interpolation.AREA)
            times.append(float(frame.time_s))
            pictures.append(small.to_ndarray().astype(np.uint8, copy=False))
            if len(times) == _AT_ONCE:
                yield np.array(times), np.stack(pictures), False
                times, pictures = [], []
        empty = np.zeros((0, 3, _HEIGHT, _WIDTH), np.uint8)
        yield np.array(times), np.stack(pictures) if pictures else empty, True


class _Measured:
    """Measures how much every frame differs from frames near it, and finds cuts, dissolves and fades.

    Pictures that are no longer needed are dropped.
    """

    def __init__(self) -> None:
        self._found: list[tuple[_Numbers, _Numbers, _Numbers, NDArray[np.bool_], _Numbers, _Numbers]] = []
        """Times, steps, stays, flat, ends, blends."""
        self._held = np.zeros(0), np.zeros((0, 3, _HEIGHT, _WIDTH), np.uint8)
        self._done = 0  # how many of the held pictures are measured

    def add(self, times: _Numbers, pictures: _Pictures, *, final: bool) -> None:
        """Add a block of frames, and measure those whose later neighbours are known; with `final`, measure all."""
        times = np.concatenate([self._held[0], times])
        pictures = np.concatenate([self._held[1], pictures])
        if not len(times):
            return
        until = len(times) if final else int(np.searchsorted(times, times[-1] - SPAN_S))
        new = slice(self._done, max(until, self._done))
        if new.stop > new.start:
            self._measure(times, pictures, new)
        keep = max(0, min(int(np.searchsorted(times, times[new.stop - 1] - SPAN_S)), new.stop - 3)) if new.stop else 0
        self._held, self._done = (times[keep:], pictures[keep:]), new.stop - keep

    def _measure(self, times: _Numbers, pictures: _Pictures, new: slice) -> None:
        number = np.arange(new.start, new.stop)
        last = len(times) - 1
        step = _difference(pictures[new], pictures[np.maximum(number - 1, 0)])
        stays = _difference(pictures[np.minimum(number + 1, last)], pictures[np.maximum(number - 2, 0)])
        bright = pictures[:, 0].reshape(len(times), -1).astype(np.float32)
        deviation = bright.std(axis=1)
        centred = bright - bright.mean(axis=1, keepdims=True)
        first = np.searchsorted(times, times[new] - SPAN_S / 2 - 1e-6)
        end = np.minimum(np.searchsorted(times, times[new] + SPAN_S / 2 - 1e-6), last)
        ends = _difference(pictures[end], pictures[first])
        mean = ((pictures[first].astype(np.uint16) + pictures[end]) // 2).astype(np.uint8)
        off = _difference(pictures[new], mean)
        norm = np.maximum(deviation[first] * deviation[end] * bright.shape[1], 1e-6)
        alike = (centred[first] * centred[end]).sum(axis=1) / norm
        flat = deviation < FLAT
        dissolves = (ends >= DISSOLVE) & (off <= BLEND * ends) & (alike <= ALIKE) & ~flat[first] & ~flat[end]
        self._found.append((times[new], step, stays, flat[new], ends, np.where(dissolves, ends - 2 * off, 0.0)))

    def changes(self) -> list[float]:
        """Return the times at which shots change, in order; a cut takes precedence over a fade or dissolve near it."""
        times, steps, stays, flat, ends, blends = map(np.concatenate, zip(*self._found, strict=True))
        cuts = [float(times[n]) for n in _cuts(steps, stays)]
        for first, end in _runs(flat):
            middle = (first + end) // 2
            if first == 0 or end == len(times):
                continue
            if (
                ends[middle] >= DISSOLVE or times[end] - times[first] >= SPAN_S / 2
            ):  # after a flash the picture is as before
                _unless_near(cuts, float(times[middle]))
        while blends.max(initial=0.0) > 0:
            best = int(blends.argmax())
            _unless_near(cuts, float(times[best]))
            blends[np.abs(times - times[best]) < SPAN_S] = 0
        return sorted(cuts)


def _difference(first: _Pictures, second: _Pictures) -> _Numbers:
    """Return the mean absolute difference of each picture in `first` from that in `second`, from 0 to 255."""
    return np.asarray(np.abs(first.astype(np.int16) - second).mean(axis=(1, 2, 3)), dtype=np.float64)


def _cuts(steps: _Numbers, stays: _Numbers) -> list[int]:
    """Return the indexes of the frames at which a new shot begins with a cut.

    Args:
        steps: for each frame, its difference from the frame before.
        stays: for each frame, the difference between the frame after it and the second frame before it. It stays large
            after a cut.
    """
    places = []
    for n in np.flatnonzero(steps >= CUT).tolist():
        around = np.concatenate([steps[max(1, n - AROUND) : n], steps[n + 1 : n + 1 + AROUND]])
        stands_out = not len(around) or (steps[n] >= CUT_RATIO * around.mean() and steps[n] >= around.max())
        if n and stands_out and stays[n] >= STAYS * steps[n]:
            places.append(n)
    return places


def _runs(flags: NDArray[np.bool_]) -> list[tuple[int, int]]:
    """Return (first index, index after the last) of each run of True."""
    edges = np.flatnonzero(np.diff(np.concatenate([[False], flags, [False]]).astype(np.int8)))
    return [(int(first), int(end)) for first, end in edges.reshape(-1, 2)]


def _unless_near(times: list[float], time_s: float) -> None:
    """Add the time of a change of shots to `times`, unless a time in it is near already."""
    if all(abs(time_s - other) >= SPAN_S / 2 for other in times):
        times.append(time_s)
