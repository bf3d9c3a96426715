"""Pictures of a whole video at even distances, for models that look at it."""

from collections.abc import Iterator
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from backend.core.errors import VideoUnreadable
from backend.core.messages import said
from backend.media.decode import FrameSpan, opened, picture_stream
from backend.media.picture import PictureConverter
from backend.media.sources import Source

_NO_END_S = 1e9


def frames_at(source: Source, per_s: float) -> Iterator[NDArray[np.uint8]]:
    """The pictures visible in the middle of every 1 / `per_s` seconds; of a shorter video its first one.

    Upright, in square pixels, at most 720 lines; RGB, uint8 `(height, width, 3)`. The last picture is held to the end
    of the file; a middle that comes later is left out.

    Args:
        source: a video file, or a folder of frames.
        per_s: pictures a second, above 0.

    Raises:
        VideoUnreadable: it is no video, or none of its pictures can be shown.
    """
    step_s = 1 / Fraction(str(per_s))  # 0.4 is 2/5, whatever its double is
    with opened(source) as container:
        stream = picture_stream(container, source)
        convert: PictureConverter | None = None
        next_s = step_s / 2
        first: NDArray[np.uint8] | None = None
        shown = False
        for frame in FrameSpan(container, stream, 0.0, _NO_END_S):
            if first is not None and next_s >= frame.time_s + frame.lasts_s:
                continue
            convert = convert or PictureConverter(stream, frame.picture)
            pixels = np.asarray(convert(frame.picture).to_ndarray(format="rgb24"), dtype=np.uint8)
            first = pixels if first is None else first
            while next_s < frame.time_s + frame.lasts_s:
                yield pixels
                shown = True
                next_s += step_s
    if first is None:
        raise VideoUnreadable(
            said("{name} {why}", name=source.name, why=said("is damaged: none of its frames can be shown"))
        )
    if not shown:
        yield first
