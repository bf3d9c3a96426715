"""Say what annotators' acts lock in the database, where several of them write at a time (see `sharing`).

The order is always the same: the campaign in shared mode, then the person, then batches by number. Whoever writes with
`writing` has the campaign alone instead: leads, commands, and annotators where it is rare (exams, reports of broken
clips).

- The person: their windows and requests come one after the other, so that what they may do does not change meanwhile.
- A batch: its seats, and what follows from the grades of its pairs (verdicts, second rounds, its row of the agenda).

So whoever changes a seat has its batch. Giving back a seat that nobody else may take yet is the one exception.
"""

from collections.abc import Iterable

from backend.core.ids import AnnotatorId, BatchId
from backend.store.connection import Lock

PERSON, BATCH = 1, 2
NO_BATCH = BatchId(0)
"""Stands for the batch of pairs of an earlier campaign, which have none."""


def locks(me: AnnotatorId, batches: Iterable[BatchId | None] = ()) -> tuple[Lock, Lock]:
    """Return the locks for an act of an annotator in these batches; None is the batch of pairs that have none."""
    return Lock(PERSON, frozenset([me])), Lock(BATCH, frozenset(batch or NO_BATCH for batch in batches))
