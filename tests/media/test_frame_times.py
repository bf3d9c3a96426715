"""When the frames of a video are shown, held against decoding every one of them."""

from fractions import Fraction
from pathlib import Path

import av
import pytest

from backend.core.errors import VideoUnreadable
from backend.media.frames import frame_times
from backend.media.sources import FrameFolder
from tests.media.test_frame_folders import frames


def decoded(video: Path) -> list[float]:
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
    assert found == decoded(video)
    assert found == sorted(set(found))


def test_a_folder_has_the_times_of_the_frames_that_are_there(tmp_path: Path) -> None:
    folder = frames(tmp_path / "f", [1, 2, 3, 4, 5, 7, 8])
    assert frame_times(FrameFolder(folder, Fraction(3))) == [0, 1 / 3, 2 / 3, 1, 4 / 3, 2, 7 / 3]


def test_what_is_no_video_is_told(tmp_path: Path) -> None:
    (tmp_path / "a.mp4").write_bytes(b"no video")
    with pytest.raises(VideoUnreadable, match=r"a\.mp4 is not a video file"):
        frame_times(tmp_path / "a.mp4")
