"""Licence and citation of all releases to come: what they are, and the form that says them."""

import time

import streamlit as st

from annotate_app.language import tr
from annotate_app.plain import plain
from annotate_app.shared import look, wording
from backend.campaign.nouns import Person
from backend.campaign.release.export import terms
from backend.campaign.release.export.model import LICENCES
from backend.campaign.setup.project.folder import Project


def release_terms(project: Project, lead: Person) -> None:
    """Folded away once they are said."""
    found = terms.release_terms(project, lead)
    with st.expander(
        tr("Licence and citation: {value}", value=plain(found.licence or tr("no licence chosen"))), expanded=False
    ):
        if found.at is not None:
            because = f": {plain(found.reason)}" if found.reason else ""
            who = plain(found.by or tr("the command line"))
            st.caption(
                tr(
                    "Said by {who}, {when}{because}",
                    who=who,
                    when=wording.when(found.at, st.context.timezone),
                    because=because,
                )
            )
        look.refusal("terms_problem")
        with st.form("terms"):
            offered = list(dict.fromkeys([*([found.licence] if found.licence else []), *LICENCES]))
            st.selectbox(
                tr("Licence"),
                offered,
                index=0 if found.licence else None,
                key="terms_licence",
                accept_new_options=True,
                placeholder=tr("Choose a name of SPDX, or type a text"),
            )
            st.text_area(
                tr("How to cite it"),
                found.citation,
                key="terms_citation",
                placeholder=tr("A sentence, or an entry of BibTeX"),
            )
            st.text_input(
                tr("Reason"), key="terms_reason", help=tr("Needed where licence or citation were said before.")
            )
            st.form_submit_button(tr("Keep"), on_click=_keep)


def _keep() -> None:
    def act(project: Project, lead: Person) -> None:
        terms.set_release_terms(
            project,
            lead,
            licence=st.session_state["terms_licence"] or "",
            citation=st.session_state["terms_citation"],
            reason=st.session_state["terms_reason"],
            now=time.time(),
        )
        st.session_state["terms_reason"] = ""

    st.session_state["terms_problem"] = look.as_lead(act)
