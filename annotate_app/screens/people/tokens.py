"""Everybody's personal tokens on the page "People", each with the button that revokes it."""

import time

import streamlit as st

from annotate_app.language import tr
from annotate_app.plain import plain
from annotate_app.session.plain_pages import SCOPES
from annotate_app.shared import look, wording
from backend.campaign.nouns import Person
from backend.campaign.setup.project.folder import Project
from backend.campaign.setup.tokens.personal_tokens import list_tokens, revoke_token


@look.lead_callback("tokens_problem")
def revoke(project: Project, lead: Person, key: str, owner: str) -> None:
    """Revoke somebody's token, so that programs can no longer use it."""
    name = revoke_token(project, lead, key, now=time.time())
    st.session_state["tokens_done"] = tr("The token {token} of {name} is revoked.", token=name, name=owner)


def draw(project: Project, lead: Person) -> None:
    """Draw a collapsed list of everybody's tokens; nothing if there are none."""
    look.outcome("tokens")
    tokens = list_tokens(project, lead)
    if not tokens:
        return
    with st.expander(tr("Personal tokens ({n})", n=len(tokens))):
        st.caption(tr("A token lets a program act as its owner. People make tokens on their page Account."))
        for token in tokens:
            owner, is_over = token.owner.name, token.expires_at <= time.time()
            until = wording.when(token.expires_at, st.context.timezone)
            with st.container(horizontal=True, vertical_alignment="center", key=f"token-{token.key}"):
                works = tr("Expired {day}.", day=until) if is_over else tr("Works until {day}.", day=until)
                used = tr("Last used: {when}", when=wording.when(token.used_at, st.context.timezone))
                facts = f"{token.name} · {tr(SCOPES[token.scope])} · {works} {used}"
                st.markdown(f"**{plain(owner)}** · {plain(facts)}", width="stretch")
                st.button(tr("Revoke"), key=f"revoke-{token.key}", on_click=revoke, args=(token.key, owner))
