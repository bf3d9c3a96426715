"""The campaign's secret: every campaign has its own, it survives a move, and no copy of the database tells it."""

import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from backend.campaign.doctor.database import backup, backup_now, migrate, move, restore
from backend.campaign.setup.project.folder import Project, open_project
from backend.campaign.setup.project.sentence_encoder import init_project
from backend.media.jobs import clip_job
from backend.store import upkeep
from backend.store.schema import migrations
from postgres import Cluster
from support import NOW, Judging

pytestmark = pytest.mark.usefixtures("random_orders")


def stored(database: Path) -> list[str]:
    with closing(sqlite3.connect(database)) as db:
        return [row[0] for row in db.execute("SELECT secret FROM campaign_secret")]


def tells(file: Path, secret: bytes) -> bool:
    """Whether a file holds the secret, in whatever page of it."""
    data = file.read_bytes()
    return secret in data or secret.hex().encode() in data.lower()


def clip_name(project: Project) -> str:
    return clip_job(project.clips, Path("a.mp4"), 1.0, 2.0, "ab").path.name


def test_every_campaign_has_a_secret_of_its_own_and_keeps_it(tmp_path: Path) -> None:
    one, other = (init_project(tmp_path / name, encoder="minilm") for name in ("one", "other"))
    assert len(one.secret) == len(other.secret) == 32
    assert one.secret != other.secret
    assert open_project(one.folder).secret == one.secret
    assert one.secret.hex() not in repr(one)
    assert repr(one.secret) not in repr(one)
    assert repr(one.secret) not in repr(clip_job(one.clips, Path("a.mp4"), 1.0, 2.0, "ab"))


def test_whoever_has_the_corpus_and_the_code_cannot_name_a_clip(tmp_path: Path) -> None:
    one, other = (init_project(tmp_path / name, encoder="minilm") for name in ("one", "other"))
    assert clip_name(one) == clip_name(open_project(one.folder))
    assert clip_name(one) != clip_name(other)


def test_no_backup_tells_the_secret_and_a_restored_one_works_with_another(judging: Judging, tmp_path: Path) -> None:
    project = judging.project
    folder, secret = project.folder, project.secret
    assert tells(folder / "reelrank.db", secret) or tells(folder / "reelrank.db-wal", secret)
    backup(project, tmp_path / "monday.db")
    on_the_page = backup_now(project, judging.lead, now=NOW)
    for copy in (tmp_path / "monday.db", on_the_page):
        assert not tells(copy, secret)
        assert stored(copy) == []
    project.store.close()
    by_hand = Path(shutil.copy(folder / "reelrank.db", tmp_path / "by-hand.db"))
    assert tells(by_hand, secret)
    for copy in (tmp_path / "monday.db", by_hand):
        kept = restore(folder, copy, now=NOW).kept
        assert kept is not None
        assert not tells(kept, secret)
        restored = open_project(folder)
        assert len(restored.secret) == 32
        assert restored.secret != secret
        restored.store.close()


def test_migrating_makes_the_secret_and_the_copy_it_keeps_does_not_tell_it(
    judging: Judging, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, secret = judging.project.folder / "reelrank.db", judging.project.secret
    judging.project.store.close()
    with closing(sqlite3.connect(path)) as db:
        db.execute("ALTER TABLE exam_attempt DROP COLUMN order_key")
        db.execute("DROP TABLE campaign_secret")
        db.execute("DELETE FROM _sqlite_migrations WHERE name = 'm039_secret'")
        db.commit()
    assert migrate(path.parent)[0] == ["m039_secret"]
    (made,) = stored(path)
    assert bytes.fromhex(made) != secret
    project = open_project(path.parent)
    assert project.secret == bytes.fromhex(made)
    project.store.close()
    monkeypatch.setattr(migrations, "_migrations", [*migrations._migrations])

    @migrations()
    def m999_later(db: object) -> None:
        """What a later version brings."""

    done, kept = upkeep.migrate(path, derive=lambda db: None)
    assert done == ["m999_later"]
    assert kept is not None
    assert not tells(kept, bytes.fromhex(made))
    assert stored(path) == [made]


def test_a_move_keeps_the_secret_and_what_it_leaves_behind_does_not_tell_it(judging: Judging, cluster: Cluster) -> None:
    folder, secret = judging.project.folder, judging.project.secret
    judging.project.store.close()
    _, kept = move(folder, cluster.address(cluster.new()), now=NOW)
    assert kept is not None
    assert not tells(kept, secret)
    moved = open_project(folder)
    assert moved.secret == secret
    for name in ("monday.db", "monday.dump"):
        backup(moved, folder / name)
        assert not tells(folder / name, secret)
    moved.store.close()
    move(folder, "file", now=NOW)
    assert open_project(folder).secret == secret
