"""Find the clip of a pair for a person who may see it, and block clips that turn out to be broken.

*Reads* accounts, seats, exams, skips, videos. *Writes* skips, clip faults, seats, events.

An annotator sees the clips of pairs they hold, of the pairs they graded last, and of their exam; nothing while they are
paused. Leads see every clip.
"""

import secrets

from backend.campaign.corpus.importing import rows as corpus_rows
from backend.campaign.desk.exchange import require_desk
from backend.campaign.judging import queue
from backend.campaign.judging.grades import RECENT
from backend.campaign.judging.model import ReceiptStatus, SkipEvent, SkipKind
from backend.campaign.judging.rows import assignments, judgements, pair_status, seats
from backend.campaign.judging.rows.judgements import PairRow
from backend.campaign.nouns import Annotator, Lead
from backend.campaign.qualification.exam import taking as exam
from backend.campaign.setup.people.permissions import lead_only, signed_in
from backend.campaign.setup.project import rows as project_rows
from backend.campaign.setup.project.folder import Project
from backend.core.errors import NotAllowed, VideoUnreadable
from backend.core.ids import PairKey
from backend.core.messages import said
from backend.media import jobs
from backend.media.jobs import ClipJob
from backend.store.connection import Database, reading, writing

_NOT_ON_DESK = said("this clip is not on your desk")
_NOT_SHOWN = said("This clip cannot be shown just now. A lead can see why on the page Videos.")


@signed_in
def clip_for(project: Project, person: Lead | Annotator, pair: PairKey, *, context: bool = False) -> ClipJob:
    """Return the clip of a pair, for a person who may see it.

    Items of an exam have names of their own, which are given to the person who takes it alone.

    Args:
        project: the project.
        person: who asks.
        pair: the pair, or the item of an exam.
        context: return another clip: the moment and the seconds around it. The job tells how many on either side.

    Raises:
        NotAllowed: not this person's pair.
        VideoUnreadable: the project does not know the video's file.
    """
    job, duration_s = _job(project, _visible(project, person, pair))
    return jobs.with_context(job, duration_s) if context else job


@signed_in
def clip_elsewhere(project: Project, person: Lead | Annotator, pair: PairKey, *, now: float) -> str | None:
    """Return a link to the clip in the clip bucket that is valid for about a minute; None if this server sends it.

    While gold questions are on, this server sends all clips: a bucket tells when it was given a clip, and one that it
    has had for long shows a pair that others have graded. Asks the bucket.

    Raises:
        NotAllowed, VideoUnreadable: see `clip_for`.
    """
    from backend.media import clip_bucket

    job, _ = _job(project, _visible(project, person, pair))
    if isinstance(person, Lead) or project_rows.gold(project.store.db).on:
        return None
    return clip_bucket.signed(job, now)


@signed_in
def storyboard_for(project: Project, person: Lead | Annotator, pair: PairKey) -> ClipJob:
    """Return the storyboard of a pair's clip, for a person who may see the clip.

    Raises:
        NotAllowed: not this person's pair.
        VideoUnreadable: the project does not know the video's file.
    """
    return jobs.storyboard(_job(project, _visible(project, person, pair))[0])


@lead_only
def gif_for(project: Project, lead: Lead, pair: PairKey) -> ClipJob:
    """Return the moment of a pair as a GIF that leads show to others.

    Raises:
        NotAllowed: not a lead, or no such pair.
        VideoUnreadable: the project does not know the video's file.
    """
    return jobs.gif(_job(project, _visible(project, lead, pair))[0])


@signed_in
def why_not_shown(project: Project, person: Lead | Annotator, error: VideoUnreadable) -> str:
    """Return what to tell a person about a clip that cannot be shown: leads the reason, annotators only the fact.

    A file's name often tells what is in the video, or which clips are of the same one.
    """
    return str(error) if isinstance(person, Lead) else _NOT_SHOWN


@signed_in
def report_clip(project: Project, person: Lead | Annotator, pair: PairKey, reason: str, *, now: float) -> None:
    """Block a clip that the server cannot make: nobody gets it, and leads read why.

    Raises:
        NotAllowed: not on the desk of the person whose page asked for the clip, nor reported by them.
    """
    try:
        row = _visible(project, person, pair)
    except NotAllowed:
        row = _reported(project, person, pair)
    with writing(project.store) as db:
        queue.block_moment(db, person, row.moment_id, reason, found_by=pair_status.BY_FILE, now=now)


@signed_in
def report_broken(project: Project, person: Lead | Annotator, pair: PairKey, reason: str, *, now: float) -> bool:
    """Record that a browser could not show a clip of its desk: a skip of that clip as broken.

    An item of an exam has no seat and cannot be skipped, but its clip is reported alike.

    Returns:
        Whether the report was taken. It is not if the clip is not on this person's desk, they are paused, or they
        report too much.
    """
    require_desk(project, person)
    event = SkipEvent(pair, SkipKind.BROKEN_CLIP, reason, secrets.token_hex(16))
    with writing(project.store) as db:
        item = exam.pair_behind(project.store, person, pair)
        if isinstance(person, Lead):
            if item is not None:
                queue.block_moment(db, person, item.moment_id, reason, now=now)
            return item is not None
        if item is None:
            return queue.record_skip(project.store, person, event, now=now).status is ReceiptStatus.SAVED
        if queue.skip_refusal(db, person.annotator_id, now=now):
            return False
        queue.take_skip(db, person, item, event, now=now)
    return True


@signed_in
def reported_clip(project: Project, person: Lead | Annotator, pair: PairKey) -> ClipJob:
    """Return the clip that this person reported as broken, so that the server tries to make it.

    Raises:
        NotAllowed: they did not report it.
        VideoUnreadable: the project does not know the video's file.
    """
    return _job(project, _reported(project, person, pair))[0]


def _job(project: Project, row: PairRow) -> tuple[ClipJob, float]:
    """Return the clip of a pair, and how long its video is in seconds."""
    facts = corpus_rows.video_facts(project.store.db, row.video)
    if facts is None:
        raise VideoUnreadable(
            said(
                "{name}: {why}",
                name=row.video,
                why=said("no video file known; import the corpus again with --videos FOLDER"),
            )
        )
    job = jobs.clip_job(project.clips, project.source(facts), row.start_s, row.end_s, facts.sha256)
    return job, facts.duration_s


def _visible(project: Project, person: Lead | Annotator, key: PairKey) -> PairRow:
    """Return the pair behind a key, for a person who may see its clip."""
    with reading(project.store) as db:
        item = exam.pair_behind(project.store, person, key)
        pair = item or judgements.pair_by_key(db, key)
        if pair is None or not (isinstance(person, Lead) or _on_desk(db, person, pair, item=item is not None)):
            raise NotAllowed(_NOT_ON_DESK)
        return pair


def _on_desk(db: Database, person: Annotator, pair: PairRow, *, item: bool) -> bool:
    """Whether a pair is on an annotator's desk: an item of their exam, a seat they hold, or a recent grade."""
    me = person.annotator_id
    if assignments.is_paused(db, me):
        return False
    seat = None if item else seats.seat_of(db, pair.pair_id, me)
    if item or (seat is not None and not seat.judged):
        return True
    return seat is not None and any(
        graded.pair_id == pair.pair_id for graded, _, _ in judgements.recently_graded(db, me, RECENT)
    )


def _reported(project: Project, person: Lead | Annotator, key: PairKey) -> PairRow:
    """Return the pair behind a key, for a person who reported its clip as broken."""
    with reading(project.store) as db:
        pair = exam.pair_behind(project.store, person, key) or judgements.pair_by_key(db, key)
        if pair is None or not pair_status.has_reported(db, pair.pair_id, person.annotator_id):
            raise NotAllowed(_NOT_ON_DESK)
        return pair
