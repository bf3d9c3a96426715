"""Find the clip of a pair for a user who may see it, and stop handing out clips that are broken.

An annotator may see the clips of three kinds of pairs: those reserved for them to grade now, those that they graded
last, and those of their exam. While paused, they see none. Leads may see every clip.

*Reads* accounts, seats (annotators' places at pairs), exams, skips, videos. *Writes* skips, clip faults, seats, events.
"""

import secrets
from collections.abc import Sequence
from contextlib import suppress

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
from backend.media.jobs import ClipCache, ClipJob
from backend.media.sources import VideoFacts
from backend.store.connection import Database, fetch, reading, writing

_NOT_ON_DESK = said("this clip is not on your desk")
_NOT_SHOWN = said("This clip cannot be shown just now. A lead can see why on the page Videos.")


@signed_in
def clip_for(project: Project, person: Lead | Annotator, pair: PairKey, *, context: bool = False) -> ClipJob:
    """Return the clip of a pair, for a user who may see it.

    A pair in an exam has a special key, which works only for the person who takes the exam.

    Args:
        project: the project.
        person: the annotator or lead who asks.
        pair: the key of the pair, or of a pair in an exam.
        context: whether to return a longer clip, with some seconds before and after the moment. The result says how
            many.

    Raises:
        NotAllowed: this person may not see the pair's clip.
        VideoUnreadable: the project does not know the video's file.
    """
    job, duration_s = _job(project, _visible(project, person, pair))
    return jobs.with_context(job, duration_s) if context else job


@signed_in
def desk_clips(
    project: Project, person: Lead | Annotator, pairs: Sequence[PairKey]
) -> list[tuple[PairKey, ClipJob | VideoUnreadable]]:
    """Return the clips of the pairs on a person's desk, each with its pair, so that they can be cut ahead.

    In place of a clip whose video has no file there is the error that says so. Pairs whose clip this person may not
    see now are left out. All pairs are read together, which costs much less than `clip_for` for each of them.
    """
    db = project.store.db
    held: dict[PairKey, PairRow] = {}
    if isinstance(person, Annotator):
        paused = assignments.pause_select(person.annotator_id)
        ungraded = judgements.ungraded_select(person.annotator_id)
        fetch(db, paused, ungraded)
        held = {} if paused.result else {row.pair_key: row for row in ungraded.result}
    rows: list[tuple[PairKey, PairRow]] = []
    for pair in pairs:
        with suppress(NotAllowed):
            rows.append((pair, held[pair] if pair in held else _visible(project, person, pair)))
    facts = corpus_rows.facts_of(db, {row.video for _, row in rows})
    cache = project.clips
    clips: list[tuple[PairKey, ClipJob | VideoUnreadable]] = []
    for pair, row in rows:
        try:
            clips.append((pair, _clip(project, cache, row, _known(row, facts.get(row.video)))))
        except VideoUnreadable as error:
            clips.append((pair, error))
    return clips


@signed_in
def clip_elsewhere(project: Project, person: Lead | Annotator, pair: PairKey, *, now: float) -> str | None:
    """Return a link to a pair's clip in cloud storage, valid for about a minute; None if this server sends the clip.

    The function asks the storage whether it has the clip. This server itself sends all clips to leads, and all clips
    while gold questions (hidden pairs with known grades) are in use. The storage shows when a clip was uploaded, and an
    old clip would reveal a pair that others have graded.

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
    """Return the storyboard of a pair's clip (one picture with frames of the clip), for a user who may see the clip.

    Raises:
        NotAllowed: this person may not see the pair's clip.
        VideoUnreadable: the project does not know the video's file.
    """
    return jobs.storyboard(_job(project, _visible(project, person, pair))[0])


@lead_only
def gif_for(project: Project, lead: Lead, pair: PairKey) -> ClipJob:
    """Return the moment of a pair as a GIF that leads can show to others.

    Raises:
        NotAllowed: the caller is no lead, or there is no such pair.
        VideoUnreadable: the project does not know the video's file.
    """
    return jobs.gif(_job(project, _visible(project, lead, pair))[0])


@signed_in
def why_not_shown(project: Project, person: Lead | Annotator, error: VideoUnreadable) -> str:
    """Return the message about a clip that cannot be shown; only leads are told the reason.

    The reason names the file. A file name often reveals what is in the video, or which clips come from the same video.
    """
    return str(error) if isinstance(person, Lead) else _NOT_SHOWN


@signed_in
def report_clip(project: Project, person: Lead | Annotator, pair: PairKey, reason: str, *, now: float) -> None:
    """Stop handing out a clip that the server could not make, and record the reason for leads.

    Raises:
        NotAllowed: this person may not see the pair's clip, and did not report it.
    """
    try:
        row = _visible(project, person, pair)
    except NotAllowed:
        row = _reported(project, person, pair)
    with writing(project.store) as db:
        queue.block_moment(db, person, row.moment_id, reason, found_by=pair_status.BY_FILE, now=now)


@signed_in
def report_broken(project: Project, person: Lead | Annotator, pair: PairKey, reason: str, *, now: float) -> bool:
    """Record that a person's browser could not play a pair's clip; the pair is skipped for this person.

    A pair in an exam is not skipped, but its clip is reported all the same. A lead's report stops the clip from being
    handed out at once.

    Returns:
        Whether the report was accepted. It is refused if this person does not have the clip to grade, is paused, or
        reports too many clips.
    """
    require_desk(project, person)
    event = SkipEvent(pair, SkipKind.BROKEN_CLIP, reason, secrets.token_hex(16))
    with writing(project.store) as db:
        item = exam.pair_of_item(project.store, person, pair)
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
    """Return a clip that this person reported as broken, so that the server can try to make it.

    Raises:
        NotAllowed: this person did not report it.
        VideoUnreadable: the project does not know the video's file.
    """
    return _job(project, _reported(project, person, pair))[0]


def _job(project: Project, row: PairRow) -> tuple[ClipJob, float]:
    """Return the clip of a pair, and the duration of its whole video in seconds.

    Raises:
        VideoUnreadable: the project does not know the video's file.
    """
    facts = _known(row, corpus_rows.video_facts(project.store.db, row.video))
    return _clip(project, project.clips, row, facts), facts.duration_s


def _known(row: PairRow, facts: VideoFacts | None) -> VideoFacts:
    """Return the measurements of a pair's video.

    Raises:
        VideoUnreadable: there are none.
    """
    if facts is None:
        why = said("no video file known; import the corpus again with --videos FOLDER")
        raise VideoUnreadable(said("{name}: {why}", name=row.video, why=why))
    return facts


def _clip(project: Project, cache: ClipCache, row: PairRow, facts: VideoFacts) -> ClipJob:
    return jobs.clip_job(cache, project.source(facts), row.start_s, row.end_s, facts.sha256)


def _visible(project: Project, person: Lead | Annotator, key: PairKey) -> PairRow:
    """Return the pair with a key that a browser sent, if this person may see its clip.

    Raises:
        NotAllowed: there is no such pair, or this person may not see its clip.
    """
    with reading(project.store) as db:
        item = exam.pair_of_item(project.store, person, key)
        pair = item or judgements.pair_by_key(db, key)
        if pair is None or not (isinstance(person, Lead) or _on_desk(db, person, pair, item=item is not None)):
            raise NotAllowed(_NOT_ON_DESK)
        return pair


def _on_desk(db: Database, person: Annotator, pair: PairRow, *, item: bool) -> bool:
    """Return whether an annotator may see a pair's clip; never while they are paused.

    They may if the pair is reserved for them now, or was graded by them recently. `item` is True for a pair in their
    exam, whose clip they may always see.
    """
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
    """Return the pair with a key that a browser sent, if this person reported its clip as broken.

    Raises:
        NotAllowed: there is no such pair, or this person did not report it.
    """
    with reading(project.store) as db:
        pair = exam.pair_of_item(project.store, person, key) or judgements.pair_by_key(db, key)
        if pair is None or not pair_status.has_reported(db, pair.pair_id, person.annotator_id):
            raise NotAllowed(_NOT_ON_DESK)
        return pair
