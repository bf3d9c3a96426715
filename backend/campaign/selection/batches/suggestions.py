"""Suggest which next batches are worth opening, and accept the suggestions for all queries at once.

*Reads* relevances, batches, candidate lists. *Writes* what `next_batch` writes.

Thousands of batches take seconds to write, and annotators must not wait for all of them: a few queries are written at
a time, and others may write in between. If it is interrupted, each query is done or not; what is left is still
suggested, and accepting again continues with it.
"""

import time
from collections.abc import Callable

from backend.campaign.nouns import Lead, Operator
from backend.campaign.selection.batches import next_batch, rules
from backend.campaign.selection.batches.model import AcceptedReport, NextState, RuleWord, Suggested, Suggestions
from backend.campaign.selection.batches.rows import decisions as rows
from backend.campaign.selection.batches.rows import open_queries as facts
from backend.campaign.setup.people.permissions import in_charge
from backend.campaign.setup.project import rows as campaign_rows
from backend.campaign.setup.project.folder import Project
from backend.core.errors import Overtaken, ProjectError
from backend.core.messages import said
from backend.core.progress import Progress, named
from backend.core.words import ago
from backend.store.connection import Database, Store, reading, writing

AT_ONCE = 10
"""Queries written in one transaction."""
REST_S = 0.01
"""Between two of them, for others who want to write: about as long as one takes."""


@in_charge
def batch_suggestions(project: Project, by: Lead | Operator) -> Suggestions:
    """Return what the rule says about every query whose next batch may be opened and was not declined."""
    with reading(project.store) as db:
        version = rows.versions(db)[-1]
        found: list[Suggested] = []
        counts = {state: 0 for state in NextState}
        for query in facts.open_queries(db):
            state = rules.state(unsettled=query.unsettled, pairs=query.pairs, declined=query.declined)
            counts[state] += 1
            if state is NextState.READY:
                read = rules.read(version.rule, query.relevances)
                found.append(Suggested(query.query_id, query.query, query.split, query.batches + 1, query.pairs, read))
    return Suggestions(version, tuple(found), counts[NextState.DECLINED], counts[NextState.UNSETTLED])


@in_charge
def batch_shares(project: Project, by: Lead | Operator) -> dict[str, dict[str, int]]:
    """Return how many queries of each split have one batch, two batches and so on."""
    return facts.shares(project.store.db)


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
    """Do what the rule suggested when it was looked at: open batches and, if asked to, decline the others.

    Queries that have changed since, and those the rule cannot tell about, are left as they are.

    Args:
        project: the project.
        by: who accepts.
        seen: the suggestions that were looked at.
        decline: decline the batches of which the rule says that they are not worth it.
        now: seconds since 1970.
        progress: told how many queries are done.
        rest: waits for so many seconds.

    Raises:
        Overtaken: another rule stands, or others decided about all of it.
        ProjectError: there is nothing to do.
    """
    wanted = [*seen.saying(RuleWord.OPEN), *(seen.saying(RuleWord.LEAVE) if decline else ())]
    if not wanted:
        raise ProjectError(_nothing(seen, decline))
    steps = named(progress, said("queries"))
    opened = pairs = declined = overtaken = 0
    for start in range(0, len(wanted), AT_ONCE):
        if start:
            rest(REST_S)
        with writing(project.store) as db:
            _require_rule(db, by, seen, opened + declined, now=now)
            campaign = campaign_rows.campaign(db)
            for one in wanted[start : start + AT_ONCE]:
                query = next(facts.open_queries(db, one.query_id), None)
                if query is None or not _as_seen(query, one):
                    overtaken += 1
                elif one.reading.word is RuleWord.OPEN:
                    pairs += next_batch.hand_out(db, by, query, campaign, seen.rule, reason="", now=now)
                    opened += 1
                else:
                    reason = f"The rule: {one.reading.words}"
                    next_batch.note_declined(db, by, query, seen.rule, reason=reason, now=now)
                    declined += 1
        if steps:
            steps(min(start + AT_ONCE, len(wanted)), len(wanted))
    if overtaken == len(wanted):
        raise Overtaken(_others(project.store, by, wanted[0], now=now))
    return AcceptedReport(opened, pairs, declined, overtaken)


def _as_seen(query: facts.OpenQuery, one: Suggested) -> bool:
    """Whether a query stands as it did when it was looked at."""
    state = rules.state(unsettled=query.unsettled, pairs=query.pairs, declined=query.declined)
    same = (query.batches + 1, state) == (one.number, NextState.READY)
    return same and rules.read(one.reading.rule, query.relevances) == one.reading


def _require_rule(db: Database, by: Lead | Operator, seen: Suggestions, done: int, *, now: float) -> None:
    version = rows.versions(db)[-1]
    if version.version != seen.rule.version:
        before = said(" {done:,} queries were done before that.", done=done) if done else ""
        raise Overtaken(
            said(
                "{who} changed the rule {when} (“{reason}”).{before} Look at what it suggests now",
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
            return said(
                "there is nothing to open: the rule says of none of {n:,} queries that its next batch is worth opening",
                n=len(seen.queries),
            )
        return said(
            "there is nothing to accept: the rule cannot tell for {n:,} queries; decide yourself", n=len(seen.queries)
        )
    waiting = said("; {unsettled:,} wait for grades", unsettled=seen.unsettled) if seen.unsettled else ""
    return said(
        "there is nothing to accept: no query waits for a decision about its next batch{waiting}", waiting=waiting
    )


def _others(store: Store, by: Lead | Operator, one: Suggested, *, now: float) -> str:
    """Who decided meanwhile, where nothing was left to do."""
    with reading(store) as db:
        opened = facts.opened(db, one.query_id, one.number)
        declined = rows.declined(db, one.query_id)
    if opened:
        did = said(
            "{who} opened batch {number} of “{query}” {when}",
            who=next_batch.who(opened[1], by),
            number=one.number,
            query=one.query,
            when=ago(now - opened[2]),
        )
    elif declined:
        did = said(
            "{who} declined batch {number} of “{query}” {when}",
            who=next_batch.who(declined.by, by),
            number=one.number,
            query=one.query,
            when=ago(now - declined.at),
        )
    else:
        did = said("grades changed meanwhile")
    return said("{did}: nothing that you looked at is left to do. Look again", did=did)
