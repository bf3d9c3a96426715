"""Keyboard shortcuts for reviewing a pair or description. The clip of the next one is loaded in advance."""

from collections.abc import Callable, Sequence
from pathlib import Path

import streamlit as st

from annotate_app.language import tr
from annotate_app.session.addresses import full_path
from backend.campaign.nouns import Scale
from backend.core.ids import PairKey

LEGEND = "case-legend"
"""Streamlit's key of the list of shortcuts."""
_ACTS = ("d", "o", "t", "u")
"""Shortcuts of the buttons that change a pair."""
_HERE = Path(__file__).parent
_mount = st.components.v2.component(
    "reelrank_case_keys",
    html='<div class="rr-case-keys" hidden></div>',
    js="\n".join(path.read_text(encoding="utf-8") for path in (_HERE.parent / "keyboard.js", _HERE / "case_keys.js")),
    isolate_styles=False,
)


def case_keys(pair: PairKey, following: PairKey | None) -> None:
    """Add keyboard shortcuts to a pair's form: digits choose the relevance, W moves to the reason.

    Args:
        pair: the pair on the page.
        following: the next pair, whose clip the browser loads ahead; None at the end of the list.
    """
    keys_of(
        "case-keys",
        reason=f".st-key-reason-{pair}",
        relevance=f".st-key-relevance-{pair}",
        acts=_ACTS,
        following=f"/clips/{following}.mp4" if following else None,
    )


def keys_of(
    name: str, *, reason: str, acts: Sequence[str], relevance: str = "", edit: str = "", following: str | None
) -> None:
    """Add keyboard shortcuts to a form: digits choose the relevance, W moves to the reason, E to the text to edit.

    Shortcuts that change something do nothing while the page is being drawn. Otherwise they could change the pair shown
    before.

    Args:
        name: Streamlit's key of this element.
        reason: CSS selector of the field for the reason.
        acts: shortcuts of buttons that change something.
        relevance: CSS selector of the grades to choose from, if there are any.
        edit: CSS selector of the text to edit, if there is one.
        following: path of the clip that is loaded ahead; None for no clip.
    """
    _mount(
        key=name,
        data={
            "relevance": relevance,
            "reason": reason,
            "edit": edit,
            "legend": f".st-key-{LEGEND}",
            "acts": acts,
            "next": full_path(following) if following else None,
        },
    )


def neighbours(name: str, place: int | None, count: int, step: Callable[[int], None]) -> None:
    """Draw the position of a list entry, such as `3 of 40`, with buttons for the previous and the next entry.

    Args:
        name: beginning of Streamlit's keys of the buttons.
        place: position in the list, from 1; None if the entry is no longer in it.
        count: length of the list.
        step: callback of the buttons, called with -1 or 1.
    """
    position = tr("{place:,} of {count:,}", place=place, count=count) if place else tr("No longer in this list")
    st.markdown(f"**{position}**", width="content")
    for label, offset, shortcut, icon in (
        (tr("Previous"), -1, "p", "chevron_left"),
        (tr("Next"), 1, "n", "chevron_right"),
    ):
        st.button(
            label,
            key=f"{name}-{label.lower()}",
            icon=f":material/{icon}:",
            shortcut=shortcut,
            disabled=place == (1 if offset < 0 else count),
            on_click=step,
            args=(offset,),
        )


def legend(scale: Scale) -> None:
    """Draw a button that shows which keyboard shortcuts there are for reviewing a pair."""
    legend_of(
        (
            (f"`0`–`{scale.highest}`", tr("choose a relevance, then write the reason")),
            ("`W`", tr("write the reason; `Esc` leaves it")),
            ("`Enter`", tr("in the reason: press the coloured button")),
            ("`D`", tr("confirm the discard")),
            ("`O`", tr("re-open for two more annotators")),
            ("`T`", tr("take back the last decision about the pair")),
            ("`U`", tr("undo your last action")),
            ("`N` `P`", tr("next, previous")),
            ("`?`", tr("these keys")),
        )
    )


def legend_of(keys: Sequence[tuple[str, str]]) -> None:
    """Draw a button that shows a list of keyboard shortcuts. `keys` has each shortcut with its meaning."""
    with st.container(key=LEGEND, width="content"), st.popover(tr("Keys"), icon=":material/keyboard:"):
        st.markdown("  \n".join(f"{key} {tr(meaning)}" for key, meaning in keys))
