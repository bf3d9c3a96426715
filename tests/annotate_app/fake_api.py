"""A backend.api that lives in memory: the same names and types, a small made-up project, no store, no video.

`install(monkeypatch)` puts it in front of `backend.api`; a name of it that `backend.api` lacks is an error, so
that the two cannot drift apart.
"""

import sys
import types
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from backend.campaign.corpus.captions.model import RewriteCounts, RewriteQueue
from backend.campaign.judging.model import (
    ActKind,
    Assignment,
    Desk,
    DeskItem,
    DeskState,
    GradeEvent,
    LiftedSkips,
    MyReply,
    Receipt,
    ReceiptStatus,
    ReportedClip,
    SkipEvent,
    SkipKind,
)
from backend.campaign.monitoring.explore.model import Funnel
from backend.campaign.monitoring.hours.model import HoursReport, Outlook, WorkDay
from backend.campaign.monitoring.progress.model import (
    Ahead,
    DayCount,
    Forecast,
    PersonPace,
    QueryStuck,
    Stuck,
    Wait,
    WorkProgress,
)
from backend.campaign.monitoring.quality.model import BehindFlag, FlagKind, MyAgreement, MyWork, PersonFlags
from backend.campaign.monitoring.videos.model import VideoState
from backend.campaign.nouns import Operator, Person, Role, Split, Verdict
from backend.campaign.qualification.exam.answer_key import KeyPreview, KeyReport
from backend.campaign.qualification.exam.model import CalibrationRound, Exam, ExamItem, ExamKey
from backend.campaign.qualification.exam.planning import short
from backend.campaign.qualification.exam.previewing import ExamPreview, PreviewItem
from backend.campaign.qualification.exam.results import ExamOutcomes, ExamPerson
from backend.campaign.qualification.exam.rules.guessing import guesses, require_telling
from backend.campaign.qualification.exam.rules.outcomes import together
from backend.campaign.qualification.exam.setting import ExamReport
from backend.campaign.qualification.exam.taking import Act
from backend.campaign.qualification.exam.using import UsedReport
from backend.campaign.qualification.gold.questions import GoldOptions, GoldPerson, GoldReport
from backend.campaign.qualification.guideline.model import Example
from backend.campaign.release.export.model import KeptRelease, QueryCounts, ReleaseOptions, ReleaseSelection
from backend.campaign.release.export.rules.selecting import select
from backend.campaign.review.model import (
    CaseList,
    CasePage,
    CaseRow,
    GivenAct,
    GivenGrade,
    GivenReply,
    GivenSkip,
    PairReview,
    QueryFilter,
    QueryPlace,
    QueryReview,
    QueryShow,
)
from backend.campaign.selection.batches import rules
from backend.campaign.selection.batches.model import NextBatch
from backend.campaign.selection.pool_check.model import CheckReport
from backend.campaign.setup.people.model import Pause, PersonReview
from backend.campaign.setup.project.model import Campaign, Terms
from backend.campaign.setup.serving import rules as serving
from backend.campaign.setup.serving.model import Delay, Failures
from backend.core.errors import (
    NoRoom,
    NotAllowed,
    Overtaken,
    ProjectError,
    SignInRefused,
    StoreUnavailable,
    VideoUnreadable,
)
from backend.core.ids import AnnotatorId, PairId, PairKey, QueryId
from backend.media.jobs import ClipCache
from backend.store import upkeep
from backend.store.upkeep import Backup
from support import new_campaign

NOON = 1_760_000_000.0
PASSWORD = "correct horse"
BROKEN, CRASHING, FULL = PairKey("broken"), PairKey("crashing"), PairKey("full")


WORK = MyWork(
    today=12,
    week=214,
    in_all=1340,
    simulated=0,
    days=tuple((f"2025-09-{n:02d}", 10 * n) for n in range(1, 31)),
    active_s=11_220.0,
    months=(("2025-10-01", 3_960.0), ("2025-09-01", 7_260.0)),
    median_s=6.5,
    grades=(134, 201, 335, 402, 268),
    skips=7,
    settled=1204,
    recent=36,
    imported=0,
    agreement=MyAgreement(1204, equal=0.6, tolerance=1, within=0.95, difference=-0.25),
)


NOTHING_AHEAD = Ahead(0, 0, None, (), Forecast(0.0))
HOURS = HoursReport(
    days=(),
    people=(),
    rate=None,
    currency="USD",
    own_rates=(),
    hours=0.0,
    pay=None,
    outlook=Outlook(0, 0, None, None, None, None, "no judgement made here has a measured time yet"),
    simulated=0,
    imported=0,
)


@dataclass(frozen=True)
class ClipJob:
    """What `cut_clip` needs; picklable."""

    pair: PairKey
    path: Path
    before_s: float = 0.0
    after_s: float = 0.0


@dataclass
class Project:
    """Everything the fake knows; tests read and change it freely."""

    folder: Path
    name: str = "Sitcom moments"
    clips: ClipCache = field(default_factory=lambda: ClipCache(Path("clips")))
    people: dict[str, Person] = field(default_factory=dict)
    sessions: dict[str, str] = field(default_factory=dict)
    browsers: set[tuple[str, str]] = field(default_factory=set)
    attempts: defaultdict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    windows: list[tuple[str, str, bool]] = field(default_factory=list)
    gold: GoldReport = field(default_factory=lambda: GoldReport(0, (0, 0, 0, 0, 0), new_campaign().gold, 0, 0.0))
    golden: list[GoldPerson] = field(default_factory=list)
    invitations: dict[str, str] = field(default_factory=dict)
    desk: Desk = field(default_factory=lambda: Desk(DeskState.NOTHING, (), None, 0, 0))
    pauses: dict[AnnotatorId, Pause] = field(default_factory=dict)
    replies: list[MyReply] = field(default_factory=list)
    trial: CalibrationRound | None = None
    trial_asked: list[tuple[object, object]] = field(default_factory=list)
    graded: dict[str, GradeEvent] = field(default_factory=dict)
    reported: list[tuple[PairKey, str]] = field(default_factory=list)
    broken: list[tuple[PairKey, str]] = field(default_factory=list)
    reported_by_one: list[ReportedClip] = field(default_factory=list)
    lifted: list[tuple[AnnotatorId, bool]] = field(default_factory=list)
    shown: list[tuple[str, PairKey]] = field(default_factory=list)
    queries: list[QueryReview] = field(default_factory=list)
    pairs: dict[QueryId, list[PairReview]] = field(default_factory=dict)
    blocked: list[PairReview] = field(default_factory=list)
    skips: dict[str, SkipEvent] = field(default_factory=dict)
    skipped: list[PairReview] = field(default_factory=list)
    examples: list[Example] = field(default_factory=list)
    rewrites: RewriteQueue = field(
        default_factory=lambda: RewriteQueue(RewriteCounts(0, 0, 0, 0, 0), (), None, False, "")
    )
    releases: list[KeptRelease] = field(
        default_factory=lambda: [
            KeptRelease(
                *("v1", "The first one", NOON, "Lea", "ab" * 32, "2026-03-14T09:26:53+00:00", "releases/v1.zip"),
                *(0.1, 1, 1, 40, ("with unfinished queries",)),
            )
        ]
    )
    exam: Exam | None = None
    exam_finished: int = 0
    exam_key: list[int] = field(default_factory=lambda: list(range(5)) * 4)
    exam_reserve: tuple[list[str], str] | None = None
    exam_items: list[ExamItem] = field(default_factory=list)
    examined: dict[str, ExamPerson] = field(default_factory=dict)
    outcomes: ExamOutcomes = field(default_factory=lambda: ExamOutcomes((), together([])))
    exam_asked: list[tuple[object, ...]] = field(default_factory=list)
    unavailable: str = ""
    campaign: Campaign = field(default_factory=new_campaign)
    work: MyWork = field(default_factory=lambda: WORK)
    pool_check: CheckReport | None = None
    flags: list[PersonFlags] = field(default_factory=list)
    behind: BehindFlag = field(default_factory=lambda: BehindFlag((), ()))
    hours: HoursReport = field(default_factory=lambda: HOURS)
    hours_asked: list[tuple[str | None, str | None]] = field(default_factory=list)
    progress: WorkProgress = field(default_factory=lambda: WorkProgress(NOTHING_AHEAD, 0, (), (), 0, 0.0))
    waits: tuple[Wait, ...] = ()
    little_room: str | None = None
    bucket_troubles: list[str] = field(default_factory=list)
    wrong_videos: list[VideoState] = field(default_factory=list)
    query_stuck: QueryStuck = field(default_factory=QueryStuck)
    status: dict[str, Any] = field(default_factory=dict)


PROJECTS: dict[Path, Project] = {}


def open_project(folder: Path) -> Project:
    if folder not in PROJECTS:
        raise ProjectError(f"{folder} holds no ReelRank project; make one with: reelrank init {folder}")
    return PROJECTS[folder]


def _require_store(project: Project) -> None:
    if project.unavailable:
        raise StoreUnavailable(project.unavailable)


def sign_in(project: Project, name: str, password: str, *, now: float) -> str:
    _require_store(project)
    if name not in project.people or password != PASSWORD:
        raise SignInRefused("Name or password is wrong.")
    token = f"token-of-{name}"
    project.sessions[token] = name
    return token


def begin_attempt(project: Project, name: str, address: str, browser: str | None, *, now: float) -> Delay:
    _require_store(project)
    who = serving.counted_as(name, address, browser)
    failed = {kind: Failures(len(at), at[-1]) for kind, digest in who.items() if (at := project.attempts[digest])}
    delay = serving.delay(failed, now=now)
    for digest in () if delay.refused_s else who.values():
        project.attempts[digest].append(now)
    return delay


def attempt_succeeded(project: Project, name: str, address: str, browser: str | None) -> None:
    for digest in serving.counted_as(name, address, browser).values():
        project.attempts[digest].pop()


def knows_browser(project: Project, name: str, browser: str, *, now: float) -> bool:
    return (name, browser) in project.browsers


def remember_browser(project: Project, session: str, browser: str, *, now: float) -> str:
    cookie = f"browser-of-{project.sessions[session]}"
    project.browsers.add((project.sessions[session], cookie))
    return cookie


def person_for(project: Project, token: str, *, now: float) -> Person | None:
    if project.unavailable == "not even to be read":
        raise StoreUnavailable(project.unavailable)
    person = project.people.get(project.sessions.get(token, ""))
    return None if person is None or person.suspended else person


def lead_of(project: Project, person: Person) -> Person:
    if person.role is not Role.LEAD:
        raise NotAllowed("only leads may do this")
    return person


def annotator_of(project: Project, person: Person) -> Person:
    if person.role is not Role.ANNOTATOR:
        raise NotAllowed("leads do not grade")
    return person


def sign_out(project: Project, token: str, *, now: float) -> None:
    project.sessions.pop(token, None)


def sign_out_everywhere(project: Project, token: str, *, now: float) -> None:
    name = project.sessions[token]
    project.sessions = {other: who for other, who in project.sessions.items() if who != name}


def change_password(project: Project, token: str, old: str, new: str, *, now: float) -> str:
    _require_store(project)
    if old != PASSWORD:
        raise SignInRefused("The present password is wrong.")
    if new == old:
        raise ProjectError("the new password is the present one: choose another")
    name = project.sessions[token]
    sign_out_everywhere(project, token, now=now)
    project.sessions[f"new-token-of-{name}"] = name
    return f"new-token-of-{name}"


def new_invitation(project: Project, lead: Person, annotator_id: AnnotatorId, *, now: float) -> tuple[Person, str]:
    _require_store(project)
    person = next(person for person in project.people.values() if person.annotator_id == annotator_id)
    project.invitations = {token: name for token, name in project.invitations.items() if name != person.name}
    project.invitations[f"again-{person.name}"] = person.name
    return person, f"again-{person.name}"


def my_work(project: Project, person: Person, *, now: float) -> MyWork:
    return project.work


def invited(project: Project, invitation: str, *, now: float) -> Person | None:
    return project.people.get(project.invitations.get(invitation, ""))


def accept_invitation(project: Project, invitation: str, password: str, *, now: float) -> str:
    _require_store(project)
    name = project.invitations.pop(invitation, None)
    if name is None:
        raise SignInRefused("This invitation was used already.")
    return sign_in(project, name, PASSWORD, now=now)


def desk(project: Project, person: Person, *, now: float) -> Desk:
    _require_store(project)
    return project.desk


def record_grades(project: Project, person: Person, events: Sequence[GradeEvent], *, now: float) -> list[Receipt]:
    receipts = []
    for event in events:
        if 0 <= event.grade <= 4:
            project.graded[event.key] = event
            receipts.append(Receipt(event.key, ReceiptStatus.SAVED))
        else:
            receipts.append(Receipt(event.key, ReceiptStatus.REFUSED, "A grade is 0 to 4."))
    return receipts


def exchange(
    project: Project,
    person: Person,
    grades: Sequence[GradeEvent],
    skips: Sequence[SkipEvent],
    *,
    now: float,
    shown: PairKey | None = None,
    window: str = "",
    takes: bool = False,
) -> tuple[list[Receipt], Desk]:
    _require_store(project)
    annotator_of(project, person)
    project.windows.append((person.name, window, takes))
    receipts = record_grades(project, person, grades, now=now)
    for event in skips:
        project.skips[event.key] = event
        receipts.append(Receipt(event.key, ReceiptStatus.SAVED))
    if shown is not None:
        project.shown.append((person.name, shown))
    return receipts, project.desk


def shown(project: Project, person: Person, pair: PairKey, *, now: float) -> None:
    annotator_of(project, person)
    _require_store(project)
    project.shown.append((person.name, pair))


def notes_csv(project: Project, by: Person | Operator) -> str:
    return "query,note\n"


def reply_to_note(project: Project, lead: Person, note: int, text: str, *, seen: int = 0, now: float) -> None:
    _require_store(project)
    for pairs in project.pairs.values():
        for position, review in enumerate(pairs):
            grades = list(review.grades)
            for nth, grade in enumerate(grades):
                if grade.note is None or grade.note.note != note:
                    continue
                if (grade.note.reply.reply_id if grade.note.reply else 0) != seen:
                    raise Overtaken("Max replied just now: “<b>ask</b> me”. Reply again if yours shall take its place")
                grades[nth] = replace(grade, note=replace(grade.note, reply=GivenReply(seen + 1, lead.name, text, now)))
            pairs[position] = replace(review, grades=tuple(grades))


def my_replies(project: Project, person: Person, *, now: float) -> list[MyReply]:
    return project.replies


def read_replies(project: Project, person: Person, *, now: float) -> None:
    project.replies = [replace(one, is_new=False) for one in project.replies]


def trial_round(project: Project, by: Person | Operator) -> CalibrationRound | None:
    return project.trial


def start_trial(project: Project, by: Person | Operator, *, chosen: Sequence[QueryId], now: float, **asked: int) -> Any:
    _require_store(project)
    if chosen == [QueryId(3)]:
        raise ProjectError("no open pair to ask belongs to query 3")
    project.trial_asked.append((asked, chosen))
    return ExamReport(4, 2, None, (), 100, 0)


def trial_csv(project: Project, by: Person | Operator, *, names: bool = True) -> str:
    return f"names: {names}"


def end_trial(project: Project, by: Person | Operator, *, now: float) -> bool:
    _require_store(project)
    if project.trial:
        project.trial = replace(project.trial, ended_at=now)
    return True


def offer_again(project: Project, lead: Person, pair: PairKey, *, now: float) -> int:
    _require_store(project)
    people = sum(len(found.skips) for found in project.skipped if found.pair == pair)
    project.skipped = [found for found in project.skipped if found.pair != pair]
    return people


def progress(project: Project, by: Person | Operator, *, now: float) -> WorkProgress:
    return project.progress


def little_room(project: Project, by: Person | Operator) -> str | None:
    return project.little_room


def video_states(project: Project, by: Person | Operator, *, wrong: bool = False) -> list[VideoState]:
    return project.wrong_videos


def may_describe(project: Project, person: Person) -> bool:
    """Nobody describes."""
    return False


def waits(project: Project, by: Person | Operator) -> tuple[Wait, ...]:
    return project.waits


def stuck(project: Project, by: Person | Operator) -> tuple[Stuck, ...]:
    return project.progress.ahead.stuck


def query_stuck(project: Project, by: Person | Operator, query_id: QueryId) -> QueryStuck:
    return project.query_stuck


def stuck_queries(project: Project, by: Person | Operator) -> frozenset[QueryId]:
    return frozenset([QueryId(2)])


def work_version(project: Project, by: Person | Operator) -> tuple[int, ...]:
    return (1,)


def funnel(project: Project, by: Person | Operator) -> Funnel:
    return Funnel(61, 7, 45, 0, 9, 2, {4: 4}, 2, 0, 1)


def backup_now(project: Project, lead: Person, *, now: float) -> Path:
    _require_store(project)
    path = project.folder / "backups" / "copy.db"
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(bytes(2_400_000))
    return path


def list_backups(project: Project, by: Person | Operator) -> list[Backup]:
    return upkeep.backups(project.folder / "backups")


def clip_for(project: Project, person: Person, pair: PairKey, *, context: bool = False) -> ClipJob:
    held = {item.pair for item in project.desk.items}
    if person.role is not Role.LEAD and pair not in held:
        raise NotAllowed("This pair is not on your desk.")
    if context:
        return ClipJob(pair, project.folder / "clips" / f"{pair}-around.mp4", 1.25, 2.0)
    return ClipJob(pair, project.folder / "clips" / f"{pair}.mp4")


def pool_check_report(project: Project, by: Person) -> CheckReport | None:
    return project.pool_check


def storyboard_for(project: Project, person: Person, pair: PairKey) -> ClipJob:
    return ClipJob(pair, clip_for(project, person, pair).path.with_suffix(".webp"))


def gif_for(project: Project, person: Person, pair: PairKey) -> ClipJob:
    lead_of(project, person)
    return ClipJob(pair, clip_for(project, person, pair).path.with_suffix(".gif"))


def moment_thumbnail(project: Project, person: Person, video: str, start_s: float, end_s: float) -> ClipJob:
    found = moment_clip(project, person, video, start_s, end_s)
    return replace(found, path=found.path.with_suffix(".webp"))


def clip_elsewhere(project: Project, person: Person, pair: PairKey, *, now: float) -> str | None:
    return None  # no bucket


def bucket_troubles(project: Project, by: Person | Operator) -> list[str]:
    return project.bucket_troubles


def cut_clip(job: ClipJob) -> Path:
    if job.pair == BROKEN:
        raise VideoUnreadable("friends_s01.mp4 is not a video file")
    if job.pair == FULL:
        raise NoRoom("The disk of /srv/campaign/cache/clips is full, so no clip can be cut: make room there.")
    if job.pair == CRASHING:
        import os

        os._exit(7)
    job.path.parent.mkdir(parents=True, exist_ok=True)
    with (job.path.parent / "cuts.log").open("a") as log:
        log.write(f"{job.pair}\n")
    sample = job.path.parents[1] / "sample.mp4"
    job.path.write_bytes(sample.read_bytes() if sample.exists() else bytes(range(256)) * 40)
    return job.path


def why_not_shown(project: Project, person: Person, error: VideoUnreadable) -> str:
    return str(error) if person.role is Role.LEAD else "This clip cannot be shown just now."


def report_clip(project: Project, person: Person, pair: PairKey, reason: str, *, now: float) -> None:
    project.reported.append((pair, reason))


def report_broken(project: Project, person: Person, pair: PairKey, reason: str, *, now: float) -> bool:
    _require_store(project)
    if pair != "not-mine":
        project.broken.append((pair, reason))
    return pair != "not-mine"


def reported_clip(project: Project, person: Person, pair: PairKey) -> ClipJob:
    return ClipJob(pair, project.folder / "clips" / f"{pair}.mp4")


def reported_clips(project: Project, lead: Person) -> list[ReportedClip]:
    return project.reported_by_one


def block_clip(project: Project, lead: Person, pair: PairKey, reason: str, *, now: float) -> None:
    project.reported.append((pair, reason))
    project.reported_by_one = [one for one in project.reported_by_one if one.pair != pair]


def lift_skips(
    project: Project, lead: Person, annotator_id: AnnotatorId, *, reports_only: bool, now: float
) -> LiftedSkips:
    _require_store(project)
    project.lifted.append((annotator_id, reports_only))
    return LiftedSkips(40, 39)


def examples_chosen(project: Project, by: Person | Operator) -> list[Example]:
    return project.examples


def examples(project: Project, person: Person) -> list[Example]:
    return [example for example in project.examples if example.showing]


def choose_example(project: Project, person: Person, pair: PairKey, grade: int, note: str, *, now: float) -> None:
    _require_store(project)
    if not note.strip():
        raise ProjectError("an example needs a note")
    project.examples = [example for example in project.examples if example.grade != grade]
    project.examples.append(Example(len(note), grade, pair, "Two people argue in a kitchen", note, True))


def withdraw_example(project: Project, person: Person, grade: int, *, now: float) -> None:
    _require_store(project)
    project.examples = [example for example in project.examples if example.grade != grade]


def example_clip(project: Project, person: Person, grade: int, version: int | None = None) -> ClipJob:
    _require_store(project)
    for example in examples(project, person):
        if example.grade == grade and version in (None, example.version):
            return ClipJob(example.pair, project.folder / "clips" / f"{example.pair}.mp4")
    raise ProjectError("there is no such example")


def moment_clip(project: Project, person: Person, video: str, start_s: float, end_s: float) -> ClipJob:
    _require_store(project)
    lead_of(project, person)
    if video != "friends_s01":
        raise VideoUnreadable(f"the project has no file of the video {video}")
    return ClipJob(PairKey("moment"), project.folder / "clips" / f"{start_s}-{end_s}.mp4")


def exam_act(project: Project, person: Person, act: Act, *, now: float) -> Desk:
    _require_store(project)
    annotator_of(project, person)
    project.exam_asked.append((act.value, person.name))
    return project.desk


def exam_held(project: Project, by: Person | Operator) -> Exam | None:
    return project.exam


def exam_items(project: Project, by: Person | Operator) -> list[ExamItem]:
    return project.exam_items


def exam_results(project: Project, by: Person | Operator) -> list[ExamPerson]:
    return list(project.examined.values())


def gold_results(project: Project, by: Person | Operator) -> tuple[GoldReport, list[GoldPerson]]:
    return project.gold, project.golden


def set_gold(
    project: Project, by: Person | Operator, options: GoldOptions, file: Path | None = None, *, pairs: int, now: float
) -> GoldReport:
    _require_store(project)
    given = {name: value for name, value in asdict(options).items() if value is not None}
    project.gold = replace(project.gold, pairs=pairs, settings=replace(project.gold.settings, on=True, **given))
    return project.gold


def end_gold(project: Project, by: Person | Operator, *, now: float) -> bool:
    _require_store(project)
    project.gold = replace(project.gold, settings=replace(project.gold.settings, on=False))
    return True


def exam_outcomes(project: Project, by: Person | Operator) -> ExamOutcomes:
    return project.outcomes


def my_exam(project: Project, person: Person) -> ExamPerson:
    return project.examined.get(person.name, ExamPerson(person, None, "", ()))


def preview_exam(
    project: Project,
    by: Person | Operator,
    *,
    queries: int,
    pairs: int,
    seed: int,
    most_missed: float,
    spread: bool,
    key: ExamKey,
    now: float,
) -> ExamPreview:
    _require_store(project)
    if key.comes_later:
        there = [PreviewItem(pair.pair, QueryId(1), "Query 1", None) for pair in project.pairs[QueryId(1)]]
        told = short((queries, pairs), len(there), 1)
        return ExamPreview(tuple(there), 1, "open pairs", seed, most_missed, told, (), None, "open")
    if not project.exam_key:
        raise ProjectError("there is no settled pair to ask yet")
    there = project.pairs[QueryId(1)]
    items = tuple(
        PreviewItem(there[nth % len(there)].pair, QueryId(1 + nth % queries), f"Query <{1 + nth % queries}>", right)
        for nth, right in enumerate(project.exam_key)
    )
    grades = tuple(project.exam_key.count(grade) for grade in project.campaign.scale.grades)
    found = guesses(project.exam_key, project.campaign.scale.grades, most_missed, project.campaign.tolerance)
    told = short((queries, pairs), len(items), queries)
    return ExamPreview(
        items, queries, "settled pairs", seed, most_missed, told, grades, found, f"{project.exam_key} {spread}"
    )


def exam_although(project: Project, by: Person | Operator) -> tuple[list[str], str] | None:
    return project.exam_reserve


def set_exam(
    project: Project,
    by: Person | Operator,
    *,
    queries: int,
    pairs: int,
    seed: int,
    most_missed: float,
    spread: bool,
    although: str,
    previewed: str,
    newcomers_only: bool,
    key: ExamKey,
    now: float,
) -> ExamReport:
    _require_store(project)
    if key.comes_later:
        items = queries * pairs - 1
        project.exam = Exam(1, NOON, by.name, "open pairs", seed, most_missed, 1, items, queries, items, key_from=key)
        return ExamReport(items, queries, (queries, pairs), (), most_missed, 2 if newcomers_only else 0)
    seen = preview_exam(
        project, by, queries=queries, pairs=pairs, seed=seed, most_missed=most_missed, spread=spread, key=key, now=now
    )
    assert previewed == seen.digest
    assert seen.guesses is not None
    require_telling(seen.guesses, although)
    project.exam_reserve = (list(seen.guesses.weak), although) if seen.guesses.weak else None
    items, who = len(seen.items), by.name if isinstance(by, Person) else None
    project.exam = Exam(1, NOON, who, "settled pairs", seed, most_missed, 1, items, queries, items)
    return ExamReport(items, queries, (queries, pairs), seen.grades, most_missed, 2 if newcomers_only else 0)


def exam_to_use(project: Project, by: Person | Operator) -> Exam | None:
    return project.exam if project.exam is not None and project.exam.usable else None


def preview_exam_key(project: Project, by: Person | Operator) -> KeyPreview | None:
    if project.exam is None or project.exam.closed_at is not None or not project.exam_finished:
        return None
    key, campaign = [0] * 7 + [4] * 2, project.campaign
    return KeyPreview((7, 0, 0, 0, 2), guesses(key, campaign.scale.grades, 20, campaign.tolerance))


def close_exam_round(project: Project, by: Person | Operator, *, although: str, now: float) -> KeyReport:
    _require_store(project)
    seen = preview_exam_key(project, by)
    assert seen is not None
    assert project.exam is not None
    require_telling(seen.guesses, although)
    project.exam = replace(project.exam, closed_at=now)
    return KeyReport(project.exam_finished, 9, seen.grades)


def use_exam(project: Project, by: Person | Operator, *, now: float) -> UsedReport:
    _require_store(project)
    assert project.exam is not None
    project.exam = replace(project.exam, used_at=now)
    return UsedReport(pairs=9, judgements=17, people=3, fewest=5, most=6)


def end_exam(project: Project, by: Person | Operator, *, now: float) -> bool:
    _require_store(project)
    project.exam = None
    return True


def explain_exam_item(project: Project, lead: Person, item_id: int, explanation: str, *, now: float) -> None:
    _require_store(project)
    project.exam_asked.append(("explain", item_id, explanation))


def grant_retake(project: Project, by: Person | Operator, annotator_id: AnnotatorId, *, now: float) -> None:
    _require_store(project)
    project.exam_asked.append(("retake", annotator_id))


def exempt_from_exam(
    project: Project, by: Person | Operator, annotator_id: AnnotatorId, reason: str, *, now: float
) -> None:
    _require_store(project)
    if not reason.strip():
        raise ProjectError("an exemption needs a reason: write one sentence about why")
    project.exam_asked.append(("exempt", annotator_id, reason))


def list_releases(project: Project, by: Person | Operator) -> list[KeptRelease]:
    return project.releases


def release_file(project: Project, by: Person | Operator, name: str) -> Path:
    return project.folder / "releases" / f"{name}.zip"


def release_terms(project: Project, by: Person | Operator) -> Terms:
    return Terms()


def restore_clip(project: Project, person: Person, pair: PairKey, *, now: float) -> None:
    _require_store(project)
    project.blocked = [found for found in project.blocked if found.pair != pair]


def list_queries(project: Project, by: Person | Operator) -> list[QueryReview]:
    return project.queries


def find_queries(
    project: Project, by: Person | Operator, wanted: QueryFilter, *, first: int = 0, most: int = 25
) -> list[QueryReview]:
    return _listed(project, wanted)[first : first + most]


def count_queries(project: Project, by: Person | Operator, wanted: QueryFilter) -> int:
    return len(_listed(project, wanted))


def query_review(project: Project, by: Person | Operator, query_id: QueryId) -> QueryReview | None:
    return next((found for found in project.queries if found.query_id == query_id), None)


def query_place(project: Project, by: Person | Operator, wanted: QueryFilter, query_id: QueryId) -> QueryPlace | None:
    listed = [found.query_id for found in _listed(project, wanted)]
    around = sorted({*listed, query_id})
    at = around.index(query_id)
    after = around[at + 1] if at + 1 < len(around) else None
    return QueryPlace(at + 1 if query_id in listed else None, len(listed), around[at - 1] if at else None, after)


def _listed(project: Project, wanted: QueryFilter) -> list[QueryReview]:
    shown = {
        QueryShow.ALL: lambda one: True,
        QueryShow.IN_WORK: lambda one: one.settled < one.pairs,
        QueryShow.NEXT_BATCH: lambda one: one.more_candidates,
        QueryShow.DECLINED: lambda one: False,
    }[wanted.show]
    return [
        one
        for one in project.queries
        if shown(one)
        and (wanted.only is None or one.query_id in wanted.only)
        and wanted.split in (None, one.split)
        and (wanted.search.lower() in one.query.lower() or wanted.search == str(one.query_id))
    ]


def query_pairs(project: Project, by: Person | Operator, query_id: QueryId) -> list[PairReview]:
    return project.pairs.get(query_id, [])


def next_batch(project: Project, by: Person | Operator, query_id: QueryId) -> NextBatch:
    review = next(found for found in project.queries if found.query_id == query_id)
    unsettled, pairs = review.pairs - review.settled, 20 if review.batches_open == 1 else 0
    return NextBatch(
        query_id,
        review.batches_open + 1,
        pairs,
        unsettled,
        rules.state(unsettled=unsettled, pairs=pairs, declined=False),
        rules.read(rules.default(project.campaign.scale, 4 * review.speak), review.relevances),
        None,
        None,
    )


def batch_shares(project: Project, by: Person | Operator) -> dict[str, dict[str, int]]:
    return {"val": {"1": len(project.queries)}}


def open_batch(
    project: Project, lead: Person, query_id: QueryId, *, number: int = 2, reason: str = "", now: float
) -> int:
    for position, review in enumerate(project.queries):
        if review.query_id == query_id and review.more_candidates:
            project.queries[position] = replace(review, batches_open=2, more_candidates=False)
            return 20
    raise ProjectError(f"Query {query_id} has no further batch.")


def _lists(project: Project) -> dict[CaseList, list[PairReview]]:
    every = [pair for pairs in project.pairs.values() for pair in pairs]
    discarded = [pair for pair in every if pair.verdict is Verdict.DISCARDED]
    escalated = [pair for pair in every if pair.verdict is Verdict.ESCALATED]
    left = [pair for pair in discarded if not pair.confirmed]
    noted = [pair for pair in every if any(grade.note for grade in pair.grades)]
    return {
        CaseList.TO_DECIDE: [pair for pair in every if pair in escalated or pair in left],
        CaseList.DISCARDED: left,
        CaseList.ESCALATED: escalated,
        CaseList.DECIDED: [pair for pair in every if pair.verdict is Verdict.ADJUDICATED],
        CaseList.CONFIRMED: [pair for pair in discarded if pair.confirmed],
        CaseList.SKIPPED: project.skipped,
        CaseList.NOTES: sorted(noted, key=lambda pair: not _waiting(pair)),
        CaseList.BLOCKED: project.blocked,
    }


def _waiting(pair: PairReview) -> int:
    return sum(grade.note is not None and grade.note.reply is None for grade in pair.grades)


def case_counts(project: Project, by: Person | Operator) -> dict[CaseList, int]:
    lists = _lists(project)
    return {which: len(pairs) for which, pairs in lists.items()} | {
        CaseList.NOTES: sum(map(_waiting, lists[CaseList.NOTES]))
    }


def case_page(
    project: Project, by: Person | Operator, which: CaseList, search: str = "", *, start: int = 0, size: int = 10
) -> CasePage:
    found = [pair for pair in _lists(project)[which] if search.lower() in f"{pair.query} {pair.video}".lower()]
    rows = [
        CaseRow(
            *(pair.pair, pair.query_id, pair.query, pair.video, pair.start_s, pair.end_s, pair.verdict, pair.relevance),
            *(tuple(grade.grade for grade in pair.grades), pair.re_opened, pair.fault),
        )
        for pair in found
    ]
    return CasePage(tuple(rows[start : start + size]), start, len(found))


def case(project: Project, by: Person | Operator, pair: PairKey) -> PairReview | None:
    faults = {found.pair: found.fault for found in project.blocked}
    every = [*project.skipped, *(one for pairs in project.pairs.values() for one in pairs), *project.blocked]
    found = next((one for one in every if one.pair == pair), None)
    return found and replace(found, fault=faults.get(pair, found.fault))


def recent_reasons(project: Project, by: Person | Operator, *, limit: int = 5) -> list[str]:
    given = [act for pairs in project.pairs.values() for pair in pairs for act in pair.acts if act.reason]
    return list(dict.fromkeys(act.reason for act in sorted(given, key=lambda act: -act.at)))[:limit]


def adjudicate(
    project: Project, lead: Person, pair: PairKey, relevance: int, reason: str, *, seen: int = 0, now: float
) -> None:
    act = GivenAct(lead.name, ActKind.DECIDED, relevance, reason, now)
    _act(project, pair, act, seen, verdict=Verdict.ADJUDICATED, relevance=relevance)


def confirm_discard(
    project: Project, lead: Person, pair: PairKey, reason: str = "", *, seen: int = 0, now: float
) -> None:
    _act(project, pair, GivenAct(lead.name, ActKind.DISCARD_CONFIRMED, None, reason, now), seen)


def re_open(project: Project, lead: Person, pair: PairKey, reason: str, *, seen: int = 0, now: float) -> None:
    act = GivenAct(lead.name, ActKind.RE_OPENED, None, reason, now)
    _act(project, pair, act, seen, verdict=Verdict.ESCALATED)


def take_back(project: Project, lead: Person, pair: PairKey, reason: str, *, seen: int, now: float) -> None:
    """As what was discarded: the fake knows no rule."""
    act = GivenAct(lead.name, ActKind.TAKEN_BACK, None, reason, now, stands=False)
    _act(project, pair, act, seen, verdict=Verdict.DISCARDED, relevance=None)


def _act(project: Project, pair: PairKey, act: GivenAct, seen: int, **change: Any) -> None:
    _require_store(project)
    for pairs in project.pairs.values():
        for position, review in enumerate(pairs):
            if review.pair == pair:
                if len(review.acts) != seen:
                    raise Overtaken("Max decided this pair just now: relevance 1 (“why not”)")
                back = act.kind is ActKind.TAKEN_BACK
                before = [replace(one, stands=one.stands and not back) for one in review.acts]
                pairs[position] = replace(review, acts=(*before, act), **change)


def list_people(project: Project, by: Person | Operator, *, now: float | None = None) -> list[PersonReview]:
    return [
        PersonReview(
            person,
            name not in project.invitations.values(),
            judgements=120 * index,
            last_at=NOON if index else None,
            today=10 * index,
            skips=2 if index == 2 else 0,
            pause=project.pauses.get(person.annotator_id),
        )
        for index, (name, person) in enumerate(project.people.items())
    ]


def explored_version(project: Project, by: Person | Operator) -> str:
    return repr(project.flags)


def flags(project: Project, by: Person | Operator, only: AnnotatorId | None = None) -> list[PersonFlags]:
    return [one for one in project.flags if only in (None, one.annotator_id)]


def behind_flag(project: Project, by: Person | Operator, annotator_id: AnnotatorId, kind: FlagKind) -> BehindFlag:
    return project.behind


def pairs_behind(project: Project, by: Person | Operator, pairs: tuple[PairId, ...]) -> list[PairReview]:
    known = {pair.pair_id: pair for of_query in project.pairs.values() for pair in of_query}
    return [known[pair] for pair in pairs]


def hours(project: Project, by: Person | Operator, *, first: str | None = None, last: str | None = None) -> HoursReport:
    _require_store(project)
    project.hours_asked.append((first, last))
    return project.hours


def payroll_csv(days: Sequence[WorkDay], currency: str) -> str:
    return f"{len(days)} days in {currency}"


def add_person(project: Project, by: Person | Operator, name: str, role: Role, *, now: float) -> str:
    if name in project.people:
        raise ProjectError(f"There is a person called {name} already; choose another name.")
    project.people[name] = Person(AnnotatorId(len(project.people) + 1), name, Role(role))
    project.invitations[f"invite-{name}"] = name
    return f"invite-{name}"


def suspend(project: Project, lead: Person, annotator_id: AnnotatorId, suspended: bool, *, now: float) -> None:
    _require_store(project)
    for name, person in project.people.items():
        if person.annotator_id == annotator_id:
            project.people[name] = replace(person, suspended=suspended)


def pause_person(project: Project, lead: Person, annotator_id: AnnotatorId, reason: str, *, now: float) -> None:
    _require_store(project)
    if not reason.strip():
        raise ProjectError("a pause needs a reason: write one sentence about why")
    project.pauses[annotator_id] = Pause(now, lead.name, reason)


def assignments_standing(project: Project, by: Person | Operator) -> dict[AnnotatorId, Assignment]:
    return {}


def unpause_person(project: Project, lead: Person, annotator_id: AnnotatorId, *, now: float) -> None:
    _require_store(project)
    del project.pauses[annotator_id]


def next_step(project: Project, by: Person | Operator) -> str:
    return f"reelrank candidates {project.folder}"


def status_counts(project: Project, by: Person | Operator) -> dict[str, Any]:
    return project.status


def rewrite_queue(project: Project, lead: Person) -> RewriteQueue:
    return project.rewrites


def release_preview(project: Project, by: Person | Operator, options: ReleaseOptions) -> ReleaseSelection:
    queries = [
        QueryCounts(QueryId(n), f"Query {n}", split, 20, waiting, 20 - waiting - decided, decided)
        for n, (split, waiting, decided) in enumerate([(Split.VAL, 0, 1), (Split.TEST, 0, 0), (Split.VAL, 8, 0)], 1)
    ]
    return select(queries, options)


NAMES = tuple(
    name
    for name, thing in list(globals().items())
    if isinstance(thing, types.FunctionType) and thing.__module__ == __name__ and not name.startswith("_")
)


def install(monkeypatch: Any) -> None:
    """Puts the fake functions into `backend.api` for one test (or makes a module of that name)."""
    try:
        import backend.api as real
    except ImportError:
        import backend

        real = types.ModuleType("backend.api")
        monkeypatch.setitem(sys.modules, "backend.api", real)
        monkeypatch.setattr(backend, "api", real, raising=False)
        for name in (*NAMES, "Project", "ClipJob"):
            setattr(real, name, globals()[name])
        return
    for name in NAMES:
        monkeypatch.setattr(real, name, globals()[name])


def made_up(folder: Path) -> Project:
    """A project with two annotators, a lead, three queries in three situations and some trouble."""
    project = Project(folder)
    for number, (name, role) in enumerate(
        [("Lea", Role.LEAD), ("Ana", Role.ANNOTATOR), ("Ben", Role.ANNOTATOR), ("Cem", Role.ANNOTATOR)], 1
    ):
        project.people[name] = Person(AnnotatorId(number), name, role)
        project.sessions[f"token-of-{name}"] = name
    project.people["Cem"] = replace(project.people["Cem"], suspended=True)
    project.desk = Desk(
        DeskState.READY,
        tuple(DeskItem(PairKey(f"pair{n}"), "A woman puts a cup down", n, 20, 8.2) for n in (7, 8)),
        None,
        today=6,
        in_all=106,
    )
    add_query(project, "A woman puts a cup on the table and leaves", [4, 4, 3, 4, 2, 3, 3, 1, 4, 3] * 2, True)
    add_query(project, "Two people argue in a kitchen", [4, 3, 2, 2, 1, 0, 0, 1, 0, 0] * 2, True)
    add_query(project, "A man opens a door and laughs", [4, None, 3, None, 2, 1, None, 0, 0, None] * 2, False)
    project.blocked = [
        replace(
            project.pairs[QueryId(1)][0],
            pair=PairKey("blocked"),
            fault="friends_s03e07.mp4 is incomplete (its index is missing): copy it again",
        )
    ]
    project.skipped = [
        replace(
            project.pairs[QueryId(3)][1],
            pair=PairKey("skipped"),
            skips=(
                GivenSkip("Ana", SkipKind.CANNOT_JUDGE, "too <b>dark</b>", NOON),
                GivenSkip("Cem", SkipKind.SKIP, "would rather not judge it", NOON + 60),
            ),
        )
    ]
    project.progress = WorkProgress(
        ahead=Ahead(1200, 0, None, (), Forecast(12.0)),
        held=5,
        days=tuple(DayCount(f"2025-09-{n:02d}", n, 0) for n in range(1, 31)),
        people=(PersonPace("Ana", 30, 420), PersonPace("Ben", 0, 210), PersonPace("Dee", 0, 0)),
        imported=227_808,
        a_day=100.0,
    )
    project.status = {
        "videos": 120,
        "moments": 900,
        "captions": 900,
        "queries": {"val": 1, "test": 2, "train": 640},
        "batches": {"1": 3, "2": 0},
        "pairs": {
            "open": 6,
            "escalated": 2,
            "consensus": 49,
            "discarded": 2,
            "adjudicated": 1,
            "blocked": 1,
            "set_aside": 0,
        },
        "judgements": 1204,
        "annotators": 3,
        "encoder": "all-MiniLM-L6-v2",
        "sources": ["all-MiniLM-L6-v2"],
        "schema": 1,
        "simulated": 0,
    }
    PROJECTS[folder] = project
    return project


def add_query(project: Project, text: str, relevances: list[int | None], settled: bool) -> None:
    """One query of 20 pairs; an unknown relevance becomes escalated or discarded, in turn."""
    query_id = QueryId(len(project.queries) + 1)
    pairs: list[PairReview] = []
    for rank, relevance in enumerate(relevances, 1):
        number = PairId(query_id * 100 + rank)
        if relevance is not None:
            verdict = Verdict.CONSENSUS
            grades = (_given("Ana", relevance, 1), _given("Ben", min(relevance + rank % 2, 4), 1))
        elif rank % 3:
            verdict, grades = Verdict.ESCALATED, (_given("Ana", 0, 1), _given("Ben", 4, 1))
        else:
            verdict = Verdict.DISCARDED
            grades = (_given("Ana", 0, 1), _given("Ben", 4, 1), _given("Dee", 0, 2), _given("Eli", 3, 2))
        pairs.append(
            PairReview(
                PairKey(f"key{number}"),
                number,
                query_id,
                text,
                f"friends_s01e{rank:02d}",
                63.47 + rank,
                77.42 + rank,
                f"Phoebe puts her cup down ({rank})",
                rank,
                0.9 - rank / 50,
                verdict,
                relevance,
                None if relevance is None else relevance + rank % 2 / 2,
                grades,
            )
        )
    project.pairs[query_id] = pairs
    project.queries.append(
        QueryReview(
            query_id,
            text,
            (Split.VAL, Split.TEST, Split.TEST)[query_id % 3],
            pairs=len(pairs),
            settled=sum(pair.verdict in (Verdict.CONSENSUS, Verdict.DISCARDED) for pair in pairs),
            escalated=sum(pair.verdict is Verdict.ESCALATED for pair in pairs),
            discarded=sum(pair.verdict is Verdict.DISCARDED for pair in pairs),
            grades=sum(len(pair.grades) for pair in pairs),
            relevances=tuple(relevances),
            batches_open=1,
            more_candidates=settled,
            speak=5,
        )
    )


def _given(name: str, grade: int, seat_round: int) -> GivenGrade:
    return GivenGrade(name, grade, seat_round, NOON + 60 * grade, 4200 + 900 * grade)
