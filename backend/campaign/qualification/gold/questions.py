"""Set, offer and report gold questions, and warn or pause annotators who miss too many.

Gold questions are pairs with a known grade, hidden in the normal work. `backend.campaign.judging` hands them out and
stores their grades like those of other pairs. Only leads see how often an annotator was right. *Reads* pairs,
consensus, gold answers, findings, seats, pauses. *Writes* campaign, gold_pair, gold_seat, gold_rhythm, gold_finding,
pauses, events.
"""

import secrets
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from backend.campaign.judging import staffing
from backend.campaign.judging.locks import locks
from backend.campaign.judging.model import Desk, DeskState
from backend.campaign.judging.rows import assignments
from backend.campaign.nouns import Annotator, Lead, Operator, Pause, Person
from backend.campaign.qualification.answers.key_file import KeyFile, read_key
from backend.campaign.qualification.answers.rows import count_excluded, exam_candidates, well_known
from backend.campaign.qualification.answers.rules import GoldExclusion, KnownPair, misses
from backend.campaign.qualification.gold import rows as gold
from backend.campaign.qualification.gold.rows import GoldFinding, GoldGrade
from backend.campaign.qualification.gold.rules import (
    APART,
    MOST_SHARE,
    Consequence,
    accuracy,
    choose,
    consequence,
    constant,
    draw,
    gap,
)
from backend.campaign.setup.people import permissions
from backend.campaign.setup.people import rows as people
from backend.campaign.setup.project import rows as project_rows
from backend.campaign.setup.project.folder import Project
from backend.campaign.setup.project.model import GoldSettings
from backend.core.errors import ProjectError
from backend.core.events import Event, EventGroup
from backend.core.ids import AnnotatorId
from backend.core.messages import joined, said
from backend.store import events
from backend.store.connection import Database, Select, Store, reading, sharing, writing

SETTLED = "settled pairs"
PAIRS = 500
"""The number of gold pairs drawn by default. At the usual share they last one person for 10,000 pairs."""
GOLD_SET = Event("gold_set", EventGroup.TRAINING, said("set gold questions: {pairs} pairs, a share of {share}"))
"""source, pairs, share, window, fewest, warn, pause, asked"""
GOLD_WARNED = Event(
    "gold_warned", EventGroup.TRAINING, said("was warned by gold questions: {within} of {answers} answers were right")
)
"""answers, within: the person sees the warning at their next pairs"""
GOLD_PAUSED = Event(
    "gold_paused", EventGroup.TRAINING, said("was paused by gold questions: {within} of {answers} answers were right")
)
"""answers, within"""
GOLD_ENDED = Event("gold_ended", EventGroup.TRAINING, said("ended gold questions"))
"""(empty)"""


@dataclass(frozen=True, slots=True)
class GoldReport:
    """The gold questions that are in use, with their settings.

    `grades` counts the pairs by right grade, from the lowest grade to the highest. Always giving the grade `constant`
    would be right in `constant_right` percent of the answers.
    """

    pairs: int
    grades: tuple[int, ...]
    settings: GoldSettings
    constant: int
    constant_right: float


@dataclass(frozen=True, slots=True)
class GoldOptions:
    """Changes to the settings of gold questions. None keeps a setting as it is.

    `share` is the share of an annotator's pairs that are gold, 0 to 1. Accuracy is the percentage of right answers
    among the last `window`, computed once there are `fewest`. Below `warn` percent an annotator is warned, below
    `pause` percent paused.
    """

    share: float | None = None
    window: int | None = None
    fewest: int | None = None
    warn: float | None = None
    pause: float | None = None


@dataclass(frozen=True, slots=True)
class GoldAnswer:
    """An annotator's answer to a gold question.

    `within` says whether the answer is within the tolerance of the right grade. `counts` says whether it is one of the
    last answers from which the annotator's accuracy is computed.
    """

    answer: GoldGrade
    within: bool
    counts: bool


@dataclass(frozen=True, slots=True)
class GoldPerson:
    """One annotator's results on gold questions.

    `answers` are all their answers, the oldest first. The accuracy is computed from the last ones since the newest
    warning or pause. `counted` is the number of these answers, and `within` how many of them are within the tolerance.
    `accuracy` is the percentage; None while there are too few answers. `findings` are the warnings and pauses, the
    newest first. `left` is how many gold questions the annotator can still be given.
    """

    person: Person
    answers: tuple[GoldAnswer, ...]
    within: int
    counted: int
    accuracy: float | None
    findings: tuple[GoldFinding, ...]
    pause: Pause | None
    left: int


@permissions.in_charge
def set_gold(
    project: Project,
    by: Lead | Operator,
    options: GoldOptions,
    file: KeyFile | None = None,
    *,
    pairs: int = PAIRS,
    now: float,
) -> GoldReport:
    """Hide gold questions, which are pairs with a known grade, in everybody's work from now on.

    Without a file, they are drawn from the settled pairs, so that the right grades occur about equally often. Only
    pairs are drawn whose relevance a lead decided, or whose grades have a whole number as their mean.

    Args:
        project: the project.
        by: the user who sets them.
        options: the settings to change, such as the share of gold questions and the warning level.
        file: the lead's own answer key; None to draw pairs.
        pairs: the most pairs to draw.
        now: seconds since 1970.

    Raises:
        InputError: the file has problems, all of which are listed; nothing was changed.
        AlreadyDone: exactly these gold questions are in use already.
        ProjectError: there is no pair whose grade is known, or a number is out of range.
    """
    with writing(project.store) as db:
        asked = events.asked(options=options, file=file and [file.name, file.data], pairs=pairs)
        before = project_rows.gold(db), gold.known(db)
        settings = _settings(before[0], options)
        key = project_rows.gold_key(db) or secrets.token_hex(8)
        if file is not None:
            items = read_key(db, file, now=now)
            if not items:
                raise ProjectError(said("{name} contains no pair: add at least one", name=file.name))
            gold.replace_pairs(db, [(pair, right) for pair, right, _ in items])
        else:
            if pairs < 1:
                raise ProjectError(said("gold needs at least one pair"))
            drawn = draw(well_known(db, now=now), pairs, key)
            if not drawn:
                raise ProjectError(
                    said(
                        "no pair has a known grade yet: it needs a clip, no open corrections, and equal grades or a "
                        "lead's decision. Settle more pairs, or bring the answer key in a file"
                    )
                )
            gold.replace_pairs(db, [(known.pair_id, None) for known in drawn])
        if before == (settings, gold.known(db)):
            events.refuse_if_done(db, GOLD_SET, now=now, asked=asked)
        gold.withdraw_all(db)
        project_rows.set_gold(db, settings)
        project_rows.set_gold_key(db, key)
        report = _report(db)
        payload = {"source": file.name if file else SETTLED, "pairs": report.pairs, "share": settings.share}
        payload |= {"window": settings.window, "fewest": settings.fewest, "warn": settings.warn}
        _tell(db, GOLD_SET, by, payload | {"pause": settings.pause, "asked": asked}, now)
    return report


@permissions.in_charge
def end_gold(project: Project, by: Lead | Operator, *, now: float) -> bool:
    """Stop hiding gold questions in the work, and return whether they were on. Answers and pauses stay."""
    with writing(project.store) as db:
        settings = project_rows.gold(db)
        if settings.on:
            gold.withdraw_all(db)
            project_rows.set_gold(db, replace(settings, on=False))
            _tell(db, GOLD_ENDED, by, {}, now)
    return settings.on


@permissions.in_charge
def gold_results(project: Project, by: Lead | Operator) -> tuple[GoldReport, list[GoldPerson]]:
    """Return the gold questions in use, and every annotator's results on them, sorted by name.

    Programs, and workers whose grades were imported from an earlier campaign, are left out because they cannot sign in.
    """
    with reading(project.store) as db:
        return _report(db), [_gold_person(db, person) for person in exam_candidates(db)]


@permissions.in_charge
def gold_left_out(project: Project, by: Lead | Operator, *, now: float) -> dict[GoldExclusion, int]:
    """Count the graded pairs that `set_gold` cannot draw as gold questions, by reason."""
    with reading(project.store) as db:
        return count_excluded(db, now=now)


def _report(db: Database) -> GoldReport:
    known, grading = gold.known(db), project_rows.grading(db)
    grades = Counter(pair.right for pair in known)
    always, right = constant(known, grading.scale.grades, grading.tolerance)
    by_grade = tuple(grades[grade] for grade in grading.scale.grades)
    return GoldReport(len(known), by_grade, project_rows.gold(db), always, right)


def _gold_person(db: Database, person: Person) -> GoldPerson:
    me = person.annotator_id
    campaign = project_rows.campaign(db)
    findings = gold.findings(db, me)
    answers = gold.answers(db, me)
    within = within_tolerance(answers, campaign.tolerance)
    since = findings[0].last_answer if findings else 0
    recent = [ok for answer, ok in zip(answers, within, strict=True) if answer.gold_answer_id > since]
    counted = recent[-campaign.gold.window :]
    first = len(answers) - len(counted)
    return GoldPerson(
        person,
        tuple(
            GoldAnswer(answer, ok, nth >= first) for nth, (answer, ok) in enumerate(zip(answers, within, strict=True))
        ),
        within=sum(counted),
        counted=len(counted),
        accuracy=accuracy(recent, campaign.gold),
        findings=tuple(findings),
        pause=people.standing_pause(db, me),
        left=len(gold.fit_for(db, me)),
    )


def _settings(before: GoldSettings, options: GoldOptions) -> GoldSettings:
    changes = {name: value for name, value in asdict(options).items() if value is not None}
    new = replace(before, on=True, **changes)
    problems = []
    if not 0 < new.share <= MOST_SHARE:
        problems.append(
            said(
                "the share {share:g} is not valid: give more than 0 and at most {most:g}",
                share=new.share,
                most=MOST_SHARE,
            )
        )
    if not 1 <= new.fewest <= new.window:
        problems.append(
            said(
                "accuracy cannot start at {fewest} of the last {window} answers: start at 1 or more, and at "
                "no more answers than it counts",
                window=new.window,
                fewest=new.fewest,
            )
        )
    if not 0 <= new.pause <= new.warn <= 100:
        problems.append(
            said(
                "warning below {warn:g} % and pause below {pause:g} % do not fit: use 0 to 100, and a pause "
                "no higher than the warning",
                warn=new.warn,
                pause=new.pause,
            )
        )
    if problems:
        raise ProjectError(joined("; ", problems))
    return new


def _tell(db: Database, event: Event, by: Lead | Operator, payload: dict[str, object], now: float) -> None:
    events.record(db, event, at=now, actor=by.annotator_id, subject="campaign", payload=payload)


TOLD_FOR = 5
"""The number of pairs for which a warning stays, so that a lost answer or a reloaded page does not hide it."""


def withdraw_seen(db: Database, me: AnnotatorId) -> None:
    """Take back gold questions that are not handed out yet, if the annotator has since seen the pair elsewhere."""
    gold.withdraw_seen(db, me)


def next_select(me: AnnotatorId) -> Select[int | None]:
    """Select after how many claims (pairs handed out) an annotator gets the next gold question; None: not planned."""
    return gold.next_select(me)


def is_due(next_at: int | None, claims: int) -> bool:
    """Return whether `offer` has something to do for an annotator who made so many claims."""
    return next_at is None or next_at <= claims


def offer(db: Database, person: Annotator, settings: GoldSettings, next_at: int | None, claims: int) -> None:
    """Give an annotator the gold questions that are due now, as pairs that the queue can hand out next.

    How many are due depends on how many pairs they were handed so far. So an annotator who has nothing else to grade
    gets no more gold questions either. If no gold question is left for them, they get none this time.
    """
    me = person.annotator_id
    key, offers = project_rows.gold_key(db), gold.offers(db, me)
    if next_at is None:
        next_at = claims + gap(key, me, offers, settings.share)
    while next_at <= claims:
        pair = choose(_fit_for(db, me), key, me, offers)
        if pair is not None:
            gold.offer(db, pair, me)
            offers += 1
        next_at += gap(key, me, offers, settings.share)
    gold.set_next(db, me, next_at)


def follow(store: Store, person: Annotator, desk: Desk[Any], settings: GoldSettings, *, now: float) -> Desk[Any]:
    """Warn or pause an annotator who missed too many gold questions, and return what their grading page then shows.

    This happens only when they begin a query, and have graded at least `APART` other pairs since the last gold
    question. So nobody can tell which pair was the gold question.
    """
    me = person.annotator_id
    if desk.items and desk.items[0].position == 1:
        new = sharing(store, locks(me), lambda db: _judge_answers(db, me, settings, in_all=desk.in_all, now=now))
        if new is not None and new.kind is Consequence.PAUSED:
            return Desk(DeskState.PAUSED, (), None, desk.today, desk.in_all)
    last = gold.last_finding(store.db, me)
    warning_due = last is not None and last.kind is Consequence.WARNED and desk.in_all - last.graded < TOLD_FOR
    return replace(desk, warned=True) if warning_due else desk


def _judge_answers(
    db: Database, me: AnnotatorId, settings: GoldSettings, *, in_all: int, now: float
) -> GoldFinding | None:
    """Warn or pause an annotator if their answers ask for it; return the new finding, or None."""
    if gold.own_pairs_since_gold(db, me, APART) < APART or assignments.is_paused(db, me):
        return None
    last = gold.last_finding(db, me)
    answers = gold.answers(db, me, after=last.last_answer if last else 0)
    within = within_tolerance(answers, project_rows.grading(db).tolerance)
    warned = last is not None and last.kind is Consequence.WARNED
    kind = consequence(within, settings, warned=warned)
    if kind is None:
        return None
    counted = within[-settings.window :]
    new = GoldFinding(kind, len(counted), sum(counted), answers[-1].gold_answer_id, in_all, now)
    _draw(db, me, new, settings, again=warned)
    return new


def _fit_for(db: Database, me: AnnotatorId) -> list[KnownPair]:
    """Return the gold questions that are new to an annotator, of queries that they are assigned to.

    An annotator would notice a query that is not assigned to them. Such questions are returned only if there are no
    others.
    """
    fit, mine = gold.fit_for(db, me), assignments.current_assignment(db, me)
    inside = assignments.pairs_within(db, mine, [known.pair_id for known in fit])
    return [known for known in fit if known.pair_id in inside] or fit


def within_tolerance(answers: Sequence[GoldGrade], tolerance: int) -> list[bool]:
    """Return, for each answer, whether it is within the tolerance of the right grade."""
    return [not misses(answer.own, answer.right, tolerance) for answer in answers]


def _draw(db: Database, me: AnnotatorId, finding: GoldFinding, settings: GoldSettings, *, again: bool) -> None:
    paused = finding.kind is Consequence.PAUSED
    gold.add_finding(db, me, finding)
    events.record(
        db,
        GOLD_PAUSED if paused else GOLD_WARNED,
        at=finding.at,
        actor=None,
        subject=f"annotator:{me}",
        payload={"answers": finding.answers, "within": finding.within},
    )
    if paused:
        level = settings.pause if 100 * finding.within < settings.pause * finding.answers else settings.warn
        after = ", after a warning" if again else ""
        reason = (
            f"Gold: {finding.within} of {finding.answers} answers agree with the known grade, fewer than "
            f"{level:g} %{after}. The page Gold shows them."
        )
        staffing.begin_pause(db, None, me, reason, now=finding.at)
