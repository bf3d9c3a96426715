"""What the rule suggests for all queries, and accepting it in one act.

*Reads* relevances, batches, candidate lists. *Writes* what `deciding` writes.

Thousands of batches take seconds to write, and whoever grades meanwhile must not wait for all of them: the act writes
a few queries at a time and lets others in between. Each query is done or not, whatever ends the act; what is left is
still suggested, and accepting again goes on with it.
"""

import time
from collections.abc import Callable

from backend.campaign.nouns import Lead, Operator
from backend.campaign.selection.batches import next_batch as deciding
from backend.campaign.selection.batches import rules
from backend.campaign.selection.batches.model import AcceptedReport, NextState, RuleWord, Suggested, Suggestions
from backend.campaign.selection.batches.rows import decisions as rows
from backend.campaign.selection.batches.rows import open_queries as facts
from backend.campaign.setup.project import rows as project
from backend.core.errors import Overtaken, ProjectError
from backend.core.progress import Steps
from backend.core.saying import said
from backend.core.words import ago
from backend.store.connection import Database, Store, reading, writing

AT_ONCE = 10
"""Queries written in one transaction."""
REST_S = 0.01
"""Between two of them, for others who want to write: about as long as one takes."""


def suggestions(store: Store) -> Suggestions:
    """What the rule says about every query whose next batch may be opened and was not declined."""
    with reading(store) as db:
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


def accept(
    store: Store,
    by: Lead | Operator,
    seen: Suggestions,
    *,
    decline: bool,
    now: float,
    progress: Steps | None = None,
    rest: Callable[[float], None] = time.sleep,
) -> AcceptedReport:
    """Do what the rule suggests, as it was looked at: open batches and, where asked to, decline the others.

    Nothing is done about a query of which the rule cannot tell, nor about one that stands otherwise than it was seen.

    Args:
        store: the project's store.
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
    opened = pairs = declined = overtaken = 0
    for start in range(0, len(wanted), AT_ONCE):
        if start:
            rest(REST_S)
        with writing(store) as db:
            _require_rule(db, by, seen, opened + declined, now=now)
            campaign = project.campaign(db)
            for one in wanted[start : start + AT_ONCE]:
                query = next(facts.open_queries(db, one.query_id), None)
                if query is None or not _as_seen(query, one):
                    overtaken += 1
                elif one.reading.word is RuleWord.OPEN:
                    pairs += deciding.hand_out(db, by, query, campaign, seen.rule, reason="", now=now)
                    opened += 1
                else:
                    reason = f"The rule: {one.reading.words}"
                    deciding.note_declined(db, by, query, seen.rule, reason=reason, now=now)
                    declined += 1
        if progress:
            progress(min(start + AT_ONCE, len(wanted)), len(wanted))
    if overtaken == len(wanted):
        raise Overtaken(_others(store, by, wanted[0], now=now))
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
                who=deciding.who(version.by, by),
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
            who=deciding.who(opened[1], by),
            number=one.number,
            query=one.query,
            when=ago(now - opened[2]),
        )
    elif declined:
        did = said(
            "{who} declined batch {number} of “{query}” {when}",
            who=deciding.who(declined.by, by),
            number=one.number,
            query=one.query,
            when=ago(now - declined.at),
        )
    else:
        did = said("grades changed meanwhile")
    return said("{did}: nothing that you looked at is left to do. Look again", did=did)
