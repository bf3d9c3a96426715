"""What is in deploy/, as far as a machine without a container engine sees: all that it names exists.

nginx.conf is run in front of two servers by tests/browser/test_front_ends.py.
"""

import configparser
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tomllib
import zipfile
from functools import cache
from pathlib import Path, PurePosixPath
from typing import Any

import pytest
import yaml

from annotate_app.session.addresses import HEALTH_PATH
from backend import cli
from backend.campaign.setup.project.settings_file import ADDRESS_VARIABLE
from backend.core.server_options import LOG_VARIABLE, METRICS_VARIABLE, LogForm, place_of
from backend.store.address import hide_password

ROOT = Path(__file__).parents[2]
DEPLOY = ROOT / "deploy"
Instruction = tuple[str, str]


def program(name: str) -> str:
    found = shutil.which(name) or shutil.which(name, path="/usr/sbin")
    if found is None:
        pytest.skip(f"no {name} here")
    return found


def stages() -> list[list[Instruction]]:
    """The instructions of each stage, as the reference of the format joins them: comments out, lines continued."""
    text = re.sub(r"^\s*#.*\n", "", (DEPLOY / "Containerfile").read_text(encoding="utf-8"), flags=re.MULTILINE)
    lines = [line.strip() for line in text.replace("\\\n", " ").splitlines() if line.strip()]
    found: list[list[Instruction]] = []
    for line in lines:
        word, rest = line.split(maxsplit=1)
        if word == "FROM":
            found.append([])
        found[-1].append((word, " ".join(rest.split())))
    return found


def values(stage: list[Instruction], word: str) -> list[str]:
    return [rest for name, rest in stage if name == word]


def copied() -> list[str]:
    """What the first stage takes from the checkout."""
    return [source for rest in values(stages()[0], "COPY") for source in rest.split()[:-1]]


@cache
def options_of_serve() -> set[str]:
    commands: dict[str, Any] = cli.command().commands  # type: ignore[attr-defined]
    return {option for parameter in commands["serve"].params for option in parameter.opts}


def require_serving(command: list[str], folder: str) -> None:
    """A command line of `reelrank serve` for this folder, with options that it has."""
    assert command[:2] == ["serve", folder]
    assert {word for word in command[2:] if word.startswith("--")} <= options_of_serve()


def packed(folder: Path, out: Path) -> set[str]:
    """What a wheel built in a folder holds."""
    command = [sys.executable, "-m", "hatchling", "build", "--target", "wheel", "--directory", out]
    subprocess.run(command, cwd=folder, check=True, capture_output=True)
    (wheel,) = out.glob("*.whl")
    return set(zipfile.ZipFile(wheel).namelist())


def test_the_image_builds_the_wheel_that_everybody_gets(tmp_path: Path) -> None:
    """From no more than it copies, and than the builder is sent."""
    source = tmp_path / "source"
    for name in copied():
        place = source / name
        place.parent.mkdir(parents=True, exist_ok=True)
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, place, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(ROOT / name, place)
    assert packed(source, tmp_path / "there") == packed(ROOT, tmp_path / "here")
    ignored = (DEPLOY / "Containerfile.dockerignore").read_text().splitlines()
    assert {line[1:] for line in ignored if line.startswith("!")} == set(copied())
    assert "*" in ignored


def test_the_image_installs_what_the_package_offers() -> None:
    build = stages()[0]
    defaults = dict(rest.split("=", 1) for rest in values(build, "ARG"))
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert set(defaults["EXTRAS"].split(",")) <= set(project["optional-dependencies"])
    pinned = (ROOT / "constraints.txt").read_text().split()
    (torch,) = re.findall(r"torch==\S+", " ".join(values(build, "RUN")))
    assert torch in pinned
    python = re.search(r"python:(\d+\.\d+)-", values(build, "FROM")[0])
    assert python is not None
    assert float(python[1]) >= float(project["requires-python"].removeprefix(">="))


def test_the_image_serves_as_nobody_in_particular() -> None:
    build, final = stages()
    assert values(build, "FROM")[0].removesuffix(" AS build") == values(final, "FROM")[0]
    (user,), (volume,) = values(final, "USER"), values(final, "VOLUME")
    assert int(user.split(":")[0]) > 0
    words = [word for word, _ in final]
    assert words.index("USER") > words.index("RUN")  # who serves owns none of the program
    entry, command = json.loads(values(final, "ENTRYPOINT")[0]), json.loads(values(final, "CMD")[0])
    assert entry == ["reelrank"]
    require_serving(command, volume)
    settings = dict(pair.split("=", 1) for pair in shlex.split(" ".join(values(final, "ENV"))))
    assert settings[LOG_VARIABLE] == LogForm.JSON
    assert all(PurePosixPath(settings["HF_HOME"]).is_relative_to(volume) for volume in values(final, "VOLUME"))


def test_the_image_asks_whether_the_process_answers() -> None:
    options, _, command = values(stages()[1], "HEALTHCHECK")[0].partition(" CMD ")
    assert {option.split("=")[0] for option in options.split()} == {"--interval", "--timeout", "--start-period"}
    python, flag, code = json.loads(command)
    assert (python, flag) == ("python", "-c")
    assert f"127.0.0.1:8501{HEALTH_PATH}'" in code
    refused = subprocess.run([sys.executable, flag, code.replace("8501", "1")], capture_output=True, check=False)
    assert refused.returncode == 1
    assert b"URLError" in refused.stderr


# Of the Compose Specification: those of services that are used here, with the form of their value.
SERVICE_KEYS: dict[str, type | tuple[type, ...]] = {
    **dict.fromkeys(["image", "stop_grace_period", "restart"], str),
    **dict.fromkeys(["command", "ports", "volumes", "tmpfs", "cap_drop", "security_opt", "profiles"], list),
    **dict.fromkeys(["build", "environment", "depends_on", "healthcheck", "networks"], dict),
    **dict.fromkeys(["read_only", "init"], bool),
}


@pytest.fixture(scope="module")
def compose() -> dict[str, Any]:
    found: dict[str, Any] = yaml.safe_load((DEPLOY / "compose.yaml").read_text(encoding="utf-8"))
    return found


def test_the_compose_file_says_what_compose_knows(compose: dict[str, Any]) -> None:
    assert set(compose) == {"name", "services", "volumes", "networks"}
    services = compose["services"]
    for service in services.values():
        assert {key for key, value in service.items() if not isinstance(value, SERVICE_KEYS[key])} == set()
        for other, how in service.get("depends_on", {}).items():
            assert other in services
            assert how == {"condition": "service_healthy"}
            assert "healthcheck" in services[other] or "build" in services[other]
        for volume in service["volumes"]:
            place = re.sub(r"\$\{\w+:-([^}]+)\}", r"\1", volume).split(":")[0]
            assert place in compose["volumes"] or place in ("./tls", "./videos") or (DEPLOY / place).is_file()
        assert set(service["networks"]) == set(compose["networks"])
    build = services["app"]["build"]
    assert (DEPLOY / build["context"]).resolve() == ROOT
    assert (ROOT / build["dockerfile"]).is_file()


def test_the_compose_file_serves_behind_its_proxy_alone(compose: dict[str, Any]) -> None:
    app, proxy, database = (compose["services"][name] for name in ("app", "proxy", "database"))
    require_serving(app["command"], "/project")
    assert app["command"][app["command"].index("--host") + 1] == "0.0.0.0"
    assert [port.rpartition(":")[2] for port in proxy["ports"]] == ["443"]
    assert "ports" not in app
    assert "ports" not in database
    (network,) = compose["networks"]
    here, there, _ = places = [one["networks"][network]["ipv4_address"] for one in (app, proxy, database)]
    assert len(set(places)) == 3  # one without would be given the first that is free
    assert app["environment"]["FORWARDED_ALLOW_IPS"] == there
    assert proxy["environment"]["REELRANK_APP"] == here
    assert (app["read_only"], app["cap_drop"]) == (True, ["ALL"])
    assert any(volume.endswith(":/project") for volume in app["volumes"])
    certificates = re.findall(r"ssl_certificate\S*\s+(\S+)/", (DEPLOY / "nginx.conf").read_text())
    assert {*certificates} == {"/etc/reelrank/tls"}
    assert any(":/etc/reelrank/tls:ro" in volume for volume in proxy["volumes"])
    assert database["profiles"] == ["postgresql"]


def test_the_proxy_in_a_container_is_that_of_one_machine_with_another_address(
    compose: dict[str, Any], tmp_path: Path
) -> None:
    """Its command writes nginx.conf for the app's address, and hands over to nginx."""
    proxy = compose["services"]["proxy"]
    shell, flag, line = proxy["command"]
    made = tmp_path / "default.conf"
    for inside, outside in (
        (" /nginx.conf", f" {DEPLOY / 'nginx.conf'}"),
        ("/etc/nginx/conf.d/default.conf", str(made)),
        ("exec nginx", "echo nginx"),
        ("$$", "$"),
    ):
        assert inside in line
        line = line.replace(inside, outside)
    done = subprocess.run(
        [shell, flag, line], env={**os.environ, "REELRANK_APP": "10.0.0.7"}, capture_output=True, text=True, check=True
    )
    assert done.stdout == "nginx -g daemon off;\n"
    text = (DEPLOY / "nginx.conf").read_text()
    assert text.count("127.0.0.1:8501;") == 1
    assert made.read_text() == text.replace("127.0.0.1:8501", "10.0.0.7:8501")
    assert {"./nginx.conf:/nginx.conf:ro"} <= set(proxy["volumes"])
    assert "/etc/nginx/conf.d" in proxy["tmpfs"]


def test_the_settings_of_the_compose_file_are_those_of_the_example(compose: dict[str, Any]) -> None:
    used = set(re.findall(r"\$\{(\w+):-", (DEPLOY / "compose.yaml").read_text()))
    lines = (DEPLOY / "example.env").read_text().splitlines()
    told = dict(line.removeprefix("# ").split("=", 1) for line in lines if re.match(r"(# )?[A-Z_]+=", line))
    assert used == set(told)
    assert {ADDRESS_VARIABLE, METRICS_VARIABLE} <= set(compose["services"]["app"]["environment"])
    place_of(told[METRICS_VARIABLE])
    database = compose["services"]["database"]["environment"]
    assert hide_password(told[ADDRESS_VARIABLE]) == (
        f"postgresql://{database['POSTGRES_USER']}@database/{database['POSTGRES_DB']}"
    )


def test_nginx_takes_the_proxy_with_its_certificate(tmp_path: Path) -> None:
    nginx, openssl = program("nginx"), program("openssl")
    new = "req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj /CN=localhost"
    files = ["-keyout", "privkey.pem", "-out", "fullchain.pem"]
    subprocess.run([openssl, *shlex.split(new), *files], cwd=tmp_path, check=True, capture_output=True)
    text = (DEPLOY / "nginx.conf").read_text().replace("/etc/reelrank/tls", str(tmp_path)).replace("443", "18443")
    places = "".join(f"{kind}_temp_path {tmp_path};" for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi"))
    whole = tmp_path / "whole.conf"
    whole.write_text(f"pid {tmp_path}/pid; error_log stderr; events {{}} http {{ access_log off; {places}\n{text}}}")
    done = subprocess.run([nginx, "-t", "-p", tmp_path, "-c", whole], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "[warn]" not in done.stderr.replace('the "user" directive', "")


@pytest.fixture(scope="module")
def unit() -> configparser.ConfigParser:
    parser = configparser.ConfigParser(strict=False, interpolation=None, comment_prefixes=("#",))
    parser.optionxform = str  # type: ignore[assignment,method-assign]
    parser.read(DEPLOY / "reelrank.service", encoding="utf-8")
    return parser


def test_the_systemd_unit_serves_the_project_that_it_may_write(unit: configparser.ConfigParser) -> None:
    service = unit["Service"]
    program, *command = shlex.split(service["ExecStart"])
    folder = "/var/lib/reelrank/project"
    assert program == "/opt/reelrank/bin/reelrank"
    require_serving(command, folder)
    assert PurePosixPath(folder).is_relative_to(f"/var/lib/{service['StateDirectory']}")
    strict = {"NoNewPrivileges": "yes", "ProtectSystem": "strict", "CapabilityBoundingSet": "", "KillMode": "mixed"}
    assert {name: service[name] for name in strict} == strict


@pytest.fixture
def verified(tmp_path: Path) -> Path:
    """The unit with a program that is here."""
    text = (DEPLOY / "reelrank.service").read_text(encoding="utf-8")
    place = tmp_path / "reelrank.service"
    place.write_text(text.replace("/opt/reelrank/bin/reelrank", sys.executable))
    return place


def test_systemd_understands_every_line_of_the_unit(verified: Path) -> None:
    done = subprocess.run([program("systemd-analyze"), "verify", verified], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
