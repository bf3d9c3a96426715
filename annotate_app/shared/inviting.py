"""Inviting somebody: the form, and the one-time link, which is shown once."""

import time
from urllib.parse import urlsplit

import streamlit as st

from annotate_app.language import tr
from annotate_app.plain import plain
from annotate_app.session import auth
from annotate_app.session.addresses import base_path
from annotate_app.shared import look
from backend.campaign.nouns import Person, Role
from backend.campaign.setup.people.accounts import add_person
from backend.campaign.setup.project.folder import Project
from backend.core.errors import ProjectError


def form() -> None:
    """Name and role of a newcomer."""
    with st.form("add_person"):
        name, role, button = st.columns([4, 2, 2], vertical_alignment="bottom")
        name.text_input(tr("Name"), key="new_name", placeholder=tr("They sign in with it"))
        role.selectbox(
            tr("Role"), [role.value for role in Role], key="new_role", format_func=lambda one: tr(auth.ROLES[Role(one)])
        )
        button.form_submit_button(tr("Add and invite"), type="primary", on_click=add, width="stretch")


@look.lead_callback("people_problem")
def add(project: Project, lead: Person) -> None:
    """Callback of the form: adds the person; the link waits for the run that follows, and is shown once."""
    name = st.session_state["new_name"].strip()
    if not name:
        raise ProjectError(tr("Please give a name: people sign in with it."))
    invitation = add_person(project, lead, name, Role(st.session_state["new_role"]), now=time.time())
    st.session_state["new_name"] = ""
    show_once(name, invitation)


def show_once(name: str, invitation: str) -> None:
    """Part of a callback: the link of this invitation is for the run that follows."""
    st.session_state["invitation"] = (name, invitation_url(st.context.url or "", invitation))


def outcome() -> None:
    """The link that was just made, or why somebody could not be added."""
    look.refusal("people_problem")
    # Taken out of the session: the next run no longer knows the link, as the text says.
    name, url = st.session_state.pop("invitation", ("", ""))
    if url:
        with st.container(border=True):
            st.markdown(tr("**Send this link to {name}**", name=plain(name)))
            st.code(url, language=None, wrap_lines=True)
            st.caption(
                tr(
                    "It works once, within two weeks, and lets them choose a password; no older link of theirs "
                    "works any more. It is shown only now: copy it before you go on."
                )
            )


def invitation_url(page_url: str, invitation: str) -> str:
    """The link for a newcomer, on the address at which people open the app."""
    return f"{app_address(page_url)}/session/invitation/{invitation}"


def app_address(page_url: str) -> str:
    """Return the address at which people open the app: the project's public one, or that of the reader's browser.

    Both name what is served; the header `Host` of a request, which anybody can send, is never asked.
    """
    if public := auth.project().settings.public_address:
        return public.rstrip("/")
    parts = urlsplit(page_url)
    return f"{parts.scheme}://{parts.netloc}{base_path()}" if parts.netloc else ""
