"""Lists for leads: long lists in pages, searchable rows with controls, and a choice of queries by their text.

Of a long list a click anywhere on a row opens it, and so does Enter.

Counting, searching, sorting and cutting into pages is the database's work: the widget asks for the rows of one page.
What is searched, sorted by, and which page it is, stands in the address (`address_state`). Each row is a link, so that
keyboards and screen readers reach it, and that it opens in a tab of its own as any link does.

    columns = (ListColumn("Query", sort="query"), ListColumn("Pairs", sort="pairs", number=True))
    sort = sorted_by(columns)  # "query", or "-query" from the largest down, or "" as the list comes
    long_list("Queries", columns, count, lambda first, most: rows(first, most, sort), opens="query", noun="query")
"""

from collections.abc import Callable, MutableMapping, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Any, Generic, TypeVar
from urllib.parse import urlencode

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from annotate_app.language import tr
from annotate_app.session.addresses import full_path
from annotate_app.shared import address_state, wording
from backend.campaign.nouns import Person
from backend.campaign.review.model import QueryFilter
from backend.campaign.review.queries import find_queries
from backend.campaign.setup.project.folder import Project
from backend.core.ids import QueryId
from backend.core.typed_text import nfc

PER_PAGE, _ROWS_OF_CONTROLS = 25, 20
_OFFERED = 100
"""Queries that a search offers."""
_Item = TypeVar("_Item")
SORT = "sort"
_HERE = Path(__file__).parent
_mount = st.components.v2.component(
    "reelrank_long_list",
    html='<div class="rr-list"></div>',
    css=(_HERE / "long_list.css").read_text(encoding="utf-8"),
    js="\n".join(path.read_text(encoding="utf-8") for path in (_HERE.parent / "keyboard.js", _HERE / "long_list.js")),
    isolate_styles=False,  # grades and bars in cells look as they do everywhere
)


@dataclass(frozen=True, slots=True)
class ListColumn:
    """A column of a list. Not shown on a `phone` where it says so; `meaning` is told where the pointer rests."""

    label: str
    sort: str = ""
    """The name in the address by which the list is sorted; empty where it cannot be."""
    number: bool = False
    phone: bool = True
    meaning: str = ""


@dataclass(frozen=True, slots=True)
class ListRow:
    """A row: what stands in the address once it is open, and a cell for each column, as HTML; the first names it.

    A row whose `opens` is empty leads nowhere. `picture` is the address of a thumbnail, before the name.
    """

    opens: str | int
    cells: Sequence[str]
    picture: str = ""


def rows_of(items: Sequence[_Item], row: Callable[[_Item], ListRow]) -> Callable[[int, int], list[ListRow]]:
    """Return the rows of one page of a list that is already in memory, as `long_list` expects them."""
    return lambda first, most: [row(one) for one in items[first : first + most]]


def sorted_by(columns: Sequence[ListColumn]) -> str:
    """By what the address wants the list sorted: a column's `sort`, with `-` before it from the largest down."""
    wanted = address_state.read(SORT)
    known = {column.sort for column in columns if column.sort}
    return wanted if wanted.removeprefix("-") in known else ""


def long_list(
    label: str,
    columns: Sequence[ListColumn],
    count: int,
    fetch: Callable[[int, int], Sequence[ListRow]],
    *,
    opens: str,
    noun: str,
    nothing: str = "",
    per_page: int = PER_PAGE,
    page: str = "",
    current: str | int | None = None,
) -> None:
    """The page of the list that the address says, how many rows there are, and the links to the other pages.

    Args:
        label: what the list is called to those who do not see it; one list of a name on a page.
        columns: its columns.
        count: how many rows there are in all, with the filters that hold.
        fetch: the rows from the given one on (counted from 0), at most so many.
        opens: the name in the address that opens a row; the row whose value stands there is marked.
        noun: what a row is.
        nothing: the sentence for a list without rows.
        per_page: rows a page.
        page: the path of the page that a row opens on, such as `/queries`; empty for the page that the list is on.
        current: the row that is open where the address does not say so; N and P are then the page's.
    """
    if not count:
        st.info(nothing or tr("This list is empty."))
        return
    pages = -(-count // per_page)
    first = (address_state.page_number(pages) - 1) * per_page
    rows = fetch(first, per_page)
    open_now = address_state.read(opens) if current is None else str(current)
    name = f"list-{label.lower().replace(' ', '-')}"

    def opened() -> None:
        address_state.go(**{opens: st.session_state[name]["opened"]})

    def sorted_anew() -> None:
        address_state.go(**{SORT: st.session_state[name]["sorted"] or None, "page": None})

    _mount(
        key=name,
        data={
            "html": _table(label, columns, rows, opens, page, open_now),
            "keys": bool(page) or not open_now,
            "elsewhere": bool(page),
        },
        on_opened_change=opened,
        on_sorted_change=sorted_anew,
    )
    _end(wording.count_of(count, noun), first, len(rows), pages, "page", "list-end")


def _end(shown: str, first: int, drawn: int, pages: int, page: str, key: str | None = None) -> None:
    """Draw the footer of a page: which rows it shows, and links to the other pages."""
    with st.container(horizontal=True, vertical_alignment="center", horizontal_alignment="distribute", key=key):
        if pages > 1:
            shown = tr("{first:,}–{first_2:,} of {shown}", first=first + 1, first_2=first + drawn, shown=shown)
        st.caption(shown, width="content")
        address_state.pagination(pages, page)


def _table(
    label: str, columns: Sequence[ListColumn], rows: Sequence[ListRow], opens: str, page: str, open_now: str
) -> str:
    classes = [_classes(column) for column in columns]
    body = "".join(_row(row, classes, opens, page, open_now) for row in rows)
    by = sorted_by(columns)
    head = "".join(_head(column, named, by) for column, named in zip(columns, classes, strict=True))
    return f"<table aria-label='{escape(label)}'><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def _head(column: ListColumn, named: str, by: str) -> str:
    title = f" title='{escape(tr(column.meaning))}'" if column.meaning else ""
    if not column.sort:
        return f"<th scope='col'{named}{title}>{escape(tr(column.label))}</th>"
    # One click sorts from the smallest up, a second one from the largest down, a third one not at all.
    then = {column.sort: f"-{column.sort}", f"-{column.sort}": ""}.get(by, column.sort)
    order = {column.sort: "ascending", f"-{column.sort}": "descending"}.get(by, "none")
    button = f"<button type='button' data-sort='{escape(then)}'{title}>{escape(tr(column.label))}</button>"
    return f"<th scope='col'{named} aria-sort='{order}'>{button}</th>"


def _row(row: ListRow, classes: Sequence[str], opens: str, page: str, open_now: str) -> str:
    value = str(row.opens)
    if not value:
        plain = (wording.clamped(cell) for cell in row.cells)
        return f"<tr>{''.join(f'<td{named}>{cell}</td>' for named, cell in zip(classes, plain, strict=True))}</tr>"
    # What stands in the address is of this page.
    here = {} if page else {name: st.query_params.get_all(name) for name in st.query_params}
    address = here | {opens: [value]}
    chosen = " aria-current='true'" if not page and open_now == value else ""
    to = full_path(page) if page else ""
    name, *others = (wording.clamped(cell, focus=False) for cell in row.cells)
    link = f"<a href='{to}?{escape(urlencode(address, doseq=True))}' target='_self'>{name}</a>"
    if row.picture:
        link = f"<div class='rr-pictured'><img loading='lazy' src='{escape(row.picture)}' alt=''/>{link}</div>"
    cells = "".join(f"<td{named}>{cell}</td>" for named, cell in zip(classes, (link, *others), strict=True))
    return f"<tr data-opens='{escape(value)}'{chosen}>{cells}</tr>"


def _classes(column: ListColumn) -> str:
    named = " ".join(
        name for name, holds in (("rr-number", column.number), ("rr-not-on-phones", not column.phone)) if holds
    )
    return f" class='{named}'" if named else ""


@dataclass(frozen=True, slots=True)
class Searched(Generic[_Item]):
    """What is drawn of a list: its `rows` of the page, of `count` that were found."""

    rows: Sequence[_Item]
    count: int
    noun: str
    page: str

    def end(self) -> None:
        """What stands below the rows: how many there are, and the way to the others."""
        pages = -(-self.count // _ROWS_OF_CONTROLS)
        if not self.count:
            st.info(tr("Nothing in this list matches your search."))
        elif pages > 1:
            first = (address_state.page_number(pages, self.page) - 1) * _ROWS_OF_CONTROLS
            _end(wording.count_of(self.count, self.noun), first, len(self.rows), pages, self.page)


def searched(
    items: Sequence[_Item],
    words: Callable[[_Item], str],
    noun: str,
    *,
    name: str = "q",
    page: str = "page",
) -> Searched[_Item]:
    """Draw the search above a list of rows with controls, and return the rows to draw.

        people = searched(reviews, lambda one: one.person.name, "person")
        for one in people.rows:
            ...
        people.end()

    A list that fits on one page has no search.

    Args:
        items: the whole list.
        words: what an item is found by.
        noun: what an item is.
        name: of the search, in the address.
        page: of the page, in the address.
    """
    found = matching(items, words, noun, name=name, clears=(page,), over=_ROWS_OF_CONTROLS)
    first = (address_state.page_number(-(-len(found) // _ROWS_OF_CONTROLS), page) - 1) * _ROWS_OF_CONTROLS
    return Searched(found[first : first + _ROWS_OF_CONTROLS], len(found), noun, page)


def matching(
    items: Sequence[_Item],
    words: Callable[[_Item], str],
    noun: str,
    *,
    name: str = "q",
    clears: Sequence[str] = ("page",),
    over: int = 0,
) -> Sequence[_Item]:
    """Draws the search, where there are more than `over` items; those that have all its words."""
    asked = nfc(address_state.read(name)).casefold().split()
    if len(items) > over or asked:
        placeholder = tr("Search {items}", items=wording.count_of(len(items), noun))
        label = tr("Search {items}", items=wording.several(noun))
        address_state.search(placeholder, name=name, clears=clears, label=label, type="search", width=320)
    return [item for item in items if all(word in nfc(words(item)).casefold() for word in asked)] if asked else items


def choose_queries(
    project: Project,
    lead: Person,
    name: str,
    labels: tuple[str, str],
    columns: tuple[DeltaGenerator, DeltaGenerator],
    *,
    none: str,
) -> None:
    """A search beside the queries that are chosen; `chosen_queries(name)` says which.

    Not for a form, in which a search would offer nothing until the form is sent.

    Args:
        project: the project.
        lead: who chooses.
        name: of what is chosen, in the session.
        labels: of the search and of the choice.
        columns: where they are drawn.
        none: what it means that nothing is chosen.
    """
    words = columns[0].text_input(labels[0], key=f"{name}_search", placeholder=tr("Words of the query, or its number"))
    found = find_queries(project, lead, QueryFilter(search=words), most=_OFFERED) if words else []
    texts: MutableMapping[Any, str] = st.session_state.setdefault(f"{name}_names", {})
    texts.update({one.query_id: one.query for one in found})
    columns[1].multiselect(
        labels[1],
        list(dict.fromkeys([*chosen_queries(name), *(one.query_id for one in found)])),
        format_func=lambda one: texts.get(one, str(one)),
        key=f"{name}_queries",
        placeholder=none,
    )


def chosen_queries(name: str) -> list[QueryId]:
    """What is chosen."""
    return list(st.session_state.get(f"{name}_queries") or ())


def clear_queries(name: str) -> None:
    """Choose nothing; for callbacks."""
    st.session_state.pop(f"{name}_queries", None)
