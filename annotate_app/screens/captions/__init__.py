"""The lead's page "Captions": review rewritten captions, and review descriptions that annotators wrote."""

import streamlit as st

from annotate_app.language import marked, tr
from annotate_app.screens.captions import description_acts, descriptions, rewrites
from annotate_app.shared import address_state, look
from backend.campaign.corpus.captions.correcting import count_accepted_captions
from backend.campaign.review.status import in_use

_REWRITES, _DESCRIPTIONS = "rewrites", "descriptions"
_PARTS = {_REWRITES: marked("Rewrites"), _DESCRIPTIONS: marked("Descriptions")}
_OF_A_PART = ("tab", "show", "q", "order", "page", "caption", description_acts.ON_SHOW)


def page() -> None:
    """Draw the part that the page's URL names, rewrites or descriptions; by default, the first one that has content."""
    project, lead, _ = look.lead_page("Captions")
    used = in_use(project, lead)
    in_use_now = {_REWRITES: used.rewrites, _DESCRIPTIONS: used.descriptions}
    usual = next((part for part, used_now in in_use_now.items() if used_now), _REWRITES)
    shown = {usual, address_state.read("part"), *(part for part, used_now in in_use_now.items() if used_now)}
    if count_accepted_captions(project, lead):
        shown.add(_REWRITES)  # leads correct the captions in use there
    parts = {part: tr(title) for part, title in _PARTS.items() if part in shown}
    part = next(iter(parts))
    if len(parts) > 1:
        part = address_state.choice(
            tr("Part"), "part", parts, default=usual, clears=_OF_A_PART, label_visibility="collapsed"
        )
    else:
        st.header(tr(_PARTS[part]), anchor=False)
    if part == _REWRITES:
        rewrites.show(project, lead)
    else:
        descriptions.show(project, lead)
