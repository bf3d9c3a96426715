"""Videos are previewed before they are added, and those that nothing uses can be removed."""

import base64
import shutil
from pathlib import Path

import pytest

from backend.campaign import demo
from backend.campaign.corpus.moments.model import ByWindows
from backend.campaign.corpus.moments.proposing import propose_moments
from backend.campaign.monitoring.activity.log import find_activity
from backend.campaign.monitoring.activity.model import ActivityFilter
from backend.campaign.monitoring.videos.adding import preview_videos, remove_videos
from backend.campaign.monitoring.videos.check import import_corpus, register_videos, video_states
from backend.campaign.nouns import OPERATOR
from backend.campaign.setup.project.folder import Project
from backend.campaign.setup.project.sentence_encoder import init_project
from backend.core.errors import InputError
from support import NOW, Judging


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return init_project(tmp_path / "project", encoder="minilm")


@pytest.fixture
def folder(project: Project) -> Path:
    """Three videos, and a file that is none."""
    folder = project.folder / "videos"
    folder.mkdir()
    for number, clip in enumerate(sorted(demo.clip_folder().glob("*.mp4"))[:3]):
        shutil.copy(clip, folder / f"{number}.mp4")
    (folder / "letter.mp4").write_text("Dear Lea")
    return folder


def names(project: Project) -> list[str]:
    return [one.video for one in video_states(project, OPERATOR)]


def test_a_preview_shows_what_would_be_added_and_refused_and_writes_nothing(project: Project, folder: Path) -> None:
    report, pictures = preview_videos(project, OPERATOR, folder, now=NOW)
    assert [(one.name, one.new) for one in report.videos] == [("0", True), ("1", True), ("2", True)]
    assert [problem.file for problem in report.problems] == ["letter.mp4"]
    assert [one.name for one in pictures] == ["0", "1", "2"]
    assert all(base64.b64decode(one.webp)[8:12] == b"WEBP" and one.duration_s > 0 for one in pictures)
    assert names(project) == []
    assert not find_activity(project, OPERATOR, ActivityFilter(), first=0, most=9)
    register_videos(project, OPERATOR, folder, now=NOW)
    again, none = preview_videos(project, OPERATOR, folder, now=NOW)
    assert (again.new, len(again.videos), none) == (0, 3, [])


def test_videos_that_nothing_uses_are_removed_with_their_proposed_moments(project: Project, folder: Path) -> None:
    register_videos(project, OPERATOR, folder, now=NOW)
    propose_moments(project, OPERATOR, ByWindows((2.0,), 1.0), now=NOW)
    assert remove_videos(project, OPERATOR, ["0", "2"], now=NOW) == 2
    assert names(project) == ["1"]
    assert (folder / "0.mp4").exists()
    assert project.store.db.conn.execute("SELECT count(DISTINCT video_id) FROM moment").fetchone()[0] == 1
    assert register_videos(project, OPERATOR, folder, now=NOW).new == 2


def test_a_video_in_use_stays_and_so_do_the_others_that_were_named_with_it(project: Project, folder: Path) -> None:
    register_videos(project, OPERATOR, folder, now=NOW)
    file = project.folder / "moments.csv"
    file.write_text("video,start,end,caption\n1,0,1,A dog runs.\n")
    import_corpus(project, OPERATOR, file, now=NOW)
    with pytest.raises(InputError) as refused:
        remove_videos(project, OPERATOR, ["0", "1", "no such"], now=NOW)
    assert str(refused.value).splitlines() == [
        "1: stays, because captions, queries or grades use 1 of its moments",
        "no such: is not a video of this project",
    ]
    assert names(project) == ["0", "1", "2"]
    with pytest.raises(InputError, match="choose at least one"):
        remove_videos(project, OPERATOR, [], now=NOW)


def test_videos_with_grades_stay(judging: Judging) -> None:
    judging.grade(0, judging.pairs()[0].pair, 3)
    for one in names(judging.project):
        with pytest.raises(InputError, match="stays, because"):
            remove_videos(judging.project, judging.lead, [one], now=NOW)
