"""Put small pictures of a moment side by side, for exported pages and as the storyboard of a video."""

from collections.abc import Iterator
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

FRAMES = 6
WIDTH_PX = 160
"""Width of a frame, whose height is 9/16 of it. On high-resolution screens it is sharp at up to half this width."""

_QUALITY = 50
"""WebP quality: about 8 kB a strip. Twenty frames as an animated WebP take three times as much."""
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
        times = _middles(start_s, end_s, frames)
        cells = list(_cells(container, stream, start_s, end_s, times, width_px))
    if not cells:
        raise VideoUnreadable.about(
            source.name, said("no frame of the moment {start_s}-{end_s} s can be shown", start_s=start_s, end_s=end_s)
        )
    cells += cells[-1:] * (frames - len(cells))
    written, encoded = cv2.imencode(".webp", np.hstack(cells), [cv2.IMWRITE_WEBP_QUALITY, _QUALITY])
    if not written:
        raise VideoUnreadable.about(
            source.name, said("the moment {start_s}-{end_s} s could not be encoded", start_s=start_s, end_s=end_s)
        )
    return bytes(encoded)


def _middles(start_s: float, end_s: float, parts: int) -> list[float]:
    """Return the middle of each of `parts` equal parts of a span."""
    return [start_s + (n + 0.5) * (end_s - start_s) / parts for n in range(parts)]


def _cells(
    container: Opened, stream: PictureStream, start_s: float, end_s: float, times: list[float], width_px: int
) -> Iterator[NDArray[np.uint8]]:
    convert: PictureConverter | None = None
    last: VideoFrame | None = None
    cell = _fitted(np.zeros((9, 16, 3), dtype=np.uint8), width_px)
    for picture in _visible(container, stream, start_s, end_s, times):
        if picture is not last:
            convert = convert or PictureConverter(stream, picture)
            pixels = np.asarray(convert(picture).to_ndarray(format="bgr24"), dtype=np.uint8)
            cell, last = _fitted(pixels, width_px), picture
        yield cell


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


def _fitted(picture: NDArray[np.uint8], width_px: int) -> NDArray[np.uint8]:
    """Scale a picture to fit into one cell of the strip, and centre it."""
    height_px = width_px * 9 // 16
    height, width = picture.shape[:2]
    scale = min(width_px / width, height_px / height)
    width, height = max(1, round(width * scale)), max(1, round(height * scale))
    cell = np.zeros((height_px, width_px, 3), dtype=np.uint8)
    left, top = (width_px - width) // 2, (height_px - height) // 2
    cell[top : top + height, left : left + width] = cv2.resize(picture, (width, height), interpolation=cv2.INTER_AREA)
    return cell
