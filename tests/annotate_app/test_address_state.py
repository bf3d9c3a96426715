"""Inputs whose value stands in the address: what a choice writes there, and what an address makes them show."""

from collections.abc import Callable
from datetime import date

import pytest
from streamlit.testing.v1 import AppTest


def _page() -> None:
    import streamlit as st

    from annotate_app.shared import address_state

    if address_state.read("query"):
        st.button("Back to the list", on_click=address_state.go, kwargs={"query": None})
        return
    show = address_state.choice("Show", "show", {"all": "All", "work": "In work"}, clears=("page",))
    split = address_state.choice("Split", "split", {"": "Any", "val": "Val"}, clears=("page",), box=True)
    q = address_state.text("Search", "q", clears=("page",))
    least = address_state.number("Least", "least", default=0, least=0, most=40)
    day = address_state.day("From", "from", first="2026-03-01", last="2026-03-31")
    page = address_state.page_number(5)
    address_state.pagination(5)
    st.button("Open", on_click=address_state.go, kwargs={"query": 7})
    first, second = address_state.tabs(["One", "Two"])
    first.caption(f"one is {first.open}")
    second.button("Deeper", on_click=address_state.go, kwargs={"item": 3})
    st.markdown(repr((show, split, q, least, day, page)))


@pytest.fixture
def opened() -> Callable[..., AppTest]:
    """The page under an address."""

    def open_at(**address: str) -> AppTest:
        app = AppTest.from_function(_page)
        for name, value in address.items():
            app.query_params[name] = value
        return app.run()

    return open_at


def _said(app: AppTest) -> str:
    assert not app.exception
    return app.markdown[-1].value


def _address(app: AppTest) -> dict[str, str]:
    return {name: value if isinstance(value, str) else value[-1] for name, value in app.query_params.items()}


def test_an_address_is_shown_and_what_it_cannot_mean_is_the_default(opened: Callable[..., AppTest]) -> None:
    app = opened(show="work", split="val", q="a dog", least="7", page="3")
    assert _said(app) == "('work', 'val', 'a dog', 7, '', 3)"
    assert (app.segmented_control[0].value, app.selectbox[0].value) == ("work", "val")
    assert (app.text_input[0].value, app.number_input[0].value) == ("a dog", 7)
    assert _said(opened(show="nonsense", split="<b>", least="-1", page="99")) == "('all', '', '', 0, '', 5)"
    assert _said(opened(least="400", page="0")) == "('all', '', '', 40, '', 1)"


def test_the_open_tab_stands_in_the_address_beside_what_is_opened_in_it(opened: Callable[..., AppTest]) -> None:
    """Streamlit's own binding of tabs broke the page as soon as anything else was written into the address."""
    assert opened().caption[0].value == "one is True"
    app = opened(tab="Two")
    assert app.caption[0].value == "one is False"
    app.button[1].click().run()
    assert not app.exception
    assert _address(app) == {"tab": "Two", "item": "3"}
    assert app.caption[0].value == "one is False"
    assert opened(tab="nonsense").caption[0].value == "one is True"


def test_a_day_stands_in_the_address_and_only_one_that_may_be_chosen(opened: Callable[..., AppTest]) -> None:
    app = opened(**{"from": "2026-03-07"})
    assert (app.date_input[0].value, _said(app)) == (date(2026, 3, 7), "('all', '', '', 0, '2026-03-07', 1)")
    app.date_input[0].set_value(date(2026, 3, 9)).run()
    assert _address(app)["from"] == "2026-03-09"
    app.date_input[0].set_value(None).run()
    assert ("from" in _address(app), _said(app)) == (False, "('all', '', '', 0, '', 1)")
    for nonsense in ("2026-02-28", "2026-04-01", "yesterday", "<b>"):
        assert _said(opened(**{"from": nonsense})) == "('all', '', '', 0, '', 1)"


def test_a_change_stands_in_the_address_and_takes_the_page_with_it(opened: Callable[..., AppTest]) -> None:
    app = opened(page="3", other="kept")
    app.text_input[0].set_value("a dog").run()
    assert _address(app) == {"q": "a dog", "other": "kept"}
    app.segmented_control[0].set_value("work").run()
    assert _address(app) == {"q": "a dog", "other": "kept", "show": "work"}
    app.segmented_control[0].set_value("all").run()
    app.selectbox[0].set_value("val").run()
    app.number_input[0].set_value(3).run()
    assert _address(app) == {"q": "a dog", "other": "kept", "split": "val", "least": "3"}
    assert _said(app) == "('all', 'val', 'a dog', 3, '', 1)"
    app.text_input[0].set_value("").run()
    app.selectbox[0].set_value("").run()
    app.number_input[0].set_value(0).run()
    assert _address(app) == {"other": "kept"}, "defaults do not stand in the address"


def test_inputs_that_are_not_drawn_keep_their_values(opened: Callable[..., AppTest]) -> None:
    app = opened(page="3", q="a dog")
    app.button[0].click().run()
    assert _address(app) == {"page": "3", "q": "a dog", "query": "7"}
    assert not app.text_input
    app.button[0].click().run()
    assert _said(app) == "('all', '', 'a dog', 0, '', 3)"
    assert app.text_input[0].value == "a dog"


def test_going_back_shows_the_older_value_in_the_input(opened: Callable[..., AppTest]) -> None:
    app = opened()
    app.text_input[0].set_value("a dog").run()
    del app.query_params["q"]  # what a browser's Back leads to
    app.run()
    assert (_said(app), app.text_input[0].value) == ("('all', '', '', 0, '', 1)", "")
