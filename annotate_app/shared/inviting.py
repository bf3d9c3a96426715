"""Invite people: the form that adds a person, and the one-time links with which they choose a password."""

import time
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urlsplit

import streamlit as st

from annotate_app.language import tr
from annotate_app.plain import component_key, plain
from annotate_app.session import auth
from annotate_app.session.addresses import base_path
from annotate_app.shared import look
from backend.campaign.nouns import Person, Role
from backend.campaign.setup.people.accounts import add_person
from backend.campaign.setup.project.folder import Project
from backend.core.errors import ProjectError
from backend.core.ids import AnnotatorId

FORM = "form"
"""The `place` of links that the form made; links made in a person's row have the person's number as their place."""
_LINKS = "invitations"
_CSS = """
.rr-copy { display: flex; flex-wrap: wrap; gap: .5rem; align-items: center; font: inherit; }
.rr-copy input { flex: 1 1 16rem; min-width: 0; padding: .45rem .6rem; font: .85rem var(--st-code-font, monospace);
  color: inherit; background: var(--st-secondary-background-color); border: 1px solid var(--st-border-color);
  border-radius: 8px; }
.rr-copy button { padding: .45rem .9rem; font: inherit; font-size: .9rem; color: inherit; cursor: pointer;
  border-radius: 8px;  background: var(--st-secondary-background-color); border: 1px solid var(--st-border-color); }
.rr-copy :is(input, button):focus-visible { outline: 3px solid #818cf8; outline-offset: 1px; }
.rr-copy span { font-size: .9rem; }
"""
_mount = st.components.v2.component(
    "reelrank_copy_link",
    html='<div class="rr-copy"><input type="text" readonly><button type="button"></button>'
    '<span role="status"></span></div>',
    css=_CSS,
    js=Path(__file__).with_name("copy_link.js").read_text(encoding="utf-8"),
)


class _Link(NamedTuple):
    lead: AnnotatorId
    """The lead who made the link. Nobody else sees it, even after signing in within the same Streamlit session."""
    place: str
    name: str
    url: str


def form() -> None:
    """Draw the form for the name and role of a person to add."""
    with st.form("add_person"):
        name, role, button = st.columns([4, 2, 2], vertical_alignment="bottom")
        name.text_input(tr("Name"), key="new_name", placeholder=tr("They sign in with it"))
        role.selectbox(
            tr("Role"),
            [role.value for role in Role],
            key="new_role",
            format_func=lambda value: tr(auth.ROLES[Role(value)]),
        )
        button.form_submit_button(tr("Add and invite"), type="primary", on_click=add, width="stretch")


@look.lead_callback("add_person_problem")
def add(project: Project, lead: Person) -> None:
    """Add the person named in the form and show their one-time link. This is the callback of the form."""
    name = st.session_state["new_name"].strip()
    if not name:
        raise ProjectError(tr("Enter a name. People sign in with it."))
    invitation = add_person(project, lead, name, Role(st.session_state["new_role"]), now=time.time())
    st.session_state["new_name"] = ""
    show_link(lead, FORM, name, invitation)


def show_link(lead: Person, place: str, name: str, invitation: str) -> None:
    """Keep a one-time link on the page until the lead dismisses it.

    It replaces an older link of the same person, which no longer works.

    Args:
        lead: the lead who made the link. Nobody else sees it.
        place: where `links` shows it: `FORM`, or the number of the person in whose row it was made.
        name: name of the invited person.
        invitation: the secret at the end of the link.
    """
    url = invitation_url(st.context.url or "", invitation)
    other_links = [link for link in st.session_state.get(_LINKS, []) if link.name != name]
    st.session_state[_LINKS] = [*other_links, _Link(lead.annotator_id, place, name, url)]


def dismiss(url: str) -> None:
    """Stop showing a one-time link. This is the callback of its button."""
    st.session_state[_LINKS] = [link for link in st.session_state.get(_LINKS, []) if link.url != url]


def links(place: str = "") -> None:
    """Draw the one-time links that the lead has made, the newest first, each with a button that copies it.

    If `place` is `FORM` or a person's number, draw only the links made with the form or in this person's row. Above
    them, draw why a person could not be added with the form, if that failed.
    """
    if place in (FORM, ""):
        look.refusal("add_person_problem")
    me = auth.current()
    for link in reversed(st.session_state.get(_LINKS, [])):
        if me is None or link.lead != me.annotator_id or place not in (link.place, ""):
            continue
        with st.container(border=True, key=component_key(f"link-{link.url}")):
            st.markdown(tr("**Send this link to {name}**", name=plain(link.name)))
            data = {
                "url": link.url,
                "label": tr("Link for {name}", name=link.name),
                "copy": tr("Copy link"),
                "copied": tr("Copied."),
                "failed": tr("Press Ctrl+C to copy."),
            }
            _mount(key=component_key(f"copy-{link.url}"), data=data)
            st.caption(
                tr(
                    "They open it to choose a password. It works once, within two weeks. It stays here until you "
                    "dismiss it or close this page."
                )
            )
            key = component_key(f"dismiss-{link.url}")
            st.button(tr("Dismiss"), key=key, on_click=dismiss, args=(link.url,))


def invitation_url(page_url: str, invitation: str) -> str:
    """Return the full URL with which an invited person opens the app for the first time.

    Args:
        page_url: the URL in the lead's browser.
        invitation: the secret that stands at the end of the URL.
    """
    return f"{app_address(page_url)}/session/invitation/{invitation}"


def app_address(page_url: str) -> str:
    """Return the URL at which people open the app: the public address in the project's settings, else from `page_url`.

    `page_url` is the URL in the lead's browser. The result is empty if that has no host. The `Host` header of a request
    is never used, as anybody can send any value.
    """
    if public := auth.project().settings.public_address:
        return public.rstrip("/")
    parts = urlsplit(page_url)
    return f"{parts.scheme}://{parts.netloc}{base_path()}" if parts.netloc else ""
