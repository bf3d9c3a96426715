"""How long people worked, what that costs, and how much of both is still to come.

*Reads* judgements, answers of exams and to gold, descriptions, seats, `reelrank.toml`, *writes* nothing. Working
time is active time, as docs/decisions/058 says.
"""

from backend.campaign.monitoring.hours import rows, rules
from backend.campaign.monitoring.hours.model import HoursReport
from backend.campaign.monitoring.progress import watching
from backend.campaign.setup.project.folder import Project
from backend.campaign.setup.project.settings_file import read_settings
from backend.core.person_names import name_key
from backend.store.connection import reading


def report(
    project: Project,
    *,
    first: str | None = None,
    last: str | None = None,
    rate: float | None = None,
    currency: str | None = None,
) -> HoursReport:
    """Everything of one instant; what is still to come goes by all days, whatever days are asked for.

    Args:
        project: the project; its rates are read anew, as they may change any day.
        first: only days from this one on, such as `2026-03-01`.
        last: only days up to this one.
        rate: of an hour, instead of that of `reelrank.toml`; rates of people's own stay.
        currency: instead of that of `reelrank.toml`.
    """
    pay = read_settings(project.folder).pay
    rate = pay.hourly_rate if rate is None else rate
    with reading(project.store) as db:
        everything = rules.paid(rules.bounded(rows.days(db)), rate, pay.rates)
        wanted = watching.demand(db)
        ahead = rules.outlook(
            everything,
            wanted.needed,
            further=wanted.further,
            disputed=wanted.disputed,
            stuck=sum(one.grades for one in wanted.stuck),
        )
        simulated, imported = rows.left_out(db)
        known = {name_key(name) for name in rows.names(db)}
    asked = [day for day in everything if (first or day.day) <= day.day <= (last or day.day)]
    return HoursReport(
        days=tuple(asked),
        people=tuple(rules.by_person(asked)),
        rate=rate,
        currency=currency or pay.currency,
        own_rates=tuple(sorted(pay.rates.items())),
        hours=sum(day.hours for day in asked),
        pay=rules.total(asked),
        outlook=ahead,
        simulated=simulated,
        imported=imported,
        unknown_rates=tuple(sorted(name for name in pay.rates if name_key(name) not in known)),
    )
