"""Raise quality flags about annotators' work, dismiss flags, and report annotators' own work to them.

*Reads* judgements, verdicts, skips and clips. *Writes* events. No grade is refused, left out or weighted because of a
flag. Annotators see their agreement only as a figure over many pairs whose verdict is final. They never see how
somebody else graded a pair, nor anything about a pair that is still open.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import replace
from statistics import fmean, median

import numpy as np

from backend.campaign.judging.model import CORRECTION_S
from backend.campaign.monitoring.quality import rows
from backend.campaign.monitoring.quality.model import (
    FLAG_DISMISSED,
    FLAG_NAMES,
    FlagEvidence,
    FlagKind,
    MyAgreement,
    MyWork,
    PersonFlags,
)
from backend.campaign.monitoring.quality.rows import Given
from backend.campaign.monitoring.quality.rules import flags as rules
from backend.campaign.monitoring.quality.rules.pairs import standing
from backend.campaign.nouns import Annotator, Lead, Operator
from backend.campaign.review.model import PairReview
from backend.campaign.review.rows import reviews
from backend.campaign.setup.people.permissions import annotator_only, in_charge, lead_only
from backend.campaign.setup.project import rows as project_rows
from backend.campaign.setup.project.folder import Project
from backend.core.days import day_of, last_days, within_a_day
from backend.core.errors import Overtaken
from backend.core.ids import AnnotatorId, PairId
from backend.core.messages import said
from backend.core.typed_text import reason_of
from backend.store import events
from backend.store.connection import Database, reading, writing

LONGEST_REASON = 200
"""The most characters that the reason of a dismissal may have."""


@in_charge
def flags(project: Project, by: Lead | Operator, only: AnnotatorId | None = None) -> list[PersonFlags]:
    """Return the quality flags (possible warnings) of every annotator, or only of the annotator `only`, sorted by name.

    Flags that are not raised are returned too.
    """
    with reading(project.store) as db:
        people = [one for one in rows.annotators(db) if only in (None, one[0])]
        work, dismissed = _work(db), rows.dismissals(db)
    return [
        PersonFlags(
            *(annotator_id, name, int((work.grades.annotator == annotator_id).sum())),
            _median_s(work, annotator_id),
            rules.flags_of(
                work, annotator_id, {kind: one for (who, kind), one in dismissed.items() if who == annotator_id}
            ),
        )
        for annotator_id, name in people
    ]


@lead_only
def dismiss_flags(
    project: Project, lead: Lead, annotator_id: AnnotatorId, kinds: Sequence[FlagKind], reason: str, *, now: float
) -> None:
    """Dismiss flags of an annotator. The activity log keeps them with the reason.

    Args:
        project: the project.
        lead: the lead who dismisses them.
        annotator_id: the annotator whose flags they are.
        kinds: the flags to dismiss.
        reason: why nothing has to be done; may be empty.
        now: seconds since 1970.

    Raises:
        Overtaken: one of these flags is not raised any more, or somebody has dismissed it.
        ProjectError: the reason is too long.
    """
    reason = reason_of(reason, LONGEST_REASON)
    raised = {flag.kind for one in flags(project, lead, annotator_id) for flag in one.raised}
    for kind in kinds:
        if kind not in raised:
            raise Overtaken(
                said("The flag “{flag}” is not raised any more, or was dismissed already.", flag=FLAG_NAMES[kind])
            )
    with writing(project.store) as db:
        for kind in kinds:
            subject = f"annotator:{annotator_id}"
            events.note(db, FLAG_DISMISSED, lead, subject, now=now, flag=kind.value, reason=reason)


@in_charge
def flag_evidence(project: Project, by: Lead | Operator, annotator_id: AnnotatorId, kind: FlagKind) -> FlagEvidence:
    """Return the evidence for an annotator's quality flag: how its value changed over time, and the pairs that show it.

    A quality flag is a possible warning, for example that many grades came too fast. Its value is then the share of
    such grades.
    """
    with reading(project.store) as db:
        evidence, known = rules.behind(_work(db).of(annotator_id), kind), set(rows.clips(db)[0].tolist())
    pairs = tuple(pair for pair in evidence.pairs if pair in known)
    return replace(evidence, pairs=pairs, by_number=len(evidence.pairs) - len(pairs))


@in_charge
def pairs_behind(project: Project, by: Lead | Operator, pairs: tuple[PairId, ...]) -> list[PairReview]:
    """Return all that a lead may see of some pairs, in the given order, as evidence for a quality flag.

    `pairs` are some of those that `flag_evidence` returned.
    """
    return reviews.by_id(project.store.db, pairs)


def _work(db: Database) -> rules.Work:
    given, clips, grading = rows.given(db), rows.clips(db), project_rows.grading(db)
    skips = rows.skips(db)
    return rules.look_at(standing(given), clips, skips, highest=grading.scale.highest, tolerance=grading.tolerance)


def _median_s(work: rules.Work, annotator_id: AnnotatorId) -> float | None:
    active = work.grades.active_ms[work.grades.annotator == annotator_id]
    measured = active[active > 0]
    return float(np.median(measured)) / 1000 if len(measured) else None


DAYS = 30


WEEK_DAYS = 7


FEWEST_PAIRS = 10
"""With fewer settled pairs no agreement is reported: it would be imprecise, and could reveal grades of single pairs."""


@annotator_only
def my_work(project: Project, annotator: Annotator, *, now: float) -> MyWork:
    """Return an annotator's own counts, working time, use of each grade, and agreement with settled relevances.

    All figures are of one instant. A day begins at the server's midnight.
    """
    with reading(project.store) as db:
        everything = rows.judgements_of(db, annotator.annotator_id, final_before=now - CORRECTION_S)
        skips = rows.skips_of(db, annotator.annotator_id)
        grading = project_rows.grading(db)
    given = [one for one in everything if not one.imported]
    days = last_days(now, DAYS)
    first = Counter(day_of(one.at) for one in given if one.is_first)
    standing = [one for one in given if one.stands]
    measured = [within_a_day(one.active_ms)[0] for one in standing if one.active_ms]
    grades = Counter(one.grade for one in standing)
    settled = [one for one in standing if one.relevance is not None]
    return MyWork(
        today=first[days[-1]],
        week=sum(first[day] for day in days[-WEEK_DAYS:]),
        in_all=len(standing),
        simulated=sum(one.simulated for one in standing),
        days=tuple((day, first[day]) for day in days),
        active_s=sum(_days(given).values()) / 1000,
        months=_months(one for one in given if not one.simulated),
        median_s=median(measured) / 1000 if measured else None,
        grades=tuple(grades[grade] for grade in grading.scale.grades),
        skips=skips,
        settled=len(settled),
        recent=sum(one.recent for one in standing),
        imported=len(everything) - len(given),
        agreement=_agreement(settled, grading.tolerance) if len(settled) >= FEWEST_PAIRS else None,
    )


def _days(grades: Iterable[Given]) -> dict[str, int]:
    """Return the active time of each local day in milliseconds, at most 24 h a day. Days without any are left out."""
    sums_ms: defaultdict[str, int] = defaultdict(int)
    for grade in grades:
        if grade.active_ms:
            sums_ms[day_of(grade.at)] += grade.active_ms
    return {day: within_a_day(time_ms)[0] for day, time_ms in sums_ms.items()}


def _months(grades: Iterable[Given]) -> tuple[tuple[str, float], ...]:
    """Return (first day, active seconds) of each month with active time, the newest first.

    Months are those of the server's calendar.
    """
    sums_ms: defaultdict[str, int] = defaultdict(int)
    for day, time_ms in _days(grades).items():
        sums_ms[f"{day[:7]}-01"] += time_ms
    return tuple((month, sums_ms[month] / 1000) for month in sorted(sums_ms, reverse=True))


def _agreement(settled: Sequence[Given], tolerance: int) -> MyAgreement:
    apart = [abs(grade.grade - grade.relevance) for grade in settled if grade.relevance is not None]
    return MyAgreement(
        pairs=len(settled),
        equal=apart.count(0) / len(apart),
        tolerance=tolerance,
        within=sum(steps <= tolerance for steps in apart) / len(apart),
        difference=fmean(grade.grade - grade.agreed for grade in settled if grade.agreed is not None),
    )
