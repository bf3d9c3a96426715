"""Say what waits for a lead and what is stuck, with links to where to deal with it; show the counts in the menu.

The menu stays up to date on every page. The browser asks the route `/lead/waiting` every few seconds, and at once when
its tab is shown again. A style sheet draws the counts beside the titles, not a run of the page: no dialog closes, and
nothing typed is lost.
"""

import math
import time
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from html import escape
from pathlib import Path
from typing import NamedTuple

import streamlit as st

from annotate_app.language import marked, tr, trn
from annotate_app.pages import GROUPS, PAGES, address
from annotate_app.plain import isolated
from annotate_app.session import auth
from annotate_app.shared import joined, wording
from annotate_app.shared.ways import CURES, OUT, SHORT, WAITS, WayThere
from backend.campaign.monitoring.progress import inbox, progress
from backend.campaign.monitoring.progress.model import Ahead, Forecast, Stuck, Wait, WaitKind
from backend.campaign.nouns import FIRST_ROUND_SEATS, Person
from backend.campaign.setup.project.folder import Project

REFRESH_S = 15
"""How often a page checks for changes."""
_SPARED = 30
"""Counts are kept for this many times what counting took: while many people grade, something has always changed."""
_ORDINALS = ("", marked("first"), marked("second"), marked("third"), marked("fourth"), marked("fifth"), marked("sixth"))
_INVITE = WayThere("People", "", marked("Invite annotators"))
_STUCK = WayThere("Queries", "?show=stuck", marked("Show stuck queries"))
_DECIDE = WayThere("Disputes", "?show=escalated", marked("Adjudicate"))
_NAMES = 3
"""How many people a sentence names; the others are counted."""
MORE_COUNTS: list[Callable[[Project, Person], dict[str, str]]] = []
"""Other sources of counts behind a title; the server adds its own."""
_HERE = Path(__file__).parent
_mount = st.components.v2.component(
    "reelrank_menu_counts",
    html='<div class="rr-menu-counts" hidden></div>',
    js=joined(_HERE, ("../../shared/full_path.js", "../../shared/keyboard.js", "menu_counts.js")),
    isolate_styles=False,
)


class Line(NamedTuple):
    """A sentence with its link; one `below` belongs to the line before it, and `note` is a second line in small."""

    text: str
    place: WayThere | None
    below: bool = False
    note: str = ""


def wait_lines(waits: Iterable[Wait], timezone: str | None = None) -> list[Line]:
    """Return a line for each thing that waits for a lead: how much, whom it is about, and since when."""
    return [wait_line(wait, timezone) for wait in waits]


def wait_line(wait: Wait, timezone: str | None = None) -> Line:
    """Return the line of one thing that waits."""
    words, place = WAITS[wait.kind]
    parts = [f"“{isolated(wait.quote)}”"] if wait.quote else []
    parts += [names(wait.who)] if wait.who else []
    parts += [tr(CURES[wait.kind])] if wait.kind in CURES else []
    parts += [] if wait.newest is None else [wording.when(wait.newest, timezone)]
    return Line(trn(*words, wait.count), place, note=" · ".join(parts))


def stuck_lines(ahead: Ahead) -> list[Line]:
    """Return what the team cannot finish, with why and what to do."""
    lines = []
    for one in ahead.stuck:
        lines += lines_of(one)
    if ahead.stuck:
        lines.append(Line(tr("Open a query to see which of its pairs are stuck."), _STUCK, below=True))
    left = ahead.forecast
    if left.over_quota:
        text = trn("{n} grade exceeds the quotas.", "{n} grades exceed the quotas.", left.over_quota)
        lines.append(Line(text, WayThere("People", "?part=assignments", marked("Change the quotas"))))
    if left.disputes:
        text = trn(
            "About {n} more pair will be disputed at this rate, and needs {lack}.",
            "About {n} more pairs will be disputed at this rate, and need {lack}.",
            left.disputes,
            lack=_needed(left.disputes_lack),
        )
        lines.append(Line(text, _INVITE))
    return lines


def lines_of(one: Stuck, told: str = "") -> list[Line]:
    """Return why pairs are stuck, with `told` about them, and below it what would help."""
    lines = [Line(f"{_stuck(one)}{told}", _INVITE), *_ways_out(one)]
    if min(one.places) > max(FIRST_ROUND_SEATS):
        text = trn("You can also adjudicate it yourself.", "You can also adjudicate them yourself.", one.pairs)
        lines.append(Line(text, _DECIDE, below=True))
    return lines


def forecast(ahead: Ahead) -> str:
    """Return when the work may be done, in a few words; never a date that nobody can reach."""
    found = ahead.forecast
    if not ahead.needed:
        return tr("nothing is left")
    if found.stuck or found.over_quota or found.disputes or (found.idle and found.days is not None):
        return tr("cannot finish")
    if found.exam:
        return tr("after the exam")
    return tr("unknown") if found.days is None else days(found)


def why_not(ahead: Ahead) -> str:
    """Return why the team cannot finish, and when the rest may be done; empty where it can finish."""
    if forecast(ahead) != tr("cannot finish"):
        return ""
    found = ahead.forecast
    reasons = []
    if found.stuck:
        reasons.append(
            trn("{n} grade has nobody left to give it", "{n} grades have nobody left to give them", found.stuck)
        )
    if found.over_quota:
        reasons.append(trn("{n} grade exceeds the quotas", "{n} grades exceed the quotas", found.over_quota))
    if found.idle:
        reasons.append(
            trn(
                "{n} grade can only come from annotators who gave none in the last seven days",
                "{n} grades can only come from annotators who gave none in the last seven days",
                found.idle,
            )
        )
    if found.disputes:
        reasons.append(tr("further disputes will lack annotators"))
    rest = "" if found.days is None else " " + tr("The rest takes {days}.", days=days(found))
    return tr("Can't finish with the current team: {reasons}.", reasons=tr(", and ").join(reasons)) + rest


def days(found: Forecast) -> str:
    """`about 3 days`, `less than a day`."""
    left = found.days or 0.0
    if left < 1:
        return tr("less than a day")
    return tr("about {days}", days=wording.count_of(math.ceil(round(left, 3)), "day"))


def list_of(lines: Sequence[Line]) -> str:
    """Return sentences as a list, each with its link."""
    rows = "".join(
        f"<li{' class=rr-below' if line.below else ''}><span>{escape(line.text)}"
        f"{f'<small>{escape(line.note)}</small>' if line.note else ''}</span>"
        f"{line.place.link if line.place else ''}</li>"
        for line in lines
    )
    return f"<ul class='rr-waits'>{rows}</ul>"


def now_waiting(project: Project, lead: Person) -> "Counted":
    """Return what waits and what is stuck; counted again only if something has changed, and not at every click."""
    version, now = progress.work_version(project, lead), time.time()
    kept = _kept.get(project.folder)
    if kept is None or (kept.version != version and not 0 <= now - kept.at < _SPARED * kept.took_s):
        began = time.perf_counter()
        waits, stuck = inbox.waits(project, lead), progress.stuck(project, lead)
        kept = keep(project, Counted(version, now, waits, stuck, time.perf_counter() - began))
    return kept


def keep(project: Project, counted: "Counted") -> "Counted":
    """Share what a page has just counted with all other pages."""
    forget()  # a server serves one project
    _kept[project.folder] = counted
    return counted


def forget() -> None:
    """Count again the next time, whether something has changed or not."""
    _kept.clear()


def counts(waits: Iterable[Wait], stuck: Iterable[Stuck]) -> dict[str, str]:
    """Return what stands behind the titles of pages and groups in the menu: how much waits there.

    Behind Progress is what is stuck, or how many things wait in its inbox while nothing is stuck.
    """
    found: dict[str, int] = {}
    kinds = 0
    for wait in waits:
        kinds += 1
        if wait.kind is not WaitKind.TEAM:  # pairs that wait, and nothing that is on the page People
            title = WAITS[wait.kind][1].title
            found[title] = found.get(title, 0) + wait.count
    for page in PAGES:
        if page.group and page.title in found:
            found[page.group] = found.get(page.group, 0) + found[page.title]
    told = {title: f"{count:,}" for title, count in found.items()}
    if pairs := sum(one.pairs for one in stuck):
        return {**told, "Progress": tr("{pairs:,} stuck", pairs=pairs)}
    return {**told, "Progress": f"{kinds:,}"} if kinds else told


@partial(auth.fragment, run_every=REFRESH_S)
def line(project: Project, lead: Person) -> None:
    """Show all that waits and is stuck in one line, which keeps itself up to date."""
    kept = now_waiting(project, lead)
    parts = [WAITS[one.kind][1]._replace(act=trn(*SHORT[one.kind], one.count)).link for one in kept.waits]
    said = [tr("Waits for you: {parts}.", parts=", ".join(parts))] if parts else []
    if pairs := sum(one.pairs for one in kept.stuck):
        place = WayThere("Progress", "", marked("Show why"))
        told = trn("{n} pair is stuck.", "{n} pairs are stuck.", pairs)
        said.append(f"<b>{told}</b> {place.link}")
    if said:
        st.html(f"<p class='rr-waiting'>{' '.join(said)}</p>")


class Counted(NamedTuple):
    """What waited and was stuck `at` a time, for which version of the work, and how long counting took."""

    version: tuple[int, ...]
    at: float
    waits: tuple[Wait, ...]
    stuck: tuple[Stuck, ...]
    took_s: float


_kept: dict[Path, Counted] = {}


def _stuck(one: Stuck) -> str:
    return trn(
        "{n} pair is stuck: it needs {lack} for the {which} grade.",
        "{n} pairs are stuck: they need {lack} for the {which} grade.",
        one.pairs,
        which=tr(" and ").join(tr(_ORDINALS[place]) for place in one.places),
        lack=_needed(one.lacking),
    )


def _ways_out(one: Stuck) -> Iterable[Line]:
    for why, who, pairs in one.ways_out:
        words, place = OUT[why]
        which = tr("it") if one.pairs == 1 else tr("all of them") if pairs == one.pairs else _of_them(pairs)
        yield Line(trn(*words, len(who), who=names(who), which=which), place, below=True)


def names(who: Sequence[str]) -> str:
    """Return up to three names, and the number of the others: `Ana, Ben, Cem and 2 others`."""
    more = len(who) - _NAMES
    # One name more takes no more room than "1 other".
    shown = [*map(isolated, who[:_NAMES]), wording.count_of(more, "other")] if more > 1 else list(map(isolated, who))
    return _joined(shown)


def _of_them(pairs: int) -> str:
    return tr("{n:,} of them", n=pairs)


def _joined(parts: Sequence[str]) -> str:
    if len(parts) == 1:
        return parts[0]
    return tr("{before} and {last}", before=", ".join(parts[:-1]), last=parts[-1])


def _needed(people: int) -> str:
    if people == 1:
        return tr("one more annotator")
    return tr("{number} more annotators", number=wording.number(people).lower())


def menu_counts(project: Project, lead: Person) -> None:
    """Put the counts into the menu, and keep them up to date."""
    groups = {tr(group): [f"/{page.address}" for page in pages] for group, pages in GROUPS.items()}
    told = menu_answer(project, lead)
    _mount(key="menu-counts", data={"told": told, "groups": groups, "every_ms": 1000 * REFRESH_S})


def menu_answer(project: Project, lead: Person) -> dict[str, object]:
    """Return the answer of the route: counts by path or group, and when they were made, in seconds since 1970."""
    kept = now_waiting(project, lead)
    by_title = counts(kept.waits, kept.stuck)
    for more in MORE_COUNTS:
        for title, told in more(project, lead).items():
            by_title[title] = ", ".join(filter(None, (by_title.get(title), told)))
    return {"at": kept.at, "counts": {_place(title): count for title, count in by_title.items()}}


def _place(title: str) -> str:
    return tr(title) if title in GROUPS else f"/{address(title)}"
