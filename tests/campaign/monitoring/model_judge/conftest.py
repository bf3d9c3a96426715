"""A project whose videos have files, and an endpoint's key."""

import shutil
from pathlib import Path

import pytest

from backend.language.chat import KEY
from backend.media.content import sha256_of
from eyes import SECONDS
from scored import write_video
from support import MOMENTS, Judging


@pytest.fixture(scope="session")
def colours(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A video that changes its colour every second."""
    return write_video(tmp_path_factory.mktemp("colours") / "colours.mp4", SECONDS)


@pytest.fixture
def seen(judging: Judging, colours: Path, monkeypatch: pytest.MonkeyPatch) -> Judging:
    """The project at work, where every video has a file, and an endpoint's key."""
    monkeypatch.setenv(KEY, "sk-very-secret-0123456789")
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    (judging.project.folder / "videos").mkdir(exist_ok=True)
    with judging.project.store.db.atomic():
        for name in sorted({moment.video for moment in MOMENTS}):
            place = judging.project.folder / "videos" / f"{name}.mp4"
            shutil.copyfile(colours, place)
            judging.project.store.db.conn.execute(
                "UPDATE video SET path = ?, duration_s = 62, fps_num = 2, fps_den = 1, width_px = 64, height_px = 36, "
                "has_audio = 0, sha256 = ? WHERE name = ?",
                [f"videos/{name}.mp4", sha256_of(place), name],
            )
    return judging
