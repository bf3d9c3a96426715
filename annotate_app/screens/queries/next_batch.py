"""The next batch of candidates for one query: draw whether a rule recommends it, and open, decline or undo it."""

import time
from collections.abc import Callable
from functools import wraps
from typing import Concatenate, ParamSpec

import streamlit as st

from annotate_app.language import tr, translate_message
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
    """Draw whether the batch rule recommends a query's next batch of candidates, and the lead's possible actions."""
    batch = batches_next_batch.next_batch(project, lead, query_id)
    with st.container(key="next-batch"):
        if batch.state is not NextState.ENDED or batch.opened is None:
            st.markdown(says(batch.reading))
        with st.container(horizontal=True, vertical_alignment="center"):
            _acts(batch)
        if batch.opened is not None:
            _opened(query_id, batch.opened)
        look.outcome(_place(query_id))


def says(reading: RuleReading) -> str:
    """Return the batch rule's figures and its recommendation as Markdown: `The rule: mean 2.4 (needs 2.0), ...`."""
    return tr(
        "The rule: {numbers} :{word_colours}-badge[{word}]",
        numbers=plain(translate_message(reading.numbers)),
        word_colours=WORD_COLOURS[reading.word],
        word=WORDS[reading.word],
    )


def why_not(batch: NextBatch) -> str:
    """Return a sentence that says why the next batch cannot be opened, or an empty text if it can."""
    match batch.state:
        case NextState.UNSETTLED:
            return tr("{pairs_are} not settled yet.", pairs_are=wording.pairs_are(batch.unsettled))
        case NextState.ENDED if batch.number > 2:
            return tr("Batch {number} is open already, and there are no further candidates.", number=batch.number - 1)
        case NextState.ENDED:
            return tr("There are no further candidates for this query.")
        case _:
            return ""


def _acts(batch: NextBatch) -> None:
    query_id, number = batch.query_id, batch.number
    if batch.state is NextState.DECLINED and batch.declined is not None:
        by, when = batch.declined.by or tr("A command"), wording.when(batch.declined.at, st.context.timezone)
        st.markdown(
            tr(
                "{by} declined batch {number}, {when}: “{reason}”",
                by=plain(by),
                number=number,
                when=when,
                reason=plain(batch.declined.reason),
            ),
            width="content",
        )
        _reasoned(tr("Take back"), tr("Why do you take it back?"), "decline_back", query_id, number)
        return
    refusal = why_not(batch)
    st.button(
        tr("Open batch {number}", number=number),
        type="primary" if batch.reading.word is RuleWord.OPEN else "secondary",
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
    """Draw who opened the newest batch and, while nobody has worked on it, the button that undoes the opening."""
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


def _reasoned(label: str, question: str, action: str, query_id: QueryId, number: int) -> None:
    """Draw a button that opens a form, in which the lead gives the reason for an action and confirms it.

    Args:
        label: text of the button.
        question: label of the field for the reason.
        action: key of the action in `_ACTS`.
        query_id: the query.
        number: number of the batch.
    """
    key = f"{action}-{query_id}-{number}"
    with st.popover(label, key=f"{key}-asked"), st.form(key, border=False):
        st.text_input(question, key=f"{key}-reason", max_chars=REASON_LENGTH, placeholder=tr("One sentence"))
        st.form_submit_button(label, on_click=_ACTS[action], args=(query_id, number, f"{key}-reason"))


def _place(query_id: QueryId) -> str:
    """Return the name under which `look.outcome` finds the results of actions on a query's next batch."""
    return f"next-batch-{query_id}"


def _leaves_result(
    action: Callable[Concatenate[Project, Person, QueryId, _Args], str],
) -> Callable[Concatenate[QueryId, _Args], None]:
    """Turn an action on a query's next batch into a callback for a button.

    The callback finds the project and the signed-in lead by itself. The page then shows the message that the action
    returned, or why the action was refused.
    """

    @wraps(action)
    def callback(query_id: QueryId, /, *args: _Args.args, **more: _Args.kwargs) -> None:
        def do(project: Project, lead: Person) -> None:
            done = action(project, lead, query_id, *args, **more)
            results.leave(_place(query_id), done)

        look.done_as_lead(do, f"{_place(query_id)}_problem")

    return callback


@_leaves_result
def open_batch(project: Project, lead: Person, query_id: QueryId, number: int) -> str:
    """Open the query's batch with this number, so that annotators get its pairs; return a message for the lead."""
    opened = batches_next_batch.open_batch(project, lead, query_id, number=number, now=time.time())
    pairs = wording.count_of(opened, "pair")
    return tr("Batch {number} is open: {pairs} for the annotators.", number=number, pairs=pairs)


@_leaves_result
def decline_batch(project: Project, lead: Person, query_id: QueryId, number: int, reason: str) -> str:
    """Decline the query's batch with this number, and return a message for the lead.

    `reason` is the session key of the reason that the lead typed.
    """
    reason = st.session_state[reason]
    batches_next_batch.decline_batch(project, lead, query_id, reason, number=number, now=time.time())
    return tr("Batch {number} is declined.", number=number)


@_leaves_result
def take_back_decline(project: Project, lead: Person, query_id: QueryId, number: int, reason: str) -> str:
    """Reverse the decline of a batch, so that leads can decide again, and return a message for the lead.

    `reason` is the session key of the reason that the lead typed.
    """
    reason = st.session_state[reason]
    batches_next_batch.take_back_decline(project, lead, query_id, reason, number=number, now=time.time())
    return tr("Batch {number} waits for a decision again.", number=number)


@_leaves_result
def undo_batch(project: Project, lead: Person, query_id: QueryId, number: int, reason: str) -> str:
    """Undo the opening of a batch, and return a message for the lead.

    `reason` is the session key of the reason that the lead typed.
    """
    reason = st.session_state[reason]
    pairs = batches_next_batch.undo_batch(project, lead, query_id, reason, number=number, now=time.time())
    return tr(
        "Batch {number} is undone: {pairs} removed.",
        number=number,
        pairs=wording.count_of(pairs, "pair"),
    )


_ACTS = {"decline_batch": decline_batch, "decline_back": take_back_decline, "undo_batch": undo_batch}
