"""Open or decline the next batch of one query, and undo either decision.

*Reads* all work that people did on a batch. *Writes* batch, pair, seat, agenda, declined_batch, events. `suggestions`
does the same for many queries at once.
"""

from backend.campaign.nouns import SEATS_RETURNED, Lead, Operator
from backend.campaign.selection.batches import model
from backend.campaign.selection.batches import rows as batches_rows
from backend.campaign.selection.batches.model import (
    BATCH_DECLINE_ENDED,
    BATCH_DECLINED,
    BATCH_OPENED,
    BATCH_UNDONE,
    BatchRuleVersion,
    NextBatch,
    NextState,
    OpenedBatch,
    RuleReading,
)
from backend.campaign.selection.batches.rows import OpenQuery
from backend.campaign.selection.candidates import rows as candidates_rows
from backend.campaign.setup.people.permissions import in_charge, lead_only
from backend.campaign.setup.project import rows as project_rows
from backend.campaign.setup.project.folder import Project
from backend.campaign.setup.project.model import StoredSettings
from backend.core.days import ago
from backend.core.errors import Overtaken, ProjectError
from backend.core.events import Event
from backend.core.ids import QueryId
from backend.core.messages import joined, said, said_n
from backend.core.typed_text import reason_of
from backend.store import events
from backend.store.connection import Database, reading, writing

LONGEST_REASON = 300


@in_charge
def next_batch(project: Project, by: Lead | Operator, query_id: QueryId) -> NextBatch:
    """Return the state of a query's next batch, and the recommendation whether to open it.

    Raises:
        ProjectError: no such query.
    """
    with reading(project.store) as db:
        query = _query(db, query_id)
        number = query.batches + 1
        newest = batches_rows.opened(db, query_id, query.batches) if query.batches > 1 else None
        return NextBatch(
            query_id,
            number,
            query.pairs,
            query.unsettled,
            query.state,
            model.rule_reading(batches_rows.versions(db)[-1].rule, query.relevances),
            batches_rows.declined(db, query_id),
            OpenedBatch(query.batches, *newest[1:], _why_fixed(db, query, query.batches)) if newest else None,
        )


@lead_only
def open_batch(
    project: Project, lead: Lead, query_id: QueryId, *, number: int = 2, reason: str = "", now: float
) -> int:
    """Give the next batch of a query's candidates to annotators (open it); return the number of new pairs.

    Args:
        project: the project.
        lead: the lead who opens it.
        query_id: the query.
        number: the number of the batch that the lead saw as the next, 2 or more.
        reason: the lead's reason, optional; the rule's recommendation is recorded in any case.
        now: seconds since 1970.

    Raises:
        Overtaken: the batch is open already, or somebody declined it.
        ProjectError: pairs of the open batches are not settled yet, or no candidates are left.
    """
    reason = tidied(reason, "")
    with writing(project.store) as db:
        query = _decidable(db, lead, query_id, number, said("opened"), now=now)
        version = batches_rows.versions(db)[-1]
        return hand_out(db, lead, query, project_rows.campaign(db), version, reason=reason, now=now)


def hand_out(
    db: Database,
    by: Lead | Operator,
    query: OpenQuery,
    campaign: StoredSettings,
    version: BatchRuleVersion,
    *,
    reason: str,
    now: float,
) -> int:
    """Open the next batch of `query` inside the caller's transaction; return the number of its pairs.

    `version` is the rule in force, whose recommendation is recorded with the batch.
    """
    number = query.batches + 1
    pairs = candidates_rows.open_batch(db, campaign, query.query_id, number, at=now, by=by.annotator_id)
    details = {"number": number, "pairs": pairs, "last": candidates_rows.last_rows(db)}
    batch = batches_rows.opened(db, query.query_id, number)
    if batch and (on_screen := list(batches_rows.on_screen(db, batch[0]))):
        details["on_screen"] = on_screen
    recommendation = _recommendation(version, model.rule_reading(version.rule, query.relevances))
    _record(db, BATCH_OPENED, by, query.query_id, reason, now=now, **details, **recommendation)
    return pairs


@lead_only
def undo_batch(project: Project, lead: Lead, query_id: QueryId, reason: str, *, number: int, now: float) -> int:
    """Take back the newest batch of a query, as if it had never been opened; return the number of its pairs.

    The pairs are removed, even those that an annotator was given and has not graded yet. If the query has a probe (a
    sample graded to learn how deep judging must go), they become pairs of the probe instead.

    Raises:
        Overtaken: the batch is not open any more.
        ProjectError: no reason was given, or somebody has worked on the batch.
    """
    reason = tidied(reason, said("taking a batch back"))
    with writing(project.store) as db:
        query = _query(db, query_id)
        batch = batches_rows.opened(db, query_id, number)
        if batch is None:
            raise Overtaken(
                said("batch {number} of this query is not open (any more): somebody else took it back", number=number)
            )
        if why := _why_fixed(db, query, number):
            raise ProjectError(
                said(
                    "batch {number} of query {query_id} cannot be taken back: {why}",
                    number=number,
                    query_id=query_id,
                    why=why,
                )
            )
        probe = batches_rows.probe(db, query_id)
        if probe is None:
            for person, pairs in batches_rows.held(db, batch[0]).items():
                payload = {"pairs": pairs, "why": "a batch was taken back"}
                events.note(db, SEATS_RETURNED, lead, f"annotator:{person}", now=now, **payload)
        removed = batches_rows.remove(db, batch[0], probe)
        _record(db, BATCH_UNDONE, lead, query_id, reason, now=now, number=number, pairs=removed)
    return removed


@lead_only
def decline_batch(project: Project, lead: Lead, query_id: QueryId, reason: str, *, number: int, now: float) -> None:
    """Decline the next batch of a query; this can be taken back at any time.

    Raises:
        Overtaken: the batch is open already, or somebody else declined it.
        ProjectError: no reason was given, or the next batch cannot be decided about yet.
    """
    reason = tidied(reason, said("declining a batch"))
    with writing(project.store) as db:
        query = _decidable(db, lead, query_id, number, said("declined"), now=now)
        note_declined(db, lead, query, batches_rows.versions(db)[-1], reason=reason, now=now)


def note_declined(
    db: Database, by: Lead | Operator, query: OpenQuery, version: BatchRuleVersion, *, reason: str, now: float
) -> None:
    """Decline the next batch of `query` inside the caller's transaction.

    `version` is the rule in force, whose recommendation is recorded with the decision.
    """
    number = query.batches + 1
    batches_rows.decline(db, query.query_id, number, by.annotator_id, reason, at=now)
    recommendation = _recommendation(version, model.rule_reading(version.rule, query.relevances))
    _record(db, BATCH_DECLINED, by, query.query_id, reason, now=now, number=number, **recommendation)


@lead_only
def take_back_decline(project: Project, lead: Lead, query_id: QueryId, reason: str, *, number: int, now: float) -> None:
    """Take back the decision to decline a query's next batch.

    Raises:
        Overtaken: somebody else took it back.
        ProjectError: no reason was given, or nobody declined the batch.
    """
    reason = tidied(reason, said("taking a decision back"))
    with writing(project.store) as db:
        if batches_rows.declined(db, query_id) is None:
            if ended := batches_rows.taken_back(db, query_id, number):
                raise Overtaken(
                    said("{who} took this decision back {when}", who=who(ended[0], lead), when=ago(now - ended[1]))
                )
            raise ProjectError(
                said(
                    "nobody has declined batch {number} of query {query_id}: reload the page",
                    number=number,
                    query_id=query_id,
                )
            )
        batches_rows.end_decline(db, query_id, lead.annotator_id, at=now)
        _record(db, BATCH_DECLINE_ENDED, lead, query_id, reason, now=now, number=number)


def who(name: str | None, me: Lead | Operator) -> str:
    """Return who did something, as the beginning of a sentence: 'You' for `me`, a name, or 'A command' for None."""
    if name is None:
        return said("A command", _context="by")
    return said("You", _context="by") if isinstance(me, Lead) and me.name == name else name


def tidied(reason: str, what: str) -> str:
    """Return a reason, cleaned of stray white space, as it is stored.

    `what` names the action for the error message, such as "declining a batch". If it is empty, the reason may be empty
    too.

    Raises:
        ProjectError: the reason is too long, or it is missing although `what` is given.
    """
    needed = said("{what} needs a reason: write one sentence about why", what=what) if what else ""
    return reason_of(reason, LONGEST_REASON, needed)


def _query(db: Database, query_id: QueryId) -> OpenQuery:
    query = next(batches_rows.open_queries(db, query_id), None)
    if query is None:
        raise ProjectError(
            said("there is no query {query_id} with candidates: look it up on the page Queries", query_id=query_id)
        )
    return query


def _decidable(
    db: Database, by: Lead | Operator, query_id: QueryId, number: int, what: str, *, now: float
) -> OpenQuery:
    """Return the query if a lead may open or decline its next batch, and if that batch has this number.

    `what` is "opened" or "declined", for the error message.

    Raises:
        Overtaken: somebody opened or declined the batch already.
        ProjectError: the batch cannot be decided about yet.
    """
    query = _query(db, query_id)
    if opened := batches_rows.opened(db, query_id, number):
        raise Overtaken(
            said(
                "{who} opened batch {number} of this query {when}: its pairs are with the annotators already",
                who=who(opened[1], by),
                number=number,
                when=ago(now - opened[2]),
            )
        )
    if number != query.batches + 1:
        raise ProjectError(
            said(
                "batch {number} of query {query_id} cannot be {what}: batch {batches} comes first",
                number=number,
                query_id=query_id,
                what=what,
                batches=query.batches + 1,
            )
        )
    match query.state:
        case NextState.DECLINED if decision := batches_rows.declined(db, query_id):
            raise Overtaken(
                said(
                    "{who} declined batch {number} of this query {when} (“{reason}”): to open it, take that back first",
                    who=who(decision.by, by),
                    number=number,
                    when=ago(now - decision.at),
                    reason=decision.reason,
                )
            )
        case NextState.UNSETTLED:
            why = said_n("{n} of its pairs is not settled yet", "{n} of its pairs are not settled yet", query.unsettled)
        case NextState.ENDED:
            why = said("the query has no more candidates")
        case _:
            return query
    raise ProjectError(
        said(
            "batch {number} of query {query_id} cannot be {what}: {why}",
            number=number,
            query_id=query_id,
            what=what,
            why=why,
        )
    )


def _why_fixed(db: Database, query: OpenQuery, number: int) -> str:
    """Return why an open batch cannot be taken back, in words; empty if it can."""
    if number == 1:
        return said("a first batch stays as long as its query")
    opened = batches_rows.opened(db, query.query_id, number)
    if opened is None or number < query.batches:
        return said("batch {batches} has to be taken back first", batches=query.batches)
    batch, _, at = opened
    # Earlier work on pairs of the probe stays with the probe, so it does not count.
    probed = batches_rows.probe(db, query.query_id) is not None
    opening = batches_rows.opening(db, query.query_id, at)
    after = opening if probed else None
    if work := batches_rows.work(db, batch, after=after):
        done = joined(", ", [said("{n:,} × {what}", n=count, what=what) for what, count in work.items()])
        return said("people have worked on it ({done})", done=done)
    if names := batches_rows.shown_to(db, batch, after=after):
        return said("a pair of it is on the screen of {names}", names=", ".join(names))
    if probed:  # its pairs stay
        return ""
    if batches_rows.released(db, after=opening):
        return said("a release made since then has its pairs")
    return said("the activity log already mentions its pairs") if batches_rows.logged(db, batch, after=opening) else ""


def _recommendation(version: BatchRuleVersion, read: RuleReading) -> dict[str, object]:
    return {"rule": version.version, "says": read.words}


def _record(
    db: Database, event: Event, by: Lead | Operator, query_id: QueryId, reason: str, *, now: float, **payload: object
) -> None:
    actor, subject = by.annotator_id, f"query:{query_id}"
    events.record(db, event, at=now, actor=actor, subject=subject, payload={**payload, "reason": reason})
