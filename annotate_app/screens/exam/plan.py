"""Planning an exam, for leads: the form, what would be held, holding it."""

import time

import streamlit as st

from annotate_app.language import retold, tr
from annotate_app.plain import plain
from annotate_app.screens.exam import open_round as exam_round
from annotate_app.screens.exam import preview as exam_preview
from annotate_app.shared import look, wording
from backend.campaign.nouns import Person
from backend.campaign.qualification.exam.model import ExamKey
from backend.campaign.qualification.exam.setting import preview_exam, set_exam
from backend.campaign.setup.project.folder import Project
from backend.campaign.setup.project.model import ExamSettings
from backend.core.errors import ReelRankError

_FIELDS = {"most_missed": "most"}
"""What a widget of the form is called, where that is not the name of its argument."""


def plan(project: Project, lead: Person) -> None:
    """The form; once it is filled in, what would be held, until it is or the lead changes something."""
    asked = st.session_state.get("exam_plan")
    if asked is None:
        _form(project.campaign.exam)
        return
    try:
        preview = preview_exam(project, lead, **asked, now=time.time())
    except ReelRankError as refusal:
        st.error(plain(retold(refusal)))
        st.button(tr("Change the draw"), key="exam-change", on_click=change)
        return
    st.subheader(tr("Not held yet: look at it first"), anchor=False)
    exam_preview.told(preview)
    with st.form("exam-hold", border=preview.guesses is not None and bool(preview.guesses.weak)):
        if preview.guesses is not None:
            exam_preview.reason(preview.guesses, "exam_although")
        with st.container(horizontal=True):
            st.form_submit_button(tr("Hold this exam"), type="primary", on_click=hold, args=(preview.digest,))
            st.form_submit_button(tr("Change the draw"), on_click=change)
    exam_preview.clips(project, lead, preview)


def go_on() -> None:
    """Callback of the form: what would be drawn is shown, and nothing held yet."""
    state = st.session_state
    state["exam_plan"] = {
        "queries": int(state["exam_queries"]),
        "pairs": int(state["exam_pairs"]),
        "seed": int(state["exam_seed"]),
        "most_missed": float(state["exam_most"]),
        "spread": bool(state["exam_spread"]),
        "key": ExamKey(state["exam_key"]),
    }
    state["exam_newcomers_only"] = bool(state["exam_newcomers"])


def change() -> None:
    """Callback: back to the form, which stands as it was filled in."""
    state = st.session_state
    plan = state.pop("exam_plan")
    for name, value in plan.items():
        state[f"exam_{_FIELDS.get(name, name)}"] = value
    state["exam_newcomers"] = state["exam_newcomers_only"]


def hold(previewed: str) -> None:
    """Callback: hold the exam that was looked at."""
    state = st.session_state

    def act(project: Project, lead: Person) -> None:
        report = set_exam(
            project,
            lead,
            **state["exam_plan"],
            newcomers_only=state["exam_newcomers_only"],
            although=state.get("exam_although", ""),
            previewed=previewed,
            now=time.time(),
        )
        clips, queries = wording.count_of(report.items, "pair"), wording.count_of(report.queries, "query")
        exempted = (
            tr(" {persons} exempted.", persons=wording.count_of(report.exempted, "person")) if report.exempted else ""
        )
        short = f" {retold(report.short)}" if report.short else ""
        state["exam_done"] = tr(
            "The exam has {clips} of {queries}.{short}{exempted}",
            clips=clips,
            queries=queries,
            short=short,
            exempted=exempted,
        )
        del state["exam_plan"]

    state["exam_problem"] = look.as_lead(act)


def _form(usual: ExamSettings) -> None:
    first = {"queries": usual.queries, "pairs": usual.pairs, "most": usual.most_missed, "seed": 1, "spread": True}
    for field, value in first.items():
        st.session_state.setdefault(f"exam_{field}", value)
    with st.form("exam_form"):
        st.radio(
            tr("The key"),
            list(exam_round.KEYS),
            format_func=lambda one: tr(exam_round.KEYS[one]),
            key="exam_key",
            horizontal=True,
        )
        columns = st.columns(4)
        columns[0].number_input(tr("Queries"), 1, 200, key="exam_queries")
        columns[1].number_input(tr("Pairs of each, at most"), 1, 40, key="exam_pairs")
        columns[2].number_input(tr("Missed at most, %"), 0.0, 100.0, step=1.0, format="%.1f", key="exam_most")
        columns[3].number_input(tr("Seed of the draw"), 0, 2**31, key="exam_seed")
        st.checkbox(
            tr("Spread over the grades"),
            key="exam_spread",
            help=tr("As evenly as the settled pairs allow, so that no grade throughout is right too often."),
        )
        st.checkbox(tr("Only for newcomers: exempt everybody who has graded here"), key="exam_newcomers")
        st.form_submit_button(tr("Go on"), type="primary", on_click=go_on)
    st.caption(tr(exam_round.KEYS_EXPLAINED))
