"""Working time and pay: `reelrank users hours`."""

from decimal import Decimal
from pathlib import Path
from typing import Annotated

import typer

from backend.api import open_project
from backend.campaign.monitoring.hours.model import HoursReport, Outlook
from backend.campaign.nouns import OPERATOR
from backend.cli.output import Dir, FirstDay, Json, LastDay, day_of, json_text, save, say, table, tell_written


def hours(
    folder: Dir,
    rate: Annotated[
        float | None, typer.Option("--rate", min=0, help="Hourly pay, instead of the rate in reelrank.toml.")
    ] = None,
    currency: Annotated[str | None, typer.Option("--currency", help="Currency, such as USD.")] = None,
    first: FirstDay = None,
    last: LastDay = None,
    csv: Annotated[
        Path | None,
        typer.Option("--csv", metavar="FILE", help="Write a line per person and day to a file, for payroll."),
    ] = None,
    json: Json = False,
) -> None:
    """Show hours and pay so far, and how much is still to come.

    Hours count active time on clips, including the exam, gold questions and descriptions. Idle time does not count,
    nor does time that was not measured.

    Example: reelrank users hours my-project --rate 11 --currency USD --csv march.csv --from 2026-03-01 --to 2026-03-31
    """
    from backend.campaign.monitoring.hours import report

    days = {"first": day_of(first, "--from"), "last": day_of(last, "--to")}
    found = report.hours(open_project(folder), OPERATOR, **days, rate=rate, currency=currency)
    if csv is not None:
        save(csv, report.payroll_csv(found.days, found.currency))
    if json:
        say(json_text(found))
        tell_written([csv], data=True)
        return
    _told(found)
    if csv is not None:
        say(f"\n{csv}: {len(found.days):,} lines, one for each person and day.")


def _told(found: HoursReport) -> None:
    if found.people:
        rows = [
            (
                one.name,
                f"{one.days:,}",
                f"{one.judgements:,}",
                f"{one.hours:.2f}",
                _or_dash(one.an_hour),
                _money(one.pay),
            )
            for one in found.people
        ]
        judgements = sum(one.judgements for one in found.people)
        rows.append(("together", "", f"{judgements:,}", f"{found.hours:.2f}", "", _money(found.pay)))
        table(("annotator", "days", "judgements", "hours", "an hour", found.currency), rows)
    else:
        say("Nobody has worked here in this time.")
    if found.rate is None and not found.own_rates:
        say("\nNo pay: reelrank.toml has no hourly_rate under [pay], and --rate was not given.")
    for name in found.unknown_rates:
        say(f"\nreelrank.toml has a rate for {name}, but there is no annotator of that name.")
    for count, which in ((found.simulated, "simulated"), (found.imported, "imported")):
        if count:
            say(f"\nLeft out: {count:,} {which} judgements.")
    unmeasured = sum(day.unmeasured for day in found.days)
    if unmeasured:
        say(f"\nWithout a measured time, so without pay: {unmeasured:,} grades and answers.")
    say(f"\n{_ahead(found.outlook, found.currency)}")


def _ahead(ahead: Outlook, currency: str) -> str:
    share = "" if ahead.disputed is None else f", if {100 * ahead.disputed:.1f} % of the pairs are disputed as so far"
    said = f"Still to come: {ahead.needed:,} grades and about {ahead.further:,} further ones{share}."
    if ahead.stuck:
        said += f" Nobody who may work can give {ahead.stuck:,} of them just now: the page Progress says why."
    if ahead.hours is None:
        return f"{said} Hours cannot be told: {ahead.reason}."
    if not ahead.needed + ahead.further:
        return "Nothing is still to come."
    expected, low, high = ahead.hours
    cost = f", {ahead.cost[0]:,} {currency}" if ahead.cost else ""
    sure = f" ({ahead.reason})"
    if not ahead.reason:
        money = f", {ahead.cost[1]:,} to {ahead.cost[2]:,} {currency}" if ahead.cost else ""
        sure = f" (95 % interval {low:,.1f} to {high:,.1f} hours{money})"
    return f"{said} About {expected:,.1f} hours{cost} at {ahead.seconds:.1f} s a judgement{sure}."


def _or_dash(value: float | None) -> str:
    return "-" if value is None else f"{value:.0f}"


def _money(value: Decimal | None) -> str:
    return "-" if value is None else f"{value:,}"
