"""Practice as somebody does it: an answer, and at once what is right and why. None of it is a judgement.

*Reads* practice pairs. *Writes* practice_answer. The right grade leaves this module with the answer, never before.
"""

from backend.campaign.nouns import Annotator
from backend.campaign.qualification.exam.rules.marking import misses
from backend.campaign.qualification.tutorial import choosing, rows
from backend.campaign.qualification.tutorial.model import PracticeItem, PracticeTold
from backend.campaign.setup.project import rows as facts
from backend.core.errors import ProjectError
from backend.core.saying import said
from backend.store.connection import Store, reading, writing

GONE = said("this is no practice pair (any more): reload the page")


def items(store: Store, person: Annotator, *, now: float) -> list[PracticeItem]:
    """What this person practises on."""
    with reading(store) as db:
        own = rows.last_answers(db, person.annotator_id)
        shown = (one for one in rows.standing(db) if not choosing.hidden(db, one, now=now))
        return [PracticeItem(one.key, one.query, one.whole, own.get(one.practice_id)) for one in shown]


def place(store: Store, key: str) -> tuple[str, float, float] | None:
    """(video, start, end) of a practice pair; None if none of this name stands."""
    with reading(store) as db:
        one = _by_key(rows.standing(db), key)
    return None if one is None else (one.video, one.start_s, one.end_s)


def answer(store: Store, person: Annotator, key: str, grade: int, event_key: str, *, now: float) -> PracticeTold:
    """Take an answer and tell what is right. Sending the same key press again changes nothing.

    Raises:
        ProjectError: no such practice pair, or not a grade.
    """
    with writing(store) as db:
        one = _by_key(rows.standing(db), key)
        if one is None or choosing.hidden(db, one, now=now):
            raise ProjectError(GONE)
        campaign = facts.campaign(db)
        if grade not in campaign.scale:
            raise ProjectError(
                said("{grade} is not a grade: grades are {words}", grade=grade, words=campaign.scale.words)
            )
        owner = rows.answer_owner(db, event_key)
        if owner is None:
            rows.add_answer(db, one.practice_id, person.annotator_id, grade, event_key, at=now)
        elif owner != (one.practice_id, person.annotator_id, grade):
            raise ProjectError(said("this key press was stored for another answer already: press the grade again"))
    return PracticeTold(grade, one.grade, not misses(grade, one.grade, campaign.tolerance), one.explanation)


def _by_key(there: list[rows.PracticePair], key: str) -> rows.PracticePair | None:
    return next((one for one in there if one.key == key), None)
