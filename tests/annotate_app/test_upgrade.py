"""What people see while `reelrank migrate` upgrades a PostgreSQL database under a running front end."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

import pytest

from annotate_app.server.monitoring import Health
from backend.campaign.desk.exchange import desk
from backend.campaign.doctor.database import move
from backend.campaign.setup.project.folder import open_project
from backend.store import migrating
from backend.store.postgresql import PostgresStore
from postgres import Cluster
from served import JSON, Browser, small_app
from small_project import SmallProject
from support import NOW


@pytest.fixture
def moved(real_project: SmallProject, cluster: Cluster) -> Iterator[SmallProject]:
    """The small project with its database in PostgreSQL."""
    real_project.project.store.close()
    move(real_project.folder, cluster.address(cluster.new()), now=NOW)
    project = open_project(real_project.folder)
    yield replace(real_project, project=project)
    project.store.close()


@contextmanager
def upgrading(address: str, newest: str = "") -> Iterator[None]:
    """An upgrade that goes on for as long as the block, and ends with another schema if it names one."""
    store = PostgresStore(address)
    with store.writing(), store.one() as raw:
        migrating.take_lock(raw, store.place)
        yield
        if newest:
            raw.execute("INSERT INTO _sqlite_migrations (migration_set, name) VALUES ('reelrank', %s)", [newest])
    store.close()


def test_people_are_told_to_wait_and_a_grade_that_is_sent_again_is_saved_once(moved: SmallProject) -> None:
    ana, store = moved.person("Ana"), moved.project.store
    assert isinstance(store, PostgresStore)
    grade = {"pair": desk(moved.project, ana, now=NOW).items[0].pair, "grade": 3, "key": "k1", "active_ms": 900}
    sent = {"person": ana.annotator_id, "grades": [grade]}
    clock = iter(range(0, 100, 10))
    health = Health(lambda: moved.project, lambda: next(clock)).routes()
    with Browser(small_app(moved.project, lambda _: "streamlit", lambda _: "hello", *health), moved.tokens) as browser:
        browser.signed_in("Ana")
        with upgrading(store.address):
            for _ in range(2):
                answer = browser.post("/desk/exchange", json=sent, headers=JSON)
                assert (answer.status_code, answer.headers["retry-after"]) == (503, "5")
                assert answer.json()["message"] == (
                    "ReelRank is being upgraded. Wait a few minutes. What was saved is safe."
                )
            page = browser.get("/grade")
            assert page.status_code == 503
            assert "ReelRank is being upgraded." in page.text
            assert "Try again" in page.text
            assert browser.get("/readyz").text == "not ready: schema\n"
            assert browser.get("/healthz").text == "ok\n"
        for _ in range(2):
            answer = browser.post("/desk/exchange", json=sent, headers=JSON)
            assert [receipt["status"] for receipt in answer.json()["receipts"]] == ["saved"]
        rows = store.conn.execute("SELECT grade FROM judgement WHERE event_key = 'k1'").fetchall()
        assert [row[0] for row in rows] == [3]
        assert browser.get("/readyz").text == "ready\n"
        with upgrading(store.address, "m999_later"):
            pass
        answer = browser.post("/desk/exchange", json=sent, headers=JSON)
        assert answer.status_code == 503
        assert answer.json()["message"].startswith("ReelRank was upgraded, but this server still runs the older")
        assert browser.get("/readyz").text == "not ready: schema\n"
