"""The lead's page "Queries": search and filter the list of queries, or open one query."""

from collections.abc import Sequence
from html import escape

import streamlit as st

from annotate_app.language import marked, tr, translated
from annotate_app.screens.queries import one_query
from annotate_app.screens.queries.next_batches import next_batches
from annotate_app.session.addresses import full_path
from annotate_app.shared import address_state, look, waiting
from annotate_app.shared.long_list import ListColumn, ListRow, long_list, sorted_by
from backend.campaign.monitoring.progress.progress import stuck_queries, work_version
from backend.campaign.nouns import Person, Split
from backend.campaign.review.model import QueryFilter, QueryReview, QueryShow, StatusCounts
from backend.campaign.review.queries import count_queries, find_queries
from backend.campaign.setup.project.folder import Project
from backend.core.ids import QueryId

_STUCK = "stuck"
_SHOWN = {
    QueryShow.ALL.value: marked("All"),
    QueryShow.IN_WORK.value: marked("In progress"),
    _STUCK: marked("Stuck"),
    QueryShow.NEXT_BATCH.value: marked("Next batch possible"),
    QueryShow.DECLINED.value: marked("Declined"),
}
_SPLITS = {"": marked("Both splits"), Split.VAL.value: "val", Split.TEST.value: "test"}
_NONE = "–"
"""The sign for a pair without a relevance, where relevances are shown by rank."""
_IN_A_ROW = 20
_COLUMNS = (
    ListColumn(marked("Query"), sort="query"),
    ListColumn(marked("Split"), sort="split", phone=False),
    ListColumn(marked("Settled"), sort="settled"),
    ListColumn(marked("Pairs"), sort="pairs", number=True, phone=False),
    ListColumn(marked("Escalated"), sort="escalated", number=True, phone=False),
    ListColumn(marked("Discarded"), sort="discarded", number=True, phone=False),
    ListColumn(marked("Batches"), sort="batches", number=True, phone=False),
    ListColumn(
        marked("Relevance by rank"),
        phone=False,
        meaning=marked("20 ranks a line; – means no relevance yet"),
    ),
)
_CLEARS = ("page",)


def page() -> None:
    """Draw counts of queries and pairs, the work that waits for leads, and the list of queries.

    If the page's URL has `?query=ID`, draw only that query.
    """
    project, lead, counts = look.lead_page("Queries")
    if address_state.read(one_query.QUERY):
        one_query.show(project, lead, _wanted(project, lead))
        return
    _metrics(counts)
    waiting.line(project, lead)
    if not count_queries(project, lead, QueryFilter()):
        st.info(tr("No query has candidates yet. Continue on [Set up]({path}).", path=full_path("/set-up")))
        return
    next_batches(project, lead)
    _filters()
    _list(project, lead, _wanted(project, lead))


def _wanted(project: Project, lead: Person) -> QueryFilter:
    """Return the filter and sort order for the list of queries, as the page's URL holds them."""
    show, split = address_state.read("show"), address_state.read("split")
    return QueryFilter(
        QueryShow(show) if show in list(QueryShow) else QueryShow.ALL,
        Split(split) if split and split in _SPLITS else None,
        address_state.read("q"),
        sorted_by(_COLUMNS),
        _stuck(project, lead, str(project.folder), work_version(project, lead)) if show == _STUCK else None,
    )


@st.cache_resource(max_entries=2, show_spinner=False)
def _stuck(_project: Project, _lead: Person, folder: str, version: tuple[str, ...]) -> frozenset[QueryId]:
    """Return the queries with a pair that the current team cannot finish, cached until the work changes.

    They are cached because finding them reads every open pair.
    """
    return stuck_queries(_project, _lead)


def _filters() -> None:
    found, show, split = st.columns([4, 6, 2], vertical_alignment="center")
    with found:
        address_state.search(tr("Search: words of the query, or its number"), type="search")
    with show:
        address_state.choice(tr("Show"), "show", translated(_SHOWN), clears=_CLEARS, label_visibility="collapsed")
    with split:
        address_state.choice(
            tr("Split"), "split", translated(_SPLITS), clears=_CLEARS, box=True, label_visibility="collapsed"
        )


def _list(project: Project, lead: Person, query_filter: QueryFilter) -> None:
    def rows(first: int, most: int) -> list[ListRow]:
        return [_row(query) for query in find_queries(project, lead, query_filter, first=first, most=most)]

    long_list(
        tr("Queries"),
        _COLUMNS,
        count_queries(project, lead, query_filter),
        rows,
        opens=one_query.QUERY,
        noun="query",
        nothing=tr("No queries in this list."),
    )


def _row(review: QueryReview) -> ListRow:
    told = tr("{settled:,} of {pairs:,} settled", settled=review.settled, pairs=review.pairs)
    settled = f"<span title='{told}'>{_share(review)}</span>"
    numbers = [f"{value:,}" for value in (review.pairs, review.escalated, review.discarded, review.batches_open)]
    cells = (escape(review.query), review.split.value, settled, *numbers, by_rank(review.relevances))
    return ListRow(review.query_id, cells)


def _share(review: QueryReview) -> str:
    return look.bar(100 * review.settled / max(review.pairs, 1), 100, " %", form=".0f")


def by_rank(relevances: Sequence[int | None]) -> str:
    """Return HTML with the relevances of a query's candidates in the order of their ranks, 20 on a line.

    A candidate without a relevance (None) is shown as a dash.
    """
    told = "".join(_NONE if relevance is None else str(relevance) for relevance in relevances)
    lines = "".join(
        f"<span>{''.join(_cell(relevance) for relevance in relevances[start : start + _IN_A_ROW])}</span>"
        for start in range(0, len(relevances), _IN_A_ROW)
    )
    label = tr("Relevances by rank: {told}", told=told)
    return f"<span class='rr-ranks' role='img' aria-label='{label}'>{lines}</span>"


def _cell(relevance: int | None) -> str:
    return f"<i class='rr-none'>{_NONE}</i>" if relevance is None else f"<i class='rr-r{relevance}'>{relevance}</i>"


def _metrics(counts: StatusCounts) -> None:
    done, total = look.settled(counts)
    values = {
        tr("Judgements"): f"{counts['judgements']:,}",
        tr("Pairs settled"): tr("{done:,} of {total:,}", done=done, total=total),
        tr("Escalated"): f"{counts['pairs']['escalated']:,}",
        tr("Discarded"): f"{counts['pairs']['discarded']:,}",
        tr("Annotators"): f"{counts['annotators']:,}",
    }
    with st.container(key="query-numbers"):
        look.metrics(values, (4, 6, 4, 4, 4))
