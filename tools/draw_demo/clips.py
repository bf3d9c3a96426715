"""From scenes to what `assets/demo` keeps: video files, their captioned moments, the cast."""

import json
from collections.abc import Iterable, Iterator
from pathlib import Path

import av
import cv2
import numpy as np

from tools.draw_demo.brush import HEIGHT, WIDTH, Picture
from tools.draw_demo.cast import CAST
from tools.draw_demo.script_home import HOME
from tools.draw_demo.script_out import OUT
from tools.draw_demo.script_work import WORK
from tools.draw_demo.stage import FPS, Scene

_MAKERS = {maker.__name__: maker for maker in (*HOME, *OUT, *WORK)}
VIDEOS: tuple[str, ...] = tuple(sorted(_MAKERS))
"""The names of the demo videos; a file is called by its name and `.mp4`."""

_ENCODING = {"preset": "veryslow", "tune": "animation", "crf": "25", "threads": "1", "g": str(2 * FPS)}
"""For few bytes, as the files are kept; a key frame every two seconds, so that a cut is soon at its first picture."""
_BT601 = 6
_LIMITED_RANGE = 1


def scene(name: str) -> Scene:
    """The scene of one of `VIDEOS`, ready to draw any of its frames."""
    return _MAKERS[name]()


def moments_jsonl() -> str:
    """All captioned moments, video after video, as `reelrank import --format jsonl` reads them."""
    lines = []
    for name in VIDEOS:
        one = scene(name)
        for start_s, end_s, caption in one.moments:
            line = {"video": name, "start": round(start_s, 2), "end": round(end_s, 2), "caption": caption}
            lines.append(json.dumps({**line, "duration": one.duration_s}) + "\n")
    return "".join(lines)


def cast_toml() -> str:
    """Who appears, as the section of `reelrank.toml` has it."""
    return "[cast]\n" + "".join(f'"{name}" = "{words}"\n' for name, words in CAST.items())


def frames(one: Scene) -> Iterator[Picture]:
    """Every picture of a scene in order: RGB, HEIGHT x WIDTH x 3, uint8."""
    for number in range(one.frame_count):
        yield one.frame(number / FPS)


def write_video(path: Path, pictures: Iterable[Picture]) -> None:
    """Encode pictures as H.264 in MP4, seekable from its first bytes; one thread, so that bytes repeat."""
    with av.open(str(path), "w", format="mp4", options={"movflags": "+faststart"}) as container:
        stream = container.add_stream("libx264", rate=FPS, options=_ENCODING)
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
