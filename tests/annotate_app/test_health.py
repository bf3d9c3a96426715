"""What programs ask that look after a front end, whoever they are: two addresses behind the guard, over a project."""

import time
from collections.abc import Iterator

import pytest
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.testclient import TestClient

from annotate_app.server import monitoring
from annotate_app.server.monitoring import Health
from annotate_app.session.guard import Guard
from backend.campaign.setup.project.folder import Project
from backend.core.errors import StoreUnavailable
from support import Judging


class Clock:
    """Stands still until it is moved."""

    now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def client(judging: Judging, clock: Clock) -> Iterator[TestClient]:
    def project() -> Project:
        return judging.project

    app = Starlette(routes=Health(project, clock).routes(), middleware=[Middleware(Guard, project=project)])
    with TestClient(app) as found:
        yield found


def test_a_server_that_can_serve_says_so_in_a_word_to_anybody(client: TestClient) -> None:
    for path, word in (("/healthz", "ok\n"), ("/readyz", "ready\n")):
        answer = client.get(path)
        assert (answer.status_code, answer.text) == (200, word)
        assert answer.headers["cache-control"] == "no-store"
        assert "set-cookie" not in answer.headers
        assert client.head(path).status_code == 200
        assert client.post(path).status_code == 405


def test_a_database_migrated_meanwhile_is_not_ours(client: TestClient, judging: Judging, clock: Clock) -> None:
    judging.project.store.db.execute(
        "UPDATE _sqlite_migrations SET name = 'm999_later' WHERE id = (SELECT max(id) FROM _sqlite_migrations)"
    )
    answer = client.get("/readyz")
    assert (answer.status_code, answer.text) == (503, "not ready: schema\n")
    assert answer.headers["retry-after"] == "5"
    assert client.get("/healthz").status_code == 200


def test_clips_need_a_folder_that_takes_files_and_nothing_of_the_try_stays(
    client: TestClient, judging: Judging, clock: Clock
) -> None:
    clips = judging.project.clips.folder
    assert client.get("/readyz").status_code == 200
    assert [*clips.iterdir()] == []
    clips.rmdir()
    clips.write_text("a file where the folder was")
    assert client.get("/readyz").status_code == 200  # known for a second
    clock.now += 1.5
    assert client.get("/readyz").text == "not ready: clips\n"
    clips.unlink()
    clock.now += 1.5
    assert client.get("/readyz").text == "ready\n"


def test_a_database_that_cannot_be_read_or_says_nothing_is_away(
    client: TestClient, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    def away(_store: object) -> bool:
        raise StoreUnavailable("the database postgresql://reelrank@db.example/campaign does not answer")

    monkeypatch.setattr("backend.campaign.setup.serving.server.has_our_schema", away)
    assert client.get("/readyz").text == "not ready: database\n"
    clock.now += 1.5
    monkeypatch.setattr(monitoring, "_PATIENCE_S", 0.05)
    monkeypatch.setattr(monitoring, "missing_for_serving", lambda _project: time.sleep(0.3))
    assert client.get("/readyz").text == "not ready: database\n"
