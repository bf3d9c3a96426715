"""List and change the rule about next batches; every version stays on record.

*Reads* the campaign. *Writes* batch_rule, events.
"""

from dataclasses import asdict

from backend.campaign.nouns import Lead, Operator
from backend.campaign.selection.batches import rules
from backend.campaign.selection.batches.model import BatchRule, BatchRuleVersion
from backend.campaign.selection.batches.next_batch import tidied, who
from backend.campaign.selection.batches.rows import decisions as rows
from backend.campaign.setup.people.permissions import in_charge
from backend.campaign.setup.project import rows as facts
from backend.campaign.setup.project.folder import Project
from backend.core.errors import InputError, Overtaken, Problem, ProjectError
from backend.core.messages import said
from backend.core.words import ago
from backend.store import events
from backend.store.connection import reading, writing
from backend.store.events import EventKind


@in_charge
def batch_rule_versions(project: Project, by: Lead | Operator) -> list[BatchRuleVersion]:
    """Return all versions of the rule, the first one first; the last one is in force."""
    with reading(project.store) as db:
        return rows.versions(db)


@in_charge
def set_batch_rule(
    project: Project, by: Lead | Operator, rule: BatchRule, reason: str, *, based_on: int | None = None, now: float
) -> int:
    """Change the rule that says which next batches are worth opening; return its version. Earlier decisions stay.

    Args:
        project: the project.
        by: who changes it.
        rule: all of it.
        reason: why, in a sentence.
        based_on: the version that the lead looked at; None takes any.
        now: seconds since 1970.

    Raises:
        InputError: everything that is wrong with the rule.
        Overtaken: another version came meanwhile.
        ProjectError: no reason, or nothing changed.
    """
    reason = tidied(reason, said("another rule"))
    with writing(project.store) as db:
        present = rows.versions(db)[-1]
        if problems := list(rules.wrong(rule, facts.scale(db))):
            raise InputError([Problem("the rule about next batches", None, text) for text in problems])
        if based_on is not None and based_on != present.version:
            raise Overtaken(
                said(
                    "{who} changed the rule {when} (“{reason}”): look at it, then change yours",
                    who=who(present.by, by),
                    when=ago(now - (present.since or now)),
                    reason=present.reason,
                )
            )
        if rule == present.rule:
            raise ProjectError(said("nothing changed: the rule says this already"))
        number = rows.add_version(db, rule, reason, by.annotator_id, at=now)
        events.record(
            db,
            EventKind.BATCH_RULE_CHANGED,
            at=now,
            actor=by.annotator_id,
            subject=f"batch_rule:{number}",
            payload={"version": number, **asdict(rule), "reason": reason},
        )
    return number
