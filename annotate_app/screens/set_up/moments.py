"""Step of Set up: moments, where no annotation file brings them: shots, windows, or what people describe."""

import time
from typing import Any

import streamlit as st

from annotate_app.language import marked, tr
from annotate_app.screens.set_up.step import SetUpStep, StepStanding
from annotate_app.server import job_functions, jobs
from annotate_app.shared import look, wording
from annotate_app.shared.ways import WayThere
from backend.campaign.corpus.describing.opening import describing_choice
from backend.campaign.corpus.moments.model import ByShots, ByWindows, Origin
from backend.campaign.nouns import Person
from backend.campaign.setup.project.folder import Project
from backend.core.errors import ProjectError
from backend.core.messages import said

KEY = "moments"
_SHOTS, _WINDOWS = marked("Shots"), marked("Windows")
_WORDS = {
    Origin.IMPORTED: marked("from files"),
    Origin.SHOTS: marked("shots"),
    Origin.WINDOWS: marked("windows"),
    Origin.DESCRIBED: marked("described"),
    Origin.POOLED: marked("from pooled runs"),
}


def propose() -> None:
    """Callback of the button."""
    state = st.session_state

    def act(project: Project, lead: Person) -> None:
        how: ByShots | ByWindows
        if state["moments_how"] == _WINDOWS:
            how = ByWindows(_lengths(state["moments_lengths"]), state["moments_stride"])
        else:
            how = ByShots(state["moments_shortest"], state["moments_longest"])
        title = said("Cutting videos into windows") if isinstance(how, ByWindows) else said("Looking for shots")
        jobs.begin(project, lead, KEY, title, job_functions.propose_moments, how, now=time.time())

    state["set_up_problem"] = look.as_lead(act)


def _lengths(text: str) -> tuple[float, ...]:
    try:
        return tuple(float(part) for part in text.split(","))
    except ValueError:
        raise ProjectError(tr("{text!r} are no lengths: write seconds, such as 5, 10, 20", text=text)) from None


def _standing(project: Project, lead: Person, counts: dict[str, Any]) -> StepStanding:
    if not counts["videos"]:
        return StepStanding(False, tr("none yet"), tr("Moments are of videos: these come first."))
    if not counts["moments"]:
        return StepStanding(False, tr("none yet"))
    parts = [f"{count:,} {tr(_WORDS[Origin(origin)])}" for origin, count in counts["moments_from"].items()]
    return StepStanding(True, f"{wording.count_of(counts['moments'], 'moment')}: {', '.join(parts)}")


def _show(project: Project, lead: Person, counts: dict[str, Any]) -> None:
    st.markdown(
        tr(
            "What is judged are moments: spans of videos. An annotation file brings its own. Without one "
            "they are proposed from the videos alone, or described by people. What is proposed in the "
            "same way again takes the place of what was, but for moments that something uses."
        )
    )
    how = st.segmented_control(
        tr("Propose"), [_SHOTS, _WINDOWS], default=_SHOTS, required=True, key="moments_how", format_func=tr
    )
    with st.container(horizontal=True, vertical_alignment="bottom"):
        if how == _WINDOWS:
            st.text_input(tr("Lengths, in seconds"), "5, 10, 20", key="moments_lengths")
            st.number_input(
                tr("Stride"),
                0.05,
                1.0,
                0.5,
                0.05,
                key="moments_stride",
                help=tr("The next window begins this share of its length later."),
            )
        else:
            shots = ByShots()
            st.number_input(tr("Join shots shorter than (s)"), 0.0, value=shots.shortest_s, key="moments_shortest")
            st.number_input(tr("Split shots longer than (s)"), 0.5, value=shots.longest_s, key="moments_longest")
        st.button(tr("Propose moments"), key="propose_moments", type="primary", on_click=propose)
    if counts["moments"]:
        way = WayThere("Moments", "", tr("Look through the moments, and change them"))
        st.html(f"<p class='rr-waiting'>{way.link}</p>")
    chosen = describing_choice(project, lead)
    way = WayThere("Descriptions", "?tab=Who describes", tr("Choose who may describe what"))
    told = (
        tr("Describing is open: people mark moments and write a sentence about each.")
        if chosen.open
        else tr("Describing is closed: people mark moments and write a sentence about each.")
    )
    st.html(f"<p class='rr-waiting'>{told} {way.link}</p>")


STEP = SetUpStep(KEY, marked("Moments"), _standing, _show)
