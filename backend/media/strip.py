"""Take frames of a moment: side by side in one small picture for people, or one by one for a model."""

from collections.abc import Callable, Iterator
from math import isfinite

import cv2
import numpy as np
from av.video.frame import VideoFrame
from numpy.typing import NDArray

from backend.core.errors import InputError, VideoUnreadable
from backend.core.messages import said
from backend.media.decode import FrameSpan, Opened, PictureStream, opened, picture_stream
from backend.media.encode import PictureConverter
from backend.media.sources import Source

Picture = NDArray[np.uint8]
"""A picture in BGR, `(height, width, 3)`."""

FRAMES = 6
WIDTH_PX = 160
"""Width of a frame, whose height is 9/16 of it. On high-resolution screens it is sharp at up to half this width."""

_QUALITY = 50
"""WebP quality: about 8 kB a strip. Twenty frames as an animated WebP take three times as much."""
_JPEG_QUALITY = 85
_LONG_STEP_S = 5.0
"""Frames further apart are read by seeking, which is faster than decoding everything between them."""
_INSTANT_S = 1e-3


def film_strip(
    source: Source, start_s: float, end_s: float, *, frames: int = FRAMES, width_px: int = WIDTH_PX
) -> bytes:
    """Return six frames of a moment, in order from left to right, as one WebP picture of 960 x 90 pixels.

    They are the frames visible in the middle of each sixth of `[start_s, end_s)`. If the video ends earlier, its last
    frame is repeated. Frames of another shape than 16:9 get black bars. With other `frames` or `width_px` (a multiple
    of 16), the number of parts and the width of the picture change accordingly.

    Args:
        source: a video file, or a folder of frames.
        start_s: start in seconds from the video's beginning.
        end_s: end in seconds; equal to `start_s` for the one frame visible there.
        frames: number of frames.
        width_px: width of one frame.

    Raises:
        InputError: the span is negative or not finite.
        VideoUnreadable: nothing of the moment can be shown.
    """
    cells = _shown(source, start_s, end_s, frames, lambda picture: _fitted(picture, width_px))
    return _encoded(np.hstack(cells), ".webp", [cv2.IMWRITE_WEBP_QUALITY, _QUALITY], source, start_s, end_s)


def moment_frames(source: Source, start_s: float, end_s: float, *, frames: int, longest_px: int) -> list[bytes]:
    """Return frames of a moment as JPEG pictures, in order.

    They are those visible in the middle of each of `frames` equal parts of the moment. If the video ends earlier, its
    last frame is repeated. No side of a picture is longer than `longest_px`, and its shape is kept. The files hold
    pixels only: no name, time or place.

    Raises:
        InputError: the span is negative or not finite.
        VideoUnreadable: nothing of the moment can be shown.
    """
    return [
        _encoded(picture, ".jpg", [cv2.IMWRITE_JPEG_QUALITY, _JPEG_QUALITY], source, start_s, end_s)
        for picture in _shown(source, start_s, end_s, frames, lambda picture: _within(picture, longest_px))
    ]


def _shown(
    source: Source, start_s: float, end_s: float, frames: int, shape: Callable[[Picture], Picture]
) -> list[Picture]:
    """Return the frames visible in the middle of each of `frames` equal parts of a moment, each shaped by `shape`."""
    if not (isfinite(start_s) and isfinite(end_s) and 0 <= start_s <= end_s):
        raise InputError.single(
            source.name,
            said(
                "the moment from {start_s} to {end_s} s is not valid: it must start at 0 or later and end "
                "after its start",
                start_s=start_s,
                end_s=end_s,
            ),
        )
    end_s = max(end_s, start_s + _INSTANT_S)
    with opened(source) as container:
        stream = picture_stream(container, source)
        shown = list(_shaped(container, stream, start_s, end_s, frames, shape))
    if not shown:
        raise VideoUnreadable.about(
            source.name, said("no frame of the moment {start_s}-{end_s} s can be shown", start_s=start_s, end_s=end_s)
        )
    return shown + shown[-1:] * (frames - len(shown))


def _encoded(picture: Picture, form: str, options: list[int], source: Source, start_s: float, end_s: float) -> bytes:
    written, encoded = cv2.imencode(form, picture, options)
    if not written:
        raise VideoUnreadable.about(
            source.name, said("the moment {start_s}-{end_s} s could not be encoded", start_s=start_s, end_s=end_s)
        )
    return bytes(encoded)


def _shaped(
    container: Opened,
    stream: PictureStream,
    start_s: float,
    end_s: float,
    frames: int,
    shape: Callable[[Picture], Picture],
) -> Iterator[Picture]:
    convert: PictureConverter | None = None
    last: VideoFrame | None = None
    shaped: Picture = np.zeros((1, 1, 3), dtype=np.uint8)
    times = [start_s + (n + 0.5) * (end_s - start_s) / frames for n in range(frames)]
    for picture in _visible(container, stream, start_s, end_s, times):
        if picture is not last:
            convert = convert or PictureConverter(stream, picture)
            shaped = shape(np.asarray(convert(picture).to_ndarray(format="bgr24"), dtype=np.uint8))
            last = picture
        yield shaped


def _visible(
    container: Opened, stream: PictureStream, start_s: float, end_s: float, times: list[float]
) -> Iterator[VideoFrame]:
    """Yield the pictures on screen at `times`, all between `start_s` and `end_s`; fewer if the video ends earlier."""
    if (end_s - start_s) / len(times) > _LONG_STEP_S:
        for time_s in times:
            for frame in FrameSpan(container, stream, time_s, time_s + _INSTANT_S):
                yield frame.picture
                break
        return
    for frame in FrameSpan(container, stream, start_s, end_s):
        while times and times[0] < frame.time_s + frame.lasts_s:
            yield frame.picture
            del times[0]


def _fitted(picture: Picture, width_px: int) -> Picture:
    """Scale a picture to fit into one cell of the strip, and centre it."""
    height_px = width_px * 9 // 16
    height, width = picture.shape[:2]
    scale = min(width_px / width, height_px / height)
    width, height = max(1, round(width * scale)), max(1, round(height * scale))
    cell = np.zeros((height_px, width_px, 3), dtype=np.uint8)
    left, top = (width_px - width) // 2, (height_px - height) // 2
    cell[top : top + height, left : left + width] = cv2.resize(picture, (width, height), interpolation=cv2.INTER_AREA)
    return cell


def _within(picture: Picture, longest_px: int) -> Picture:
    """Scale a picture down so that no side is longer than `longest_px`."""
    height, width = picture.shape[:2]
    scale = longest_px / max(width, height)
    if scale >= 1:
        return picture
    size = max(1, round(width * scale)), max(1, round(height * scale))
    return np.asarray(cv2.resize(picture, size, interpolation=cv2.INTER_AREA), dtype=np.uint8)
