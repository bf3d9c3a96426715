"""How much work candidates would make: said before they are chosen, because afterwards it is in the queue.

*Reads* queries, moments, judgements with their times. *Writes* nothing.
"""

from backend.campaign.corpus.importing import rows as corpus
from backend.campaign.monitoring.hours import rows, rules
from backend.campaign.monitoring.hours.model import Expected
from backend.campaign.nouns import Split
from backend.campaign.selection.candidates.rules import PROBE_OTHERS, PROBE_TOP
from backend.campaign.selection.queries import rows as queries
from backend.campaign.setup.project import rows as facts
from backend.campaign.setup.project.folder import Project
from backend.store.connection import reading


def expect(project: Project, *, batch_size: int, probe: int = 0, pooled: bool = False) -> Expected:
    """The pairs of the first batches, their grades, and how long those take.

    Args:
        project: with queries.
        batch_size: candidates a batch.
        probe: queries that are probed.
        pooled: whether runs find candidates too, which may be moments that the project does not have yet.
    """
    with reading(project.store) as db:
        counts = queries.split_counts(db)
        asked = counts[Split.VAL.value] + counts[Split.TEST.value]
        _, moments, _ = corpus.counts(db)
        batch = batch_size if pooled else min(batch_size, moments)
        pairs = asked * batch + min(probe, asked) * max(min(PROBE_TOP + PROBE_OTHERS, moments) - batch, 0)
        grades = pairs * facts.campaign(db).seats
        measured = rules.outlook(rules.bounded(rows.days(db)), grades).seconds
        seconds = rows.mean_moment_s(db) if measured is None else measured
    return Expected(asked, pairs, grades, seconds, measured is not None)
