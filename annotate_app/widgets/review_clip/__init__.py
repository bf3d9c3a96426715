"""A moment's clip on the lead's pages: fetched by URL from the guarded route, looping, muted, with controls."""

from pathlib import Path

import streamlit as st

from annotate_app.plain import component_key
from backend.campaign.exam.model import TrialPair
from backend.campaign.review.model import PairReview

_HERE = Path(__file__).parent
_mount = st.components.v2.component(
    "reelrank_review_clip",
    html='<figure><video muted loop playsinline controls preload="none"></video><p role="status"></p></figure>',
    css=(_HERE / "review_clip.css").read_text(encoding="utf-8"),
    js=(_HERE / "review_clip.js").read_text(encoding="utf-8"),
)


def review_clip(pair: PairReview | TrialPair, place: str = "") -> None:
    """Shows the clip of one pair; it plays while it is in view. At most once a pair in one `place` of a page."""
    label = f"Clip of {pair.video}, {pair.start_s:.2f} to {pair.end_s:.2f} s"
    clip_at(f"/clips/{pair.pair}.mp4", label, f"clip-{place}{pair.pair}")


def clip_at(src: str, label: str, key: str) -> None:
    """Shows the clip at an address of this server; `label` is what it is called, `key` Streamlit's name of it."""
    _mount(key=component_key(key), data={"src": src, "label": label})
