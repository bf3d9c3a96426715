"""Start exams on the lead's page "Exam": the form, the preview, and closing an exam to make its answer key final."""

import time
from collections.abc import Sequence
from dataclasses import asdict

import streamlit as st

from annotate_app.language import marked, tr, translate_message
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
"""Arguments of an exam whose form widget has another name: argument to widget."""
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
    """Draw the form for a new exam or, once the lead has sent it, the preview of that exam."""
    options = st.session_state.get("exam_plan")
    if options is None:
        _form(project.campaign.exam)
        return
    try:
        if _FILE in options:
            preview = preview_exam_from_file(project, lead, **options, now=time.time())
        else:
            preview = preview_exam(project, lead, **options, now=time.time())
    except ReelRankError as refusal:
        st.error(plain(translate_message(refusal)))
        st.button(tr("Change"), key="exam-change", on_click=change)
        return
    st.header(tr("Preview: not started yet"), anchor=False)
    figures.draw_preview(preview)
    with st.form("exam-hold", border=preview.guesses is not None and bool(preview.guesses.weak)):
        if preview.guesses is not None:
            figures.reason(preview.guesses, "exam_although")
        with st.container(horizontal=True):
            st.form_submit_button(tr("Start exam"), type="primary", on_click=hold, args=(preview.digest,))
            st.form_submit_button(tr("Change"), on_click=change)
    look.refusal("exam_hold_problem")
    figures.clips(project, lead, preview)


def go_on() -> None:
    """Store the values of the form for a new exam in the session, so that the page previews this exam.

    The exam does not start yet.
    """
    state, upload = st.session_state, st.session_state.get("exam_key_file")
    state["exam_newcomers_only"] = bool(state["exam_newcomers"])
    if upload is not None:
        file = KeyFile(upload.getvalue(), upload.name)
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
    """Return from the preview to the form, with the values that the lead entered."""
    state = st.session_state
    plan = state.pop("exam_plan")
    plan.pop(_FILE, None)  # a browser does not let a page choose a file, so the lead chooses it again
    for name, value in plan.items():
        state[f"exam_{_FIELDS.get(name, name)}"] = value
    state["exam_newcomers"] = state["exam_newcomers_only"]


@look.lead_callback("exam_hold_problem")
def hold(project: Project, lead: Person, previewed: str) -> None:
    """Start the exam that the lead saw in the preview. `previewed` is the digest that identifies this preview."""
    state = st.session_state
    start = set_exam_from_file if _FILE in state["exam_plan"] else set_exam
    report = start(
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
    short = f" {translate_message(report.short)}" if report.short else ""
    message = tr(
        "Exam started: {clips} from {queries}.{short}{exempted}",
        clips=clips,
        queries=queries,
        short=short,
        exempted=exempted,
    )
    results.leave("exam", message)
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


def key_desk(project: Project, lead: Person, exam: Exam | None) -> bool:
    """Draw the grading player, in which the lead grades the exam's pairs to make its answer key.

    Draw nothing unless the lead has opened it. Return whether it was drawn.
    """
    if not st.session_state.get(_GIVING) or exam is None or exam.key_from is not ExamKey.OWN:
        return False
    st.button(
        tr("Back to the exam"),
        key="exam-giving-off",
        icon=":material/arrow_back:",
        on_click=_open_key_desk,
        args=(False,),
    )
    player(asdict(desk(project, lead, now=time.time())), lead, key="key_player")
    return True


def stage(exam: Exam, people: Sequence[ExamPerson], would_be: ExamKeyPreview | None) -> None:
    """Draw the progress and next steps of an exam that gets its answer key only when the lead closes it.

    Draw nothing for an exam of settled pairs, whose answer key is known from the start.

    Args:
        exam: the current exam.
        people: the annotators, each with their phase of the exam.
        would_be: the answer key that the exam would get if the lead closed it now; None if it cannot be closed.
    """
    if not exam.key_from.comes_later:
        return
    aside = tr(
        "Its {pairs} are reserved until the exam ends.",
        pairs=wording.count_of(exam.items, "pair"),
    )
    if exam.closed_at is not None:
        when = wording.when(exam.closed_at, st.context.timezone)
        st.info(tr("**Answer key fixed** {when}. {reserved}", when=when, reserved=aside), icon=":material/key:")
        return
    finished = [person.person.name for person in people if person.phase is ExamPhase.WAITING]
    middle = [person.person.name for person in people if person.phase in _MIDDLE]
    progress = tr("Handed in: {who}. ", who=_number_and_names(finished)) + (
        tr("Still working: {who}. ", who=_number_and_names(middle)) if middle else ""
    )
    st.info(
        tr("**The exam is open.** {progress}{reserved}", progress=progress, reserved=aside),
        icon=":material/hourglass_empty:",
    )
    if exam.key_from is ExamKey.OWN and would_be is None:
        st.button(tr("Answer it yourself"), key="exam-give", type="primary", on_click=_open_key_desk, args=(True,))
        st.caption(tr("Grade its pairs as annotators do. When you hand in, your grades become the answer key."))
        return
    if would_be is None:
        st.caption(tr("You can close the exam once two annotators have handed in."))
        return
    with st.expander(tr("Close the exam"), expanded=exam.key_from is ExamKey.OWN):
        if exam.key_from is ExamKey.OWN:
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


def to_use(exam: Exam | None) -> None:
    """Draw the button that turns the answers of an exam into judgements (grades that count).

    Also draw the result of pressing it. If `exam` is None, draw only this result.
    """
    look.outcome("exam_use")
    if exam is None:
        return
    st.header(tr("Answers as judgements"), anchor=False)
    st.markdown(
        tr(
            "The exam used {pairs} that were open. You can count the blind answers of finished first "
            "attempts as judgements, at most two per pair, drawn at random and spread evenly over "
            "annotators. Retakes and your own answers never count. Otherwise, annotators who have not "
            "answered these pairs grade them as usual after the exam.",
            pairs=wording.count_of(exam.items, "pair"),
        )
    )
    with st.popover(tr("Count the answers")):
        st.markdown(tr("You can do this once. It cannot be undone."))
        st.button(tr("Count them as judgements"), key="exam-use", type="primary", on_click=use)


@look.lead_callback("exam_close_problem")
def close(project: Project, lead: Person) -> None:
    """Close the exam. From then on its answer key cannot change any more."""
    although = st.session_state.get("exam_close_although", "")
    report = close_exam_round(project, lead, although=although, now=time.time())
    grades = ", ".join(f"{count} × {grade}" for grade, count in enumerate(report.grades) if count)
    finished = wording.count_of(report.finished, "person")
    message = tr("Answer key fixed: {grades}. {finished} finished so far.", grades=grades, finished=finished)
    results.leave("exam", message)


@look.lead_callback("exam_use_problem")
def use(project: Project, lead: Person) -> None:
    """Turn the annotators' answers to the exam into judgements, which count as grades of these pairs."""
    report = use_exam(project, lead, now=time.time())
    each = (
        f"{report.fewest}"
        if report.fewest == report.most
        else tr("{fewest} to {most}", fewest=report.fewest, most=report.most)
    )
    message = tr(
        "{answers} for {pairs} now count as judgements: {each} from each of {people}.",
        answers=wording.count_of(report.judgements, "answer"),
        pairs=wording.count_of(report.pairs, "pair"),
        each=each,
        people=wording.count_of(report.people, "person"),
    )
    results.leave("exam_use", message)


def _open_key_desk(begin: bool) -> None:
    st.session_state[_GIVING] = begin


def _number_and_names(names: Sequence[str]) -> str:
    return f"{len(names)} ({plain(', '.join(names))})" if names else tr("nobody")
