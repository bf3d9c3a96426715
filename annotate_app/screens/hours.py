"""The lead's page "Hours": hours worked and their cost for payroll, and an estimate for the remaining work."""

import time
from collections.abc import Sequence
from datetime import date, timedelta
from functools import partial
from html import escape

import streamlit as st

from annotate_app.language import marked, tr, translate_message, trn
from annotate_app.plain import plain
from annotate_app.session.addresses import full_path
from annotate_app.shared import address_state, look, wording
from annotate_app.shared.day_chart import stacked_days
from backend.campaign.monitoring.hours.report import hours, payroll_csv
from backend.campaign.monitoring.hours.rules import HoursReport, Outlook, PersonHours
from backend.core.days import last_days
from backend.core.errors import ReelRankError

PERIODS = (marked("Last 30 days"), marked("This month"), marked("Last month"), marked("All days"))
_DAYS = 30
_COUNTED = marked(
    "**Counted** is the active time of grades, corrections, exam answers, gold answers and descriptions. "
    "Active time starts with the first frame of a clip. It stops in a hidden tab, and after 30 s without "
    "input.\n\n**Not counted** are the time between clips, the guideline, practice, idle time, and grades "
    "without a measured time. Simulated and imported judgements are left out. A day starts at the server's "
    "midnight.\n\nPay is rounded for each person and day. Sums add up these rounded amounts, as the file does."
)


def page() -> None:
    """Draw the hours and pay of a chosen period by day and annotator, with a CSV download; then the remaining work."""
    project, lead, _ = look.lead_page("Hours")
    periods = {name: tr(name) for name in PERIODS}
    period = address_state.choice(tr("Period"), "period", periods, label_visibility="collapsed")
    first, last = bounds(period, time.time())
    try:
        report = hours(project, lead, first=first, last=last)
    except ReelRankError as refusal:
        st.error(plain(translate_message(refusal)))
        return
    _sums(report)
    if report.people:
        _days(report, first, last)
        st.header(tr("Annotators"), anchor=False)
        st.html(people_table(report.people, report.currency))
        file = f"hours-{report.days[0].day}-to-{report.days[-1].day}.csv"
        make = partial(payroll_csv, report.days, report.currency)
        look.csv_download(tr("Download for payroll (CSV)"), make, file, "hours_csv", ":material/download:")
    else:
        st.info(tr("No work in this period. Hours appear after the first grade."))
    for text in remarks(report):
        st.markdown(text)
    st.header(tr("Still to come"), anchor=False)
    st.markdown(plain(outlook_text(report.outlook, report.currency)))
    with st.expander(tr("What counts as working time")):
        st.markdown(tr(_COUNTED))


def bounds(period: str, now: float) -> tuple[str | None, str | None]:
    """Return the first and last day (`2026-03-14`) of a period such as `Last month`, in the server's time zone.

    `period` is one of `PERIODS`, and `now` is in seconds since 1970. None stands for no limit.

    >>> bounds("All days", 0.0)
    (None, None)
    """
    days = last_days(now, _DAYS)
    today = date.fromisoformat(days[-1])
    if period == PERIODS[0]:
        return days[0], days[-1]
    if period == PERIODS[1]:
        return today.replace(day=1).isoformat(), days[-1]
    if period == PERIODS[2]:
        last = today.replace(day=1) - timedelta(days=1)
        return last.replace(day=1).isoformat(), last.isoformat()
    return None, None


def people_table(people: Sequence[PersonHours], currency: str) -> str:
    """Return an HTML table of each annotator's days, judgements, active hours, judgements an hour, and pay.

    Hours have bars, and the most hours have the longest bar.
    """
    most = max(max(person.hours for person in people), 1e-9)
    rows = [
        (
            escape(person.name),
            f"{person.days:,}",
            f"{person.judgements:,}",
            look.bar(person.hours, most, form=",.2f"),
            tr("not measured") if person.an_hour is None else f"{person.an_hour:,.0f}",
            "" if person.pay is None else f"{person.pay:,}",
        )
        for person in people
    ]
    head = (
        tr("Annotator"),
        tr("Days"),
        tr("Judgements"),
        tr("Active hours"),
        tr("Judgements an hour"),
        tr("Pay, {currency}", currency=escape(currency)),
    )
    return look.table(head, rows, "rr-hours")


def remarks(report: HoursReport) -> list[str]:
    """Return sentences about the hourly rates, grades without a measured time, and grades that are not counted."""
    texts = []
    if report.rate is not None:
        own = (
            tr(", and {rates} of single annotators", rates=wording.count_of(len(report.own_rates), "rate"))
            if report.own_rates
            else ""
        )
        texts.append(
            tr(
                "{rate:g} {currency} an hour{own}, as set on [Settings]({path}).",
                rate=report.rate,
                currency=plain(report.currency),
                own=own,
                path=full_path("/settings"),
            )
        )
    elif not report.own_rates:
        texts.append(tr("No hourly rate set. Set one on [Settings]({path}).", path=full_path("/settings")))
    else:
        texts.append(
            tr(
                "Some annotators have no hourly rate, so the sums show no pay. Set a rate for everybody on "
                "[Settings]({path}).",
                path=full_path("/settings"),
            )
        )
    texts += [
        tr(
            "Settings has a rate for {name}, but no annotator has this name. Correct it on Settings.",
            name=plain(name),
        )
        for name in report.unknown_rates
    ]
    unmeasured = sum(day.unmeasured for day in report.days)
    if unmeasured:
        texts.append(
            trn(
                "{n} grade without a measured time counts as 0 hours.",
                "{n} grades without a measured time count as 0 hours.",
                unmeasured,
            )
        )
    for count, which in ((report.simulated, "simulated"), (report.imported, "imported")):
        if count:
            texts.append(tr("Not counted: {judgements}.", judgements=wording.count_of(count, f"{which} judgement")))
    return texts


def outlook_text(outlook: Outlook, currency: str) -> str:
    """Return sentences with the number of grades still needed and, if they can be estimated, the hours and the cost."""
    if not outlook.needed + outlook.further:
        return tr("Nothing is left to grade: every open pair has its grades.")
    sentence = tr(
        "{grades} left until every open pair has its grades", grades=wording.count_of(outlook.needed, "grade")
    )
    if outlook.disputed is None:
        sentence += tr(". Disputed pairs will need more; how many is not known yet.")
    else:
        share = wording.percent(100 * outlook.disputed)
        sentence += tr(
            ", and about {further:,} more if {share} of the pairs are disputed, as so far.",
            further=outlook.further,
            share=share,
        )
    if outlook.stuck:
        sentence += tr(" Nobody is left to give {stuck:,} of them. See Progress.", stuck=outlook.stuck)
    if outlook.hours is None or outlook.seconds is None:
        return tr("{text} No estimate of the time: {reason}.", text=sentence, reason=outlook.reason)
    expected, low, high = outlook.hours
    money = f", {outlook.cost[0]:,} {currency}" if outlook.cost else ""
    sentence += tr(
        " At {seconds:.1f} s a judgement, that takes about {expected:,.1f} hours{money}",
        seconds=outlook.seconds,
        expected=expected,
        money=money,
    )
    if outlook.reason:
        return f"{sentence} ({translate_message(outlook.reason)})."
    cost = (
        tr(", {low:,} to {high:,} {currency}", low=outlook.cost[1], high=outlook.cost[2], currency=currency)
        if outlook.cost
        else ""
    )
    return tr(
        "{text} (95 % interval: {low:,.1f} to {high:,.1f} hours{cost}).", text=sentence, low=low, high=high, cost=cost
    )


def _sums(report: HoursReport) -> None:
    judgements = sum(person.judgements for person in report.people)
    judging = sum(day.judging_ms for day in report.days) / 3_600_000
    outlook = report.outlook
    values = {
        tr("Active hours"): (
            f"{report.hours:,.1f}",
            tr("All annotators in this period. What counts is explained below."),
        ),
        tr("Pay, {currency}", currency=report.currency): (
            tr("no rate") if report.pay is None else f"{report.pay:,}",
            tr("At today's rates."),
        ),
        tr("Judgements an hour"): (
            f"{judgements / judging:,.0f}" if judging else tr("none yet"),
            tr("First grades per hour of judging."),
        ),
        tr("Still to come"): (
            tr("unknown") if outlook.hours is None else f"{outlook.hours[0]:,.1f} h",
            tr("Hours until every open pair has its grades, at the pace so far."),
        ),
        tr("Cost to come"): (
            tr("unknown") if outlook.cost is None else f"{outlook.cost[0]:,}",
            tr("At the hourly cost so far."),
        ),
    }
    with st.container(key="hours-numbers"):
        look.metrics(values)


def _days(report: HoursReport, first: str | None, last: str | None) -> None:
    begins, ends = (date.fromisoformat(day) for day in (first or report.days[0].day, last or report.days[-1].day))
    days = [(begins + timedelta(days=n)).isoformat() for n in range((ends - begins).days + 1)]
    shown = [(day.day, day.name, day.hours) for day in report.days]
    stacked_days(days, shown, tr("Bars: {hours:,.1f} active hours by day and person", hours=report.hours))
