"""The key of an exam of open pairs: it is fixed once, from what people answered blind.

*Reads* attempts, answers. *Writes* exam, exam_item, events. From then on everybody who handed in is told their result,
and whoever comes later, or had not handed in, takes the exam as any other.
"""

from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import dataclass

from backend.campaign.exam.model import ExamKey
from backend.campaign.exam.rows import attempts, exams
from backend.campaign.exam.rows.exams import Exam
from backend.campaign.exam.rules.guessing import guesses
from backend.campaign.exam.rules.keys import median
from backend.campaign.nouns import Lead, Operator
from backend.campaign.project import rows as facts
from backend.ground.errors import ProjectError
from backend.store import events
from backend.store.connection import Database, Store, writing
from backend.store.events import EventKind

FEWEST = 2
"""So many people have to have finished: the median of one is what this person says."""


@dataclass(frozen=True, slots=True)
class KeyReport:
    """A key that was fixed: by how many people, for how many items; how many have each right grade of the scale.

    `weak` says why this exam tells too little, if a guess passes it or nearly does.
    """

    finished: int
    items: int
    grades: tuple[int, ...]
    weak: tuple[str, ...]


def close_round(store: Store, lead: Lead | Operator, *, now: float) -> KeyReport:
    """Fix the key of the exam that is held: of each item the median of everybody who finished.

    The first attempts that are handed in count. An item that none of them could grade, because its clip could not be
    shown, leaves the exam.

    Raises:
        ProjectError: no exam, one whose key is there or comes from a lead, or fewer than `FEWEST` have finished.
    """
    with writing(store) as db:
        held = exams.held(db)
        if held is None:
            raise ProjectError("this project has no exam just now")
        if held.closed_at is not None:
            raise ProjectError("this exam has its key already")
        if held.key_from is ExamKey.OWN:
            raise ProjectError(
                "a lead's own grades are the key of this exam: give them on the page Exam, and hand them in"
            )
        finished = attempts.first_finished(db, held.exam_id)
        if len(finished) < FEWEST:
            raise ProjectError(
                f"{len(finished)} of at least {FEWEST} people have finished the exam: "
                "the median of fewer would be what one of them says"
            )
        grades: defaultdict[int, list[int]] = defaultdict(list)
        for attempt in finished:
            for answer in attempts.answers(db, attempt.attempt_id):
                grades[answer.item_id].append(answer.grade)
        key = {item: median(given) for item, given in grades.items()}
        fix(db, held, lead, key, len(finished), now=now)
        scale = facts.scale(db).grades
    counts = Counter(key.values())
    weak = guesses(list(key.values()), list(scale), held.most_missed, held.tolerance).weak
    return KeyReport(len(finished), len(key), tuple(counts[grade] for grade in scale), weak)


def fix(db: Database, held: Exam, lead: Lead | Operator, key: Mapping[int, int], finished: int, *, now: float) -> None:
    """The key of an exam is there: the right grade of each item that has one."""
    exams.close(db, held.exam_id, key.items(), at=now)
    payload = {"key": held.key_from, "finished": finished, "items": len(key)}
    subject = f"exam:{held.exam_id}"
    events.record(db, EventKind.EXAM_CLOSED, at=now, actor=lead.annotator_id, subject=subject, payload=payload)
