"""Block clips that cannot be shown: their pairs are not handed out until a lead restores them.

A moment is blocked by its file, by a lead, or by the reports of two people (see `skips`); never by one annotator.

*Reads* pairs. *Writes* clip faults, seats, events.
"""

from collections.abc import Sequence

from backend.campaign.judging.model import ReportedClip
from backend.campaign.judging.rows import clip_faults, judgements, seats, skips
from backend.campaign.nouns import Annotator, Lead
from backend.campaign.selection.candidates.rows import agenda
from backend.campaign.setup.people.permissions import lead_only
from backend.campaign.setup.project.folder import Project
from backend.core.ids import MomentId, PairKey
from backend.store import events
from backend.store.connection import Database, reading, writing
from backend.store.events import EventKind


@lead_only
def reported_clips(project: Project, lead: Lead) -> list[ReportedClip]:
    """Return the clips that one person reported as broken and that are still shown to others."""
    with reading(project.store) as db:
        return skips.reported(db)


@lead_only
def block_clip(project: Project, lead: Lead, key: PairKey, reason: str, *, now: float) -> None:
    """Block a clip that a lead has looked at: nobody gets it until a lead restores it."""
    with writing(project.store) as db:
        if pair := judgements.pair_by_key(db, key):
            block_moment(db, lead, pair.moment_id, reason, now=now)


def block_moment(
    db: Database,
    person: Lead | Annotator,
    moment_id: MomentId,
    reason: str,
    *,
    found_by: str = clip_faults.BY_PERSON,
    now: float,
) -> None:
    """Hand a moment out no more: the seats at its pairs go back, and leads read why.

    What its file showed (`found_by`) goes once the file is well; what a person said stays until a lead lifts it.
    """
    clip_faults.add_fault(db, moment_id, reason, at=now, found_by=found_by)
    seats.release_broken(db, moment_id)
    agenda.refresh_moment(db, moment_id)
    events.record(
        db,
        EventKind.CLIP_REPORTED,
        at=now,
        actor=person.annotator_id,
        subject=f"moment:{moment_id}",
        payload={"reason": reason},
    )


def free_reported(db: Database, moments: Sequence[MomentId], *, fewest: int) -> int:
    """Hand out again those of some moments that only annotators' reports blocked, and fewer than `fewest` still do."""
    freed = 0
    for moment_id in moments:
        if skips.reporters(db, moment_id) < fewest and clip_faults.is_blocked_by_reports(db, moment_id):
            clip_faults.remove_fault(db, moment_id)
            agenda.refresh_moment(db, moment_id)
            freed += 1
    return freed


@lead_only
def restore_clip(project: Project, lead: Lead, key: PairKey, *, now: float) -> None:
    """Show a blocked clip again (the video was repaired, or the report was a mistake)."""
    with writing(project.store) as db:
        pair = judgements.pair_by_key(db, key)
        if pair is None:
            return
        clip_faults.remove_fault(db, pair.moment_id)
        agenda.refresh_moment(db, pair.moment_id)
        events.record(db, EventKind.CLIP_RESTORED, at=now, actor=lead.annotator_id, subject=f"moment:{pair.moment_id}")
