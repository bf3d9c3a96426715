"""The next batches of all queries: a dialog in which leads accept the batch rule's suggestions or change the rule.

While the dialog is open, the session holds the suggestions that the lead sees. Only these can be accepted.
"""

import time
from collections.abc import Mapping
from functools import partial

import streamlit as st

from annotate_app.language import marked, tr, translate_message, trn
from annotate_app.plain import plain
from annotate_app.screens.queries.next_batch import REASON_LENGTH, WORD_COLOURS
from annotate_app.session import auth
from annotate_app.shared import look, results, wording
from backend.campaign.nouns import Person, Scale
from backend.campaign.selection.batches.model import WORDS, AcceptedReport, BatchRule, RuleWord, Suggestions
from backend.campaign.selection.batches.suggestions import (
    accept_suggestions,
    batch_rule_versions,
    batch_shares,
    batch_suggestions,
    set_batch_rule,
)
from backend.campaign.setup.project.folder import Project

_SEEN, _ACCEPTED = "next_batches", "next_batches_accepted"
_NUMBERS = (
    *(marked("no", _context="with"), marked("one", _context="with"), marked("two", _context="with")),
    *(marked("three", _context="with"), marked("four", _context="with"), marked("five", _context="with")),
)
_DONE, _PROBLEM = "next_batches", "next_batches_problem"


def next_batches(project: Project, lead: Person) -> None:
    """Draw how many queries have one batch, two and so on, and a button that opens the dialog on next batches.

    In the dialog, leads accept the batch rule's suggestions and change the rule.
    """
    with st.container(horizontal=True, vertical_alignment="center", key="next-batches"):
        st.caption(shares(batch_shares(project, lead)), width="stretch")
        st.button(tr("Next batches"), key="next_batches_look", icon=":material/library_add:", on_click=_look)
    results.show(f"{_DONE}_done")
    if _SEEN not in st.session_state:  # an open dialog shows refusals itself
        look.refusal(_PROBLEM)
    else:
        auth.dialog(_dialog, tr("Next batches"), width="large", on_dismiss=_close)(project, lead)


def shares(queries_by_batches: Mapping[str, Mapping[str, int]]) -> str:
    """Return a text that says, for each split, how many queries have one batch, two and so on.

    For example: `val: 264 with one batch, 236 with two (of 500)`.
    """
    parts = []
    for split, numbers in queries_by_batches.items():
        told = [
            tr(
                "{count:,} with {batches}",
                count=count,
                batches=_so_many(int(number), bare=place > 0),
            )
            for place, (number, count) in enumerate(numbers.items())
        ]
        parts.append(
            tr("{split}: {shares} (of {queries:,})", split=split, shares=", ".join(told), queries=sum(numbers.values()))
        )
    return " · ".join(parts)


def _so_many(count: int, *, bare: bool) -> str:
    """Return a number of batches in words: `two batches`, or only `two` if `bare`."""
    number = tr(_NUMBERS[count], _context="with") if count < len(_NUMBERS) else str(count)
    return number if bare else trn("{number} batch", "{number} batches", count, number=number)


def _look() -> None:
    """Open the dialog on next batches: store the batch rule's current suggestions in the session."""

    def act(project: Project, lead: Person) -> None:
        st.session_state[_SEEN] = batch_suggestions(project, lead)

    if problem := look.as_lead(act):
        st.session_state[_PROBLEM] = problem


def _close() -> None:
    st.session_state.pop(_SEEN, None)


def _dialog(project: Project, lead: Person) -> None:
    seen: Suggestions = st.session_state[_SEEN]
    st.markdown(tr("A next batch is worth opening if {words}.", words=plain(translate_message(seen.rule.rule.words))))
    _rule(project, lead, seen)
    st.markdown(_table(seen))
    # Remove it before the work begins: if this run is cut off, the next run only shows what is left.
    decline = st.session_state.pop(_ACCEPTED, None)
    if decline is None:
        _offer(seen)
    else:
        _accept(seen, decline)


def _offer(seen: Suggestions) -> None:
    """Draw the button that opens all batches that the rule recommends.

    If there are batches that the rule does not recommend, a checkbox declines these at the same time.
    """
    opens, leaves = seen.saying(RuleWord.OPEN), seen.saying(RuleWord.LEAVE)
    decline = bool(leaves) and st.checkbox(
        tr("Also decline {batches} that the rule does not recommend", batches=_batches(len(leaves))),
        key="next_batches_decline",
        help=tr("They leave the list “Next batch possible”. You can take each back on its query's page."),
    )
    look.refusal(_PROBLEM)
    if not opens:
        st.caption(tr("The rule recommends no further batches."))
    st.button(
        _accepting(len(opens), len(leaves) * decline),
        type="primary",
        key="next_batches_accept",
        disabled=not (opens or decline),
        on_click=st.session_state.__setitem__,
        args=(_ACCEPTED, decline),
    )


def _accepting(opens: int, declines: int) -> str:
    """Return the label of the button that accepts the suggestions: how many batches it opens and declines."""
    if opens and declines:
        return tr("Open {opens} and decline {declines}", opens=_batches(opens), declines=_batches(declines))
    if declines:
        return tr("Decline {batches}", batches=_batches(declines))
    return tr("Open {batches}", batches=_batches(opens)) if opens else tr("Accept")


def _batches(count: int) -> str:
    return wording.count_of(count, "batch")


def _accept(seen: Suggestions, decline: bool) -> None:
    bar = st.progress(0.0, tr("Annotators can keep working. If you close this, what is done stays done."))
    done: list[AcceptedReport] = []

    def act(project: Project, lead: Person) -> None:
        def tell(what: str, number: int, total: int) -> None:
            bar.progress(
                number / total,
                tr(
                    "{number:,} of {total:,} {what}. Annotators can keep working.",
                    number=number,
                    total=total,
                    what=translate_message(what),
                ),
            )

        done.append(accept_suggestions(project, lead, seen, decline=decline, now=time.time(), progress=tell))

    if look.done_as_lead(act, _PROBLEM):
        results.leave(_DONE, accepted_message(done[0]))
        _close()
    else:
        _look()
    st.rerun()


def accepted_message(done: AcceptedReport) -> str:
    """Return a message that says how many batches were opened, declined and not changed."""
    text = tr(
        "Opened {batches}: {pairs} for the annotators.",
        batches=_batches(done.opened),
        pairs=wording.count_of(done.pairs, "pair"),
    )
    if done.declined:
        text += tr(" Declined: {declined:,}.", declined=done.declined)
    if done.overtaken:
        text += tr(
            " Not changed, because another lead was faster or a grade changed: {overtaken:,}.",
            overtaken=done.overtaken,
        )
    return text


def _table(seen: Suggestions) -> str:
    """Return a Markdown table with a row for each recommendation of the batch rule, such as to open the next batch.

    A row has the number of queries with this recommendation, in each split (such as test) and in all, and the number of
    pairs in their next batches.
    """
    splits = sorted({query.split.value for query in seen.queries}, reverse=True)
    lines = [
        tr(
            "| The rule says | {heads} |",
            heads=" | ".join([*splits, wording.several("query"), wording.several("pair")]),
        ),
        f"| --- |{' ---: |' * (len(splits) + 2)}",
    ]
    for word in RuleWord:
        suggested = seen.saying(word)
        numbers = [sum(query.split.value == split for query in suggested) for split in splits]
        cells = [f"{number:,}" for number in (*numbers, len(suggested), sum(query.pairs for query in suggested))]
        lines.append(f"| :{WORD_COLOURS[word]}-badge[{translate_message(WORDS[word])}] | {' | '.join(cells)} |")
    rest = tr(
        "Declined: {declined:,}. Waiting for grades: {unsettled:,}.", declined=seen.declined, unsettled=seen.unsettled
    )
    return "\n".join(lines) + f"\n\n:gray[{rest}]"


def _rule(project: Project, lead: Person, seen: Suggestions) -> None:
    """Draw the form that changes the batch rule, and the rule's versions."""
    rule, scale = seen.rule.rule, project.campaign.scale
    with st.expander(tr("Change the rule")):
        versions = batch_rule_versions(project, lead)
        with st.form(f"batch-rule-{seen.rule.version}", border=False):
            _fields(rule, scale)
            st.text_input(tr("Why?"), key="batch_rule_reason", max_chars=REASON_LENGTH, placeholder=tr("One sentence"))
            st.form_submit_button(tr("Change the rule"), on_click=_change, args=(seen.rule.version,))
        for version in versions[:0:-1]:
            by, when = version.by or tr("A command"), wording.when(version.since, st.context.timezone)
            st.caption(
                tr(
                    "Version {version}, {by}, {when}: {words}. “{reason}”",
                    version=version.version,
                    by=plain(by),
                    when=when,
                    words=plain(translate_message(version.rule.words)),
                    reason=plain(version.reason),
                )
            )
        st.caption(
            tr("Version 1, from the beginning: {words}.", words=plain(translate_message(versions[0].rule.words)))
        )


def _fields(rule: BatchRule, scale: Scale) -> None:
    last, mean, finds, grade = st.columns(4, vertical_alignment="bottom")
    last.number_input(tr("Last candidates"), 1, 40, rule.last, key="batch_rule_last")
    mean.number_input(
        tr("Mean of their relevances, at least"),
        *(0.0, float(scale.highest), rule.mean or 0.0, 0.1),
        format="%.2f",
        key="batch_rule_mean",
        help=tr("0 switches this condition off. Either condition is enough."),
    )
    finds.number_input(
        tr("Or this many of them"),
        0,
        40,
        rule.finds or 0,
        key="batch_rule_finds",
        help=tr("0 switches this condition off."),
    )
    grade.number_input(tr("Graded, at least"), 1, scale.highest, rule.grade, key="batch_rule_grade")


def _change(version: int) -> None:
    """Change the batch rule to the values typed in the form; `version` is the version that the lead saw."""
    state = st.session_state
    rule = BatchRule(
        int(state["batch_rule_last"]),
        round(float(state["batch_rule_mean"]), 2) or None,
        int(state["batch_rule_finds"]) or None,
        int(state["batch_rule_grade"]),
    )
    reason = state["batch_rule_reason"]
    change = partial(set_batch_rule, rule=rule, reason=reason, based_on=version, now=time.time())
    if look.done_as_lead(change, _PROBLEM):
        state["batch_rule_reason"] = ""
    _look()
