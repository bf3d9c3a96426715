"""List the tasks that wait for a lead, and the annotators whose work has quality flags.

*Reads* verdicts, notes, skips, clip faults, batches, rewritten captions, descriptions, exams, pauses, warnings from
gold questions (hidden pairs with a known grade), grades. *Writes* nothing.
"""

from collections.abc import Iterable, Iterator

from backend.campaign.corpus.captions import rows as captions
from backend.campaign.judging.rows import pair_status
from backend.campaign.monitoring.progress.model import FlaggedPerson, Wait, WaitKind
from backend.campaign.monitoring.progress.rows import inbox as rows
from backend.campaign.monitoring.progress.rows import work
from backend.campaign.monitoring.progress.rows.inbox import Waiting
from backend.campaign.monitoring.quality import flags as quality
from backend.campaign.nouns import Lead, Operator
from backend.campaign.qualification.answers.rows import exam_candidates
from backend.campaign.qualification.exam import results
from backend.campaign.qualification.exam.answer_key import FEWEST
from backend.campaign.qualification.exam.model import Exam, ExamKey, ExamPhase, ExamPurpose
from backend.campaign.qualification.exam.rows import attempts, exams
from backend.campaign.qualification.gold import rows as gold
from backend.campaign.qualification.gold.questions import within_tolerance
from backend.campaign.qualification.gold.rules import accuracy
from backend.campaign.selection.batches import rows as batches
from backend.campaign.selection.batches.model import RuleWord, rule_reading
from backend.campaign.setup.people.permissions import in_charge
from backend.campaign.setup.project import rows as project_rows
from backend.campaign.setup.project.folder import Project
from backend.store.connection import Database, reading


@in_charge
def waits(project: Project, by: Lead | Operator) -> tuple[Wait, ...]:
    """Return the tasks that wait for a lead, one entry for each kind of task, the newest first.

    Kinds without a recorded time come before all others. Kinds without any task are left out.
    """
    with reading(project.store) as db:
        found: dict[WaitKind, Waiting] = {
            WaitKind.TEAM: _without_team(db),
            WaitKind.DISCARDED: rows.discarded(db),
            WaitKind.NOTES: rows.notes(db),
            WaitKind.SKIPPED: rows.skipped(db),
            WaitKind.BLOCKED: rows.blocked(db),
            WaitKind.REPORTED: _reported(db),
            WaitKind.BATCHES: _recommended_batches(db),
            WaitKind.REWRITES: _rewrites(db),
            WaitKind.DESCRIPTIONS: rows.descriptions(db),
            WaitKind.PAUSED: rows.paused(db),
            WaitKind.GOLD: _warned_by_gold(db),
            **dict(_exams(db)),
        }
        name, text = (found[WaitKind.NOTES].count and rows.newest_note(db)) or ("", "")
    return newest_first(
        Wait(
            kind,
            waiting.count,
            waiting.newest,
            (name,) if kind is WaitKind.NOTES else waiting.who,
            text if kind is WaitKind.NOTES else "",
        )
        for kind, waiting in found.items()
        if waiting.count
    )


def newest_first(waits: Iterable[Wait]) -> tuple[Wait, ...]:
    """Sort tasks for a lead by time, the newest first. Those without a time come before all others."""
    return tuple(sorted(waits, key=lambda wait: (wait.newest is not None, -(wait.newest or 0.0))))


@in_charge
def flagged(project: Project, by: Lead | Operator) -> list[FlaggedPerson]:
    """Return unsuspended annotators with raised quality flags (warnings about their work), the newest work first."""
    raised = [person for person in quality.flags(project, by) if person.raised]
    with reading(project.store) as db:
        working = rows.at_work(db)
        found = [
            FlaggedPerson(person, rows.last_graded(db, person.annotator_id))
            for person in raised
            if person.annotator_id in working
        ]
    return sorted(found, key=lambda person: -(person.newest or 0.0))


def _without_team(db: Database) -> Waiting:
    """Count the pairs that still need grades, if the project has no annotator who can give them; otherwise count 0."""
    has_team = any(not (person.suspended or person.simulated or person.elsewhere) for person in work.everybody(db))
    return Waiting() if has_team else Waiting(sum(work.kinds(db).values()))


def _reported(db: Database) -> Waiting:
    reports = pair_status.reported_clips(db)
    return Waiting(len(reports), max((report.at for report in reports), default=None))


def _recommended_batches(db: Database) -> Waiting:
    """Count the queries for which the campaign's rule recommends to open the next batch of pairs."""
    rule = batches.versions(db)[-1].rule
    times = [
        at
        for _, relevances, at in rows.last_candidates(db, rule.last)
        if rule_reading(rule, relevances).word is RuleWord.OPEN
    ]
    return Waiting(len(times), max((at for at in times if at is not None), default=None))


def _rewrites(db: Database) -> Waiting:
    """Count the rewritten captions that a lead has to accept or reject; 0 once queries are drawn from captions."""
    return Waiting(0 if captions.any_query(db) else captions.counts(db).waiting)


def _exams(db: Database) -> Iterator[tuple[WaitKind, Waiting]]:
    """Yield each kind of a lead's tasks about the exam and the calibration round, with the number of tasks.

    In a calibration round all annotators grade the same few pairs, and then discuss them. Suspended people are left
    out.
    """
    exam = exams.open_exam(db)
    if exam is not None:
        yield from _exam_waits(db, exam)
    else:
        over = exams.newest_of_open_pairs(db)
        if over is not None and over.usable and attempts.first_finished(db, over.exam_id):
            yield WaitKind.EXAM_ANSWERS, Waiting(rows.unsettled_items(db, over.exam_id), over.ended_at)
    calibration = exams.open_exam(db, ExamPurpose.CALIBRATION)
    if calibration is not None and (ended := _all_done(db, calibration)) is not None:
        yield WaitKind.CALIBRATION, Waiting(rows.unsettled_items(db, calibration.exam_id), ended)


def _exam_waits(db: Database, exam: Exam) -> Iterator[tuple[WaitKind, Waiting]]:
    stands = [(one, results.standing(db, one, exam)) for one in exam_candidates(db) if not one.suspended]

    def those(phase: ExamPhase) -> Waiting:
        who = [(one.name, found.attempt) for one, found in stands if found.phase is phase]
        times = [attempt.handed_in_at for _, attempt in who if attempt and attempt.handed_in_at is not None]
        return Waiting(len(who), max(times, default=None), tuple(name for name, _ in who))

    yield WaitKind.EXAM_FAILED, those(ExamPhase.FAILED)
    if not exam.key_from.comes_later:
        return
    unsettled = rows.unsettled_items(db, exam.exam_id)
    if exam.closed_at is None and exam.key_from is ExamKey.OWN:
        yield WaitKind.EXAM_KEY, Waiting(exam.items, exam.set_at)
    elif exam.closed_at is None:
        finished = those(ExamPhase.WAITING)
        yield WaitKind.EXAM_ROUND, finished if finished.count >= FEWEST else Waiting()
    elif exam.usable:
        yield WaitKind.EXAM_ANSWERS, Waiting(unsettled, exam.closed_at)
    else:
        yield WaitKind.RESERVED, Waiting(unsettled, exam.used_at)


def _all_done(db: Database, calibration: Exam) -> float | None:
    """Return when the last annotator finished a calibration round, in seconds since 1970.

    In such a round all annotators grade the same few pairs, and then discuss them. The result is None while somebody
    has not finished.
    """
    stands = [
        results.standing(db, person_standing, calibration)
        for person_standing in exam_candidates(db)
        if not person_standing.suspended
    ]
    times = [
        person_standing.attempt.handed_in_at
        for person_standing in stands
        if person_standing.phase is ExamPhase.DONE and person_standing.attempt
    ]
    if not stands or len(times) < len(stands):
        return None
    return max((at for at in times if at is not None), default=None)


def _warned_by_gold(db: Database) -> Waiting:
    """Count the annotators who were warned and have not improved enough since.

    They were warned because of their answers to gold questions, which are hidden pairs with a known grade.
    """
    settings = project_rows.gold(db)
    if not settings.on:
        return Waiting()
    still = []
    for me, name, at in rows.warned_by_gold(db):
        last = gold.last_finding(db, me)
        answers = gold.answers(db, me, after=last.last_answer if last else 0)
        now = accuracy(within_tolerance(answers, project_rows.grading(db).tolerance), settings)
        if now is None or now < settings.warn:
            still.append((at, name))
    still.sort(reverse=True)
    return Waiting(len(still), max((at for at, _ in still), default=None), tuple(name for _, name in still))
