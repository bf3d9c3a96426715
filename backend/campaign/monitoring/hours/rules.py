"""Compute the cost of working time, and forecast the time and cost that remain. Pure functions.

Times are whole milliseconds, as they were measured. Amounts of money are exact decimals.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import ROUND_HALF_UP, Decimal
from math import sqrt
from statistics import NormalDist

from backend.core.days import within_a_day
from backend.core.ids import AnnotatorId
from backend.core.messages import said
from backend.core.typed_text import name_key

MS_AN_HOUR = 3_600_000


@dataclass(frozen=True, slots=True)
class WorkDay:
    """The work of one annotator on one local day (`2026-03-14`). Simulated and imported judgements are left out.

    Fields that end in `_ms` are active times in milliseconds. Gold questions are pairs with a known grade.

    Attributes:
        judgements: pairs graded for the first time.
        judging_ms: time of grades and their corrections.
        exam_ms: time of the exam.
        gold_ms: time of gold questions.
        unmeasured: grades and answers without a measured time.
        pay: pay for this day, in whole hundredths; None if no hourly rate is set.
        descriptions: moments described for the first time.
        describing_ms: time of descriptions and their changes.
    """

    annotator_id: AnnotatorId
    name: str
    day: str
    judgements: int
    judging_ms: int
    exam_answers: int
    exam_ms: int
    gold_answers: int
    gold_ms: int
    unmeasured: int
    pay: Decimal | None = None
    descriptions: int = 0
    describing_ms: int = 0

    @property
    def active_ms(self) -> int:
        """All the working time of one annotator on this day, in milliseconds."""
        return self.judging_ms + self.exam_ms + self.gold_ms + self.describing_ms

    @property
    def hours(self) -> float:
        """All the working time of one annotator on this day, in hours."""
        return self.active_ms / MS_AN_HOUR


@dataclass(frozen=True, slots=True)
class PersonHours:
    """The work of one annotator over the chosen days.

    `days` counts days with any work. `an_hour` is the number of judgements per hour of judging; None without measured
    time. `pay` is None if a day has no hourly rate.
    """

    name: str
    days: int
    judgements: int
    hours: float
    an_hour: float | None
    pay: Decimal | None


@dataclass(frozen=True, slots=True)
class Outlook:
    """How much work is still to come, and what it may cost.

    Attributes:
        needed: grades that are missing until each open or escalated pair that annotators can get has all its grades.
        further: grades that disputes are expected to add, if as large a share of the open pairs is disputed as so far.
        disputed: share of the pairs with two grades that went on to two further annotators; None while too few pairs
            have two grades.
        seconds: working time per judgement in seconds, with the gold questions in between; None if it is unknown.
        hours: (expected, low, high) of the hours to come, with the ends of a 95 % interval.
        cost: (expected, low, high) of their cost, in the same way.
        reason: why there is no estimate or no interval.
        stuck: how many of the needed grades nobody who may work can give.
    """

    needed: int
    further: int
    disputed: float | None
    seconds: float | None
    hours: tuple[float, float, float] | None
    cost: tuple[Decimal, Decimal, Decimal] | None
    reason: str = ""
    stuck: int = 0


@dataclass(frozen=True, slots=True)
class Expected:
    """A forecast of the work that choosing candidates would create, for leads who have not chosen them yet.

    Attributes:
        queries: queries to be judged.
        pairs: pairs of the first batches and the probes. This is an upper bound, as lists may be shorter than a batch.
        grades: grades for these pairs before any dispute. Disputes add more.
        seconds: seconds per grade, as measured here. If no time was measured yet, it is the mean duration of a moment.
        measured: whether `seconds` was measured here.
    """

    queries: int
    pairs: int
    grades: int
    seconds: float
    measured: bool

    @property
    def hours(self) -> float:
        """Working time for all expected grades, in hours."""
        return self.grades * self.seconds / 3600


@dataclass(frozen=True, slots=True)
class HoursReport:
    """Working time and pay, done and still to come.

    Attributes:
        days: the work done, by day and name.
        people: the work done by each person, by name.
        rate: pay per hour of those without a rate of their own.
        own_rates: (name, rate) of people with a rate of their own.
        hours: the sum of the hours of all days.
        pay: the sum of the pay of all days; None if a day has no hourly rate, or if there are no days.
        simulated: simulated judgements, which are left out.
        imported: imported judgements, which are left out.
        unknown_rates: names with a rate of their own that no annotator of the project has.
    """

    days: tuple[WorkDay, ...]
    people: tuple[PersonHours, ...]
    rate: float | None
    currency: str
    own_rates: tuple[tuple[str, float], ...]
    hours: float
    pay: Decimal | None
    outlook: Outlook
    simulated: int
    imported: int
    unknown_rates: tuple[str, ...] = ()


CENT = Decimal("0.01")
FEWEST_DAYS = 10
"""With fewer working days, counted over all people, no interval is reported."""
_Z = NormalDist().inv_cdf(0.975)

NO_TIME = said("no judgement made in this project has a measured time yet")
FEW_DAYS = said("an interval needs at least {days} working days, counted over all annotators", days=FEWEST_DAYS)
CERTAIN = said("no work is left")


def bounded(days: Sequence[WorkDay]) -> list[WorkDay]:
    """Return annotators' working days, with the working time of each day limited to 24 hours."""
    bounded_days = []
    for day in days:
        judging, exam, gold, describing = within_a_day(day.judging_ms, day.exam_ms, day.gold_ms, day.describing_ms)
        bounded_days.append(replace(day, judging_ms=judging, exam_ms=exam, gold_ms=gold, describing_ms=describing))
    return bounded_days


def pay(active_ms: int, rate: float) -> Decimal:
    """Return the pay for working time in milliseconds at a rate per hour, rounded half up to hundredths.

    >>> pay(5_400_000, 11), pay(1_000, 18)
    (Decimal('16.50'), Decimal('0.01'))
    """
    return (Decimal(active_ms) * Decimal(str(rate)) / MS_AN_HOUR).quantize(CENT, ROUND_HALF_UP)


def paid(days: Sequence[WorkDay], rate: float | None, own: Mapping[str, float]) -> list[WorkDay]:
    """Return the days with their pay filled in, at each person's own hourly rate or else at `rate`.

    `own` maps names to rates. Names are matched even if they are typed slightly differently, for example in case. A day
    without any rate keeps its pay.
    """
    rates = {name_key(name): own_rate for name, own_rate in own.items()}
    paid_days = []
    for day in days:
        theirs = rates.get(name_key(day.name), rate)
        paid_days.append(day if theirs is None else replace(day, pay=pay(day.active_ms, theirs)))
    return paid_days


def total(days: Sequence[WorkDay]) -> Decimal | None:
    """Return the pay of all days together; None if a day has no pay, or if there are no days."""
    sums = [day.pay for day in days if day.pay is not None]
    return sum(sums, Decimal(0)) if sums and len(sums) == len(days) else None


def by_person(days: Sequence[WorkDay]) -> list[PersonHours]:
    """Return each person's totals over the days, sorted by name."""
    by_name: defaultdict[str, list[WorkDay]] = defaultdict(list)
    for day in days:
        by_name[day.name].append(day)
    return [
        PersonHours(
            name,
            days=len(theirs),
            judgements=sum(day.judgements for day in theirs),
            hours=sum(day.active_ms for day in theirs) / MS_AN_HOUR,
            an_hour=_an_hour(theirs),
            pay=total(theirs),
        )
        for name, theirs in sorted(by_name.items(), key=lambda one: one[0].casefold())
    ]


def outlook(
    days: Sequence[WorkDay], needed: int, *, further: int = 0, disputed: float | None = None, stuck: int = 0
) -> Outlook:
    """Estimate how many hours of work are still to come, and their cost at the mean cost of an hour so far.

    Let t be the working time and n the number of judgements of one person on one day. The mean time of a judgement is
    then R = sum t / sum n, over all such days so far. These days differ more than single judgements do (people are fast
    or slow, queries easy or hard). The interval therefore treats a day, not a judgement, as its unit. The days still to
    come are assumed to differ as much as those so far. The interval is

        R * N  +-  1.96 * N * s * sqrt(1 + sum n / N) / sum n,    s^2 = D / (D - 1) * sum (t - R n)^2

    where N is the number of judgements to come and D the number of such days so far. The sums are over these days.

    Source: W. G. Cochran, "Sampling Techniques" (1977), chapter 6 (ratio estimators); the second term under the root is
    the spread of the work to come.

    Args:
        days: every working day of every person so far.
        needed: grades that are missing now, before any further dispute.
        further: grades that disputes are likely to add.
        disputed: the share of pairs that were disputed so far, from which `further` was estimated; None if unknown.
        stuck: how many of the needed grades no annotator can give.
    """
    worked = [(day.judging_ms + day.gold_ms, day.judgements) for day in days if day.judgements and day.judging_ms]
    grades, time_ms = sum(n for _, n in worked), sum(ms for ms, _ in worked)
    if not grades:
        return Outlook(needed, further, disputed, None, None, None, NO_TIME, stuck)
    ahead, ratio = needed + further, time_ms / grades
    expected = ratio * ahead / MS_AN_HOUR
    reach = None
    if len(worked) >= FEWEST_DAYS and ahead:
        spread = sqrt(len(worked) / (len(worked) - 1) * sum((ms - ratio * n) ** 2 for ms, n in worked))
        reach = _Z * ahead * spread * sqrt(1 + grades / ahead) / grades / MS_AN_HOUR
    hours = (expected, max(expected - (reach or 0), 0.0), expected + (reach or 0))
    reason = CERTAIN if not ahead else FEW_DAYS if reach is None else ""
    return Outlook(needed, further, disputed, ratio / 1000, hours, _cost(days, hours), reason, stuck)


def _cost(days: Sequence[WorkDay], hours: tuple[float, float, float]) -> tuple[Decimal, Decimal, Decimal] | None:
    """Return the (expected, low, high) cost of hours of work, at the mean cost of an hour so far.

    `days` are the working days so far, and `hours` are the (expected, low, high) hours. The result is None if the mean
    cost of an hour is unknown.
    """
    sum_ms, cost = sum(day.active_ms for day in days), total(days)
    if cost is None or not sum_ms:
        return None
    an_hour = cost * MS_AN_HOUR / sum_ms
    expected, low, high = ((Decimal(end) * an_hour).quantize(CENT, ROUND_HALF_UP) for end in hours)
    return expected, low, high


def _an_hour(days: Sequence[WorkDay]) -> float | None:
    """Return the judgements per hour of judging, over the days with measured time; None if there are none."""
    measured = [day for day in days if day.judging_ms]
    time_ms = sum(day.judging_ms for day in measured)
    return sum(day.judgements for day in measured) * MS_AN_HOUR / time_ms if time_ms else None
