"""Keep the state of a page's inputs in its URL, so that Back, reload and shared links restore it.

Streamlit's own `bind="query-params"` forgets the value of an input as soon as the page does not draw it. A list would
lose its filter while one of its rows is open. Here the query parameters of the URL alone hold the state, whatever is
drawn:

    text("Search", "q", clears=("page",))
    show = choice("Show", "show", {"all": "All", "work": "In work"}, clears=("page",))
    st.button("Open", on_click=go, kwargs={"query": 7})

Each input is given a label, its query parameter and, as `clears`, the parameters that a change of its value removes. An
invalid value counts as the default, because anybody can type a URL. The default is never written to the URL.
"""

from collections.abc import Mapping, Sequence
from datetime import date
from typing import Any

import streamlit as st
from streamlit.elements.lib.mutable_tab_container import TabContainer

from annotate_app.language import tr
from annotate_app.session.request_limits import small_number
from backend.core.typed_text import is_storable

_KEY = "address-"
_PAGE_PX, _PAGES_SHOWN = 44, 7
"""Width of the link to one page of a list, in pixels, and the largest number of such links."""


def read(name: str, default: str = "") -> str:
    """Return a query parameter of the page's URL, or the default if it is missing or cannot be stored as text."""
    value = st.query_params.get(name, default)
    return value if is_storable(value) else default


def read_number(name: str, default: int | None = None) -> int | None:
    """Return a query parameter of the page's URL as a number, or the default if it is missing or not a number."""
    value = read(name)
    number = small_number(value)
    return default if number is None else number


def go(**values: str | int | None) -> None:
    """Set query parameters of the page's URL in one step, which Back undoes; None removes a parameter.

    Call it in a callback, before the page is drawn.
    """
    others = {name: st.query_params.get_all(name) for name in st.query_params if name not in values}
    st.query_params.from_dict({**others, **{name: str(value) for name, value in values.items() if value is not None}})


def key_of(name: str) -> str:
    """Return the Streamlit key of the input for a query parameter. Its CSS class is `.st-key-address-NAME`."""
    return f"{_KEY}{name}"


def text(label: str, name: str, *, clears: Sequence[str] = (), **options: Any) -> str:
    """Draw a text input, and return its value from the page's URL.

    Args:
        label: label of the input.
        name: query parameter that holds the value.
        clears: query parameters that a change removes, such as the page of a list.
        options: further options of `st.text_input`.
    """
    value = read(name)
    _sync_input(name, value)
    st.text_input(label, key=key_of(name), on_change=_changed, args=(name, "", tuple(clears)), **options)
    return value


def search(placeholder: str, *, name: str = "q", clears: Sequence[str] = ("page",), **options: Any) -> str:
    """Draw the search field of a list, and return the search text from the page's URL.

    Args:
        placeholder: text shown in the empty field.
        name: query parameter that holds the search text.
        clears: query parameters that a change removes, such as the page of the list.
        options: further options of `st.text_input`. `label` is only for screen readers.
    """
    label = options.pop("label", tr("Search"))
    return text(label, name, clears=clears, placeholder=placeholder, label_visibility="collapsed", **options)


def choice(
    label: str,
    name: str,
    options: Mapping[str, str],
    *,
    default: str = "",
    clears: Sequence[str] = (),
    box: bool = False,
    **more: Any,
) -> str:
    """Draw a segmented control or a select box, and return the chosen value from the page's URL.

    Args:
        label: label of the input.
        name: query parameter that holds the value.
        options: maps each value to its label.
        default: the value while the URL has none; the first one if empty. It is not written to the URL.
        clears: query parameters that a change removes.
        box: whether to draw a select box, for many values.
        more: further options of `st.segmented_control` or `st.selectbox`.
    """
    default_value = default or next(iter(options))
    value = read(name) if read(name) in options else default_value
    _sync_input(name, value, options[value])
    draw: Any = st.selectbox if box else st.segmented_control
    draw(
        label,
        list(options),
        format_func=lambda value_of_option: options[value_of_option],
        key=key_of(name),
        on_change=_changed,
        args=(name, default_value, tuple(clears)),
        **({} if box else {"required": True}),
        **more,
    )
    return value


def number(label: str, name: str, *, default: int, least: int, most: int, **options: Any) -> int:
    """Draw an input for a whole number, and return its value from the page's URL, clipped to the range.

    Args:
        label: label of the input.
        name: query parameter that holds the value.
        default: the value while the URL has none. It is not written to the URL.
        least: smallest value.
        most: largest value.
        options: further options of `st.number_input`.
    """
    value = _within(name, default, least, most)
    _sync_input(name, value)
    st.number_input(
        label, least, most, step=1, key=key_of(name), on_change=_changed, args=(name, default, ()), **options
    )
    return value


def day(label: str, name: str, *, first: str, last: str, clears: Sequence[str] = (), **options: Any) -> str:
    """Draw an input for an optional day, and return its value (`2026-03-14`) from the page's URL, or "" for none.

    Args:
        label: label of the input.
        name: query parameter that holds the value.
        first: earliest day that may be chosen.
        last: latest day that may be chosen.
        clears: query parameters that a change removes.
        options: further options of `st.date_input`.
    """
    earliest, latest = date.fromisoformat(first), date.fromisoformat(last)
    value = _day(read(name))
    if value is not None and not earliest <= value <= latest:
        value = None
    _sync_input(name, value)
    st.date_input(
        label,
        None,
        min_value=earliest,
        max_value=latest,
        key=key_of(name),
        on_change=_changed,
        args=(name, "", tuple(clears)),
        **options,
    )
    return value.isoformat() if value is not None else ""


def tabs(names: Sequence[str]) -> Sequence[TabContainer]:
    """Draw tabs, and open the tab that the page's URL names (`?tab=`, in English); by default the first.

    Streamlit's own binding of tabs to the URL would prevent this module from changing the URL.
    """
    open_now = read("tab") if read("tab") in names else names[0]
    _sync_input("tab", tr(open_now))
    return st.tabs([tr(tab) for tab in names], key=key_of("tab"), on_change=_tab_changed, args=(tuple(names),))


def page_number(pages: int, name: str = "page") -> int:
    """Return the page number of a list from the page's URL, from 1 to `pages`.

    If an old link points past the end of the list, return the last page.
    """
    return _within(name, 1, 1, max(pages, 1))


def pagination(pages: int, name: str = "page") -> None:
    """Draw the links to the pages of a list, if it has more than one."""
    if pages > 1:
        _sync_input(name, page_number(pages, name))
        # With the width "content", Streamlit leaves out pages although there is room for them.
        width = _PAGE_PX * (min(pages, _PAGES_SHOWN) + 3)
        st.pagination(pages, key=key_of(name), width=width, on_change=_changed, args=(name, 1, ()))


def _within(name: str, default: int, least: int, most: int) -> int:
    value = read_number(name, default)
    return min(max(default if value is None else value, least), most)


def _day(text: str) -> date | None:
    try:
        return date.fromisoformat(text)
    except ValueError:
        return None


def _sync_input(name: str, value: str | int | date | None, label: str = "") -> None:
    """Set an input to its value from the page's URL, which the browser's Back button may have changed.

    The input is set only if it shows another value, because setting it discards text that is just being typed. A select
    box is also set if the label of the same value has changed.
    """
    label_key = f"{key_of(name)}-label"
    if st.session_state.get(key_of(name)) != value or st.session_state.get(label_key, label) != label:
        st.session_state[key_of(name)] = value
    st.session_state[label_key] = label


def _tab_changed(names: Sequence[str]) -> None:
    index = [tr(tab) for tab in names].index(st.session_state[key_of("tab")])
    go(tab=names[index] if index else None)


def _changed(name: str, default: str | int, clears: tuple[str, ...]) -> None:
    value = st.session_state[key_of(name)]
    cleared: dict[str, str | int | None] = dict.fromkeys(clears)
    go(**cleared, **{name: None if value in (None, default) else value})
