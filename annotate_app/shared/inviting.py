"""Invite somebody: the form, and one-time links, each shown with a copy button until the lead dismisses it."""

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
"""The place of links that the form made; those of a row have the number of its person."""
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
    """Who made it: nobody else sees it, whoever gets hold of the session."""
    place: str
    name: str
    url: str


def form() -> None:
    """Name and role of a newcomer."""
    with st.form("add_person"):
        name, role, button = st.columns([4, 2, 2], vertical_alignment="bottom")
        name.text_input(tr("Name"), key="new_name", placeholder=tr("They sign in with it"))
        role.selectbox(
            tr("Role"), [role.value for role in Role], key="new_role", format_func=lambda one: tr(auth.ROLES[Role(one)])
        )
        button.form_submit_button(tr("Add and invite"), type="primary", on_click=add, width="stretch")


@look.lead_callback("add_person_problem")
def add(project: Project, lead: Person) -> None:
    """Callback of the form: adds the person, and shows their link."""
    name = st.session_state["new_name"].strip()
    if not name:
        raise ProjectError(tr("Enter a name. People sign in with it."))
    invitation = add_person(project, lead, name, Role(st.session_state["new_role"]), now=time.time())
    st.session_state["new_name"] = ""
    show_link(lead, FORM, name, invitation)


def show_link(lead: Person, place: str, name: str, invitation: str) -> None:
    """Part of a callback: show this link until the lead dismisses it; an older one of the same person works no more."""
    url = invitation_url(st.context.url or "", invitation)
    others = [one for one in st.session_state.get(_LINKS, []) if one.name != name]
    st.session_state[_LINKS] = [*others, _Link(lead.annotator_id, place, name, url)]


def dismiss(url: str) -> None:
    """Callback of a button: show this link no more."""
    st.session_state[_LINKS] = [one for one in st.session_state.get(_LINKS, []) if one.url != url]


def links(place: str = "") -> None:
    """The links made at a place of the page, or all of them, the newest first; and why somebody could not be added."""
    if place in (FORM, ""):
        look.refusal("add_person_problem")
    me = auth.current()
    for one in reversed(st.session_state.get(_LINKS, [])):
        if me is None or one.lead != me.annotator_id or place not in (one.place, ""):
            continue
        with st.container(border=True, key=component_key(f"link-{one.url}")):
            st.markdown(tr("**Send this link to {name}**", name=plain(one.name)))
            data = {
                "url": one.url,
                "label": tr("Link for {name}", name=one.name),
                "copy": tr("Copy link"),
                "copied": tr("Copied."),
                "failed": tr("Press Ctrl+C to copy."),
            }
            _mount(key=component_key(f"copy-{one.url}"), data=data)
            st.caption(
                tr(
                    "They open it to choose a password. It works once, within two weeks. It stays here until you "
                    "dismiss it or close this page."
                )
            )
            key = component_key(f"dismiss-{one.url}")
            st.button(tr("Dismiss"), key=key, on_click=dismiss, args=(one.url,))


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
