"""The operations for programs over HTTP: who may call them, what bodies and addresses are refused, and files."""

import json
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
from starlette.testclient import TestClient

from annotate_app.server import api, lead_routes
from annotate_app.server.api import Programs
from annotate_app.session import request_limits
from annotate_app.session.routes import Sessions
from backend.api.campaign import OPERATIONS
from backend.api.model import Needs
from backend.api.openapi import described, document
from backend.campaign.setup.tokens.model import TokenScope
from backend.campaign.setup.tokens.personal_tokens import create_token, list_tokens
from backend.core import processes
from backend.core.errors import NoRoom, StoreUnavailable
from over_http import run_here
from served import browsing
from small_project import PASSWORD, SmallProject
from support import NOW
from test_bodies import HOSTILE
from verbs import value

ACTING = [name for name, operation in OPERATIONS.items() if operation.acts]
OF_LEADS = [name for name, operation in OPERATIONS.items() if operation.needs is not Needs.ANNOTATOR]
Bearing = Callable[..., dict[str, str]]


@pytest.fixture(autouse=True)
def quick(real_project: SmallProject, monkeypatch: pytest.MonkeyPatch) -> None:
    run_here(monkeypatch)
    monkeypatch.setattr("time.time", lambda: NOW)
    monkeypatch.setattr(request_limits, "REFUSALS_AT_ONCE", 1_000_000)


@pytest.fixture
def client(real_project: SmallProject) -> Iterator[TestClient]:
    project = real_project.project
    routes = [*Sessions(lambda: project, lambda: NOW).routes(), *Programs(lambda: project).routes()]
    with browsing(project, routes) as found:
        yield found


@pytest.fixture
def bearing(real_project: SmallProject) -> Bearing:
    """Returns the header with a new token of a person."""

    def make(name: str = "Lea", scope: TokenScope = TokenScope.ACT) -> dict[str, str]:
        number = len(list_tokens(real_project.project, real_project.lead))
        person = real_project.person(name)
        token = create_token(real_project.project, person, PASSWORD, f"script {number}", scope, 30, now=NOW)[1]
        return {"Authorization": f"Bearer {token}"}

    return make


def needed(name: str) -> dict[str, Any]:
    """Arguments of an operation, of which nothing exists."""
    operation = OPERATIONS[name]
    asked = [one for one in operation.signature.parameters.values() if one.default is one.empty]
    return {one.name: "no such" if one.name in operation.files else value(one.annotation) for one in asked}


def ask(client: TestClient, name: str, headers: dict[str, str], /, **arguments: Any) -> tuple[int, Any]:
    """Call an operation by the method that it has."""
    path = f"/api/operations/{name}"
    if OPERATIONS[name].acts:
        answer = client.post(path, json=arguments, headers=headers)
    else:
        answer = client.get(path, params=arguments, headers=headers)
    return answer.status_code, answer.json()


def dump(small: SmallProject) -> list[str]:
    """All rows but those of tokens."""
    return [line for line in small.project.store.db.conn.iterdump() if '"personal_token"' not in line]


@pytest.mark.parametrize("name", OPERATIONS)
def test_a_cookie_opens_no_operation(client: TestClient, real_project: SmallProject, name: str) -> None:
    before = dump(real_project)
    client.cookies.set("reelrank_session", real_project.tokens["Lea"], domain="testserver.local")
    for method in ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"):
        answer = client.request(method, f"/api/operations/{name}", headers={"X-ReelRank": "1"})
        assert answer.status_code == 401
        assert not [header for header in answer.headers if header.startswith("access-control")]
    assert client.post("/api/files/a.json", content=b"{}").status_code == 401
    assert dump(real_project) == before


@pytest.mark.parametrize("name", OPERATIONS)
def test_a_token_in_an_address_is_refused(client: TestClient, bearing: Bearing, name: str) -> None:
    headers = bearing()
    token = headers["Authorization"].split()[1]
    for method in ("GET", "POST"):
        for sent in ({}, headers):
            address = f"/api/operations/{name}?access_token={token}"
            assert client.request(method, address, headers=sent, json={}).status_code == 401


@pytest.mark.parametrize("name", ACTING)
def test_one_that_reads_acts_by_no_operation(
    client: TestClient, real_project: SmallProject, bearing: Bearing, name: str
) -> None:
    headers = bearing("Lea", TokenScope.READ)
    before = dump(real_project)
    assert ask(client, name, headers, **needed(name)) == (403, {"message": "This token may only read."})
    for method in ("GET", "HEAD", "OPTIONS"):
        answer = client.request(method, f"/api/operations/{name}", headers=headers, params=needed(name))
        assert (answer.status_code, answer.headers["allow"].count("POST")) == (405, 1)
    assert client.post("/api/files/a.json", content=b"{}", headers=headers).status_code == 403
    assert dump(real_project) == before


@pytest.mark.parametrize("name", [name for name in OPERATIONS if name not in ACTING])
def test_one_that_reads_calls_every_operation_that_reads(client: TestClient, bearing: Bearing, name: str) -> None:
    """None of them writes on the way."""
    person = "Ana" if OPERATIONS[name].needs is Needs.ANNOTATOR else "Lea"
    status, answer = ask(client, name, bearing(person, TokenScope.READ), **needed(name))
    assert (status, answer.get("error") if status == 422 else None) in ((200, None), (422, "ProjectError"))
    assert status == 200 or name in ("release_file", "leaderboard")


@pytest.mark.parametrize("name", OF_LEADS)
def test_an_annotator_calls_no_operation_of_leads(
    client: TestClient, real_project: SmallProject, bearing: Bearing, name: str
) -> None:
    """They are told so before anything of the request is looked at."""
    headers = bearing("Ana")
    before = dump(real_project)
    for arguments in (needed(name), {}, {"unknown": "x"}):
        status, answer = ask(client, name, headers, **arguments)
        assert (status, answer) == (403, {"message": "only leads may do this; Ana is signed in as annotator"})
    assert dump(real_project) == before


@pytest.mark.parametrize("name", OPERATIONS)
def test_an_operation_answers_one_method_and_shares_nothing_with_other_sites(
    client: TestClient, bearing: Bearing, name: str
) -> None:
    headers = {**bearing("Lea"), "Origin": "https://evil.example", "Access-Control-Request-Method": "POST"}
    for method in ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE"):
        if method in (("POST",) if OPERATIONS[name].acts else ("GET",)):
            continue
        answer = client.request(method, f"/api/operations/{name}", headers=headers)
        assert answer.status_code == 405
        assert not [header for header in answer.headers if header.startswith("access-control")]


@pytest.mark.parametrize("name", OPERATIONS)
def test_unknown_and_doubled_arguments_are_refused(client: TestClient, bearing: Bearing, name: str) -> None:
    status, answer = ask(client, name, bearing("Ana" if name == "my_work" else "Lea"), **needed(name), nam="x")
    assert (status, answer["message"]) == (
        400,
        "The request could not be read: Object contains unknown field `nam`",
    )


@pytest.mark.parametrize(("why", "sent"), HOSTILE.items())
def test_hostile_json_is_refused(client: TestClient, bearing: Bearing, why: str, sent: bytes) -> None:
    headers = {**bearing(), "Content-Type": "application/json"}
    bodies = [
        b'{"name": %s}' % sent,
        b'{"name": "x", "unknown": %s}' % sent,
        sent,
        b'{"kinds": [%s], "name": "x"}' % sent,
    ]
    for body in bodies:
        answer = client.post("/api/operations/dismiss_flags", content=body, headers=headers)
        assert answer.status_code == 400
        assert answer.json()["message"].startswith("The request could not be read")


@pytest.mark.parametrize("kind", ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data", None])
def test_a_form_of_another_site_is_not_json(
    client: TestClient, real_project: SmallProject, bearing: Bearing, kind: str | None
) -> None:
    headers = {**bearing(), **({"Content-Type": kind} if kind else {})}
    before = dump(real_project)
    answer = client.post("/api/operations/suspend_person", content=b'{"name": "Ben"}', headers=headers)
    assert (answer.status_code, answer.json()["message"][:29]) == (415, "Send the arguments as a JSON ")
    assert dump(real_project) == before


def test_a_huge_body_is_refused(client: TestClient, bearing: Bearing) -> None:
    headers = {**bearing(), "Content-Type": "application/json"}
    huge = b'{"name": "%s"}' % (b"x" * request_limits.MAX_JSON_BYTES)
    answer = client.post("/api/operations/suspend_person", content=huge, headers=headers)
    assert (answer.status_code, answer.json()) == (413, {"message": "Too much was sent at once."})


@pytest.mark.parametrize(
    ("address", "why"),
    [
        ("leaderboard?k=x", "Expected `int`"),
        ("leaderboard?k=1&k=", "Expected `int`"),
        (f"leaderboard?k={'9' * 40}", "a number in it is too large"),
        ("leaderboard?mu=nan", "a number in it is too large"),
        ("leaderboard?mu=inf", "a number in it is too large"),
        ("leaderboard?preset=x", "Invalid enum value 'x'"),
        ("pairs?most=1&most=2", "most is given twice"),
        (f"pairs?first={'9' * 19}", "a number in it is too large"),
        ("captions?search=%00", "the sign with the number 0"),
        (f"captions?search={'x' * 10_001}", "a text in it is too long"),
        ("release_file", "missing required field `name`"),
        ("judgements?names=yes", "Expected `bool`"),
    ],
)
def test_an_address_that_cannot_be_used_says_why(client: TestClient, bearing: Bearing, address: str, why: str) -> None:
    answer = client.get(f"/api/operations/{address}", headers=bearing())
    assert answer.status_code == 400
    assert why in answer.json()["message"]


def test_what_is_not_there_is_told_apart(client: TestClient, bearing: Bearing) -> None:
    headers = bearing()
    for path in ("/api/operations/drop", "/api/operations/", "/api/operations/status/", "/api/operations/__init__"):
        assert client.get(path, headers=headers, follow_redirects=False).status_code in (404, 307)
    for name in ("../../reelrank.db", "..", "r/../../x"):
        status, answer = ask(client, "release_file", headers, name=name)
        assert (status, answer["error"]) == (422, "ProjectError")


class TestFiles:
    @pytest.mark.parametrize(
        "name", ["..", ".hidden", "a\\b.json", "a%00b", "..%2Fx.json", "%2Fetc%2Fpasswd", "x" * 201, "a%0Ab"]
    )
    def test_a_path_is_no_name(
        self, client: TestClient, real_project: SmallProject, bearing: Bearing, name: str
    ) -> None:
        answer = client.post(f"/api/files/{name}", content=b"{}", headers=bearing())
        assert answer.status_code in (400, 404, 405)
        assert not (real_project.folder / "cache" / "sent").exists()

    @pytest.mark.parametrize(
        "reference",
        [
            *("../../reelrank.toml", "reelrank.toml", "/etc/passwd", "", ".", "\u2024\u2024/x"),
            *(
                f"{'0' * 32}/a.json",
                f"{'0' * 32}/../../../reelrank.db",
                "KEY/../../../../reelrank.db",
                "KEY/..",
                "KEY/",
            ),
            *("KEY", "KEY/a.json/", "KEY/./a.json", "./KEY/a.json", "../1/KEY/a.json", "KEY//a.json", "KEY/b.json"),
        ],
    )
    def test_an_argument_names_a_file_that_was_sent_and_nothing_else(
        self, client: TestClient, bearing: Bearing, reference: str
    ) -> None:
        headers = bearing()
        key = self.send(client, headers).split("/")[0]
        status, answer = ask(client, "add_run", headers, file=reference.replace("KEY", key))
        assert (status, answer["message"][:25]) == (422, "send the file first: POST")

    def send(self, client: TestClient, headers: dict[str, str], content: bytes = b"{}", name: str = "a.json") -> str:
        answer = client.post(f"/api/files/{name}", content=content, headers=headers)
        assert answer.status_code == 201
        return str(answer.json()["file"])

    def test_a_file_is_for_its_sender_and_for_one_call(
        self, client: TestClient, real_project: SmallProject, bearing: Bearing
    ) -> None:
        lea, max_ = bearing("Lea"), bearing("Max")
        run = json.dumps({"1": [["v1.mp4", 0, 2.5, 0.5]]}).encode()
        file = self.send(client, lea, run)
        assert ask(client, "add_run", max_, file=file)[0] == 422
        path = next((real_project.folder / "cache" / "sent").rglob("a.json"))
        assert [place.stat().st_mode & 0o777 for place in (path, path.parent)] == [0o600, 0o700]
        status, answer = ask(client, "add_run", lea, file=file)
        assert (status, answer["name"], answer["file"]) == (200, "a", "a.json")
        assert not path.exists()
        assert ask(client, "add_run", lea, file=file, name="b")[0] == 422

    def test_problems_name_the_file_and_no_folder_of_the_server(
        self, client: TestClient, real_project: SmallProject, bearing: Bearing
    ) -> None:
        headers = bearing()
        for name, sent in (
            ("add_run", b"\xff{"),
            ("add_truth", b"[]"),
            ("import_corpus", b"{}"),
            ("import_corpus", b"\x1f\x8b"),
        ):
            status, answer = ask(client, name, headers, file=self.send(client, headers, sent))
            assert (status, answer["error"]) == (422, "InputError")
            assert {problem["file"] for problem in answer["problems"]} == {"a.json"}
            assert str(real_project.folder) not in json.dumps(answer)
            assert set(answer["problems"][0]) == {"file", "row", "message"}

    def test_the_record_of_an_import_names_no_folder_that_is_gone(
        self, client: TestClient, real_project: SmallProject, bearing: Bearing
    ) -> None:
        headers = bearing()
        line = {"video": "new", "start": 0, "end": 2, "caption": "A dog runs", "duration": 9}
        file = self.send(client, headers, json.dumps(line).encode(), "more.jsonl")
        status, answer = ask(client, "import_corpus", headers, file=file)
        assert (status, answer["captions"]) == (200, 1)
        assert file.split("/")[0] not in "".join(dump(real_project))

    def test_what_is_too_large_or_empty_is_not_kept(
        self, client: TestClient, real_project: SmallProject, bearing: Bearing, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        headers = bearing()
        small = lead_routes.UploadKind("cache/sent", "", (), 10)
        monkeypatch.setattr(api, "SENT_BY_PROGRAMS", small)
        assert client.post("/api/files/a", content=b"x" * 11, headers=headers).status_code == 413
        assert client.post("/api/files/a", content=iter([b"x" * 6] * 2), headers=headers).status_code == 413
        assert client.post("/api/files/a", content=b"", headers=headers).status_code == 400
        assert list((real_project.folder / "cache" / "sent").rglob("a*")) == []

    def test_what_no_call_used_is_deleted_a_day_later(
        self, client: TestClient, real_project: SmallProject, bearing: Bearing, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        headers = bearing()
        sent = real_project.folder / "cache" / "sent" / str(real_project.lead.annotator_id)

        def sent_before(seconds: int, reference: str) -> str:
            """Date a file by the server's clock, which is that of this test."""
            os.utime(sent / reference.split("/")[0], (NOW - seconds, NOW - seconds))
            return reference

        old, new = (sent_before(80_000, self.send(client, headers)) for _ in range(2))
        sent_before(90_000, old)
        self.send(client, headers)
        assert not (sent / old).exists()
        assert (sent / new).exists()


def test_a_download_is_streamed(client: TestClient, real_project: SmallProject, bearing: Bearing) -> None:
    headers = bearing()
    status, made = ask(client, "make_release", headers, name="first", unfinished=True)
    assert (status, made["name"]) == (200, "first")
    answer = client.get("/api/operations/release_file?name=first", headers=headers)
    assert answer.content[:2] == b"PK"
    assert answer.headers["content-disposition"].startswith("attachment; filename=")
    assert answer.headers["cache-control"] == "no-store"
    part = client.get("/api/operations/release_file?name=first", headers={**headers, "Range": "bytes=0-1"})
    assert (part.status_code, part.content) == (206, b"PK")


@pytest.mark.parametrize(("error", "status"), [(StoreUnavailable("full"), 503), (NoRoom("full"), 422)])
def test_a_server_in_trouble_says_so(
    client: TestClient, bearing: Bearing, monkeypatch: pytest.MonkeyPatch, error: Exception, status: int
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise error

    headers = bearing()
    monkeypatch.setattr(api, "_result", fail)
    answer = ask(client, "status", headers)
    assert (answer[0], answer[1]["message"]) == (status, "full")


def test_long_operations_run_apart_and_few_at_a_time(
    client: TestClient, bearing: Bearing, monkeypatch: pytest.MonkeyPatch
) -> None:
    apart: list[int] = []
    alone = processes.alone
    monkeypatch.setattr(
        processes, "alone", lambda *work, niceness: apart.append(niceness) or alone(*work, niceness=niceness)
    )
    headers = bearing()
    for name in OPERATIONS:
        before = len(apart)
        arguments = needed(name)
        ask(client, name, headers, **arguments)
        uses_a_file = bool(set(OPERATIONS[name].files) & arguments.keys())
        assert len(apart) - before == (name in api.LONG and not uses_a_file), name
    assert set(apart) == {10}


class TestDocument:
    def test_it_describes_every_operation(self, client: TestClient, bearing: Bearing) -> None:
        found = client.get("/api/openapi.json", headers=bearing("Ana", TokenScope.READ)).json()
        assert found == json.loads(msgspec.json.encode(document()))
        assert found["openapi"] == "3.1.0"
        for name, operation in OPERATIONS.items():
            ((method, entry),) = found["paths"][f"/api/operations/{name}"].items()
            assert method == ("post" if operation.acts else "get")
            assert entry["summary"]
            assert not {"Args:", "Raises:"} & set(entry["description"].split())
            if operation.acts:
                described_ = found["components"]["schemas"][name]["properties"]
            else:
                described_ = {one["name"]: one["schema"] for one in entry["parameters"]}
            assert list(described_) == list(operation.signature.parameters)
            assert all(one["description"] for one in described_.values()), name
            assert set(described(operation)[1]) == set(operation.signature.parameters)
        assert document("/lab")["servers"] == [{"url": "/lab"}]

    def test_every_reference_leads_somewhere(self) -> None:
        found = json.loads(msgspec.json.encode(document()))

        def references(value: Any) -> Iterator[str]:
            if isinstance(value, dict):
                if isinstance(value.get("$ref"), str):
                    yield value["$ref"]
                for inner in value.values():
                    yield from references(inner)
            elif isinstance(value, list):
                for inner in value:
                    yield from references(inner)

        for reference in set(references(found)):
            place = found
            for part in reference.removeprefix("#/").split("/"):
                place = place[part]

    def test_who_is_not_signed_in_reads_neither_it_nor_the_page(
        self, client: TestClient, real_project: SmallProject
    ) -> None:
        assert client.get("/api/openapi.json").status_code == 401
        answer = client.get("/session/programs")
        assert (answer.status_code, answer.headers["location"]) == (303, "/session/sign-in")
        client.cookies.set("reelrank_session", real_project.tokens["Ana"], domain="testserver.local")
        page = client.get("/session/programs")
        assert page.status_code == 200
        assert "<script" not in page.text
        assert page.headers["content-security-policy"].startswith("default-src 'none'; style-src 'self'")
        for name, operation in OPERATIONS.items():
            assert f'<details id="{name}">' in page.text
            assert f"{'POST' if operation.acts else 'GET'} /api/operations/{name}<" in page.text
        assert "<code>file: file</code>" in page.text
        assert "Result: <code>list[PersonReview]</code>" in page.text
        assert '<a href="/session/programs">' in client.get("/session/account").text


def test_files_that_were_sent_in_vain_go_after_the_clock_jumped(
    tmp_path: Path, jump: tuple[float, float], monkeypatch: pytest.MonkeyPatch
) -> None:
    before, after = jump
    unused = tmp_path / "a-reference"
    unused.mkdir()
    os.utime(unused, (before, before))
    monkeypatch.setattr("time.time", lambda: after + 2 * api._UNUSED_S + 1)
    api._delete_unused(tmp_path)
    assert not unused.exists()
