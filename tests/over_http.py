"""A campaign behind a real HTTP server of this process: the guard and the routes for programs, without pages."""

import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest
from starlette.applications import Starlette
from starlette.middleware import Middleware

from annotate_app.server.api import Programs
from annotate_app.session.addresses import BasePath
from annotate_app.session.guard import Guard
from backend.campaign.nouns import OPERATOR, Role
from backend.campaign.setup.people.accounts import add_person_with_password, person_named
from backend.campaign.setup.project.folder import open_project
from backend.campaign.setup.tokens.model import TokenScope
from backend.campaign.setup.tokens.personal_tokens import create_token, list_tokens
from backend.core import processes
from backend.core.errors import ProjectError
from player_harness import serving_app

PASSWORD = "long enough for everybody"


@contextmanager
def served(folder: Path, base: str = "") -> Iterator[str]:
    """Serve a project on a free port, below a base path if there is one; gives the address."""
    project = open_project(folder)
    middleware = [Middleware(BasePath, base=base), Middleware(Guard, project=lambda: project)]
    app = Starlette(routes=Programs(lambda: project).routes(), middleware=middleware)
    with serving_app(app) as url:
        yield url + base
    project.store.close()


def token_of(folder: Path, name: str, scope: TokenScope = TokenScope.ACT) -> str:
    """A new token of a person. Whoever is not in the project yet becomes a lead of it."""
    project, now = open_project(folder), time.time()
    try:
        with suppress(ProjectError):
            add_person_with_password(project, OPERATOR, name, Role.LEAD, PASSWORD, now=now)
        person = person_named(project, OPERATOR, name)
        number = len(list_tokens(project, OPERATOR))
        return create_token(project, person, PASSWORD, f"script {number}", scope, 30, now=now)[1]
    finally:
        project.store.close()


def run_here(patch: pytest.MonkeyPatch) -> None:
    """Run in a thread what would run in a process of its own, so that it sees what a test changed."""
    threads = ThreadPoolExecutor(2)

    def alone(work: Callable[..., Any], *arguments: object, niceness: int) -> Future[Any]:
        return threads.submit(work, *arguments)

    patch.setattr(processes, "alone", alone)
