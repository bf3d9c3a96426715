"""One query on the lead's page "Queries" (`?query=ID`): its figure, next batch, candidates, and unfinishable pairs."""

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
"""The address parameters that hold the query shown, and the rank of the opened candidate."""
_CLIPS = WayThere("Disputes", "?show=blocked", marked("Check clips"))
_EXAM = WayThere("Exam", "", marked("Open Exam"))


def show(project: Project, lead: Person, query_filter: QueryFilter) -> None:
    """Draw the query that the page's URL names, with buttons to the previous and next query of the filtered list."""
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
    _walk(project, lead, query_filter, query_id, keys=not opened)
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
        auth.dialog(_opened_candidate, tr("Candidate"), width="large", on_dismiss=_close)(project, lead, query_id)


def _back() -> None:
    st.button(
        tr("All queries"),
        key="all_queries",
        icon=":material/arrow_back:",
        type="tertiary",
        on_click=address_state.go,
        kwargs={QUERY: None, PAIR: None},
    )


def _walk(project: Project, lead: Person, query_filter: QueryFilter, query_id: QueryId, *, keys: bool) -> None:
    """Draw the buttons that lead back to the list, and to the previous and next query.

    Draw them even if the query no longer matches the filter, for example because somebody opened its next batch. `keys`
    says whether the keys P and N press the buttons.
    """
    place = query_place(project, lead, query_filter, query_id)
    with st.container(horizontal=True, vertical_alignment="center", key="query-walk"):
        _back()
        if place is None:
            return
        listed = wording.count_of(place.count, "query")
        told = (
            tr("{number:,} of {listed}", number=place.number, listed=listed)
            if place.number
            else tr("not in this list of {listed}", listed=listed)
        )
        st.caption(told, width="stretch", text_alignment="right")
        _steps(QUERY, place.before, place.after, keys=keys)


def _steps(name: str, before: int | None, after: int | None, *, keys: bool = True) -> None:
    """Draw the buttons to the previous and next query or candidate. Going to another query closes the open candidate.

    Args:
        name: the query parameter of the page's URL that the buttons change.
        before: its value for the previous query or candidate; None if there is none.
        after: its value for the next query or candidate; None if there is none.
        keys: whether the keys P and N press the buttons.
    """
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


def _opened_candidate(project: Project, lead: Person, query_id: QueryId) -> None:
    """Draw the candidate that the page's URL names, and the buttons to the previous and next candidate.

    Streamlit reruns a dialog without the rest of the page. So this function reads the pairs of the query itself.
    """
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
    """Draw the pairs of a query that the current team cannot finish, if there are any, with what would help."""
    if lines := stuck_sentences(progress.query_stuck(project, lead, query_id)):
        st.markdown(f"**{tr('Stuck')}**")
        st.html(waiting.list_of(lines))


def stuck_sentences(stuck: QueryStuck) -> list[Line]:
    """Return sentences, with ranks, about the pairs of a query that annotators cannot grade now.

    Such a pair lacks annotators, has a clip that cannot be shown, or is kept for an exam or calibration round.
    """
    lines = []
    for blockage, ranks in stuck.stuck:
        lines += waiting.lines_of(blockage, f" {wording.ranks(ranks)}.")
    if stuck.blocked:
        clips = tr("its clip cannot") if len(stuck.blocked) == 1 else tr("their clips cannot")
        lines.append(
            Line(
                tr(
                    "{are} blocked: {clips} be shown. {ranks}.",
                    are=_are(stuck.blocked),
                    clips=clips,
                    ranks=wording.ranks(stuck.blocked),
                ),
                _CLIPS,
            )
        )
    if stuck.set_aside:
        asked = tr("reserved for an exam or a calibration round.")
        lines.append(Line(f"{_are(stuck.set_aside)} {asked} {wording.ranks(stuck.set_aside)}.", _EXAM))
    return lines


def _are(ranks: tuple[int, ...]) -> str:
    return wording.pairs_are(len(ranks))
