"""Remove people on the page "People", and restore archived people."""

import time
from collections.abc import Sequence

import streamlit as st

from annotate_app.language import tr, trn
from annotate_app.plain import plain
from annotate_app.shared import look
from backend.campaign.judging.removal import remove_person
from backend.campaign.judging.staffing import suspend
from backend.campaign.nouns import Person, PersonReview
from backend.campaign.setup.project.folder import Project
from backend.core.ids import AnnotatorId


@look.lead_callback("people_problem")
def remove(project: Project, lead: Person, annotator_id: AnnotatorId, name: str) -> None:
    """Remove a person from the project, or archive them if they have judgements or other work on record."""
    if remove_person(project, lead, annotator_id, now=time.time()):
        st.session_state["people_done"] = tr("{name} is archived. Their work stays on record.", name=name)
    else:
        st.session_state["people_done"] = tr("{name} is removed.", name=name)


@look.lead_callback("archive_problem")
def bring_back(project: Project, lead: Person, annotator_id: AnnotatorId, name: str) -> None:
    """Restore an archived person, so that they can sign in and are listed again."""
    suspend(project, lead, annotator_id, False, now=time.time())
    st.session_state["archive_done"] = tr("{name} is restored and can sign in.", name=name)


def button(person: Person, is_me: bool) -> None:
    """Draw the button that removes a person, with an explanation of what happens to their work."""
    with st.popover(
        tr("Remove"),
        key=f"removing-{person.annotator_id}",
        width="stretch",
        disabled=is_me,
        help=tr("You cannot remove yourself.") if is_me else None,
    ):
        st.markdown(
            tr(
                "{name} can no longer sign in and leaves this list. Anyone with judgements or other records is "
                "archived, and you can restore them.",
                name=plain(person.name),
            )
        )
        st.button(
            tr("Remove {name}", name=plain(person.name)),
            key=f"remove-{person.annotator_id}",
            type="primary",
            on_click=remove,
            args=(person.annotator_id, person.name),
        )


def archive(archived: Sequence[PersonReview]) -> None:
    """Draw the archived people, each with the button that restores them."""
    look.outcome("archive")
    if not archived:
        return
    with st.expander(tr("Archived people ({n})", n=len(archived))):
        for review in archived:
            who = review.person.annotator_id
            with st.container(horizontal=True, vertical_alignment="center", key=f"archived-{who}"):
                judgements = trn("{n} judgement", "{n} judgements", review.judgements)
                st.markdown(f"**{plain(review.person.name)}** · {judgements}", width="stretch")
                st.button(tr("Restore"), key=f"bring-back-{who}", on_click=bring_back, args=(who, review.person.name))
