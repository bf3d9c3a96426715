"""Show the result of a button near this button until the reader dismisses it.

A callback stores its result in the session under a name, and the page shows the result where it calls `look.outcome`
with this name:

    @look.lead_callback("terms_problem")              # if the action is refused, the reason is stored here
    def save(project, lead):
        ...
        results.leave("terms", tr("Licence saved."))

    st.button(tr("Save"), on_click=save)
    look.outcome("terms")                             # shows the result or the refusal

The page scrolls to a new result. The next result under the same name replaces it.
"""

from itertools import count
from typing import Literal, NamedTuple

import streamlit as st

from annotate_app.language import tr
from annotate_app.plain import component_key, plain
from annotate_app.session.addresses import full_path

Kind = Literal["done", "warning", "problem"]
_number = count(1)
_in_view = st.components.v2.component(
    "reelrank_result",
    html="<i class='rr-result-mark' hidden></i>",
    css="""
[class*="st-key-result-"] { flex-wrap: nowrap !important; gap: .5rem; }
[class*="st-key-result-"] > :first-child { flex: 1 1 0; min-width: 0; }
[class*="st-key-result-"] > :has(.rr-result-mark) { display: none; }
[class*="st-key-result-"] [data-testid="stAlert"] p:first-child::first-letter { text-transform: uppercase; }
""",
    js="""
const seen = new Set();
export default function ({ parentElement, data }) {
  if (seen.has(data.number)) return; // also after the reader went to another page and came back
  seen.add(data.number);
  const box = parentElement.closest(data.box);
  if (!box) return;
  box.style.scrollMargin = "5rem 0 1rem"; // the header covers the top
  requestAnimationFrame(() => box.scrollIntoView({ block: "nearest" }));
}
""",
    isolate_styles=False,
)


class Result(NamedTuple):
    """Result of a button, to be shown near the button.

    Attributes:
        text: the text to show.
        kind: whether it is a success (`done`), a warning or a problem.
        link: path and label of a link after the text; None for none.
        number: a different number for each result, so that the page scrolls to a result only once.
    """

    text: str
    kind: Kind = "done"
    link: tuple[str, str] | None = None
    number: int = 0


def leave(name: str, text: str, *, kind: Kind = "done", link: tuple[str, str] | None = None) -> None:
    """Store a result in the session, for the place where the page calls `look.outcome(name)`. Call it in a callback.

    Args:
        name: the name of the place.
        text: the text to show.
        kind: whether it is shown as a success, a warning or a problem.
        link: path and label of a link after the text; None for none.
    """
    st.session_state[f"{name}_done"] = Result(text, kind, link, next(_number))


def clear(problem: str) -> None:
    """Remove the result or refusal that the page shows at one place. Call it in a callback.

    `problem` is the session key of the refusal, such as `terms_problem`.
    """
    st.session_state.pop(problem, None)
    st.session_state.pop(f"{problem.removesuffix('_problem')}_done", None)


def show(key: str, kind: Kind = "done") -> None:
    """Draw the result that the session holds under `key`, if any, with a button that dismisses it.

    If the session holds a string and not a `Result`, `kind` says how to draw it.
    """
    result = st.session_state.get(key)
    if not result:
        return
    if not isinstance(result, Result):
        result = st.session_state[key] = Result(str(result), kind, number=next(_number))
    draw = {"done": st.success, "warning": st.warning, "problem": st.error}[result.kind]
    text = plain(result.text)
    if result.link is not None:
        path, words = result.link
        text = f"{text} [{plain(words)}]({full_path(path)})"
    name = component_key(key)
    with st.container(horizontal=True, vertical_alignment="center", key=f"result-{name}"):
        draw(text, width="stretch")
        bring_into_view(f"result-{name}", result.number)
        st.button(
            tr("Dismiss"),
            key=f"dismiss-{name}",
            icon=":material/close:",
            type="tertiary",
            on_click=_dismiss,
            args=(key,),
        )


def bring_into_view(container: str, number: str | int) -> None:
    """Scroll the page to a container, but only once for each `number`. Call it while drawing the container.

    `container` is the container's Streamlit key.
    """
    _in_view(key=f"in-view-{container}", data={"box": f".st-key-{container}", "number": f"{container} {number}"})


def _dismiss(key: str) -> None:
    st.session_state.pop(key, None)
