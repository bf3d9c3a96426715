"""The transport over HTTP: what it refuses before it sends a token, what it repeats, and how it tells errors."""

import logging
import socket
import subprocess
import sys
import traceback
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest

from backend.api import over_http
from backend.campaign.setup.tokens.model import TokenScope
from backend.core.errors import AlreadyDone, InputError, NotAllowed, ProjectError, ServerUnavailable
from over_http import served, token_of
from reelrank import Campaign
from support import Judging, free_port

TOKEN = f"rr_{'k' * 12}_{'s' * 43}"
SECRET = "s" * 43
Answer = tuple[int, dict[str, str], bytes]


@pytest.fixture
def folder(judging: Judging) -> Path:
    return judging.project.folder


@pytest.fixture
def answering() -> Iterator[Callable[..., tuple[str, list[tuple[str, str]]]]]:
    """Starts a server that gives these answers, one after the other; its address, and the requests that came."""
    servers: list[ThreadingHTTPServer] = []

    def start(*answers: Answer | None) -> tuple[str, list[tuple[str, str]]]:
        waiting, came = list(answers), []

        class Handler(BaseHTTPRequestHandler):
            def answer(self) -> None:
                came.append((self.command, self.path))
                if (answer := waiting.pop(0)) is None:
                    self.connection.shutdown(socket.SHUT_RDWR)
                    return
                status, headers, content = answer
                self.send_response(status)
                for name, value in {"Content-Length": str(len(content)), **headers}.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(content)

            do_GET = do_POST = answer

            def log_message(self, *_: object) -> None:
                pass

        servers.append(ThreadingHTTPServer(("127.0.0.1", 0), Handler))
        Thread(target=servers[-1].serve_forever, daemon=True).start()
        return f"http://127.0.0.1:{servers[-1].server_port}", came

    yield start
    for server in servers:
        server.shutdown()
        server.server_close()


@pytest.fixture(autouse=True)
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(over_http, "_RETRIES_AFTER_S", (0.0, 0.0))


@pytest.mark.parametrize(
    ("address", "token", "why"),
    [
        ("http://grade.example.org", TOKEN, "would send the token unencrypted: use https://"),
        ("https://Lea:pw@grade.example.org", TOKEN, "has no user name"),
        ("https://", TOKEN, "is like https://grade"),
        ("https://grade.example.org/?a=1", TOKEN, "has no [?] and no #"),
        ("https://grade.example.org", f"{TOKEN}\n", "is no personal token"),
        ("https://grade.example.org", "hunter2", "is no personal token"),
        ("https://grade.example.org", None, "reached with a token"),
        ("films", TOKEN, "a token is for a server"),
    ],
)
def test_what_cannot_be_a_server_or_a_token_is_refused_at_once(address: str, token: str | None, why: str) -> None:
    with pytest.raises(ValueError, match=why) as refused:
        Campaign(address, token=token)
    assert token is None or token.strip() not in str(refused.value)


def test_http_is_for_this_machine_unless_the_script_says_so() -> None:
    with pytest.raises(ValueError, match="no person"):
        Campaign("https://grade.example.org", token=TOKEN, person="Lea")
    for address in ("http://localhost:8501", "http://127.0.0.1:8501/lab/", "http://[::1]:8501", "HTTPS://lab.org"):
        Campaign(address, token=TOKEN)
    campaign = Campaign("http://grade.example.org/lab/", token=TOKEN, allow_http=True)
    assert repr(campaign.transport) == "<OverHttp http://grade.example.org/lab>"


def test_nothing_tells_the_token(
    answering: Callable[..., tuple[str, list[tuple[str, str]]]], caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    told = []
    for answer in ((500, {}, b"oh"), (302, {"Location": "http://evil.example/"}, b""), (200, {}, b"{"), None):
        url, _ = answering(*[answer] * 3)
        with pytest.raises(ServerUnavailable) as error:
            Campaign(url, token=TOKEN).status()
        told.append("".join(traceback.format_exception(error.value)) + repr(error.value))
    assert SECRET not in "".join(told) + caplog.text
    assert "http" in told[0]


def test_a_redirect_is_not_followed(answering: Callable[..., tuple[str, list[tuple[str, str]]]]) -> None:
    elsewhere, came = answering((200, {}, b"{}"))
    for status in (301, 302, 303, 307, 308):
        url, _ = answering((status, {"Location": f"{elsewhere}/api/operations/status"}, b""))
        with pytest.raises(ServerUnavailable, match=f"has moved to {elsewhere}"):
            Campaign(url, token=TOKEN).status()
    assert came == []


def test_no_proxy_reads_a_token_that_is_not_encrypted(
    answering: Callable[..., tuple[str, list[tuple[str, str]]]], monkeypatch: pytest.MonkeyPatch
) -> None:
    proxy, came = answering((200, {}, b"[]"))
    url, asked = answering((200, {}, b"[]"))
    monkeypatch.setenv("http_proxy", proxy)
    monkeypatch.delenv("no_proxy", raising=False)
    assert Campaign(url, token=TOKEN).runs() == []
    assert (came, len(asked)) == ([], 1)


def test_what_only_reads_is_repeated_when_the_connection_fails(
    answering: Callable[..., tuple[str, list[tuple[str, str]]]],
) -> None:
    url, came = answering(None, None, (200, {}, b"[]"))
    assert Campaign(url, token=TOKEN).runs() == []
    assert came == [("GET", "/api/operations/runs")] * 3
    url, came = answering(None, (200, {}, b'{"name": "x"}'))
    with pytest.raises(ServerUnavailable, match="does not answer"):
        Campaign(url, token=TOKEN).rewrite_captions()
    assert came == [("POST", "/api/operations/rewrite_captions")]
    with pytest.raises(ServerUnavailable, match="does not answer: Connection refused"):
        Campaign(f"http://127.0.0.1:{free_port()}", token=TOKEN).status()


def test_a_server_that_says_nothing_is_given_up() -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"http://127.0.0.1:{silent.getsockname()[1]}"
        with pytest.raises(ServerUnavailable, match="timed out"):
            Campaign(url, token=TOKEN, timeout_s=0.2).status()


@pytest.mark.parametrize(
    ("status", "content", "error", "message"),
    [
        (422, b'{"message": "taken", "error": "Overtaken", "problems": []}', "Overtaken", "taken"),
        (422, b'{"message": "odd", "error": "as_text", "problems": []}', "ProjectError", "odd"),
        (401, b'{"message": "no token"}', "NotAllowed", "no token"),
        (503, b'{"message": "disk full"}', "StoreUnavailable", "disk full"),
        (429, b'{"message": "Wait."}', "ServerUnavailable", "answers: Wait."),
        (404, b"<html>nginx</html>", "ServerUnavailable", "answers: HTTP 404"),
        (502, b"\xff", "ServerUnavailable", "answers: HTTP 502"),
        (400, b'{"message": "k is wrong"}', "ValueError", "k is wrong"),
    ],
)
def test_each_answer_has_its_error(
    answering: Callable[..., tuple[str, list[tuple[str, str]]]], status: int, content: bytes, error: str, message: str
) -> None:
    url, _ = answering((status, {}, content))
    with pytest.raises(Exception, match=message) as raised:
        Campaign(url, token=TOKEN).runs()
    assert type(raised.value).__name__ == error


def test_a_download_that_breaks_off_is_no_file(answering: Callable[..., tuple[str, list[tuple[str, str]]]]) -> None:
    cut_off = (200, {"Content-Length": "9", "Content-Disposition": 'attachment; filename="../../r.zip"'}, b"PK")
    whole = (200, {"Content-Disposition": 'attachment; filename="../../r.zip"'}, b"PK")
    url, came = answering(cut_off, whole)
    campaign = Campaign(url, token=TOKEN)
    file = campaign.release_file("a b&c=ü")
    assert (file.name, file.read_bytes(), len(came)) == ("r.zip", b"PK", 2)
    assert came[0] == ("GET", "/api/operations/release_file?name=a+b%26c%3D%C3%BC")
    campaign.close()
    assert not file.exists()


def test_below_a_base_path_and_with_a_process_of_its_own(folder: Path, tmp_path: Path) -> None:
    """Files that a server refuses are named as in the script, and none is kept."""
    sent = folder / "cache" / "sent"
    with served(folder, "/lab") as url, Campaign(url, token=token_of(folder, "Lea")) as campaign:
        assert campaign.status()["pairs"]["open"] == 60
        bad = tmp_path / "mine ü.json"
        bad.write_text('{"1": [["v1.mp4", 5, 3, 0.5]], "2": [["v1.mp4", 9, 3, 0.5]]}')
        with pytest.raises(InputError) as refused:
            campaign.add_run(bad)
        with Campaign(folder, person="Lea") as same, pytest.raises(InputError) as here:
            same.add_run(bad)
        assert refused.value.problems == here.value.problems
        assert str(refused.value) == str(here.value)
        assert len(refused.value.problems) == 2
        with pytest.raises(InputError, match="cannot be read: No such file or directory"):
            campaign.add_run(tmp_path / "none.json")
        with pytest.raises(InputError, match="cannot be read: Is a directory"):
            campaign.add_truth(tmp_path)
        (tmp_path / "good.json").write_text('{"1": [["v1.mp4", 3, 5, 0.5]]}')
        assert campaign.add_run(tmp_path / "good.json").file == "good.json"
        with pytest.raises(AlreadyDone, match=r"This was done at .* by Lea"):
            campaign.add_run(tmp_path / "good.json")
        assert [one.name for one in sent.rglob("*") if one.is_file()] == []
        with pytest.raises(ValueError, match="Expected `int`"):
            campaign.open_batch("1")  # type: ignore[arg-type]  # the typing error is the point
    with served(folder) as url, Campaign(url, token=token_of(folder, "Lea", TokenScope.READ)) as campaign:
        with pytest.raises(ProjectError, match="no ground truth shares queries"):
            campaign.leaderboard()  # in a process of its own, too
        with pytest.raises(NotAllowed, match="may only read"):
            campaign.remove_run("good")
        assert len(campaign.runs()) == 1


def test_the_client_needs_the_core_alone() -> None:
    code = """
import sys
for name in ("sqlite_utils", "starlette", "streamlit", "pandas", "anyio", "argon2", "av", "torch", "httpx"):
    sys.modules[name] = None
from reelrank import Campaign
from backend.api.campaign import OPERATIONS
campaign = Campaign("http://127.0.0.1:1", token="rr_a_b")
for operation in OPERATIONS.values():
    assert operation.signature
try:
    campaign.rewrite_captions()
except OSError as error:
    print(error)
"""
    root = Path(__file__).parents[2]
    done = subprocess.run([sys.executable, "-c", code], cwd=root, capture_output=True, text=True, check=True)
    assert done.stdout == "http://127.0.0.1:1 does not answer: Connection refused\n"
