"""`reelrank users add`: the link that it prints leads to where the project is served."""

import os
from pathlib import Path

import pytest

from backend.campaign.setup.project.sentence_encoder import init_project
from backend.cli import service
from cli.conftest import Run


@pytest.fixture
def project(tmp_path: Path) -> Path:
    return init_project(tmp_path / "project", encoder="minilm").folder


@pytest.mark.parametrize(
    ("host", "port", "url"),
    [
        ("127.0.0.1", 9123, "http://127.0.0.1:9123"),
        ("grading.example.org", 8501, "http://grading.example.org:8501"),
        ("::1", 8502, "http://[::1]:8502"),
        ("0.0.0.0", 8503, "http://127.0.0.1:8503"),
        ("::", 8504, "http://127.0.0.1:8504"),
    ],
)
def test_a_link_names_the_address_that_the_project_is_served_on(
    reelrank: Run, project: Path, monkeypatch: pytest.MonkeyPatch, host: str, port: int, url: str
) -> None:
    monkeypatch.setattr(service, "_require_port", lambda *_: None)
    monkeypatch.setattr(os, "execve", lambda *_: None)  # the server takes the place of the command
    assert reelrank("serve", project, "--host", host, "--port", port)[0] == 0
    _, out, _ = reelrank("users", "add", project, "Ana", "--role", "annotator")
    assert out.splitlines()[1].startswith(f"{url}/session/invitation/")


def test_a_link_names_the_usual_address_before_anything_was_served(reelrank: Run, project: Path) -> None:
    _, out, _ = reelrank("users", "add", project, "Ana", "--role", "annotator")
    assert out.splitlines()[1].startswith("http://127.0.0.1:8501/session/invitation/")


def test_a_link_names_the_address_that_was_asked_for(reelrank: Run, project: Path) -> None:
    asked = ("--url", "https://grade.example.org/")
    _, out, _ = reelrank("users", "add", project, "Ana", "--role", "annotator", *asked)
    assert out.splitlines()[1].startswith("https://grade.example.org/session/invitation/")
