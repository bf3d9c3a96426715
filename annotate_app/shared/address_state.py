"""What a page shows stands in its address: inputs that survive Back and reload, and that can be sent to a colleague.

Streamlit's own `bind="query-params"` forgets what belongs to an input as soon as the page does not draw it; a list
would lose its filter while one of its rows is open. Here the address alone holds the state, whatever is drawn:

    text("Search", "q", clears=("page",))
    show = choice("Show", "show", {"all": "All", "work": "In work"}, clears=("page",))
    st.button("Open", on_click=go, kwargs={"query": 7})

Values that an address does not offer (it may be typed) count as the default, and the default never stands in it.
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
"""How wide the link to a page is, and to how many there are links at once."""


def read(name: str, default: str = "") -> str:
    """What the address has under a name, or the default. A text that cannot be stored counts as the default."""
    value = st.query_params.get(name, default)
    return value if is_storable(value) else default


def read_number(name: str, default: int | None = None) -> int | None:
    """The number that the address has under a name; the default where it has none, or something else."""
    value = read(name)
    number = small_number(value)
    return default if number is None else number


def go(**values: str | int | None) -> None:
    """Callback, or part of one: writes values into the address in one step, which Back takes back; None removes one."""
    kept = {name: st.query_params.get_all(name) for name in st.query_params if name not in values}
    st.query_params.from_dict({**kept, **{name: str(value) for name, value in values.items() if value is not None}})


def key_of(name: str) -> str:
    """Streamlit's key of the input whose value stands under this name; in CSS `.st-key-address-NAME`."""
    return f"{_KEY}{name}"


def text(label: str, name: str, *, clears: Sequence[str] = (), **options: Any) -> str:
    """A text input; returns what the address says.

    Args:
        label: of the input.
        name: of its value in the address.
        clears: what a change takes out of the address, such as the page of a list.
        options: of `st.text_input`.
    """
    value = read(name)
    _stands(name, value)
    st.text_input(label, key=key_of(name), on_change=_changed, args=(name, "", tuple(clears)), **options)
    return value


def search(placeholder: str, *, name: str = "q", clears: Sequence[str] = ("page",), **options: Any) -> str:
    """The search of a list; only screen readers get its label. Returns what the address says."""
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
    """One of a few values, as segments side by side or as a box; returns the value that the address says.

    Args:
        label: of the input.
        name: of its value in the address.
        options: the label of each value, by the value.
        default: the value that never stands in the address; the first one, unless it is given.
        clears: what a change takes out of the address.
        box: whether it is a box to open, for many values.
        more: options of `st.segmented_control` or `st.selectbox`.
    """
    usual = default or next(iter(options))
    value = read(name) if read(name) in options else usual
    _stands(name, value, options[value])
    draw: Any = st.selectbox if box else st.segmented_control
    draw(
        label,
        list(options),
        format_func=lambda one: options[one],
        key=key_of(name),
        on_change=_changed,
        args=(name, usual, tuple(clears)),
        **({} if box else {"required": True}),
        **more,
    )
    return value


def number(label: str, name: str, *, default: int, least: int, most: int, **options: Any) -> int:
    """A whole number from `least` to `most`; returns what the address says, brought into that range.

    Args:
        label: of the input.
        name: of its value in the address.
        default: the value that never stands in the address.
        least: the smallest one.
        most: the largest one.
        options: of `st.number_input`.
    """
    value = _within(name, default, least, most)
    _stands(name, value)
    st.number_input(
        label, least, most, step=1, key=key_of(name), on_change=_changed, args=(name, default, ()), **options
    )
    return value


def day(label: str, name: str, *, first: str, last: str, clears: Sequence[str] = (), **options: Any) -> str:
    """A day between two others (`2026-03-14`), or none; returns what the address says of it, empty for none.

    Args:
        label: of the input.
        name: of its value in the address.
        first: the earliest day that may be chosen.
        last: the latest one.
        clears: what a change takes out of the address.
        options: of `st.date_input`.
    """
    earliest, latest = date.fromisoformat(first), date.fromisoformat(last)
    value = _day(read(name))
    if value is not None and not earliest <= value <= latest:
        value = None
    _stands(name, value)
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
    """Tabs, of which the address says the open one, by its English name; the first one never stands in it.

    Streamlit's own way to bind them to the address keeps everybody else from writing there.
    """
    open_now = read("tab") if read("tab") in names else names[0]
    _stands("tab", tr(open_now))
    return st.tabs([tr(one) for one in names], key=key_of("tab"), on_change=_turned, args=(tuple(names),))


def page_number(pages: int, name: str = "page") -> int:
    """The page of a list that the address says, from 1 to `pages`; an address from before may point past the end."""
    return _within(name, 1, 1, max(pages, 1))


def pagination(pages: int, name: str = "page") -> None:
    """The links to the pages of a list; nothing where there is one page only."""
    if pages > 1:
        _stands(name, page_number(pages, name))
        # As wide as its content it leaves out pages that there is room for.
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


def _stands(name: str, value: str | int | date | None, label: str = "") -> None:
    """The input shows what the address says, which Back may have changed.

    It is told so only where it shows something else: being told takes away what somebody is just typing. A box shows
    the label it was told, so it is told again where the same value has another one.
    """
    shown = f"{key_of(name)}-label"
    if st.session_state.get(key_of(name)) != value or st.session_state.get(shown, label) != label:
        st.session_state[key_of(name)] = value
    st.session_state[shown] = label


def _turned(names: Sequence[str]) -> None:
    at = [tr(one) for one in names].index(st.session_state[key_of("tab")])
    go(tab=names[at] if at else None)


def _changed(name: str, default: str | int, clears: tuple[str, ...]) -> None:
    value = st.session_state[key_of(name)]
    cleared: dict[str, str | int | None] = dict.fromkeys(clears)
    go(**cleared, **{name: None if value in (None, default) else value})
