"""A campaign in PostgreSQL: brought there and back row by row, and every list as from the file."""

import shutil
import sqlite3
import sys
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import pytest

from api.test_gate import IN_CHARGE, LEADS
from backend import api, store
from backend.campaign.judging.model import GradeEvent
from backend.campaign.nouns import Person, Role
from backend.campaign.release.model import ReleaseOptions
from backend.campaign.review.model import CaseList
from backend.ground.errors import InputError, ProjectError, ReelRankError, StoreUnavailable
from backend.store import creating, postgresql
from backend.store.connection import writing
from backend.store.values import Raw
from postgres import Cluster
from support import NOW, Judging

LEFT_OUT = {"encoder_name", "choose_encoder", "build_pools", "look_at_videos"}
"""They ask a model, or read files and no rows."""


@pytest.fixture
def worked(judging: Judging) -> Judging:
    """Pairs that agree, pairs that do not, a skip, a decision, people who are suspended."""
    project = judging.project
    for nth, person in enumerate(judging.annotators[:3]):
        for turn in range(12):
            desk = api.desk(project, person, now=NOW + turn)
            if not desk.items:
                break
            event = GradeEvent(desk.items[0].pair, (turn + 3 * nth * (turn % 3 == 0)) % 5, f"{nth}-{turn}", 900)
            api.exchange(project, person, [event], [], now=NOW + turn)
    escalated = api.case_page(project, judging.lead, CaseList.TO_DECIDE).rows
    if escalated:
        api.adjudicate(project, judging.lead, escalated[0].pair, 3, "Both hands are seen.", now=NOW + 50)
    api.suspend(project, judging.lead, judging.annotators[3].annotator_id, True, now=NOW + 60)
    return judging


def copied(project: api.Project, to: Path) -> Path:
    project.store.close()
    return Path(shutil.copytree(project.folder, to))


def dump(file: Path) -> list[str]:
    with closing(sqlite3.connect(file)) as db:
        return sorted(db.iterdump())


def test_there_and_back_every_row_is_the_same(worked: Judging, cluster: Cluster, tmp_path: Path) -> None:
    folder = copied(worked.project, tmp_path / "moved")
    before = dump(folder / "reelrank.db")
    rows, kept = api.move(folder, cluster.address(cluster.new()), now=NOW)
    assert rows["judgement"] > 20
    assert kept is not None
    assert dump(kept) == before
    assert not (folder / "reelrank.db").exists()
    moved = api.open_project(folder)
    assert api.doctor(moved, now=NOW + 100).findings == ()
    api.backup(moved, tmp_path / "copy.db")
    moved.store.close()
    assert dump(tmp_path / "copy.db") == before
    assert api.move(folder, "file", now=NOW) == (rows, None)
    assert dump(folder / "reelrank.db") == before
    again = api.open_project(folder)
    assert api.doctor(again, now=NOW + 100).findings == ()
    again.store.close()


def told(folder: Path) -> dict[str, str]:
    """What every function of the api answers to a lead who asks for everything in turn, acts included."""
    project = api.open_project(folder)
    lead = next(row.person for row in api.list_people(project, api.OPERATOR) if row.person.role is Role.LEAD)
    answers = {}
    for name, call in {**LEADS, **IN_CHARGE}.items():
        if name not in LEFT_OUT:
            answers[name] = answer(project, lead, call)
    project.store.close()
    return answers


def answer(project: api.Project, lead: Person, call: Callable[[api.Project, Person], object]) -> str:
    try:
        found = call(project, lead)
        text = repr(found if not hasattr(found, "__next__") else list(found))  # type: ignore[call-overload]
    except ReelRankError as error:
        text = f"{type(error).__name__}: {error}"
    return text.replace(str(project.folder), "FOLDER")


def test_every_list_is_the_same_and_so_is_a_release(worked: Judging, cluster: Cluster, tmp_path: Path) -> None:
    first, second, moved = (copied(worked.project, tmp_path / name) for name in ("first", "second", "moved"))
    api.move(moved, cluster.address(cluster.new()), now=NOW)
    releases, unfinished = [], ReleaseOptions(unfinished=True)
    for folder in (first, moved):
        project = api.open_project(folder)
        api.export_release(project, api.OPERATOR, folder / "release", unfinished, now=NOW + 100)
        releases.append({file.name: file.read_bytes() for file in sorted((folder / "release").iterdir())})
        project.store.close()
    assert releases[0] == releases[1]
    assert len(releases[0]) >= 6
    wanted, twice, found = told(first), told(second), told(moved)
    steady = {name for name in wanted if wanted[name] == twice[name]}  # others hold tokens, or the time of day
    assert len(steady) > 120
    assert {name: found[name] for name in steady} == {name: wanted[name] for name in steady}


def test_what_cannot_be_moved_stays_as_it_is(judging: Judging, cluster: Cluster, tmp_path: Path) -> None:
    folder = copied(judging.project, tmp_path / "moved")
    before = dump(folder / "reelrank.db"), (folder / "reelrank.toml").read_text()
    with pytest.raises(InputError, match="write an address such as"):
        api.move(folder, "mysql://there", now=NOW)
    with pytest.raises(StoreUnavailable, match=r"postgresql://me:\*\*\*@/none\?host=/no/such/place cannot be used"):
        api.move(folder, "postgresql://me:secret@/none?host=/no/such/place", now=NOW)
    taken = cluster.address(cluster.new())
    creating.create(taken).close()
    with pytest.raises(ProjectError, match="has a project already: name an empty database"):
        api.move(folder, taken, now=NOW)
    with pytest.raises(ProjectError, match=r"has its database in reelrank\.db already"):
        api.move(folder, "file", now=NOW)
    assert (dump(folder / "reelrank.db"), (folder / "reelrank.toml").read_text()) == before


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
    with pytest.raises(ProjectError, match="query did not arrive as it was"):
        api.move(folder, address, now=NOW)
    api.open_project(folder).store.close()
    monkeypatch.undo()
    with pytest.raises(ProjectError, match="has no project"):
        postgresql.open_store(address, folder)
    api.move(folder, address, now=NOW)


def test_the_database_keeps_its_rules(judging: Judging, cluster: Cluster, tmp_path: Path) -> None:
    folder = copied(judging.project, tmp_path / "moved")
    api.move(folder, cluster.address(cluster.new()), now=NOW)
    project = api.open_project(folder)
    name = judging.annotators[0].name
    with pytest.raises(ProjectError, match="there is already somebody named"):
        api.add_person(project, api.OPERATOR, name.upper(), Role.ANNOTATOR, now=NOW)
    with pytest.raises(sqlite3.IntegrityError, match="event is append-only"), writing(project.store) as db:
        db.conn.execute("DELETE FROM event")
    with project.store.reading(), pytest.raises(ProjectError, match="in use"):
        api.move(folder, "file", now=NOW)
    project.store.close()


def test_a_server_that_dies_loses_nothing_that_was_saved(
    judging: Judging, cluster: Cluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(postgresql, "WAIT_S", 6.0)  # as the pool tries again after 1, 2 and 4 s
    folder = copied(judging.project, tmp_path / "moved")
    api.move(folder, cluster.address(cluster.new()), now=NOW)
    project = api.open_project(folder)
    person = judging.annotators[0]
    pairs = [item.pair for item in api.desk(project, person, now=NOW).items]
    api.exchange(project, person, [GradeEvent(pairs[0], 3, "before", 900)], [], now=NOW)
    cluster.stop("immediate")
    try:
        with pytest.raises(StoreUnavailable, match="see that its server runs"):
            api.exchange(project, person, [GradeEvent(pairs[1], 2, "meanwhile", 900)], [], now=NOW)
    finally:
        cluster.start()
    receipts, _ = api.exchange(project, person, [GradeEvent(pairs[1], 2, "meanwhile", 900)], [], now=NOW)
    assert [receipt.status for receipt in receipts] == ["saved"]
    assert api.status_counts(project, api.OPERATOR)["judgements"] == 2
    project.store.close()


def test_commands_about_files_send_back_first(judging: Judging, cluster: Cluster, tmp_path: Path) -> None:
    folder = copied(judging.project, tmp_path / "moved")
    api.move(folder, cluster.address(cluster.new()), now=NOW)
    for act in (lambda: api.restore(folder, tmp_path / "any.db", now=NOW), lambda: api.migrate(folder)):
        with pytest.raises(ProjectError, match=r"bring it back with `reelrank move .* file` first"):
            act()
    assert not (folder / "reelrank.db").exists()


def test_a_thread_that_is_done_leaves_the_others_at_work(judging: Judging, cluster: Cluster, tmp_path: Path) -> None:
    folder = copied(judging.project, tmp_path / "moved")
    api.move(folder, cluster.address(cluster.new()), now=NOW)
    project = api.open_project(folder)
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
    for name in ("creating", "postgresql", "values"):
        monkeypatch.delitem(sys.modules, f"backend.store.{name}", raising=False)
        monkeypatch.delattr(store, name, raising=False)
    monkeypatch.setitem(sys.modules, "psycopg", None)
    with pytest.raises(
        StoreUnavailable, match=r"psycopg, which is not here: run `pip install 'reelrank\[postgresql\]'`"
    ):
        api.init_project(tmp_path / "project", encoder="minilm")
    assert not (tmp_path / "project" / "reelrank.toml").exists()
