"""Holding an exam, for leads: the plan and its form, and the round of an exam whose key comes later."""

import time
from collections.abc import Sequence
from dataclasses import asdict

import streamlit as st

from annotate_app.language import marked, retold, tr
from annotate_app.plain import plain
from annotate_app.screens.exam import figures
from annotate_app.shared import look, wording
from annotate_app.shared.player import player
from backend.campaign.desk.exchange import desk
from backend.campaign.nouns import Person
from backend.campaign.qualification.exam.answer_key import KeyPreview as ExamKeyPreview
from backend.campaign.qualification.exam.answer_key import close_exam_round, use_exam
from backend.campaign.qualification.exam.model import Exam, ExamKey, ExamPhase
from backend.campaign.qualification.exam.results import ExamPerson
from backend.campaign.qualification.exam.setting import preview_exam, set_exam
from backend.campaign.setup.project.folder import Project
from backend.campaign.setup.project.model import ExamSettings
from backend.core.errors import ReelRankError

_FIELDS = {"most_missed": "most"}
"""What a widget of the form is called, where that is not the name of its argument."""
KEYS = {
    ExamKey.SETTLED: marked("Relevance of settled pairs"),
    ExamKey.MEDIAN: marked("Median of everybody who finishes"),
    ExamKey.OWN: marked("My own grades"),
}
KEYS_EXPLAINED = marked(
    "**Relevance of settled pairs**: the key is there at once. The other two ask the top "
    "candidates of open pairs, before anything is settled; nobody is handed these as work "
    "meanwhile. **Median**: everybody takes the exam, then you close the round, and the median "
    "of their grades is the key. **My own grades**: you grade the pairs on this page, as blind "
    "as everybody. A key from a file comes by command: reelrank exam set DIR --from KEY.csv."
)
_GIVING = "exam_giving_key"
_MIDDLE = (ExamPhase.ANSWERING, ExamPhase.ANSWERED)


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
    st.header(tr("Not held yet: look at it first"), anchor=False)
    figures.told(preview)
    with st.form("exam-hold", border=preview.guesses is not None and bool(preview.guesses.weak)):
        if preview.guesses is not None:
            figures.reason(preview.guesses, "exam_although")
        with st.container(horizontal=True):
            st.form_submit_button(tr("Hold this exam"), type="primary", on_click=hold, args=(preview.digest,))
            st.form_submit_button(tr("Change the draw"), on_click=change)
    figures.clips(project, lead, preview)


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


@look.lead_callback("exam_problem")
def hold(project: Project, lead: Person, previewed: str) -> None:
    """Callback: hold the exam that was looked at."""
    state = st.session_state
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


def _form(usual: ExamSettings) -> None:
    first = {"queries": usual.queries, "pairs": usual.pairs, "most": usual.most_missed, "seed": 1, "spread": True}
    for field, value in first.items():
        st.session_state.setdefault(f"exam_{field}", value)
    with st.form("exam_form"):
        st.radio(
            tr("The key"),
            list(KEYS),
            format_func=lambda one: tr(KEYS[one]),
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
    st.caption(tr(KEYS_EXPLAINED))


def key_desk(project: Project, lead: Person, held: Exam | None) -> bool:
    """The player at which the lead gives the key, if they asked for it; whether it is shown instead of the page."""
    if not st.session_state.get(_GIVING) or held is None or held.key_from is not ExamKey.OWN:
        return False
    st.button(
        tr("Back to the exam"), key="exam-giving-off", icon=":material/arrow_back:", on_click=_give, args=(False,)
    )
    player(asdict(desk(project, lead, now=time.time())), lead, key="key_player")
    return True


def stage(held: Exam, people: Sequence[ExamPerson], would_be: ExamKeyPreview | None) -> None:
    """Where the round is, and what the lead can do about it; nothing of an exam of settled pairs.

    `would_be` is the key that closing the round would fix now.
    """
    if not held.key_from.comes_later:
        return
    aside = tr(
        "Its {pairs} are set aside: nobody is handed them as work until it ends.",
        pairs=wording.count_of(held.items, "pair"),
    )
    if held.closed_at is not None:
        when = wording.when(held.closed_at, st.context.timezone)
        st.info(tr("**The key is fixed** since {when}. {aside}", when=when, aside=aside), icon=":material/key:")
        return
    finished = [one.person.name for one in people if one.phase is ExamPhase.WAITING]
    middle = [one.person.name for one in people if one.phase in _MIDDLE]
    told = tr("Handed in, waiting for the key: {who}. ", who=_who(finished)) + (
        tr("Still at it: {who}. ", who=_who(middle)) if middle else ""
    )
    st.info(tr("**The round is open.** {told}{aside}", told=told, aside=aside), icon=":material/hourglass_empty:")
    if held.key_from is ExamKey.OWN and would_be is None:
        st.button(tr("Give the key"), key="exam-give", type="primary", on_click=_give, args=(True,))
        st.caption(tr("You grade its pairs as everybody does. When you hand in, your grades are the key."))
        return
    if would_be is None:
        st.caption(tr("It can be closed as soon as two people have handed in."))
        return
    with st.expander(tr("Close the round"), expanded=held.key_from is ExamKey.OWN):
        if held.key_from is ExamKey.OWN:
            st.markdown(tr("The key was handed in, and waits for a reason."))
        else:
            st.markdown(
                tr(
                    "The key will be the median of what everybody gave who has handed in, for good. They are "
                    "told their results at once; who is still at it goes on against this key."
                )
            )
        figures.key_and_guesses(would_be.grades, would_be.guesses)
        with st.form("exam-close-form", border=False):
            figures.reason(would_be.guesses, "exam_close_although")
            st.form_submit_button(tr("Fix the key"), key="exam-close", type="primary", on_click=close)


def to_use(found: Exam | None) -> None:
    """Offers to let the answers of an exam count, where they may."""
    if found is None:
        return
    st.header(tr("Answers as judgements"), anchor=False)
    st.markdown(
        tr(
            "The exam of {pairs} was about open pairs. Of everybody the first attempt can count, if it "
            "is handed in by now: what they graded blind, never what they graded again, never your key. "
            "Each pair takes two at most, drawn by the seed of the exam and spread evenly over people. "
            "If you do not say so, the pairs are work like any others once the exam has ended, for "
            "people who have not answered them.",
            pairs=wording.count_of(found.items, "pair"),
        )
    )
    with st.popover(tr("Let the answers count")):
        st.markdown(tr("This can be done once, and cannot be taken back."))
        st.button(tr("Make them judgements"), key="exam-use", type="primary", on_click=use)


@look.lead_callback("exam_problem")
def close(project: Project, lead: Person) -> None:
    """Callback: fixes the key of the round."""
    although = st.session_state.get("exam_close_although", "")
    report = close_exam_round(project, lead, although=although, now=time.time())
    grades = ", ".join(f"{count} × {grade}" for grade, count in enumerate(report.grades) if count)
    finished = wording.count_of(report.finished, "person")
    st.session_state["exam_done"] = tr(
        "The key is fixed: {grades}. Finished by {finished} so far.", grades=grades, finished=finished
    )


@look.lead_callback("exam_problem")
def use(project: Project, lead: Person) -> None:
    """Callback: lets the answers of the exam count."""
    report = use_exam(project, lead, now=time.time())
    each = (
        f"{report.fewest}"
        if report.fewest == report.most
        else tr("{fewest} to {most}", fewest=report.fewest, most=report.most)
    )
    st.session_state["exam_done"] = tr(
        "{answers} about {pairs} now count as judgements: {each} of each of {persons}.",
        answers=wording.count_of(report.judgements, "answer"),
        pairs=wording.count_of(report.pairs, "pair"),
        each=each,
        persons=wording.count_of(report.people, "person"),
    )


def _give(begin: bool) -> None:
    st.session_state[_GIVING] = begin


def _who(names: Sequence[str]) -> str:
    return f"{len(names)} ({plain(', '.join(names))})" if names else tr("nobody")
