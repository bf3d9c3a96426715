"""The step of the page "Set up" that makes queries: typed by the lead, or drawn at random from captions.

Queries can be edited until their candidates are chosen.
"""

import time
from html import escape
from typing import Any

import streamlit as st

from annotate_app.language import marked, marked_n, tr, trn
from annotate_app.plain import plain
from annotate_app.screens.set_up.step import SetUpStep, StepStanding
from annotate_app.shared import address_state, look, results, wording
from annotate_app.shared.unsaved import warn_unsaved
from annotate_app.shared.ways import WayThere
from backend.campaign.corpus.captions.decisions import rewrite_queue
from backend.campaign.nouns import Person, Split
from backend.campaign.review.model import StatusCounts
from backend.campaign.review.queries import take_back_queries
from backend.campaign.selection.queries.drawing import (
    change_query,
    count_drawn_queries,
    draw_queries,
    drawn_queries,
    remove_queries,
)
from backend.campaign.selection.queries.model import ListedQuery, OwnFile, Repeats, Stratum
from backend.campaign.setup.project.folder import Project
from backend.core.errors import ProjectError

KEY = "queries"
_PER_PAGE = 20
_SEEN, _FILES = "queries_seen", "queries_files"
_SOURCE = marked("typed on the page Set up")
_SPLITS = {Split.TEST: marked("test"), Split.VAL: marked("validation"), Split.TRAIN: marked("training")}
_SPREAD = {"": marked("all texts"), Stratum.VIDEO.value: marked("the videos"), Stratum.SHOW.value: marked("the shows")}


@look.lead_callback("set_up_queries_problem")
def look_at(project: Project, lead: Person) -> None:
    """Preview the queries that the form would add, or leave a message that lists all problems. Nothing is written."""
    state = st.session_state
    state.pop(_SEEN, None)
    options = _form_options()
    state[_SEEN] = (options, draw_queries(project, lead, **options, dry_run=True, now=time.time()))


@look.lead_callback("set_up_queries_problem")
def take(project: Project, lead: Person) -> None:
    """Add exactly the queries that the preview shows."""
    state = st.session_state
    options, _ = state[_SEEN]
    report = draw_queries(project, lead, **options, now=time.time())
    results.leave("set_up_queries", tr("{queries} added.", queries=wording.count_of(report.val + report.test, "query")))
    state.pop(_SEEN)
    state["queries_typed"] = ""
    state[_FILES] = state.get(_FILES, 0) + 1  # a new key empties the uploader


@look.lead_callback("set_up_query_problem")
def change(project: Project, lead: Person, query: ListedQuery) -> None:
    """Save a query's text and split (training, validation or test) as edited in its form."""
    text, split = st.session_state[f"query-text-{query.query_id}"], st.session_state[f"query-split-{query.query_id}"]
    change_query(project, lead, query.query_id, text, split, seen=query.text, now=time.time())
    results.leave("set_up_query", tr("Query saved: “{text}”.", text=wording.short(text.strip())))


@look.lead_callback("set_up_query_problem")
def remove(project: Project, lead: Person, query: ListedQuery) -> None:
    """Remove a query."""
    remove_queries(project, lead, [query.query_id], now=time.time())
    results.leave("set_up_query", tr("Query removed: “{text}”.", text=wording.short(query.text)))


@look.lead_callback("set_up_queries_problem")
def take_back(project: Project, lead: Person) -> None:
    """Remove all queries."""
    take_back_queries(project, lead, now=time.time())
    results.leave("set_up_queries", tr("All queries removed."))


def _standing(project: Project, lead: Person, counts: StatusCounts) -> StepStanding:
    there = counts["queries"]
    if there["val"] + there["test"]:
        return StepStanding(True, _counted(there["test"], there["val"]))
    waits = "" if counts["videos"] else tr("Add videos first.")
    return StepStanding(False, tr("none yet"), waits)


def _counted(test: int, val: int) -> str:
    parts = [
        f"{count:,} {test_and_val}" for count, test_and_val in ((test, tr("test")), (val, tr("validation"))) if count
    ]
    return f"{wording.count_of(test + val, 'query')}: {', '.join(parts)}"


def _split(split: Split) -> str:
    return tr(_SPLITS[split])


def _show(project: Project, lead: Person, counts: StatusCounts) -> None:
    there, chosen = any(counts["queries"].values()), any(counts["batches"].values())
    if not chosen:
        drawable = not there and counts["captions"] > 0
        _form(can_draw=drawable, published=drawable and not rewrite_queue(project, lead).counts.rewritten)
        _preview()
    if there:
        _list(project, lead, may_change=not chosen)
        _taking_back(chosen)


def _form(*, can_draw: bool, published: bool) -> None:
    with st.container(key="queries-form"), st.form("queries_form", border=False):
        st.markdown(tr("**Your own queries**"))
        st.text_area(
            tr("One query per line, or a table with the columns text, split and, if you like, source"),
            key="queries_typed",
            height=160,
            placeholder=tr("A woman pours tea\nSomebody opens a door for a child"),
        )
        split, file = st.columns([1, 3], vertical_alignment="top")
        split.selectbox(tr("Split"), list(_SPLITS), format_func=_split, key="queries_split")
        file.file_uploader(
            tr("Or a .txt or .csv file"), type=["txt", "csv"], key=f"queries_file_{st.session_state.get(_FILES, 0)}"
        )
        if can_draw:
            _drawing(published)
        st.form_submit_button(tr("Preview"), key="look_at_queries", on_click=look_at)
    warn_unsaved("queries-form")


def _drawing(published: bool) -> None:
    st.markdown(tr("**Queries from captions**, drawn at random. All other captions become training queries."))
    if published:
        st.caption(
            ":material/warning: "
            + tr(
                "Captions are not rewritten, so queries may contain names. Rewrite them in the step Names first: "
                "once queries are drawn, captions are fixed."
            )
        )
    val, test, seed, spread = st.columns(4, vertical_alignment="bottom")
    val.number_input(tr("Validation queries"), 0, value=0, key="queries_val")
    test.number_input(tr("Test queries"), 0, value=0, key="queries_test")
    seed.number_input(
        tr("Random seed"), 0, value=0, key="queries_seed", help=tr("The same seed draws the same queries.")
    )
    spread.selectbox(tr("Spread over"), list(_SPREAD), format_func=lambda one: tr(_SPREAD[one]), key="queries_spread")
    show, repeats = st.columns(2, vertical_alignment="bottom")
    show.text_input(
        tr("Part of the file name that identifies the show"),
        key="queries_show_of",
        placeholder=tr("the part before s01e02"),
        help=tr("A regular expression whose first group is the show. Used only if you spread over the shows."),
    )
    repeats.checkbox(tr("Merge training captions with the same text into one query"), key="queries_merge")


def _form_options() -> dict[str, Any]:
    """Return the values of the form that adds queries, as keyword arguments of `draw_queries`."""
    state = st.session_state
    typed, file = str(state.get("queries_typed") or ""), state.get(f"queries_file_{state.get(_FILES, 0)}")
    if typed.strip() and file is not None:
        raise ProjectError(tr("you typed queries and chose a file. Add one of them first"))
    own = None
    if file is not None:
        own = OwnFile(file.getvalue(), file.name, state["queries_split"])
    elif typed.strip():
        own = OwnFile(typed.encode(), _SOURCE, state["queries_split"])
    spread = state.get("queries_spread")
    val, test = int(state.get("queries_val") or 0), int(state.get("queries_test") or 0)
    if own is None and not (val or test):
        raise ProjectError(tr("enter queries, one per line, choose a file, or enter how many to draw"))
    return {
        **{"val": val, "test": test, "own": own, "seed": int(state.get("queries_seed") or 0)},
        "stratum": Stratum(spread) if spread else None,
        "show_of": str(state.get("queries_show_of") or "").strip() or None,
        "repeats": Repeats.MERGE if state.get("queries_merge") else Repeats.KEEP,
    }


def _preview() -> None:
    """Draw the queries of the preview, and the button that adds them."""
    if _SEEN not in st.session_state:
        return
    options, report = st.session_state[_SEEN]
    judged = report.val + report.test
    with st.container(border=True, key="queries-seen"):
        own = tr(" ({own:,} of your own)", own=report.own) if report.own and options["val"] + options["test"] else ""
        st.markdown(f"**{_counted(report.test, report.val)}**{own}")
        st.html(look.table((tr("Query"), tr("Split")), [(escape(text), split.value) for text, split in report.first]))
        notes = [tr("These are the first {first}.", first=len(report.first))] if len(report.first) < judged else []
        for count, words in (
            (
                report.train,
                marked_n("{n} other caption becomes a training query.", "{n} other captions become training queries."),
            ),
            (
                report.removed,
                marked_n(
                    "{n} caption is left out: it has the text of a validation or test query.",
                    "{n} captions are left out: they have the text of a validation or test query.",
                ),
            ),
            (
                report.merged,
                marked_n(
                    "{n} training caption is merged with another of the same text.",
                    "{n} training captions are merged with others of the same text.",
                ),
            ),
        ):
            if count:
                notes.append(trn(*words, count))
        if report.long:
            told = trn(
                "{n} query is very long ({longest:,} characters). Annotators read it beside every clip: shorten it.",
                "{n} queries are very long (up to {longest:,} characters). Annotators read them beside every clip: "
                "shorten them.",
                len(report.long),
                longest=max(report.long),
            )
            st.warning(told, icon=":material/notes:")
        if not report.rewritten:
            notes.append(tr("Captions are not rewritten, so queries may contain names."))
        if notes:
            st.caption("  \n".join(notes))
        st.button(trn("Add {n} query", "Add {n} queries", judged), key="take_queries", type="primary", on_click=take)


def _list(project: Project, lead: Person, *, may_change: bool) -> None:
    every = count_drawn_queries(project, lead)
    search = ""
    if every > _PER_PAGE or address_state.read("words"):
        placeholder = tr("Search {queries}", queries=wording.count_of(every, "query"))
        search = address_state.search(
            placeholder, name="words", clears=("part",), label=tr("Search queries"), type="search"
        )
    queries = count_drawn_queries(project, lead, search)
    if every and not queries:
        st.info(tr("No query matches your search."))
    look.outcome("set_up_query")
    pages = -(-queries // _PER_PAGE)
    first = (address_state.page_number(pages, "part") - 1) * _PER_PAGE
    for query in drawn_queries(project, lead, search, first=first, most=_PER_PAGE):
        _row(query, may_change=may_change)
    with st.container(horizontal=True, horizontal_alignment="distribute"):
        address_state.pagination(pages, "part")
    if not may_change:
        way = WayThere("Queries", "", tr("the page Queries"))
        st.html(tr("Queries are fixed once candidates are chosen. See their progress on {link}.", link=way.link))


def _row(query: ListedQuery, *, may_change: bool) -> None:
    number = query.query_id
    with st.container(horizontal=True, vertical_alignment="center", key=f"set-up-query-{number}"):
        source = tr(_SOURCE) if query.source == _SOURCE else query.source
        if (cut := wording.clamped(escape(query.text))) != escape(query.text):
            st.html(cut, width="stretch")
        else:
            st.text(query.text, width="stretch", help=plain(tr("from {source}", source=source)) if source else None)
        st.badge(query.split.value, color="gray")
        if not may_change:
            return
        with st.popover(tr("Edit")), st.form(f"query-form-{number}", border=False):
            st.text_input(tr("Text"), query.text, key=f"query-text-{number}")
            st.selectbox(
                tr("Split"),
                list(_SPLITS),
                list(_SPLITS).index(query.split),
                format_func=_split,
                key=f"query-split-{number}",
            )
            st.form_submit_button(tr("Save"), key=f"query-save-{number}", on_click=change, args=(query,))
        st.button(tr("Remove"), key=f"query-remove-{number}", on_click=remove, args=(query,))


def _taking_back(chosen: bool) -> None:
    with st.popover(tr("Remove all queries")):
        st.markdown(
            tr(
                "This removes all queries, including training queries{chosen}. Videos, moments and captions "
                "stay. You can do this until somebody has worked on a pair.",
                chosen=tr(", and their candidates and pairs") if chosen else "",
            )
        )
        st.button(tr("Remove all"), key="take_back_queries", on_click=take_back)


STEP = SetUpStep(KEY, marked("Queries"), _standing, _show)
