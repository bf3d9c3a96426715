"""Take the queries back, with all that hangs on them, as long as nobody has worked on any of it.

*Reads* grades, skips, the exam, examples, assignments, seats. *Removes* query, candidate, batch, pair, seat; *writes*
one event.
"""

import math
from dataclasses import dataclass

from backend.campaign.nouns import Lead, Operator, Split
from backend.campaign.review.rows import query_removal as rows
from backend.campaign.selection.pool_check import rows as pool_check
from backend.campaign.selection.queries import rows as queries
from backend.campaign.setup.people.permissions import in_charge
from backend.campaign.setup.project.folder import Project
from backend.core.errors import ProjectError
from backend.core.messages import joined, said
from backend.store import events
from backend.store.connection import writing
from backend.store.events import EventKind


@dataclass(frozen=True, slots=True)
class TakenBack:
    """What went."""

    queries: int
    candidates: int
    pairs: int


@in_charge
def take_back_queries(project: Project, by: Lead | Operator, *, now: float) -> TakenBack:
    """Remove all queries, candidate lists, batches, pairs and seats; captions and videos stay.

    Raises:
        ProjectError: there are no queries, somebody has worked on a pair, or has one on the desk just now.
    """
    with writing(project.store) as db:
        splits = queries.split_counts(db)
        if not sum(splits.values()):
            raise ProjectError(said("there are no queries to take back"))
        if pool_check.facts(db):
            raise ProjectError(said("this project checks a file of pools, from which its queries come: they stay"))
        if work := rows.work(db):
            there = joined(", ", [said("{n:,} {what}", n=count, what=what) for what, count in work.items()])
            raise ProjectError(
                said(
                    "the queries cannot be taken back any more, because people have worked on them: {there}. Make a "
                    "new project for other queries",
                    there=there,
                )
            )
        if holding := rows.holding(db, now=now):
            names = ", ".join(name for name, _ in holding)
            minutes = math.ceil((max(until for _, until in holding) - now) / 60)
            raise ProjectError(
                said(
                    "pairs are on the desk of {names} just now: ask for signing out, or try again in {minutes} minutes",
                    names=names,
                    minutes=minutes,
                )
            )
        candidates, pairs = rows.remove(db)
        events.record(
            db,
            EventKind.QUERIES_TAKEN_BACK,
            at=now,
            actor=by.annotator_id,
            subject="queries",
            payload={**{split.value: splits[split.value] for split in Split}, "candidates": candidates, "pairs": pairs},
        )
    return TakenBack(sum(splits.values()), candidates, pairs)
