"""Record skips and reports of broken clips; block clips that cannot be shown, and offer skipped pairs again.

*Reads* pairs, seats, pauses. *Writes* skips, seats, clip faults, events. The seat goes back, nothing counts as a grade,
and leads read the reason. A row of `skip` is also the record of a report that a clip is broken.

A moment is blocked by its file, by a lead, or by the reports of two people; never by one annotator. Its pairs are not
handed out until a lead restores it.
"""

from collections.abc import Sequence

from backend.campaign.judging.model import (
    CLIP_REPORTED,
    CLIP_RESTORED,
    OFFERED_AGAIN,
    SKIPPED,
    SKIPS_LIFTED,
    LiftedSkips,
    Receipt,
    ReceiptStatus,
    ReportedClip,
    SkipEvent,
    SkipKind,
)
from backend.campaign.judging.rows import assignments, judgements, seats, skips, verdicts
from backend.campaign.judging.rows.judgements import PairRow
from backend.campaign.nouns import Annotator, Lead
from backend.campaign.selection.candidates import rows as candidates_rows
from backend.campaign.setup.people.permissions import lead_only
from backend.campaign.setup.project.folder import Project
from backend.core.days import ago
from backend.core.errors import Overtaken, PairLocked
from backend.core.ids import AnnotatorId, MomentId, PairKey
from backend.core.messages import said
from backend.store import events
from backend.store.connection import Database, Store, reading, writing

MOST_A_MINUTE = 30
"""Skips and reports of one person. Offline, a browser holds seven pairs, so an honest page sends seven at once."""
MINUTE_S = 60.0
REPORTS_TO_BLOCK = 2
"""So many people have to report a moment before nobody gets it."""
LONGEST_REASON = 200

GRADED = said("you have graded this pair already; press another grade to correct it")
USED = said("this key press was stored for another pair or person already: skip the pair again")
GONE = said("this pair is not on your desk any more")
PAUSED = said("your work is paused")
TOO_MANY = said("you have skipped {most} pairs within a minute: wait a minute, then skip this one", most=MOST_A_MINUTE)


def record_skip(store: Store, person: Annotator, event: SkipEvent, *, now: float) -> Receipt:
    """Take a skip of a pair at which this person holds a seat; sending the same one again changes nothing.

    The pair is not offered to this person again, and takes no grade of theirs, unless a lead offers it again.
    """
    me = person.annotator_id
    with writing(store) as db:
        pair = judgements.pair_by_key(db, event.pair)
        if pair is None:
            return Receipt(event.key, ReceiptStatus.REFUSED, said("this pair is not in the project (any more)"))
        owner = skips.event_owner(db, event.key)
        if owner is not None:
            mine = owner == (pair.pair_id, me)
            return Receipt(event.key, *((ReceiptStatus.SAVED,) if mine else (ReceiptStatus.REFUSED, USED)))
        seat = seats.seat_of(db, pair.pair_id, me)
        why = GRADED if seat is not None and seat.judged else GONE if seat is None else None
        if why := refusal(db, me, now=now) or why:
            return Receipt(event.key, ReceiptStatus.REFUSED, why)
        take(db, person, pair, event, now=now)
    return Receipt(event.key, ReceiptStatus.SAVED)


def refusal(db: Database, me: AnnotatorId, *, now: float) -> str | None:
    """Why this person may skip nothing and report nothing just now, in words for them; None if they may."""
    if assignments.is_paused(db, me):
        return PAUSED
    return TOO_MANY if skips.recent(db, me, since=now - MINUTE_S, now=now) >= MOST_A_MINUTE else None


def take(db: Database, person: Annotator, pair: PairRow, event: SkipEvent, *, now: float) -> None:
    """Store a skip and free the seat. `REPORTS_TO_BLOCK` people who report a moment's clip block the moment."""
    me = person.annotator_id
    reason = event.reason.strip()[:LONGEST_REASON] or "no reason given"
    skips.add(db, pair.pair_id, me, event.kind, reason, event.key, at=now)
    seats.release(db, me, pair.pair_id)
    events.record(
        db,
        SKIPPED,
        at=now,
        actor=me,
        subject=f"pair:{pair.pair_id}",
        payload={"kind": event.kind, "reason": reason},
    )
    if event.kind is SkipKind.BROKEN_CLIP and skips.reporters(db, pair.moment_id) >= REPORTS_TO_BLOCK:
        block_moment(db, person, pair.moment_id, f"Reported from the desk: {reason}", now=now)


@lead_only
def lift_skips(
    project: Project, lead: Lead, annotator_id: AnnotatorId, *, reports_only: bool, now: float
) -> LiftedSkips:
    """Undo all skips of a person, or only their reports of broken clips.

    They may be offered the pairs again, and clips that were blocked by people's reports, of whom too few are left, are
    handed out again. What a lead or a file said about a clip stays.

    Raises:
        Overtaken: no skip of this person stands (any more).
    """
    with writing(project.store) as db:
        count, moments = skips.lift_all(db, annotator_id, reports_only=reports_only, at=now)
        if not count:
            raise Overtaken(said("nothing is left to undo: somebody did it already"))
        clips = free_reported(db, moments, fewest=REPORTS_TO_BLOCK)
        events.record(
            db,
            SKIPS_LIFTED,
            at=now,
            actor=lead.annotator_id,
            subject=f"annotator:{annotator_id}",
            payload={"skips": count, "reports_only": reports_only, "clips": clips},
        )
    return LiftedSkips(count, clips)


@lead_only
def offer_again(project: Project, lead: Lead, key: PairKey, *, now: float) -> int:
    """Offer a pair again to everybody who skipped it; return how many people those are.

    Raises:
        Overtaken: somebody offered it again already.
        PairLocked: the pair is settled, so nobody could get it.
    """
    with writing(project.store) as db:
        pair = judgements.pair_by_key(db, key)
        if pair is not None and verdicts.verdict(db, pair.pair_id).is_settled:
            raise PairLocked(said("this pair is settled: nobody is asked about it any more"))
        lifted = skips.lift(db, pair.pair_id, None, at=now) if pair else 0
        if pair is not None and not lifted and (offered := skips.last_offer(db, pair.pair_id)):
            who = said("You", _context="by") if offered[0] == lead.name else offered[0]
            raise Overtaken(
                said(
                    "{who} offered this pair again {when}, and nobody has skipped it since",
                    who=who,
                    when=ago(now - offered[1]),
                )
            )
        if pair is not None and lifted:
            events.record(
                db,
                OFFERED_AGAIN,
                at=now,
                actor=lead.annotator_id,
                subject=f"pair:{pair.pair_id}",
                payload={"people": lifted},
            )
    return lifted


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
    found_by: str = skips.BY_PERSON,
    now: float,
) -> None:
    """Hand a moment out no more: the seats at its pairs go back, and leads read why.

    What its file showed (`found_by`) goes once the file is well; what a person said stays until a lead lifts it.
    """
    skips.add_fault(db, moment_id, reason, at=now, found_by=found_by)
    seats.release_broken(db, moment_id)
    candidates_rows.refresh_agenda_of_moment(db, moment_id)
    events.record(
        db,
        CLIP_REPORTED,
        at=now,
        actor=person.annotator_id,
        subject=f"moment:{moment_id}",
        payload={"reason": reason},
    )


def free_reported(db: Database, moments: Sequence[MomentId], *, fewest: int) -> int:
    """Hand out again those of some moments that only annotators' reports blocked, and fewer than `fewest` still do."""
    freed = 0
    for moment_id in moments:
        if skips.reporters(db, moment_id) < fewest and skips.is_blocked_by_reports(db, moment_id):
            skips.remove_fault(db, moment_id)
            candidates_rows.refresh_agenda_of_moment(db, moment_id)
            freed += 1
    return freed


@lead_only
def restore_clip(project: Project, lead: Lead, key: PairKey, *, now: float) -> None:
    """Show a blocked clip again (the video was repaired, or the report was a mistake)."""
    with writing(project.store) as db:
        pair = judgements.pair_by_key(db, key)
        if pair is None:
            return
        skips.remove_fault(db, pair.moment_id)
        candidates_rows.refresh_agenda_of_moment(db, pair.moment_id)
        events.record(db, CLIP_RESTORED, at=now, actor=lead.annotator_id, subject=f"moment:{pair.moment_id}")
