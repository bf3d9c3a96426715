"""What `reelrank serve` refuses before it begins, and what it hands to the server that takes its place."""

import importlib.util
import os
import socket
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import pytest

import units
from backend import api
from backend.ground import parallel
from support import free_port

Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def project(tmp_path: Path) -> Path:
    return api.init_project(tmp_path / "project", encoder="minilm").folder


@pytest.fixture
def handed(monkeypatch: pytest.MonkeyPatch) -> list[tuple[Sequence[str], Mapping[str, str]]]:
    """Command lines and environments of servers that would be now."""
    found: list[tuple[Sequence[str], Mapping[str, str]]] = []
    monkeypatch.setattr(os, "execve", lambda _, command, environment: found.append((command, environment)))
    return found


@pytest.mark.parametrize("address", ["9108", "localhost", ":9108", "localhost:0", "localhost:http", "localhost:99999"])
def test_prometheus_needs_a_host_and_a_port(reelrank: Run, project: Path, address: str) -> None:
    code, _, err = reelrank("serve", project, "--metrics", address)
    assert (code, err.strip()) == (1, f"reelrank: {address} is no address: write HOST:PORT, such as 127.0.0.1:9108")


def test_prometheus_needs_an_address_that_is_free_and_its_package(
    reelrank: Run, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        address = f"127.0.0.1:{taken.getsockname()[1]}"
        code, _, err = reelrank("serve", project, "--metrics", address)
        assert (code, "choose another --metrics" in err) == (1, True)
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    code, _, err = reelrank("serve", project, "--metrics", address)
    assert (code, "pip install 'reelrank[metrics]'" in err) == (1, True)


def test_the_server_is_told_by_options_or_the_environment_and_else_counts_nothing(
    reelrank: Run,
    project: Path,
    handed: list[tuple[Sequence[str], Mapping[str, str]]],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    port, metrics = str(free_port()), f"127.0.0.1:{free_port()}"
    plain = reelrank("serve", project, "--port", port)
    asked = reelrank("serve", project, "--port", port, "--log", "json", "--metrics", metrics)
    monkeypatch.setenv("REELRANK_LOG", "json")
    monkeypatch.setenv("REELRANK_METRICS", metrics)
    set_before = reelrank("serve", project, "--port", port)
    assert [code for code, _, _ in (plain, asked, set_before)] == [0, 0, 0]
    told = [(environment["REELRANK_LOG"], environment["REELRANK_METRICS"]) for _, environment in handed]
    assert told == [("text", ""), ("json", metrics), ("json", metrics)]
    assert all(list(command[1:3]) == ["-m", "annotate_app"] for command, _ in handed)
    assert [f"http://127.0.0.1:{port}" in out for _, out, _ in (plain, asked, set_before)] == [True, False, False]


def test_the_server_takes_the_place_of_a_command_that_has_let_its_worker_go(
    reelrank: Run, project: Path, handed: list[tuple[Sequence[str], Mapping[str, str]]]
) -> None:
    (worker,) = parallel.run_units(units.worker, None, [0], apart=True)
    assert units.is_running(worker)
    assert reelrank("serve", project, "--port", str(free_port()))[0] == 0
    assert len(handed) == 1
    assert not units.is_running(worker)
