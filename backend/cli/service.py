"""Commands that serve: demo, serve."""

import importlib.util
import os
import socket
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, NoReturn

import typer

from backend import api
from backend.campaign.nouns import Role
from backend.cli.output import Dir, fail, now, progress_bar, say, seconds
from backend.ground.logs import LOG_VARIABLE, LogForm
from backend.ground.metrics import METRICS_VARIABLE, place_of
from backend.ground.parallel import end_kept

HostOption = Annotated[str, typer.Option("--host", help="Address to listen on.")]
LogOption = Annotated[
    LogForm,
    typer.Option(
        "--log", envvar=LOG_VARIABLE, help="Form of the server's log: lines for people, or JSON for programs."
    ),
]
MetricsOption = Annotated[
    str,
    typer.Option(
        "--metrics",
        metavar="HOST:PORT",
        envvar=METRICS_VARIABLE,
        help="Serve Prometheus metrics at this separate address. Strangers must not reach it.",
    ),
]
PortOption = Annotated[int, typer.Option("--port", help="Port to listen on.", min=1, max=65535)]


def register(app: typer.Typer) -> None:
    """Add these commands to the command line."""
    app.command("demo")(demo)
    app.command("serve")(serve)


def demo(
    folder: Annotated[Path, typer.Argument(metavar="[DIR]", help="The demo's project folder.")] = Path("demo-project"),
    no_serve: Annotated[bool, typer.Option("--no-serve", help="Only build the project.")] = False,
    judged: Annotated[
        bool, typer.Option("--judged", help="Add simulated judgements, labelled as such everywhere.")
    ] = False,
    host: HostOption = "127.0.0.1",
    port: PortOption = 8501,
) -> None:
    """Build a demo project from bundled videos, and serve it.

    Example: reelrank demo
    """
    if not no_serve:
        _require_port(host, port)
    start = now()
    with progress_bar() as progress:
        project = api.build_demo(folder, judged=judged, now=start, progress=progress)
    counts = api.status_counts(project, api.OPERATOR)
    say(
        f"Demo project in {folder}: {counts['videos']} videos, {counts['moments']} moments, "
        f"{sum(counts['pairs'].values())} pairs to grade ({seconds(start)})."
    )
    if counts["simulated"]:
        say(f"{counts['simulated']} of the judgements are SIMULATED.")
    lead, annotators, password = api.demo_people()
    say("")
    say(f"Open      http://{host}:{port}")
    say(f"Annotate  as {' or '.join(annotators[:2])} ({', '.join(annotators[2:])} settle disagreements)")
    say(f"Lead      as {lead}")
    say(f"Password  {password}  (for everybody)")
    say("")
    if not no_serve:
        _serve(project, host, port, {})


def serve(
    folder: Dir,
    host: HostOption = "127.0.0.1",
    port: PortOption = 8501,
    log: LogOption = LogForm.TEXT,
    metrics: MetricsOption = "",
) -> None:
    """Serve the web app to annotators and leads.

    Example: reelrank serve my-project --port 8501
    """
    if metrics:
        _require_metrics(metrics)
    project = api.open_project(folder)
    _require_port(host, port)
    if step := api.next_step(project, api.OPERATOR):
        say(f"Nobody can grade yet. Next: {step}")
        if any(one.person.role is Role.LEAD for one in api.list_people(project, api.OPERATOR, now=now())):
            say("A lead can do this and all that follows in the browser, on the page Set up.")
        else:
            say(f"All of it can be done in the browser; add a lead first: reelrank users add {folder} NAME --role lead")
    _serve(project, host, port, {LOG_VARIABLE: log.value, METRICS_VARIABLE: metrics})


def _require_metrics(address: str) -> None:
    """Refuse an address for Prometheus that is none, or is taken, or that nobody here can answer at."""
    try:
        host, port = place_of(address)
    except ValueError as error:
        fail(str(error))
    if importlib.util.find_spec("prometheus_client") is None:
        fail("--metrics needs the package prometheus-client, which is not here: run `pip install 'reelrank[metrics]'`")
    _require_port(host, port, "--metrics")


def _require_port(host: str, port: int, option: str = "--port") -> None:
    """Refuse an address that cannot be listened on before anything slow begins."""
    with socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except OSError as error:
            fail(f"cannot listen on {host}:{port} ({error.strerror}): choose another {option}")


def _url(host: str, port: int) -> str:
    """Where this machine's browser finds the server; people at other machines need `users add --url`."""
    name = "127.0.0.1" if host in ("", "0.0.0.0", "::") else host
    return f"http://[{name}]:{port}" if ":" in name else f"http://{name}:{port}"


def _serve(project: "api.Project", host: str, port: int, settings: Mapping[str, str]) -> NoReturn:
    """Hand this process over to the front end, so that signals and kills meet the server itself.

    `settings` go into its environment.
    """
    # The back end does not import its front end; it only knows its name.
    if importlib.util.find_spec("annotate_app") is None:
        fail("the package annotate_app is not installed: reinstall reelrank")
    folder = project.folder
    api.note_address(project, _url(host, port))
    environment = {**os.environ, "REELRANK_PROJECT": str(folder.resolve()), **settings}
    if environment.get(LOG_VARIABLE) != LogForm.JSON:
        say(f"Serving {folder} on http://{host}:{port}  (stop with Ctrl-C)")
    sys.stdout.flush()
    secrets = folder.resolve() / ".streamlit" / "secrets.toml"  # single sign-on; see docs/operations.md
    files = ["--secrets.files", str(secrets)] if secrets.is_file() else []
    arguments = [*files, "--server.address", host, "--server.port", str(port), "--server.headless", "true"]
    command = [sys.executable, "-m", "annotate_app", *arguments]
    end_kept()
    os.execve(sys.executable, command, environment)
