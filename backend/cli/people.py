"""Commands for users: `reelrank users add|remove|tokens|flags|hours`."""

import shlex
import sys
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from backend.api import open_project
from backend.campaign.monitoring.hours.rules import HoursReport, Outlook
from backend.campaign.monitoring.quality.model import FLAG_NAMES, Flag, PersonFlags
from backend.campaign.nouns import OPERATOR, Role
from backend.cli.commands import add_group
from backend.cli.options import Dir, FirstDay, Json, LastDay, argument, day_of, option
from backend.cli.output import (
    counted,
    end_with_json,
    fail,
    first_of,
    json_text,
    minute,
    now,
    save,
    say,
    say_each,
    table,
    tell_written,
)
from backend.core.typed_text import name_key

if TYPE_CHECKING:
    from backend.campaign.setup.project.folder import Project


def add(
    folder: Dir,
    name: Annotated[str, argument("NAME", "Name to sign in with.")],
    role: Annotated[Role, option("--role", "What the user may do.")],
    password_stdin: Annotated[
        bool, option("--password-stdin", "Read the password from standard input instead of printing a link.")
    ] = False,
    url: Annotated[
        str | None,
        option("--url", "Address of the web app. Default: public_address, or where it was last served."),
    ] = None,
) -> None:
    """Add an annotator or a lead, and print a one-time link.

    The new user opens the link to choose a password.

    Example: reelrank users add my-project Ana --role annotator
    """
    from backend.campaign.setup.people.accounts import add_person, add_person_with_password
    from backend.campaign.setup.serving.server import invitation_link

    project = open_project(folder)
    if password_stdin:
        password = sys.stdin.readline().rstrip("\r\n")
        add_person_with_password(project, OPERATOR, name, role, password, now=now())
        say(f"{name} can sign in as {role.value}.")
        return
    token = add_person(project, OPERATOR, name, role, now=now())
    serve = f"reelrank serve {shlex.quote(str(folder))}"
    say(f"Send {name} this link. It works once, within two weeks, while `{serve}` runs:")
    say(invitation_link(project, OPERATOR, token, address=url))


def remove(folder: Dir, name: Annotated[str, argument("NAME", "Name of the user.")]) -> None:
    """Remove a user, or archive one whose work is on record.

    The user can no longer sign in, and leaves all lists. Judgements and everything else on record stay. Leads can
    bring archived users back on the page People.

    Example: reelrank users remove my-project Ana
    """
    from backend.campaign.judging.removal import remove_person
    from backend.campaign.setup.people.accounts import person_named

    project = open_project(folder)
    user = person_named(project, OPERATOR, name)
    if remove_person(project, OPERATOR, user.annotator_id, now=now()):
        say(f"{user.name} is archived. Their work stays on record.")
    else:
        say(f"{user.name} is removed.")


def tokens(
    folder: Dir,
    revoke: Annotated[str | None, option("--revoke KEY", "Revoke the token with this key.")] = None,
    json: Json = False,
) -> None:
    """List everybody's personal tokens, or revoke one.

    A token lets a program act as the person who made it on the page Account. The list shows keys. A key only
    names a token. Suspending somebody revokes all of their tokens.

    Example: reelrank users tokens my-project --revoke k3Jx0PqLm2Zd
    """
    from backend.campaign.setup.tokens import personal_tokens

    project = open_project(folder)
    if revoke is not None:
        name = personal_tokens.revoke_token(project, OPERATOR, revoke, now=now())
        say(f"The token {name} is revoked.")
        return
    known = personal_tokens.list_tokens(project, OPERATOR)
    if json:
        end_with_json({"tokens": known})
    if not known:
        say("Nobody has a token.")
        return
    rows = [
        (
            *(token.key, token.owner.name, token.name, token.scope.value, minute(token.expires_at)),
            "never" if token.used_at is None else minute(token.used_at),
        )
        for token in known
    ]
    table(("key", "user", "name", "scope", "expires", "last used"), rows, left=(True,) * 6)


def hours(
    folder: Dir,
    rate: Annotated[float | None, option("--rate", "Hourly pay, instead of the rate in reelrank.toml.", min=0)] = None,
    currency: Annotated[str | None, option("--currency", "Currency, such as USD.")] = None,
    first: FirstDay = None,
    last: LastDay = None,
    csv: Annotated[Path | None, option("--csv FILE", "Write a row per annotator and day, for payroll.")] = None,
    json: Json = False,
) -> None:
    """Show hours and pay so far, and how much is still to come.

    Hours count active time on clips, including the exam, gold questions and descriptions. Idle time does not count,
    nor does time that was not measured.

    Example: reelrank users hours my-project --rate 11 --currency USD --csv march.csv --from 2026-03-01 --to 2026-03-31
    """
    from backend.campaign.monitoring.hours import report

    days = {"first": day_of(first, "--from"), "last": day_of(last, "--to")}
    figures = report.hours(open_project(folder), OPERATOR, **days, rate=rate, currency=currency)
    if csv is not None:
        save(csv, report.payroll_csv(figures.days, figures.currency))
    if json:
        say(json_text(figures))
        tell_written([csv], data=True)
        return
    _print_hours(figures)
    if csv is not None:
        say(f"\nWritten: {csv}, a row per annotator and day.")


def _print_hours(figures: HoursReport) -> None:
    if figures.people:
        rows = [
            (
                person.name,
                f"{person.days:,}",
                f"{person.judgements:,}",
                f"{person.hours:.2f}",
                "-" if person.an_hour is None else f"{person.an_hour:.0f}",
                _money(person.pay),
            )
            for person in figures.people
        ]
        judgements = sum(person.judgements for person in figures.people)
        rows.append(("together", "", f"{judgements:,}", f"{figures.hours:.2f}", "", _money(figures.pay)))
        table(("annotator", "days", "judgements", "hours", "an hour", figures.currency), rows)
    else:
        say("Nobody worked in this time.")
    if figures.rate is None and not figures.own_rates:
        say(
            "\nNo hourly rate set. Add hourly_rate under [pay] on the page Settings or in reelrank.toml, or use --rate."
        )
    say_each("\nreelrank.toml has a rate for {}, who is no annotator here.", figures.unknown_rates)
    for count, kind in ((figures.simulated, "simulated"), (figures.imported, "imported")):
        if count:
            say(f"\nLeft out: {counted(count, f'{kind} judgement')}.")
    unmeasured = sum(day.unmeasured for day in figures.days)
    if unmeasured:
        say(f"\nGrades and answers without a measured time, and without pay: {unmeasured:,}.")
    say(f"\n{_ahead(figures.outlook, figures.currency)}")


def _ahead(ahead: Outlook, currency: str) -> str:
    share = "" if ahead.disputed is None else f", if {100 * ahead.disputed:.1f} % of the pairs are disputed as so far"
    remaining = f"Still to come: {counted(ahead.needed, 'grade')} and about {ahead.further:,} more{share}."
    if ahead.stuck:
        remaining += f" Nobody can give {ahead.stuck:,} of them now: see the page Progress."
    if ahead.hours is None:
        return f"{remaining} No estimate of the hours: {ahead.reason}."
    if not ahead.needed + ahead.further:
        return "Nothing is left to grade."
    expected, low, high = ahead.hours
    cost = f", {ahead.cost[0]:,} {currency}" if ahead.cost else ""
    sure = f" ({ahead.reason})"
    if not ahead.reason:
        money = f", {ahead.cost[1]:,} to {ahead.cost[2]:,} {currency}" if ahead.cost else ""
        sure = f" (95 % interval {low:,.1f} to {high:,.1f} hours{money})"
    return f"{remaining} About {expected:,.1f} hours{cost} at {ahead.seconds:.1f} s a judgement{sure}."


def _money(value: Decimal | None) -> str:
    return "-" if value is None else f"{value:,}"


SHOWN = 20
"""Number of pairs to print per flag."""


def flags(
    folder: Dir,
    person: Annotated[str | None, option("--person NAME", "Show everything about one annotator, with pairs.")] = None,
    json: Json = False,
) -> None:
    """Show each annotator's quality flags.

    Eight figures: too fast, clip not seen, one grade most of the time, bias, drift, falling agreement, skips, clips
    reported as broken. An exclamation mark means that a figure is worth a look, a dash that it is undefined.
    --person shows the number of grades behind each figure, and why one is undefined. A flag has no effect by itself.

    Example: reelrank users flags my-project
    """
    from backend.campaign.monitoring.quality import flags as quality_flags

    project = open_project(folder)
    people = quality_flags.flags(project, OPERATOR)
    if person is not None:
        people = [row for row in people if name_key(row.name) == name_key(person)]
        if not people:
            fail(f"there is no annotator named {person}: reelrank users flags without --person lists them")
    if json:
        end_with_json({"people": people})
    table(("annotator", "grades", *FLAG_NAMES.values()), [_row(row) for row in people])
    say("")
    for row in people:
        for flag in row.flags if person is not None else row.raised:
            say(f"{row.name}, {FLAG_NAMES[flag.kind].lower()}{' (!)' if flag in row.raised else ''}: {flag.told}")
            if person is not None:
                _pairs(project, row, flag)
    if not any(row.raised for row in people):
        say("Nothing is flagged.")


def _row(row: PersonFlags) -> tuple[object, ...]:
    return (row.name, f"{row.grades:,}", *(f"{'! ' if flag in row.raised else ''}{flag.figure}" for flag in row.flags))


def _pairs(project: "Project", person: PersonFlags, flag: Flag) -> None:
    from backend.campaign.monitoring.quality import flags as quality_flags

    behind = quality_flags.flag_evidence(project, OPERATOR, person.annotator_id, flag.kind)
    if behind.pairs:
        say(f"  pairs: {first_of(behind.pairs, SHOWN)}")
    if behind.by_number:
        say(f"  {counted(behind.by_number, 'pair')} known by number only")


add_group(
    "users",
    "Add and remove users; show flags, hours, pay and tokens.",
    "add my-project Ana --role annotator",
    {"add": add, "remove": remove, "tokens": tokens, "flags": flags, "hours": hours},
)
