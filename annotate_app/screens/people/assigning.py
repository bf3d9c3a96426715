"""Assignments on the page People: who grades what, and how much of it at most; by choice."""

import time
from collections.abc import Mapping, Sequence

import streamlit as st

from annotate_app.language import marked, tr
from annotate_app.plain import plain
from annotate_app.shared import look, wording
from annotate_app.shared import search as shared_search
from annotate_app.shared.search import searched
from backend.campaign.judging import staffing
from backend.campaign.judging.model import Assignment
from backend.campaign.nouns import Person, PersonReview, Role, Split
from backend.campaign.setup.project.folder import Project
from backend.core.ids import AnnotatorId

_SPLITS: Mapping[Split | None, str] = {
    None: marked("Both splits"),
    Split.VAL: marked("Validation"),
    Split.TEST: marked("Test"),
}
_QUERIES_OF = {
    Split.VAL: marked("the validation queries"),
    Split.TEST: marked("the test queries"),
}
_NAME = "assign"
_SEEN = "assign_seen"
"""In the session: the number of everybody's assignment as the page last showed it."""
_FIELDS = ("assign_who", "assign_split", "assign_part", "assign_parts", "assign_day", "assign_all")


def assignments(project: Project, lead: Person, people: Sequence[PersonReview]) -> None:
    """The assignments that stand, each with the way to take it back, and the form that gives one."""
    annotators = {
        one.person.annotator_id: one.person.name
        for one in people
        if one.person.role is Role.ANNOTATOR and not one.person.suspended
    }
    if not annotators:
        return
    st.subheader(tr("Assignments"), anchor=False)
    st.caption(tr("By choice: whoever has none grades whatever is nearest to completion. No grade is refused for one."))
    look.refusal("assign_problem")
    if done := st.session_state.pop("assign_done", ""):
        st.success(plain(done))
    names = {one.person.annotator_id: one.person.name for one in people}
    standing = staffing.assignments_standing(project, lead)
    st.session_state[_SEEN] = {who: given.assignment_id for who, given in standing.items()}
    given_to = sorted(standing.items(), key=lambda one: names.get(one[0], ""))
    listed = searched(given_to, lambda one: names.get(one[0], ""), "assignment", name="assigned", page="assigned-page")
    for who, given in listed.rows:
        with st.container(horizontal=True, vertical_alignment="center", key=f"assigned-{who}"):
            told = f"**{plain(names.get(who, ''))}**: {plain(words(given))}"
            st.markdown(told, width="stretch", help=plain(since(given, st.context.timezone)))
            st.button(tr("Take back"), key=f"unassign-{who}", on_click=take_back, args=(who, names.get(who, "")))
    if given_to:
        listed.end()
    with st.expander(tr("Assign work"), key="assign", on_change="rerun") as form:
        if form.open:
            _form(project, lead, annotators)


def words(given: Assignment) -> str:
    """What an assignment says, such as `the test queries, part 1 of 2; at most 40 grades a day`.

    >>> words(Assignment(Split.TEST, 1, 2, a_day=40)), words(Assignment(in_all=500))
    ('the test queries, part 1 of 2; at most 40 grades a day', 'at most 500 grades in all')
    """
    what = []
    if given.split is not None:
        what.append(tr(_QUERIES_OF[given.split]))
    if given.parts is not None:
        what.append(
            tr("part {part} of {parts}", part=given.part, parts=given.parts) + ("" if what else tr(" of the queries"))
        )
    if given.queries is not None:
        what.append(tr("{querys} chosen by name", querys=wording.count_of(len(given.queries), "query")))
    quotas = [
        tr("{count:,} grades {when}", count=count, when=when)
        for count, when in ((given.a_day, tr("a day")), (given.in_all, tr("in all")))
        if count is not None
    ]
    most = [tr("at most {join}", join=tr(" and ").join(quotas))] if quotas else []
    return "; ".join([*([", ".join(what)] if what else []), *most])


def since(given: Assignment, timezone: str | None) -> str:
    """Who gave it, and when."""
    return tr("Given by {by}, {when}.", by=given.by, when=wording.when(given.at, timezone))


@look.lead_callback("assign_problem")
def assign(project: Project, lead: Person) -> None:
    """Callback of the button: gives what the form says, to everybody it names; the form is empty then."""
    state = st.session_state
    who: list[AnnotatorId] = state["assign_who"]
    part, parts = state["assign_part"], state["assign_parts"]
    queries = shared_search.chosen_queries(_NAME)
    given = Assignment(
        split=state["assign_split"],
        part=part,
        parts=parts,
        queries=tuple(queries) if queries else None,
        a_day=state["assign_day"],
        in_all=state["assign_all"],
    )
    count = staffing.assign(project, lead, who, given, seen=state.get(_SEEN, {}), now=time.time())
    state["assign_done"] = tr(
        "Assigned: {words}. That is {querys} with open batches.",
        words=words(given),
        querys=wording.count_of(count, "query"),
    )
    for field in _FIELDS:
        state.pop(field, None)
    shared_search.clear_queries(_NAME)


@look.lead_callback("assign_problem")
def take_back(project: Project, lead: Person, annotator_id: AnnotatorId, name: str) -> None:
    """Callback of a button: this person grades whatever there is again."""
    seen = st.session_state.get(_SEEN, {}).get(annotator_id)
    staffing.unassign(project, lead, annotator_id, seen=seen, now=time.time())
    st.session_state["assign_done"] = tr("{name} grades whatever there is again.", name=name)


def _form(project: Project, lead: Person, annotators: Mapping[AnnotatorId, str]) -> None:
    st.multiselect(
        tr("Whom"), list(annotators), format_func=lambda one: annotators[one], key="assign_who", placeholder=tr("Names")
    )
    split, part, parts = st.columns([2, 1, 1])
    split.selectbox(tr("Queries"), list(_SPLITS), format_func=lambda one: tr(_SPLITS[one]), key="assign_split")
    part.number_input(
        tr("Part"), 1, value=None, key="assign_part", placeholder=tr("all"), help=tr("Queries are dealt out in turn.")
    )
    parts.number_input(tr("of so many parts"), 2, value=None, key="assign_parts", placeholder="1")
    search, chosen = st.columns(2)
    labels = (tr("Find queries to choose by name"), tr("Chosen queries"))
    shared_search.choose_queries(project, lead, _NAME, labels, (search, chosen), none=tr("None: all of the above"))
    day, whole, button = st.columns([1, 1, 2], vertical_alignment="bottom")
    day.number_input(tr("Grades a day"), 1, value=None, key="assign_day", placeholder=tr("any number"))
    whole.number_input(tr("Grades in all"), 1, value=None, key="assign_all", placeholder=tr("any number"))
    button.button(tr("Assign"), type="primary", key="assign_button", on_click=assign, width="stretch")
