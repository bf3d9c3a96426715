"""Draw the next batch of a query: the rule's advice with its numbers, and buttons to open, decline or take back."""

import time
from collections.abc import Callable
from functools import wraps
from typing import Concatenate, ParamSpec

import streamlit as st

from annotate_app.language import retold, tr
from annotate_app.plain import plain
from annotate_app.shared import look, results, wording
from backend.campaign.nouns import Person
from backend.campaign.selection.batches import next_batch as batches_next_batch
from backend.campaign.selection.batches.model import WORDS, NextBatch, NextState, OpenedBatch, RuleReading, RuleWord
from backend.campaign.setup.project.folder import Project
from backend.core.ids import QueryId

WORD_COLOURS = {RuleWord.OPEN: "green", RuleWord.LEAVE: "gray", RuleWord.UNTOLD: "orange"}
REASON_LENGTH = 300
_Args = ParamSpec("_Args")


def next_batch(project: Project, lead: Person, query_id: QueryId) -> None:
    """Draw the state of a query's next batch, and the buttons for what a lead may do."""
    found = batches_next_batch.next_batch(project, lead, query_id)
    with st.container(key="next-batch"):
        if found.state is not NextState.ENDED or found.opened is None:
            st.markdown(says(found.reading))
        with st.container(horizontal=True, vertical_alignment="center"):
            _acts(found)
        if found.opened is not None:
            _opened(query_id, found.opened)
        look.outcome(_place(query_id))


def says(reading: RuleReading) -> str:
    """Return the rule's advice as Markdown: `The rule: mean 2.4 (needs 2.0), ...` and a badge with the verdict."""
    return tr(
        "The rule: {numbers} :{word_colours}-badge[{word}]",
        numbers=plain(retold(reading.numbers)),
        word_colours=WORD_COLOURS[reading.word],
        word=WORDS[reading.word],
    )


def why_not(found: NextBatch) -> str:
    """Return why the next batch of a query cannot be opened, or "" if it can."""
    match found.state:
        case NextState.UNSETTLED:
            return tr("{pairs_are} not settled yet.", pairs_are=wording.pairs_are(found.unsettled))
        case NextState.ENDED if found.number > 2:
            return tr("Batch {number} is open already, and there are no further candidates.", number=found.number - 1)
        case NextState.ENDED:
            return tr("There are no further candidates for this query.")
        case _:
            return ""


def _acts(found: NextBatch) -> None:
    query_id, number = found.query_id, found.number
    if found.state is NextState.DECLINED and found.declined is not None:
        by, when = found.declined.by or tr("A command"), wording.when(found.declined.at, st.context.timezone)
        st.markdown(
            tr(
                "{by} declined batch {number}, {when}: “{reason}”",
                by=plain(by),
                number=number,
                when=when,
                reason=plain(found.declined.reason),
            ),
            width="content",
        )
        _reasoned(tr("Take back"), tr("Why do you take it back?"), "decline_back", query_id, number)
        return
    refusal = why_not(found)
    st.button(
        tr("Open batch {number}", number=number),
        type="primary" if found.reading.word is RuleWord.OPEN else "secondary",
        key="open_batch",
        disabled=bool(refusal),
        on_click=open_batch,
        args=(query_id, number),
    )
    if refusal:
        st.caption(refusal, width="content")
    else:
        _reasoned(
            tr("Decline batch {number}", number=number),
            tr("Why not open it?"),
            "decline_batch",
            query_id,
            number,
        )


def _opened(query_id: QueryId, opened: OpenedBatch) -> None:
    """Draw who opened the newest batch, and the button that undoes it while nobody has worked on it."""
    with st.container(horizontal=True, vertical_alignment="center"):
        by, when = opened.by or tr("A command"), wording.when(opened.at, st.context.timezone)
        kept = tr("It stays: {kept}.", kept=opened.kept) if opened.kept else tr("Nobody has worked on it yet.")
        st.caption(
            tr(
                "{by} opened batch {number}, {when}. {kept}",
                by=plain(by),
                number=opened.number,
                when=when,
                kept=plain(kept),
            ),
            width="content",
        )
        if not opened.kept:
            label = tr("Undo batch {number}", number=opened.number)
            _reasoned(label, tr("Why do you undo it?"), "undo_batch", query_id, opened.number)


def _reasoned(label: str, question: str, act: str, query_id: QueryId, number: int) -> None:
    """Draw a button that asks for a reason before it runs an action."""
    key = f"{act}-{query_id}-{number}"
    with st.popover(label, key=f"{key}-asked"), st.form(key, border=False):
        st.text_input(question, key=f"{key}-reason", max_chars=REASON_LENGTH, placeholder=tr("One sentence"))
        st.form_submit_button(label, on_click=_ACTS[act], args=(query_id, number, f"{key}-reason"))


def _place(query_id: QueryId) -> str:
    """Return the name of the place where results about a query are shown."""
    return f"next-batch-{query_id}"


def _shows_result(
    act: Callable[Concatenate[Project, Person, QueryId, _Args], str],
) -> Callable[Concatenate[QueryId, _Args], None]:
    """Decorate a callback so that the page shows its result, or why it was refused."""

    @wraps(act)
    def callback(query_id: QueryId, /, *args: _Args.args, **more: _Args.kwargs) -> None:
        def do(project: Project, lead: Person) -> None:
            done = act(project, lead, query_id, *args, **more)
            results.leave(_place(query_id), done)

        look.done_as_lead(do, f"{_place(query_id)}_problem")

    return callback


@_shows_result
def open_batch(project: Project, lead: Person, query_id: QueryId, number: int) -> str:
    """Open the batch that the button names. For callbacks."""
    opened = batches_next_batch.open_batch(project, lead, query_id, number=number, now=time.time())
    pairs = wording.count_of(opened, "pair")
    return tr("Batch {number} is open: {pairs} for the annotators.", number=number, pairs=pairs)


@_shows_result
def decline_batch(project: Project, lead: Person, query_id: QueryId, number: int, reason: str) -> str:
    """Decline the batch. `reason` is the session key of the reason. For callbacks."""
    reason = st.session_state[reason]
    batches_next_batch.decline_batch(project, lead, query_id, reason, number=number, now=time.time())
    return tr("Batch {number} is declined.", number=number)


@_shows_result
def take_back_decline(project: Project, lead: Person, query_id: QueryId, number: int, reason: str) -> str:
    """Take back that the batch was declined. For callbacks."""
    reason = st.session_state[reason]
    batches_next_batch.take_back_decline(project, lead, query_id, reason, number=number, now=time.time())
    return tr("Batch {number} waits for a decision again.", number=number)


@_shows_result
def undo_batch(project: Project, lead: Person, query_id: QueryId, number: int, reason: str) -> str:
    """Undo the opening of the batch. For callbacks."""
    reason = st.session_state[reason]
    pairs = batches_next_batch.undo_batch(project, lead, query_id, reason, number=number, now=time.time())
    return tr(
        "Batch {number} is undone: {pairs} removed.",
        number=number,
        pairs=wording.count_of(pairs, "pair"),
    )


_ACTS = {"decline_batch": decline_batch, "decline_back": take_back_decline, "undo_batch": undo_batch}
