"""One query on the page "Queries" (`?query=ID`): its stuck pairs, figure, next batch and candidates."""

import streamlit as st

from annotate_app.language import marked, tr
from annotate_app.screens.queries.figure import candidates, query_figure
from annotate_app.screens.queries.next_batch import next_batch
from annotate_app.session import auth
from annotate_app.shared import address_state, look, pair_view, waiting, wording
from annotate_app.shared.waiting import Line
from annotate_app.shared.ways import WayThere
from backend.campaign.monitoring.progress import progress
from backend.campaign.monitoring.progress.model import QueryStuck
from backend.campaign.nouns import Person
from backend.campaign.qualification.guideline.versions import examples_chosen
from backend.campaign.review.model import QueryFilter, QueryReview
from backend.campaign.review.queries import query_pairs, query_place, query_review
from backend.campaign.setup.project.folder import Project
from backend.core.ids import QueryId

QUERY, PAIR = "query", "pair"
"""Query parameters with the shown query, and with the rank of the open candidate."""
_CLIPS = WayThere("Disputes", "?show=blocked", marked("Check clips"))
_EXAM = WayThere("Exam", "", marked("Open Exam"))


def show(project: Project, lead: Person, wanted: QueryFilter) -> None:
    """Draw the query that the address names, with links to its neighbours in the filtered list."""
    query_id = QueryId(address_state.read_number(QUERY, 0) or 0)
    review = query_review(project, lead, query_id)
    if review is None:
        _back()
        st.info(tr("This query does not exist, or has no candidates yet."))
        return
    campaign = project.campaign
    pairs = query_pairs(project, lead, query_id)
    probe = [pair for pair in pairs if pair.probe]
    pairs = [pair for pair in pairs if not pair.probe]
    opened = address_state.read_number(PAIR) in {pair.rank for pair in pairs}
    _walk(project, lead, wanted, query_id, keys=not opened)
    look.text_heading(review.query)
    st.caption(_facts(review))
    query_stuck(project, lead, query_id)
    similar = any(pair.similarity is not None for pair in pairs)
    st.markdown(tr("**Relevance{similar} by rank**", similar=tr(" and similarity") if similar else ""))
    query_figure(pairs, len(review.last), campaign.scale)
    next_batch(project, lead, query_id)
    st.markdown(tr("**Candidates** · open one to see its clip and grades"))
    candidates(pairs, campaign.grading, opens=PAIR)
    if probe:
        settled = sum(pair.verdict.is_settled for pair in probe)
        st.caption(
            tr(
                "This query is a probe: {further_pairs} {are} graded to find out how many candidates are needed. "
                "{settled:,} settled. Releases leave these pairs out.",
                further_pairs=wording.count_of(len(probe), "further pair"),
                are=wording.are(len(probe)),
                settled=settled,
            )
        )
    if opened:
        auth.dialog(_opened, tr("Candidate"), width="large", on_dismiss=_close)(project, lead, query_id)


def _back() -> None:
    st.button(
        tr("All queries"),
        key="all_queries",
        icon=":material/arrow_back:",
        type="tertiary",
        on_click=address_state.go,
        kwargs={QUERY: None, PAIR: None},
    )


def _walk(project: Project, lead: Person, wanted: QueryFilter, query_id: QueryId, *, keys: bool) -> None:
    """Draw the links back to the list and to its next query, even if this query has since left the list."""
    place = query_place(project, lead, wanted, query_id)
    with st.container(horizontal=True, vertical_alignment="center", key="query-walk"):
        _back()
        if place is None:
            return
        listed = wording.count_of(place.count, "query")
        text = (
            tr("{number:,} of {listed}", number=place.number, listed=listed)
            if place.number
            else tr("not in this list of {listed}", listed=listed)
        )
        st.caption(text, width="stretch", text_alignment="right")
        _steps(QUERY, place.before, place.after, keys=keys)


def _steps(name: str, before: int | None, after: int | None, *, keys: bool = True) -> None:
    """Draw the buttons that set a query parameter to the previous or next value. They close an open candidate."""
    for label, letter, to in ((tr("Previous"), "P", before), (tr("Next"), "N", after)):
        st.button(
            label,
            key=f"{name}-{label.lower()}",
            shortcut=letter if keys else None,
            disabled=to is None,
            on_click=address_state.go,
            kwargs={PAIR: None, name: to},
        )


def _facts(review: QueryReview) -> str:
    facts = [
        review.split.value,
        tr("query {query_id}", query_id=review.query_id),
        tr(
            "{pairs} in {batches}",
            pairs=wording.count_of(review.pairs, "pair"),
            batches=wording.count_of(review.batches_open, "batch"),
        ),
        tr("{settled:,} settled", settled=review.settled),
        tr("{escalated:,} escalated", escalated=review.escalated),
        tr("{discarded:,} discarded", discarded=review.discarded),
    ]
    return " · ".join(facts)


def _opened(project: Project, lead: Person, query_id: QueryId) -> None:
    """Draw the open candidate with buttons to its neighbours. A dialog reruns alone, so it reads its own data."""
    rank = address_state.read_number(PAIR)
    pairs = [pair for pair in query_pairs(project, lead, query_id) if not pair.probe]
    at = next((at for at, pair in enumerate(pairs) if pair.rank == rank), None)
    if at is None:
        st.info(tr("This candidate is gone: its batch was undone."))
        return
    pair, before, after = pairs[at], pairs[at - 1 : at], pairs[at + 1 : at + 2]
    with st.container(horizontal=True, vertical_alignment="center"):
        st.caption(
            tr("Rank {rank} of {candidates}", rank=rank, candidates=wording.count_of(len(pairs), "candidate")),
            width="stretch",
        )
        _steps(PAIR, *(near[0].rank if near else None for near in (before, after)))
    with st.container(key="query-pair"):
        pair_view.pair_record(pair, project.campaign.grading, examples_chosen(project, lead))


def _close() -> None:
    address_state.go(**{PAIR: None})


def query_stuck(project: Project, lead: Person, query_id: QueryId) -> None:
    """Draw the sentences about stuck pairs of a query, each with a link; nothing if none is stuck."""
    if found := stuck_sentences(progress.query_stuck(project, lead, query_id)):
        st.markdown(f"**{tr('Stuck')}**")
        st.html(waiting.list_of(found))


def stuck_sentences(found: QueryStuck) -> list[Line]:
    """Return lines about the stuck, blocked and reserved pairs of a query, with their ranks."""
    text = []
    for one, ranks in found.stuck:
        text += waiting.lines_of(one, f" {wording.ranks(ranks)}.")
    if found.blocked:
        clips = tr("its clip cannot") if len(found.blocked) == 1 else tr("their clips cannot")
        text.append(
            Line(
                tr(
                    "{are} blocked: {clips} be shown. {ranks}.",
                    are=_are(found.blocked),
                    clips=clips,
                    ranks=wording.ranks(found.blocked),
                ),
                _CLIPS,
            )
        )
    if found.set_aside:
        asked = tr("reserved for an exam or a calibration round.")
        text.append(Line(f"{_are(found.set_aside)} {asked} {wording.ranks(found.set_aside)}.", _EXAM))
    return text


def _are(ranks: tuple[int, ...]) -> str:
    return wording.pairs_are(len(ranks))
