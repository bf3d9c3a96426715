"""A moment's clip on the lead's pages: fetched by URL from the guarded route, looping, muted, with controls."""

from pathlib import Path

import streamlit as st

from annotate_app.language import browser_texts, tr
from annotate_app.plain import component_key
from annotate_app.session.addresses import full_path
from annotate_app.shared.desk import joined
from backend.campaign.qualification.exam.model import CalibrationPair
from backend.campaign.review.model import PairReview

_HERE = Path(__file__).parent
_SCRIPTS = ("../../language/browser.js", "review_clip.js")
_mount = st.components.v2.component(
    "reelrank_review_clip",
    html='<figure><video muted loop playsinline controls preload="none"></video><p role="status"></p>'
    '<button type="button" hidden></button></figure>',
    css=(_HERE / "review_clip.css").read_text(encoding="utf-8"),
    js=joined(_HERE, _SCRIPTS),
)


def review_clip(pair: PairReview | CalibrationPair, place: str = "") -> None:
    """Shows the clip of one pair; it plays while it is in view. At most once a pair in one `place` of a page."""
    label = tr(
        "Clip of {video}, {start_s:.2f} to {end_s:.2f} s", video=pair.video, start_s=pair.start_s, end_s=pair.end_s
    )
    gif = {"src": full_path(f"/clips/{pair.pair}.gif"), "name": f"{pair.video}_{pair.start_s:.2f}-{pair.end_s:.2f}.gif"}
    clip_at(f"/clips/{pair.pair}.mp4", label, f"clip-{place}{pair.pair}", gif)


def clip_at(src: str, label: str, key: str, gif: dict[str, str] | None = None) -> None:
    """Shows the clip at a path of the app.

    Args:
        src: the path.
        label: what the clip is called.
        key: Streamlit's name of it.
        gif: full `src` and file `name` of the same as a GIF, where it may be saved as one.
    """
    _mount(
        key=component_key(key),
        data={"src": full_path(src), "label": label, "gif": gif} | browser_texts(_HERE, _SCRIPTS),
    )
