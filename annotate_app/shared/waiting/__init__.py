"""Show leads the work that waits for them and the pairs that the team cannot finish, on pages and in the menu.

The counts in the menu stay up to date on every page. The browser requests the route `/lead/waiting` every few seconds,
and at once when its tab becomes visible. A style sheet draws the counts beside the titles without rerunning the page,
so no dialog closes and no input is lost.
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
from backend.campaign.monitoring.progress.model import Forecast, Stuck, Wait, WaitKind, WorkAhead
from backend.campaign.nouns import FIRST_ROUND_SEATS, Person
from backend.campaign.setup.project.folder import Project

REFRESH_S = 15
"""Seconds between two checks for changes."""
_SPARED = 30
"""Counts are reused for this multiple of the time that counting took: while many people grade, they always change."""
_ORDINALS = ("", marked("first"), marked("second"), marked("third"), marked("fourth"), marked("fifth"), marked("sixth"))
_INVITE = WayThere("People", "", marked("Invite annotators"))
_STUCK = WayThere("Queries", "?show=stuck", marked("Show stuck queries"))
_DECIDE = WayThere("Disputes", "?show=escalated", marked("Adjudicate"))
_NAMES = 3
"""Largest number of people that a sentence names; the others are counted."""
MORE_COUNTS: list[Callable[[Project, Person], dict[str, str]]] = []
"""Functions that return further menu counts by page title; the server adds its own."""
_HERE = Path(__file__).parent
_mount = st.components.v2.component(
    "reelrank_menu_counts",
    html='<div class="rr-menu-counts" hidden></div>',
    js=joined(_HERE, ("../../shared/full_path.js", "../../shared/keyboard.js", "menu_counts.js")),
    isolate_styles=False,
)


class Line(NamedTuple):
    """A sentence and a link to the page where a lead can act (`place`, None for none).

    A line with `below` belongs to the line before it. `note` is a second, smaller line of text.
    """

    text: str
    place: WayThere | None
    below: bool = False
    note: str = ""


def wait_lines(waits: Iterable[Wait], timezone: str | None = None) -> list[Line]:
    """Return a line for each kind of work that waits for a lead: how much, from whom, and when the newest arrived."""
    return [wait_line(wait, timezone) for wait in waits]


def wait_line(wait: Wait, timezone: str | None = None) -> Line:
    """Return the line for one kind of work that waits for a lead, such as notes without a reply."""
    words, place = WAITS[wait.kind]
    parts = [f"“{isolated(wait.quote)}”"] if wait.quote else []
    parts += [names(wait.who)] if wait.who else []
    parts += [tr(CURES[wait.kind])] if wait.kind in CURES else []
    parts += [] if wait.newest is None else [wording.when(wait.newest, timezone)]
    return Line(trn(*words, wait.count), place, note=" · ".join(parts))


def stuck_lines(ahead: WorkAhead) -> list[Line]:
    """Return lines that say which grades the current team cannot give, and why. Links lead to what would help."""
    lines = []
    for stuck in ahead.stuck:
        lines += lines_of(stuck)
    if ahead.stuck:
        lines.append(Line(tr("Open a query to see which of its pairs are stuck."), _STUCK, below=True))
    remaining = ahead.forecast
    if remaining.over_quota:
        text = trn("{n} grade exceeds the quotas.", "{n} grades exceed the quotas.", remaining.over_quota)
        lines.append(Line(text, WayThere("People", "?part=assignments", marked("Change the quotas"))))
    if remaining.disputes:
        text = trn(
            "About {n} more pair will be disputed at this rate, and needs {lack}.",
            "About {n} more pairs will be disputed at this rate, and need {lack}.",
            remaining.disputes,
            lack=_needed(remaining.disputes_lack),
        )
        lines.append(Line(text, _INVITE))
    return lines


def lines_of(stuck: Stuck, suffix: str = "") -> list[Line]:
    """Return a line that says why the current team cannot finish some pairs, and lines about what would help.

    `suffix` is added to the first line.
    """
    lines = [Line(f"{_stuck_sentence(stuck)}{suffix}", _INVITE), *_ways_out(stuck)]
    if min(stuck.places) > max(FIRST_ROUND_SEATS):
        text = trn("You can also adjudicate it yourself.", "You can also adjudicate them yourself.", stuck.pairs)
        lines.append(Line(text, _DECIDE, below=True))
    return lines


def forecast(ahead: WorkAhead) -> str:
    """Return a few words that say how soon all grading may be finished, or that the team cannot finish it."""
    outlook = ahead.forecast
    if not ahead.needed:
        return tr("nothing is left")
    if outlook.stuck or outlook.over_quota or outlook.disputes or (outlook.idle and outlook.days is not None):
        return tr("cannot finish")
    if outlook.exam:
        return tr("after the exam")
    return tr("unknown") if outlook.days is None else days(outlook)


def unfinished_reason(ahead: WorkAhead) -> str:
    """Return why the current team cannot finish all grading, and how long the work that it can do takes.

    Return "" if the team can finish.
    """
    if forecast(ahead) != tr("cannot finish"):
        return ""
    outlook = ahead.forecast
    reasons = []
    if outlook.stuck:
        reasons.append(
            trn("{n} grade has nobody left to give it", "{n} grades have nobody left to give them", outlook.stuck)
        )
    if outlook.over_quota:
        reasons.append(trn("{n} grade exceeds the quotas", "{n} grades exceed the quotas", outlook.over_quota))
    if outlook.idle:
        reasons.append(
            trn(
                "{n} grade can only come from annotators who gave none in the last seven days",
                "{n} grades can only come from annotators who gave none in the last seven days",
                outlook.idle,
            )
        )
    if outlook.disputes:
        reasons.append(tr("further disputes will lack annotators"))
    rest = "" if outlook.days is None else " " + tr("The rest takes {days}.", days=days(outlook))
    return tr("Can't finish with the current team: {reasons}.", reasons=tr(", and ").join(reasons)) + rest


def days(outlook: Forecast) -> str:
    """Return the remaining days of a forecast in words: `about 3 days`, `less than a day`."""
    remaining = outlook.days or 0.0
    if remaining < 1:
        return tr("less than a day")
    return tr("about {days}", days=wording.count_of(math.ceil(round(remaining, 3)), "day"))


def list_of(lines: Sequence[Line]) -> str:
    """Return the lines as an HTML list. Each entry ends with the line's link."""
    rows = "".join(
        f"<li{' class=rr-below' if line.below else ''}><span>{escape(line.text)}"
        f"{f'<small>{escape(line.note)}</small>' if line.note else ''}</span>"
        f"{line.place.link if line.place else ''}</li>"
        for line in lines
    )
    return f"<ul class='rr-waits'>{rows}</ul>"


def current_counts(project: Project, lead: Person) -> "Counted":
    """Return the work that waits for leads and the pairs that the team cannot finish, from the cache if it is current.

    They are counted again after a change, but not too often. If a count took one second, the next one is made 30
    seconds later at the earliest.
    """
    version, now = progress.work_version(project, lead), time.time()
    counted = _kept.get(project.folder)
    if counted is None or (counted.version != version and not 0 <= now - counted.at < _SPARED * counted.took_s):
        began = time.perf_counter()
        waits, stuck = inbox.waits(project, lead), progress.stuck(project, lead)
        counted = keep(project, Counted(version, now, waits, stuck, time.perf_counter() - began))
    return counted


def keep(project: Project, counted: "Counted") -> "Counted":
    """Store new counts of the work that waits for leads in the cache that all pages use, and return them."""
    drop_counts()  # drops older counts: a server serves one project
    _kept[project.folder] = counted
    return counted


def drop_counts() -> None:
    """Empty the cache of counts of the work that waits for leads, so that the next page counts again."""
    _kept.clear()


def counts(waits: Iterable[Wait], stuck: Iterable[Stuck]) -> dict[str, str]:
    """Return the number of waiting tasks for each page of the menu, as text by the page's title.

    A group of pages has an entry with the sum over its pages. The entry "Progress" has the number of pairs that the
    team cannot finish or, if there are none, the number of kinds of waiting tasks.
    """
    totals: dict[str, int] = {}
    kinds = 0
    for wait in waits:
        kinds += 1
        if wait.kind is not WaitKind.TEAM:  # it counts pairs, and the page People has none
            title = WAITS[wait.kind][1].title
            totals[title] = totals.get(title, 0) + wait.count
    for page in PAGES:
        if page.group and page.title in totals:
            totals[page.group] = totals.get(page.group, 0) + totals[page.title]
    texts = {title: f"{count:,}" for title, count in totals.items()}
    if pairs := sum(entry.pairs for entry in stuck):
        return {**texts, "Progress": tr("{pairs:,} stuck", pairs=pairs)}
    return {**texts, "Progress": f"{kinds:,}"} if kinds else texts


@partial(auth.fragment, run_every=REFRESH_S)
def line(project: Project, lead: Person) -> None:
    """Draw a line that sums up the work that waits for leads and the pairs that the team cannot finish.

    The line updates itself.
    """
    counted = current_counts(project, lead)
    parts = [WAITS[entry.kind][1]._replace(act=trn(*SHORT[entry.kind], entry.count)).link for entry in counted.waits]
    sentences = [tr("Waits for you: {parts}.", parts=", ".join(parts))] if parts else []
    if pairs := sum(entry.pairs for entry in counted.stuck):
        place = WayThere("Progress", "", marked("Show why"))
        sentence = trn("{n} pair is stuck.", "{n} pairs are stuck.", pairs)
        sentences.append(f"<b>{sentence}</b> {place.link}")
    if sentences:
        st.html(f"<p class='rr-waiting'>{' '.join(sentences)}</p>")


class Counted(NamedTuple):
    """The work that waits for leads, and the pairs that the team cannot finish, as counted at one time.

    Attributes:
        version: texts that change whenever the work changes, from `progress.work_version`.
        at: time of the count, in seconds since 1970.
        waits: the waiting work.
        stuck: the pairs that the team cannot finish.
        took_s: seconds that counting took.
    """

    version: tuple[str, ...]
    at: float
    waits: tuple[Wait, ...]
    stuck: tuple[Stuck, ...]
    took_s: float


_kept: dict[Path, Counted] = {}


def _stuck_sentence(stuck: Stuck) -> str:
    return trn(
        "{n} pair is stuck: it needs {lack} for the {which} grade.",
        "{n} pairs are stuck: they need {lack} for the {which} grade.",
        stuck.pairs,
        which=tr(" and ").join(tr(_ORDINALS[place]) for place in stuck.places),
        lack=_needed(stuck.lacking),
    )


def _ways_out(stuck: Stuck) -> Iterable[Line]:
    for why, who, pairs in stuck.ways_out:
        words, place = OUT[why]
        which = tr("it") if stuck.pairs == 1 else tr("all of them") if pairs == stuck.pairs else _of_them(pairs)
        yield Line(trn(*words, len(who), who=names(who), which=which), place, below=True)


def names(who: Sequence[str]) -> str:
    """List up to three names, and the number of the others: `Ana, Ben, Cem and 2 others`."""
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
    """Draw counts of waiting work in the menu, and keep them up to date."""
    groups = {tr(group): [f"/{page.address}" for page in pages] for group, pages in GROUPS.items()}
    answer = menu_answer(project, lead)
    _mount(key="menu-counts", data={"told": answer, "groups": groups, "every_ms": 1000 * REFRESH_S})


def menu_answer(project: Project, lead: Person) -> dict[str, object]:
    """Return the answer of the route `/lead/waiting`, from which browsers update the counts in the menu.

    `at` is the time of the count, in seconds since 1970. `counts` maps the path of a page, or the title of a group of
    pages in the reader's language, to its count as text.
    """
    counted = current_counts(project, lead)
    by_title = counts(counted.waits, counted.stuck)
    for more in MORE_COUNTS:
        for title, text in more(project, lead).items():
            by_title[title] = ", ".join(filter(None, (by_title.get(title), text)))
    return {"at": counted.at, "counts": {_place(title): count for title, count in by_title.items()}}


def _place(title: str) -> str:
    return tr(title) if title in GROUPS else f"/{address(title)}"
