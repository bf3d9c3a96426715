"""Working time and pay, for leads and for the command line."""

from collections.abc import Sequence

from backend.campaign.monitoring.hours import expecting, reporting
from backend.campaign.monitoring.hours.model import MS_AN_HOUR, Expected, HoursReport, WorkDay
from backend.campaign.nouns import Operator, Person
from backend.campaign.setup.people import permissions
from backend.campaign.setup.project.folder import Project
from backend.core.text_files import csv_text

COLUMNS = (
    *("person", "day", "judgements", "exam_answers", "gold_answers", "descriptions", "unmeasured"),
    *("judging_hours", "exam_hours", "gold_hours", "describing_hours", "active_hours", "pay", "currency"),
)


def hours(
    project: Project,
    by: Person | Operator,
    *,
    first: str | None = None,
    last: str | None = None,
    rate: float | None = None,
    currency: str | None = None,
) -> HoursReport:
    """How long people worked, what it costs, how much is still to come.

    Raises:
        InputError: `reelrank.toml` says something that is not understood.
    """
    permissions.require_in_charge(project.store, by)
    return reporting.report(project, first=first, last=last, rate=rate, currency=currency)


def expected_work(
    project: Project, by: Person | Operator, *, batch_size: int, probe: int = 0, pooled: bool = False
) -> Expected:
    """How many pairs and grades candidates would make, and how long those take."""
    permissions.require_in_charge(project.store, by)
    return expecting.expect(project, batch_size=batch_size, probe=probe, pooled=pooled)


def payroll_csv(days: Sequence[WorkDay], currency: str) -> str:
    """One line for each person and day. Hours have six digits, so that no millisecond is lost; pay is what adds up."""
    lines = (
        [
            *(day.name, day.day, day.judgements, day.exam_answers, day.gold_answers, day.descriptions, day.unmeasured),
            *(f"{ms / MS_AN_HOUR:.6f}" for ms in (day.judging_ms, day.exam_ms, day.gold_ms, day.describing_ms)),
            f"{day.active_ms / MS_AN_HOUR:.6f}",
            *(day.pay, None if day.pay is None else currency),
        ]
        for day in days
    )
    return csv_text(COLUMNS, lines, for_people=True)
