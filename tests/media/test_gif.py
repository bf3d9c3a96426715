"""A GIF of a moment: frames of the moment alone, shown as long as in the video; read by Pillow."""

from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from backend.core.errors import InputError, VideoUnreadable
from backend.media.gif import HEIGHT_PX, cut_gif
from numbered_videos import IRREGULAR, number_of, numbered, write_source


def shown(path: Path) -> list[tuple[int, int]]:
    """The number that each frame carries, and for how many milliseconds it stands."""
    found = []
    with Image.open(path) as picture:
        for n in range(picture.n_frames):  # type: ignore[attr-defined] # of GIFs alone
            picture.seek(n)
            found.append((number_of(np.asarray(picture.convert("L"))), picture.info["duration"]))
        assert picture.info["loop"] == 0
    return found


@pytest.mark.parametrize(
    ("rate", "every", "lasts_ms"),
    [(Fraction(25), 2, 80), (Fraction(30), 3, 100), (Fraction(10), 1, 100), (Fraction(3), 1, 333)],
)
def test_the_frames_are_those_of_the_moment_at_their_times(
    tmp_path: Path, rate: Fraction, every: int, lasts_ms: int
) -> None:
    source = write_source(tmp_path / "a.mp4", range(60), 1 / rate)
    first, last = 12, 48
    report = cut_gif(source, float(first / rate), float(last / rate), tmp_path / "a.gif")
    frames = shown(tmp_path / "a.gif")
    assert [number for number, _ in frames] == list(range(first, last, every))
    assert report.frames == len(frames)
    assert {abs(ms - lasts_ms) <= 10 for _, ms in frames} == {True}  # a GIF counts in hundredths
    assert sum(ms for _, ms in frames) == pytest.approx(1000 * (last - first) / rate, abs=10)


def test_frames_that_follow_too_soon_are_left_out_and_the_end_is_kept(tmp_path: Path) -> None:
    source = write_source(tmp_path / "a.mp4", IRREGULAR, Fraction(1, 1000))
    cut_gif(source, 0.4, 2.0, tmp_path / "a.gif")
    wanted, latest = [], -1000
    for number, at in enumerate(IRREGULAR):
        if 400 <= at < 2000 and at - latest >= 80:
            wanted.append(number)
            latest = at
    frames = shown(tmp_path / "a.gif")
    assert [number for number, _ in frames] == wanted
    assert sum(ms for _, ms in frames) == pytest.approx(1600, abs=10)


def test_large_pictures_shrink(tmp_path: Path) -> None:
    source = write_source(tmp_path / "a.mp4", range(3), Fraction(1, 5), lambda n: numbered(n, 640, 2 * HEIGHT_PX))
    cut_gif(source, 0.0, 0.6, tmp_path / "a.gif")
    with Image.open(tmp_path / "a.gif") as picture:
        assert picture.size == (320, HEIGHT_PX)


def test_what_cannot_be_shown_leaves_nothing(tmp_path: Path) -> None:
    source = write_source(tmp_path / "a.mp4", range(50), Fraction(1, 25))
    with pytest.raises(VideoUnreadable, match=r"ends at 2\.0 s, before the moment 5\.0-6\.0 s begins"):
        cut_gif(source, 5.0, 6.0, tmp_path / "a.gif")
    with pytest.raises(InputError, match="is not valid: it must start at 0 or later and end after its start"):
        cut_gif(source, 1.0, 1.0, tmp_path / "a.gif")
    assert [path.name for path in tmp_path.iterdir()] == ["a.mp4"]
