"""The round of an exam whose key comes later, for leads: who has finished, fixing the key, letting answers count."""

import time
from collections.abc import Sequence
from dataclasses import asdict

import streamlit as st

from annotate_app.language import marked, tr
from annotate_app.plain import plain
from annotate_app.screens.exam import preview as exam_preview
from annotate_app.shared import look, wording
from annotate_app.shared.player.player import player
from backend.campaign.desk.exchange import desk
from backend.campaign.nouns import Person
from backend.campaign.qualification.exam.answer_key import KeyPreview as ExamKeyPreview
from backend.campaign.qualification.exam.answer_key import close_exam_round, use_exam
from backend.campaign.qualification.exam.model import Exam, ExamKey, ExamPhase
from backend.campaign.qualification.exam.results import ExamPerson
from backend.campaign.setup.project.folder import Project

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
        exam_preview.figures(would_be.grades, would_be.guesses)
        with st.form("exam-close-form", border=False):
            exam_preview.reason(would_be.guesses, "exam_close_although")
            st.form_submit_button(tr("Fix the key"), key="exam-close", type="primary", on_click=close)


def to_use(found: Exam | None) -> None:
    """Offers to let the answers of an exam count, where they may."""
    if found is None:
        return
    st.subheader(tr("Answers as judgements"), anchor=False)
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


def close() -> None:
    """Callback: fixes the key of the round."""

    def act(project: Project, lead: Person) -> None:
        although = st.session_state.get("exam_close_although", "")
        report = close_exam_round(project, lead, although=although, now=time.time())
        grades = ", ".join(f"{count} × {grade}" for grade, count in enumerate(report.grades) if count)
        finished = wording.count_of(report.finished, "person")
        st.session_state["exam_done"] = tr(
            "The key is fixed: {grades}. Finished by {finished} so far.", grades=grades, finished=finished
        )

    st.session_state["exam_problem"] = look.as_lead(act)


def use() -> None:
    """Callback: lets the answers of the exam count."""

    def act(project: Project, lead: Person) -> None:
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

    st.session_state["exam_problem"] = look.as_lead(act)


def _give(begin: bool) -> None:
    st.session_state[_GIVING] = begin


def _who(names: Sequence[str]) -> str:
    return f"{len(names)} ({plain(', '.join(names))})" if names else tr("nobody")
