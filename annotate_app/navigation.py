"""Build the menu of a user's pages, and the notice that replaces a page once the session has ended.

The menu is only for convenience. A user who opens a page of the other role sees a message that the page is for that
role. What a user may do is decided by the permission checks alone.
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
from backend.campaign.review.status import in_use
from backend.campaign.setup.serving.shared_state import keep_draft, take_draft

_SCREENS = {page.title: import_module(page.module).page for page in PAGES}
_PERSON_HERE = "person_here"
_KEPT = marked("Sign in again to go on where you were. What you typed is kept for you until then, for an hour.")


def page_for(person: Person | None) -> StreamlitPage:
    """Return the Streamlit page to show for the current request.

    The front page `/` redirects to the main page of the user's role, with two exceptions. A lead, who runs the
    campaign, goes to the page Set up while nobody can grade in the project yet. An annotator goes to the page Describe
    if they are to describe videos before they grade.
    """
    role = None if person is None else person.role
    left_out = _left_out(person)
    pages = {
        page.title: st.Page(
            _SCREENS[page.title] if page.role is role else partial(_not_yours, page.role),
            title=tr(page.title),
            icon=page.icon,
            url_path=page.address,
            visibility="visible" if page.role is role and page.title not in left_out else "hidden",
        )
        for page in PAGES
    }

    def lead_on() -> None:
        first = FRONT[role or Role.ANNOTATOR]
        if person is not None and role is Role.LEAD and set_up.is_first(auth.project(), person):
            first = "Set up"
        elif person is not None and DESCRIBE not in left_out and describing_comes_first(auth.project(), person):
            first = DESCRIBE
        st.switch_page(pages[first])

    # Streamlit serves its default page only at `/`. With this extra page there, every real page keeps its own address.
    front = st.Page(lead_on, title="ReelRank", default=True, visibility="hidden")
    groups: dict[str, list[StreamlitPage]] = {"": [front]}
    for page in PAGES:
        groups.setdefault(tr(page.group) if page.group else "", []).append(pages[page.title])
    # The menu is part of the header, so it takes no height from the desk.
    return st.navigation(groups, position="top" if role is not None else "hidden")


def _left_out(person: Person | None) -> set[str]:
    """Return the titles of pages that the menu hides, because this user has no use for them yet.

    The addresses of these pages still work.
    """
    if person is None or person.role is Role.ANNOTATOR:
        return set() if person is not None and may_describe(auth.project(), person) else {DESCRIBE}
    features = in_use(auth.project(), person)
    is_used = {"Captions": features.captions or features.descriptions, "Gold": features.gold}
    return {title for title, used in is_used.items() if not used}


def _not_yours(owner: Role) -> None:
    auth.require(owner)


def signed_out(place: str) -> None:
    """Show that the session has ended, with a link to sign in and return; shown instead of the page at `/place`.

    Text that the user typed on that page is kept as a draft for an hour.
    """
    person_id = st.session_state.get(_PERSON_HERE)
    if person_id is not None:
        keep_draft(auth.project(), person_id, place, _typed(), now=time.time())
    query = urlencode([(name, value) for name in st.query_params for value in st.query_params.get_all(name)])
    target = f"/{place}" + (f"?{query}" if query else "")
    st.html(
        f'<div role="alert" class="rr-signed-out"><h1>{tr("You are signed out")}</h1>'
        f"<p>{tr(_KEPT)}</p>"
        f'<a href="{full_path(SIGN_IN_PATH)}?next={escape(quote(target))}" target="_self">{tr("Sign in")}</a></div>'
    )


def welcome_back(person: Person, place: str) -> None:
    """Restore the draft that `signed_out` kept of the page at `/place`; call it before the page is drawn."""
    st.session_state[_PERSON_HERE] = person.annotator_id
    for key, value in take_draft(auth.project(), person, place, now=time.time()).items():
        st.session_state.setdefault(key, value)


def _typed() -> dict[str, object]:
    return {str(key): value for key, value in st.session_state.items() if key != _PERSON_HERE}
