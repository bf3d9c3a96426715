"""What is stuck and why, what waits for a lead, and when the rest may be done; all of one instant.

*Reads* agenda, pairs, seats, skips, exams, assignments, pauses, quotas, findings of gold. *Writes* nothing.
"""

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from backend.campaign.corpus.captions.rows import decisions
from backend.campaign.corpus.captions.rows import rewrites as caption_rows
from backend.campaign.judging.rows import assigned, seats
from backend.campaign.monitoring.progress import rules
from backend.campaign.monitoring.progress.model import Ahead, Barred, QueryStuck, Stuck, Wait, WaitKind, Worker
from backend.campaign.monitoring.progress.rows import progress, waits, wanting
from backend.campaign.nouns import Person, Role
from backend.campaign.qualification.answers.rows import takers
from backend.campaign.qualification.exam import model
from backend.campaign.qualification.exam import standing as exam
from backend.campaign.qualification.exam.model import ExamPhase
from backend.campaign.qualification.exam.rows import exams
from backend.campaign.qualification.gold import rows as gold
from backend.campaign.qualification.gold.offering import within_tolerance
from backend.campaign.qualification.gold.rules import accuracy
from backend.campaign.setup.project import rows as facts
from backend.core.ids import QueryId
from backend.store.connection import Database, Store, reading


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


def demand(db: Database, paces: Sequence[progress.Pace] = (), *, span_days: float = 1.0) -> Demand:
    """What is still wanted; with the paces of people over `span_days`, also how fast they may give it."""
    workers = tuple(_workers(db, paces or progress.everybody(db), span_days))
    return Demand(
        wanting.kinds(db, rules.alike([worker.queries for worker in workers if worker.queries is not None])),
        workers,
        rules.share_disputed(*wanting.disputed(db)),
    )


def ahead(db: Database, paces: Sequence[progress.Pace], *, span_days: float) -> Ahead:
    """What is still to come, what of it is stuck, and when the rest may be done."""
    found = demand(db, paces, span_days=span_days)
    blocked, set_aside = wanting.kept_back(db)
    return Ahead(
        needed=found.needed,
        further=found.further,
        disputed=found.disputed,
        stuck=found.stuck,
        forecast=rules.forecast(found.kinds, found.workers, found.disputed),
        blocked=blocked,
        set_aside=set_aside,
    )


def stuck(store: Store) -> tuple[Stuck, ...]:
    """Pairs that those who may work cannot bring to an end."""
    with reading(store) as db:
        return demand(db).stuck


def stuck_of(store: Store, query_id: QueryId) -> QueryStuck:
    """What of a query cannot come to its end by itself, and why; its probe counts too."""
    with reading(store) as db:
        workers = _workers(db, progress.everybody(db), span_days=1.0)
        pairs = wanting.of_query(db, query_id)
        blocked, set_aside = wanting.kept_back_of(db, query_id)
    ranks = defaultdict[tuple[int, ...], list[int]](list)
    for rank, kind in pairs:
        if rules.lacks(kind, workers) > 0:
            ranks[rules.places_of(kind)].append(rank)
    found = rules.stuck(Counter(kind for _, kind in pairs), workers)
    return QueryStuck(tuple((one, tuple(ranks[one.places])) for one in found), blocked, set_aside)


def stuck_queries(store: Store) -> frozenset[QueryId]:
    """The queries of all pairs that are stuck."""
    with reading(store) as db:
        workers = _workers(db, progress.everybody(db), span_days=1.0)
        kinds = wanting.kinds(db, lambda query: query)
    return frozenset(kind.query for kind in kinds if kind.query is not None and rules.lacks(kind, workers) > 0)


def waiting(store: Store) -> tuple[Wait, ...]:
    """What waits for a lead, in the order of `WaitKind`; only what there is."""
    with reading(store) as db:
        counts = {
            WaitKind.DISCARDED: waits.discarded(db),
            WaitKind.NOTES: waits.notes(db),
            WaitKind.SKIPPED: waits.skipped(db),
            WaitKind.BLOCKED: wanting.kept_back(db)[0],
            WaitKind.BATCHES: waits.batches(db),
            **_exam(db),
            # Once queries are drawn, nobody can decide about a rewrite any more.
            WaitKind.REWRITES: 0 if caption_rows.any_query(db) else decisions.counts(db).waiting,
            WaitKind.DESCRIPTIONS: waits.descriptions(db),
            WaitKind.PAUSED: waits.paused(db),
            WaitKind.GOLD: _warned(db),
        }
    return tuple(Wait(kind, counts[kind]) for kind in WaitKind if counts[kind])


def version(store: Store) -> tuple[int, ...]:
    """What changes whenever anything here may have changed: cheap to ask for again and again."""
    with reading(store) as db:
        return wanting.version(db)


def _workers(db: Database, paces: Sequence[progress.Pace], span_days: float) -> list[Worker]:
    """Everybody who ever could grade here; not programs, and not workers of an earlier campaign."""
    held, given = exams.held(db), assigned.all_standing(db)
    found = []
    for pace in paces:
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
                frozenset(assigned.queries_of(db, mine)) if mine is not None and mine.narrows else None,
            )
        )
    return found


def _passed(db: Database, held: model.Exam, person: Person) -> bool:
    """Whether the exam is in nobody's way any more; whoever has passed and has yet to read so is through."""
    stands = exam.standing(db, person, held)
    if stands.phase in (ExamPhase.RESULT, ExamPhase.AGAIN) and stands.attempt is not None:
        return exam.result(stands.items, stands.attempt).passed
    return stands.phase in (ExamPhase.PASSED, ExamPhase.EXEMPT)


def _exam(db: Database) -> dict[WaitKind, int]:
    held = exams.held(db)
    phases = [] if held is None else [exam.standing(db, one, held).phase for one in takers(db)]
    return {
        WaitKind.EXAM_FAILED: phases.count(ExamPhase.FAILED),
        WaitKind.EXAM_ROUND: phases.count(ExamPhase.WAITING),
    }


def _warned(db: Database) -> int:
    """How many people gold has warned whose answers since are not enough, or not good enough, to say it was chance."""
    settings = facts.gold(db)
    if not settings.on:
        return 0
    still = 0
    for me in waits.warned_by_gold(db):
        last = gold.last_finding(db, me)
        answers = gold.answers(db, me, after=last.last_answer if last else 0)
        now = accuracy(within_tolerance(answers, facts.grading(db).tolerance), settings)
        still += now is None or now < settings.warn
    return still
