"""Search the accepted captions, open one with its clip, and correct its text before annotators grade the clip."""

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
"""The address parameter that holds the open caption."""
PER_PAGE = 10
_COLUMNS = (ListColumn(marked("Caption")), ListColumn(marked("Moment"), phone=False))
_REASON = 200


def captions_in_use(project: Project, lead: Person) -> None:
    """Draw the list of accepted captions, and above it the caption that the page's URL names, if it names one.

    Draw nothing in a project without captions.
    """
    if not count_accepted_captions(project, lead):
        return
    st.header(tr("Captions in use"), anchor=False)
    caption = accepted_caption(project, lead, address_state.read_number(CAPTION) or 0)
    if caption is not None:
        _one(*caption)
    search = address_state.search(tr("Search: words of a caption, or a video"), clears=("page", CAPTION), type="search")

    def rows(first: int, most: int) -> list[ListRow]:
        return [_row(caption_row) for caption_row in accepted_captions(project, lead, search, first=first, most=most)]

    count = count_accepted_captions(project, lead, search)
    nothing = tr("No caption matches your search.")
    long_list(tr("Captions"), _COLUMNS, count, rows, opens=CAPTION, noun="caption", nothing=nothing, per_page=PER_PAGE)


def _row(caption: AcceptedCaption) -> ListRow:
    picture = look.thumbnail_address(caption.video, caption.start_s, caption.end_s)
    return ListRow(caption.caption_id, (escape(caption.text), escape(wording.moment(caption))), picture)


def _one(caption: AcceptedCaption, corrections: Sequence[Correction]) -> None:
    with st.container(border=True, key="caption-card"):
        picture, words = st.columns([2, 3], gap="medium")
        with picture:
            moment_clip(caption, f"caption-{caption.caption_id}")
            st.caption(plain(wording.moment(caption)))
        with words:
            if caption.published:
                st.caption(tr("Published: “{text}”", text=plain(caption.published)))
            if caption.fixed:
                st.markdown(plain(wording.caption(caption.text)))
                st.caption(tr("Annotators already have pairs of this caption, so its text is fixed."))
            else:
                _form(caption)
            look.outcome(f"caption-{caption.caption_id}")
            for correction in corrections:
                told = tr(
                    "{when}, {name}: “{before}” became “{text}”.",
                    when=wording.when(correction.at, st.context.timezone),
                    name=plain(correction.by),
                    before=plain(correction.before),
                    text=plain(correction.text),
                )
                st.caption(f"{told} {plain(correction.reason)}")
    warn_unsaved("caption-card", saved=f"{caption.caption_id} {caption.text}")


def _form(caption: AcceptedCaption) -> None:
    key = f"caption-{caption.caption_id}"
    with st.form(key, border=False):
        st.text_area(tr("Caption"), caption.text, key=f"{key}-text", max_chars=LONGEST_CAPTION, height=90)
        st.text_input(tr("Why? (optional)"), key=f"{key}-reason", max_chars=_REASON)
        st.form_submit_button(
            tr("Correct the caption"), type="primary", on_click=correct, args=(caption.caption_id, caption.text)
        )


def correct(caption_id: int, seen: str) -> None:
    """Replace the text of a caption with the text that the lead typed in its form.

    Args:
        caption_id: the caption.
        seen: the caption's text as the page showed it. If the caption has another text by now, the correction is
            refused.
    """
    state, place = st.session_state, f"caption-{caption_id}"
    text, reason = str(state[f"{place}-text"]), str(state[f"{place}-reason"])
    correction = partial(correct_caption, caption_id=caption_id, text=text, reason=reason, seen=seen, now=time.time())
    if look.done_as_lead(correction, f"{place}_problem"):
        state[f"{place}-reason"] = ""
        results.leave(place, tr("Caption corrected. Its history is below its text."))
