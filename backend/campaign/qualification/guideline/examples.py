"""Examples of the guideline: a lead shows everybody a settled pair, to say what a grade means.

*Reads* pairs, consensus, seats. *Writes* examples, seats that nobody came back to, events.
"""

from backend.campaign.judging.model import CORRECTION_S
from backend.campaign.judging.rows import judgements, seats
from backend.campaign.nouns import Lead
from backend.campaign.qualification.exam.rows import exams
from backend.campaign.qualification.guideline import rows as examples
from backend.campaign.qualification.guideline.rows import Fitness
from backend.core.errors import ProjectError
from backend.core.ids import PairKey
from backend.core.saying import said, said_n
from backend.store import events
from backend.store.connection import Store, writing
from backend.store.events import EventKind

LONGEST_NOTE = 200


def choose(store: Store, lead: Lead, key: PairKey, grade: int, note: str, *, now: float) -> None:
    """Show a pair as the example of its relevance; the example that stood there before is withdrawn.

    Nobody can grade the pair any more from then on, so that the example gives nothing away.

    Args:
        store: the project's store.
        lead: who chooses it.
        key: the pair.
        grade: the relevance that the lead saw when they chose.
        note: why it deserves this grade, in the lead's words.
        now: seconds since 1970.

    Raises:
        ProjectError: no note, or a pair that cannot be an example (yet).
    """
    note = " ".join(note.split())
    if not note:
        raise ProjectError(said("an example needs a note: say in one sentence why it deserves this grade"))
    if len(note) > LONGEST_NOTE:
        raise ProjectError(
            said(
                "the note has {length} characters: say it in {longest}",
                length=len(note),
                longest=LONGEST_NOTE,
            )
        )
    with writing(store) as db:
        pair = judgements.pair_by_key(db, key)
        if pair is None:
            raise ProjectError(said("there is no such pair (any more): reload the page"))
        if exams.is_item(db, pair.pair_id):
            raise ProjectError(said("this pair is asked in the exam: an example would tell its grade"))
        _require_fit(examples.fitness(db, pair.pair_id), grade, now=now)
        seats.free_lapsed(db, pair.pair_id)
        replaced = examples.withdraw(db, grade, at=now)
        examples.add(db, grade, pair.pair_id, note, lead.annotator_id, at=now)
        events.record(
            db,
            EventKind.EXAMPLE_CHOSEN,
            at=now,
            actor=lead.annotator_id,
            subject=f"pair:{pair.pair_id}",
            payload={"grade": grade, "note": note, "replaced": replaced},
        )


def withdraw(store: Store, lead: Lead, grade: int, *, now: float) -> None:
    """Show no example of a grade any more; nothing happens if none stands."""
    with writing(store) as db:
        pair_id = examples.withdraw(db, grade, at=now)
        if pair_id is not None:
            events.record(
                db,
                EventKind.EXAMPLE_WITHDRAWN,
                at=now,
                actor=lead.annotator_id,
                subject=f"pair:{pair_id}",
                payload={"grade": grade},
            )


def _require_fit(pair: Fitness, grade: int, *, now: float) -> None:
    if pair.relevance is None:
        raise ProjectError(said("this pair has no relevance yet: only a settled pair can be an example"))
    if pair.relevance != grade:
        raise ProjectError(
            said(
                "the relevance of this pair is {relevance} now, not {grade}: reload the page",
                relevance=pair.relevance,
                grade=grade,
            )
        )
    if pair.fault:
        raise ProjectError(said("the clip of this pair cannot be shown: {fault}", fault=pair.fault))
    # Only a relevance that follows from grades can still change by a correction; a decision locks them.
    correctable_s = 0.0 if pair.ruled or pair.newest is None else pair.newest + CORRECTION_S - now
    if correctable_s > 0:
        raise ProjectError(
            said("whoever graded this pair last may still correct it: choose it {when}", when=_in(correctable_s))
        )
    if pair.held_until is not None and pair.held_until >= now:
        raise ProjectError(
            said(
                "somebody has this pair on their desk: choose it once they have graded it, or {when}",
                when=_in(pair.held_until - now),
            )
        )


def _in(seconds: float) -> str:
    minutes = int(seconds // 60) + 1
    return said_n("in {n} minute", "in {n} minutes", minutes)
