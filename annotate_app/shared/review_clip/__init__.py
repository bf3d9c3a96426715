"""Draw clips for leads (looping, muted, with controls), and list broken clips and videos with problems."""

import time
from collections.abc import Sequence
from html import escape
from pathlib import Path
from urllib.parse import urlencode

import streamlit as st

from annotate_app.language import browser_texts, tr, translate_message
from annotate_app.plain import component_key, plain
from annotate_app.session.addresses import full_path
from annotate_app.shared import joined, look, wording
from backend.campaign.judging import queue
from backend.campaign.monitoring.videos.model import VideoState
from backend.campaign.nouns import Person
from backend.campaign.qualification.exam.model import CalibrationPair
from backend.campaign.review.model import PairReview
from backend.campaign.setup.project.folder import Project
from backend.core.ids import PairKey

_HERE = Path(__file__).parent
_SCRIPTS = ("../../language/browser.js", "review_clip.js")
_mount = st.components.v2.component(
    "reelrank_review_clip",
    html='<figure><video muted loop playsinline controls preload="none"></video><p role="status"></p>'
    '<button type="button" hidden></button></figure>',
    css=(_HERE / "review_clip.css").read_text(encoding="utf-8"),
    js=joined(_HERE, _SCRIPTS),
)
_SHOWN = 50
_PROBLEM = "reported_problem"


def review_clip(pair: PairReview | CalibrationPair, place: str = "") -> None:
    """Draw the clip of a pair, which plays while it is on the screen.

    `place` is part of its Streamlit key. If a page draws the same pair twice, give each call a different one.
    """
    gif = {"src": full_path(f"/clips/{pair.pair}.gif"), "name": f"{pair.video}_{pair.start_s:.2f}-{pair.end_s:.2f}.gif"}
    moment_clip(pair, f"clip-{place}{pair.pair}", f"/clips/{pair.pair}.mp4", gif)


def moment_clip(span: wording.VideoSpan, key: str, src: str = "", gif: dict[str, str] | None = None) -> None:
    """Draw the clip of a moment, which plays while it is on the screen.

    Args:
        span: the moment, or any other object with a span of a video.
        key: Streamlit's key of this element.
        src: path of the clip; empty for the one from `moment_path`.
        gif: URL `src` and file `name` of the clip as a GIF; None if it cannot be saved as one.
    """
    label = tr(
        "Clip of {video}, {start_s:.2f} to {end_s:.2f} s", video=span.video, start_s=span.start_s, end_s=span.end_s
    )
    clip_at(src or moment_path(span), label, key, gif)


def moment_path(span: wording.VideoSpan) -> str:
    """Return the path under which the app serves the clip of a moment, without the app's own prefix."""
    return "/moments.mp4?" + urlencode({"video": span.video, "start": span.start_s, "end": span.end_s})


def clip_at(src: str, label: str, key: str, gif: dict[str, str] | None = None) -> None:
    """Draw the clip that the app serves at a path. It plays while it is on the screen.

    Args:
        src: path of the clip.
        label: name of the clip for screen readers.
        key: Streamlit's key of this element.
        gif: URL `src` and file `name` of the clip as a GIF; None if it cannot be saved as one.
    """
    _mount(
        key=component_key(key),
        data={"src": full_path(src), "label": label, "gif": gif} | browser_texts(_HERE, _SCRIPTS),
    )


def video_troubles(wrong: Sequence[VideoState]) -> None:
    """Draw a table of the first videos with problems, each with the problem and what to do about it."""
    rows = [
        (
            f"<b>{escape(state.video)}</b>",
            f"{escape(translate_message(state.message))}<br><small>{escape(translate_message(state.advice))}</small>",
        )
        for state in wrong[:_SHOWN]
    ]
    st.html(look.table((tr("Video"), tr("Problem and what to do")), rows, "rr-videos"))
    if len(wrong) > _SHOWN:
        st.caption(
            tr(
                "The first {shown} of {videos}. Fix these to see the next.",
                shown=_SHOWN,
                videos=wording.count_of(len(wrong), "video"),
            )
        )


@look.lead_callback(_PROBLEM)
def block_clip(project: Project, lead: Person, pair: PairKey, reason: str) -> None:
    """Block a clip that a lead confirms as broken, so that nobody gets it any more.

    This is the callback of a button.
    """
    queue.block_clip(project, lead, pair, reason, now=time.time())


def reported_clips(project: Project, lead: Person) -> None:
    """Draw the clips that one annotator reported as broken and others still get, with buttons that block them."""
    look.refusal(_PROBLEM)
    if not (clips := queue.reported_clips(project, lead)):
        return
    st.header(tr("Clips that one person reported as broken"), anchor=False)
    st.caption(
        tr(
            "The server can play these clips, so others still get them. A second report blocks a clip. The "
            "list Skipped on Disputes shows each clip. To undo all reports of an annotator, open them on "
            "People."
        )
    )
    for clip in clips[:_SHOWN]:
        with st.container(horizontal=True, vertical_alignment="center", key=f"reported-{clip.pair}"):
            span = f"{clip.start_s:.1f}\u2013{clip.end_s:.1f} s"
            st.markdown(
                tr(
                    "**{video}**, {span}, reported by {name}: {reason}",
                    video=plain(clip.video),
                    span=span,
                    name=plain(clip.by),
                    reason=plain(clip.reason),
                )
            )
            st.button(tr("Block the clip"), key=f"keep-{clip.pair}", on_click=block_clip, args=(clip.pair, clip.reason))
    if len(clips) > _SHOWN:
        st.caption(tr("The first {shown} of {clips}.", shown=_SHOWN, clips=wording.count_of(len(clips), "clip")))
