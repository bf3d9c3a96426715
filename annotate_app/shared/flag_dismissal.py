"""Dismiss quality flags where leads see them: a button with an optional reason."""

import time
from collections.abc import Sequence

import streamlit as st

from annotate_app.language import tr, translate_message
from annotate_app.plain import plain
from annotate_app.shared import look, results
from backend.campaign.monitoring.quality.flags import LONGEST_REASON, dismiss_flags
from backend.campaign.monitoring.quality.model import FLAG_NAMES, FlagKind
from backend.core.ids import AnnotatorId


def dismissal(who: AnnotatorId, name: str, kinds: Sequence[FlagKind], place: str) -> None:
    """Draw the button that dismisses quality flags of an annotator, with a field for the reason.

    Args:
        who: the annotator with the flags.
        name: name of the annotator.
        kinds: the flags to dismiss.
        place: name under which the result is kept; the page shows it with `look.outcome(place)`.
    """
    key = f"dismiss-{who}-{'-'.join(kinds)}"
    with st.popover(tr("Dismiss"), key=key), st.form(f"{key}-form", border=False):
        flags = ", ".join(translate_message(FLAG_NAMES[kind]) for kind in kinds)
        st.markdown(f"**{plain(name)}**: {plain(flags)}")
        st.caption(tr("A dismissed flag comes back when new work raises it again."))
        st.text_input(tr("Reason (optional)"), key=f"{key}-reason", max_chars=LONGEST_REASON)
        st.form_submit_button(tr("Dismiss"), on_click=dismiss, args=(who, name, tuple(kinds), place))


def dismiss(who: AnnotatorId, name: str, kinds: Sequence[FlagKind], place: str) -> None:
    """Dismiss quality flags for the reason in the field. This is the callback of the button that `dismissal` draws."""
    reason = str(st.session_state[f"dismiss-{who}-{'-'.join(kinds)}-reason"])
    if look.done_as_lead(
        lambda project, lead: dismiss_flags(project, lead, who, kinds, reason, now=time.time()), f"{place}_problem"
    ):
        flags = ", ".join(translate_message(FLAG_NAMES[kind]) for kind in kinds)
        results.leave(place, tr("Dismissed for {name}: {flags}.", name=name, flags=flags))
