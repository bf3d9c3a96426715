"""A list whose rows have controls of their own, searched and cut into pages; one of cells alone is a `long_list`.

    people = searched(reviews, lambda one: one.person.name, "person")
    for one in people.rows:
        ...
    people.end()

Search and page stand in the address. A list that fits on one page has neither.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

import streamlit as st

from annotate_app.language import tr
from annotate_app.shared import address_state, wording
from backend.core.typed_text import nfc

PER_PAGE = 20
_Item = TypeVar("_Item")


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
    clears: Sequence[str] = (),
) -> Searched[_Item]:
    """Draws the search, and says what to draw.

    Args:
        items: the whole list.
        words: what an item is found by.
        noun: what an item is.
        name: of the search, in the address.
        page: of the page, in the address.
        clears: what else a search takes out of the address.
    """
    found = matching(items, words, noun, name=name, clears=(page, *clears), over=PER_PAGE)
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
