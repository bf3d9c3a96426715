"""A campaign in which every video has a file and nobody has graded."""

import pytest

from exam_rounds import Round
from support import Judging


@pytest.fixture
def fresh(judging: Judging) -> Round:
    """Before anything is settled."""
    found = Round(judging)
    found.change(
        "UPDATE video SET path = 'videos/' || name || '.mp4', duration_s = 60, fps_num = 25, fps_den = 1, "
        "width_px = 640, height_px = 360, has_audio = 0, sha256 = name"
    )
    return found
