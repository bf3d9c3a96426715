"""Working time as values. Times are whole milliseconds, as they were measured; money is exact."""

from dataclasses import dataclass
from decimal import Decimal

from backend.core.ids import AnnotatorId

MS_AN_HOUR = 3_600_000


@dataclass(frozen=True, slots=True)
class WorkDay:
    """What one annotator did on one local day (`2026-03-14`). Simulated and imported judgements are no work here."""

    annotator_id: AnnotatorId
    name: str
    day: str
    judgements: int
    """Pairs graded for the first time."""
    judging_ms: int
    """Active time of grades and corrections."""
    exam_answers: int
    exam_ms: int
    gold_answers: int
    gold_ms: int
    unmeasured: int
    """Grades and answers without a measured time."""
    pay: Decimal | None = None
    """Of this day, in whole hundredths; None without a rate."""
    descriptions: int = 0
    """Written for the first time."""
    describing_ms: int = 0
    """Active time of descriptions and their changes."""

    @property
    def active_ms(self) -> int:
        """All the working time of the day."""
        return self.judging_ms + self.exam_ms + self.gold_ms + self.describing_ms

    @property
    def hours(self) -> float:
        """The same in hours."""
        return self.active_ms / MS_AN_HOUR


@dataclass(frozen=True, slots=True)
class PersonHours:
    """What one annotator did over all the days asked for."""

    name: str
    days: int
    """Days with any work."""
    judgements: int
    hours: float
    an_hour: float | None
    """Judgements in an hour of judging; None without measured time."""
    pay: Decimal | None


@dataclass(frozen=True, slots=True)
class Outlook:
    """How much is still to come. Ends of intervals are of 95 %."""

    needed: int
    """Grades until every open or escalated pair that can be handed out has all its seats judged."""
    further: int
    """Grades on top if as many of the open pairs are disputed as so far."""
    disputed: float | None
    """Share of the pairs with two grades that went on to two further annotators; None while there are too few."""
    seconds: float | None
    """Working time a judgement, gold between included; None where it cannot be told."""
    hours: tuple[float, float, float] | None
    """Expected, low end, high end."""
    cost: tuple[Decimal, Decimal, Decimal] | None
    reason: str = ""
    """Why nothing can be told, or no interval."""
    stuck: int = 0
    """How many of the grades needed nobody who may work can give."""


@dataclass(frozen=True, slots=True)
class Expected:
    """The work that candidates would make, before they are chosen."""

    queries: int
    """To be judged."""
    pairs: int
    """Of the first batches and the probes, at most: lists may be shorter than a batch."""
    grades: int
    """That the first seats of the pairs want; disputes ask for more."""
    seconds: float
    """A grade: what one took here so far, or, as long as nobody has graded, a moment played once."""
    measured: bool
    """Whether that is what grades took here."""

    @property
    def hours(self) -> float:
        """Working time for all the grades."""
        return self.grades * self.seconds / 3600


@dataclass(frozen=True, slots=True)
class HoursReport:
    """Working time, pay, and both still to come."""

    days: tuple[WorkDay, ...]
    """By day and name."""
    people: tuple[PersonHours, ...]
    """By name."""
    rate: float | None
    """Of an hour, for whoever has none of their own."""
    currency: str
    own_rates: tuple[tuple[str, float], ...]
    hours: float
    pay: Decimal | None
    """The sum of what the days came to."""
    outlook: Outlook
    simulated: int
    """Simulated judgements, which are left out."""
    imported: int
    """Imported judgements, which are left out."""
    unknown_rates: tuple[str, ...] = ()
    """Names with a rate of their own that no annotator has."""
