"""Next batches: the rule, what it says, and what leads decide."""

from backend.campaign.nouns import Operator, Person
from backend.campaign.selection.batches import next_batch as deciding
from backend.campaign.selection.batches import rule_versions as ruling
from backend.campaign.selection.batches import suggestions as accepting
from backend.campaign.selection.batches.model import AcceptedReport, BatchRule, BatchRuleVersion, NextBatch, Suggestions
from backend.campaign.selection.batches.rows import open_queries
from backend.campaign.setup.people import permissions
from backend.campaign.setup.project.folder import Project
from backend.core.ids import QueryId
from backend.core.progress import Progress, named
from backend.core.saying import said


def next_batch(project: Project, by: Person | Operator, query_id: QueryId) -> NextBatch:
    """How the next batch of a query stands, and what the rule says about it.

    Raises:
        ProjectError: no such query.
    """
    permissions.require_in_charge(project.store, by)
    return deciding.next_batch(project.store, query_id)


def open_batch(
    project: Project, lead: Person, query_id: QueryId, *, number: int = 2, reason: str = "", now: float
) -> int:
    """Open a batch of a query, which the lead was shown as the next; the number of new pairs.

    Raises:
        Overtaken: somebody else opened or declined it.
    """
    by = permissions.require_lead(project.store, lead)
    return deciding.open_next(project.store, by, query_id, number=number, reason=reason, now=now)


def undo_batch(project: Project, lead: Person, query_id: QueryId, reason: str, *, number: int, now: float) -> int:
    """Take the newest batch of a query back while nobody has worked on it; how many pairs went.

    Raises:
        Overtaken: somebody else did.
        ProjectError: people have worked on it.
    """
    by = permissions.require_lead(project.store, lead)
    return deciding.undo(project.store, by, query_id, number=number, reason=reason, now=now)


def decline_batch(project: Project, lead: Person, query_id: QueryId, reason: str, *, number: int, now: float) -> None:
    """Decide that the next batch of a query is not to be opened.

    Raises:
        Overtaken: somebody else opened or declined it.
    """
    by = permissions.require_lead(project.store, lead)
    deciding.decline(project.store, by, query_id, number=number, reason=reason, now=now)


def take_back_decline(
    project: Project, lead: Person, query_id: QueryId, reason: str, *, number: int, now: float
) -> None:
    """Let a declined batch be decided about again.

    Raises:
        Overtaken: somebody else took it back.
    """
    by = permissions.require_lead(project.store, lead)
    deciding.take_back_decline(project.store, by, query_id, number=number, reason=reason, now=now)


def batch_suggestions(project: Project, by: Person | Operator) -> Suggestions:
    """What the rule says about every query whose next batch may be opened and was not declined."""
    permissions.require_in_charge(project.store, by)
    return accepting.suggestions(project.store)


def accept_suggestions(
    project: Project,
    by: Person | Operator,
    seen: Suggestions,
    *,
    decline: bool = False,
    now: float,
    progress: Progress | None = None,
) -> AcceptedReport:
    """Open every batch of which the rule said, when it was looked at, that it is worth it.

    Args:
        project: the project.
        by: a lead, or the machine's operator.
        seen: the suggestions that were looked at.
        decline: decline those that are not worth it.
        now: seconds since 1970.
        progress: told how many queries are done.

    Raises:
        Overtaken: another rule stands, or others decided about all of it.
        ProjectError: there is nothing to do.
    """
    lead = permissions.require_in_charge(project.store, by)
    steps = named(progress, said("queries"))
    return accepting.accept(project.store, lead, seen, decline=decline, now=now, progress=steps)


def batch_rule_versions(project: Project, by: Person | Operator) -> list[BatchRuleVersion]:
    """All versions of the rule about next batches, the first one first; the last one stands."""
    permissions.require_in_charge(project.store, by)
    return ruling.versions(project.store)


def set_batch_rule(
    project: Project,
    by: Person | Operator,
    rule: BatchRule,
    reason: str,
    *,
    based_on: int | None = None,
    now: float,
) -> int:
    """Let another rule say which next batches are worth opening; the number of its version.

    Raises:
        Overtaken: there is a version that the lead had not seen, the one `based_on`.
    """
    lead = permissions.require_in_charge(project.store, by)
    return ruling.change(project.store, lead, rule, reason, based_on=based_on, now=now)


def batch_shares(project: Project, by: Person | Operator) -> dict[str, dict[str, int]]:
    """How many queries of each split have one batch, two batches and so on."""
    permissions.require_in_charge(project.store, by)
    return open_queries.shares(project.store.db)
