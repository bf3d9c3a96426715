"""Skip, cannot judge, broken clip: the seat goes back, nothing of it counts as a grade, the lead reads why.

*Reads* pairs, seats. *Writes* skips, seats, clip faults, events.
"""

from backend.campaign.judging import blocking
from backend.campaign.judging.model import Receipt, ReceiptStatus, SkipEvent, SkipKind
from backend.campaign.judging.rows import judgements, seats, skips
from backend.campaign.nouns import Annotator, Lead
from backend.ground.errors import Overtaken, PairLocked
from backend.ground.ids import PairKey
from backend.ground.saying import said
from backend.ground.words import ago
from backend.store import events
from backend.store.connection import Store, writing
from backend.store.events import EventKind

GRADED = said("you have graded this pair already; press another grade to correct it")
USED = said("this key press was stored for another pair or person already: skip the pair again")
LONGEST_REASON = 200


def record_skip(store: Store, person: Annotator, event: SkipEvent, *, now: float) -> Receipt:
    """Take a skip; sending the same one again changes nothing.

    The pair is not offered to this person again, unless a lead says so. A grade of theirs that still arrives (they
    stepped back) counts, as long as a seat is free. A broken clip blocks its moment for everybody.
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
        if seat is not None and seat.judged:
            return Receipt(event.key, ReceiptStatus.REFUSED, GRADED)
        reason = event.reason.strip()[:LONGEST_REASON] or "no reason given"
        skips.add(db, pair.pair_id, me, event.kind, reason, event.key, at=now)
        seats.release(db, me, pair.pair_id)
        events.record(
            db,
            EventKind.SKIPPED,
            at=now,
            actor=me,
            subject=f"pair:{pair.pair_id}",
            payload={"kind": event.kind, "reason": reason},
        )
        if event.kind is SkipKind.BROKEN_CLIP:
            blocking.block_clip(store, person, event.pair, f"Reported from the desk: {reason}", now=now)
    return Receipt(event.key, ReceiptStatus.SAVED)


def offer_again(store: Store, lead: Lead, key: PairKey, *, now: float) -> int:
    """Offer a pair again to everybody who skipped it; how many people that are.

    Raises:
        Overtaken: somebody offered it again already.
        PairLocked: the pair is settled, so nobody could get it.
    """
    with writing(store) as db:
        pair = judgements.pair_by_key(db, key)
        if pair is not None and judgements.verdict(db, pair.pair_id).is_settled:
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
                EventKind.OFFERED_AGAIN,
                at=now,
                actor=lead.annotator_id,
                subject=f"pair:{pair.pair_id}",
                payload={"people": lifted},
            )
    return lifted
