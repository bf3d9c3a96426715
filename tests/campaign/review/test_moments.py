"""Clips of any moment of a video, for leads."""

import sqlite3
from contextlib import closing

import pytest

from backend.campaign.corpus.moments.editing import moment_clip
from backend.core.errors import VideoUnreadable
from support import Judging


@pytest.fixture(autouse=True)
def video(judging: Judging) -> str:
    """One video has a file of 60 s, as far as the database knows."""
    name = judging.pairs()[0]
    with closing(sqlite3.connect(judging.project.folder / "reelrank.db")) as db, db:
        db.execute(
            "UPDATE video SET path = 'videos/a.mp4', duration_s = 60, fps_num = 25, fps_den = 1, width_px = 640, "
            "height_px = 360, has_audio = 0, sha256 = name WHERE name = ?",
            [judging.state(name.pair).video],
        )
    return judging.state(name.pair).video


def test_a_lead_gets_the_moment_and_nothing_after_the_video(judging: Judging, video: str) -> None:
    job = moment_clip(judging.project, judging.lead, video, 12.5, 20.0)
    assert (job.start_s, job.end_s, job.identity) == (12.5, 20.0, video)
    assert moment_clip(judging.project, judging.lead, video, 50.0, 90.0).end_s == 60.0
    with pytest.raises(VideoUnreadable, match=r"begins at 60\.00 s, after the video's end at 60\.00 s"):
        moment_clip(judging.project, judging.lead, video, 60.0, 61.0)


def test_a_video_without_file_says_so(judging: Judging) -> None:
    with pytest.raises(VideoUnreadable, match="no file of the video unheard-of"):
        moment_clip(judging.project, judging.lead, "unheard-of", 0.0, 1.0)
