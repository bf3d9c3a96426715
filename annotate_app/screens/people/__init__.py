"""The lead's page "People": users and their work, assignments, quality flags, pauses and one-time links."""

import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from html import escape

import streamlit as st

from annotate_app.language import marked, tr
from annotate_app.plain import plain
from annotate_app.screens.people import flags as person_flags
from annotate_app.screens.people import removing, tokens
from annotate_app.shared import address_state, exam_results, inviting, look, wording
from annotate_app.shared.long_list import choose_queries, chosen_queries, clear_queries, searched
from backend.campaign.judging import staffing
from backend.campaign.judging.model import Assignment
from backend.campaign.monitoring.explore.tables import explored_version
from backend.campaign.monitoring.quality import flags as quality_flags
from backend.campaign.monitoring.quality.model import PersonFlags
from backend.campaign.nouns import Pause, Person, PersonReview, Role, Split
from backend.campaign.qualification.exam import results
from backend.campaign.qualification.exam.model import ExamPhase
from backend.campaign.qualification.exam.setting import exam_held
from backend.campaign.setup.people.accounts import list_people, new_invitation
from backend.campaign.setup.project.folder import Project
from backend.core.ids import AnnotatorId

_WIDTHS = (2.3, 4.4, 5.7)
_FACTS = (marked("Judgements"), marked("Today"), marked("Median active"), marked("Skips"), marked("Last active"))
_SPLITS: Mapping[Split | None, str] = {
    None: marked("Both splits"),
    Split.VAL: marked("Validation"),
    Split.TEST: marked("Test"),
}
_QUERIES_OF = {
    Split.VAL: marked("the validation queries"),
    Split.TEST: marked("the test queries"),
}
_ASSIGNMENTS, _FLAGS = "assignments", "flags"
_PARTS = {"people": marked("People"), _ASSIGNMENTS: marked("Assignments"), _FLAGS: marked("Quality flags")}
_OF_A_PART = ("q", "page", "assigned", "assigned-page")
_NAME = "assign"
_SEEN = "assign_seen"
"""Session key of each annotator's assignment number as the page last showed it."""
_FIELDS = ("assign_who", "assign_split", "assign_part", "assign_parts", "assign_day", "assign_all")


def page() -> None:
    """Draw the part that the lead chooses: people, assignments or quality flags.

    If the page's URL names an annotator, draw their flags in detail instead.
    """
    project, lead, _ = look.lead_page("People")
    if person_flags.annotator_in_address() is not None:
        person_flags.show(project, lead)
        return
    look.outcome("people")
    everybody = list_people(project, lead, now=time.time())
    reviews = [review for review in everybody if not review.is_archived]
    parts = {part: tr(title) for part, title in _PARTS.items()}
    part = address_state.choice(tr("Part"), "part", parts, clears=_OF_A_PART, label_visibility="collapsed")
    if part == _ASSIGNMENTS:
        assignments(project, lead, reviews)
    elif part == _FLAGS:
        person_flags.overview(_flags(project, lead, str(project.folder), explored_version(project, lead)))
    else:
        _people(project, lead, reviews)
        removing.archive([review for review in everybody if review.is_archived])
        tokens.draw(project, lead)


def _people(project: Project, lead: Person, reviews: list[PersonReview]) -> None:
    """Draw a row for each person, with buttons such as "Suspend" and "New link", and the form that adds a person."""
    reviews.sort(key=lambda review: review.pause is None or review.person.suspended)  # paused people need a lead
    listed = searched(reviews, lambda review: review.person.name, "person")
    # On a narrow screen every row carries its labels instead; see look.css.
    with st.container(key="people-head"):
        _, labels, _ = st.columns(_WIDTHS)
        cells = "".join(f"<span>{tr(label)}</span>" for label in _FACTS)
        labels.html(f"<div class='rr-facts rr-facts-head' aria-hidden='true'>{cells}</div>")
    examined = results.exam_results(project, lead) if exam_held(project, lead) else []
    phases = {exam_person.person.annotator_id: exam_person.phase for exam_person in examined}
    version = explored_version(project, lead)
    flags = {
        exam_person.annotator_id: exam_person for exam_person in _flags(project, lead, str(project.folder), version)
    }
    for review in listed.rows:
        who = review.person.annotator_id
        _row(review, flags.get(who), lead, phases.get(who))
    listed.end()
    st.header(tr("Add a person"), anchor=False)
    inviting.links(inviting.FORM)  # above the form, where it was a moment ago: so they are in view
    inviting.form()


def renew(annotator_id: AnnotatorId) -> None:
    """Make a new one-time link for a person and show it to the lead. The person's older links become invalid."""

    def act(project: Project, lead: Person) -> None:
        person, invitation = new_invitation(project, lead, annotator_id, now=time.time())
        inviting.show_link(lead, str(annotator_id), person.name, invitation)

    _run_action(annotator_id, act)


def suspend(annotator_id: AnnotatorId, suspended: bool) -> None:
    """Suspend a person, or end their suspension."""
    _run_action(
        annotator_id, partial(staffing.suspend, annotator_id=annotator_id, suspended=suspended, now=time.time())
    )


def pause(annotator_id: AnnotatorId) -> None:
    """Pause an annotator for the reason in the form, so that they get no more pairs."""
    key = f"pause-reason-{annotator_id}"
    reason = st.session_state[key]
    if _run_action(
        annotator_id, partial(staffing.pause_person, annotator_id=annotator_id, reason=reason, now=time.time())
    ):
        st.session_state[key] = ""


def go_on(annotator_id: AnnotatorId) -> None:
    """End an annotator's pause, so that they get pairs again."""
    _run_action(annotator_id, partial(staffing.unpause_person, annotator_id=annotator_id, now=time.time()))


def _run_action(annotator_id: AnnotatorId, action: Callable[[Project, Person], object]) -> bool:
    """Run an action on a person and return whether it succeeded. If not, their row shows why."""
    return look.done_as_lead(action, f"person-{annotator_id}_problem")


@st.cache_resource(max_entries=4, show_spinner=False)
def _flags(_project: Project, _lead: Person, folder: str, version: str) -> list[PersonFlags]:
    """Return everybody's quality flags, cached until anything changes in the project, such as a new grade.

    They are cached because computing them reads every grade.
    """
    return quality_flags.flags(_project, _lead)


def _row(review: PersonReview, flags: PersonFlags | None, me: Person, exam: ExamPhase | None) -> None:
    person = review.person
    with st.container(key=f"person-{person.annotator_id}"):
        name, numbers, action = st.columns(_WIDTHS, vertical_alignment="center")
        with name.container(horizontal=True, vertical_alignment="center"):
            if flags is not None and (flags.grades or flags.raised):
                person_flags.button(flags)
            else:
                st.text(person.name, width="content")
            if person.role is Role.LEAD:
                st.badge(tr("lead"), color="violet")
            if person.annotator_id == me.annotator_id:
                st.badge(tr("you"), color="gray")
            if person.suspended:
                st.badge(tr("suspended"), color="red")
            elif not review.has_password and not review.judgements:
                st.badge(tr("invited"), color="orange", help=tr("Has not chosen a password yet"))
            if review.pause is not None:
                st.badge(tr("paused"), color="orange", help=plain(pause_text(review.pause, st.context.timezone)))
            if exam is not None:
                exam_results.badge(exam, marked("exam: {standing}"))
        cells = "".join(
            f"<div><dt>{tr(label)}</dt><dd>{escape(value)}</dd></div>"
            for label, value in facts(review, flags, st.context.timezone).items()
        )
        if cells:
            numbers.html(f"<dl class='rr-facts'>{cells}</dl>")
        if flags is not None and flags.raised:
            with numbers:
                person_flags.draw_flags(flags)
        is_me = person.annotator_id == me.annotator_id
        link, rest, status, gone = action.columns(4, gap="xsmall")
        link.button(
            tr("New link"),
            key=f"link-{person.annotator_id}",
            width="stretch",
            disabled=is_me or person.suspended,
            help=tr("To change your own password, click your name above.")
            if is_me
            else tr("A one-time link to choose a new password. Use it if they forgot the password or lost the link."),
            on_click=renew,
            args=(person.annotator_id,),
        )
        if person.role is Role.ANNOTATOR:
            with rest:
                _pausing(review)
        status.button(
            tr("Reinstate") if person.suspended else tr("Suspend"),
            key=f"suspend-{person.annotator_id}",
            width="stretch",
            disabled=is_me,
            help=tr("You cannot suspend yourself.") if is_me else None,
            on_click=suspend,
            args=(person.annotator_id, not person.suspended),
        )
        with gone:
            removing.button(person, is_me)
        look.refusal(f"person-{person.annotator_id}_problem")
        inviting.links(str(person.annotator_id))


def _pausing(review: PersonReview) -> None:
    """Draw the form that pauses an annotator, or the button that ends their pause."""
    who = review.person.annotator_id
    if review.pause is not None:
        st.button(tr("Resume"), key=f"go-on-{who}", width="stretch", on_click=go_on, args=(who,))
        return
    with st.popover(tr("Pause"), width="stretch"), st.form(f"pause-{who}", border=False):
        st.caption(tr("They get no pairs until you press Resume. They can still sign in, and their grades stay."))
        st.text_input(
            tr("Why is {name} paused?", name=plain(review.person.name)),
            key=f"pause-reason-{who}",
            max_chars=400,
            placeholder=tr("Only leads see this"),
        )
        st.form_submit_button(tr("Pause"), on_click=pause, args=(who,))


def pause_text(pause: Pause, timezone: str | None) -> str:
    """Return a sentence that says since when a person is paused, by whom and why."""
    return tr(
        "Since {when}, by {lead}: {reason}",
        when=wording.when(pause.at, timezone),
        lead=pause.by or tr("a rule"),
        reason=pause.reason,
    )


def facts(review: PersonReview, flags: PersonFlags | None, timezone: str | None) -> dict[str, str]:
    """Return an annotator's figures as texts by column: judgements in all and today, median time, skips, last activity.

    The result is empty for leads, who do not grade.
    """
    if review.person.role is Role.LEAD:
        return {}
    median_s = flags.median_s if flags else None
    values = (
        f"{review.judgements:,}",
        f"{review.today:,}",
        tr("not measured") if median_s is None else f"{median_s:.1f} s",
        f"{review.skips:,}",
        wording.when(review.last_at, timezone),
    )
    return dict(zip(_FACTS, values, strict=True))


def assignments(project: Project, lead: Person, people: Sequence[PersonReview]) -> None:
    """Draw the current assignments, each with a button that removes it, and the form that assigns work."""
    annotators = {
        review.person.annotator_id: review.person.name
        for review in people
        if review.person.role is Role.ANNOTATOR and not review.person.suspended
    }
    if not annotators:
        st.info(tr("No annotators yet. Add them under “People”."))
        return
    st.caption(tr("Optional. Without an assignment, annotators grade the pairs nearest to completion."))
    look.outcome("assign")
    names = {review.person.annotator_id: review.person.name for review in people}
    standing = staffing.current_assignments(project, lead)
    st.session_state[_SEEN] = {who: given.assignment_id for who, given in standing.items()}
    given_to = sorted(standing.items(), key=lambda review: names.get(review[0], ""))
    listed = searched(
        given_to, lambda review: names.get(review[0], ""), "assignment", name="assigned", page="assigned-page"
    )
    for who, given in listed.rows:
        with st.container(horizontal=True, vertical_alignment="center", key=f"assigned-{who}"):
            sentences = f"**{plain(names.get(who, ''))}**: {plain(words(given))}"
            st.markdown(sentences, width="stretch", help=plain(since(given, st.context.timezone)))
            st.button(
                tr("Remove assignment"), key=f"unassign-{who}", on_click=take_back, args=(who, names.get(who, ""))
            )
    if given_to:
        listed.end()
    with st.expander(tr("Assign work"), key="assign", on_change="rerun") as form:
        if form.open:
            _form(project, lead, annotators)


def words(assignment: Assignment) -> str:
    """Return an assignment in words, such as `the test queries, part 1 of 2; at most 40 grades a day`.

    >>> words(Assignment(Split.TEST, 1, 2, a_day=40)), words(Assignment(in_all=500))
    ('the test queries, part 1 of 2; at most 40 grades a day', 'at most 500 grades in all')
    """
    selections = []
    if assignment.split is not None:
        selections.append(tr(_QUERIES_OF[assignment.split]))
    if assignment.parts is not None:
        selections.append(
            tr("part {part} of {parts}", part=assignment.part, parts=assignment.parts)
            + ("" if selections else tr(" of the queries"))
        )
    if assignment.queries is not None:
        selections.append(tr("{queries} chosen by name", queries=wording.count_of(len(assignment.queries), "query")))
    quotas = [
        tr("{grades} {when}", grades=wording.count_of(count, "grade"), when=when)
        for count, when in ((assignment.a_day, tr("a day")), (assignment.in_all, tr("in all")))
        if count is not None
    ]
    most = [tr("at most {quotas}", quotas=tr(" and ").join(quotas))] if quotas else []
    return "; ".join([*([", ".join(selections)] if selections else []), *most])


def since(assignment: Assignment, timezone: str | None) -> str:
    """Return a sentence that says which lead gave an annotator this assignment, and when."""
    return tr("Assigned by {by}, {when}.", by=assignment.by, when=wording.when(assignment.at, timezone))


@look.lead_callback("assign_problem")
def assign(project: Project, lead: Person) -> None:
    """Give the assignment entered in the form to all annotators chosen there, then empty the form."""
    state = st.session_state
    who: list[AnnotatorId] = state["assign_who"]
    part, parts = state["assign_part"], state["assign_parts"]
    queries = chosen_queries(_NAME)
    assignment = Assignment(
        split=state["assign_split"],
        part=part,
        parts=parts,
        queries=tuple(queries) if queries else None,
        a_day=state["assign_day"],
        in_all=state["assign_all"],
    )
    count = staffing.assign(project, lead, who, assignment, seen=state.get(_SEEN, {}), now=time.time())
    state["assign_done"] = tr(
        "Assigned: {words}. That is {queries} with open batches.",
        words=words(assignment),
        queries=wording.count_of(count, "query"),
    )
    for field in _FIELDS:
        state.pop(field, None)
    clear_queries(_NAME)


@look.lead_callback("assign_problem")
def take_back(project: Project, lead: Person, annotator_id: AnnotatorId, name: str) -> None:
    """Remove an annotator's assignment, so that they may grade any pair again."""
    seen = st.session_state.get(_SEEN, {}).get(annotator_id)
    staffing.unassign(project, lead, annotator_id, seen=seen, now=time.time())
    st.session_state["assign_done"] = tr("Assignment of {name} removed.", name=name)


def _form(project: Project, lead: Person, annotators: Mapping[AnnotatorId, str]) -> None:
    st.multiselect(
        tr("People"),
        list(annotators),
        format_func=lambda annotator: annotators[annotator],
        key="assign_who",
        placeholder=tr("Names"),
    )
    split, part, parts = st.columns([2, 1, 1])
    split.selectbox(
        tr("Queries"), list(_SPLITS), format_func=lambda annotator: tr(_SPLITS[annotator]), key="assign_split"
    )
    part.number_input(
        tr("Part"),
        1,
        value=None,
        key="assign_part",
        placeholder=tr("all"),
        help=tr("Queries are divided in turn: part 1 of 2 gets every second query."),
    )
    parts.number_input(tr("of how many parts"), 2, value=None, key="assign_parts", placeholder="1")
    search, chosen = st.columns(2)
    labels = (tr("Search queries"), tr("Chosen queries"))
    choose_queries(project, lead, _NAME, labels, (search, chosen), none=tr("None: all of the chosen split"))
    day, whole, button = st.columns([1, 1, 2], vertical_alignment="bottom")
    day.number_input(tr("Grades a day"), 1, value=None, key="assign_day", placeholder=tr("no limit"))
    whole.number_input(tr("Grades in all"), 1, value=None, key="assign_all", placeholder=tr("no limit"))
    button.button(tr("Assign"), type="primary", key="assign_button", on_click=assign, width="stretch")
