"""A campaign in PostgreSQL: brought there and back row by row, and every list as from the file."""

import os
import re
import shutil
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from functools import partial
from pathlib import Path

import psycopg
import pytest

from backend import store
from backend.campaign.desk import exchange
from backend.campaign.doctor.database import backup, migrate, move, restore
from backend.campaign.doctor.examination import doctor
from backend.campaign.judging.model import GradeEvent
from backend.campaign.judging.staffing import suspend
from backend.campaign.nouns import OPERATOR, Person, Role
from backend.campaign.release.export.freezing import export_release
from backend.campaign.release.export.model import ReleaseOptions
from backend.campaign.review.adjudicating import adjudicate
from backend.campaign.review.model import ReviewList
from backend.campaign.review.status import review_page, status_counts
from backend.campaign.setup.people.accounts import add_person, list_people
from backend.campaign.setup.project import settings_file
from backend.campaign.setup.project.folder import Project, open_project
from backend.campaign.setup.project.sentence_encoder import init_project
from backend.core.errors import InputError, ProjectError, ReelRankError, StoreUnavailable
from backend.encoders import sentence
from backend.store import creating, moving, opening, postgresql
from backend.store.connection import writing
from backend.store.dialect import Raw
from bench import campaign
from postgres import Cluster, binary
from support import NOW, Judging, WordEncoder
from verbs import VERBS, arguments, permission

GUIDE = Path(__file__).parents[2] / "docs" / "database.md"
LEFT_OUT = {"encoder_name", "choose_encoder", "build_pools", "check_videos", "reword_guideline", "export_form"} | {
    "file_settings"
}
"""They ask a model, read files and no rows, take nothing that is made up here, or say on which engine they are."""


@pytest.fixture
def worked(judging: Judging) -> Judging:
    """Pairs that agree, pairs that do not, a skip, a decision, people who are suspended."""
    project = judging.project
    for nth, person in enumerate(judging.annotators[:3]):
        for turn in range(12):
            desk = exchange.desk(project, person, now=NOW + turn)
            if not desk.items:
                break
            event = GradeEvent(desk.items[0].pair, (turn + 3 * nth * (turn % 3 == 0)) % 5, f"{nth}-{turn}", 900)
            exchange.exchange(project, person, [event], [], now=NOW + turn)
    escalated = review_page(project, judging.lead, ReviewList.TO_DECIDE).rows
    if escalated:
        adjudicate(project, judging.lead, escalated[0].pair, 3, "Both hands are seen.", now=NOW + 50)
    suspend(project, judging.lead, judging.annotators[3].annotator_id, True, now=NOW + 60)
    return judging


def copied(project: Project, to: Path) -> Path:
    project.store.close()
    return Path(shutil.copytree(project.folder, to))


def dump(file: Path) -> list[str]:
    with closing(sqlite3.connect(file)) as db:
        return sorted(db.iterdump())


def without_secret(lines: list[str]) -> list[str]:
    """A dump as any copy has it."""
    return [line for line in lines if not line.startswith('INSERT INTO "campaign_secret"')]


def test_there_and_back_every_row_is_the_same(worked: Judging, cluster: Cluster, tmp_path: Path) -> None:
    folder = copied(worked.project, tmp_path / "moved")
    before = dump(folder / "reelrank.db")
    rows, kept = move(folder, cluster.address(cluster.new()), now=NOW)
    assert rows["judgement"] > 20
    assert kept is not None
    assert dump(kept) == without_secret(before)
    assert not (folder / "reelrank.db").exists()
    moved = open_project(folder)
    assert doctor(moved, now=NOW + 100).findings == ()
    backup(moved, tmp_path / "copy.db")
    moved.store.close()
    assert dump(tmp_path / "copy.db") == without_secret(before)
    assert move(folder, "file", now=NOW) == (rows, None)
    assert dump(folder / "reelrank.db") == before
    again = open_project(folder)
    assert doctor(again, now=NOW + 100).findings == ()
    again.store.close()


def told(folder: Path) -> dict[str, str]:
    """What every verb of leads answers to one who calls each in turn, acts included."""
    project = open_project(folder)
    lead = next(row.person for row in list_people(project, OPERATOR) if row.person.role is Role.LEAD)
    answers = {}
    for name, verb in VERBS.items():
        if permission(verb) in ("lead_only", "in_charge") and name.rpartition(".")[2] not in LEFT_OUT:
            answers[name] = answer(project, lead, partial(verb, **arguments(verb)))
    project.store.close()
    return answers


def answer(project: Project, lead: Person, call: Callable[[Project, Person], object]) -> str:
    try:
        found = call(project, lead)
        text = repr(found if not hasattr(found, "__next__") else list(found))  # type: ignore[call-overload]
    except ReelRankError as error:
        text = f"{type(error).__name__}: {error}"
    return text.replace(str(project.folder), "FOLDER")


def test_every_list_is_the_same_and_so_is_a_release(worked: Judging, cluster: Cluster, tmp_path: Path) -> None:
    worked.project.store.close()
    assert same_on_both(worked.project.folder, cluster, tmp_path / "copies") > 120


@pytest.mark.long
def test_published_judgements_are_the_same_on_both(
    shared: Path, cluster: Cluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Who gave which grades is real; words and moments, which are not published with them, are made up."""
    monkeypatch.setattr(sentence, "load", lambda spec: WordEncoder())
    published = campaign.real_rows(shared / "data" / "tvr_ranking" / "raw_annotation.csv")
    rows = [row for row in published if row[0] <= 600]
    campaign.write_raw(rows, tmp_path / "raw.csv")
    campaign.write_pairs(rows, tmp_path / "pairs.csv")
    report = campaign.take_in(tmp_path / "project", tmp_path / "raw.csv", tmp_path / "pairs.csv")
    assert report.rows == len(rows) > 1000
    project = open_project(tmp_path / "project")
    add_person(project, OPERATOR, "Lea", Role.LEAD, now=NOW)
    project.store.close()
    assert same_on_both(tmp_path / "project", cluster, tmp_path / "copies") > 120


def same_on_both(folder: Path, cluster: Cluster, copies: Path) -> int:
    """A campaign as it is, and moved: counts, a release byte by byte, every list; and moved back, every row.

    Returns:
        How many lists were compared: those that say the same twice of the same engine.
    """
    first, second, moved, back = (Path(shutil.copytree(folder, copies / name)) for name in ("1", "2", "moved", "back"))
    before = dump(back / "reelrank.db")
    for project, target in ((moved, cluster.address(cluster.new())), (back, cluster.address(cluster.new()))):
        move(project, target, now=NOW)
    move(back, "file", now=NOW)
    assert dump(back / "reelrank.db") == before
    releases, counts, unfinished = [], [], ReleaseOptions(unfinished=True)
    for one in (first, moved):
        project = open_project(one)
        counts.append(status_counts(project, OPERATOR))
        export_release(project, OPERATOR, one / "release", unfinished, now=NOW + 100)
        releases.append({file.name: file.read_bytes() for file in sorted((one / "release").iterdir())})
        project.store.close()
    assert counts[0] == counts[1]
    assert releases[0] == releases[1]
    assert len(releases[0]) >= 6
    wanted, twice, found = told(first), told(second), told(moved)
    steady = {name for name in wanted if wanted[name] == twice[name]}  # others hold tokens, or the time of day
    assert {name: found[name] for name in steady} == {name: wanted[name] for name in steady}
    return len(steady)


def test_a_move_back_that_was_killed_before_it_noted_the_file_is_completed(
    worked: Judging, cluster: Cluster, tmp_path: Path
) -> None:
    folder = copied(worked.project, tmp_path / "moved")
    before = dump(folder / "reelrank.db")
    move(folder, cluster.address(cluster.new()), now=NOW)
    settings = (folder / "reelrank.toml").read_text()
    rows, _ = move(folder, "file", now=NOW)
    (folder / "reelrank.toml").write_text(settings)  # as the kill left it
    project = open_project(folder)
    add_person(project, OPERATOR, "Later", Role.ANNOTATOR, now=NOW)  # people went on in PostgreSQL
    project.store.close()
    with pytest.raises(ProjectError, match="already exists: move it away, because it may be somebody's work"):
        move(folder, "file", now=NOW)
    (folder / "reelrank.db").unlink()
    rows, _ = move(folder, "file", now=NOW)
    after = dump(folder / "reelrank.db")
    assert after != before
    for damage in (b"", b"no database", (folder / "reelrank.db").read_bytes()[:5000]):
        (folder / "reelrank.toml").write_text(settings)
        whole = (folder / "reelrank.db").read_bytes()
        (folder / "reelrank.db").write_bytes(damage)
        with pytest.raises(ProjectError, match="already exists"):
            move(folder, "file", now=NOW)
        assert (folder / "reelrank.db").read_bytes() == damage
        (folder / "reelrank.db").write_bytes(whole)
    assert move(folder, "file", now=NOW) == (rows, None)
    assert dump(folder / "reelrank.db") == after
    assert settings_file.written_address(folder) == ""
    open_project(folder).store.close()


def test_what_cannot_be_moved_stays_as_it_is(judging: Judging, cluster: Cluster, tmp_path: Path) -> None:
    folder = copied(judging.project, tmp_path / "moved")
    before = dump(folder / "reelrank.db"), (folder / "reelrank.toml").read_text()
    with pytest.raises(InputError, match="write an address such as"):
        move(folder, "mysql://there", now=NOW)
    with pytest.raises(StoreUnavailable, match=r"postgresql://me:\*\*\*@/none\?host=/no/such/place cannot be used"):
        move(folder, "postgresql://me:secret@/none?host=/no/such/place", now=NOW)
    taken = cluster.address(cluster.new())
    creating.create(taken).close()
    with pytest.raises(ProjectError, match="already has a project: name an empty database"):
        move(folder, taken, now=NOW)
    with pytest.raises(ProjectError, match=r"has its database in reelrank\.db already"):
        move(folder, "file", now=NOW)
    assert (dump(folder / "reelrank.db"), (folder / "reelrank.toml").read_text()) == before


def test_a_database_that_cannot_keep_every_script_is_refused(judging: Judging, cluster: Cluster) -> None:
    with psycopg.connect(cluster.address("postgres"), autocommit=True) as server:
        server.execute("CREATE DATABASE ascii ENCODING 'SQL_ASCII' LC_COLLATE 'C' LC_CTYPE 'C' TEMPLATE template0")
    folder = judging.project.folder
    judging.project.store.close()
    with pytest.raises(ProjectError, match=r"/ascii.* stores text as SQL_ASCII.*`createdb --enc"):
        move(folder, cluster.address("ascii"), now=NOW)
    open_project(folder).store.close()


def test_a_row_that_does_not_arrive_takes_the_move_back(
    judging: Judging, cluster: Cluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, address = copied(judging.project, tmp_path / "moved"), cluster.address(cluster.new())
    whole = creating._copy

    def lossy(raw: Raw, source: object, table: str) -> None:
        whole(raw, source, table)  # type: ignore[arg-type]
        if table == "query":
            raw.execute("UPDATE query SET text = text || '.' WHERE query_id = 1")

    monkeypatch.setattr(creating, "_copy", lossy)
    with pytest.raises(ProjectError, match="query did not arrive unchanged"):
        move(folder, address, now=NOW)
    open_project(folder).store.close()
    monkeypatch.undo()
    with pytest.raises(ProjectError, match="has no project"):
        opening.open_store(address, folder)
    move(folder, address, now=NOW)


def test_the_database_keeps_its_rules(judging: Judging, cluster: Cluster, tmp_path: Path) -> None:
    folder = copied(judging.project, tmp_path / "moved")
    move(folder, cluster.address(cluster.new()), now=NOW)
    project = open_project(folder)
    name = judging.annotators[0].name
    with pytest.raises(ProjectError, match="there is already somebody named"):
        add_person(project, OPERATOR, name.upper(), Role.ANNOTATOR, now=NOW)
    with pytest.raises(sqlite3.IntegrityError, match="event is append-only"), writing(project.store) as db:
        db.conn.execute("DELETE FROM event")
    with project.store.reading(), pytest.raises(ProjectError, match="in use"):
        move(folder, "file", now=NOW)
    project.store.close()


@pytest.mark.long
def test_a_server_that_dies_loses_nothing_that_was_saved(
    judging: Judging, cluster: Cluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(postgresql, "WAIT_S", 2.0)
    folder = copied(judging.project, tmp_path / "moved")
    move(folder, cluster.address(cluster.new()), now=NOW)
    project = open_project(folder)
    person = judging.annotators[0]
    pairs = [item.pair for item in exchange.desk(project, person, now=NOW).items]
    exchange.exchange(project, person, [GradeEvent(pairs[0], 3, "before", 900)], [], now=NOW)
    cluster.stop("immediate")
    try:
        for _ in range(2):  # however long it is away, whoever comes when it is back is not told to wait
            with pytest.raises(StoreUnavailable, match="Check that its server runs"):
                exchange.exchange(project, person, [GradeEvent(pairs[1], 2, "meanwhile", 900)], [], now=NOW)
    finally:
        cluster.start()
    receipts, _ = exchange.exchange(project, person, [GradeEvent(pairs[1], 2, "meanwhile", 900)], [], now=NOW)
    assert [receipt.status for receipt in receipts] == ["saved"]
    assert status_counts(project, OPERATOR)["judgements"] == 2
    project.store.close()


SECRET = "s3cr3t"


def with_password(address: str) -> str:
    """The tests' server lets anybody in: a password changes nothing but what may not show it."""
    return address.replace("@", f":{SECRET}@", 1)


def test_a_project_remembers_where_its_database_is_and_no_password(
    cluster: Cluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    address = cluster.address(cluster.new())
    monkeypatch.setenv("REELRANK_DATABASE", with_password(address))
    project = init_project(tmp_path / "begun", encoder="minilm")
    assert SECRET not in project.store.place
    project.store.close()
    monkeypatch.delenv("REELRANK_DATABASE")
    settings = tmp_path / "begun" / "reelrank.toml"
    assert f'database = "{address}"\n' in settings.read_text()
    open_project(tmp_path / "begun").store.close()
    assert not [file for file in tmp_path.rglob("*") if file.is_file() and SECRET.encode() in file.read_bytes()]
    settings.write_text(settings.read_text().replace(f'database = "{address}"\n', ""))  # as an older ReelRank left it
    for act in (
        lambda: open_project(tmp_path / "begun"),
        lambda: migrate(tmp_path / "begun"),
        lambda: move(tmp_path / "begun", address, now=NOW),
        lambda: move(tmp_path / "begun", "file", now=NOW),
    ):
        with pytest.raises(ProjectError, match=r"neither reelrank\.db nor an address .* set REELRANK_DATABASE"):
            act()
    monkeypatch.setenv("REELRANK_DATABASE", address)
    assert move(tmp_path / "begun", "file", now=NOW)[1] is None


@pytest.mark.long
def test_a_move_keeps_a_password_only_where_its_person_wrote_it(
    judging: Judging, cluster: Cluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, address = copied(judging.project, tmp_path / "moved"), cluster.address(cluster.new())
    settings = folder / "reelrank.toml"
    move(folder, with_password(address), now=NOW)
    assert SECRET not in settings.read_text()
    settings.write_text(settings.read_text().replace(address, with_password(address)))
    open_project(folder).store.close()
    monkeypatch.setenv("REELRANK_DATABASE", address)
    open_project(folder).store.close()
    assert with_password(address) in settings.read_text()
    move(folder, "file", now=NOW)
    with pytest.raises(ProjectError, match=r"database in reelrank\.db, but REELRANK_DATABASE names .*: unset"):
        open_project(folder)  # not the tables that were left behind
    with pytest.raises(ProjectError, match="so every command would look"):
        move(folder, "postgresql://there/other", now=NOW)
    target = cluster.address(cluster.new())
    monkeypatch.setenv("REELRANK_DATABASE", with_password(target))
    move(folder, target, now=NOW)
    with pytest.raises(ProjectError, match=r"has its database at .* already: nothing is left to do") as refused:
        move(folder, target, now=NOW)
    assert SECRET not in str(refused.value)
    open_project(folder).store.close()


@pytest.mark.parametrize(
    "address",
    [
        f"postgresql://me:{SECRET}@/none?host=/no/such/place",
        f"postgresql:///none?host=/no/such/place&user=me&password={SECRET}",
        f"postgresql://me:{SECRET}@{SECRET}@db.lab/none",
        f"postgresql://me:{SECRET}/{SECRET}@db.lab/none",
        f"postgresql://me:%{SECRET}@db.lab/none",
        f"postgresql://me:{SECRET}@/none?host=/no/such/place&port=none",
        f"postgresql://me:{SECRET}@db.lab/none?nothing=1",
        f"postgresq://me:{SECRET}@db.lab/none",
        f"me:{SECRET}@db.lab/none",
        f"host=db.lab user=me password={SECRET}",
        f"host=db.lab user=me password = '{SECRET} {SECRET}'",
    ],
)
def test_no_message_shows_a_password(
    judging: Judging, address: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    folder = copied(judging.project, tmp_path / "copied")
    (tmp_path / "lost").mkdir()
    shutil.copy(folder / "reelrank.toml", tmp_path / "lost")
    acts: list[Callable[[], object]] = [
        lambda: move(folder, address, now=NOW),
        lambda: open_project(folder),
        lambda: open_project(tmp_path / "lost"),
        lambda: init_project(tmp_path / "new", encoder="minilm"),
    ]
    for nth, act in enumerate(acts):
        if nth:
            monkeypatch.setenv("REELRANK_DATABASE", address)
        with pytest.raises((InputError, ProjectError)) as refused:
            act()
        assert SECRET not in str(refused.value)
    assert SECRET not in caplog.text
    assert not (tmp_path / "new" / "reelrank.toml").exists()


@pytest.mark.long
def test_a_dump_is_restored_by_the_documented_command(
    worked: Judging, cluster: Cluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, address = copied(worked.project, tmp_path / "moved"), cluster.address(cluster.new())
    before = dump(folder / "reelrank.db")
    move(folder, address, now=NOW)
    programs = watched_programs(tmp_path / "bin")
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:{os.environ['PATH']}")
    monkeypatch.setenv("REELRANK_DATABASE", with_password(address))
    project, copy = open_project(folder), tmp_path / "monday.dump"
    backup(project, copy)
    assert copy.read_bytes()[:5] == b"PGDMP"  # PostgreSQL's custom format
    calls = {line.split()[0]: line for line in programs.read_text().splitlines()}
    assert set(calls) == {"pg_dump", "pg_restore"}
    assert "password given: s3cr3t" in calls["pg_dump"]
    assert SECRET not in calls["pg_dump"].replace("password given: s3cr3t", "")
    with pytest.raises(ProjectError, match="already exists"):
        backup(project, copy)
    add_person(project, OPERATOR, "Later", Role.ANNOTATOR, now=NOW)  # people go on
    project.store.close()
    monkeypatch.delenv("REELRANK_DATABASE")
    with pytest.raises(ProjectError, match="pg_restore --no-owner") as told:
        restore(folder, copy, now=NOW)
    (command,) = re.findall(r"`(pg_restore .*?)`", str(told.value))
    assert command in GUIDE.read_text(encoding="utf-8")
    restored = cluster.address(cluster.new())
    subprocess.run(command.replace("ADDRESS", restored).replace("FILE", str(copy)).split(), check=True)
    settings = folder / "reelrank.toml"
    settings.write_text(settings.read_text().replace(address, restored))
    again = open_project(folder)
    assert again.store.schema_differences() == []
    assert doctor(again, now=NOW + 100).findings == ()
    again.store.close()
    move(folder, "file", now=NOW)
    assert without_secret(dump(folder / "reelrank.db")) == without_secret(before)


def watched_programs(folder: Path) -> Path:
    """PostgreSQL's own programs behind scripts that note how they were called; the file of the notes."""
    folder.mkdir()
    for name in ("pg_dump", "pg_restore"):
        script = folder / name
        script.write_text(
            f'#!/bin/sh\necho "{name} $* password given: $PGPASSWORD" >> {folder}/calls\nexec {binary(name)} "$@"\n'
        )
        script.chmod(0o755)
    return folder / "calls"


def test_a_dump_that_cannot_be_made_says_what_to_do_and_leaves_nothing(
    judging: Judging, cluster: Cluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "backup.dump"
    with pytest.raises(ProjectError, match=r"reelrank\.db: name a FILE\.db"):
        backup(judging.project, file)
    folder = copied(judging.project, tmp_path / "moved")
    move(folder, cluster.address(cluster.new()), now=NOW)
    project = open_project(folder)
    (tmp_path / "bin").mkdir()
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    with pytest.raises(StoreUnavailable, match=r"pg_dump is not on the PATH.* Install .* or name a file that ends"):
        backup(project, file)
    older = tmp_path / "bin" / "pg_dump"
    older.write_text('#!/bin/sh\necho "pg_dump: error: aborting because of server version mismatch" >&2\nexit 1\n')
    older.chmod(0o755)
    with pytest.raises(StoreUnavailable, match=r"server version mismatch\).* must be of the server's version"):
        backup(project, file)
    backup(project, tmp_path / "backup.db")
    project.store.close()
    assert {path.name for path in tmp_path.iterdir()} == {"bin", "backup.db", "moved", "project", "moments.jsonl"}


def test_a_restore_sends_back_to_a_file_first(judging: Judging, cluster: Cluster, tmp_path: Path) -> None:
    folder = copied(judging.project, tmp_path / "moved")
    move(folder, cluster.address(cluster.new()), now=NOW)
    with pytest.raises(ProjectError, match=r"move it back with `reelrank move .* file` first"):
        restore(folder, tmp_path / "any.db", now=NOW)
    assert not (folder / "reelrank.db").exists()


@pytest.mark.long
def test_a_thread_that_is_done_leaves_the_others_at_work(judging: Judging, cluster: Cluster, tmp_path: Path) -> None:
    folder = copied(judging.project, tmp_path / "moved")
    move(folder, cluster.address(cluster.new()), now=NOW)
    project = open_project(folder)
    over = threading.Event()

    def work() -> int:
        count = 0
        while not over.is_set():
            with project.store.reading() as db:
                assert db.conn.execute("SELECT count(*) FROM pair").fetchone()[0] == 60
                count += db.conn.execute("SELECT 1").fetchone()[0]
        return count

    with ThreadPoolExecutor(8) as threads:
        working = [threads.submit(work) for _ in range(8)]
        for _ in range(40):
            project.store.close()
            assert project.store.db.conn.execute("SELECT 2").fetchone()[0] == 2
        over.set()
        assert min(one.result() for one in working) > 0
    project.store.close()


def test_without_the_extra_it_is_said_what_lacks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REELRANK_DATABASE", "postgresql://there/campaign")
    for name in ("creating", "postgresql", "dialect"):
        monkeypatch.delitem(sys.modules, f"backend.store.{name}", raising=False)
        monkeypatch.delattr(store, name, raising=False)
    monkeypatch.setitem(sys.modules, "psycopg", None)
    with pytest.raises(
        StoreUnavailable, match=r"psycopg, which is not installed: run `pip install 'reelrank\[postgresql\]'`"
    ):
        init_project(tmp_path / "project", encoder="minilm")
    assert not (tmp_path / "project" / "reelrank.toml").exists()


@pytest.mark.parametrize("cut", ["set_database", "_put_aside"])
def test_a_move_that_was_cut_off_after_the_rows_arrived_goes_on_there(
    cut: str, corpus_project: Project, cluster: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, address = corpus_project.folder, cluster.address(cluster.new())
    corpus_project.store.close()

    def killed(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(settings_file if cut == "set_database" else moving, cut, killed)
        with pytest.raises(KeyboardInterrupt):
            move(folder, address, now=NOW)
    rows, kept = move(folder, address, now=NOW)
    assert (rows["moment"], kept, list(folder.glob("*.db*"))) == (48, kept, [kept])
    assert open_project(folder).store.db.conn.execute("SELECT count(*) FROM moment").fetchone()[0] == 48
