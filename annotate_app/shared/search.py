"""Find rows and queries by words: the search above a list of rows with controls, and choosing queries by name.

    people = searched(reviews, lambda one: one.person.name, "person")
    for one in people.rows:
        ...
    people.end()

Search and page stand in the address. A list that fits on one page has neither. A list of cells alone is a `long_list`.
Choosing queries never asks for all of a project's queries, which may be thousands: a search offers some, and what was
chosen stays whatever is searched for next.
"""

from collections.abc import Callable, MutableMapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from annotate_app.language import tr
from annotate_app.shared import address_state, wording
from backend.campaign.nouns import Person
from backend.campaign.review.model import QueryFilter
from backend.campaign.review.queries import find_queries
from backend.campaign.setup.project.folder import Project
from backend.core.ids import QueryId
from backend.core.typed_text import nfc

PER_PAGE = 20
_Item = TypeVar("_Item")
_OFFERED = 100
"""Queries that a search offers."""


@dataclass(frozen=True, slots=True)
class Searched(Generic[_Item]):
    """What is drawn of a list: its `rows` of the page, of `count` that were found."""

    rows: Sequence[_Item]
    count: int
    noun: str
    page: str

    def end(self) -> None:
        """What stands below the rows: how many there are, and the way to the others."""
        pages = -(-self.count // PER_PAGE)
        if not self.count:
            st.info(tr("No {noun} in this list has these words.", noun=self.noun))
        elif pages > 1:
            first = (address_state.page_number(pages, self.page) - 1) * PER_PAGE
            told = tr(
                "{first:,}–{first_2:,} of {count_of}",
                first=first + 1,
                first_2=first + len(self.rows),
                count_of=wording.count_of(self.count, self.noun),
            )
            with st.container(horizontal=True, vertical_alignment="center", horizontal_alignment="distribute"):
                st.caption(told, width="content")
                address_state.pagination(pages, self.page)


def searched(
    items: Sequence[_Item],
    words: Callable[[_Item], str],
    noun: str,
    *,
    name: str = "q",
    page: str = "page",
) -> Searched[_Item]:
    """Draws the search, and says what to draw.

    Args:
        items: the whole list.
        words: what an item is found by.
        noun: what an item is.
        name: of the search, in the address.
        page: of the page, in the address.
    """
    found = matching(items, words, noun, name=name, clears=(page,), over=PER_PAGE)
    first = (address_state.page_number(-(-len(found) // PER_PAGE), page) - 1) * PER_PAGE
    return Searched(found[first : first + PER_PAGE], len(found), noun, page)


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
        address_state.text(
            tr("Search {several}", several=wording.several(noun)),
            name,
            clears=clears,
            type="search",
            placeholder=tr("Search {count_of}", count_of=wording.count_of(len(items), noun)),
            label_visibility="collapsed",
            width=320,
        )
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
