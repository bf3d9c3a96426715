"""Set the rule that recommends next batches, list its recommendations, and follow them for all queries at once.

*Reads* relevances, batches, candidate lists. *Writes* batch_rule, events, what `next_batch` writes.

Thousands of batches take seconds to write, and annotators must not wait so long. So a few queries are written at a
time, and others may write in between. After an interruption each query is either done or still recommended. Starting
again continues with the queries left.
"""

import time
from collections.abc import Callable
from dataclasses import asdict

from backend.campaign.nouns import Lead, Operator
from backend.campaign.selection.batches import model, next_batch
from backend.campaign.selection.batches import rows as batches_rows
from backend.campaign.selection.batches.model import (
    BATCH_RULE_CHANGED,
    AcceptedReport,
    BatchRule,
    BatchRuleVersion,
    NextState,
    RuleWord,
    Suggested,
    Suggestions,
)
from backend.campaign.selection.batches.next_batch import tidied, who
from backend.campaign.setup.people.permissions import in_charge
from backend.campaign.setup.project import rows as project_rows
from backend.campaign.setup.project.folder import Project
from backend.core.days import ago
from backend.core.errors import InputError, Overtaken, Problem, ProjectError
from backend.core.messages import said, said_n
from backend.core.progress import Progress, steps_of
from backend.store import events
from backend.store.connection import Database, Store, reading, writing

AT_ONCE = 10
"""Queries written in one transaction."""
REST_S = 0.01
"""Pause in seconds between two transactions, so that others can write: about as long as one transaction."""


@in_charge
def batch_suggestions(project: Project, by: Lead | Operator) -> Suggestions:
    """Return the recommendations whether to open the next batch, for all queries where it is possible.

    Queries whose next batch was declined are left out.
    """
    with reading(project.store) as db:
        version = batches_rows.versions(db)[-1]
        suggested: list[Suggested] = []
        counts = {state: 0 for state in NextState}
        for query in batches_rows.open_queries(db):
            state = query.state
            counts[state] += 1
            if state is NextState.READY:
                read = model.rule_reading(version.rule, query.relevances)
                suggested.append(
                    Suggested(query.query_id, query.query, query.split, query.batches + 1, query.pairs, read)
                )
    return Suggestions(version, tuple(suggested), counts[NextState.DECLINED], counts[NextState.UNSETTLED])


@in_charge
def batch_shares(project: Project, by: Lead | Operator) -> dict[str, dict[str, int]]:
    """Return for each split how many queries have one open batch, two and so on, such as `{"val": {"1": 40}}`."""
    return batches_rows.shares(project.store.db)


@in_charge
def accept_suggestions(
    project: Project,
    by: Lead | Operator,
    seen: Suggestions,
    *,
    decline: bool = False,
    now: float,
    progress: Progress | None = None,
    rest: Callable[[float], None] = time.sleep,
) -> AcceptedReport:
    """Open all batches that the rule recommends, and with `decline` decline those that it does not recommend.

    Queries that have changed since the person saw them, and those where the rule cannot tell, are left as they are.

    Args:
        project: the project.
        by: the person who accepts.
        seen: the recommendations as that person saw them.
        decline: whether to decline the batches that the rule does not recommend.
        now: seconds since 1970.
        progress: called with (name of the step, queries done, number of all).
        rest: function that waits for a number of seconds, so that annotators can write in between.

    Raises:
        Overtaken: another rule is in force now, or all of the queries have changed.
        ProjectError: there is nothing to do.
    """
    accepted = [*seen.saying(RuleWord.OPEN), *(seen.saying(RuleWord.LEAVE) if decline else ())]
    if not accepted:
        raise ProjectError(_nothing(seen, decline))
    steps = steps_of(progress, said("queries"))
    opened = pairs = declined = overtaken = 0
    for start in range(0, len(accepted), AT_ONCE):
        if start:
            rest(REST_S)
        with writing(project.store) as db:
            _require_rule(db, by, seen, opened + declined, now=now)
            campaign = project_rows.campaign(db)
            for suggestion in accepted[start : start + AT_ONCE]:
                query = next(batches_rows.open_queries(db, suggestion.query_id), None)
                if query is None or not _as_seen(query, suggestion):
                    overtaken += 1
                elif suggestion.reading.word is RuleWord.OPEN:
                    pairs += next_batch.hand_out(db, by, query, campaign, seen.rule, reason="", now=now)
                    opened += 1
                else:
                    reason = f"The rule: {suggestion.reading.words}"
                    next_batch.note_declined(db, by, query, seen.rule, reason=reason, now=now)
                    declined += 1
        if steps:
            steps(min(start + AT_ONCE, len(accepted)), len(accepted))
    if overtaken == len(accepted):
        raise Overtaken(_others(project.store, by, accepted[0], now=now))
    return AcceptedReport(opened, pairs, declined, overtaken)


def _as_seen(query: batches_rows.OpenQuery, suggestion: Suggested) -> bool:
    """Return whether a lead may still decide on a query's next batch, and the rule's recommendation is unchanged."""
    state = query.state
    same = (query.batches + 1, state) == (suggestion.number, NextState.READY)
    return same and model.rule_reading(suggestion.reading.rule, query.relevances) == suggestion.reading


def _require_rule(db: Database, by: Lead | Operator, seen: Suggestions, done: int, *, now: float) -> None:
    version = batches_rows.versions(db)[-1]
    if version.version != seen.rule.version:
        before = said(" {done:,} queries were done before that.", done=done) if done else ""
        raise Overtaken(
            said(
                "{who} changed the rule {when} (“{reason}”).{before} Check what it recommends now",
                who=next_batch.who(version.by, by),
                when=ago(now - (version.since or now)),
                reason=version.reason,
                before=before,
            )
        )


def _nothing(seen: Suggestions, decline: bool) -> str:
    if seen.queries:
        left = seen.saying(RuleWord.LEAVE)
        if left and not decline:
            return said("The rule recommends no further batches.")
        return said_n(
            "The rule cannot tell for {n} query. Decide on its page.",
            "The rule cannot tell for {n:,} queries. Decide on their pages.",
            len(seen.queries),
        )
    waiting = said("; {unsettled:,} wait for grades", unsettled=seen.unsettled) if seen.unsettled else ""
    return said("there is nothing to accept: no query needs a decision about its next batch{waiting}", waiting=waiting)


def _others(store: Store, by: Lead | Operator, suggestion: Suggested, *, now: float) -> str:
    """Return a message that says why one recommendation is out of date.

    Either somebody opened or declined the batch, or grades changed.
    """
    with reading(store) as db:
        opened = batches_rows.opened(db, suggestion.query_id, suggestion.number)
        declined = batches_rows.declined(db, suggestion.query_id)
    if opened:
        did = said(
            "{who} opened batch {number} of “{query}” {when}",
            who=next_batch.who(opened[1], by),
            number=suggestion.number,
            query=suggestion.query,
            when=ago(now - opened[2]),
        )
    elif declined:
        did = said(
            "{who} declined batch {number} of “{query}” {when}",
            who=next_batch.who(declined.by, by),
            number=suggestion.number,
            query=suggestion.query,
            when=ago(now - declined.at),
        )
    else:
        did = said("grades changed meanwhile")
    return said("{did}, so nothing of what you saw is left to do. Reload the page", did=did)


@in_charge
def batch_rule_versions(project: Project, by: Lead | Operator) -> list[BatchRuleVersion]:
    """Return all versions of the rule that recommends next batches, the first one first; the last one is in force."""
    with reading(project.store) as db:
        return batches_rows.versions(db)


@in_charge
def set_batch_rule(
    project: Project, by: Lead | Operator, rule: BatchRule, reason: str, *, based_on: int | None = None, now: float
) -> int:
    """Change the rule that recommends next batches; return its version. Earlier decisions stay.

    Args:
        project: the project.
        by: the person who changes it.
        rule: the whole new rule.
        reason: the reason, in a sentence.
        based_on: the version that the lead saw; None accepts any.
        now: seconds since 1970.

    Raises:
        InputError: everything that is wrong with the rule.
        Overtaken: another version came meanwhile.
        ProjectError: no reason, or nothing changed.
    """
    reason = tidied(reason, said("a new rule"))
    with writing(project.store) as db:
        present = batches_rows.versions(db)[-1]
        if problems := list(model.rule_problems(rule, project_rows.scale(db))):
            raise InputError([Problem("the rule for next batches", None, text) for text in problems])
        if based_on is not None and based_on != present.version:
            raise Overtaken(
                said(
                    "{who} changed the rule {when} (“{reason}”): read it, then change yours",
                    who=who(present.by, by),
                    when=ago(now - (present.since or now)),
                    reason=present.reason,
                )
            )
        if rule == present.rule:
            events.refuse_if_done(db, BATCH_RULE_CHANGED, now=now, reason=reason)
            raise ProjectError(said("The rule already says this. Change a number, then save."))
        number = batches_rows.add_version(db, rule, reason, by.annotator_id, at=now)
        payload = {"version": number, **asdict(rule), "reason": reason}
        events.note(db, BATCH_RULE_CHANGED, by, f"batch_rule:{number}", now=now, **payload)
    return number
