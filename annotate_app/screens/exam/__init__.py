"""The lead's page "Exam": preview and start an exam, explain its items, read results, grant retakes.

Annotators must pass this qualification exam before they may grade. Its items are pairs (a query with a clip) for which
the right grade is known.
"""

import time
from html import escape

import streamlit as st

from annotate_app.language import marked, tr, translate_message
from annotate_app.plain import plain
from annotate_app.screens.exam import figures, holding
from annotate_app.shared import address_state, exam_results, look, results, wording
from annotate_app.shared.long_list import ListColumn, ListRow, long_list, matching, rows_of, searched
from annotate_app.shared.review_clip import review_clip
from backend.campaign.nouns import Person
from backend.campaign.qualification.exam import results as qualification_exam_results
from backend.campaign.qualification.exam.answer_key import exam_items, exam_to_use, explain_exam_item, preview_exam_key
from backend.campaign.qualification.exam.model import Exam, ExamItem, ExamPhase
from backend.campaign.qualification.exam.results import exempt_from_exam, grant_retake
from backend.campaign.qualification.exam.retaking import RetakeOutlook, retake_outlooks
from backend.campaign.qualification.exam.setting import end_exam, exam_although, exam_held
from backend.campaign.review.queries import query_pairs
from backend.campaign.setup.project.folder import Project
from backend.core.ids import AnnotatorId

PER_PAGE = 10
_ITEM = "item"
_TEXT_LENGTH = 400
_WIDTHS = (2.2, 5, 2.6)
_NO_RETAKE = (ExamPhase.FIRST, ExamPhase.ANSWERING, ExamPhase.ANSWERED, ExamPhase.WAITING)

_FOR_A_LEAD = (ExamPhase.FAILED, ExamPhase.WAITING)
"""Annotators in these phases need a lead, so the page lists them first."""


def page() -> None:
    """Draw the current exam, its annotators, results and items, and the form for another exam.

    Without an exam, draw only the form and the results of earlier exams.
    """
    project, lead, _ = look.lead_page("Exam")
    with st.container():  # always there: a message that comes or goes would reset the tabs
        look.outcome("exam")
    exam, campaign = exam_held(project, lead), project.campaign
    if holding.key_desk(project, lead, exam):
        return  # the lead is answering the exam to make its key, and uses the whole page
    if exam is None:
        st.markdown(
            tr(
                "This project has no exam: annotators grade at once. With an exam, they first grade pairs with "
                "an answer key. Annotators whose grades {differ} from it too often cannot start until you "
                "allow it.",
                differ=wording.differ(campaign.tolerance),
            )
        )
        holding.plan(project, lead)
        holding.to_use(exam_to_use(project, lead))
        _earlier(qualification_exam_results.exam_outcomes(project, lead))
        return
    _facts(exam, exam_although(project, lead))
    exam_people = qualification_exam_results.exam_results(project, lead)
    holding.stage(exam, exam_people, preview_exam_key(project, lead))
    if address_state.read("tab") == "Another exam, or none":  # an address from before the tab was renamed
        address_state.go(tab="Change or end")
    people, outcomes, items, another = address_state.tabs(
        [marked("Annotators"), marked("Results"), marked("Items"), marked("Change or end")]
    )
    with people:
        _people(project, lead, exam_people)
    with outcomes:
        figures.outcomes(qualification_exam_results.exam_outcomes(project, lead))
    with items:
        _items(project, lead, exam_people)
    with another:
        holding.to_use(exam_to_use(project, lead))
        st.header(tr("Another exam"), anchor=False)
        st.markdown(tr("Another exam replaces this one. Annotators who passed stay passed. Unfinished attempts end."))
        holding.plan(project, lead)
        st.button(
            tr("End exam"),
            key="exam-off",
            on_click=end,
            help=tr("Then all annotators may grade. Attempts stay on record."),
        )


@look.lead_callback("exam_problem")
def end(project: Project, lead: Person) -> None:
    """End the exam, so that all annotators may grade."""
    end_exam(project, lead, now=time.time())
    results.leave("exam", tr("Exam ended. All annotators may grade now."))


@look.lead_callback("exam_people_problem")
def retake(project: Project, lead: Person, annotator_id: AnnotatorId) -> None:
    """Let an annotator take the exam once more."""
    grant_retake(project, lead, annotator_id, now=time.time())
    results.leave("exam_people", tr("Retake allowed."))


@look.lead_callback("exam_people_problem")
def exempt(project: Project, lead: Person, annotator_id: AnnotatorId) -> None:
    """Let an annotator grade without passing the exam, for the reason in the form."""
    reason = st.session_state[f"exam-reason-{annotator_id}"]
    exempt_from_exam(project, lead, annotator_id, reason, now=time.time())
    results.leave("exam_people", tr("Exempted from the exam."))


@look.lead_callback("exam_item_problem")
def explain(project: Project, lead: Person, item_id: int) -> None:
    """Save the explanation that a lead wrote for an exam item."""
    explain_exam_item(project, lead, item_id, st.session_state[f"exam-text-{item_id}"], now=time.time())
    results.leave("exam_item", tr("Saved. Annotators who miss this pair read it after they hand in."))


def _earlier(outcomes: qualification_exam_results.ExamOutcomes) -> None:
    if outcomes.people:
        st.header(tr("Results so far"), anchor=False)
        figures.outcomes(outcomes)


def _facts(exam: Exam, reserve: tuple[list[str], str] | None) -> None:
    source = figures.source(exam.source)
    drawn = source if exam.seed is None else tr("{pairs}, seed {seed}", pairs=source, seed=exam.seed)
    lost = exam.items - exam.showable
    hidden = (
        tr(" {pairs} left out because their clips cannot be shown.", pairs=wording.count_of(lost, "pair"))
        if lost
        else ""
    )
    st.markdown(
        tr(
            "**{pairs} from {queries}** ({drawn}). At most {percent} of the grades may {differ}. Started by "
            "{lead}, {when}.{hidden}",
            pairs=wording.count_of(exam.items, "pair"),
            queries=wording.count_of(exam.queries, "query"),
            drawn=plain(drawn),
            percent=wording.percent(exam.most_missed),
            differ=wording.differ(exam.tolerance),
            lead=plain(exam.set_by or tr("the command line")),
            when=wording.when(exam.set_at, st.context.timezone),
            hidden=hidden,
        )
    )
    if reserve is not None:
        weak, although = reserve
        st.warning(
            tr(
                "This exam is weak: {weaknesses}. Reason for using it: {although}",
                weaknesses=plain("; ".join(map(translate_message, weak))),
                although=plain(although),
            ),
            icon=":material/rule:",
        )


def _people(project: Project, lead: Person, people: list[qualification_exam_results.ExamPerson]) -> None:
    if not people:
        st.info(tr("No annotators yet. Invite them on the page People."))
        return
    people = sorted(people, key=lambda person: person.phase not in _FOR_A_LEAD)
    listed = searched(people, lambda person: person.person.name, "person", name="people", page="people-page")
    look.outcome("exam_people")
    may_retake = [
        person.person.annotator_id for person in listed.rows if person.attempts and person.phase not in _NO_RETAKE
    ]
    outlooks = retake_outlooks(project, lead, may_retake, now=time.time()) if may_retake else {}
    for person in listed.rows:
        with st.container(key=f"exam-person-{person.person.annotator_id}"):
            _person(person, outlooks.get(person.person.annotator_id))
    listed.end()


def _person(exam_person: qualification_exam_results.ExamPerson, outlook: RetakeOutlook | None) -> None:
    person, phase = exam_person.person, exam_person.phase
    if phase is None:
        return
    name, words, action = st.columns(_WIDTHS, vertical_alignment="center")
    with name.container(horizontal=True, vertical_alignment="center"):
        st.text(person.name, width="content")
        exam_results.badge(phase)
    words.markdown(plain(_last_attempt(exam_person)))
    if outlook is not None and outlook.short:
        words.caption(plain(translate_message(outlook.short)))
    again, excuse = action.columns(2, gap="small")
    again.button(
        tr("Retake"),
        key=f"exam-retake-{person.annotator_id}",
        width="stretch",
        disabled=phase in _NO_RETAKE,
        help=tr(
            "They must pass the exam again before they grade: with other pairs of the same right grades, where enough "
            "are settled. This also ends an exemption."
        ),
        on_click=retake,
        args=(person.annotator_id,),
    )
    needless = phase in (ExamPhase.EXEMPT, ExamPhase.PASSED)
    box = excuse.popover(tr("Exempt"), width="stretch", disabled=needless)
    with box, st.form(f"exam-exempt-{person.annotator_id}", border=False):
        st.text_input(tr("Why may they grade without passing?"), key=f"exam-reason-{person.annotator_id}")
        st.form_submit_button(tr("Exempt"), on_click=exempt, args=(person.annotator_id,))
    for attempt in reversed(exam_person.attempts):
        exam_results.one_attempt(attempt)


def _last_attempt(exam_person: qualification_exam_results.ExamPerson) -> str:
    if exam_person.phase is ExamPhase.EXEMPT:
        return tr("Exempt: {reason}", reason=exam_person.reason)
    if not exam_person.attempts:
        return tr("No attempt yet.")
    last = exam_person.attempts[-1]
    if last.result is None:
        return tr(
            "Attempt {number}: {answered} of {items} answered.",
            number=last.number,
            answered=last.answered,
            items=last.items,
        )
    return tr("Attempt {number}: {exam_result}.", number=last.number, exam_result=wording.exam_result(last.result))


def _items(project: Project, lead: Person, people: list[qualification_exam_results.ExamPerson]) -> None:
    """Draw one exam item with its explanation, beside the list of all items."""
    items = {item.item_id: item for item in exam_items(project, lead)}
    missed = dict.fromkeys(items, 0)
    keys = {item.pair_key: item_id for item_id, item in items.items()}
    for missed_answer in (miss for person in people for attempt in person.attempts for miss in attempt.missed):
        if missed_answer.pair in keys:
            missed[keys[missed_answer.pair]] += 1
    order = sorted(items, key=lambda item_id: (-missed[item_id], item_id))  # most missed first: these need words most
    item_column, list_column = st.columns([3, 2], gap="medium")
    with list_column:
        matches = matching(order, lambda item_id: items[item_id].query, "item", clears=("page", _ITEM), over=PER_PAGE)
        item_in_address = address_state.read_number(_ITEM)
        chosen = item_in_address if item_in_address in items else next(iter(matches), None)
        _item_list([items[item_id] for item_id in matches], missed, chosen)
    if chosen is not None:
        with item_column:
            _item(project, lead, items[chosen])


def _item_list(items: list[ExamItem], missed: dict[int, int], chosen: int | None) -> None:
    long_list(
        tr("Items"),
        (ListColumn(tr("Pairs, most missed first")),),
        len(items),
        rows_of(items, lambda item: ListRow(item.item_id, (_row(item, missed[item.item_id]),))),
        opens=_ITEM,
        noun="item",
        nothing=tr("No item matches your search."),
        per_page=PER_PAGE,
        current=chosen,
    )


def _row(item: ExamItem, missed: int) -> str:
    right = "<span class='rr-grade rr-none'>?</span>" if item.right is None else look.grade_mark(item.right)
    remarks = tr(" · only in retakes") if item.alternate else ""
    remarks += "" if item.explanation else tr(" · not explained")
    return f"{escape(item.query)}<small class='rr-of-case'>{right} {tr('missed {n}×', n=missed)}{remarks}</small>"


def _item(project: Project, lead: Person, item: ExamItem) -> None:
    grade = tr("not fixed yet")
    if item.right is not None:
        grade = f"{item.right}, {project.campaign.scale.label(item.right).lower()}"
    look.text_heading(item.query)
    st.markdown(tr("Right grade: {grade}", grade=plain(grade)))
    pair = next((p for p in query_pairs(project, lead, item.query_id) if p.pair == item.pair_key), None)
    if pair is not None:
        review_clip(pair)
        st.caption(plain(wording.moment(pair)))
    with st.form(f"exam-explain-{item.item_id}", border=False):
        st.text_area(
            tr("Why is this right?"),
            item.explanation,
            key=f"exam-text-{item.item_id}",
            max_chars=_TEXT_LENGTH,
            placeholder=tr("One or two sentences for annotators who missed it"),
        )
        st.form_submit_button(tr("Save"), on_click=explain, args=(item.item_id,))
    look.outcome("exam_item")
