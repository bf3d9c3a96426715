"""Files from browsers: streamed, whole or not at all, from leads only, with a limit and never onto a full disk."""

import asyncio
import errno
import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest
from starlette.requests import Request
from starlette.testclient import TestClient

from annotate_app.server import lead_routes
from annotate_app.server.lead_routes import UploadKind, Uploads, sent_files
from annotate_app.session.guard import _SCOPE_KEY
from backend.campaign.nouns import OPERATOR, Role
from backend.campaign.setup.people.accounts import add_person_with_password
from backend.campaign.setup.people.permissions import sign_in
from backend.campaign.setup.project.folder import Project
from backend.campaign.setup.project.sentence_encoder import init_project
from served import browsing
from support import NOW, person_of

HEADERS = {"X-ReelRank": "1"}
PASSWORD = "long enough for everybody"


class Usage(NamedTuple):
    free: int


@pytest.fixture
def project(tmp_path: Path) -> Project:
    project = init_project(tmp_path / "project", encoder="minilm")
    for name, role in (("Lea", Role.LEAD), ("Uma", Role.ANNOTATOR)):
        add_person_with_password(project, OPERATOR, name, role, PASSWORD, now=NOW)
    return project


@pytest.fixture
def client(project: Project) -> Iterator[TestClient]:
    token = sign_in(project, "Lea", PASSWORD, now=time.time())
    with browsing(project, Uploads(lambda: project).routes(), token) as found:
        yield found


def send(
    client: TestClient, name: str, content: bytes = b"bytes", kind: str = "videos", **headers: str
) -> tuple[int, str]:
    answer = client.put(f"/lead/uploads/{kind}/{name}", content=content, headers={**HEADERS, **headers})
    return answer.status_code, answer.json()["message"] if answer.content else ""


def test_what_is_sent_is_for_the_servers_user_alone(client: TestClient, project: Project) -> None:
    assert send(client, "a.mp4")[0] == 201
    modes = [(project.folder / place).stat().st_mode & 0o777 for place in ("videos", "videos/a.mp4")]
    assert modes == [0o700, 0o600]


def test_links_out_of_the_project_count_as_sent_by_nobody(project: Project, tmp_path: Path) -> None:
    (project.folder / "files").mkdir()
    (tmp_path / "private.csv").write_text("a")
    (project.folder / "files" / "own.csv").write_text("a")
    (project.folder / "files" / "theirs.csv").symlink_to(tmp_path / "private.csv")
    assert [file.name for file in sent_files(project, "files")] == ["own.csv"]


def send_in_parts(project: Project, name: str, parts: list[bytes], *, goes_away: bool = False) -> tuple[int, str]:
    """What the route answers to a body that comes in parts, perhaps not to its end; the test client sends it whole."""
    messages = [{"type": "http.request", "body": part, "more_body": True} for part in parts]
    messages.append({"type": "http.disconnect"} if goes_away else {"type": "http.request", "body": b""})
    scope = {
        **{"type": "http", "method": "PUT", "headers": [(b"x-reelrank", b"1")], "query_string": b""},
        **{"path_params": {"kind": "videos", "name": name}, _SCOPE_KEY: person_of(project, "Lea")},
    }

    async def receive() -> dict[str, object]:
        return messages.pop(0)

    answer = asyncio.run(Uploads(lambda: project).take(Request(scope, receive)))
    return answer.status_code, json.loads(bytes(answer.body))["message"] if answer.body else ""


def lies_there(project: Project) -> list[str]:
    """All that is in the folders of sent files."""
    found = (path for kind in ("videos", "files") for path in (project.folder / kind).rglob("*"))
    return sorted(path.relative_to(project.folder).as_posix() for path in found)


def test_a_file_arrives_under_its_name_and_takes_nobody_elses(client: TestClient, project: Project) -> None:
    parts = [bytes([number]) * 700_000 for number in range(4)]
    assert send_in_parts(project, "a film.mp4", parts) == (201, "")
    assert (project.folder / "videos" / "a film.mp4").read_bytes() == b"".join(parts)
    assert [file.name for file in sent_files(project, "videos")] == ["a film.mp4"]
    again = send(client, "a%20film.mp4", b"another")
    assert again == (409, "a film.mp4 exists already. If this is another file, rename it.")
    assert send(client, "m.jsonl", kind="files") == (201, "")
    assert lies_there(project) == ["files/m.jsonl", "videos/a film.mp4"]


def test_a_name_is_kept_composed_and_taken_in_either_form(client: TestClient, project: Project) -> None:
    assert send(client, "cafe%CC%81.mp4") == (201, "")
    assert lies_there(project) == ["videos/caf\u00e9.mp4"]
    assert send(client, "caf%C3%A9.mp4")[0] == send(client, "cafe%CC%81.mp4")[0] == 409


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("letter.txt", "letter.txt is not a video: its name must end in one of .mp4, "),
        (".hidden.mp4", "'.hidden.mp4' is not a valid file name."),
        ("..%5C..%5Cx.mp4", "is not a valid file name."),
        ("x" * 201 + ".mp4", "is too long. Shorten it."),
    ],
)
def test_names_that_are_none_are_refused(client: TestClient, project: Project, name: str, told: str) -> None:
    status, message = send(client, name)
    assert (status, told in message) == (400, True), message
    assert not lies_there(project)


def test_a_path_is_no_name(client: TestClient, project: Project) -> None:
    assert client.put("/lead/uploads/videos/..%2F..%2Fx.mp4", content=b"x", headers=HEADERS).status_code == 404
    assert client.put("/lead/uploads/secrets/x.mp4", content=b"x", headers=HEADERS).status_code == 404
    assert not lies_there(project)


def test_an_empty_file_is_none(client: TestClient, project: Project) -> None:
    assert send(client, "a.mp4", b"") == (400, "a.mp4 is empty.")
    assert not lies_there(project)


def test_what_is_too_large_is_refused_before_and_while_it_comes(
    client: TestClient, project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(lead_routes.KINDS, "videos", UploadKind("videos", "a video", (".mp4",), lead_routes.GIB))
    told = "a.mp4 is larger than the limit of 1 GiB. Copy it to the server instead."
    asked = client.get(f"/lead/uploads/videos/a.mp4?size={lead_routes.GIB + 1}", headers=HEADERS)
    assert (asked.status_code, asked.json()["message"]) == (413, told)
    assert client.get(f"/lead/uploads/videos/a.mp4?size={lead_routes.GIB}", headers=HEADERS).status_code == 204
    # A body that does not say how long it is.
    monkeypatch.setitem(lead_routes.KINDS, "videos", UploadKind("videos", "a video", (".mp4",), 3_000_000))
    assert send_in_parts(project, "a.mp4", [b"x" * 2_000_000] * 2)[0] == 413
    assert not lies_there(project)


def test_a_full_disk_is_told_and_nothing_half_written_stays(
    client: TestClient, project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    told = "The server's disk has no room for a.mp4. Nothing was kept. Make room, then send it again."
    left = iter([Usage(10 * lead_routes.GIB), Usage(10 * lead_routes.GIB), Usage(lead_routes.KEPT_FREE_BYTES)])
    monkeypatch.setattr(lead_routes.shutil, "disk_usage", lambda path: next(left))
    assert send_in_parts(project, "a.mp4", [b"x" * 1_500_000] * 2) == (507, told)
    assert not lies_there(project)
    monkeypatch.setattr(lead_routes.shutil, "disk_usage", lambda path: Usage(lead_routes.KEPT_FREE_BYTES + 4))
    assert send(client, "a.mp4", b"bytes") == (507, told)
    assert not lies_there(project)


def test_a_disk_that_fails_is_told(client: TestClient, project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*_: object) -> None:
        raise OSError(errno.EIO, "Input/output error")

    monkeypatch.setattr(lead_routes, "_write", fails)
    assert send(client, "a.mp4") == (500, "a.mp4 cannot be written (Input/output error). Nothing was kept.")
    assert not lies_there(project)


def test_who_goes_away_in_the_middle_leaves_nothing(project: Project) -> None:
    answer = send_in_parts(project, "a.mp4", [b"x" * 2_000_000], goes_away=True)
    assert answer == (400, "a.mp4 arrived incomplete. Send it again.")
    assert not lies_there(project)


def test_only_leads_and_only_pages_of_this_server_send_files(client: TestClient, project: Project) -> None:
    assert client.put("/lead/uploads/videos/a.mp4", content=b"x").status_code == 403
    assert send(client, "a.mp4", **{"Sec-Fetch-Site": "cross-site"})[0] == 403
    client.cookies.set(
        "reelrank_session", sign_in(project, "Uma", PASSWORD, now=time.time()), domain="testserver.local"
    )
    status, message = send(client, "a.mp4")
    assert (status, "only leads may do this" in message) == (403, True)
    client.cookies.clear()
    assert send(client, "a.mp4")[0] == 401
    assert not lies_there(project)
