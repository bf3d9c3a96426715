"""Commands about people: `reelrank users add`."""

import shlex
import sys
from typing import Annotated

import typer

from backend import api
from backend.campaign.nouns import Role
from backend.cli.output import Dir, now, say


def register(app: typer.Typer) -> None:
    """Add these commands to the command line."""
    users = typer.Typer(help="People who may sign in.", no_args_is_help=True, rich_markup_mode=None)
    users.command("add")(add)
    app.add_typer(users, name="users")


def add(
    folder: Dir,
    name: Annotated[str, typer.Argument(metavar="NAME", help="What the person signs in with.", show_default=False)],
    role: Annotated[Role, typer.Option("--role", help="What they may do.")],
    password_stdin: Annotated[
        bool, typer.Option("--password-stdin", help="Read the password from standard input instead of inviting.")
    ] = False,
    url: Annotated[
        str | None,
        typer.Option("--url", help="The address that people open; where the project was served last, if not given."),
    ] = None,
) -> None:
    """Add an annotator or a lead; prints a one-time link with which they choose a password.

    Example: reelrank users add my-project Ana --role annotator
    """
    project = api.open_project(folder)
    if password_stdin:
        password = sys.stdin.readline().rstrip("\r\n")
        api.add_person_with_password(project, api.OPERATOR, name, role, password, now=now())
        say(f"{name} may sign in as {role.value}.")
        return
    token = api.add_person(project, api.OPERATOR, name, role, now=now())
    serve = f"reelrank serve {shlex.quote(str(folder))}"
    say(f"Send {name} this link. It works once, within two weeks, while `{serve}` runs:")
    say(f"{(url or api.address(project)).rstrip('/')}/session/invitation/{token}")
