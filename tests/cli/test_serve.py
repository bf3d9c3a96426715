"""What `reelrank serve` refuses before it begins, and what it hands to the server that takes its place."""

import importlib.util
import os
import re
import signal
import socket
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import pytest

import units
from backend.campaign.demo import demo_people
from backend.campaign.doctor.examination import doctor
from backend.campaign.nouns import OPERATOR, Role
from backend.campaign.setup.people.accounts import add_person
from backend.campaign.setup.project.folder import open_project
from backend.campaign.setup.project.sentence_encoder import init_project
from backend.campaign.setup.serving.server import note_address, served_at
from backend.cli import service
from backend.core import file_system, parallel
from cli.conftest import Run
from support import NOW, free_port

Handed = list[tuple[Sequence[str], Mapping[str, str]]]


@pytest.fixture
def project(tmp_path: Path) -> Path:
    return init_project(tmp_path / "project", encoder="minilm").folder


@pytest.fixture
def demo(tmp_path: Path) -> Path:
    """A project with the people of the demo."""
    project = init_project(tmp_path / "demo", encoder="minilm")
    lead, annotators, _ = demo_people()
    for name in (lead, *annotators):
        add_person(project, OPERATOR, name, Role.LEAD if name == lead else Role.ANNOTATOR, now=NOW)
    return project.folder


@pytest.fixture
def taken() -> Iterator[int]:
    """A port on which somebody listens."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        yield listening.getsockname()[1]


@pytest.fixture
def handed(monkeypatch: pytest.MonkeyPatch) -> Iterator[Handed]:
    """Command lines and environments of servers that would be now."""
    found: Handed = []

    def exec_(_program: str, command: Sequence[str], environment: Mapping[str, str]) -> None:
        assert {signal.SIGINT, signal.SIGTERM} <= signal.pthread_sigmask(signal.SIG_BLOCK, ())  # until it can answer
        found.append((command, environment))

    monkeypatch.setattr(os, "execve", exec_)
    yield found
    assert not {signal.SIGINT, signal.SIGTERM} & signal.pthread_sigmask(signal.SIG_BLOCK, ())


@pytest.mark.parametrize("address", ["9108", "localhost", ":9108", "localhost:0", "localhost:http", "localhost:99999"])
def test_prometheus_needs_a_host_and_a_port(reelrank: Run, project: Path, address: str) -> None:
    code, _, err = reelrank("serve", project, "--metrics", address)
    assert (code, err.strip()) == (1, f"reelrank: {address} is not an address: write HOST:PORT, such as 127.0.0.1:9108")


def test_prometheus_needs_an_address_that_is_free_and_its_package(
    reelrank: Run, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        address = f"127.0.0.1:{taken.getsockname()[1]}"
        assert "choose another --metrics" in reelrank.refusal("serve", project, "--metrics", address)
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    assert "pip install 'reelrank[metrics]'" in reelrank.refusal("serve", project, "--metrics", address)


def test_the_server_is_told_by_options_or_the_environment_and_else_counts_nothing(
    reelrank: Run,
    project: Path,
    handed: Handed,
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
    ready = [environment["REELRANK_READY"] for _, environment in handed]
    assert ready == [f"Serving {project} on http://127.0.0.1:{port}  (stop with Ctrl-C)", "", ""]


def test_a_base_path_is_in_every_address_that_is_told(
    reelrank: Run, project: Path, handed: Handed, monkeypatch: pytest.MonkeyPatch
) -> None:
    port = str(free_port())
    monkeypatch.setenv("REELRANK_BASE_PATH", "/lab")
    assert reelrank("serve", project, "--port", port)[0] == 0
    assert reelrank("serve", project, "--port", port, "--base-path", "/annotate/")[0] == 0
    assert [environment["REELRANK_BASE_PATH"] for _, environment in handed] == ["/lab", "/annotate"]
    url = f"http://127.0.0.1:{port}/annotate"
    assert handed[1][1]["REELRANK_READY"] == f"Serving {project} on {url}  (stop with Ctrl-C)"
    assert f"{url}/session/invitation/" in reelrank("users", "add", project, "Zoe", "--role", "annotator")[1]
    code, _, err = reelrank("serve", project, "--base-path", "annotate")
    assert (code, len(handed)) == (1, 2)
    assert err.startswith("reelrank: 'annotate' is not a base path: use letters")


def test_a_folder_without_a_project_is_served_with_a_link_that_makes_one(
    reelrank: Run, tmp_path: Path, handed: Handed
) -> None:
    port, new = str(free_port()), tmp_path / "lab" / "new"
    assert reelrank("serve", new, "--port", port, "--base-path", "/annotate")[0] == 0
    new.mkdir(parents=True)
    public = ("--url", "https://grade.example.org/")
    assert reelrank("serve", new, "--port", port, "--log", "json", *public)[0] == 0
    own = f"http://127.0.0.1:{port}"
    told = [environment["REELRANK_FIRST_LINK"].split("\n") for _, environment in handed]
    links = [re.fullmatch(r"(.+)/session/new-project/([\w-]{32})", link) for _, link in told]
    assert [address for address, _ in told] == [f"{own}/annotate", own]
    assert [link and link[1] for link in links] == [f"{own}/annotate", "https://grade.example.org"]
    assert len({link and link[2] for link in links}) == 2, "each server has a token of its own"
    assert not any(new.iterdir()), "nothing is made before somebody follows the link"
    assert "is not a web address" in reelrank.refusal("serve", new, "--url", "grade.example.org")


def test_a_folder_with_other_files_is_not_served(reelrank: Run, tmp_path: Path, handed: Handed) -> None:
    (tmp_path / "notes.txt").touch()
    assert "is not a project" in reelrank.refusal("serve", tmp_path)
    assert "cannot write to" in reelrank.refusal("serve", tmp_path / "notes.txt" / "new")
    assert handed == []


def test_several_processes_are_started_by_a_process_at_the_port(reelrank: Run, project: Path, handed: Handed) -> None:
    port = str(free_port())
    assert reelrank("serve", project, "--port", port, "--processes", 3)[0] == 0
    ((command, environment),) = handed
    assert list(command[1:]) == ["-m", "annotate_app.front", "127.0.0.1", port, "3"]
    assert environment["REELRANK_PROJECT"] == str(project)
    with socket.create_server(("127.0.0.1", 0)) as second:
        taken = second.getsockname()[1]
        refusal = reelrank.refusal("serve", project, "--processes", 2, "--metrics", f"127.0.0.1:{taken - 1}")
    assert f"cannot listen on 127.0.0.1:{taken} " in refusal or f"cannot listen on 127.0.0.1:{taken - 1} " in refusal


def test_a_folder_of_projects_is_served_as_several(
    reelrank: Run, tmp_path: Path, handed: Handed, monkeypatch: pytest.MonkeyPatch
) -> None:
    lab, port = tmp_path / "lab", str(free_port())
    for name in ("news", "films", ".old"):
        init_project(lab / name, encoder="minilm")
    (lab / "notes").mkdir()
    assert reelrank("serve", lab, "--port", port)[0] == 0
    ((command, environment),) = handed
    assert list(command[3:]) == ["127.0.0.1", port, "1", str(lab / "films"), str(lab / "news")]
    url = f"http://127.0.0.1:{port}"
    assert environment["REELRANK_READY"].splitlines() == [
        f"Serving 2 projects of {lab} on {url}  (stop with Ctrl-C)",
        f"  {url}/films/",
        f"  {url}/news/",
    ]
    invited = reelrank("users", "add", lab / "news", "Zoe", "--role", "annotator")[1]
    assert f"{url}/news/session/invitation/" in invited
    assert "--base-path is for one project" in reelrank.refusal("serve", lab, "--base-path", "/lab")
    for name in ("a film", "campaigns", "été"):
        (lab / "films").rename(lab / name)
        assert f"{lab / name} cannot be served below its name" in reelrank.refusal("serve", lab), name
        (lab / name).rename(lab / "films")
    monkeypatch.setenv("REELRANK_DATABASE", "postgresql://127.0.0.1/one")
    assert "REELRANK_DATABASE names one database" in reelrank.refusal("serve", lab)
    assert len(handed) == 1


def test_the_server_takes_the_place_of_a_command_that_has_let_its_worker_go(
    reelrank: Run, project: Path, handed: Handed
) -> None:
    (worker,) = parallel.run_units(units.worker, None, [0], apart=True)
    assert units.is_running(worker)
    assert reelrank("serve", project, "--port", str(free_port()))[0] == 0
    assert len(handed) == 1
    assert not units.is_running(worker)


def port_of(command: Sequence[str]) -> int:
    return int(command[command.index("--server.port") + 1])


def test_a_second_demo_takes_the_next_free_port_and_says_so(
    reelrank: Run, demo: Path, handed: Handed, taken: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(service, "USUAL_PORT", taken)
    code, out, _ = reelrank("demo", demo)
    (command, environment), *more = handed
    port = port_of(command)
    assert (code, port > taken, more) == (0, True, [])
    sentence, _, opens, *names = environment["REELRANK_READY"].splitlines()
    assert sentence == f"Port {taken} is in use, so this demo is at http://127.0.0.1:{port}."
    assert opens == f"Open      http://127.0.0.1:{port}"
    assert "Password  reelrank-demo  (for everybody)" in names
    assert "http" not in out  # nothing is told to open before it answers


def test_what_is_in_the_way_of_a_demo_is_told_before_anything_is_built(
    reelrank: Run, tmp_path: Path, project: Path, handed: Handed, taken: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "notes.txt").touch()
    code, out, err = reelrank("demo", "notes.txt", "--no-serve")
    assert (code, out, err) == (1, "", "reelrank: notes.txt is a file: name a new folder\n")
    code, out, err = reelrank("demo", "--port", taken)
    found = re.fullmatch(
        rf"reelrank: port {taken} is in use: choose another one, such as `reelrank demo demo-project --port (\d+)` "
        r"\(or `make demo PORT=(\d+)`\)\n",
        err,
    )
    assert found is not None, err
    assert (code, out, found[1]) == (1, "", found[2])
    assert not (tmp_path / "demo-project").exists()
    code, out, err = reelrank("serve", project, "--port", taken)  # also the usual one: people have its links
    assert (code, out, err.count("\n")) == (1, "", 1)
    assert f"port {taken} is in use: choose another one, such as `reelrank serve {project} --port " in err
    assert reelrank("serve", project, "--host", "192.0.2.1")[2].endswith("choose another --host or --port\n")
    assert handed == []


def test_a_demo_that_is_served_is_not_served_twice(
    reelrank: Run, demo: Path, handed: Handed, taken: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    url = f"http://127.0.0.1:{taken}"
    held = note_address(open_project(demo), url)  # as its server does
    assert served_at(demo) == url
    out = reelrank.out("demo", demo, "--port", taken)
    assert "This demo is running already, so no second server was started." in out
    assert f"Open      {url}\nAnnotate  as Ana or Ben" in out
    code, _, err = reelrank("serve", demo, "--port", taken)
    assert (code, handed) == (1, [])
    assert (
        f"{demo} is served already, at {url}: open that, or add a front end with `reelrank serve {demo} --port " in err
    )
    os.close(held)  # its server ended
    assert served_at(demo) == ""
    monkeypatch.setattr(service, "USUAL_PORT", free_port())
    assert reelrank("demo", demo)[0] == 0
    assert len(handed) == 1


def test_a_project_on_a_network_file_system_is_warned_about_and_on_a_disk_is_not(
    reelrank: Run, handed: Handed, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    listed = tmp_path / "mounts"
    monkeypatch.setattr(file_system, "MOUNTS", listed)
    warning = "on a network file system (nfs4), where SQLite can damage it"
    for kind, told in (("ext4", False), ("nfs4", True)):
        listed.write_text(f"/dev/sda1 / ext4 rw 0 0\nnas:/lab {tmp_path} {kind} rw 0 0\n")
        folder = tmp_path / kind
        commands = (("init", folder, "--encoder", "minilm"), ("serve", folder, "--port", free_port()))
        for command in commands:
            code, out, _ = reelrank(*command)
            assert (code, warning in out) == (0, told), command
        findings = doctor(open_project(folder), now=NOW).findings
        assert [one.check for one in findings] == ["network"] * told
    assert len(handed) == 2
