"""The lead's page "Disputes": review disputed pairs, skipped pairs, and pairs whose clips are broken.

A pair is a query with a clip that annotators grade. The page shows one pair beside the list. The page's URL holds which
list, the search words, the page number and the pair.
"""

import time
from collections.abc import Callable, Sequence
from functools import partial
from html import escape

import streamlit as st

from annotate_app.language import marked, tr, translate_message
from annotate_app.plain import isolated
from annotate_app.screens.disputes import adjudicating as deciding
from annotate_app.screens.disputes.adjudicating import CASE, ON_SHOW
from annotate_app.screens.disputes.model_said import model_said
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
    ReviewList.MODEL: marked("Model differs"),
    ReviewList.BLOCKED: marked("Blocked"),
}
_NOTHING = {
    ReviewList.MODEL: marked("No settled pair has a model's grade that differs by 2 or more."),
    ReviewList.BLOCKED: marked("No clip is blocked."),
    ReviewList.SKIPPED: marked("No skipped pairs."),
    ReviewList.NOTES: marked("No notes yet. Annotators write them with key N."),
}


def page() -> None:
    """Draw the list that the lead chooses, such as disputed or skipped pairs, and one of its pairs beside it.

    For blocked pairs, whose clips cannot be shown, draw only the list.
    """
    project, lead, _ = look.lead_page("Disputes")
    counts = status.review_counts(project, lead)
    review_list = _filters(counts)
    if review_list is ReviewList.BLOCKED:
        _blocked(project, lead)
        return
    review_rows = _page(project, lead, review_list, _start())
    if review_list is ReviewList.NOTES and review_rows.count:
        _about_notes(project, lead, counts[review_list])
    if review_list is ReviewList.MODEL and review_rows.count:
        st.caption(
            tr(
                "A model's grade differs from these relevances by 2 or more. Either may be wrong, so decide before you "
                "open what the model said. The pairs are in the order in which a look at them pays most."
            )
        )
    pair = _on_show(project, lead, review_rows)
    if pair is None:
        nothing = tr(_NOTHING.get(review_list, marked("No pairs in this list.")))
        searched = tr("No pair in this list matches your search.")
        st.success(searched if address_state.read("q") else nothing, icon=":material/check_circle:")
        with st.container(horizontal=True):
            deciding.undo_button()
        deciding.show_result()
    else:
        case, beside = st.columns([3, 1], gap="medium")
        with case:
            hidden = _bar(pair, review_rows)
            _case(project, lead, pair, review_list, hidden=hidden)
        with beside:
            _list(review_rows, pair)
        case_keys(pair.pair, _beside(review_rows, pair.pair, 1))


@look.lead_callback("blocked_problem")
def restore(project: Project, lead: Person, pair: PairKey) -> None:
    """Make a blocked pair available to annotators again. A pair is blocked if its clip cannot be shown."""
    restore_clip(project, lead, pair, now=time.time())
    results.leave("blocked", tr("Annotators get this pair again."))


def step(by: int) -> None:
    """Show the next pair of the list (`by` 1) or the previous one (-1)."""
    pair = PairKey(st.session_state[ON_SHOW][1])  # no argument: a quick press may hit the previous pair's button
    look.as_lead(lambda project, lead: _go(project, lead, pair, by, _page(project, lead, _which(), _start())))


def leave(pair: PairKey, action: Callable[[], bool]) -> None:
    """Run an action on a pair, then show the next pair of the list.

    If the pair has left the list, show the pair that took its place.

    Args:
        pair: the pair.
        action: does the work and returns whether it succeeded.
    """
    place = st.session_state[ON_SHOW][2]

    def follow(project: Project, lead: Person) -> None:
        review_rows = _page(project, lead, _which(), _start())
        if any(row.pair == pair for row in review_rows.rows):
            _go(project, lead, pair, 1, review_rows)
        elif review_rows.rows:
            address_state.go(case=review_rows.rows[min(place, len(review_rows.rows) - 1)].pair)
        else:
            st.session_state.pop(ON_SHOW, None)
            address_state.go(case=None, page=None)

    if action():
        look.as_lead(follow)


def _filters(counts: dict[ReviewList, int]) -> ReviewList:
    with st.container(horizontal=True, vertical_alignment="center", horizontal_alignment="distribute"):
        labels = {
            review_list.value: f"{tr(label)}  {counts[review_list]}"
            for review_list, label in _LABELS.items()
            if review_list is not ReviewList.MODEL or counts[review_list] or _which() is review_list
        }
        address_state.choice(tr("Show"), "show", labels, clears=("page", CASE), label_visibility="collapsed")
        address_state.search(tr("Query or video"), clears=("page", CASE), width=130)
    return _which()


def _which() -> ReviewList:
    value = address_state.read("show")
    return ReviewList(value) if value in list(_LABELS) else ReviewList.TO_DECIDE


def _start() -> int:
    return (max(address_state.read_number("page", 1) or 1, 1) - 1) * PER_PAGE


def _page(project: Project, lead: Person, review_list: ReviewList, start: int) -> ReviewPage:
    """Return a page of the list, or the last page if `start` is past the end."""
    search = address_state.read("q")
    review_rows = status.review_page(project, lead, review_list, search, start=start, size=PER_PAGE)
    if review_rows.rows or not review_rows.count:
        return review_rows
    last = (review_rows.count - 1) // PER_PAGE * PER_PAGE
    return status.review_page(project, lead, review_list, search, start=last, size=PER_PAGE)


def _on_show(project: Project, lead: Person, found: ReviewPage) -> PairReview | None:
    """Return the pair to show: the pair that the page's URL names, else the pair shown before, else the list's first.

    Return None if the list is empty. The session remembers which pair was shown before. So it stays on the screen when
    an action, such as a reply to a note, moves it down the list.
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


def _beside(review_rows: ReviewPage, pair: PairKey, by: int) -> PairKey | None:
    """Return the next pair on this page of the list (`by` 1) or the previous one (-1); None if there is none.

    If `pair` has left the list, return the first pair.
    """
    keys = [row.pair for row in review_rows.rows]
    place = keys.index(pair) + by if pair in keys else 0
    return keys[place] if 0 <= place < len(keys) else None


def _go(project: Project, lead: Person, pair: PairKey, by: int, review_rows: ReviewPage) -> None:
    """Show the next pair of the list (`by` 1) or the previous one (-1), and turn the list's page if needed.

    Do nothing at the ends of the list.
    """
    if (key := _beside(review_rows, pair, by)) is not None:
        address_state.go(case=key)
        return
    start = review_rows.start + by * PER_PAGE
    if 0 <= start < review_rows.count:
        rows = _page(project, lead, _which(), start).rows
        number = start // PER_PAGE + 1
        address_state.go(case=rows[0 if by > 0 else -1].pair, page=None if number == 1 else number)


def _bar(pair: PairReview, review_rows: ReviewPage) -> bool:
    """Draw the bar above a pair: its position in the list, buttons to the previous and next pair, and an undo button.

    Returns:
        Whether the lead has chosen to hide names.
    """
    place = next(
        (nth for nth, row in enumerate(review_rows.rows, review_rows.start + 1) if row.pair == pair.pair), None
    )
    with st.container(horizontal=True, vertical_alignment="center", key="case-bar"):
        neighbours("case", place, review_rows.count, step)
        deciding.undo_button()
        legend(auth.project().campaign.scale)
        return st.checkbox(tr("Hide names"), key="dis_hide")


def _case(project: Project, lead: Person, pair: PairReview, review_list: ReviewList, *, hidden: bool) -> None:
    campaign = project.campaign
    notes_first = review_list is ReviewList.NOTES
    with st.container(border=True, key=f"card-{pair.pair}"):
        pair_view.heading(pair)
        if notes_first:
            pair_view.notes(pair, hidden=hidden)
        picture, words = st.columns([11, 9], gap="medium")
        with picture:
            pair_view.clip(pair)
        with words:
            if pair.grades:
                grades = " ".join(look.grade_mark(grade.grade) for grade in pair.grades)
                st.html(f"<div class='rr-grades' aria-hidden='true'>{grades}</div>")
            pair_view.rule(pair, campaign.grading)
            if review_list is ReviewList.SKIPPED:
                deciding.offer(pair)
        deciding.form(project, lead, pair, status.recent_reasons(project, lead), leave)
        pair_view.record(pair, hidden=hidden, with_notes=not notes_first)
        model_said(project, lead, pair)
        pair_view.example(pair, examples_chosen(project, lead))


def _list(review_rows: ReviewPage, pair: PairReview) -> None:
    order = tr("Pairs, most worth a look first") if _which() is ReviewList.MODEL else tr("Pairs, newest first")

    def fetch(first: int, most: int) -> Sequence[ListRow]:
        return [
            ListRow(row.pair, (_row(row),), look.thumbnail_address(row.video, row.start_s, row.end_s))
            for row in review_rows.rows
        ]

    long_list(
        tr("Cases"),
        (ListColumn(order),),
        review_rows.count,
        fetch,
        opens=CASE,
        noun="pair",
        per_page=PER_PAGE,
        current=pair.pair,
    )


def _row(row: ReviewRow) -> str:
    """Return the HTML of a list row: the note if there is one, the query, and the grades."""
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
    """Draw the pairs whose clips cannot be shown, each with the reason and a button that lets annotators grade it."""
    look.outcome("blocked")
    review_rows = _page(project, lead, ReviewList.BLOCKED, _start())
    if not review_rows.count:
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
    for row in review_rows.rows:
        with st.container(border=True, horizontal=True, vertical_alignment="center", key=f"blocked-{row.pair}"):
            query = WayThere("Queries", f"?query={row.query_id}", row.query).link
            state = tr("settled") if row.verdict.is_settled else tr("not settled")
            details = f"{escape(wording.moment(row))} · {query} · {state}"
            st.html(f"<p class='rr-waiting'><b>{escape(translate_message(row.fault))}</b><br>{details}</p>")
            st.button(
                tr("Hand out again"), key=f"restore-{row.pair}", on_click=restore, args=(row.pair,), width="content"
            )
    address_state.pagination(-(-review_rows.count // PER_PAGE))
