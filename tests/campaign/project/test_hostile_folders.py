"""A project folder from a stranger: links out of it, and clips that are links to other files."""

from pathlib import Path

import pytest

from backend import api
from backend.ground.errors import ProjectError
from backend.media.jobs import ClipCache, clip_job, is_cut


@pytest.mark.parametrize("name", ["reelrank.db", "reelrank.toml"])
def test_a_project_whose_files_are_links_out_of_it_is_refused(tmp_path: Path, name: str) -> None:
    api.init_project(tmp_path / "mine", encoder="minilm").store.close()
    api.init_project(tmp_path / "theirs", encoder="minilm").store.close()
    file = tmp_path / "theirs" / name
    file.unlink()
    file.symlink_to(tmp_path / "mine" / name)
    with pytest.raises(ProjectError, match=f"{name} is a link out of the project"):
        api.open_project(tmp_path / "theirs")
    file.unlink()
    inside = (tmp_path / "mine" / name).rename(tmp_path / "theirs" / f"own-{name}")
    file.symlink_to(inside.name)
    api.open_project(tmp_path / "theirs").store.close()


def test_a_clip_that_is_a_link_is_no_clip_and_goes(tmp_path: Path) -> None:
    secret = tmp_path / "secret.txt"
    secret.write_text("nobody's business")
    job = clip_job(ClipCache(tmp_path / "clips"), tmp_path / "a.mp4", 0.0, 1.0, "ab")
    job.path.parent.mkdir()
    job.path.symlink_to(secret)
    assert not is_cut(job)
    assert not job.path.is_symlink()
    assert secret.read_text() == "nobody's business"
