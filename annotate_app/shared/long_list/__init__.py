"""Lists for leads: long lists in pages, searchable rows with controls, and a choice of queries by their text.

In a long list, a click anywhere on a row opens this row, and so does Enter.

The database counts, searches, sorts and cuts the list into pages, so only the rows of one page are fetched. The page's
URL holds the search, the order and the page number (`address_state`). Each row is a link, so keyboards and screen
readers reach it, and it can be opened in a new tab.

    columns = (ListColumn("Query", sort="query"), ListColumn("Pairs", sort="pairs", number=True))
    sort = sorted_by(columns)  # "query"; "-query" in descending order; "" in the list's own order
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
"""Largest number of queries that a search offers."""
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
    """A column of a list.

    Attributes:
        label: its head.
        sort: value of the query parameter `sort` that sorts by this column; empty if the list cannot be sorted by it.
        number: whether the column holds numbers.
        phone: whether the column is shown on phones.
        meaning: the tooltip of its head.
    """

    label: str
    sort: str = ""
    number: bool = False
    phone: bool = True
    meaning: str = ""


@dataclass(frozen=True, slots=True)
class ListRow:
    """A row of a list.

    Attributes:
        opens: value of the query parameter that opens the row; empty for a row that is no link.
        cells: content of each column as HTML; the first one is the name of the row.
        picture: URL of a thumbnail before the name; empty for none.
    """

    opens: str | int
    cells: Sequence[str]
    picture: str = ""


def rows_of(items: Sequence[_Item], row: Callable[[_Item], ListRow]) -> Callable[[int, int], list[ListRow]]:
    """Return a function that `long_list` can call (as `fetch`) to get some rows of a list that is in memory.

    `items` is the whole list, and `row` turns an item into a row. The function takes the index of the first row and the
    largest number of rows.
    """
    return lambda first, most: [row(item) for item in items[first : first + most]]


def sorted_by(columns: Sequence[ListColumn]) -> str:
    """Return by which column the page's URL sorts the list, with `-` before it for descending order.

    The result is the column's `sort`, or "" for the list's own order.
    """
    sort = address_state.read(SORT)
    known = {column.sort for column in columns if column.sort}
    return sort if sort.removeprefix("-") in known else ""


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
    """Draw the page of a list that the URL names, with the number of all rows and links to the other pages.

    Args:
        label: name of the list for screen readers, unique on the page.
        columns: the columns.
        count: number of all rows that match the filters.
        fetch: returns rows, given the index of the first one (from 0) and the largest number of rows.
        opens: query parameter that opens a row. The row that the URL names with it is highlighted.
        noun: English noun for a row, a key of `COUNTED`.
        nothing: sentence for a list without rows.
        per_page: rows a page.
        page: path of the page on which a row opens, such as `/queries`; empty for the page with the list.
        current: value of the open row, if the URL does not name it. While a row is open, the list does not handle the
            keys N and P, so that the page can.
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
    """Draw the footer of a list: which rows the page shows, and links to the other pages.

    Args:
        shown: the number of all rows with their noun, such as `40 queries`.
        first: index of the first row on the page, from 0.
        drawn: number of rows on the page.
        pages: number of pages.
        page: query parameter with the page number.
        key: Streamlit's key of the footer.
    """
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
    sort = sorted_by(columns)
    head = "".join(_head(column, attrs, sort) for column, attrs in zip(columns, classes, strict=True))
    return f"<table aria-label='{escape(label)}'><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def _head(column: ListColumn, attrs: str, sort: str) -> str:
    title = f" title='{escape(tr(column.meaning))}'" if column.meaning else ""
    if not column.sort:
        return f"<th scope='col'{attrs}{title}>{escape(tr(column.label))}</th>"
    # The first click sorts ascending, the second descending, the third restores the original order.
    next_sort = {column.sort: f"-{column.sort}", f"-{column.sort}": ""}.get(sort, column.sort)
    order = {column.sort: "ascending", f"-{column.sort}": "descending"}.get(sort, "none")
    button = f"<button type='button' data-sort='{escape(next_sort)}'{title}>{escape(tr(column.label))}</button>"
    return f"<th scope='col'{attrs} aria-sort='{order}'>{button}</th>"


def _row(row: ListRow, classes: Sequence[str], opens: str, page: str, open_now: str) -> str:
    value = str(row.opens)
    if not value:
        plain = (wording.clamped(cell) for cell in row.cells)
        return f"<tr>{''.join(f'<td{attrs}>{cell}</td>' for attrs, cell in zip(classes, plain, strict=True))}</tr>"
    # The present query parameters belong to this page, so a link to another page drops them.
    own_query = {} if page else {name: st.query_params.get_all(name) for name in st.query_params}
    address = own_query | {opens: [value]}
    chosen = " aria-current='true'" if not page and open_now == value else ""
    path = full_path(page) if page else ""
    name, *others = (wording.clamped(cell, focus=False) for cell in row.cells)
    link = f"<a href='{path}?{escape(urlencode(address, doseq=True))}' target='_self'>{name}</a>"
    if row.picture:
        link = f"<div class='rr-pictured'><img loading='lazy' src='{escape(row.picture)}' alt=''/>{link}</div>"
    cells = "".join(f"<td{attrs}>{cell}</td>" for attrs, cell in zip(classes, (link, *others), strict=True))
    return f"<tr data-opens='{escape(value)}'{chosen}>{cells}</tr>"


def _classes(column: ListColumn) -> str:
    names = " ".join(
        name for name, holds in (("rr-number", column.number), ("rr-not-on-phones", not column.phone)) if holds
    )
    return f" class='{names}'" if names else ""


@dataclass(frozen=True, slots=True)
class Searched(Generic[_Item]):
    """One page of search results: the `rows` on it, and the `count` of all matches.

    `noun` is the English noun for a row, `page` the query parameter with the page number.
    """

    rows: Sequence[_Item]
    count: int
    noun: str
    page: str

    def end(self) -> None:
        """Draw the footer below the rows: the number of rows, and links to the other pages."""
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
    """Draw the search field above a list whose rows have controls, and return the rows to draw on the current page.

        people = searched(reviews, lambda one: one.person.name, "person")
        for one in people.rows:
            ...
        people.end()

    A list that fits on one page has no search field.

    Args:
        items: the whole list.
        words: returns the text of an item that is searched.
        noun: English noun for an item.
        name: query parameter with the search text.
        page: query parameter with the page number.
    """
    matches = matching(items, words, noun, name=name, clears=(page,), over=_ROWS_OF_CONTROLS)
    first = (address_state.page_number(-(-len(matches) // _ROWS_OF_CONTROLS), page) - 1) * _ROWS_OF_CONTROLS
    return Searched(matches[first : first + _ROWS_OF_CONTROLS], len(matches), noun, page)


def matching(
    items: Sequence[_Item],
    words: Callable[[_Item], str],
    noun: str,
    *,
    name: str = "q",
    clears: Sequence[str] = ("page",),
    over: int = 0,
) -> Sequence[_Item]:
    """Draw a search field if there are more than `over` items, and return the items whose text has all the words typed.

    Args:
        items: the whole list.
        words: returns the text of an item that is searched.
        noun: English noun for an item.
        name: query parameter with the search text.
        clears: query parameters that a new search removes.
        over: largest number of items without a search field.
    """
    terms = nfc(address_state.read(name)).casefold().split()
    if len(items) > over or terms:
        placeholder = tr("Search {items}", items=wording.count_of(len(items), noun))
        label = tr("Search {items}", items=wording.several(noun))
        address_state.search(placeholder, name=name, clears=clears, label=label, type="search", width=320)
    return [item for item in items if all(word in nfc(words(item)).casefold() for word in terms)] if terms else items


def choose_queries(
    project: Project,
    lead: Person,
    name: str,
    labels: tuple[str, str],
    columns: tuple[DeltaGenerator, DeltaGenerator],
    *,
    none: str,
) -> None:
    """Draw a field that searches queries, and beside it a field to choose some of the queries found.

    `chosen_queries` returns the choice. Do not use this in a form: the search would find nothing until it is sent.

    Args:
        project: the project.
        lead: the lead who chooses.
        name: beginning of the session keys of both fields.
        labels: labels of the search and of the choice.
        columns: columns in which the two fields are drawn.
        none: placeholder that says what an empty choice means.
    """
    words = columns[0].text_input(labels[0], key=f"{name}_search", placeholder=tr("Words of the query, or its number"))
    matches = find_queries(project, lead, QueryFilter(search=words), most=_OFFERED) if words else []
    texts: MutableMapping[Any, str] = st.session_state.setdefault(f"{name}_names", {})
    texts.update({query.query_id: query.query for query in matches})
    columns[1].multiselect(
        labels[1],
        list(dict.fromkeys([*chosen_queries(name), *(query.query_id for query in matches)])),
        format_func=lambda query: texts.get(query, str(query)),
        key=f"{name}_queries",
        placeholder=none,
    )


def chosen_queries(name: str) -> list[QueryId]:
    """Return the queries chosen in the field that `choose_queries` draws under the same name."""
    return list(st.session_state.get(f"{name}_queries") or ())


def clear_queries(name: str) -> None:
    """Empty the choice in the field that `choose_queries` draws. Call it in a callback."""
    st.session_state.pop(f"{name}_queries", None)
