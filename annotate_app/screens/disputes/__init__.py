"""The lead's page "Disputes": review disputed, discarded, skipped and blocked pairs one by one.

The page shows one case beside its list. The address holds the list, search, page number and case.
"""

import time
from collections.abc import Callable, Sequence
from functools import partial
from html import escape

import streamlit as st

from annotate_app.language import marked, retold, tr
from annotate_app.plain import isolated
from annotate_app.screens.disputes import adjudicating as deciding
from annotate_app.screens.disputes.adjudicating import CASE, ON_SHOW
from annotate_app.session import auth
from annotate_app.shared import address_state, look, pair_view, results, wording
from annotate_app.shared.case_keys import case_keys, legend, neighbours
from annotate_app.shared.long_list import ListColumn, ListRow, long_list
from annotate_app.shared.ways import WayThere
from backend.campaign.judging.queue import restore_clip
from backend.campaign.nouns import Person
from backend.campaign.qualification.guideline.versions import examples_chosen
from backend.campaign.review import status
from backend.campaign.review.adjudicating import notes_csv
from backend.campaign.review.model import PairReview, ReviewList, ReviewPage, ReviewRow
from backend.campaign.setup.project.folder import Project
from backend.core.ids import PairKey

PER_PAGE = 10
_LABELS = {
    ReviewList.TO_DECIDE: marked("To adjudicate"),
    ReviewList.DISCARDED: marked("Discarded"),
    ReviewList.ESCALATED: marked("Escalated"),
    ReviewList.DECIDED: marked("Adjudicated"),
    ReviewList.CONFIRMED: marked("Confirmed"),
    ReviewList.SKIPPED: marked("Skipped"),
    ReviewList.NOTES: marked("Notes"),
    ReviewList.BLOCKED: marked("Blocked"),
}
_NOTHING = {
    ReviewList.BLOCKED: marked("No clip is blocked."),
    ReviewList.SKIPPED: marked("No skipped pairs."),
    ReviewList.NOTES: marked("No notes yet. Annotators write them with key N."),
}


def page() -> None:
    """Draw a list of pairs beside one large case; for blocked pairs, draw the list alone."""
    project, lead, _ = look.lead_page("Disputes")
    counts = status.review_counts(project, lead)
    which = _filters(counts)
    if which is ReviewList.BLOCKED:
        _blocked(project, lead)
        return
    found = _page(project, lead, which, _start())
    if which is ReviewList.NOTES and found.count:
        _about_notes(project, lead, counts[which])
    pair = _on_show(project, lead, found)
    if pair is None:
        nothing = tr(_NOTHING.get(which, marked("No pairs in this list.")))
        searched = tr("No pair in this list matches your search.")
        st.success(searched if address_state.read("q") else nothing, icon=":material/check_circle:")
        with st.container(horizontal=True):
            deciding.undo_button()
        deciding.show_result()
    else:
        case, beside = st.columns([3, 1], gap="medium")
        with case:
            hidden = _bar(pair, found)
            _case(project, lead, pair, which, hidden=hidden)
        with beside:
            _list(found, pair)
        case_keys(pair.pair, _beside(found, pair.pair, 1))


@look.lead_callback("blocked_problem")
def restore(project: Project, lead: Person, pair: PairKey) -> None:
    """Unblock a pair, so that its clip may be shown again, as the callback of a button."""
    restore_clip(project, lead, pair, now=time.time())
    results.leave("blocked", tr("Annotators get this pair again."))


def step(by: int) -> None:
    """Show the next case of the list (`by` 1) or the previous one (-1), as the callback of the buttons."""
    pair = PairKey(st.session_state[ON_SHOW][1])  # no argument: a quick press may hit the previous case's button
    look.as_lead(lambda project, lead: _go(project, lead, pair, by, _page(project, lead, _which(), _start())))


def leave(pair: PairKey, act: Callable[[], bool]) -> None:
    """Run an action on a pair, then show the case that takes its place in the list or, if it stays, the next one."""
    place = st.session_state[ON_SHOW][2]

    def follow(project: Project, lead: Person) -> None:
        found = _page(project, lead, _which(), _start())
        if any(row.pair == pair for row in found.rows):
            _go(project, lead, pair, 1, found)
        elif found.rows:
            address_state.go(case=found.rows[min(place, len(found.rows) - 1)].pair)
        else:
            st.session_state.pop(ON_SHOW, None)
            address_state.go(case=None, page=None)

    if act():
        look.as_lead(follow)


def _filters(counts: dict[ReviewList, int]) -> ReviewList:
    with st.container(horizontal=True, vertical_alignment="center", horizontal_alignment="distribute"):
        labels = {which.value: f"{tr(label)}  {counts[which]}" for which, label in _LABELS.items()}
        address_state.choice(tr("Show"), "show", labels, clears=("page", CASE), label_visibility="collapsed")
        address_state.search(tr("Query or video"), clears=("page", CASE), width=130)
    return _which()


def _which() -> ReviewList:
    value = address_state.read("show")
    return ReviewList(value) if value in list(_LABELS) else ReviewList.TO_DECIDE


def _start() -> int:
    return (max(address_state.read_number("page", 1) or 1, 1) - 1) * PER_PAGE


def _page(project: Project, lead: Person, which: ReviewList, start: int) -> ReviewPage:
    """Return a page of the list, or its last page if the address points past the end."""
    search = address_state.read("q")
    found = status.review_page(project, lead, which, search, start=start, size=PER_PAGE)
    if found.rows or not found.count:
        return found
    last = (found.count - 1) // PER_PAGE * PER_PAGE
    return status.review_page(project, lead, which, search, start=last, size=PER_PAGE)


def _on_show(project: Project, lead: Person, found: ReviewPage) -> PairReview | None:
    """Return the pair that the address names, in the list or not; else the pair shown last, or the first one.

    The pair shown last is remembered, because a reply to a note moves it to the end of its list.
    """
    place = (_which(), address_state.read("q"), found.start)
    before = st.session_state.get(ON_SHOW, (place, "", 0))
    asked = [address_state.read(CASE), before[1] if before[0] == place else "", *(row.pair for row in found.rows[:1])]
    pairs = (status.pair_review(project, lead, PairKey(key)) for key in asked if key)
    pair = next((found for found in pairs if found is not None), None)
    keys = [row.pair for row in found.rows]
    nth = keys.index(pair.pair) if pair and pair.pair in keys else 0
    st.session_state[ON_SHOW] = (place, pair.pair if pair else "", nth)
    return pair


def _beside(found: ReviewPage, pair: PairKey, by: int) -> PairKey | None:
    """Return the neighbour of a pair on its page of the list; the first pair if this one has left the list."""
    keys = [row.pair for row in found.rows]
    place = keys.index(pair) + by if pair in keys else 0
    return keys[place] if 0 <= place < len(keys) else None


def _go(project: Project, lead: Person, pair: PairKey, by: int, found: ReviewPage) -> None:
    """Show the neighbour of a pair, also on the next or previous page. Do nothing at the ends of the list."""
    if (key := _beside(found, pair, by)) is not None:
        address_state.go(case=key)
        return
    start = found.start + by * PER_PAGE
    if 0 <= start < found.count:
        rows = _page(project, lead, _which(), start).rows
        number = start // PER_PAGE + 1
        address_state.go(case=rows[0 if by > 0 else -1].pair, page=None if number == 1 else number)


def _bar(pair: PairReview, found: ReviewPage) -> bool:
    """Draw the case's position, the buttons to its neighbours and back, and return whether names are to be hidden."""
    place = next((nth for nth, row in enumerate(found.rows, found.start + 1) if row.pair == pair.pair), None)
    with st.container(horizontal=True, vertical_alignment="center", key="case-bar"):
        neighbours("case", place, found.count, step)
        deciding.undo_button()
        legend(auth.project().campaign.scale)
        return st.checkbox(tr("Hide names"), key="dis_hide")


def _case(project: Project, lead: Person, pair: PairReview, which: ReviewList, *, hidden: bool) -> None:
    campaign = project.campaign
    notes_first = which is ReviewList.NOTES
    with st.container(border=True, key=f"card-{pair.pair}"):
        pair_view.heading(pair)
        if notes_first:
            pair_view.notes(pair, hidden=hidden)
        picture, words = st.columns([11, 9], gap="medium")
        with picture:
            pair_view.clip(pair)
        with words:
            if pair.grades:
                given = " ".join(look.grade_mark(grade.grade) for grade in pair.grades)
                st.html(f"<div class='rr-grades' aria-hidden='true'>{given}</div>")
            pair_view.rule(pair, campaign.grading)
            if which is ReviewList.SKIPPED:
                deciding.offer(pair)
        deciding.form(project, lead, pair, status.recent_reasons(project, lead), leave)
        pair_view.record(pair, hidden=hidden, with_notes=not notes_first)
        pair_view.example(pair, examples_chosen(project, lead))


def _list(found: ReviewPage, pair: PairReview) -> None:
    def fetch(first: int, most: int) -> Sequence[ListRow]:
        return [
            ListRow(row.pair, (_row_text(row),), look.thumbnail_address(row.video, row.start_s, row.end_s))
            for row in found.rows
        ]

    long_list(
        tr("Cases"),
        (ListColumn(tr("Pairs, newest first")),),
        found.count,
        fetch,
        opens=CASE,
        noun="pair",
        per_page=PER_PAGE,
        current=pair.pair,
    )


def _row_text(row: ReviewRow) -> str:
    """Return a row of the list: the query, above it the note in the list of notes, and below it the grades."""
    grades = " ".join(look.grade_mark(grade) for grade in row.grades)
    relevance = f" {row.relevance}" if row.relevance is not None else ""
    state = tr("re-opened") if row.re_opened and not row.verdict.is_settled else wording.verdict(row.verdict)
    note = f"<b class='rr-of-case'>“{escape(isolated(row.note))}”</b>" if row.note else ""
    return f"{note}{escape(row.query)}<small class='rr-of-case'>{grades} {state}{relevance}</small>"


def _about_notes(project: Project, lead: Person, waiting: int) -> None:
    with st.container(horizontal=True, vertical_alignment="center", horizontal_alignment="distribute"):
        to_do = (
            tr("{notes} without a reply", notes=wording.count_of(waiting, "note"))
            if waiting
            else tr("Every note has a reply")
        )
        st.caption(tr("{to_do}. Pairs with answered notes come last.", to_do=to_do), width="content")
        look.csv_download(tr("Notes as CSV"), partial(notes_csv, project, lead), "notes.csv", "notes-csv")


def _blocked(project: Project, lead: Person) -> None:
    """Draw the blocked pairs with reason and query, each with a button that unblocks it."""
    look.outcome("blocked")
    found = _page(project, lead, ReviewList.BLOCKED, _start())
    if not found.count:
        nothing = (
            tr("No pair in this list matches your search.")
            if address_state.read("q")
            else tr(_NOTHING[ReviewList.BLOCKED])
        )
        st.success(nothing, icon=":material/check_circle:")
        return
    st.caption(
        tr(
            "Annotators do not get these pairs. Fix the video, then hand the pairs out again. Settled pairs "
            "come last: they need no more grades."
        )
    )
    for row in found.rows:
        with st.container(border=True, horizontal=True, vertical_alignment="center", key=f"blocked-{row.pair}"):
            query = WayThere("Queries", f"?query={row.query_id}", row.query).link
            state = tr("settled") if row.verdict.is_settled else tr("not settled")
            text = f"{escape(wording.moment(row))} · {query} · {state}"
            st.html(f"<p class='rr-waiting'><b>{escape(retold(row.fault))}</b><br>{text}</p>")
            st.button(
                tr("Hand out again"), key=f"restore-{row.pair}", on_click=restore, args=(row.pair,), width="content"
            )
    address_state.pagination(-(-found.count // PER_PAGE))
