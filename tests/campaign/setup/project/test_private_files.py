"""Files of a project are their owner's alone; files that a person asks for elsewhere follow that person's umask."""

import os
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from annotate_app import __main__ as server
from backend.campaign.corpus.captions.name_mapping import propose_cast
from backend.campaign.doctor.database import backup, backup_now, restore
from backend.campaign.doctor.examination import doctor
from backend.campaign.nouns import OPERATOR
from backend.campaign.release.export.freezing import export_release
from backend.campaign.setup.project.sentence_encoder import init_project
from backend.campaign.setup.serving.server import note_address
from backend.core.errors import ProjectError
from backend.core.file_system import UMASK_VARIABLE
from backend.core.locking import locked
from backend.encoders.cache import keep_array
from backend.media.clips import ensure as cut_clip
from backend.media.jobs import clip_job, gif, storyboard
from backend.media.probe import probe
from backend.media.together import cut, cut_ahead
from numbered_videos import write_source
from support import NOW, PARTLY, Judging


@pytest.fixture(autouse=True)
def usual_umask() -> Iterator[None]:
    before = os.umask(0o022)
    yield
    os.umask(before)


def rights(folder: Path) -> dict[str, str]:
    """What others than the owner may do with a folder and with all that lies in it."""
    found = {path.relative_to(folder).as_posix(): path.lstat().st_mode for path in [folder, *folder.rglob("*")]}
    return {name: oct(mode & 0o077) for name, mode in sorted(found.items())}


def test_everything_in_a_project_is_its_owners_alone(judging: Judging, tmp_path: Path) -> None:
    project = judging.project
    for who in (0, 1):
        judging.grade(who, judging.pairs()[0].pair, 3)
    export_release(project, OPERATOR, None, PARTLY, now=NOW)
    backup_now(project, judging.lead, now=NOW)
    propose_cast(project, OPERATOR)
    note_address(project, "http://127.0.0.1:8501")
    keep_array(project.embeddings / "encoder" / "shard.npy", np.zeros(3))
    video = write_source(tmp_path / "v.mp4", range(50), Fraction(1, 25))
    sha256 = probe(video).sha256
    jobs = [clip_job(project.clips, video, start_s, start_s + 0.4, sha256) for start_s in (0.0, 0.5, 1.0)]
    for job in (jobs[0], storyboard(jobs[0]), gif(jobs[0])):
        cut_clip(job)
    cut_ahead(jobs[1:])
    with locked(project.clips.folder / "clip.lock"):
        found = rights(project.folder)
    assert {name.split("/")[0] for name in found} >= {"reelrank.db", "reelrank.db-wal", "cache", "releases", "backups"}
    assert set(found.values()) == {"0o0"}, found


def test_a_new_project_is_closed_and_copies_of_its_database_too(tmp_path: Path) -> None:
    project = init_project(tmp_path / "new", encoder="minilm")
    backup(project, tmp_path / "copy.db")
    project.store.close()
    restore(tmp_path / "new", tmp_path / "copy.db", now=NOW)
    (tmp_path / "new" / "reelrank.db").write_bytes(b"no database")
    restore(tmp_path / "new", tmp_path / "copy.db", now=NOW + 1)
    assert len(list((tmp_path / "new").glob("reelrank.before-restore-*"))) == 2
    assert set(rights(tmp_path / "new").values()) == {"0o0"}
    assert (tmp_path / "copy.db").stat().st_mode & 0o777 == 0o600
    (tmp_path / "theirs").mkdir()
    init_project(tmp_path / "theirs", encoder="minilm").store.close()
    assert (tmp_path / "theirs").stat().st_mode & 0o777 == 0o755  # the person made it


def test_what_a_person_asks_for_elsewhere_has_the_rights_of_their_umask(judging: Judging, tmp_path: Path) -> None:
    for who in (0, 1):
        judging.grade(who, judging.pairs()[0].pair, 3)
    export_release(judging.project, OPERATOR, tmp_path / "far" / "release", PARTLY, now=NOW)
    video = write_source(tmp_path / "v.mp4", range(10), Fraction(1, 25))
    cut(video, 0.0, 0.2, tmp_path / "far" / "clip.mp4")
    assert set(rights(tmp_path / "far").values()) == {"0o55", "0o44"}


def test_a_group_shares_a_project_where_its_operator_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(UMASK_VARIABLE, "007")
    init_project(tmp_path / "new", encoder="minilm").store.close()
    assert set(rights(tmp_path / "new").values()) == {"0o70", "0o60"}
    for wrong in ("77", "0999", "rwx", "-01", "700"):
        monkeypatch.setenv(UMASK_VARIABLE, wrong)
        with pytest.raises(ProjectError, match=f"{UMASK_VARIABLE} is {wrong}: write three digits"):
            init_project(tmp_path / "other", encoder="minilm")


def test_the_server_makes_files_for_its_user_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[int] = []
    monkeypatch.setattr("streamlit.web.cli.main", lambda: made.append(os.umask(0o022)))
    monkeypatch.setattr("sys.argv", ["annotate_app"])
    monkeypatch.setattr(server.signal, "signal", lambda *_: None)
    monkeypatch.setattr(server.logs, "begin", lambda _: None)
    server.main()
    assert made == [0o077]


def test_the_doctor_names_what_others_may_read_and_closes_it(judging: Judging) -> None:
    project = judging.project
    folder = project.folder
    backup_now(project, judging.lead, now=NOW)
    (folder / ".streamlit").mkdir(mode=0o700)
    (folder / ".streamlit" / "secrets.toml").write_text("")
    (folder / "mine.txt").write_text("")
    folder.chmod(0o755)
    assert others(judging) == (".streamlit/secrets.toml",)
    for place in ("reelrank.db", "backups"):
        (folder / place).chmod(0o755)
    assert others(judging) == (".streamlit/secrets.toml", "backups", "reelrank.db")
    folder.chmod(0o700)
    assert others(judging) == ()
    folder.chmod(0o755)
    others(judging, repair=True)
    assert others(judging) == ()
    assert {name for name, bits in rights(folder).items() if bits != "0o0"} == {".", "mine.txt"}


def others(judging: Judging, *, repair: bool = False) -> tuple[str, ...]:
    report = doctor(judging.project, now=NOW, repair=repair)
    return next((one.examples for one in report.findings if one.check == "read by others"), ())
