"""Step of Set up: the candidates of the queries, with what they come to in work before they are chosen."""

import time
from typing import Any

import streamlit as st

from annotate_app.plain import plain
from annotate_app.screens.steps.encoder import encoder_box
from annotate_app.screens.steps.step import SetUpStep, StepStanding
from annotate_app.server import candidates_work, long_work
from annotate_app.widgets import look, wording
from annotate_app.widgets.waiting import WayThere
from backend import api
from backend.campaign.nouns import Person

KEY = "candidates"
_KINDS = {"": "as its name tells", "sup": "with supervision", "unsup": "without supervision"}
_DTYPES = {"": "as the project has it", "fp32": "fp32", "bf16": "bf16"}


def choose() -> None:
    """Callback of the button: the worker begins."""
    state = st.session_state

    def act(project: api.Project, lead: Person) -> None:
        asked = candidates_work.CandidatesAsked(
            batch_size=state["candidates_batch"],
            probe=state["candidates_probe"],
            seed=state["candidates_seed"],
            encoder=state["candidates_encoder"],
            kind=state["candidates_kind"] or None,
            dtype=state["candidates_dtype"] or None,
        )
        long_work.begin(project, lead, KEY, "Choosing candidates", candidates_work.choose, asked, now=time.time())

    state["set_up_problem"] = look.as_lead(act)


def _standing(project: api.Project, lead: Person, counts: dict[str, Any]) -> StepStanding:
    pairs = sum(counts["pairs"].values())
    if pairs:
        return StepStanding(True, f"{wording.count_of(pairs, 'pair')} handed out")
    if not counts["queries"]["val"] + counts["queries"]["test"]:
        return StepStanding(False, "none yet", "Candidates are found for queries: these come first.")
    return StepStanding(False, "none yet")


def _show(project: api.Project, lead: Person, counts: dict[str, Any]) -> None:
    if any(counts["batches"].values()):
        way = WayThere("Queries", "", "Queries")
        st.html(
            "The candidate lists are stored, and the first batches are open; further ones open on the page "
            f"{way.link}. To choose others, take the queries back first, in their step."
        )
        st.caption(f"Candidates come from: {plain(', '.join(counts['sources']) or 'an earlier campaign')}")
        return
    st.markdown(
        "For every query the most similar moments are stored as its list, by the similarity of query and caption; the "
        "first batch of each list is handed out for grading at once."
    )
    _options(project, lead)
    _expected(project, lead)
    st.button("Choose candidates", key="choose_candidates", type="primary", on_click=choose)


def _options(project: api.Project, lead: Person) -> None:
    size, name = st.columns([1, 3])
    size.number_input(
        "Candidates a batch",
        1,
        40,
        project.campaign.batch_size,
        key="candidates_batch",
        help="20 in TVR-Ranking. Lists have 40: what is further down is handed out later, batch by batch.",
    )
    with name:
        encoder_box(project, lead, "candidates_encoder")
    with st.popover("More options"):
        st.number_input(
            "Queries to probe",
            0,
            key="candidates_probe",
            value=0,
            help="Of these, 60 of the top and 60 other moments are judged too, to see how deep judging has to go.",
        )
        st.number_input("Seed of that draw", 0, value=0, key="candidates_seed")
        st.selectbox("Kind of the encoder", list(_KINDS), format_func=_KINDS.__getitem__, key="candidates_kind")
        st.selectbox(
            "It computes in",
            list(_DTYPES),
            format_func=_DTYPES.__getitem__,
            key="candidates_dtype",
            help="bf16 is faster on many processors, and recorded as another encoder.",
        )


def _expected(project: api.Project, lead: Person) -> None:
    """What it comes to, before it is done."""
    state = st.session_state
    found = api.expected_work(
        project, lead, batch_size=state["candidates_batch"], probe=state.get("candidates_probe") or 0
    )
    about = "about" if found.measured else "at least"
    look.metrics(
        {
            "Queries": f"{found.queries:,}",
            "Pairs": f"{found.pairs:,}",
            "Grades": f"{found.grades:,}",
            "Hours of work": f"{about} {found.hours:,.1f}",
        }
    )
    if found.measured:
        st.caption(f"A grade takes {found.seconds:.1f} s here so far. Where people disagree, there are more.")
    else:
        st.caption(
            f"Nobody has graded here yet: this is every moment played once ({found.seconds:.1f} s on the average) by "
            "those who grade it. Grading takes longer, and where they disagree, more people grade."
        )


STEP = SetUpStep(KEY, "Candidates", _standing, _show)
