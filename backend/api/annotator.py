"""The annotator's pages: the desk with its clips, taking grades, My work."""

import secrets
from collections.abc import Sequence
from dataclasses import replace

from backend.campaign.corpus.importing import rows as corpus_rows
from backend.campaign.judging import broken_clips as blocking
from backend.campaign.judging import consensus, pausing, skips
from backend.campaign.judging import grades as judgements
from backend.campaign.judging import queue as assignments
from backend.campaign.judging.model import (
    Desk,
    DeskState,
    GradeEvent,
    LiftedSkips,
    Receipt,
    ReceiptStatus,
    ReportedClip,
    SkipEvent,
    SkipKind,
)
from backend.campaign.judging.rows import judgements as judgement_rows
from backend.campaign.judging.rows import seats as seat_rows
from backend.campaign.judging.rows import skips as skip_rows
from backend.campaign.judging.rows.judgements import PairRow
from backend.campaign.monitoring.quality import my_work as own_work
from backend.campaign.monitoring.quality import replies
from backend.campaign.monitoring.quality.model import MyReply, MyWork
from backend.campaign.nouns import Annotator, Lead, Person, Role
from backend.campaign.qualification.exam import taking as exam
from backend.campaign.qualification.exam.model import ExamDesk, ExamPurpose
from backend.campaign.qualification.exam.taking import Act as ExamAct
from backend.campaign.qualification.gold import offering as gold
from backend.campaign.qualification.guideline import reading as guideline
from backend.campaign.setup.people import permissions
from backend.campaign.setup.project import rows as campaign
from backend.campaign.setup.project.folder import Project
from backend.campaign.setup.serving import windows
from backend.core.errors import NotAllowed, VideoUnreadable
from backend.core.ids import AnnotatorId, PairKey
from backend.core.saying import said
from backend.media.jobs import ClipJob, clip_job, gif, storyboard, with_context
from backend.store.connection import Database, reading, writing

_NOT_ON_DESK = said("this clip is not on your desk")
_NOT_SHOWN = said("This clip cannot be shown just now. A lead can see why on the page Videos.")


def desk(project: Project, person: Person, *, now: float) -> Desk[ExamDesk]:
    """What this annotator grades next: renews, claims seats. While paused nothing; the exam, where it comes first."""
    return _desk(project, _at_desk(project, person), now=now)


def record_grades(project: Project, person: Person, events: Sequence[GradeEvent], *, now: float) -> list[Receipt]:
    """Take grades in the order of giving; one receipt each. Sending an event again changes nothing."""
    return _take_grades(project, _at_desk(project, person), events, now=now)


def record_skips(project: Project, person: Person, events: Sequence[SkipEvent], *, now: float) -> list[Receipt]:
    """Take skips, each with its reason; one receipt each. Sending an event again changes nothing."""
    return _take_skips(project, _at_desk(project, person), events, now=now)


def shown(project: Project, person: Person, pair: PairKey, *, now: float) -> None:
    """The clip of a pair came on this annotator's screen: from now on a grade that led to it is not taken back."""
    sitting = _at_desk(project, person)
    if isinstance(sitting, Annotator):
        assignments.shown(project.store, sitting, pair, now=now)


def exchange(
    project: Project,
    person: Person,
    grades: Sequence[GradeEvent],
    skipped: Sequence[SkipEvent],
    *,
    now: float,
    shown: PairKey | None = None,
    window: str = "",
    takes: bool = False,
) -> tuple[list[Receipt], Desk[ExamDesk]]:
    """What a browser does at every key press: hand in what it has, get receipts and the fresh desk.

    Every event is committed by itself before the desk is filled, so that trouble with one never undoes another. What a
    window hands in counts, whichever window has the desk (see `Desk.elsewhere`).

    Args:
        project: the project.
        person: whose desk it is.
        grades: taken first.
        skipped: taken after them.
        now: seconds since 1970.
        shown: the pair whose clip is on screen.
        window: the name that the page gave itself.
        takes: from now on this window has the desk, and no other of this person's.

    Raises:
        NotAllowed: leads have no desk, but to give the key of an exam.
        StoreUnavailable: the database cannot be written; what has no receipt may be sent again.
    """
    sitting = _at_desk(project, person)
    receipts = _take_grades(project, sitting, grades, now=now) + _take_skips(project, sitting, skipped, now=now)
    found = _desk(project, sitting, now=now, shown=shown)
    if windows.is_elsewhere(project.store, sitting, window, takes=takes, now=now):
        found = replace(found, elsewhere=True)
    return receipts, found


def exam_act(project: Project, person: Person, act: ExamAct, *, now: float) -> Desk[ExamDesk]:
    """Begin the exam, hand it in, go on from its result; the fresh desk. Paused, or at a wrong time, nothing."""
    sitting = _at_desk(project, person)
    if isinstance(sitting, Lead):
        exam.key_act(project.store, sitting, act, now=now)
        return _desk(project, sitting, now=now)
    with writing(project.store):
        if not pausing.is_paused(project.store, sitting):
            found = exam.desk(project.store, sitting, now=now)
            purpose = found.exam.purpose if found and found.exam else ExamPurpose.EXAM
            exam.act(project.store, sitting, act, now=now, purpose=purpose)
    return _desk(project, sitting, now=now)


def read_guideline(project: Project, person: Person, version: int, *, now: float) -> Desk[ExamDesk]:
    """This annotator was shown a version of the guideline, to its end; the fresh desk."""
    annotator = permissions.require_annotator(project.store, person)
    guideline.note_seen(project.store, annotator, version, now=now)
    return _desk(project, annotator, now=now)


def clip_for(project: Project, person: Person, pair: PairKey, *, context: bool = False) -> ClipJob:
    """Which clip shows a pair, for somebody who may see it: who holds a seat at it or graded it last, or a lead.

    Nobody who is paused sees a clip of work. The items of the exam that somebody takes have names of their own; they
    are given to this person alone.

    With `context`, another clip: the moment and the seconds around it. The job tells how many on either side.

    Raises:
        NotAllowed: not this person's pair.
        VideoUnreadable: the project does not know the video's file.
    """
    job, duration_s = _job(project, _shown(project, permissions.require_signed_in(project.store, person), pair))
    return with_context(job, duration_s) if context else job


def _job(project: Project, row: PairRow) -> tuple[ClipJob, float]:
    """The clip of a pair, and how long its video is in seconds."""
    facts = corpus_rows.video_facts(project.store.db, row.video)
    if facts is None:
        raise VideoUnreadable(
            said(
                "{name}: {why}",
                name=row.video,
                why=said("no video file known; import the corpus again with --videos FOLDER"),
            )
        )
    return clip_job(project.clips, project.source(facts), row.start_s, row.end_s, facts.sha256), facts.duration_s


def clip_elsewhere(project: Project, person: Person, pair: PairKey, *, now: float) -> str | None:
    """Where the bucket of clips shows this annotator the clip of a pair, for a minute or so; None: it comes from here.

    While gold is among the work, all clips come from here: a bucket tells when it was given a clip, and one that it
    has had for long shows a pair that others have graded. Asks the bucket.

    Raises:
        NotAllowed, VideoUnreadable: see `clip_for`.
    """
    from backend.media import clip_bucket

    job = clip_for(project, person, pair)
    if person.role is not Role.ANNOTATOR or campaign.gold(project.store.db).on:
        return None
    return clip_bucket.signed(job, now)


def storyboard_for(project: Project, person: Person, pair: PairKey) -> ClipJob:
    """The storyboard of a pair's clip, for whoever may see the clip; made like a clip.

    Raises:
        NotAllowed: not this person's pair.
        VideoUnreadable: the project does not know the video's file.
    """
    return storyboard(clip_for(project, person, pair))


def gif_for(project: Project, lead: Person, pair: PairKey) -> ClipJob:
    """The moment of a pair as a GIF, for leads, who show it to others.

    Raises:
        NotAllowed: not a lead.
        VideoUnreadable: the project does not know the video's file.
    """
    return gif(clip_for(project, permissions.require_lead(project.store, lead), pair))


def why_not_shown(project: Project, person: Person, error: VideoUnreadable) -> str:
    """What this person is told of a clip that cannot be shown: leads what is wrong with which file, others only that.

    A file's name often says what is in the video, or which clips are of one.

    Raises:
        NotAllowed: nobody who works here.
    """
    return str(error) if isinstance(permissions.require_signed_in(project.store, person), Lead) else _NOT_SHOWN


def report_clip(project: Project, person: Person, pair: PairKey, reason: str, *, now: float) -> None:
    """The server cannot make this pair's clip: it is not handed out again, and the lead sees why.

    Raises:
        NotAllowed: not on the desk of the person whose page asked for the clip, nor reported by them.
    """
    asked_by = permissions.require_signed_in(project.store, person)
    try:
        key = _shown(project, asked_by, pair).pair_key
    except NotAllowed:
        key = _reported(project, asked_by, pair).pair_key
    blocking.block_clip(project.store, asked_by, key, reason, found_by=judgement_rows.BY_FILE, now=now)


def report_broken(project: Project, person: Person, pair: PairKey, reason: str, *, now: float) -> bool:
    """Take the report of a browser that could not show a clip of its desk: a skip of that clip as broken.

    An item of an exam has no seat and cannot be skipped, but its clip is reported alike.

    Returns:
        Whether it was taken: not where the clip is not on this person's desk, they are paused, or they report too much.
    """
    reporter = _at_desk(project, person)
    event = SkipEvent(pair, SkipKind.BROKEN_CLIP, reason, secrets.token_hex(16))
    with writing(project.store) as db:
        item = exam.pair_behind(project.store, reporter, pair)
        if isinstance(reporter, Lead):
            if item is not None:
                blocking.block_clip(project.store, reporter, item.pair_key, reason, now=now)
            return item is not None
        if item is None:
            return skips.record_skip(project.store, reporter, event, now=now).status is ReceiptStatus.SAVED
        if skips.refusal(db, reporter.annotator_id, now=now):
            return False
        skips.take(db, reporter, item, event, now=now)
    return True


def reported_clip(project: Project, person: Person, pair: PairKey) -> ClipJob:
    """The clip that this person reported as broken, so that the server tries to make it.

    Raises:
        NotAllowed: they did not report it.
        VideoUnreadable: the project does not know the video's file.
    """
    return _job(project, _reported(project, permissions.require_signed_in(project.store, person), pair))[0]


def reported_clips(project: Project, lead: Person) -> list[ReportedClip]:
    """The clips that one person reported as broken and that are still shown to others."""
    permissions.require_lead(project.store, lead)
    with reading(project.store) as db:
        return skip_rows.reported(db)


def block_clip(project: Project, lead: Person, pair: PairKey, reason: str, *, now: float) -> None:
    """A lead has looked at a clip and keeps it back: nobody gets it until a lead hands it out again."""
    blocking.block_clip(project.store, permissions.require_lead(project.store, lead), pair, reason, now=now)


def lift_skips(
    project: Project, lead: Person, annotator_id: AnnotatorId, *, reports_only: bool, now: float
) -> LiftedSkips:
    """Undo everything that somebody skipped, or only what they reported as broken.

    Raises:
        Overtaken: nothing of theirs stands any more.
    """
    by = permissions.require_lead(project.store, lead)
    return skips.lift_all(project.store, by, annotator_id, reports_only=reports_only, now=now)


def restore_clip(project: Project, lead: Person, pair: PairKey, *, now: float) -> None:
    """A lead hands a blocked pair out again."""
    blocking.restore_clip(project.store, permissions.require_lead(project.store, lead), pair, now=now)


def my_work(project: Project, person: Person, *, now: float) -> MyWork:
    """What this person did: counts, time, how their grades spread; agreement over settled pairs only."""
    return own_work.report(project.store, permissions.require_annotator(project.store, person), now=now)


def my_replies(project: Project, person: Person, *, now: float) -> list[MyReply]:
    """What leads replied to this person's notes, of pairs that are settled for good; unread first."""
    return replies.told(project.store, permissions.require_annotator(project.store, person), now=now)


def read_replies(project: Project, person: Person, *, now: float) -> None:
    """The person has read the replies that have reached them."""
    replies.mark_read(project.store, permissions.require_annotator(project.store, person), now=now)


def _at_desk(project: Project, person: Person) -> Annotator | Lead:
    """Who sits at a desk: an annotator, or a lead while the key of the exam is a lead's to give."""
    found = permissions.require_signed_in(project.store, person)
    if isinstance(found, Annotator) or exam.key_is_leads(project.store):
        return found
    return permissions.require_annotator(project.store, person)


def _desk(project: Project, annotator: Annotator | Lead, *, now: float, shown: PairKey | None = None) -> Desk[ExamDesk]:
    store = project.store
    if isinstance(annotator, Lead):
        return exam.key_desk(store, annotator)
    with writing(store) as db:  # one act: whoever is paused at this very moment sits down at no pair after it
        before_work = (
            pausing.desk(store, annotator, now=now)
            or guideline.desk(store, annotator, now=now)
            or exam.desk(store, annotator, now=now)
        )
        found = before_work or _work(project, db, annotator, now=now, shown=shown)
    with reading(store):  # others may write again
        if before_work is None and found.state is not DeskState.PAUSED:
            found = replace(found, previous=judgements.previous(store, annotator, now=now))
        return replace(found, replies=replies.unread(store, annotator, now=now))


def _work(project: Project, db: Database, annotator: Annotator, *, now: float, shown: PairKey | None) -> Desk[ExamDesk]:
    """The desk of somebody who may judge pairs."""
    store, lease_s = project.store, project.settings.lease_minutes * 60
    mixed_in = campaign.gold(db)
    if mixed_in.on:
        gold.offer(store, annotator, mixed_in)
    found = assignments.desk(db, annotator, project.secret, now=now, lease_s=lease_s, shown=shown)
    return gold.follow(store, annotator, found, mixed_in, now=now) if mixed_in.on else found


def _shown(project: Project, person: Lead | Annotator, key: PairKey) -> PairRow:
    """The pair behind a key, for somebody who may see its clip."""
    with reading(project.store) as db:
        item = exam.pair_behind(project.store, person, key)
        pair = item or judgement_rows.pair_by_key(db, key)
        if pair is None or not (isinstance(person, Lead) or _on_desk(project, db, person, pair, item=item is not None)):
            raise NotAllowed(_NOT_ON_DESK)
        return pair


def _on_desk(project: Project, db: Database, me: Annotator, pair: PairRow, *, item: bool) -> bool:
    """Whether a pair is on an annotator's desk: an item of their exam, a seat they hold, or what they graded last."""
    if pausing.is_paused(project.store, me):
        return False
    seat = None if item else seat_rows.seat_of(db, pair.pair_id, me.annotator_id)
    if item or (seat is not None and not seat.judged):
        return True
    last = judgement_rows.last_graded(db, me.annotator_id) if seat is not None else None
    return last is not None and last[0].pair_id == pair.pair_id


def _reported(project: Project, person: Lead | Annotator, key: PairKey) -> PairRow:
    """The pair behind a key, for who reported its clip as broken."""
    with reading(project.store) as db:
        pair = exam.pair_behind(project.store, person, key) or judgement_rows.pair_by_key(db, key)
        if pair is None or not skip_rows.has_reported(db, pair.pair_id, person.annotator_id):
            raise NotAllowed(_NOT_ON_DESK)
        return pair


def _take_grades(
    project: Project, person: Annotator | Lead, events: Sequence[GradeEvent], *, now: float
) -> list[Receipt]:
    if isinstance(person, Lead):
        return [exam.record_key(project.store, person, event, now=now) for event in events]
    return [_take_grade(project, person, event, now=now) for event in events]


def _take_skips(
    project: Project, person: Annotator | Lead, events: Sequence[SkipEvent], *, now: float
) -> list[Receipt]:
    store = project.store
    if isinstance(person, Lead):
        return [Receipt(event.key, ReceiptStatus.REFUSED, exam.NO_SKIP) for event in events]
    return [exam.refuse_skip(store, event) or skips.record_skip(store, person, event, now=now) for event in events]


def _take_grade(project: Project, annotator: Annotator, event: GradeEvent, *, now: float) -> Receipt:
    """An answer of the exam, a refusal until it is passed, or a judgement."""
    store = project.store
    return (
        exam.record_answer(store, annotator, event, now=now)
        or exam.hold_back(store, annotator, event, now=now)
        or consensus.record_grade(store, annotator, event, now=now)
    )
