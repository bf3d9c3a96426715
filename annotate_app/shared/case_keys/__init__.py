"""Keys for the case that a lead looks at, beside the shortcuts of its buttons; and the next clip, loaded ahead."""

from collections.abc import Callable, Sequence
from pathlib import Path

import streamlit as st

from annotate_app.language import tr
from annotate_app.session.addresses import full_path
from backend.campaign.nouns import Scale
from backend.core.ids import PairKey

LEGEND = "case-legend"
"""Streamlit's key of the list of keys."""
_ACTS = ("d", "o", "t", "u")
"""Keys of buttons that do something about a pair."""
_HERE = Path(__file__).parent
_mount = st.components.v2.component(
    "reelrank_case_keys",
    html='<div class="rr-case-keys" hidden></div>',
    js="\n".join(path.read_text(encoding="utf-8") for path in (_HERE.parent / "keyboard.js", _HERE / "case_keys.js")),
    isolate_styles=False,
)


def case_keys(pair: PairKey, following: PairKey | None) -> None:
    """Obeys keys for the form of a pair: digits choose the relevance, W goes to the reason.

    Args:
        pair: the pair on show.
        following: the pair whose clip is loaded ahead.
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
    """Obeys keys for the form on show: digits choose the relevance, W goes to the reason, E to the text to edit.

    Keys that do something do nothing while the page is being drawn: they would reach what was on show before.

    Args:
        name: Streamlit's key of this element.
        reason: a selector of the field to write in.
        acts: keys of buttons that do something.
        relevance: a selector of the grades to choose from, if there are any.
        edit: a selector of the text to edit, if there is one.
        following: the path of the clip that is loaded ahead.
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
    """Where the case on show stands in its list, and the buttons of the case before it and the next.

    Args:
        name: Streamlit's keys of the buttons begin with it.
        place: in the list, from 1; None of a case that is not in it.
        count: of the list.
        step: the buttons' callback, given -1 or 1.
    """
    at = tr("{place:,} of {count:,}", place=place, count=count) if place else tr("No longer in this list")
    st.markdown(f"**{at}**", width="content")
    for label, by, shortcut, icon in (
        (tr("Previous"), -1, "p", "chevron_left"),
        (tr("Next"), 1, "n", "chevron_right"),
    ):
        st.button(
            label,
            key=f"{name}-{label.lower()}",
            icon=f":material/{icon}:",
            shortcut=shortcut,
            disabled=place == (1 if by < 0 else count),
            on_click=step,
            args=(by,),
        )


def legend(scale: Scale) -> None:
    """The list of keys, behind a button."""
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
    """A list of keys and what they do, behind a button."""
    with st.container(key=LEGEND, width="content"), st.popover(tr("Keys"), icon=":material/keyboard:"):
        st.markdown("  \n".join(f"{key} {tr(meaning)}" for key, meaning in keys))
