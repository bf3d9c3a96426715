"""A long list: it asks for the rows of one page alone, and every row is a link that keeps search, filters and page."""

import xml.etree.ElementTree as ET
from collections.abc import Callable
from urllib.parse import parse_qs

import pytest
from streamlit.testing.v1 import AppTest

from reading import mounted

COUNT = 60


def _page(count: int) -> None:
    import streamlit as st

    from annotate_app.shared.long_list import ListColumn, ListRow, long_list, sorted_by

    columns = (
        ListColumn("Name", sort="name"),
        ListColumn("<Size>", sort="size", number=True),
        ListColumn("Note", phone=False),
    )

    def rows(first: int, most: int) -> list[ListRow]:
        st.session_state["asked"] = (first, most)
        return [ListRow(n, (f"Row {n}", f"{n * n}", "<b>fine</b>")) for n in range(first, min(first + most, count))]

    long_list("All rows", columns, count, rows, opens="row", noun="query", per_page=25)
    st.markdown(f"by {sorted_by(columns)!r}")


@pytest.fixture
def opened() -> Callable[..., AppTest]:
    """The list under an address."""

    def open_at(count: int = COUNT, **address: str) -> AppTest:
        app = AppTest.from_function(_page, args=(count,))
        for name, value in address.items():
            app.query_params[name] = value
        app.run()
        assert not app.exception
        return app

    return open_at


def _table(app: AppTest) -> ET.Element:
    return ET.fromstring(mounted(app))


def test_only_the_rows_of_the_page_are_asked_for(opened: Callable[..., AppTest]) -> None:
    app = opened(page="3")
    assert app.session_state["asked"] == (50, 25)
    assert app.caption[0].value == "51–60 of 60 queries"
    assert [row.get("data-opens") for row in _table(app).iter("tr")][1:] == [str(n) for n in range(50, 60)]
    assert opened(page="99").session_state["asked"] == (50, 25), "an address from before may point past the end"
    assert opened(count=7).caption[0].value == "7 queries"
    empty = opened(count=0)
    assert (len(empty.get("bidi_component")), empty.info[0].value) == (0, "This list is empty.")


def test_a_row_is_a_link_that_keeps_what_the_address_says(opened: Callable[..., AppTest]) -> None:
    table = _table(opened(page="2", q="a & b", row="26"))
    row = next(row for row in table.iter("tr") if row.get("data-opens") == "30")
    (link,) = row.iter("a")
    assert (link.text, parse_qs(link.attrib["href"].removeprefix("?"))) == (
        "Row 30",
        {"page": ["2"], "q": ["a & b"], "row": ["30"]},
    )
    assert [row.get("data-opens") for row in table.iter("tr") if row.get("aria-current")] == ["26"]


@pytest.mark.parametrize(
    ("sort", "order", "then", "by"),
    [
        ("", "none", "name", ""),
        ("name", "ascending", "-name", "name"),
        ("-name", "descending", "", "-name"),
        ("nonsense", "none", "name", ""),
    ],
)
def test_a_head_sorts_up_then_down_then_not_at_all(
    opened: Callable[..., AppTest], sort: str, order: str, then: str, by: str
) -> None:
    app = opened(sort=sort)
    name, size, note = _table(app).iter("th")
    (button,) = name.iter("button")
    assert (name.get("aria-sort"), button.get("data-sort")) == (order, then)
    assert (size.get("aria-sort"), size[0].text, size.get("class")) == ("none", "<Size>", "rr-number")
    assert (note.get("aria-sort"), len(note), note.get("class")) == (None, 0, "rr-not-on-phones")
    assert app.markdown[0].value == f"by {by!r}"
