"""What a server says: one form, one place, whichever library speaks, and nothing that opens a door."""

import json
import os
import subprocess
import sys
import time

import pytest

from annotate_app.server.logs import without_secrets

SPEAKING = """
import logging, sys, threading, warnings
from annotate_app.server import logs
from backend.core.server_options import LogForm

logs.begin(LogForm(sys.argv[1]))
library = logging.getLogger("some.package")
library.setLevel(logging.INFO)
library.propagate = False
library.addHandler(logging.StreamHandler())
library.info("of %d, a \\"line\\"\\nand another", 7)
logging.getLogger("annotate_app.server").info("ours")
logging.getLogger("other").info("not told")
server = logging.getLogger("uvicorn.error")
server.setLevel(logging.INFO)
server.info("Started server process [7]")
server.warning("of the server")
warnings.warn("beware")

def fail():
    raise ValueError("password='horse' at /session/invitation/3xQ7")

try:
    fail()
except ValueError:
    library.exception("failed")
thread = threading.Thread(target=fail)
thread.start()
thread.join()
fail()
"""


def spoken(form: str) -> list[str]:
    done = subprocess.run(
        [sys.executable, "-c", SPEAKING, form], capture_output=True, text=True, check=False, timeout=60
    )
    assert (done.returncode, done.stdout) == (1, "")
    assert "horse" not in done.stderr
    assert "3xQ7" not in done.stderr
    return done.stderr.splitlines()


def test_a_signal_before_the_server_runs_ends_it_whatever_is_being_imported() -> None:
    importing = """
import signal
from annotate_app.server import server_process
signal.signal(signal.SIGINT, server_process.leave)
try:
    signal.raise_signal(signal.SIGINT)
finally:
    raise SystemExit("an import goes on")
"""
    done = subprocess.run(
        [sys.executable, "-c", importing],
        env={**os.environ, "REELRANK_READY": "Serving"},
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "\nStopped.\n", "")


def test_as_json_every_line_is_an_object_whatever_fails_where() -> None:
    lines = [json.loads(line) for line in spoken("json")]
    assert [(line["level"], line["logger"]) for line in lines] == [
        ("info", "some.package"),
        ("info", "annotate_app.server"),
        ("info", "uvicorn.error"),
        ("warning", "uvicorn.error"),
        ("warning", "py.warnings"),
        ("error", "some.package"),
        ("critical", "annotate_app.server.logs"),
        ("critical", "annotate_app.server.logs"),
    ]
    assert lines[0]["message"] == 'of 7, a "line"\nand another'
    assert all("[taken out]" in line["exception"] for line in lines[5:])
    assert all(len(line["at"]) == len("2026-01-02T03:04:05.678Z") for line in lines)


def test_as_text_each_is_told_once() -> None:
    lines = spoken("text")
    assert lines[0].endswith('INFO some.package: of 7, a "line"')
    assert sum("ours" in line for line in lines) == 1
    assert not any("not told" in line or "Started server" in line for line in lines)
    assert sum("of the server" in line for line in lines) == 1


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("(b'cookie', b'reelrank_session=abc; theme=dark')", "(b'cookie', b'[taken out]')"),
        ("Authorization: Bearer abc.def", "Authorization: [taken out]"),
        ('{"password": "correct horse", "name": "Ana"}', '{"password": [taken out], "name": "Ana"}'),
        ("csrf=abc&name=Ana", "csrf=[taken out]&name=Ana"),
        ("connect postgresql://ana:pw@db.example/x failed", "connect postgresql://[taken out]@db.example/x failed"),
        ("https://reel.example/session/invitation/a-b_c?x", "https://reel.example/session/invitation/[taken out]?x"),
        (f"GET /api/x?rr_{12 * 'a'}_{43 * 'b'}&y", "GET /api/x?rr_[taken out]&y"),
        ("2 tokens in 3 s; http://[::1]:8501/people", "2 tokens in 3 s; http://[::1]:8501/people"),
    ],
)
def test_what_looks_like_a_secret_is_taken_out(text: str, kept: str) -> None:
    assert without_secrets(text) == kept


def test_a_line_that_repeats_a_cookies_name_holds_no_request_up() -> None:
    """A request may bring 64 KiB of it."""
    began = time.process_time()
    line = "reelrank_" * 15_000
    assert without_secrets(line) == line
    assert time.process_time() - began < 10
