"""Report how long people worked, what that costs, and how much of both is still to come.

*Reads* judgements, answers to exams and gold questions, descriptions, seats (places for annotators at a pair), queries,
moments and `reelrank.toml`. *Writes* nothing. Only active time counts as working time; see docs/decisions/058.
"""

from collections.abc import Sequence

from backend.campaign.corpus.importing import rows as corpus
from backend.campaign.monitoring.hours import rows, rules
from backend.campaign.monitoring.hours.rules import MS_AN_HOUR, Expected, HoursReport, WorkDay
from backend.campaign.monitoring.progress.progress import demand
from backend.campaign.nouns import Lead, Operator, Split
from backend.campaign.selection.candidates.model import PROBE_OTHERS, PROBE_TOP
from backend.campaign.selection.queries import rows as queries
from backend.campaign.setup.people.permissions import in_charge
from backend.campaign.setup.project import rows as project_rows
from backend.campaign.setup.project.folder import Project
from backend.campaign.setup.project.settings_file import read_settings
from backend.core.text_files import csv_text
from backend.core.typed_text import name_key
from backend.store.connection import reading

COLUMNS = (
    *("person", "day", "judgements", "exam_answers", "gold_answers", "descriptions", "unmeasured"),
    *("judging_hours", "exam_hours", "gold_hours", "describing_hours", "active_hours", "pay", "currency"),
)


@in_charge
def hours(
    project: Project,
    by: Lead | Operator,
    *,
    first: str | None = None,
    last: str | None = None,
    rate: float | None = None,
    currency: str | None = None,
) -> HoursReport:
    """Return how long people worked, what it costs, and how much is still to come, all read at one instant.

    The forecast uses all days, even if `first` and `last` choose only some.

    Args:
        project: the project. Its rates are read again at each call, as they may change any day.
        by: a lead or an operator.
        first: leave out days before this one, such as `2026-03-01`.
        last: leave out days after this one.
        rate: pay per hour, instead of the rate in `reelrank.toml`. Rates of single people stay as they are.
        currency: the currency, instead of the one in `reelrank.toml`.

    Raises:
        InputError: `reelrank.toml` holds something that is not understood.
    """
    pay = read_settings(project.folder).pay
    rate = pay.hourly_rate if rate is None else rate
    with reading(project.store) as db:
        everything = rules.paid(rules.bounded(rows.days(db)), rate, pay.rates)
        work = demand(db)
        ahead = rules.outlook(
            everything,
            work.needed,
            further=work.further,
            disputed=work.disputed,
            stuck=sum(stuck_pairs.grades for stuck_pairs in work.stuck),
        )
        simulated, imported = rows.left_out(db)
        known = {name_key(name) for name in rows.names(db)}
    chosen = [day for day in everything if (first or day.day) <= day.day <= (last or day.day)]
    return HoursReport(
        days=tuple(chosen),
        people=tuple(rules.by_person(chosen)),
        rate=rate,
        currency=currency or pay.currency,
        own_rates=tuple(sorted(pay.rates.items())),
        hours=sum(day.hours for day in chosen),
        pay=rules.total(chosen),
        outlook=ahead,
        simulated=simulated,
        imported=imported,
        unknown_rates=tuple(sorted(name for name in pay.rates if name_key(name) not in known)),
    )


@in_charge
def expected_work(
    project: Project, by: Lead | Operator, *, batch_size: int, probe: int = 0, pooled: bool = False
) -> Expected:
    """Forecast the pairs, grades and working time that choosing candidates now would create.

    Leads read this before they choose candidates, because afterwards annotators get the pairs.

    Args:
        project: a project with queries.
        by: a lead or an operator.
        batch_size: how many candidates of each query annotators get at first.
        probe: for how many queries further moments are graded, to learn how deep judging must go.
        pooled: whether submitted runs find candidates too. These may be moments that the project does not have yet.
    """
    with reading(project.store) as db:
        counts = queries.split_counts(db)
        judged = counts[Split.VAL.value] + counts[Split.TEST.value]
        _, moments, _ = corpus.counts(db)
        batch = batch_size if pooled else min(batch_size, moments)
        pairs = judged * batch + min(probe, judged) * max(min(PROBE_TOP + PROBE_OTHERS, moments) - batch, 0)
        grades = pairs * project_rows.campaign(db).seats
        measured = rules.outlook(rules.bounded(rows.days(db)), grades).seconds
        seconds = rows.mean_moment_s(db) if measured is None else measured
    return Expected(judged, pairs, grades, seconds, measured is not None)


def payroll_csv(days: Sequence[WorkDay], currency: str) -> str:
    """Return working times and pay as CSV, with one line per person and day.

    Hours have six decimals, so that no millisecond is lost.
    """
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
