"""The lead's page "People": who works here, how much, and one-time invitations for newcomers."""

import time
from urllib.parse import urlsplit

import streamlit as st

from annotate_app import auth, look, wording
from backend import api
from backend.core.errors import ReelRankError
from backend.core.model import AnnotatorId, Person, PersonReview, Role

_WIDTHS = (4, 2, 2, 3, 2.4)


def page() -> None:
    """The table of people with suspend and reinstate, and the form that invites somebody."""
    project, person, _ = look.lead_page("People")
    _invitation()
    head = st.columns(_WIDTHS)
    for column, label in zip(head, ("Name", "Role", "Judgements", "Last active", ""), strict=True):
        column.caption(label)
    for review in api.list_people(project):
        _row(review, person)
    _add_form()


def add() -> None:
    """Callback of the form: adds the person; the link waits for the run that follows, and is shown once."""
    lead = auth.current()
    if lead is None or lead.role is not Role.LEAD:
        return
    name = st.session_state["new_name"].strip()
    if not name:
        st.session_state["people_problem"] = "Please give a name: people sign in with it."
        return
    try:
        invitation = api.add_person(auth.project(), name, Role(st.session_state["new_role"]), now=time.time())
    except ReelRankError as error:
        st.session_state["people_problem"] = str(error)
        return
    st.session_state["new_name"] = ""
    st.session_state["invitation"] = (name, invitation_url(st.context.url or "", invitation))


def invitation_url(page_url: str, invitation: str) -> str:
    """The link for a newcomer, on the address under which the lead reaches this server."""
    parts = urlsplit(page_url)
    origin = f"{parts.scheme}://{parts.netloc}" if parts.netloc else ""
    return f"{origin}/session/invitation/{invitation}"


def suspend(annotator_id: AnnotatorId, suspended: bool) -> None:
    """Callback of a row's button."""
    lead = auth.current()
    if lead is None or lead.role is not Role.LEAD:
        return
    try:
        api.suspend(auth.project(), lead, annotator_id, suspended, now=time.time())
    except ReelRankError as error:
        st.session_state["people_problem"] = str(error)


def _invitation() -> None:
    problem = st.session_state.pop("people_problem", "")
    if problem:
        st.error(problem)
    # Taken out of the session: the next run no longer knows the link, as the text says.
    name, url = st.session_state.pop("invitation", ("", ""))
    if url:
        with st.container(border=True):
            st.markdown(f"**Send this link to {name}**")
            st.code(url, language=None, wrap_lines=True)
            st.caption(
                "It works once, within two weeks, and lets them choose a password. It is shown only now: copy it "
                "before you go on."
            )


def _row(review: PersonReview, me: Person) -> None:
    person = review.person
    with st.container(key=f"person-{person.annotator_id}"):
        name, role, judgements, last, action = st.columns(_WIDTHS, vertical_alignment="center")
        with name.container(horizontal=True, vertical_alignment="center"):
            st.text(person.name, width="content")
            if person.annotator_id == me.annotator_id:
                st.badge("you", color="gray")
            if person.suspended:
                st.badge("suspended", color="red")
            elif not review.has_password and not review.judgements:
                st.badge("invited", color="orange", help="Has not chosen a password yet")
        role.text(person.role.value)
        judgements.text(f"{review.judgements:,}")
        last.text(wording.when(review.last_at, st.context.timezone))
        action.button(
            "Reinstate" if person.suspended else "Suspend",
            key=f"suspend-{person.annotator_id}",
            width="stretch",
            disabled=person.annotator_id == me.annotator_id,
            help="You cannot suspend yourself." if person.annotator_id == me.annotator_id else None,
            on_click=suspend,
            args=(person.annotator_id, not person.suspended),
        )


def _add_form() -> None:
    st.subheader("Add a person", anchor=False)
    with st.form("add_person"):
        name, role, button = st.columns([4, 2, 2], vertical_alignment="bottom")
        name.text_input("Name", key="new_name", placeholder="They sign in with it")
        role.selectbox("Role", [role.value for role in Role], key="new_role")
        button.form_submit_button("Add and invite", type="primary", on_click=add, width="stretch")
