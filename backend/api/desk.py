"""The annotator's desk: what to grade next, taking grades, clips."""

from collections.abc import Sequence
from dataclasses import replace

from backend.core.errors import NotAllowed, VideoUnreadable
from backend.core.model import (
    Desk,
    GradeEvent,
    PairKey,
    Person,
    Receipt,
    Role,
)
from backend.media.clips import ClipJob, clip_job
from backend.stages import (
    assignments,
    consensus,
    judgements,
    review,
)
from backend.store import corpus as corpus_rows
from backend.store import judgements as judgement_rows
from backend.store import seats as seat_rows
from backend.store.project import Project


def desk(project: Project, person: Person, *, now: float) -> Desk:
    """What this annotator grades next: renews and claims seats."""
    if person.role is not Role.ANNOTATOR:
        raise NotAllowed("leads do not grade, so that their decisions stay independent: sign in as an annotator")
    lease_s = project.settings.lease_minutes * 60
    found = assignments.desk(project.store, person, now=now, lease_s=lease_s)
    return replace(found, previous=judgements.previous(project.store, person, now=now))


def record_grades(project: Project, person: Person, events: Sequence[GradeEvent], *, now: float) -> list[Receipt]:
    """Take grades in the order of giving; one receipt each. Sending an event again changes nothing."""
    if person.role is not Role.ANNOTATOR:
        raise NotAllowed("leads do not grade: sign in as an annotator")
    return [consensus.record_grade(project.store, person, event, now=now) for event in events]


def clip_for(project: Project, person: Person, pair: PairKey) -> ClipJob:
    """Which clip shows a pair, for somebody who may see it: the person at one of its seats, or a lead.

    Raises:
        NotAllowed: not this person's pair.
        VideoUnreadable: the project does not know the video's file.
    """
    row = judgement_rows.pair_by_key(project.store.db, pair)
    allowed = row is not None and (
        person.role is Role.LEAD or seat_rows.seat_of(project.store.db, row.pair_id, person.annotator_id) is not None
    )
    if row is None or not allowed:
        raise NotAllowed("this clip is not on your desk")
    facts = corpus_rows.video_facts(project.store.db, row.video)
    if facts is None:
        raise VideoUnreadable(f"{row.video}: no video file known; import the corpus again with --videos FOLDER")
    return clip_job(project.clips, project.file(facts.path), row.start_s, row.end_s, facts.sha256)


def report_clip(project: Project, person: Person, pair: PairKey, reason: str, *, now: float) -> None:
    """This pair's clip cannot be shown: it is not handed out again, and the lead sees why."""
    review.block_clip(project.store, person, pair, reason, now=now)


def restore_clip(project: Project, person: Person, pair: PairKey, *, now: float) -> None:
    """A lead hands a blocked pair out again."""
    review.restore_clip(project.store, person, pair, now=now)
