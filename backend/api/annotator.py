"""The annotator's pages: the desk with its clips, taking grades, My work."""

from collections.abc import Sequence
from dataclasses import replace

from backend.campaign.corpus import rows as corpus_rows
from backend.campaign.exam import taking as exam
from backend.campaign.exam.model import ExamDesk
from backend.campaign.exam.taking import Act as ExamAct
from backend.campaign.judging import assignments, blocking, consensus, judgements, skips
from backend.campaign.judging.model import Desk, GradeEvent, Receipt, SkipEvent
from backend.campaign.judging.rows import judgements as judgement_rows
from backend.campaign.judging.rows import seats as seat_rows
from backend.campaign.judging.rows import skips as skip_rows
from backend.campaign.nouns import Person, Role
from backend.campaign.project.folder import Project
from backend.campaign.quality import my_work as own_work
from backend.campaign.quality.model import MyWork
from backend.ground.errors import NotAllowed, VideoUnreadable
from backend.ground.ids import PairKey
from backend.media.jobs import ClipJob, clip_job, with_context


def desk(project: Project, person: Person, *, now: float) -> Desk[ExamDesk]:
    """What this annotator grades next: renews and claims seats. The exam, where they have to pass it first."""
    _require_annotator(person)
    if examined := exam.desk(project.store, person, now=now):
        return examined
    lease_s = project.settings.lease_minutes * 60
    found = assignments.desk(project.store, person, now=now, lease_s=lease_s)
    return replace(found, previous=judgements.previous(project.store, person, now=now))


def record_grades(project: Project, person: Person, events: Sequence[GradeEvent], *, now: float) -> list[Receipt]:
    """Take grades in the order of giving; one receipt each. Sending an event again changes nothing."""
    _require_annotator(person)
    return [_take_grade(project, person, event, now=now) for event in events]


def record_skips(project: Project, person: Person, events: Sequence[SkipEvent], *, now: float) -> list[Receipt]:
    """Take skips, each with its reason; one receipt each. Sending an event again changes nothing."""
    _require_annotator(person)
    store = project.store
    return [exam.refuse_skip(store, event) or skips.record_skip(store, person, event, now=now) for event in events]


def exchange(
    project: Project, person: Person, grades: Sequence[GradeEvent], skipped: Sequence[SkipEvent], *, now: float
) -> tuple[list[Receipt], Desk[ExamDesk]]:
    """What a browser does at every key press: hand in what it has, get receipts and the fresh desk.

    Every event is committed by itself before the desk is filled, so that trouble with one never undoes another.

    Raises:
        NotAllowed: leads have no desk.
        StoreUnavailable: the database cannot be written; what has no receipt may be sent again.
    """
    receipts = record_grades(project, person, grades, now=now) + record_skips(project, person, skipped, now=now)
    return receipts, desk(project, person, now=now)


def exam_act(project: Project, person: Person, act: ExamAct, *, now: float) -> Desk[ExamDesk]:
    """Begin the exam, hand it in, go on from its result; the fresh desk. At the wrong time it does nothing."""
    _require_annotator(person)
    exam.act(project.store, person, act, now=now)
    return desk(project, person, now=now)


def clip_for(project: Project, person: Person, pair: PairKey, *, context: bool = False) -> ClipJob:
    """Which clip shows a pair, for somebody who may see it: who sits at it or skipped it (and steps back), or a lead.

    The items of somebody's exam have names of their own; they are given to this person alone.

    With `context`, another clip: the moment and the seconds around it. The job tells how many on either side.

    Raises:
        NotAllowed: not this person's pair.
        VideoUnreadable: the project does not know the video's file.
    """
    item = exam.pair_behind(project.store, person, pair)
    row = item or judgement_rows.pair_by_key(project.store.db, pair)
    allowed = row is not None and (
        item is not None
        or person.role is Role.LEAD
        or seat_rows.seat_of(project.store.db, row.pair_id, person.annotator_id) is not None
        or skip_rows.skipped(project.store.db, row.pair_id, person.annotator_id)
    )
    if row is None or not allowed:
        raise NotAllowed("this clip is not on your desk")
    facts = corpus_rows.video_facts(project.store.db, row.video)
    if facts is None:
        raise VideoUnreadable(f"{row.video}: no video file known; import the corpus again with --videos FOLDER")
    job = clip_job(project.clips, project.file(facts.path), row.start_s, row.end_s, facts.sha256)
    return with_context(job, facts.duration_s) if context else job


def report_clip(project: Project, person: Person, pair: PairKey, reason: str, *, now: float) -> None:
    """This pair's clip cannot be shown: it is not handed out again, and the lead sees why."""
    item = exam.pair_behind(project.store, person, pair)
    blocking.block_clip(project.store, person, item.pair_key if item else pair, reason, now=now)


def restore_clip(project: Project, person: Person, pair: PairKey, *, now: float) -> None:
    """A lead hands a blocked pair out again."""
    blocking.restore_clip(project.store, person, pair, now=now)


def my_work(project: Project, person: Person, *, now: float) -> MyWork:
    """What this person did: counts, time, how their grades spread; agreement over settled pairs only."""
    return own_work.report(project.store, person, now=now)


def _take_grade(project: Project, person: Person, event: GradeEvent, *, now: float) -> Receipt:
    """An answer of the exam, a refusal until it is passed, or a judgement."""
    store = project.store
    return (
        exam.record_answer(store, person, event, now=now)
        or exam.hold_back(store, person, event, now=now)
        or consensus.record_grade(store, person, event, now=now)
    )


def _require_annotator(person: Person) -> None:
    if person.role is not Role.ANNOTATOR:
        raise NotAllowed("leads do not grade, so that their decisions stay independent: sign in as an annotator")
