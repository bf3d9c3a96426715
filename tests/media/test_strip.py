"""A strip holds the frames visible in the middle of each sixth of the moment, told by their colours."""

from pathlib import Path

import cv2
import numpy as np
import pytest
from numpy.typing import NDArray

from backend.core.errors import InputError, VideoUnreadable
from backend.media.strip import film_strip
from scored import colour_at, write_video


def cells(strip: bytes) -> list[NDArray[np.int64]]:
    """The six frames of a strip, RGB."""
    picture = cv2.imdecode(np.frombuffer(strip, np.uint8), cv2.IMREAD_COLOR)
    assert picture.shape == (90, 960, 3)
    return [np.asarray(cell[:, :, ::-1], dtype=np.int64) for cell in np.split(picture, 6, axis=1)]


def seconds(strip: bytes, length: int = 60) -> list[int]:
    """Which second of the video each frame is from, by the colour in its middle."""
    colours = np.array([colour_at(second) for second in range(length)])
    return [int(np.abs(colours - cell[45, 80]).sum(axis=1).argmin()) for cell in cells(strip)]


@pytest.fixture(scope="module", params=[4, 250], ids=["many key frames", "one key frame"])
def video(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_video(tmp_path_factory.mktemp("strip") / "video.mp4", 60, every=request.param)


@pytest.mark.parametrize(
    ("start_s", "end_s", "expected"),
    [
        (2, 8, [2, 3, 4, 5, 6, 7]),
        (10.25, 22.25, [11, 13, 15, 17, 19, 21]),
        (0, 60, [5, 15, 25, 35, 45, 55]),
        (30, 30.1, [30] * 6),
        (41, 41, [41] * 6),
        (57, 63, [57, 58, 59, 59, 59, 59]),
        (0, 120, [10, 30, 50, 50, 50, 50]),
    ],
    ids=["seconds", "between frames", "long", "shorter than a frame", "an instant", "past the end", "long past it"],
)
def test_the_frames_of_the_moment_in_order(video: Path, start_s: float, end_s: float, expected: list[int]) -> None:
    assert seconds(film_strip(video, start_s, end_s)) == expected


def test_colours_stay_and_the_strip_is_small(video: Path) -> None:
    strip = film_strip(video, 2, 8)
    assert np.abs(cells(strip)[0][45, 80] - colour_at(2)).max() <= 20
    assert len(strip) < 25_000


def test_an_upright_video_stands_whole_between_black_bars(tmp_path: Path) -> None:
    (first, *_) = cells(film_strip(write_video(tmp_path / "phone.mp4", 6, 36, 64), 0, 6))
    wide = 90 * 36 / 64
    bright = first.sum(axis=2).max(axis=0) > 60
    assert abs(int(bright.sum()) - wide) <= 4
    assert not bright[:50].any()
    assert not bright[-50:].any()


def test_a_moment_that_no_video_shows_is_refused_in_words(video: Path, tmp_path: Path) -> None:
    with pytest.raises(VideoUnreadable, match="no frame of the moment"):
        film_strip(video, 70, 80)
    with pytest.raises(VideoUnreadable, match="no video file"):
        film_strip(tmp_path / "lost.mp4", 0, 1)
    for start_s, end_s in ((5, 2), (-1, 2), (0, float("inf")), (float("nan"), 2)):
        with pytest.raises(InputError, match="is not valid: it must start at 0 or later and end after its start"):
            film_strip(video, start_s, end_s)


def test_a_strip_of_other_frames_divides_the_moment_into_so_many(video: Path) -> None:
    strip = film_strip(video, 0, 40, frames=8, width_px=240)
    picture = cv2.imdecode(np.frombuffer(strip, np.uint8), cv2.IMREAD_COLOR)
    assert picture.shape == (135, 8 * 240, 3)
    colours = np.array([colour_at(second) for second in range(60)])
    middles = [np.asarray(cell[67, 120, ::-1], dtype=np.int64) for cell in np.split(picture, 8, axis=1)]
    assert [int(np.abs(colours - middle).sum(axis=1).argmin()) for middle in middles] == list(range(2, 40, 5))
