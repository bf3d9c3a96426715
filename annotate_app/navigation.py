"""Build the navigation of a role, and the page that replaces it once a session has ended.

How much waits on a lead's page, `menu_counts` writes behind its title.

A page of another role exists only to say so; the permission checks decide, whatever page is open.
"""

import time
from functools import partial
from html import escape
from importlib import import_module
from urllib.parse import quote, urlencode

import streamlit as st
from streamlit.navigation.page import StreamlitPage

from annotate_app.language import marked, tr
from annotate_app.pages import DESCRIBE, FRONT, PAGES
from annotate_app.screens import set_up
from annotate_app.session import auth
from annotate_app.session.addresses import SIGN_IN_PATH, full_path
from backend.campaign.corpus.describing.opening import describing_comes_first, may_describe
from backend.campaign.nouns import Person, Role
from backend.campaign.setup.serving.shared_state import keep_draft, take_draft

_SCREENS = {page.title: import_module(page.module).page for page in PAGES}
_PERSON_HERE = "person_here"
_KEPT = marked("Sign in again to go on where you were. What you typed is kept for you until then, for an hour.")


def page_for(person: Person | None) -> StreamlitPage:
    """The page this run shows.

    `/` leads on to the page that the person's role works with most; a lead of a project in which nobody can grade yet
    to where that is changed, and somebody who may describe there to that.
    """
    role = None if person is None else person.role
    describes = person is not None and role is Role.ANNOTATOR and may_describe(auth.project(), person)
    pages = {
        page.title: st.Page(
            _SCREENS[page.title] if page.role is role else partial(_not_yours, page.role),
            title=tr(page.title),
            icon=page.icon,
            url_path=page.address,
            visibility="visible" if page.role is role and (describes or page.title != DESCRIBE) else "hidden",
        )
        for page in PAGES
    }

    def lead_on() -> None:
        first = FRONT[role or Role.ANNOTATOR]
        if person is not None and role is Role.LEAD and set_up.is_first(auth.project(), person):
            first = "Set up"
        elif person is not None and describes and describing_comes_first(auth.project(), person):
            first = DESCRIBE
        st.switch_page(pages[first])

    # Streamlit serves its default page at `/` only. With this one in between, every page keeps its own address.
    front = st.Page(lead_on, title="ReelRank", default=True, visibility="hidden")
    # The menu sits in the header, which is there anyway: it takes no height from the desk.
    return st.navigation([front, *pages.values()], position="top" if role is not None else "hidden")


def _not_yours(owner: Role) -> None:
    auth.require(owner)


def signed_out(place: str) -> None:
    """In the place of the page at `/place`: says so, and leads to the sign-in and from there back."""
    who = st.session_state.get(_PERSON_HERE)
    if who is not None:
        keep_draft(auth.project(), who, place, _typed(), now=time.time())
    query = urlencode([(name, value) for name in st.query_params for value in st.query_params.get_all(name)])
    wanted = f"/{place}" + (f"?{query}" if query else "")
    st.html(
        f'<div role="alert" class="rr-signed-out"><h1>{tr("You are signed out")}</h1>'
        f"<p>{tr(_KEPT)}</p>"
        f'<a href="{full_path(SIGN_IN_PATH)}?next={escape(quote(wanted))}" target="_self">{tr("Sign in")}</a></div>'
    )


def welcome_back(person: Person, place: str) -> None:
    """Before the page at `/place` is shown: gives this person back what they had typed there."""
    st.session_state[_PERSON_HERE] = person.annotator_id
    for key, value in take_draft(auth.project(), person, place, now=time.time()).items():
        st.session_state.setdefault(key, value)


def _typed() -> dict[str, object]:
    return {str(key): value for key, value in st.session_state.items() if key != _PERSON_HERE}
