"""Authentication for pages: the open project, the signed-in user, and the check of the role that a page requires.

Streamlit draws a page by running a script; pages call this module in such a run. It reads the environment variable
`REELRANK_PROJECT` and the cookies of the request; it writes nothing.
"""

import functools
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import streamlit as st

from annotate_app.language import marked, tr
from annotate_app.plain import plain
from annotate_app.session.addresses import SESSION_COOKIE, SIGN_IN_PATH, full_path
from annotate_app.session.websocket import SCRIPTS_AT_ONCE, ScriptTurns
from backend.campaign.nouns import Person, Role
from backend.campaign.setup.people.permissions import annotator_of, lead_of, person_for
from backend.campaign.setup.project.folder import Project, open_project
from backend.campaign.setup.project.setting_entries import PROJECT
from backend.core.errors import NotAllowed, ProjectError

PROJECT_VARIABLE = PROJECT.key

ROLES = {Role.ANNOTATOR: marked("annotator"), Role.LEAD: marked("lead")}
_turns = ScriptTurns(SCRIPTS_AT_ONCE)
_FOR = {
    Role.ANNOTATOR: marked("This page is for annotators. You are signed in as {name} ({role})."),
    Role.LEAD: marked("This page is for leads. You are signed in as {name} ({role})."),
}


@functools.lru_cache(maxsize=1)
def _open(folder: str) -> Project:
    return open_project(Path(folder))


def project() -> Project:
    """Return the project that this server serves; it is opened once.

    Raises:
        ProjectError: `REELRANK_PROJECT` is not set, or its folder is not a project this version can serve.
    """
    folder = os.environ.get(PROJECT_VARIABLE)
    if not folder:
        raise ProjectError(f"No project to serve: set {PROJECT_VARIABLE}, or start with: reelrank serve DIR")
    return _open(folder)


def token() -> str:
    """Return the session token of the browser whose page is being drawn, or "" if it has none."""
    return st.context.cookies.get(SESSION_COOKIE, "")


def current() -> Person | None:
    """Return the signed-in person, or None. Each call reads the database, so a suspension takes effect at once."""
    return person_for(project(), token(), now=time.time())


def require(role: Role) -> Person:
    """Return the signed-in user if they have this role; otherwise show why not, and stop drawing the page."""
    person = current()
    if person is None:
        st.html(
            '<p role="alert">'
            + tr(
                'You are signed out. <a href="{path}" target="_self">Sign in</a> to go on.',
                path=full_path(SIGN_IN_PATH),
            )
            + "</p>"
        )
        st.stop()
    permission_check = {Role.ANNOTATOR: annotator_of, Role.LEAD: lead_of}[role]
    try:
        return permission_check(project(), person)
    except NotAllowed:
        name = plain(person.name)
        st.warning(tr(_FOR[role], name=name, role=tr(ROLES[person.role])))
        st.stop()


@contextmanager
def turn_of(person: Person | None) -> Iterator[None]:
    """Wait until this user may run a page's script, then run the `with` block.

    Only annotators wait, so that their scripts do not slow down the saving of grades; see `ScriptTurns`.
    """
    if person is None or person.role is not Role.ANNOTATOR:
        yield
        return
    with _turns.of(person.annotator_id):
        yield


def fragment(draw: Callable[..., None], *, run_every: float | None = None) -> Callable[..., None]:
    """Turn a function that draws a part of a page into a Streamlit fragment, which can be redrawn alone.

    All fragments of the app are made here, because this checks the user at each redraw. `run_every` is in seconds.
    """
    return _for_one_person(draw, functools.partial(st.fragment, run_every=run_every))


def dialog(draw: Callable[..., None], title: str, **more: Any) -> Callable[..., None]:
    """Turn a function that draws the content of a dialog into a Streamlit dialog with this title.

    All dialogs of the app are made here, because this checks the user at each redraw.
    """
    return _for_one_person(draw, st.dialog(title, **more))


def _for_one_person(draw: Callable[..., None], part_of_page: Callable[..., Any]) -> Callable[..., None]:
    """Return a function that redraws a part of a page only for the user for whom it was first drawn.

    Streamlit redraws a fragment or dialog without the page around it, with the arguments that the page passed. If
    another user has signed in meanwhile, they could see what they may not. Then the whole page is run again instead.
    """

    @functools.wraps(draw)
    def first(*args: Any, **more: Any) -> None:
        shown_to = current()

        @functools.wraps(draw)
        def again() -> None:
            now = current()
            if now != shown_to:
                st.rerun()
            with turn_of(now):
                draw(*args, **more)

        part_of_page(again)()

    return first
