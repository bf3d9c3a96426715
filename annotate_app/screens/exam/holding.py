"""Start an exam, for leads: its form and preview, and closing an exam whose answer key comes later."""

import time
from collections.abc import Sequence
from dataclasses import asdict

import streamlit as st

from annotate_app.language import marked, retold, tr
from annotate_app.plain import plain
from annotate_app.screens.exam import figures
from annotate_app.shared import look, results, wording
from annotate_app.shared.player import player
from backend.campaign.desk.exchange import desk
from backend.campaign.nouns import Person
from backend.campaign.qualification.answers.key_file import KeyFile
from backend.campaign.qualification.exam.answer_key import KeyPreview as ExamKeyPreview
from backend.campaign.qualification.exam.answer_key import close_exam_round, use_exam
from backend.campaign.qualification.exam.model import Exam, ExamKey, ExamPhase
from backend.campaign.qualification.exam.results import ExamPerson
from backend.campaign.qualification.exam.setting import (
    preview_exam,
    preview_exam_from_file,
    set_exam,
    set_exam_from_file,
)
from backend.campaign.setup.project.folder import Project
from backend.campaign.setup.project.model import ExamSettings
from backend.core.errors import ReelRankError

_FIELDS = {"most_missed": "most"}
"""Maps arguments to names of the form's widgets, where these differ."""
KEYS = {
    ExamKey.SETTLED: marked("Relevance of settled pairs"),
    ExamKey.MEDIAN: marked("Median of all annotators who finish"),
    ExamKey.OWN: marked("My own grades"),
}
KEYS_EXPLAINED = marked(
    "**Relevance of settled pairs**: the answer key is known at once. The other two use the top "
    "candidates of open pairs, which are reserved until the exam ends. **Median**: everybody takes the "
    "exam, then you close it; the median of their grades is the answer key. **My own grades**: you "
    "grade the pairs blind on this page. **Answer key from a file**: a CSV file with the columns pair_id, "
    "grade and, if you like, explanation, of settled pairs."
)
_GIVING, _FILE = "exam_giving_key", "file"
_MIDDLE = (ExamPhase.ANSWERING, ExamPhase.ANSWERED)


def plan(project: Project, lead: Person) -> None:
    """Draw the form, or once it is filled in the preview of the exam."""
    asked = st.session_state.get("exam_plan")
    if asked is None:
        _form(project.campaign.exam)
        return
    try:
        if _FILE in asked:
            preview = preview_exam_from_file(project, lead, **asked, now=time.time())
        else:
            preview = preview_exam(project, lead, **asked, now=time.time())
    except ReelRankError as refusal:
        st.error(plain(retold(refusal)))
        st.button(tr("Change"), key="exam-change", on_click=change)
        return
    st.header(tr("Preview: not started yet"), anchor=False)
    figures.preview_summary(preview)
    with st.form("exam-hold", border=preview.guesses is not None and bool(preview.guesses.weak)):
        if preview.guesses is not None:
            figures.reason(preview.guesses, "exam_although")
        with st.container(horizontal=True):
            st.form_submit_button(tr("Start exam"), type="primary", on_click=hold, args=(preview.digest,))
            st.form_submit_button(tr("Change"), on_click=change)
    look.refusal("exam_hold_problem")
    figures.clips(project, lead, preview)


def go_on() -> None:
    """Show a preview of the exam without starting it, as the callback of the form."""
    state, sent = st.session_state, st.session_state.get("exam_key_file")
    state["exam_newcomers_only"] = bool(state["exam_newcomers"])
    if sent is not None:
        file = KeyFile(sent.getvalue(), sent.name)
        state["exam_plan"] = {_FILE: file, "most_missed": float(state["exam_most"])}
        return
    state["exam_plan"] = {
        "queries": int(state["exam_queries"]),
        "pairs": int(state["exam_pairs"]),
        "seed": int(state["exam_seed"]),
        "most_missed": float(state["exam_most"]),
        "spread": bool(state["exam_spread"]),
        "key": ExamKey(state["exam_key"]),
    }


def change() -> None:
    """Go back to the form with its values, as the callback of the button."""
    state = st.session_state
    plan = state.pop("exam_plan")
    plan.pop(_FILE, None)  # it has to be chosen again
    for name, value in plan.items():
        state[f"exam_{_FIELDS.get(name, name)}"] = value
    state["exam_newcomers"] = state["exam_newcomers_only"]


@look.lead_callback("exam_hold_problem")
def hold(project: Project, lead: Person, previewed: str) -> None:
    """Start the exam that was previewed, as the callback of the button."""
    state = st.session_state
    hold_it = set_exam_from_file if _FILE in state["exam_plan"] else set_exam
    report = hold_it(
        project,
        lead,
        **state["exam_plan"],
        newcomers_only=state["exam_newcomers_only"],
        although=state.get("exam_although", ""),
        previewed=previewed,
        now=time.time(),
    )
    clips, queries = wording.count_of(report.items, "pair"), wording.count_of(report.queries, "query")
    exempted = tr(" {people} exempted.", people=wording.count_of(report.exempted, "person")) if report.exempted else ""
    short = f" {retold(report.short)}" if report.short else ""
    text = tr(
        "Exam started: {clips} from {queries}.{short}{exempted}",
        clips=clips,
        queries=queries,
        short=short,
        exempted=exempted,
    )
    results.leave("exam", text)
    del state["exam_plan"]


def _form(usual: ExamSettings) -> None:
    first = {"queries": usual.queries, "pairs": usual.pairs, "most": usual.most_missed, "seed": 1, "spread": True}
    for field, value in first.items():
        st.session_state.setdefault(f"exam_{field}", value)
    with st.form("exam_form"):
        st.radio(
            tr("Answer key"),
            list(KEYS),
            format_func=lambda one: tr(KEYS[one]),
            key="exam_key",
            horizontal=True,
        )
        columns = st.columns(4)
        columns[0].number_input(tr("Queries"), 1, 200, key="exam_queries")
        columns[1].number_input(tr("Pairs per query, at most"), 1, 40, key="exam_pairs")
        columns[2].number_input(tr("Misses allowed, %"), 0.0, 100.0, step=1.0, format="%.1f", key="exam_most")
        columns[3].number_input(tr("Random seed"), 0, 2**31, key="exam_seed")
        st.checkbox(
            tr("Spread over the grades"),
            key="exam_spread",
            help=tr("Use all grades as evenly as the settled pairs allow, so that guessing one grade fails."),
        )
        st.file_uploader(tr("Answer key from a file (optional)"), type=["csv"], key="exam_key_file", max_upload_size=10)
        st.checkbox(tr("Only for newcomers: exempt annotators who have graded here"), key="exam_newcomers")
        st.form_submit_button(tr("Preview"), type="primary", on_click=go_on)
    st.caption(tr(KEYS_EXPLAINED))


def key_desk(project: Project, lead: Person, held: Exam | None) -> bool:
    """Draw the player at which the lead answers the exam, if they asked for it; return whether it is shown."""
    if not st.session_state.get(_GIVING) or held is None or held.key_from is not ExamKey.OWN:
        return False
    st.button(
        tr("Back to the exam"), key="exam-giving-off", icon=":material/arrow_back:", on_click=_give, args=(False,)
    )
    player(asdict(desk(project, lead, now=time.time())), lead, key="key_player")
    return True


def stage(held: Exam, people: Sequence[ExamPerson], would_be: ExamKeyPreview | None) -> None:
    """Draw the state of an exam whose answer key comes later, and the lead's options; nothing for settled pairs.

    `would_be` is the answer key that closing the exam would fix now.
    """
    if not held.key_from.comes_later:
        return
    aside = tr(
        "Its {pairs} are reserved until the exam ends.",
        pairs=wording.count_of(held.items, "pair"),
    )
    if held.closed_at is not None:
        when = wording.when(held.closed_at, st.context.timezone)
        st.info(tr("**Answer key fixed** {when}. {reserved}", when=when, reserved=aside), icon=":material/key:")
        return
    finished = [one.person.name for one in people if one.phase is ExamPhase.WAITING]
    middle = [one.person.name for one in people if one.phase in _MIDDLE]
    text = tr("Handed in: {who}. ", who=_who(finished)) + (
        tr("Still working: {who}. ", who=_who(middle)) if middle else ""
    )
    st.info(
        tr("**The exam is open.** {progress}{reserved}", progress=text, reserved=aside),
        icon=":material/hourglass_empty:",
    )
    if held.key_from is ExamKey.OWN and would_be is None:
        st.button(tr("Answer it yourself"), key="exam-give", type="primary", on_click=_give, args=(True,))
        st.caption(tr("Grade its pairs as annotators do. When you hand in, your grades become the answer key."))
        return
    if would_be is None:
        st.caption(tr("You can close the exam once two annotators have handed in."))
        return
    with st.expander(tr("Close the exam"), expanded=held.key_from is ExamKey.OWN):
        if held.key_from is ExamKey.OWN:
            st.markdown(tr("You handed in your answers. Fix them as the answer key now."))
        else:
            st.markdown(
                tr(
                    "The answer key becomes the median of the grades handed in so far. This cannot be undone. "
                    "Annotators who handed in see their results; the others continue against this key."
                )
            )
        figures.key_and_guesses(would_be.grades, would_be.guesses)
        with st.form("exam-close-form", border=False):
            figures.reason(would_be.guesses, "exam_close_although")
            st.form_submit_button(tr("Fix the answer key"), key="exam-close", type="primary", on_click=close)
        look.refusal("exam_close_problem")


def to_use(found: Exam | None) -> None:
    """Offer to count the answers of an exam as judgements, where that is allowed."""
    look.outcome("exam_use")
    if found is None:
        return
    st.header(tr("Answers as judgements"), anchor=False)
    st.markdown(
        tr(
            "The exam used {pairs} that were open. You can count the blind answers of finished first "
            "attempts as judgements, at most two per pair, drawn at random and spread evenly over "
            "annotators. Retakes and your own answers never count. Otherwise, annotators who have not "
            "answered these pairs grade them as usual after the exam.",
            pairs=wording.count_of(found.items, "pair"),
        )
    )
    with st.popover(tr("Count the answers")):
        st.markdown(tr("You can do this once. It cannot be undone."))
        st.button(tr("Count them as judgements"), key="exam-use", type="primary", on_click=use)


@look.lead_callback("exam_close_problem")
def close(project: Project, lead: Person) -> None:
    """Close the exam and fix its answer key, as the callback of the button."""
    although = st.session_state.get("exam_close_although", "")
    report = close_exam_round(project, lead, although=although, now=time.time())
    grades = ", ".join(f"{count} × {grade}" for grade, count in enumerate(report.grades) if count)
    finished = wording.count_of(report.finished, "person")
    text = tr("Answer key fixed: {grades}. {finished} finished so far.", grades=grades, finished=finished)
    results.leave("exam", text)


@look.lead_callback("exam_use_problem")
def use(project: Project, lead: Person) -> None:
    """Count the answers of the exam as judgements, as the callback of the button."""
    report = use_exam(project, lead, now=time.time())
    each = (
        f"{report.fewest}"
        if report.fewest == report.most
        else tr("{fewest} to {most}", fewest=report.fewest, most=report.most)
    )
    text = tr(
        "{answers} for {pairs} now count as judgements: {each} from each of {people}.",
        answers=wording.count_of(report.judgements, "answer"),
        pairs=wording.count_of(report.pairs, "pair"),
        each=each,
        people=wording.count_of(report.people, "person"),
    )
    results.leave("exam_use", text)


def _give(begin: bool) -> None:
    st.session_state[_GIVING] = begin


def _who(names: Sequence[str]) -> str:
    return f"{len(names)} ({plain(', '.join(names))})" if names else tr("nobody")
