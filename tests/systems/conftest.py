"""Drawn videos and a tiny CLIP, shared by the tests of what looks at frames."""

from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from backend.encoders.clip import Clip, load_clip
from numbered_videos import Picture, write_source
from tiny_clip import write_clip


def moving(video: int, frame: int) -> Picture:
    """A bar that moves over a ground whose colour changes with every second, another way in each video."""
    second = frame // 5
    ground = [(70 * second + 90 * video) % 256, (150 * second) % 256, (40 + 35 * second * video) % 256]
    picture = np.full((48, 64, 3), ground, dtype=np.uint8)
    left = (4 * frame) % 56
    picture[:, left : left + 8] = 255 - np.array(ground, dtype=np.uint8)
    return picture


@pytest.fixture(scope="session")
def drawn(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Three videos of 9, 6 and 3 seconds, five frames a second."""
    folder = tmp_path_factory.mktemp("drawn")
    return {
        name: write_source(
            folder / f"{name}.mp4", range(5 * seconds), Fraction(1, 5), lambda frame, video=video: moving(video, frame)
        )
        for video, (name, seconds) in enumerate({"long": 9, "middle": 6, "short": 3}.items(), start=1)
    }


@pytest.fixture(scope="session")
def clip_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_clip(tmp_path_factory.mktemp("models") / "tiny-clip")


@pytest.fixture(scope="session")
def clip(clip_folder: Path) -> Clip:
    return load_clip(str(clip_folder))
