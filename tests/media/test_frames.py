"""Pictures at even distances, against the frames that PyAV decodes and their times."""

from fractions import Fraction
from pathlib import Path

import av
import numpy as np
import pytest

from backend.media.frames import frame_times, frames_at
from backend.media.sources import FrameFolder
from tests.media.test_frame_folders import frames

COLOURS = [16 + 8 * n for n in range(24)]


@pytest.fixture(scope="module")
def video(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three seconds, eight pictures a second, each of a brightness of its own."""
    path = tmp_path_factory.mktemp("frames") / "grey.mkv"
    with av.open(str(path), "w") as container:
        stream = container.add_stream("ffv1", rate=8)
        stream.width, stream.height, stream.pix_fmt = 64, 48, "yuv420p"
        for value in COLOURS:
            planes = np.full((72, 64), 128, dtype=np.uint8)
            planes[:48] = value
            container.mux(stream.encode(av.VideoFrame.from_ndarray(planes, format="yuv420p")))
        container.mux(stream.encode())
    return path


def shown(video: Path, per_s: float) -> list[int]:
    """Which pictures were given, by their brightness."""
    found = []
    for picture in frames_at(video, per_s):
        assert picture.shape == (48, 64, 3)
        assert picture.dtype == np.uint8
        grey = float(picture.mean()) * (235 - 16) / 255 + 16  # limited range
        found.append(min(range(24), key=lambda n: abs(COLOURS[n] - grey)))
    return found


@pytest.mark.parametrize(
    ("per_s", "expected"),
    [
        (1, [4, 12, 20]),  # at 0.5, 1.5 and 2.5 s
        (2, [2, 6, 10, 14, 18, 22]),
        (8, [*range(24)]),
        (16, [n // 2 for n in range(48)]),
        (0.4, [10]),  # at 1.25 s; 3.75 s is after the end
        (0.1, [0]),  # the middle of 10 s is after the end: the first picture
    ],
)
def test_the_picture_in_the_middle_of_every_step(video: Path, per_s: float, expected: list[int]) -> None:
    assert shown(video, per_s) == expected


@pytest.mark.long
def test_real_files_are_looked_at_whole(shared: Path) -> None:
    for path in sorted((shared / "data/videos").glob("*.mp4"))[:3]:
        with av.open(str(path)) as container:
            duration_s = float(container.duration / av.time_base)
        assert len(list(frames_at(path, 0.5))) == pytest.approx(duration_s * 0.5, abs=1)


def decoded_times(video: Path) -> list[float]:
    """The times of all pictures."""
    with av.open(str(video)) as container:
        stream = container.streams.video[0]
        return [
            float(picture.pts * (stream.time_base or 0))
            for picture in container.decode(stream)
            if picture.pts is not None
        ]


@pytest.mark.parametrize("name", ["edge/timecode_25fps.mp4", "edge/rotated90.mov", "edge/av1.mkv", "edge/hevc.mp4"])
def test_times_of_packets_are_those_of_pictures(shared: Path, name: str) -> None:
    video = shared / "data/videos" / name
    found = frame_times(video)
    assert found == decoded_times(video)
    assert found == sorted(set(found))


def test_a_folder_has_the_times_of_the_frames_that_are_there(tmp_path: Path) -> None:
    folder = frames(tmp_path / "f", [1, 2, 3, 4, 5, 7, 8])
    assert frame_times(FrameFolder(folder, Fraction(3))) == [0, 1 / 3, 2 / 3, 1, 4 / 3, 2, 7 / 3]
