"""Report pace, what is left to do, and pairs that the team cannot finish; cut clips before annotators need them.

`inbox` lists a lead's tasks, and `review.status` counts the pairs by verdict.

*Reads* judgements, the table of batches with work left (agenda), pairs, their places for annotators (seats), skips,
exams, assignments, pauses, quotas. *Writes* the state of the background job that cuts clips.

The clips that are needed first are cut first. A clip that cannot be cut is reported. Its pair is withdrawn only when an
annotator is about to see it, because a folder of videos may be offline for an hour.
"""

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from backend.campaign.judging.rows import assignments, seats
from backend.campaign.monitoring.progress import rules
from backend.campaign.monitoring.progress.model import (
    Barred,
    DayCount,
    QueryStuck,
    Stuck,
    WorkAhead,
    Worker,
    WorkProgress,
)
from backend.campaign.monitoring.progress.rows import work as rows
from backend.campaign.nouns import Lead, Operator, Person, Role
from backend.campaign.qualification.exam import results
from backend.campaign.qualification.exam.model import Exam, ExamPhase
from backend.campaign.qualification.exam.rows import exams
from backend.campaign.setup.people.permissions import in_charge
from backend.campaign.setup.project.folder import Project
from backend.campaign.setup.serving.jobs import begin_job, job_lock, run_job
from backend.campaign.setup.serving.model import JobKind, JobOutcome, OutcomeTable
from backend.core.days import last_days, midnight
from backend.core.errors import ProjectError
from backend.core.ids import PairKey, QueryId
from backend.core.messages import said
from backend.core.progress import Progress, Steps
from backend.core.where import HERE, Where
from backend.media.jobs import ClipJob, CutAhead, clip_job, free_bytes
from backend.media.sources import USUAL_FPS, place_in, source_at
from backend.store.connection import Database, reading

DAYS = 30
DAY_S = 86_400.0
WEEK_DAYS = 7


@in_charge
def progress(project: Project, by: Lead | Operator, *, now: float) -> WorkProgress:
    """Return the pace, what is left to do, and when it may be done, all as of the instant `now`.

    A day begins at the server's midnight. The pace is the mean number of judgements a day over the last seven days. If
    the first annotator began less than seven days ago, it is the mean since then, over at least one day.
    """
    week_ago = now - WEEK_DAYS * DAY_S
    with reading(project.store) as db:
        by_day = {day.day: day for day in rows.days(db, midnight(now, days_ago=DAYS - 1))}
        people = rows.paces(db, midnight=midnight(now), week_ago=week_ago)
        began = min((pace.began for pace in people if pace.began is not None), default=now)
        span_days = min(max((now - began) / DAY_S, 1.0), WEEK_DAYS)
        return WorkProgress(
            ahead=ahead(db, people, span_days=span_days),
            held=rows.held(db, now),
            days=tuple(by_day.get(name, DayCount(name, 0, 0)) for name in last_days(now, DAYS)),
            people=tuple(pace.pace for pace in people if pace.may_work),
            imported=rows.imported(db),
            a_day=sum(pace.pace.week for pace in people) / span_days,
        )


@in_charge
def stuck(project: Project, by: Lead | Operator) -> tuple[Stuck, ...]:
    """Return the pairs that too few annotators can grade, with the reasons that keep other annotators from them."""
    with reading(project.store) as db:
        return demand(db).stuck


@in_charge
def query_stuck(project: Project, by: Lead | Operator, query_id: QueryId) -> QueryStuck:
    """Return the pairs of a query that cannot be finished without a lead, and why.

    Pairs that are graded only to learn how deep judging must go (the query's probe) count too.
    """
    with reading(project.store) as db:
        workers = workers_of(db)
        pairs = rows.of_query(db, query_id)
        blocked, set_aside = rows.kept_back_of(db, query_id)
    ranks = defaultdict[tuple[int, ...], list[int]](list)
    for rank, kind in pairs:
        if rules.lacks(kind, workers) > 0:
            ranks[rules.places_of(kind)].append(rank)
    groups = rules.stuck(Counter(kind for _, kind in pairs), workers)
    return QueryStuck(tuple((group, tuple(ranks[group.places])) for group in groups), blocked, set_aside)


@in_charge
def lacking_annotators(project: Project, by: Lead | Operator, pair: PairKey, grades: int) -> int:
    """Return how many more annotators are needed to give a pair this many further grades; 0 if there are enough."""
    with reading(project.store) as db:
        kind = rows.of_pair(db, pair)
        return 0 if kind is None else max(grades - len(rules.able(kind, workers_of(db))), 0)


@in_charge
def stuck_queries(project: Project, by: Lead | Operator) -> frozenset[QueryId]:
    """Return the queries with a pair that too few annotators can grade."""
    with reading(project.store) as db:
        workers = workers_of(db)
        kinds = rows.kinds(db, lambda query: query)
    if not rules.has_team(workers):
        return frozenset()
    return frozenset(kind.query for kind in kinds if kind.query is not None and rules.lacks(kind, workers) > 0)


@in_charge
def work_version(project: Project, by: Lead | Operator) -> tuple[str, ...]:
    """Return a value that changes whenever the results of `progress`, `stuck` or `inbox.waits` may have changed.

    It is quick to read.
    """
    with reading(project.store) as db:
        return rows.version(db)


CUTTING_CLIPS = said("Cutting clips")
NEXT_BATCHES, EVERYTHING = "next_batches", "everything"
"""Options of a job that cuts clips. The clips of pairs that wait for grades are always cut."""
_SHOWN = 50
"""The most rows of an outcome's table."""
LITTLE_BYTES = 200 * 1024**2
"""With less free space than this on the disk of the clips, leads are warned."""


@dataclass(frozen=True, slots=True)
class ClipsReport:
    """The result of cutting clips ahead: how many were cut, existed or failed.

    `without_file` names the videos whose file is not known yet, so that their clips could not be cut.
    """

    clips: CutAhead
    without_file: tuple[str, ...]


@in_charge
def cut_queued_clips(
    project: Project,
    by: Lead | Operator,
    *,
    next_batches: bool = False,
    everything: bool = False,
    where: Where = HERE,
    progress: Steps | None = None,
) -> ClipsReport:
    """Cut the clips that annotators will need and that do not exist yet, those needed first before the others.

    This may be stopped and started again at any time.

    Args:
        project: the project.
        by: a lead or an operator.
        next_batches: also cut the clips of each query's next batch, which a lead may open.
        everything: also cut the clips of all candidates.
        where: the machines that cut the clips.
        progress: called with (clips done, all clips to cut).

    Raises:
        NoRoom: the disk is full. Clips that are cut already stay.
    """
    from backend.media.together import cut_ahead  # imported here, because it loads decoders

    jobs: list[ClipJob] = []
    without_file: dict[str, None] = {}
    with reading(project.store) as db:
        for moment in rows.moments(db, next_batches=next_batches, everything=everything):
            if moment.path is None or moment.sha256 is None:
                without_file[moment.video] = None
                continue
            source = source_at(place_in(project.folder, moment.path), moment.fps or USUAL_FPS)
            jobs.append(clip_job(project.clips, source, moment.start_s, moment.end_s, moment.sha256))
    return ClipsReport(cut_ahead(jobs, where, progress=progress), tuple(without_file))


@in_charge
def cut_clips_as_job(
    project: Project,
    by: Lead | Operator,
    *,
    next_batches: bool = False,
    everything: bool = False,
    where: Where = HERE,
    progress: Steps | None = None,
    now: float,
) -> ClipsReport:
    """Run `cut_queued_clips` as a background job in this process. Leads see it on the page Progress.

    Raises:
        ProjectError: such a job is running already.
    """
    reports: list[ClipsReport] = []

    def cut(report: Progress) -> JobOutcome:
        def steps(done: int, total: int) -> None:
            report(CUTTING_CLIPS, done, total)
            if progress:
                progress(done, total)

        reports.append(
            cut_queued_clips(project, by, next_batches=next_batches, everything=everything, where=where, progress=steps)
        )
        return clips_outcome(reports[0])

    options = {NEXT_BATCHES: "yes" if next_batches else "", EVERYTHING: "yes" if everything else ""}
    key = begin_job(project, by, JobKind.CLIPS, "", CUTTING_CLIPS, options, now=now)
    if key is None:
        raise ProjectError(said("clips are already being cut: leads see how far it is on the page Progress"))
    with job_lock(project, key):
        if refusal := run_job(project, key, cut):
            raise refusal
    return reports[0]


def clips_outcome(report: ClipsReport) -> JobOutcome:
    """Return what a background job reports at its end: how many clips were cut, existed or failed, in words."""
    clips = report.clips
    existing = clips.there + clips.shared
    sentences = [
        said(
            "{n:,} clips: {there:,} existed, {cut:,} were cut, {failed:,} failed.",
            n=existing + clips.cut + clips.left + len(clips.failed),
            there=existing,
            cut=clips.cut,
            failed=len(clips.failed),
        )
    ]
    if clips.left:
        sentences.append(said("{n:,} more do not fit: they are cut when somebody opens them.", n=clips.left))
    if report.without_file:
        sentences.append(said("No video file is known for {videos}.", videos=", ".join(report.without_file)))
    rows = [[job.source.name, f"{job.start_s:.2f}-{job.end_s:.2f}", why] for job, why in clips.failed[:_SHOWN]]
    head = [said("Video"), said("Seconds"), said("What is wrong")]
    return JobOutcome(sentences, [OutcomeTable(head, rows)] if rows else [])


@in_charge
def bucket_troubles(project: Project, by: Lead | Operator) -> list[str]:
    """Return what is wrong with the cloud bucket that stores clips, such as that nothing can be written to it.

    These problems were noticed when the bucket was last used. It is not contacted now, so that pages do not wait.
    """
    from backend.media import clip_bucket

    return clip_bucket.troubles(project.clips)


@in_charge
def disk_space_warning(project: Project, by: Lead | Operator) -> str | None:
    """Return a warning that the disk with the clips has little space left; None while there is enough."""
    left = free_bytes(project.clips)
    if left >= LITTLE_BYTES:
        return None
    return said(
        "The disk of {folder} has {left:.0f} MB left. Soon no new clip can be cut, and annotators "
        "will wait. Free some space: nothing is lost, and cutting goes on by itself.",
        folder=project.clips.folder,
        left=left / 1024**2,
    )


@dataclass(frozen=True, slots=True)
class Demand:
    """The pairs that still need grades, and the annotators who may grade them.

    `kinds` counts the pairs by their state. `disputed` is the share of pairs with two grades that went on to two
    further annotators; None while too few pairs have two grades. No field depends on the time of day.
    """

    kinds: rules.Kinds
    workers: tuple[Worker, ...]
    disputed: float | None

    @property
    def needed(self) -> int:
        """Number of grades that are missing until every unsettled pair that can be given out has all its grades."""
        return sum(kind.free * count for kind, count in self.kinds.items())

    @property
    def further(self) -> int:
        """Number of grades that disputes will add, if pairs are disputed as often as before."""
        return rules.further(self.kinds, self.disputed)

    @property
    def stuck(self) -> tuple[Stuck, ...]:
        """The pairs that too few annotators can grade, in groups."""
        return rules.stuck(self.kinds, self.workers)


def demand(db: Database, known: Sequence[rows.Pace] = (), *, span_days: float = 1.0) -> Demand:
    """Return the pairs that still need grades, and the annotators who may grade them.

    Args:
        db: the database.
        known: how many pairs each annotator judged lately, from `rows.paces`. Without it, their pace counts as 0.
        span_days: the number of days over which `known` was counted.
    """
    workers = tuple(workers_of(db, known, span_days=span_days))
    return Demand(
        rows.kinds(db, rules.alike([worker.queries for worker in workers if worker.queries is not None])),
        workers,
        rules.share_disputed(*rows.disputed(db)),
    )


def ahead(db: Database, known: Sequence[rows.Pace], *, span_days: float) -> WorkAhead:
    """Return the grades that are still to come, those that nobody can give, and when the others may be done.

    `known` is how many pairs each annotator judged lately, over `span_days` days.
    """
    work = demand(db, known, span_days=span_days)
    blocked, set_aside = rows.kept_back(db)
    return WorkAhead(
        needed=work.needed,
        further=work.further,
        disputed=work.disputed,
        stuck=work.stuck,
        forecast=rules.forecast(work.kinds, work.workers, work.disputed),
        blocked=blocked,
        set_aside=set_aside,
    )


def workers_of(db: Database, known: Sequence[rows.Pace] = (), *, span_days: float = 1.0) -> list[Worker]:
    """Return all annotators of this campaign, with the reason why they may not work, if there is one.

    Simulated annotators and annotators of an earlier campaign are left out. `known` is how many pairs each annotator
    judged lately, over `span_days` days. Without it, their pace counts as 0.
    """
    exam, all_assignments = exams.open_exam(db), assignments.all_current_assignments(db)
    workers = []
    for pace in known or rows.everybody(db):
        if pace.simulated or pace.elsewhere:
            continue
        me = pace.annotator_id
        assignment = all_assignments.get(me)
        room = (
            None
            if assignment is None or assignment.in_all is None
            else max(assignment.in_all - seats.graded(db, me), 0)
        )
        a_day = pace.pace.week / span_days
        barred: Barred | None
        if pace.suspended:
            barred = Barred.SUSPENDED
        elif pace.paused:
            barred = Barred.PAUSED
        elif exam is not None and (before := _before_exam(db, exam, Person(me, pace.pace.name, Role.ANNOTATOR))):
            barred = before
        else:
            barred = Barred.QUOTA if room == 0 else None
        workers.append(
            Worker(
                me,
                pace.pace.name,
                barred,
                a_day if assignment is None or assignment.a_day is None else min(a_day, assignment.a_day),
                room,
                frozenset(assignments.queries_of(db, assignment))
                if assignment is not None and assignment.narrows
                else None,
            )
        )
    return workers


def _before_exam(db: Database, held: Exam, person: Person) -> Barred | None:
    """Return why the exam keeps somebody from work, such as that they failed it; None if it does not.

    People who are exempt or passed may work, even if they have not read their result yet.
    """
    stands = results.standing(db, person, held)
    if stands.phase in (ExamPhase.PASSED, ExamPhase.EXEMPT):
        return None
    if stands.phase in (ExamPhase.RESULT, ExamPhase.AGAIN) and stands.attempt is not None:
        return None if results.result(stands.items, stands.attempt).passed else Barred.EXAM
    return Barred.EXAM if stands.phase is ExamPhase.FAILED else Barred.EXAM_AHEAD
