"""The lead's page "Exam": looking at one, holding it, its items with their explanations, how people did, retakes."""

import time
from html import escape

import streamlit as st

from annotate_app.language import marked, retold, tr
from annotate_app.plain import plain
from annotate_app.screens.exam import figures, holding
from annotate_app.shared import address_state, exam_results, look, wording
from annotate_app.shared.long_list import ListColumn, ListRow, long_list, matching, rows_of, searched
from annotate_app.shared.review_clip import review_clip
from backend.campaign.nouns import Person
from backend.campaign.qualification.exam import results as qualification_exam_results
from backend.campaign.qualification.exam.answer_key import exam_items, exam_to_use, explain_exam_item, preview_exam_key
from backend.campaign.qualification.exam.model import Exam, ExamItem, ExamPhase
from backend.campaign.qualification.exam.results import exempt_from_exam, grant_retake
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
"""Who waits for a lead stands first."""


def page() -> None:
    """What is held; then people, items, and the form for another exam. Without an exam, the form alone."""
    project, lead, _ = look.lead_page("Exam")
    look.outcome("exam")
    held, campaign = exam_held(project, lead), project.campaign
    if holding.key_desk(project, lead, held):
        return  # the lead is giving the key, and needs the page for it alone
    if held is None:
        st.markdown(
            tr(
                "This project has no exam: everybody may judge at once. With an exam, annotators first grade "
                "pairs that have a key. Whose grades {differ} from it too often does not get to the queue "
                "until you say so.",
                differ=wording.differ(campaign.tolerance),
            )
        )
        holding.plan(project, lead)
        holding.to_use(exam_to_use(project, lead))
        _earlier(qualification_exam_results.exam_outcomes(project, lead))
        return
    _facts(held, exam_although(project, lead))
    standing = qualification_exam_results.exam_results(project, lead)
    holding.stage(held, standing, preview_exam_key(project, lead))
    people, results, items, another = address_state.tabs(
        [marked("People"), marked("Results"), marked("Items"), marked("Another exam, or none")]
    )
    with people:
        _people(standing)
    with results:
        figures.outcomes(qualification_exam_results.exam_outcomes(project, lead))
    with items:
        _items(project, lead, standing)
    with another:
        holding.to_use(exam_to_use(project, lead))
        st.header(tr("Another exam"), anchor=False)
        st.markdown(tr("Another exam takes the place of this one. Who passed before has passed; open attempts end."))
        holding.plan(project, lead)
        st.button(
            tr("Hold no exam"),
            key="exam-off",
            on_click=end,
            help=tr("Everybody may judge; attempts stay in the record."),
        )


@look.lead_callback("exam_problem")
def end(project: Project, lead: Person) -> None:
    """Callback of the button that ends the exam."""
    end_exam(project, lead, now=time.time())


@look.lead_callback("exam_problem")
def retake(project: Project, lead: Person, annotator_id: AnnotatorId) -> None:
    """Callback: somebody may take the exam once more."""
    grant_retake(project, lead, annotator_id, now=time.time())


@look.lead_callback("exam_problem")
def exempt(project: Project, lead: Person, annotator_id: AnnotatorId) -> None:
    """Callback: somebody may judge without having passed."""
    reason = st.session_state[f"exam-reason-{annotator_id}"]
    exempt_from_exam(project, lead, annotator_id, reason, now=time.time())


@look.lead_callback("exam_problem")
def explain(project: Project, lead: Person, item_id: int) -> None:
    """Callback: the explanation of an item."""
    explain_exam_item(project, lead, item_id, st.session_state[f"exam-text-{item_id}"], now=time.time())
    st.toast(tr("Saved. It is shown to who missed the pair, after they handed in."), icon=":material/school:")


def _earlier(found: qualification_exam_results.ExamOutcomes) -> None:
    """What people did in exams that are not held any more."""
    if found.people:
        st.header(tr("Results so far"), anchor=False)
        figures.outcomes(found)


def _facts(held: Exam, reserve: tuple[list[str], str] | None) -> None:
    source = figures.source(held.source)
    drawn = source if held.seed is None else tr("{source}, seed {seed}", source=source, seed=held.seed)
    lost = held.items - held.showable
    hidden = (
        tr(" {pairs} left out because the clip cannot be shown.", pairs=wording.count_of(lost, "pair")) if lost else ""
    )
    st.markdown(
        tr(
            "**{pairs} of {querys}**, from {drawn}; at most {percent} of the grades may {differ}. Set by "
            "{value} on {when}.{hidden}",
            pairs=wording.count_of(held.items, "pair"),
            querys=wording.count_of(held.queries, "query"),
            drawn=plain(drawn),
            percent=wording.percent(held.most_missed),
            differ=wording.differ(held.tolerance),
            value=plain(held.set_by or tr("the command line")),
            when=wording.when(held.set_at, st.context.timezone),
            hidden=hidden,
        )
    )
    if reserve is not None:
        weak, although = reserve
        st.warning(
            tr(
                "It tells little about who takes it: {join}. Held all the same: {although}",
                join=plain("; ".join(map(retold, weak))),
                although=plain(although),
            ),
            icon=":material/rule:",
        )


def _people(people: list[qualification_exam_results.ExamPerson]) -> None:
    if not people:
        st.info(tr("There are no annotators yet."))
        return
    people = sorted(people, key=lambda one: one.phase not in _FOR_A_LEAD)
    listed = searched(people, lambda one: one.person.name, "person", name="people", page="people-page")
    for one in listed.rows:
        with st.container(key=f"exam-person-{one.person.annotator_id}"):
            _person(one)
    listed.end()


def _person(one: qualification_exam_results.ExamPerson) -> None:
    person, phase = one.person, one.phase
    if phase is None:
        return
    name, words, action = st.columns(_WIDTHS, vertical_alignment="center")
    with name.container(horizontal=True, vertical_alignment="center"):
        st.text(person.name, width="content")
        exam_results.badge(phase)
    words.markdown(plain(_told(one)))
    again, excuse = action.columns(2, gap="small")
    again.button(
        tr("Retake"),
        key=f"exam-retake-{person.annotator_id}",
        width="stretch",
        disabled=phase in _NO_RETAKE,
        help=tr("They take the exam once more before they may judge; it also ends an exemption."),
        on_click=retake,
        args=(person.annotator_id,),
    )
    needless = phase in (ExamPhase.EXEMPT, ExamPhase.PASSED)
    box = excuse.popover(tr("Exempt"), width="stretch", disabled=needless)
    with box, st.form(f"exam-exempt-{person.annotator_id}", border=False):
        st.text_input(tr("Why may they judge without passing?"), key=f"exam-reason-{person.annotator_id}")
        st.form_submit_button(tr("Exempt"), on_click=exempt, args=(person.annotator_id,))
    for attempt in reversed(one.attempts):
        exam_results.one_attempt(attempt)


def _told(one: qualification_exam_results.ExamPerson) -> str:
    if one.phase is ExamPhase.EXEMPT:
        return tr("Exempt: {reason}", reason=one.reason)
    if not one.attempts:
        return tr("No attempt yet.")
    last = one.attempts[-1]
    if last.result is None:
        return tr(
            "Attempt {number}: {answered} of {items} answered.",
            number=last.number,
            answered=last.answered,
            items=last.items,
        )
    return tr("Attempt {number}: {exam_result}.", number=last.number, exam_result=wording.exam_result(last.result))


def _items(project: Project, lead: Person, people: list[qualification_exam_results.ExamPerson]) -> None:
    """One item with its explanation, and the list that it is from beside it."""
    items = {item.item_id: item for item in exam_items(project, lead)}
    missed = dict.fromkeys(items, 0)
    keys = {item.pair_key: item_id for item_id, item in items.items()}
    for one in (miss for person in people for attempt in person.attempts for miss in attempt.missed):
        if one.pair in keys:
            missed[keys[one.pair]] += 1
    order = sorted(items, key=lambda item_id: (-missed[item_id], item_id))  # what is missed most wants words first
    shown, beside = st.columns([3, 2], gap="medium")
    with beside:
        found = matching(order, lambda item_id: items[item_id].query, "item", clears=("page", _ITEM), over=PER_PAGE)
        asked = address_state.read_number(_ITEM)
        chosen = asked if asked in items else next(iter(found), None)
        _item_list([items[item_id] for item_id in found], missed, chosen)
    if chosen is not None:
        with shown:
            _item(project, lead, items[chosen])


def _item_list(items: list[ExamItem], missed: dict[int, int], chosen: int | None) -> None:
    long_list(
        tr("Items"),
        (ListColumn(tr("Pairs, what is missed most first")),),
        len(items),
        rows_of(items, lambda item: ListRow(item.item_id, (_row(item, missed[item.item_id]),))),
        opens=_ITEM,
        noun="item",
        nothing=tr("No item has these words."),
        per_page=PER_PAGE,
        current=chosen,
    )


def _row(item: ExamItem, missed: int) -> str:
    right = "<span class='rr-grade rr-none'>?</span>" if item.right is None else look.grade_mark(item.right)
    told = "" if item.explanation else tr(" · not explained")
    return f"{escape(item.query)}<small class='rr-of-case'>{right} {tr('missed {n}×', n=missed)}{told}</small>"


def _item(project: Project, lead: Person, item: ExamItem) -> None:
    told = tr("not known yet")
    if item.right is not None:
        told = f"{item.right}, {project.campaign.scale.label(item.right).lower()}"
    st.markdown(tr("**{query}**  \nRight grade: {told}", query=plain(item.query), told=plain(told)))
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
            placeholder=tr("A sentence or two for annotators who missed it"),
        )
        st.form_submit_button(tr("Save"), on_click=explain, args=(item.item_id,))
