"""A session that ended while its page was open: what was typed is kept, and signing in leads back to it."""

import time
from html import escape
from urllib.parse import quote, urlencode

import streamlit as st

from annotate_app.language import marked, tr
from annotate_app.session import auth
from annotate_app.session.addresses import SIGN_IN_PATH, full_path
from backend.campaign.nouns import Person
from backend.campaign.setup.serving.shared_state import keep_draft, take_draft

_WHO = "person_here"
_KEPT = marked("Sign in again to go on where you were. What you typed is kept for you until then, for an hour.")


def page(place: str) -> None:
    """In the place of the page at `/place`: says so, and leads to the sign-in and from there back."""
    who = st.session_state.get(_WHO)
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
    st.session_state[_WHO] = person.annotator_id
    for key, value in take_draft(auth.project(), person, place, now=time.time()).items():
        st.session_state.setdefault(key, value)


def _typed() -> dict[str, object]:
    return {str(key): value for key, value in st.session_state.items() if key != _WHO}
