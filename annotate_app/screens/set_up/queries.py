"""Step of Set up: the queries, drawn from captions or brought by the lead, and changed until candidates are chosen."""

import time
from html import escape
from typing import Any

import streamlit as st

from annotate_app.language import marked, tr
from annotate_app.plain import plain
from annotate_app.screens.set_up.step import SetUpStep, StepStanding
from annotate_app.shared import address_state, look, wording
from annotate_app.shared.ways import WayThere
from backend.campaign.nouns import Person, Split
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
from backend.core.ids import QueryId

KEY = "queries"
_PER_PAGE = 20
_SEEN, _FILES = "queries_seen", "queries_files"
_SOURCE = marked("typed on the page Set up")
_SPLITS = {Split.TEST: marked("test"), Split.VAL: marked("validation"), Split.TRAIN: marked("training")}
_SPREAD = {"": marked("all texts"), Stratum.VIDEO.value: marked("the videos"), Stratum.SHOW.value: marked("the shows")}


@look.lead_callback("set_up_problem")
def look_at(project: Project, lead: Person) -> None:
    """Callback of the form: what would be taken, or everything that is wrong with it; nothing is written."""
    state = st.session_state
    state.pop(_SEEN, None)
    asked = _asked()
    state[_SEEN] = (asked, draw_queries(project, lead, **asked, dry_run=True, now=time.time()))


@look.lead_callback("set_up_problem")
def take(project: Project, lead: Person) -> None:
    """Callback of the button below what was looked at: exactly that is taken."""
    state = st.session_state
    asked, _ = state[_SEEN]
    draw_queries(project, lead, **asked, now=time.time())
    state.pop(_SEEN)
    state["queries_typed"] = ""
    state[_FILES] = state.get(_FILES, 0) + 1  # an uploader is emptied by being another one


@look.lead_callback("set_up_problem")
def change(project: Project, lead: Person, query: ListedQuery) -> None:
    """Callback of a query's form."""
    text, split = st.session_state[f"query-text-{query.query_id}"], st.session_state[f"query-split-{query.query_id}"]
    change_query(project, lead, query.query_id, text, split, seen=query.text, now=time.time())


@look.lead_callback("set_up_problem")
def remove(project: Project, lead: Person, query_id: QueryId) -> None:
    """Callback of a query's button."""
    remove_queries(project, lead, [query_id], now=time.time())


@look.lead_callback("set_up_problem")
def take_back(project: Project, lead: Person) -> None:
    """Callback of the button that ends it all."""
    take_back_queries(project, lead, now=time.time())


def _standing(project: Project, lead: Person, counts: dict[str, Any]) -> StepStanding:
    there = counts["queries"]
    if there["val"] + there["test"]:
        return StepStanding(True, _counted(there["test"], there["val"]))
    waits = "" if counts["videos"] else tr("Queries are searched for in videos: these come first.")
    return StepStanding(False, tr("none yet"), waits)


def _counted(test: int, val: int) -> str:
    parts = [f"{count:,} {of}" for count, of in ((test, tr("test")), (val, tr("validation"))) if count]
    return f"{wording.count_of(test + val, 'query')}: {', '.join(parts)}"


def _split(split: Split) -> str:
    return tr(_SPLITS[split])


def _show(project: Project, lead: Person, counts: dict[str, Any]) -> None:
    there, chosen = any(counts["queries"].values()), any(counts["batches"].values())
    if not chosen:
        _form(can_draw=not there and counts["captions"] > 0)
        _seen()
    if there:
        _list(project, lead, may_change=not chosen)
        _taking_back(chosen)


def _form(*, can_draw: bool) -> None:
    with st.form("queries_form", border=False):
        st.markdown(tr("**Your own queries**"))
        st.text_area(
            tr("One query a line, or a table with the columns text, split and perhaps source"),
            key="queries_typed",
            height=160,
            placeholder=tr("A woman pours tea\nSomebody opens a door for a child"),
        )
        split, file = st.columns([1, 3], vertical_alignment="top")
        split.selectbox(tr("Split of the lines"), list(_SPLITS), format_func=_split, key="queries_split")
        file.file_uploader(
            tr("Or a file: .txt or .csv"), type=["txt", "csv"], key=f"queries_file_{st.session_state.get(_FILES, 0)}"
        )
        if can_draw:
            _drawing()
        st.form_submit_button(tr("Look at them"), key="look_at_queries", on_click=look_at)


def _drawing() -> None:
    st.markdown(
        tr("**Drawn from the captions** — beside your own ones or instead; all other captions are for training")
    )
    val, test, seed, spread = st.columns(4, vertical_alignment="bottom")
    val.number_input(tr("Validation queries"), 0, value=0, key="queries_val")
    test.number_input(tr("Test queries"), 0, value=0, key="queries_test")
    seed.number_input(
        tr("Seed of the draw"), 0, value=0, key="queries_seed", help=tr("The same seed draws the same queries.")
    )
    spread.selectbox(tr("Spread over"), list(_SPREAD), format_func=lambda one: tr(_SPREAD[one]), key="queries_spread")
    show, repeats = st.columns(2, vertical_alignment="bottom")
    show.text_input(
        tr("What in a video's name is the show"),
        key="queries_show_of",
        placeholder=tr("what stands before s01e02"),
        help=tr("A regular expression; its first group is the show. Only where the draw is spread over shows."),
    )
    repeats.checkbox(tr("Merge training captions with the same text into one query"), key="queries_merge")


def _asked() -> dict[str, Any]:
    """What the form says, as `draw_queries` takes it."""
    state = st.session_state
    typed, file = str(state.get("queries_typed") or ""), state.get(f"queries_file_{state.get(_FILES, 0)}")
    if typed.strip() and file is not None:
        raise ProjectError(tr("there are typed queries and a file: take them one after the other"))
    own = None
    if file is not None:
        own = OwnFile(file.getvalue(), file.name, state["queries_split"])
    elif typed.strip():
        own = OwnFile(typed.encode(), _SOURCE, state["queries_split"])
    spread = state.get("queries_spread")
    val, test = int(state.get("queries_val") or 0), int(state.get("queries_test") or 0)
    if own is None and not (val or test):
        raise ProjectError(tr("write your queries, one a line, choose a file of them, or say how many to draw"))
    return {
        **{"val": val, "test": test, "own": own, "seed": int(state.get("queries_seed") or 0)},
        "stratum": Stratum(spread) if spread else None,
        "show_of": str(state.get("queries_show_of") or "").strip() or None,
        "repeats": Repeats.MERGE if state.get("queries_merge") else Repeats.KEEP,
    }


def _seen() -> None:
    """What was looked at, and the button that takes it."""
    if _SEEN not in st.session_state:
        return
    asked, report = st.session_state[_SEEN]
    judged = report.val + report.test
    with st.container(border=True, key="queries-seen"):
        own = tr(" ({own:,} of your own)", own=report.own) if report.own and asked["val"] + asked["test"] else ""
        st.markdown(f"**{_counted(report.test, report.val)}**{own}")
        st.html(look.table((tr("Query"), tr("Split")), [(escape(text), split.value) for text, split in report.first]))
        notes = [tr("The first {first} are shown.", first=len(report.first))] if len(report.first) < judged else []
        for count, text in (
            (report.train, marked("{train:,} others are for training.")),
            (report.removed, marked("{removed:,} captions have the text of a query to be judged, and may not train.")),
            (report.merged, marked("{merged:,} training captions are merged with another of the same text.")),
        ):
            if count:
                notes.append(tr(text, train=count, removed=count, merged=count))
        if not report.rewritten:
            notes.append(tr("The captions are as published: rewrite them first if queries shall name nobody."))
        if notes:
            st.caption("  \n".join(notes))
        noun = tr("this query") if judged == 1 else tr("these {judged:,} queries", judged=judged)
        st.button(tr("Take {noun}", noun=noun), key="take_queries", type="primary", on_click=take)


def _list(project: Project, lead: Person, *, may_change: bool) -> None:
    every = count_drawn_queries(project, lead)
    search = ""
    if every > _PER_PAGE or address_state.read("words"):
        placeholder = tr("Search {querys}", querys=wording.count_of(every, "query"))
        search = address_state.search(
            placeholder, name="words", clears=("part",), label=tr("Search queries"), type="search"
        )
    found = count_drawn_queries(project, lead, search)
    if every and not found:
        st.info(tr("No query in this list has these words."))
    pages = -(-found // _PER_PAGE)
    first = (address_state.page_number(pages, "part") - 1) * _PER_PAGE
    for query in drawn_queries(project, lead, search, first=first, most=_PER_PAGE):
        _row(query, may_change=may_change)
    with st.container(horizontal=True, horizontal_alignment="distribute"):
        address_state.pagination(pages, "part")
    if not may_change:
        way = WayThere("Queries", "", tr("the page Queries"))
        st.html(tr("Candidates are chosen, so their texts are fixed now. How they stand shows {link}.", link=way.link))


def _row(query: ListedQuery, *, may_change: bool) -> None:
    number = query.query_id
    with st.container(horizontal=True, vertical_alignment="center", key=f"set-up-query-{number}"):
        source = tr(_SOURCE) if query.source == _SOURCE else query.source
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
        st.button(tr("Remove"), key=f"query-remove-{number}", on_click=remove, args=(number,))


def _taking_back(chosen: bool) -> None:
    with st.popover(tr("Take all queries back")):
        st.markdown(
            tr(
                "All queries go, those for training too{chosen}. Videos, moments and captions stay. It is "
                "possible until somebody has worked on a pair.",
                chosen=tr(", with their candidates and pairs") if chosen else "",
            )
        )
        st.button(tr("Take them back"), key="take_back_queries", on_click=take_back)


STEP = SetUpStep(KEY, marked("Queries"), _standing, _show)
