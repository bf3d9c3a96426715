"""Commands that serve the web app: `reelrank demo` and `serve`."""

import errno
import importlib.util
import os
import re
import secrets
import signal
import socket
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, NoReturn

from backend.api import open_project
from backend.campaign.nouns import OPERATOR, Role
from backend.campaign.setup.project.places import projects_in
from backend.campaign.setup.project.setting_entries import DATABASE, PROJECT
from backend.cli.commands import add_command
from backend.cli.options import Dir, argument, option
from backend.cli.output import fail, now, progress_bar, say, seconds
from backend.core.parallel import end_kept
from backend.core.processes import END_SIGNALS
from backend.core.server_options import (
    BASE_PATH_VARIABLE,
    ENTRANCE_PATH,
    FIRST_LINK_VARIABLE,
    LOG_VARIABLE,
    METRICS_VARIABLE,
    READY_VARIABLE,
    LogForm,
    checked_base_path,
    nth_place,
    place_of,
)

HostOption = Annotated[str, option("--host", "Address to listen on.")]
DEMO_FOLDER = Path("demo-project")
USUAL_PORT, LAST_PORT = 8501, 65535
PORTS_TRIED = 100
WILDCARDS = ("", "0.0.0.0", "::")
"""Hosts that stand for all addresses of a machine."""


@add_command("demo")
def demo(
    folder: Annotated[Path, argument("[DIR]", "The demo's project folder.")] = DEMO_FOLDER,
    no_serve: Annotated[bool, option("--no-serve", "Only build the project.")] = False,
    judged: Annotated[bool, option("--judged", "Add simulated judgements, labelled as such everywhere.")] = False,
    host: HostOption = "127.0.0.1",
    port: Annotated[
        int | None,
        option("--port", f"Port to listen on. Without it: {USUAL_PORT}, or the next free one.", min=1, max=LAST_PORT),
    ] = None,
) -> None:
    """Build a demo project from bundled videos, and serve it.

    Example: reelrank demo
    """
    from backend.campaign.demo import build_demo
    from backend.campaign.review.status import status_counts
    from backend.campaign.setup.serving.server import note_address, served_at

    served = "" if no_serve else served_at(folder)
    if port and not no_serve and not served:
        with_make = "make demo PORT=" if folder == DEMO_FOLDER else ""
        _require_port(host, port, f"reelrank demo {folder} --port", with_make)
    start = time.monotonic()

    def say_building() -> None:
        say(f"Building the demo project in {folder}.")
        sys.stdout.flush()

    with progress_bar() as progress:
        project = build_demo(folder, judged=judged, now=now(), progress=progress, begins=say_building)
    counts = status_counts(project, OPERATOR)
    say(
        f"Demo project in {folder}: {counts['videos']} videos, {counts['moments']} moments, "
        f"{sum(counts['pairs'].values())} pairs to grade ({seconds(start)})."
    )
    if counts["simulated"]:
        say(f"{counts['simulated']} of the judgements are SIMULATED.")
    if no_serve:
        say(f"\n{_people()}\n\nServe it with: reelrank demo {folder}")
    elif served:
        say(f"This demo is running already, so no second server was started.\n\nOpen      {served}\n{_people()}\n")
    else:
        chosen = port or _free_port(host, USUAL_PORT)
        url = _url(host, chosen)
        moved = "" if chosen == (port or USUAL_PORT) else f"Port {USUAL_PORT} is in use, so this demo is at {url}.\n"
        note_address(project, url)
        _serve(
            folder,
            host,
            chosen,
            {BASE_PATH_VARIABLE: ""},
            f"{moved}\nOpen      {url}\n{_people()}\n\nStop with Ctrl-C.",
        )


def _people() -> str:
    """Return the names and the password with which users sign in to the demo, as text."""
    from backend.campaign.demo import demo_people

    lead, annotators, password = demo_people()
    return (
        f"Annotate  as {' or '.join(annotators[:2])} ({' and '.join(annotators[2:])} settle disputes)\n"
        f"Lead      as {lead}\n"
        f"Password  {password}  (for everybody)"
    )


@add_command("serve")
def serve(
    folder: Dir,
    host: HostOption = "127.0.0.1",
    port: Annotated[int, option("--port", "Port to listen on.", min=1, max=LAST_PORT)] = USUAL_PORT,
    log: Annotated[
        LogForm,
        option("--log", "Form of the server's log: lines for people, or JSON for programs.", envvar=LOG_VARIABLE),
    ] = LogForm.TEXT,
    metrics: Annotated[
        str,
        option(
            "--metrics HOST:PORT",
            "Serve Prometheus metrics at this separate address. Strangers must not reach it.",
            envvar=METRICS_VARIABLE,
        ),
    ] = "",
    base_path: Annotated[
        str,
        option(
            "--base-path PATH",
            "Path of the host below which a proxy serves the app, such as /annotate.",
            envvar=BASE_PATH_VARIABLE,
        ),
    ] = "",
    processes: Annotated[
        int,
        option("--processes N", "Server processes behind the port, each for its part of the people.", min=1, max=64),
    ] = 1,
    address: Annotated[
        str,
        option("--url", "Where people open the app, for the link that creates a new project. Later: public_address."),
    ] = "",
) -> None:
    """Serve the web app to annotators and leads.

    If DIR has projects in it, all are served, each below the name of its folder.

    If DIR is empty or missing, this prints a one-time link that creates the project in a browser.

    Example: reelrank serve my-project --port 8501
    """
    from backend.campaign.review.status import next_step
    from backend.campaign.setup.people.accounts import list_people
    from backend.campaign.setup.serving.first_project import may_begin
    from backend.campaign.setup.serving.server import note_address, served_at

    for number in range(processes if metrics else 0):
        _require_metrics(nth_place(metrics, number))
    try:
        base = checked_base_path(base_path)
    except ValueError as error:
        fail(str(error))
    if may_begin(folder):
        settings = {LOG_VARIABLE: log.value, METRICS_VARIABLE: metrics}
        _serve_new(folder, host, port, base, address.rstrip("/"), settings, processes)
        return
    if projects := projects_in(folder):
        settings = {LOG_VARIABLE: log.value, METRICS_VARIABLE: metrics}
        _serve_several(folder, projects, host, port, base, settings, processes)
        return
    project = open_project(folder)
    command = f"reelrank serve {folder}{f' --base-path {base}' if base else ''} --port"
    url = _url(host, port) + base
    if served_at(folder) == url and _listen_error(host, port):
        another = f"`{command} {_free_port(host, port)}`"
        fail(f"{folder} is served already, at {url}: open that, or add a front end with {another}")
    _require_port(host, port, command)
    if project.network_warning:
        say(project.network_warning)
    if step := next_step(project, OPERATOR):
        say(f"Nobody can grade yet. Next: {step}")
        if any(row.person.role is Role.LEAD for row in list_people(project, OPERATOR, now=now())):
            say("A lead can do this, and everything after it, on the page Set up.")
        else:
            say(f"You can do all of it in the browser. Add a lead first: reelrank users add {folder} NAME --role lead")
    public = project.settings.public_address
    everywhere = ", and at all other addresses of this machine" if host in WILDCARDS else ""
    ready = f"Serving {folder} on {url}{everywhere}  (stop with Ctrl-C)" + (f"\nPeople open {public}" if public else "")
    settings = {LOG_VARIABLE: log.value, METRICS_VARIABLE: metrics, BASE_PATH_VARIABLE: base}
    note_address(project, url)
    _serve(folder, host, port, settings, ready, processes)


def _serve_new(
    folder: Path, host: str, port: int, base: str, public: str, settings: Mapping[str, str], processes: int
) -> None:
    """Serve a folder without a project: its first lead creates one with the link that the server prints."""
    from backend.campaign.setup.project.settings import is_web_address
    from backend.campaign.setup.serving.first_project import require_writable

    if public and not is_web_address(public):
        fail(f"{public} is not a web address: give one such as --url https://grade.example.org")
    require_writable(folder)
    _require_port(host, port, f"reelrank serve {folder} --port")
    url = _url(host, port) + base
    link = f"{public or url}/session/new-project/{secrets.token_urlsafe(24)}"
    more = {BASE_PATH_VARIABLE: base, FIRST_LINK_VARIABLE: f"{url}\n{link}"}
    _serve(folder, host, port, {**settings, **more}, f"Serving {folder} on {url}  (stop with Ctrl-C)", processes)


def _serve_several(
    folder: Path,
    projects: Sequence[Path],
    host: str,
    port: int,
    base: str,
    settings: Mapping[str, str],
    processes: int,
) -> None:
    """Serve all projects in a folder, each below the name of its own folder."""
    from backend.campaign.setup.serving.server import note_address

    if base:
        fail("--base-path is for one project: several need a host name of their own")
    if os.environ.get(DATABASE.key):
        fail(f"{DATABASE.key} names one database, and {folder} has several projects: unset it")
    if metrics := settings[METRICS_VARIABLE]:
        for number in range(processes * len(projects)):
            _require_metrics(nth_place(metrics, number))
    for project in projects:
        if not re.fullmatch(r"[A-Za-z0-9_~][A-Za-z0-9._~-]*", project.name) or f"/{project.name}" == ENTRANCE_PATH:
            fail(
                f"{project} cannot be served below its name: rename the folder, with letters, digits and . _ ~ -, "
                f"and not {ENTRANCE_PATH[1:]}"
            )
    _require_port(host, port, f"reelrank serve {folder} --port")
    url, listed = _url(host, port), []
    for project in projects:
        note_address(open_project(project), f"{url}/{project.name}")
        listed.append(f"  {url}/{project.name}/")
    ready = "\n".join([f"Serving {len(projects)} projects of {folder} on {url}  (stop with Ctrl-C)", *listed])
    _serve(folder, host, port, settings, ready, processes, projects)


def _require_metrics(address: str) -> None:
    """Refuse an address for Prometheus that is invalid, taken, or cannot be listened on."""
    try:
        host, port = place_of(address)
    except ValueError as error:
        fail(str(error))
    if importlib.util.find_spec("prometheus_client") is None:
        fail("--metrics needs the package prometheus-client: run `pip install 'reelrank[metrics]'`")
    if problem := _listen_error(host, port):
        fail(f"cannot listen on {address} ({problem.strerror}): choose another --metrics")


def _require_port(host: str, port: int, command: str, with_make: str = "") -> None:
    """Refuse an address that cannot be listened on, before any slow step.

    If the port is taken, the message suggests `command` followed by a free port. `with_make` is another command with
    the same effect; the port is added to it too.
    """
    error = _listen_error(host, port)
    if error and error.errno == errno.EADDRINUSE:
        free = _free_port(host, port)
        alias = f" (or `{with_make}{free}`)" if with_make else ""
        fail(f"port {port} is in use: choose another one, such as `{command} {free}`{alias}")
    if error:
        fail(f"cannot listen on {host}:{port} ({error.strerror}): choose another --host or --port")


def _free_port(host: str, first: int) -> int:
    """Return the first free port from `first` on; exit with a message if `PORTS_TRIED` ports are taken."""
    for port in range(first, min(first + PORTS_TRIED, LAST_PORT + 1)):
        error = _listen_error(host, port)
        if error is None:
            return port
        if error.errno != errno.EADDRINUSE:
            fail(f"cannot listen on {host}:{port} ({error.strerror}): choose another --host or --port")
    fail(f"ports {first} to {port} are in use: choose another --port")


def _listen_error(host: str, port: int) -> OSError | None:
    """Return why an address cannot be listened on now; None if it can."""
    with socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except OSError as error:
            return error
    return None


def _url(host: str, port: int) -> str:
    """Return the address at which a browser on this machine reaches the server.

    People at other machines need links with another address; see `users add --url`.
    """
    name = "127.0.0.1" if host in WILDCARDS else host
    return f"http://[{name}]:{port}" if ":" in name else f"http://{name}:{port}"


def _serve(
    folder: Path,
    host: str,
    port: int,
    settings: Mapping[str, str],
    ready: str,
    processes: int = 1,
    projects: Sequence[Path] = (),
) -> NoReturn:
    """Replace this process by the server of the web app; signals to this process then reach the server.

    `settings` are added to the server's environment variables. The server prints `ready` when it answers requests,
    unless it writes its log as JSON. With several `processes`, or with `projects`, the server is one that starts
    others: so many for each project.
    """
    # The back end does not import its front end; it only knows its name.
    if importlib.util.find_spec("annotate_app") is None:
        fail("the package annotate_app is not installed: reinstall reelrank")
    environment = {**os.environ, PROJECT.key: str(folder.resolve()), **settings}
    environment[READY_VARIABLE] = "" if environment.get(LOG_VARIABLE) == LogForm.JSON else ready
    sys.stdout.flush()
    arguments = ["annotate_app", "--server.address", host, "--server.port", str(port), "--server.headless", "true"]
    if processes > 1 or projects:
        names = [str(project.resolve()) for project in projects]
        arguments = ["annotate_app.front", host, str(port), str(processes), *names]
    command = [sys.executable, "-m", *arguments]
    end_kept()
    # Until the server has handlers of its own, those of Python would print a traceback.
    signal.pthread_sigmask(signal.SIG_BLOCK, END_SIGNALS)
    try:
        os.execve(sys.executable, command, environment)
    finally:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, END_SIGNALS)
