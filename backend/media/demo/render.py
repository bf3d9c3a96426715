"""From scenes to video files and their captioned moments."""

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

import av
import cv2
import numpy as np

from backend.campaign.corpus.rules import CaptionedMoment
from backend.media.demo.brush import HEIGHT, WIDTH, Picture
from backend.media.demo.script_home import HOME
from backend.media.demo.script_out import OUT
from backend.media.demo.script_work import WORK
from backend.media.demo.stage import FPS, Scene

_MAKERS = {maker.__name__: maker for maker in (*HOME, *OUT, *WORK)}
VIDEOS: tuple[str, ...] = tuple(sorted(_MAKERS))
"""The names of the demo videos; a file is called by its name and `.mp4`."""

_BT601 = 6
_LIMITED_RANGE = 1


def scene(name: str) -> Scene:
    """The scene of one of `VIDEOS`, ready to draw any of its frames."""
    return _MAKERS[name]()


def captioned_moments() -> list[CaptionedMoment]:
    """All moments of the demo corpus, without rendering anything; `row` counts from 1."""
    return list(_all_moments())


@cache
def _all_moments() -> tuple[CaptionedMoment, ...]:
    moments: list[CaptionedMoment] = []
    for name in VIDEOS:
        one = scene(name)
        for start_s, end_s, caption in one.moments:
            moments.append(
                CaptionedMoment(
                    video=name,
                    start_s=round(start_s, 2),
                    end_s=round(end_s, 2),
                    caption=caption,
                    row=len(moments) + 1,
                    duration_s=one.duration_s,
                )
            )
    return tuple(moments)


def render_corpus(folder: Path, *, progress: Callable[[int, int], None] | None = None) -> list[CaptionedMoment]:
    """Write every demo video that is not there yet to `folder` as `<name>.mp4` and return all moments.

    A video appears under its name only when it is complete, so that an interrupted run can be repeated. Drawing is
    mostly Python, so the work is shared by one process a core.

    Args:
        folder: Created if missing.
        progress: Called with (videos done, videos in all) after each video.

    Raises:
        OSError: A process could not write its videos; it has said why on standard error.
    """
    folder.mkdir(parents=True, exist_ok=True)
    wanted = [name for name in VIDEOS if not _is_complete(folder / f"{name}.mp4", scene(name).frame_count)]
    done = len(VIDEOS) - len(wanted)
    cores = len(os.sched_getaffinity(0))
    shares = [share for share in (wanted[core::cores] for core in range(cores)) if share]
    # Programs of their own instead of multiprocessing, which would run the caller's main module again. They share
    # one pipe, on which each says what it has finished.
    reader, writer = os.pipe()
    painters = [
        subprocess.Popen([sys.executable, "-m", "backend.media.demo", folder, *share], stdout=writer)
        for share in shares
    ]
    os.close(writer)
    with os.fdopen(reader) as finished:
        for _ in finished:
            done += 1
            if progress is not None:
                progress(done, len(VIDEOS))
    if any([painter.wait() for painter in painters]):
        raise OSError(f"the demo's videos could not be written to {folder}")
    return captioned_moments()


def render_video(name: str, folder: Path) -> None:
    """Write one video of the demo."""
    # The process number keeps two runs in one folder from writing to the same file.
    unfinished = folder / f".{name}.{os.getpid()}.mp4"
    try:
        write_video(unfinished, frames(scene(name)))
        unfinished.replace(folder / f"{name}.mp4")
    finally:
        unfinished.unlink(missing_ok=True)


def frames(one: Scene) -> Iterator[Picture]:
    """Every picture of a scene in order: RGB, HEIGHT x WIDTH x 3, uint8."""
    for number in range(one.frame_count):
        yield one.frame(number / FPS)


def write_video(path: Path, pictures: Iterator[Picture]) -> None:
    """Encode pictures as H.264 in MP4, seekable from its first bytes; one thread, so that bytes repeat."""
    options = {"crf": "23", "preset": "veryfast", "threads": "1", "g": str(2 * FPS)}
    with av.open(str(path), "w", format="mp4", options={"movflags": "+faststart"}) as container:
        stream = container.add_stream("libx264", rate=FPS, options=options)
        stream.width, stream.height, stream.pix_fmt = WIDTH, HEIGHT, "yuv420p"
        context = stream.codec_context
        # Said aloud, because players guess differently for untagged video and the colours would shift.
        context.colorspace = context.color_primaries = context.color_trc = _BT601
        context.color_range = _LIMITED_RANGE
        for picture in pictures:
            # BT.601 with limited range, and several times faster than the encoder's own conversion.
            planes = np.asarray(cv2.cvtColor(picture, cv2.COLOR_RGB2YUV_I420), dtype=np.uint8)
            frame = av.VideoFrame.from_ndarray(planes, format="yuv420p")
            container.mux(stream.encode(frame))
        container.mux(stream.encode(None))


def _is_complete(path: Path, frame_count: int) -> bool:
    if not path.is_file():
        return False
    try:
        with av.open(str(path)) as container:
            # Counted, because the table of contents comes first and looks whole in a file that was cut off.
            return sum(packet.size > 0 for packet in container.demux(video=0)) == frame_count
    except (av.error.FFmpegError, OSError):
        return False
