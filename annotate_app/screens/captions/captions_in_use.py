"""Search the captions in use, show one with its clip, and correct its text before pairs are handed out."""

import time
from collections.abc import Sequence
from functools import partial
from html import escape

import streamlit as st

from annotate_app.language import marked, tr
from annotate_app.plain import plain
from annotate_app.shared import address_state, look, results, wording
from annotate_app.shared.long_list import ListColumn, ListRow, long_list
from annotate_app.shared.review_clip import moment_clip
from annotate_app.shared.unsaved import warn_unsaved
from backend.campaign.corpus.captions.correcting import (
    LONGEST_CAPTION,
    accepted_caption,
    accepted_captions,
    correct_caption,
    count_accepted_captions,
)
from backend.campaign.corpus.captions.model import AcceptedCaption, Correction
from backend.campaign.nouns import Person
from backend.campaign.setup.project.folder import Project

CAPTION = "caption"
"""Query parameter with the open caption."""
PER_PAGE = 10
_COLUMNS = (ListColumn(marked("Caption")), ListColumn(marked("Moment"), phone=False))
_REASON = 200


def captions_in_use(project: Project, lead: Person) -> None:
    """Draw the list of captions, and the one that the address names; nothing in a project without captions."""
    if not count_accepted_captions(project, lead):
        return
    st.header(tr("Captions in use"), anchor=False)
    found = accepted_caption(project, lead, address_state.read_number(CAPTION) or 0)
    if found is not None:
        _one(*found)
    asked = address_state.search(tr("Search: words of a caption, or a video"), clears=("page", CAPTION), type="search")

    def rows(first: int, most: int) -> list[ListRow]:
        return [_row(one) for one in accepted_captions(project, lead, asked, first=first, most=most)]

    count = count_accepted_captions(project, lead, asked)
    nothing = tr("No caption matches your search.")
    long_list(tr("Captions"), _COLUMNS, count, rows, opens=CAPTION, noun="caption", nothing=nothing, per_page=PER_PAGE)


def _row(one: AcceptedCaption) -> ListRow:
    picture = look.thumbnail_address(one.video, one.start_s, one.end_s)
    return ListRow(one.caption_id, (escape(one.text), escape(wording.moment(one))), picture)


def _one(found: AcceptedCaption, corrections: Sequence[Correction]) -> None:
    with st.container(border=True, key="caption-card"):
        picture, words = st.columns([2, 3], gap="medium")
        with picture:
            moment_clip(found, f"caption-{found.caption_id}")
            st.caption(plain(wording.moment(found)))
        with words:
            if found.published:
                st.caption(tr("Published: “{text}”", text=plain(found.published)))
            if found.fixed:
                st.markdown(plain(wording.caption(found.text)))
                st.caption(tr("Annotators already have pairs of this caption, so its text is fixed."))
            else:
                _form(found)
            look.outcome(f"caption-{found.caption_id}")
            for one in corrections:
                text = tr(
                    "{when}, {name}: “{before}” became “{text}”.",
                    when=wording.when(one.at, st.context.timezone),
                    name=plain(one.by),
                    before=plain(one.before),
                    text=plain(one.text),
                )
                st.caption(f"{text} {plain(one.reason)}")
    warn_unsaved("caption-card", saved=f"{found.caption_id} {found.text}")


def _form(found: AcceptedCaption) -> None:
    key = f"caption-{found.caption_id}"
    with st.form(key, border=False):
        st.text_area(tr("Caption"), found.text, key=f"{key}-text", max_chars=LONGEST_CAPTION, height=90)
        st.text_input(tr("Why? (optional)"), key=f"{key}-reason", max_chars=_REASON)
        st.form_submit_button(
            tr("Correct the caption"), type="primary", on_click=correct, args=(found.caption_id, found.text)
        )


def correct(caption_id: int, seen: str) -> None:
    """Save the corrected text of a caption, as the callback of the form."""
    state, place = st.session_state, f"caption-{caption_id}"
    text, reason = str(state[f"{place}-text"]), str(state[f"{place}-reason"])
    act = partial(correct_caption, caption_id=caption_id, text=text, reason=reason, seen=seen, now=time.time())
    if look.done_as_lead(act, f"{place}_problem"):
        state[f"{place}-reason"] = ""
        results.leave(place, tr("Caption corrected. Its history is below its text."))
