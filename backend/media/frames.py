"""Read the frames of whole videos: their times, pictures at a fixed rate, and vectors from a model."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from fractions import Fraction
from pathlib import Path
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from backend.core.errors import VideoUnreadable
from backend.core.file_system import make_private_folder
from backend.core.messages import said
from backend.core.parallel import run_units
from backend.core.progress import Steps
from backend.core.where import HERE, where_of
from backend.media.content import sha256_of
from backend.media.decode import FrameSpan, Opened, opened, packets, picture_stream, time_of, video_stream
from backend.media.encode import PictureConverter
from backend.media.frame_folder import OpenFolder
from backend.media.sources import Source, paths_of, place_of_video

_NO_END_S = 1e9


def frame_times(source: Source) -> list[float]:
    """Return the times of a video's frames in seconds, rising, from the first frame that can be shown.

    Reads the video once and decodes one picture; the times of later frames are those that the file states. Times count
    from the start of the video. If the first picture comes late, it is shown from 0 on, so its time is 0. Times are
    rounded once to a double. A clip cut from one of these times to a later one begins with the frame of the first time,
    and ends just before the frame of the later time.

    Raises:
        VideoUnreadable: it is no video, or none of its frames can be shown.
    """
    with opened(source) as container:
        stream = picture_stream(container, source)
        first = next(iter(FrameSpan(container, stream, 0.0, _NO_END_S)), None)
        first_s = time_of(first.picture, stream) if first is not None else None
    if first is None or first_s is None:
        raise VideoUnreadable.named(source.name, said("is damaged: none of its frames can be shown"))
    with opened(source) as container:
        later = sorted(time_s for time_s in _announced(container, source) if time_s > first_s)
    return [float(time_s) for time_s in (first.time_s, *later)]


def _announced(container: Opened, source: Source) -> set[Fraction]:
    if isinstance(container, OpenFolder):
        return {place * container.interval_s for place, file in enumerate(container.files) if file is not None}
    times: set[Fraction] = set()
    stream = video_stream(container, source)
    for packet in packets(container, stream):
        time_s = time_of(packet, stream)
        if time_s is not None and not packet.is_discard:
            times.add(time_s)
    return times


def frames_at(source: Source, per_s: float) -> Iterator[NDArray[np.uint8]]:
    """Yield the picture visible in the middle of every interval of 1 / `per_s` seconds.

    Pictures are upright, with square pixels and at most 720 lines; RGB, uint8 `(height, width, 3)`. The last picture
    counts as visible until the end of the file. Intervals whose middle is after the end give no picture. A video that
    ends before the middle of the first interval gives its first picture.

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
        yielded = False
        for frame in FrameSpan(container, stream, 0.0, _NO_END_S):
            if first is not None and next_s >= frame.time_s + frame.lasts_s:
                continue
            convert = convert or PictureConverter(stream, frame.picture)
            pixels = np.asarray(convert(frame.picture).to_ndarray(format="rgb24"), dtype=np.uint8)
            first = pixels if first is None else first
            while next_s < frame.time_s + frame.lasts_s:
                yield pixels
                yielded = True
                next_s += step_s
    if first is None:
        raise VideoUnreadable.named(source.name, said("is damaged: none of its frames can be shown"))
    if not yielded:
        yield first


class FrameModel(Protocol):
    """A model that encodes frames, such as CLIP; its optional `where` says on which machines it runs."""

    def frames(
        self, video_sha256: str, per_s: float, pictures: Callable[[], Iterable[NDArray[np.uint8]]], folder: Path
    ) -> NDArray[np.float32]:
        """Return unit vectors `(frames, dim)` of a video's frames, from the cache if they are there.

        Args:
            video_sha256: the hash of the video's content, which names its vectors in the cache.
            per_s: frames a second.
            pictures: returns the frames; only called if the vectors are not cached.
            folder: the cache of vectors.
        """
        ...


def vectors_of(model: FrameModel, video: Source, per_s: float, folder: Path) -> NDArray[np.float32]:
    """Return unit vectors of a video's frames, float32 `(frames, dim)`; row `i` is at `(i + 0.5) / per_s` seconds.

    Args:
        model: the model that encodes them.
        video: the video.
        per_s: frames a second.
        folder: the cache of vectors.

    Raises:
        VideoUnreadable: the video cannot be shown.
        EncoderUnavailable: the model cannot be built.
    """
    return model.frames(sha256_of(video), per_s, lambda: frames_at(video, per_s), folder)


def keep_frames(
    model: FrameModel, videos: Iterable[Source], folder: Path, *, per_s: float, progress: Steps | None = None
) -> None:
    """Encode the frames of videos on the machines where the model runs, and cache their vectors.

    Does nothing if the model runs in this process. Videos that cannot be shown get no vectors; a later request for
    their vectors reports why.
    """
    where = where_of(model)
    if where == HERE:
        return
    units = list(videos)
    make_private_folder(folder)
    run_units(
        _cache_vectors,
        (model, per_s, folder),
        units,
        where,
        called=lambda video: str(place_of_video(video)),
        sees=paths_of(units),
        fills=[folder],
        progress=progress,
    )


def _cache_vectors(shared: tuple[FrameModel, float, Path], video: Source) -> None:
    model, per_s, folder = shared
    with suppress(VideoUnreadable):
        vectors_of(model, video, per_s, folder)
