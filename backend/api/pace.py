"""Where the work stands: how far, how fast, what is stuck, what waits for a lead; and a copy to be safe."""

from backend.campaign.monitoring.progress import cutting, watching
from backend.campaign.monitoring.progress import progress as stage
from backend.campaign.monitoring.progress.cutting import ClipsReport
from backend.campaign.monitoring.progress.model import QueryStuck, Stuck, Wait, WorkProgress
from backend.campaign.nouns import Operator, Person
from backend.campaign.setup.people import permissions
from backend.campaign.setup.project.folder import Project
from backend.core.ids import QueryId
from backend.core.progress import Steps
from backend.core.where import HERE, Where

BACKUPS = "backups"
"""The folder of the project where its pages put copies."""


def progress(project: Project, by: Person | Operator, *, now: float) -> WorkProgress:
    """Pace, what is still needed, and when it may be done; the counts by verdict are those of `status_counts`."""
    permissions.require_in_charge(project.store, by)
    return stage.report(project, now=now)


def stuck(project: Project, by: Person | Operator) -> tuple[Stuck, ...]:
    """Pairs that those who may work cannot bring to an end, and why."""
    permissions.require_in_charge(project.store, by)
    return watching.stuck(project.store)


def query_stuck(project: Project, by: Person | Operator, query_id: QueryId) -> QueryStuck:
    """What of a query cannot come to its end by itself, and why."""
    permissions.require_in_charge(project.store, by)
    return watching.stuck_of(project.store, query_id)


def stuck_queries(project: Project, by: Person | Operator) -> frozenset[QueryId]:
    """The queries of all pairs that are stuck."""
    permissions.require_in_charge(project.store, by)
    return watching.stuck_queries(project.store)


def waits(project: Project, by: Person | Operator) -> tuple[Wait, ...]:
    """What waits for a lead, counted."""
    permissions.require_in_charge(project.store, by)
    return watching.waiting(project.store)


def work_version(project: Project, by: Person | Operator) -> tuple[int, ...]:
    """What changes whenever `progress`, `stuck` or `waits` may have changed; costs next to nothing."""
    permissions.require_in_charge(project.store, by)
    return watching.version(project.store)


def cut_queued_clips(
    project: Project,
    by: Person | Operator,
    *,
    next_batches: bool = False,
    everything: bool = False,
    where: Where = HERE,
    progress: Steps | None = None,
) -> ClipsReport:
    """Cut the clips of what is queued before anybody waits for them; may be stopped and begun again at any time.

    Args:
        project: the project.
        by: a lead, or whoever runs commands.
        next_batches: also those of each query's next batch, which a lead may open.
        everything: also those of all candidates.
        where: where they are cut.
        progress: called with (clips done, all that are to be cut).

    Raises:
        NoRoom: the disk is full. What was cut until then stays.
    """
    permissions.require_in_charge(project.store, by)
    return cutting.cut_queued(project, next_batches=next_batches, everything=everything, where=where, progress=progress)


def bucket_troubles(project: Project, by: Person | Operator) -> list[str]:
    """What a lead should know of the bucket of clips: that it cannot be read or written. Nobody waits for it."""
    permissions.require_in_charge(project.store, by)
    return cutting.bucket_troubles(project)


def little_room(project: Project, by: Person | Operator) -> str | None:
    """What a lead should know of the disk that clips are cut to; None while there is room."""
    permissions.require_in_charge(project.store, by)
    return cutting.little_room(project)
