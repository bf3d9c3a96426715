"""What annotators see of their own work: how much, how long, how their grades spread, how they agree.

*Reads* judgements, verdicts, skips, *writes* nothing. Agreement speaks of pairs that are settled for good, and of
many at once: nothing here tells how anybody graded one pair, nor anything about a pair that is still open.
"""

from collections import Counter, defaultdict
from collections.abc import Sequence
from statistics import fmean, median

from backend.campaign.judging.model import CORRECTION_S
from backend.campaign.nouns import Annotator
from backend.campaign.project import rows as facts
from backend.campaign.quality.model import MyAgreement, MyWork
from backend.campaign.quality.rows import my_work
from backend.campaign.quality.rows.my_work import Given
from backend.ground.days import day_of, last_days
from backend.store.connection import Store, reading

DAYS = 30
WEEK_DAYS = 7
FEWEST_PAIRS = 10
"""Settled pairs below which agreement is not told: a few pairs say little, and one by one they would say too much."""


def report(store: Store, me: Annotator, *, now: float) -> MyWork:
    """Everything of one instant. A day begins at the server's midnight, as on the annotators' desks."""
    with reading(store) as db:
        everything = my_work.judgements(db, me.annotator_id, final_before=now - CORRECTION_S)
        skips = my_work.skips(db, me.annotator_id)
        grading = facts.grading(db)
    given = [one for one in everything if not one.imported]
    days = last_days(now, DAYS)
    first = Counter(day_of(one.at) for one in given if one.is_first)
    standing = [one for one in given if one.stands]
    measured = [one.active_ms for one in standing if one.active_ms]
    grades = Counter(one.grade for one in standing)
    settled = [one for one in standing if one.relevance is not None]
    return MyWork(
        today=first[days[-1]],
        week=sum(first[day] for day in days[-WEEK_DAYS:]),
        in_all=len(standing),
        simulated=sum(one.simulated for one in standing),
        days=tuple((day, first[day]) for day in days),
        active_s=sum(one.active_ms for one in given) / 1000,
        months=_months(given),
        median_s=median(measured) / 1000 if measured else None,
        grades=tuple(grades[grade] for grade in grading.scale.grades),
        skips=skips,
        settled=len(settled),
        recent=sum(one.recent for one in standing),
        imported=len(everything) - len(given),
        agreement=_agreement(settled, grading.tolerance) if len(settled) >= FEWEST_PAIRS else None,
    )


def _months(given: Sequence[Given]) -> tuple[tuple[str, float], ...]:
    """Active seconds of every month of the server's calendar, the newest first."""
    found: defaultdict[str, int] = defaultdict(int)
    for one in given:
        if one.active_ms and not one.simulated:
            found[f"{day_of(one.at)[:7]}-01"] += one.active_ms
    return tuple((month, found[month] / 1000) for month in sorted(found, reverse=True))


def _agreement(settled: Sequence[Given], tolerance: int) -> MyAgreement:
    apart = [abs(one.grade - one.relevance) for one in settled if one.relevance is not None]
    return MyAgreement(
        pairs=len(settled),
        equal=apart.count(0) / len(apart),
        tolerance=tolerance,
        within=sum(steps <= tolerance for steps in apart) / len(apart),
        difference=fmean(one.grade - one.agreed for one in settled if one.agreed is not None),
    )
