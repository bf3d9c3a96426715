"""Draw a person's results in the qualification exam, for leads and for the person: attempts, score, missed items."""

from collections.abc import Sequence
from html import escape
from typing import Literal

import streamlit as st

from annotate_app.language import current, marked, tr
from annotate_app.plain import plain
from annotate_app.session import auth
from annotate_app.shared import look, wording
from backend.campaign.nouns import Scale
from backend.campaign.qualification.exam.model import ExamPhase
from backend.campaign.qualification.exam.results import ExamAttempt, ExamPerson, Missed

_MINE = {
    ExamPhase.FIRST: marked("The exam comes before your first pair: open Grade to begin."),
    ExamPhase.ANSWERING: marked("You are in the middle of the exam: open Grade to go on."),
    ExamPhase.ANSWERED: marked("Every clip of the exam has a grade: open Grade to hand it in."),
    ExamPhase.WAITING: marked(
        "You handed the exam in. The right grades are not known yet; open Grade later for your result."
    ),
    ExamPhase.RESULT: marked("You handed the exam in: open Grade to go on."),
    ExamPhase.AGAIN: marked("Some of the clips that you missed wait to be looked at again: open Grade to go on."),
    ExamPhase.FAILED: marked("You did not pass. Your lead annotator sees it and decides how to go on."),
    ExamPhase.PASSED: marked("You passed."),
}
_COLOURS: dict[ExamPhase, Literal["green", "violet", "red", "orange"]] = {
    ExamPhase.PASSED: "green",
    ExamPhase.EXEMPT: "violet",
    ExamPhase.FAILED: "red",
}


def badge(phase: ExamPhase, said: str = "{standing}") -> None:
    """Draw a coloured badge that says how far a person is in the exam, such as `passed` or `not started`.

    `said` is the text of the badge; `{standing}` in it is replaced by these words.
    """
    st.badge(tr(said, standing=tr(wording.EXAM_WORDS[phase])), color=_COLOURS.get(phase, "orange"))


def own_results(exam: ExamPerson) -> None:
    """Draw the section about the qualification exam on the page "My work": the annotator's progress and attempts."""
    st.header(tr("Exam"), anchor=False)
    if exam.phase is None and not exam.attempts:
        st.markdown(tr("This project has no exam, so there is no result to show."))
        return
    if exam.phase is ExamPhase.EXEMPT:
        st.markdown(tr("A lead annotator exempted you: {reason}.", reason=plain(exam.reason)))
    elif exam.phase is not None:
        st.markdown(tr(_MINE[exam.phase]))
    for attempt in reversed(exam.attempts):
        if attempt.result is not None:
            one_attempt(attempt, opened=attempt is exam.attempts[-1], for_lead=False)


def one_attempt(attempt: ExamAttempt, *, opened: bool = False, for_lead: bool = True) -> None:
    """Draw an attempt that was handed in: score, misses by grade, missed items and, for leads, agreement with the key.

    If it is not handed in yet, draw nothing. `opened` says whether the section starts expanded.
    """
    if attempt.result is None:
        return
    passed = tr("passed") if attempt.result.passed else tr("failed")
    when = wording.when(attempt.handed_in_at, st.context.timezone)
    with st.expander(
        tr(
            "Attempt {number}, {when}: {passed}, {result}",
            number=attempt.number,
            when=when,
            passed=passed,
            result=wording.exam_result(attempt.result),
        ),
        opened,
    ):
        grading = auth.project().campaign.grading
        if for_lead:
            st.markdown(wording.kappas(attempt.result))
        st.html(by_grade(attempt.by_grade, (grading if for_lead else grading.in_language(current())).scale))
        if attempt.missed:
            st.html(missed_table(attempt.missed))


def by_grade(counts: Sequence[tuple[int, int]], scale: Scale) -> str:
    """Return an HTML table of how many exam items were missed for each right grade, the highest grade first.

    `counts` are tuples of (missed, asked), by grade from 0.
    """
    rows = [
        (
            look.grade_mark(grade),
            escape(scale.label(grade).lower()),
            tr("{missed} of {asked}", missed=missed, asked=asked) if asked else tr("not asked"),
        )
        for grade, (missed, asked) in reversed(list(enumerate(counts)))
    ]
    return look.table((tr("Right grade"), tr("Meaning"), tr("Missed")), rows)


def missed_table(missed: Sequence[Missed]) -> str:
    """Return an HTML table of missed exam items: query, given grade, right grade, grade on second try, explanation."""
    rows = [
        (
            escape(item.query),
            look.grade_mark(item.own),
            look.grade_mark(item.right),
            tr("not yet") if item.again is None else str(item.again),
            escape(item.explanation),
        )
        for item in missed
    ]
    return look.table((tr("Missed query"), tr("Given"), tr("Right"), tr("Again"), tr("Why")), rows)
