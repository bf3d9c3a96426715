"""Commands about users: `reelrank users add|flags|hours`."""

import shlex
import sys
from typing import Annotated

import typer

from backend.api import open_project
from backend.campaign.nouns import OPERATOR, Role
from backend.cli.flags import flags
from backend.cli.groups import add_group
from backend.cli.hours import hours
from backend.cli.output import Dir, now, say


def register(app: typer.Typer) -> None:
    """Add these commands to the command line."""
    add_group(
        app,
        "users",
        "Add users; show quality flags, hours and pay.",
        "add my-project Ana --role annotator",
        {"add": add, "flags": flags, "hours": hours},
    )


def add(
    folder: Dir,
    name: Annotated[str, typer.Argument(metavar="NAME", help="Name to sign in with.", show_default=False)],
    role: Annotated[Role, typer.Option("--role", help="What the user may do.")],
    password_stdin: Annotated[
        bool, typer.Option("--password-stdin", help="Read the password from standard input instead of printing a link.")
    ] = False,
    url: Annotated[
        str | None,
        typer.Option("--url", help="Address of the web app. Default: where the project was last served."),
    ] = None,
) -> None:
    """Add an annotator or a lead, and print a one-time link.

    The new user opens the link to choose a password.

    Example: reelrank users add my-project Ana --role annotator
    """
    from backend.campaign.setup.people.accounts import add_person, add_person_with_password
    from backend.campaign.setup.serving.server import address

    project = open_project(folder)
    if password_stdin:
        password = sys.stdin.readline().rstrip("\r\n")
        add_person_with_password(project, OPERATOR, name, role, password, now=now())
        say(f"{name} may sign in as {role.value}.")
        return
    token = add_person(project, OPERATOR, name, role, now=now())
    serve = f"reelrank serve {shlex.quote(str(folder))}"
    say(f"Send {name} this link. It works once, within two weeks, while `{serve}` runs:")
    say(f"{(url or address(project)).rstrip('/')}/session/invitation/{token}")
