"""The lead's page "Queries": progress of every query, and whether its next batch is worth opening."""

import time
from collections import Counter
from collections.abc import Sequence
from html import escape
from typing import Any

import altair as alt
import pandas as pd
import streamlit as st

from annotate_app.plain import plain
from annotate_app.widgets import look, pair_view, wording
from backend import api
from backend.campaign.nouns import Person, Scale
from backend.campaign.project.model import Campaign, Grading
from backend.campaign.review.model import PairReview, QueryReview
from backend.ground.ids import QueryId

_SHOWN = ("All", "In work", "Next batch possible")
_NONE = "–"
"""A pair without a relevance, wherever relevances are shown by rank."""


def page() -> None:
    """Counts, the table of queries, and the selected one (`?query=ID`) in detail."""
    project, lead, counts = look.lead_page("Queries")
    _metrics(counts)
    reviews, campaign = api.list_queries(project, lead), project.campaign
    if not reviews:
        st.info(f"No query has candidates yet. Next: {plain(api.next_step(project, lead))}")
        return
    chosen = _choose(reviews)
    if chosen is not None:
        _detail(project, lead, chosen, campaign)


def suggestion(review: QueryReview, scale: Scale) -> str:
    """What the last relevances, a quarter of a batch, say about the next batch, in one sentence.

    The two best grades count as finds; never the lowest, which says that nothing matches.
    """
    wanted, last = max(1, scale.highest - 1), len(review.last)
    known = [relevance for relevance in review.last if relevance is not None]
    missing = last - len(known)
    if missing and not review.more_candidates and review.settled < review.pairs:
        who = "The last one" if last == 1 else f"{wording.number(missing)} of {_the_last(last)}"
        return f"{who} {wording.are(missing)} not settled yet."
    finds = sum(relevance >= wanted for relevance in known)
    told = (
        f"The last one is {'' if finds else 'not '}graded {wanted} or more"
        if last == 1
        else f"{wording.number(finds)} of {_the_last(last)} {'is' if finds <= 1 else 'are'} graded {wanted} or more"
    )
    if not review.more_candidates and review.settled == review.pairs:
        return f"{told}."
    more = "a second batch" if review.batches_open == 1 else "a further batch"
    outlook = (
        f"{more} is likely to find more"
        if finds > last / 2
        else f"{more} may find a few more"
        if finds
        else f"{more} is unlikely to find more"
    )
    return f"{told}: {outlook}."


def why_not(review: QueryReview) -> str:
    """Why the next batch of a query cannot be opened, or an empty text if it can."""
    if review.more_candidates:
        return ""
    unsettled = review.pairs - review.settled
    if unsettled:
        return f"{unsettled} of {wording.count_of(review.pairs, 'pair')} {wording.are(unsettled)} not settled yet."
    if review.batches_open > 1:
        return f"Batch {review.batches_open} is open already, and there are no further candidates."
    return "There are no further candidates for this query."


def by_rank(relevances: Sequence[int | None]) -> str:
    """The relevance of every rank in groups of five, `43–20 1`; a pair without one is not a pair of relevance 0."""
    shown = "".join(_NONE if relevance is None else str(relevance) for relevance in relevances)
    return " ".join(shown[start : start + 5] for start in range(0, len(shown), 5))


def open_batch(query_id: QueryId, number: int) -> None:
    """Callback of the button: opens the batch it names and leaves a message for the run that follows."""
    opened = 0

    def act(project: api.Project, lead: Person) -> None:
        nonlocal opened
        opened = api.open_batch(project, lead, query_id, number=number, now=time.time())

    problem = look.as_lead(act)
    done = f"Batch {number} is open: {wording.count_of(opened, 'pair')} went to the annotators."
    st.session_state["queries_message"] = ("error", problem) if problem else ("success", done)


def _metrics(counts: dict[str, Any]) -> None:
    done, total = look.settled(counts)
    values = {
        "Judgements": f"{counts['judgements']:,}",
        "Pairs settled": f"{done:,} of {total:,}",
        "Escalated": f"{counts['pairs']['escalated']:,}",
        "Discarded": f"{counts['pairs']['discarded']:,}",
        "Annotators": f"{counts['annotators']:,}",
    }
    look.metrics(values)


def _choose(reviews: Sequence[QueryReview]) -> QueryReview | None:
    by_id = {review.query_id: review for review in reviews}
    wanted = st.query_params.get("query", "")
    chosen = by_id.get(QueryId(int(wanted))) if wanted.isdecimal() else None
    # The empty column keeps the table's toolbar, which appears above its right end, off the box.
    left, right, _ = st.columns([5, 6, 2], vertical_alignment="center")
    show = left.segmented_control(
        "Show", _SHOWN, default="All", required=True, key="queries_show", label_visibility="collapsed"
    )
    st.session_state["queries_box"] = chosen.query_id if chosen else None
    right.selectbox(
        "Look at a query",
        list(by_id),
        format_func=lambda query_id: by_id[query_id].query,
        key="queries_box",
        placeholder="Look at a query: type a few letters, or choose a row",
        label_visibility="collapsed",
        on_change=lambda: _remember(st.session_state["queries_box"]),
    )
    listed = [review for review in reviews if _is_shown(review, show or "All")]

    def from_table() -> None:
        rows = st.session_state["queries_table"]["selection"]["rows"]
        _remember(listed[rows[0]].query_id if rows else None)

    if not listed:
        st.info("No query is in this list just now.")
    else:
        # Set on every run, like the box: the address may have changed by Back, and another list has other rows. Whole,
        # as the browser tells it: else its next message would look like another choice.
        rows = [listed.index(chosen)] if chosen in listed else []
        st.session_state["queries_table"] = {"selection": {"rows": rows, "columns": [], "cells": []}}
        st.dataframe(
            _table(listed),
            key="queries_table",
            height=min(38 + 35 * len(listed), 318),
            hide_index=True,
            on_select=from_table,
            selection_mode="single-row",
            column_config={
                "Query": st.column_config.TextColumn(width="large"),
                "Settled": st.column_config.ProgressColumn(format="percent", min_value=0, max_value=1),
                "Relevance by rank": st.column_config.TextColumn(
                    help=f"Five ranks a group; {_NONE}: no relevance (yet)."
                ),
            },
        )
    return chosen


def _remember(query_id: QueryId | None) -> None:
    """The selection lives in the URL, so that it can be sent to a colleague."""
    if query_id is None:
        st.query_params.pop("query", None)
    else:
        st.query_params["query"] = str(query_id)


def _is_shown(review: QueryReview, show: str) -> bool:
    if show == "In work":
        return review.settled < review.pairs
    return show != "Next batch possible" or review.more_candidates


def _table(reviews: Sequence[QueryReview]) -> pd.DataFrame:
    return pd.DataFrame(
        {
            "Query": [review.query for review in reviews],
            "Split": [review.split.value for review in reviews],
            "Settled": [review.settled / max(review.pairs, 1) for review in reviews],
            "Pairs": [review.pairs for review in reviews],
            "Escalated": [review.escalated for review in reviews],
            "Discarded": [review.discarded for review in reviews],
            "Relevance by rank": [by_rank(review.relevances) for review in reviews],
            "Batches": [review.batches_open for review in reviews],
        }
    )


def _detail(project: api.Project, lead: Person, review: QueryReview, campaign: Campaign) -> None:
    scale = campaign.scale
    st.subheader(plain(review.query), anchor=False)
    kind, text = st.session_state.pop("queries_message", ("", ""))
    if text:
        (st.error if kind == "error" else st.success)(plain(text))
    left, right = st.columns([3, 2], gap="large")
    with left:
        st.markdown("**Open candidates in rank order**")
        st.html(_strip(review))
        st.markdown(suggestion(review, scale))
        refusal = why_not(review)
        st.button(
            f"Open batch {review.batches_open + 1}",
            type="primary",
            key="open_batch",
            disabled=bool(refusal),
            on_click=open_batch,
            args=(review.query_id, review.batches_open + 1),
        )
        if refusal:
            st.caption(refusal)
    with right:
        st.markdown("**How many pairs have each relevance**")
        if any(relevance is not None for relevance in review.relevances):
            told = f"Bars: number of pairs for each relevance {scale.words}"
            st.altair_chart(_distribution(review, scale), height=240, alt=told)
        else:
            st.caption("None has one yet.")
    pairs, examples = api.query_pairs(project, lead, review.query_id), api.examples_chosen(project, lead)
    _pairs([pair for pair in pairs if not pair.probe], examples, campaign.grading)
    if probe := [pair for pair in pairs if pair.probe]:
        settled = sum(pair.verdict.is_settled for pair in probe)
        st.caption(
            f"This query is probed: {wording.count_of(len(probe), 'further pair')} of it {wording.are(len(probe))} "
            f"judged to see how deep judging has to go, {settled:,} settled. No release holds them."
        )


def _pairs(pairs: Sequence[PairReview], examples: Sequence[api.Example], grading: Grading) -> None:
    """Every pair with how the rule came to its verdict; a selected row shows its clip and its grades."""
    st.markdown("**Pairs** · choose a row to see its clip and who graded it how")
    event = st.dataframe(
        pd.DataFrame(
            {
                "Rank": [pair.rank for pair in pairs],
                "Verdict": [pair.verdict.value for pair in pairs],
                "Relevance": pd.array([pair.relevance for pair in pairs], dtype="Int64"),
                "Mean": [pair.mean for pair in pairs],
                "Grades": [wording.grades(pair.grades) for pair in pairs],
                "Rule": [wording.why(pair, grading) for pair in pairs],
                "Caption": [pair.caption for pair in pairs],
                "Moment": [wording.moment(pair) for pair in pairs],
            }
        ),
        hide_index=True,
        column_config={
            "Mean": st.column_config.NumberColumn(format="%.1f"),
            "Rule": st.column_config.TextColumn(width="large"),
            "Caption": st.column_config.TextColumn(width="medium"),
        },
        placeholder=_NONE,
        key=f"pairs-{pairs[0].query_id}" if pairs else "pairs",  # another query starts without a selection
        on_select="rerun",
        selection_mode="single-row",
    )
    rows = event["selection"]["rows"]
    if rows:
        _pair(pairs[rows[0]], examples, grading)


def _pair(pair: PairReview, examples: Sequence[api.Example], grading: Grading) -> None:
    with st.container(border=True, key="query-pair"):
        picture, words = st.columns([2, 3], gap="medium")
        with picture:
            pair_view.clip(pair)
        with words:
            pair_view.heading(pair)
            pair_view.judged(pair, grading, hidden=False)
            pair_view.example(pair, examples)


def _the_last(count: int) -> str:
    return "the last one" if count == 1 else f"the last {wording.number(count).lower()}"


def _strip(review: QueryReview) -> str:
    cells = []
    before = len(review.relevances) - len(review.last)
    for rank, relevance in enumerate(review.relevances, 1):
        last = " class='rr-last'" if rank > before else ""
        style = "rr-none" if relevance is None else f"rr-r{relevance}"
        shown = _NONE if relevance is None else str(relevance)
        title = escape(f"Rank {rank}: " + ("no relevance" if relevance is None else f"relevance {relevance}"))
        cells.append(f"<div{last} title='{title}'><b class='{style}'>{shown}</b><span>{rank}</span></div>")
    count = len(review.relevances)
    ranks = f"rank {count}" if count == before + 1 else f"ranks {before + 1}–{count}"
    legend = (
        f"<div class='rr-legend'><span><i style='box-shadow:0 0 0 2px #f59e0b'></i>{_the_last(len(review.last))}, "
        f"{ranks}</span><span><i class='rr-none'></i>no relevance (yet)</span></div>"
    )
    return f"<div class='rr-strip' role='group' aria-label='Relevance by rank'>{''.join(cells)}</div>{legend}"


def _distribution(review: QueryReview, scale: Scale) -> alt.Chart:
    before = len(review.relevances) - len(review.last)
    counts = Counter(
        (relevance, rank >= before) for rank, relevance in enumerate(review.relevances) if relevance is not None
    )
    names = {False: "earlier ranks", True: _the_last(len(review.last)).removeprefix("the ")}
    frame = pd.DataFrame(
        [
            {"Relevance": wording.grade(value, scale), "Ranks": names[last], "Pairs": counts[value, last]}
            for value in scale.grades
            for last in (False, True)
        ]
    )
    chart: alt.Chart = (
        alt.Chart(frame)
        .mark_bar(cornerRadiusEnd=3)
        .encode(
            y=alt.Y("Relevance:N", sort="descending", title=None, axis=alt.Axis(labelOverlap=False)),
            x=alt.X("Pairs:Q", title=None, axis=alt.Axis(tickMinStep=1, format="d")),
            color=alt.Color(
                "Ranks:N",
                scale=alt.Scale(domain=list(names.values()), range=["#6366f1", "#f59e0b"]),
                legend=alt.Legend(orient="bottom", title=None),
            ),
            tooltip=["Relevance", "Ranks", "Pairs"],
        )
    )
    return chart
