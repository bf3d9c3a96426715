"""What waits for a lead, what is stuck and why: sentences that link to where it is dealt with, and counts in the menu.

The menu is up to date by itself, whatever page is open. The browser asks the route `/lead/waiting` now and then, and at
once when the tab is looked at again. The counts are drawn beside the titles by a style sheet, never by a run of the
page: no dialog closes, and nothing typed is lost.
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
from annotate_app.session import auth
from annotate_app.shared import joined, wording
from annotate_app.shared.ways import OUT, SHORT, WAITS, WayThere
from backend.campaign.monitoring.progress import progress
from backend.campaign.monitoring.progress.model import Ahead, Forecast, Stuck, Wait
from backend.campaign.nouns import Person
from backend.campaign.setup.project.folder import Project

REFRESH_S = 15
"""How often a page looks whether anything has changed."""
_SPARED = 30
"""Counts are not made anew sooner than in so many times what they took: while many people grade, something has always
changed."""
_ORDINALS = ("", marked("first"), marked("second"), marked("third"), marked("fourth"), marked("fifth"), marked("sixth"))
_INVITE = WayThere("People", "", marked("Invite somebody"))
_STUCK = WayThere("Queries", "?show=stuck", marked("Show these queries"))
_NAMES = 3
"""People named in one sentence; more are counted."""
MORE_COUNTS: list[Callable[[Project, Person], dict[str, str]]] = []
"""What else is told behind a title, by who knows: the server adds itself."""
_HERE = Path(__file__).parent
_mount = st.components.v2.component(
    "reelrank_menu_counts",
    html='<div class="rr-menu-counts" hidden></div>',
    js=joined(_HERE, ("../../shared/full_path.js", "../../shared/keyboard.js", "menu_counts.js")),
    isolate_styles=False,
)


class Line(NamedTuple):
    """A sentence, and where it leads; one `below` belongs to the one before it."""

    text: str
    place: WayThere | None
    below: bool = False


def wait_lines(waits: Iterable[Wait]) -> list[Line]:
    """What waits for a lead, a sentence each."""
    lines = []
    for kind, count in ((wait.kind, wait.count) for wait in waits):
        words, place = WAITS[kind]
        lines.append(Line(trn(*words, count), place))
    return lines


def stuck_lines(ahead: Ahead) -> list[Line]:
    """What cannot come to its end by itself, with why and what to do."""
    lines = []
    for one in ahead.stuck:
        lines += lines_of(one)
    if ahead.stuck:
        lines.append(Line(tr("Each of their queries says which of its pairs these are, and why."), _STUCK))
    left = ahead.forecast
    if left.over_quota:
        text = trn(
            "{n} grade is more than all quotas allow.", "{n} grades are more than all quotas allow.", left.over_quota
        )
        lines.append(Line(text, WayThere("People", "?part=assignments", marked("Change the quotas"))))
    if left.idle:
        text = tr(
            "{grades} can come only from people who gave none in the last seven days.",
            grades=wording.count_of(left.idle, "grade"),
        )
        lines.append(Line(text, None))
    if left.disputes:
        text = tr(
            "About {pairs} will be disputed, if as many are as so far: then {lack} needed.",
            pairs=wording.count_of(left.disputes, "pair"),
            lack=_needed(left.disputes_lack),
        )
        lines.append(Line(text, _INVITE))
    if ahead.set_aside:
        text = tr(
            "{pairs_are} set aside while an exam or a trial asks for them.",
            pairs_are=wording.pairs_are(ahead.set_aside),
        )
        lines.append(Line(text, WayThere("Exam", "", marked("Look"))))
    return lines


def lines_of(one: Stuck, told: str = "") -> list[Line]:
    """Why pairs are stuck, with `told` about them, and below it what would help."""
    return [Line(f"{_stuck(one)}{told}", _INVITE), *_ways_out(one)]


def forecast(ahead: Ahead) -> str:
    """When the work may be done, in a few words; never a date that nobody can reach."""
    found = ahead.forecast
    if not ahead.needed:
        return tr("nothing is left")
    if found.stuck or found.over_quota or found.disputes or (found.idle and found.days is not None):
        return tr("cannot finish")
    return tr("unknown") if found.days is None else days(found)


def why_not(ahead: Ahead) -> str:
    """Behind "cannot finish": the reasons as one sentence, and when the rest may be done; empty where it can."""
    if forecast(ahead) != tr("cannot finish"):
        return ""
    found = ahead.forecast
    reasons = []
    if found.stuck:
        reasons.append(tr("nobody who may work can give {grades}", grades=wording.count_of(found.stuck, "grade")))
    if found.over_quota:
        reasons.append(tr("quotas leave out {grades}", grades=wording.count_of(found.over_quota, "grade")))
    if found.idle:
        grades = wording.count_of(found.idle, "grade")
        reasons.append(tr("{grades} can come only from people without any pace", grades=grades))
    if found.disputes:
        reasons.append(tr("further disputes will find too few people"))
    rest = "" if found.days is None else " " + tr("The rest takes {days}.", days=days(found))
    return tr("Cannot finish: {reasons}.", reasons=tr(", and ").join(reasons)) + rest


def days(found: Forecast) -> str:
    """`about 3 days`, `less than a day`."""
    left = found.days or 0.0
    if left < 1:
        return tr("less than a day")
    return tr("about {days}", days=wording.count_of(math.ceil(round(left, 3)), "day"))


def list_of(lines: Sequence[Line]) -> str:
    """Sentences as a list, each with its link."""
    rows = "".join(
        f"<li{' class=rr-below' if line.below else ''}><span>{escape(line.text)}</span>"
        f"{line.place.link if line.place else ''}</li>"
        for line in lines
    )
    return f"<ul class='rr-waits'>{rows}</ul>"


def now_waiting(project: Project, lead: Person) -> "Counted":
    """What waits and what is stuck; counted anew only where something has changed, and not at every click."""
    version, now = progress.work_version(project, lead), time.time()
    kept = _kept.get(project.folder)
    if kept is None or (kept.version != version and not 0 <= now - kept.at < _SPARED * kept.took_s):
        began = time.perf_counter()
        waits, stuck = progress.waits(project, lead), progress.stuck(project, lead)
        kept = keep(project, Counted(version, now, waits, stuck, time.perf_counter() - began))
    return kept


def keep(project: Project, counted: "Counted") -> "Counted":
    """Let everybody else see what a page has just counted."""
    forget()  # a server serves one project
    _kept[project.folder] = counted
    return counted


def forget() -> None:
    """Count anew the next time, whatever has changed."""
    _kept.clear()


def counts(waits: Iterable[Wait], stuck: Iterable[Stuck]) -> dict[str, str]:
    """What stands behind the title of a page and of a group in the menu, by title."""
    found: dict[str, int] = {}
    for wait in waits:
        title = WAITS[wait.kind][1].title
        found[title] = found.get(title, 0) + wait.count
    for page in PAGES:
        if page.group and page.title in found:
            found[page.group] = found.get(page.group, 0) + found[page.title]
    told = {title: f"{count:,}" for title, count in found.items()}
    pairs = sum(one.pairs for one in stuck)
    return {**told, "Progress": tr("{pairs:,} stuck", pairs=pairs)} if pairs else told


@partial(auth.fragment, run_every=REFRESH_S)
def line(project: Project, lead: Person) -> None:
    """One short line of all that waits and is stuck, which keeps itself up to date."""
    kept = now_waiting(project, lead)
    parts = [WAITS[one.kind][1]._replace(act=f"{one.count:,} {tr(SHORT[one.kind])}").link for one in kept.waits]
    said = [tr("Waits for you: {parts}.", parts=", ".join(parts))] if parts else []
    if pairs := sum(one.pairs for one in kept.stuck):
        place = WayThere("Progress", "", marked("See why"))
        told = trn("{n} pair is stuck.", "{n} pairs are stuck.", pairs)
        said.append(f"<b>{told}</b> {place.link}")
    if said:
        st.html(f"<p class='rr-waiting'>{' '.join(said)}</p>")


class Counted(NamedTuple):
    """What waits and what is stuck `at` a time, the version of the work that it belongs to, and what counting took."""

    version: tuple[int, ...]
    at: float
    waits: tuple[Wait, ...]
    stuck: tuple[Stuck, ...]
    took_s: float


_kept: dict[Path, Counted] = {}


def _stuck(one: Stuck) -> str:
    return trn(
        "{n} pair waits for a {who} person: {lack} needed.",
        "{n} pairs wait for a {who} person: {lack} needed.",
        one.pairs,
        who=tr(" and ").join(tr(_ORDINALS[place]) for place in one.places),
        lack=_needed(one.lacking),
    )


def _ways_out(one: Stuck) -> Iterable[Line]:
    for why, names, pairs in one.ways_out:
        words, place = OUT[why]
        # One name more takes no more room than "1 other".
        more = len(names) - _NAMES
        shown = [*names[:_NAMES], wording.count_of(more, "other")] if more > 1 else list(names)
        which = tr("it") if one.pairs == 1 else tr("all of them") if pairs == one.pairs else _of_them(pairs)
        yield Line(trn(*words, len(names), who=_joined(shown), which=which), place, below=True)


def _of_them(pairs: int) -> str:
    return tr("{n:,} of them", n=pairs)


def _joined(names: Sequence[str]) -> str:
    if len(names) == 1:
        return names[0]
    return tr("{before} and {last}", before=", ".join(names[:-1]), last=names[-1])


def _needed(people: int) -> str:
    if people == 1:
        return tr("one more annotator is")
    return tr("{number} more annotators are", number=wording.number(people).lower())


def menu_counts(project: Project, lead: Person) -> None:
    """Puts the counts into the menu, and keeps them true."""
    groups = {tr(group): [f"/{page.address}" for page in pages] for group, pages in GROUPS.items()}
    told = menu_answer(project, lead)
    _mount(key="menu-counts", data={"told": told, "groups": groups, "every_ms": 1000 * REFRESH_S})


def menu_answer(project: Project, lead: Person) -> dict[str, object]:
    """What the route answers: counts by the path of a page or the name of a group, and their time (s since 1970)."""
    kept = now_waiting(project, lead)
    by_title = counts(kept.waits, kept.stuck)
    for more in MORE_COUNTS:
        by_title |= more(project, lead)
    return {"at": kept.at, "counts": {_place(title): count for title, count in by_title.items()}}


def _place(title: str) -> str:
    return tr(title) if title in GROUPS else f"/{address(title)}"
