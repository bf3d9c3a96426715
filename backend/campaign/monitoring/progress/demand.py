"""Tell what is still wanted, who may give it, and when the rest may be done; all of one instant.

*Reads* agenda, pairs, seats, skips, exams, assignments, pauses, quotas. *Writes* nothing.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from backend.campaign.judging.rows import assignments, seats
from backend.campaign.monitoring.progress import rules
from backend.campaign.monitoring.progress.model import Ahead, Barred, Stuck, Worker
from backend.campaign.monitoring.progress.rows import paces, waiting
from backend.campaign.nouns import Person, Role
from backend.campaign.qualification.exam import results
from backend.campaign.qualification.exam.model import Exam, ExamPhase
from backend.campaign.qualification.exam.rows import exams
from backend.store.connection import Database


@dataclass(frozen=True, slots=True)
class Demand:
    """What is still wanted, and of whom; it does not depend on the time of day."""

    kinds: rules.Kinds
    workers: tuple[Worker, ...]
    disputed: float | None
    """Share of the pairs with two grades that went on to two further annotators; None while there are too few."""

    @property
    def needed(self) -> int:
        """Grades until every open or escalated pair that can be handed out has all its seats judged."""
        return sum(kind.free * count for kind, count in self.kinds.items())

    @property
    def further(self) -> int:
        """Grades on top if as many of the open pairs are disputed as so far."""
        return rules.further(self.kinds, self.disputed)

    @property
    def stuck(self) -> tuple[Stuck, ...]:
        """Pairs that those who may work cannot bring to an end."""
        return rules.stuck(self.kinds, self.workers)


def demand(db: Database, known: Sequence[paces.Pace] = (), *, span_days: float = 1.0) -> Demand:
    """What is still wanted; with the `known` paces of people over `span_days`, also how fast they may give it."""
    workers = tuple(workers_of(db, known, span_days=span_days))
    return Demand(
        waiting.kinds(db, rules.alike([worker.queries for worker in workers if worker.queries is not None])),
        workers,
        rules.share_disputed(*waiting.disputed(db)),
    )


def ahead(db: Database, known: Sequence[paces.Pace], *, span_days: float) -> Ahead:
    """What is still to come, what of it is stuck, and when the rest may be done."""
    found = demand(db, known, span_days=span_days)
    blocked, set_aside = waiting.kept_back(db)
    return Ahead(
        needed=found.needed,
        further=found.further,
        disputed=found.disputed,
        stuck=found.stuck,
        forecast=rules.forecast(found.kinds, found.workers, found.disputed),
        blocked=blocked,
        set_aside=set_aside,
    )


def workers_of(db: Database, known: Sequence[paces.Pace] = (), *, span_days: float = 1.0) -> list[Worker]:
    """Return everybody who ever could grade here, with their `known` paces over `span_days`, if any.

    Programs and workers of an earlier campaign are left out.
    """
    held, given = exams.held(db), assignments.all_standing(db)
    found = []
    for pace in known or paces.everybody(db):
        if pace.simulated or pace.elsewhere:
            continue
        me = pace.annotator_id
        mine = given.get(me)
        room = None if mine is None or mine.in_all is None else max(mine.in_all - seats.graded(db, me), 0)
        a_day = pace.pace.week / span_days
        barred: Barred | None
        if pace.suspended:
            barred = Barred.SUSPENDED
        elif pace.paused:
            barred = Barred.PAUSED
        elif held is not None and not _passed(db, held, Person(me, pace.pace.name, Role.ANNOTATOR)):
            barred = Barred.EXAM
        else:
            barred = Barred.QUOTA if room == 0 else None
        found.append(
            Worker(
                me,
                pace.pace.name,
                barred,
                a_day if mine is None or mine.a_day is None else min(a_day, mine.a_day),
                room,
                frozenset(assignments.queries_of(db, mine)) if mine is not None and mine.narrows else None,
            )
        )
    return found


def _passed(db: Database, held: Exam, person: Person) -> bool:
    """Whether the exam is in nobody's way any more; whoever has passed and has yet to read so is through."""
    stands = results.standing(db, person, held)
    if stands.phase in (ExamPhase.RESULT, ExamPhase.AGAIN) and stands.attempt is not None:
        return results.result(stands.items, stands.attempt).passed
    return stands.phase in (ExamPhase.PASSED, ExamPhase.EXEMPT)
