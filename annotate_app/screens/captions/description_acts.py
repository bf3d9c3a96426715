"""A lead's actions on one description: accept it, send it back to its author, undo, show the next one.

A description is a moment that an annotator marked, with their sentence for it.
"""

import time
from collections.abc import Callable, Sequence
from functools import partial

import streamlit as st

from annotate_app.language import marked, tr
from annotate_app.shared import address_state, look, results, wording
from backend.campaign.corpus.describing.model import DescriptionFilter, DescriptionSort, DescriptionStatus
from backend.campaign.corpus.describing.reviewing import (
    accept_description,
    description,
    description_keys,
    return_description,
    take_back_description,
)
from backend.campaign.nouns import Person
from backend.campaign.setup.project.folder import Project
from backend.core.ids import MomentId

ON_SHOW = "description"
"""The address parameter that holds the description shown."""
PLACE = "descriptions_place"
"""Session key of the description shown last, and its position in the list."""
DONE = "descriptions"
"""Name of the place on the page where results appear."""
PROBLEM = f"{DONE}_problem"
PER_PAGE = 10
ALL = "all"
LABELS = {
    DescriptionStatus.WAITING.value: marked("To review"),
    DescriptionStatus.RETURNED.value: marked("Sent back"),
    DescriptionStatus.ACCEPTED.value: marked("Accepted"),
    ALL: marked("All"),
}
ORDERS = {
    "": (marked("Oldest first"), DescriptionSort.AGE, False),
    "newest": (marked("Newest first"), DescriptionSort.AGE, True),
    "video": (marked("By video and time"), DescriptionSort.VIDEO, False),
    "author": (marked("By author"), DescriptionSort.AUTHOR, False),
    "sentence": (marked("By sentence"), DescriptionSort.SENTENCE, False),
}
"""Each order's name in the address, with its label, its sort key and whether it descends."""
KEYS = ("a", "t", "u")
"""The shortcut keys of the buttons that act on a description."""
_UNDO = "descriptions_undo"


def accept(key: str, seen: int, into: MomentId | None = None) -> None:
    """Accept a description as a caption, with the sentence as the lead edited it in the text field.

    Args:
        key: the key of the description.
        seen: the revision that the page showed. If there is a newer one, the action is refused.
        into: an existing moment that gets the sentence as another caption; None to add the description's moment as a
            new one.
    """
    typed = str(st.session_state[sentence_key(key, seen)])
    done = tr("Accepted as a caption") if into is None else tr("Accepted as another caption of that moment")
    action = partial(accept_description, key=key, sentence=typed, into=into, seen=seen, now=time.time())
    _run_action(key, action, done)


def give_back(key: str, seen: int) -> None:
    """Send a description back to its author, with the comment that the lead typed.

    Args:
        key: the key of the description.
        seen: the revision that the page showed. If there is a newer one, the action is refused.
    """
    words = str(st.session_state[words_key(key)]).strip()
    if not words:
        _leave_refusal(key, tr("Write what the author should change (key W). They read it on their page."))
        return
    action = partial(return_description, key=key, words=words, seen=seen, now=time.time())
    _run_action(key, action, tr("Sent back to its author"))


def take_back(key: str) -> None:
    """Reverse the decision on a description, so that it waits for review again, and keep showing it."""
    if problem := look.as_lead(partial(take_back_description, key=key, now=time.time())):
        _leave_refusal(key, problem)
        return
    if st.session_state.get(_UNDO) == key:
        del st.session_state[_UNDO]
    address_state.go(**{ON_SHOW: key})
    _leave_message(key, tr("Taken back. It waits for review again"))


def undo() -> None:
    """Undo the lead's last action on this page."""
    if (key := st.session_state.pop(_UNDO, None)) is not None:
        take_back(key)


def step(by: int) -> None:
    """Show the next description of the list (`by` 1) or the previous one (-1)."""
    key, _ = st.session_state[PLACE]

    def go(project: Project, lead: Person) -> None:
        keys = description_keys(project, lead, description_filter())
        place = keys.index(key) + by if key in keys else 0
        if 0 <= place < len(keys):
            _show(keys, place)

    look.as_lead(go)


def description_filter() -> DescriptionFilter:
    """Return the filter and sort order for the list of descriptions, as the page's URL holds them."""
    shown = address_state.read("show", DescriptionStatus.WAITING.value)
    _, sort, down = ORDERS.get(address_state.read("order"), ORDERS[""])
    return DescriptionFilter(
        None if shown == ALL else DescriptionStatus(shown if shown in LABELS else DescriptionStatus.WAITING.value),
        address_state.read("q"),
        sort,
        down,
    )


def undo_button() -> None:
    """Draw the button that undoes the lead's last action, if there is one."""
    if st.session_state.get(_UNDO):
        what = tr("Undo your last action, and show that description again.")
        st.button(tr("Undo"), key="description-undo", icon=":material/undo:", shortcut="u", help=what, on_click=undo)


def _show(keys: Sequence[str], place: int) -> None:
    number = place // PER_PAGE + 1
    address_state.go(**{ON_SHOW: keys[place], "page": None if number == 1 else number})


def _run_action(key: str, action: Callable[[Project, Person], object], done: str) -> None:
    """Run a lead's action on a description, then show the next description in the list and the message `done`.

    If the back end refuses the action, keep showing the same description with the reason.
    """
    if problem := look.as_lead(action):
        _leave_refusal(key, problem)
        return
    st.session_state[_UNDO] = key
    _leave_message(key, done)
    look.as_lead(partial(_go_on, key, st.session_state.get(PLACE, (key, 0))[1]))


def _go_on(key: str, place: int, project: Project, lead: Person) -> None:
    keys = description_keys(project, lead, description_filter())
    place = min(place + (key in keys), len(keys) - 1)
    if keys:
        _show(keys, place)
    else:
        address_state.go(**{ON_SHOW: None, "page": None})


def _leave_message(key: str, done: str) -> None:
    """Leave a message that says what was done and quotes the description, as the page already shows the next one."""
    results.clear(PROBLEM)

    def tell(project: Project, lead: Person) -> None:
        current_description = description(project, lead, key)
        text = wording.short(current_description.caption or current_description.sentence) if current_description else ""
        results.leave(DONE, tr("{done}: “{query}”", done=done, query=text))

    look.as_lead(tell)


def _leave_refusal(key: str, problem: str) -> None:
    results.clear(PROBLEM)
    st.session_state[PROBLEM] = problem
    address_state.go(**{ON_SHOW: key})


def sentence_key(key: str, revision: int) -> str:
    """Return the Streamlit key of the field with a description's sentence. Each revision has a field of its own."""
    return f"sentence-{key}-{revision}"


def words_key(key: str) -> str:
    """Return the Streamlit key of the field in which the lead writes a comment to the author of a description."""
    return f"words-{key}"
