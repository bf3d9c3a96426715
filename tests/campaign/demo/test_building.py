"""Building the demo project from the kept clips."""

from pathlib import Path

import pytest

from backend import api
from backend.campaign.demo import clips
from backend.encoders import sentence
from support import NOW, WordEncoder


@pytest.fixture
def built(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> api.Project:
    monkeypatch.setattr(sentence, "load", lambda spec: WordEncoder())
    return api.build_demo(tmp_path / "demo", judged=False, now=NOW, progress=lambda *_: None)


def test_the_demo_has_the_kept_clips_and_captions_and_asks_for_240_pairs(built: api.Project) -> None:
    counts = api.status_counts(built, api.OPERATOR)
    assert (counts["videos"], counts["moments"], sum(counts["pairs"].values())) == (16, 96, 240)
    assert counts["simulated"] == 0
    assert built.settings.cast == clips.cast()


def test_a_demo_that_was_moved_still_has_its_videos(built: api.Project, tmp_path: Path) -> None:
    moved = api.open_project(built.folder.rename(tmp_path / "elsewhere"))
    stored = dict(moved.store.db.execute("SELECT video_id, path FROM video").fetchall())
    files = [moved.file(path) for path in stored.values()]
    assert len(files) == 16
    assert all(file.is_relative_to(tmp_path / "elsewhere") for file in files)
    assert all(file.read_bytes() == (clips.folder() / file.name).read_bytes() for file in files)


def test_a_demo_cut_off_while_copying_is_built_by_the_next_try(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sentence, "load", lambda spec: WordEncoder())
    half = tmp_path / "demo" / "videos" / "rainy_street.mp4"
    half.parent.mkdir(parents=True)
    half.write_bytes((clips.folder() / half.name).read_bytes()[:1000])
    api.build_demo(tmp_path / "demo", judged=False, now=NOW, progress=lambda *_: None)
    assert half.read_bytes() == (clips.folder() / half.name).read_bytes()
