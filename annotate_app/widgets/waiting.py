"""What waits for a lead, what is stuck and why: sentences with the way to where it is dealt with, and counts."""

import math
import time
from collections.abc import Iterable, Sequence
from html import escape
from pathlib import Path
from typing import NamedTuple

import streamlit as st

from annotate_app.session import auth
from annotate_app.session.addresses import address
from annotate_app.widgets import wording
from backend import api
from backend.campaign.nouns import Person
from backend.campaign.steering.model import Ahead, Barred, Forecast, Stuck, Wait, WaitKind

REFRESH_S = 15
"""How often a page looks whether anything has changed."""
_SPARED = 30
"""Counts are not made anew sooner than in so many times what they took: while many people grade, something has always
changed."""


class WayThere(NamedTuple):
    """Where something is dealt with: the page, what its address says, and what there is to do."""

    title: str
    asks: str
    act: str

    @property
    def link(self) -> str:
        """The way there, as HTML."""
        return f'<a href="/{address(self.title)}{self.asks}" target="_self">{escape(self.act)}</a>'


_WAITS: dict[WaitKind, tuple[str, str, WayThere]] = {
    WaitKind.DISCARDED: (
        "pair is discarded, and nobody has said whether that is right",
        "pairs are discarded, and nobody has said whether that is right",
        WayThere("Disagreements", "?show=discarded", "Decide"),
    ),
    WaitKind.NOTES: ("note has no reply", "notes have no reply", WayThere("Disagreements", "?show=notes", "Reply")),
    WaitKind.SKIPPED: (
        "pair was skipped, and is not settled",
        "pairs were skipped, and are not settled",
        WayThere("Disagreements", "?show=skipped", "Offer again"),
    ),
    WaitKind.BLOCKED: (
        "pair is blocked: its clip cannot be shown",
        "pairs are blocked: their clips cannot be shown",
        WayThere("Disagreements", "?show=blocked", "Look at the clips"),
    ),
    WaitKind.BATCHES: (
        "query is through, and has a further batch",
        "queries are through, and have a further batch",
        WayThere("Queries", "?show=next", "Open or decline"),
    ),
    WaitKind.EXAM_FAILED: (
        "annotator has not passed the exam",
        "annotators have not passed the exam",
        WayThere("Exam", "", "Let try again, or exempt"),
    ),
    WaitKind.EXAM_ROUND: (
        "annotator has finished the exam, which has no key yet",
        "annotators have finished the exam, which has no key yet",
        WayThere("Exam", "", "Fix the key"),
    ),
    WaitKind.REWRITES: (
        "caption waits for a decision on its rewrite",
        "captions wait for a decision on their rewrites",
        WayThere("Rewrites", "", "Decide"),
    ),
    WaitKind.DESCRIPTIONS: (
        "description waits to be accepted or sent back",
        "descriptions wait to be accepted or sent back",
        WayThere("Descriptions", "", "Review"),
    ),
    WaitKind.PAUSED: ("annotator is paused", "annotators are paused", WayThere("People", "", "Look at why")),
    WaitKind.GOLD: (
        "annotator was warned by gold",
        "annotators were warned by gold",
        WayThere("Gold", "", "Look at the answers"),
    ),
}
_SHORT = {
    WaitKind.DISCARDED: "discarded",
    WaitKind.NOTES: "notes without a reply",
    WaitKind.SKIPPED: "skipped",
    WaitKind.BLOCKED: "blocked",
    WaitKind.BATCHES: "next batches",
    WaitKind.EXAM_FAILED: "failed the exam",
    WaitKind.EXAM_ROUND: "finished the exam",
    WaitKind.REWRITES: "undecided rewrites",
    WaitKind.DESCRIPTIONS: "descriptions to review",
    WaitKind.PAUSED: "paused",
    WaitKind.GOLD: "warned by gold",
}
"""In a short line, after the count."""
_OUT: dict[Barred, tuple[str, str, WayThere]] = {
    Barred.PAUSED: ("is paused", "are paused", WayThere("People", "", "Let go on")),
    Barred.EXAM: ("has not passed the exam", "have not passed the exam", WayThere("Exam", "", "Look at the exam")),
    Barred.QUOTA: ("has reached a quota", "have reached a quota", WayThere("People", "", "Change the quota")),
    Barred.ASSIGNED: (
        "is assigned to other queries",
        "are assigned to other queries",
        WayThere("People", "", "Change the assignment"),
    ),
    Barred.SKIPPED: ("skipped them", "skipped them", WayThere("Disagreements", "?show=skipped", "Offer again")),
    Barred.SUSPENDED: ("is suspended", "are suspended", WayThere("People", "", "Reinstate")),
}
_ORDINALS = ("", "first", "second", "third", "fourth", "fifth", "sixth")
_INVITE = WayThere("People", "", "Invite somebody")
_STUCK = WayThere("Queries", "?show=stuck", "Show these queries")
_NAMES = 3
"""People named in one sentence; more are counted."""


class Line(NamedTuple):
    """A sentence, and where it leads; one `below` belongs to the one before it."""

    text: str
    place: WayThere | None
    below: bool = False


def wait_lines(waits: Iterable[Wait]) -> list[Line]:
    """What waits for a lead, a sentence each."""
    lines = []
    for kind, count in ((wait.kind, wait.count) for wait in waits):
        one, many, place = _WAITS[kind]
        lines.append(Line(f"{count:,} {one if count == 1 else many}.", place))
    return lines


def stuck_lines(ahead: Ahead) -> list[Line]:
    """What cannot come to its end by itself, with why and what to do."""
    lines = []
    for one in ahead.stuck:
        lines += lines_of(one)
    if ahead.stuck:
        lines.append(Line("Each of their queries says which of its pairs these are, and why.", _STUCK))
    left = ahead.forecast
    if left.over_quota:
        text = f"{wording.count_of(left.over_quota, 'grade')} {_more(left.over_quota)} than all quotas allow."
        lines.append(Line(text, WayThere("People", "", "Change the quotas")))
    if left.idle:
        text = f"{wording.count_of(left.idle, 'grade')} can come only from people who gave none in the last seven days."
        lines.append(Line(text, None))
    if left.disputes:
        text = (
            f"About {wording.count_of(left.disputes, 'pair')} will be disputed, if as many are as so far: then "
            f"{_needed(left.disputes_lack)} needed."
        )
        lines.append(Line(text, _INVITE))
    if ahead.set_aside:
        aside = wording.pairs_are(ahead.set_aside)
        lines.append(Line(f"{aside} set aside while an exam or a trial asks for them.", WayThere("Exam", "", "Look")))
    return lines


def lines_of(one: Stuck, told: str = "") -> list[Line]:
    """Why pairs are stuck, with `told` about them, and below it what would help."""
    return [Line(f"{_stuck(one)}{told}", _INVITE), *_ways_out(one)]


def forecast(ahead: Ahead) -> str:
    """When the work may be done, in a few words; never a date that nobody can reach."""
    found = ahead.forecast
    if not ahead.needed:
        return "nothing is left"
    if found.stuck or found.over_quota or found.disputes or (found.idle and found.days is not None):
        return "cannot finish"
    return "unknown" if found.days is None else days(found)


def why_not(ahead: Ahead) -> str:
    """Behind "cannot finish": the reasons as one sentence, and when the rest may be done; empty where it can."""
    if forecast(ahead) != "cannot finish":
        return ""
    found = ahead.forecast
    reasons = []
    if found.stuck:
        reasons.append(f"nobody who may work can give {wording.count_of(found.stuck, 'grade')}")
    if found.over_quota:
        reasons.append(f"quotas leave out {wording.count_of(found.over_quota, 'grade')}")
    if found.idle:
        reasons.append(f"{wording.count_of(found.idle, 'grade')} can come only from people without any pace")
    if found.disputes:
        reasons.append("further disputes will find too few people")
    rest = "" if found.days is None else f" The rest takes {days(found)}."
    return f"Cannot finish: {', and '.join(reasons)}.{rest}"


def days(found: Forecast) -> str:
    """`about 3 days`, `less than a day`."""
    left = found.days or 0.0
    return "less than a day" if left < 1 else f"about {wording.count_of(math.ceil(round(left, 3)), 'day')}"


def list_of(lines: Sequence[Line]) -> str:
    """Sentences as a list, each with its link."""
    rows = "".join(
        f"<li{' class=rr-below' if line.below else ''}><span>{escape(line.text)}</span>"
        f"{line.place.link if line.place else ''}</li>"
        for line in lines
    )
    return f"<ul class='rr-waits'>{rows}</ul>"


def now_waiting(project: api.Project, lead: Person) -> "Counted":
    """What waits and what is stuck; counted anew only where something has changed, and not at every click."""
    version, now = api.work_version(project, lead), time.time()
    kept = _kept.get(project.folder)
    if kept is None or (kept.version != version and not 0 <= now - kept.at < _SPARED * kept.took_s):
        began = time.perf_counter()
        waits, stuck = api.waits(project, lead), api.stuck(project, lead)
        kept = keep(project, Counted(version, now, waits, stuck, time.perf_counter() - began))
    return kept


def keep(project: api.Project, counted: "Counted") -> "Counted":
    """Let everybody else see what a page has just counted."""
    forget()  # a server serves one project
    _kept[project.folder] = counted
    return counted


def forget() -> None:
    """Count anew the next time, whatever has changed."""
    _kept.clear()


def counts(waits: Iterable[Wait], stuck: Iterable[Stuck]) -> dict[str, str]:
    """What stands behind a page's title in the menu, by title."""
    found: dict[str, int] = {}
    for wait in waits:
        title = _WAITS[wait.kind][2].title
        found[title] = found.get(title, 0) + wait.count
    told = {title: f"{count:,}" for title, count in found.items()}
    pairs = sum(one.pairs for one in stuck)
    return {**told, "Progress": f"{pairs:,} stuck"} if pairs else told


@st.fragment(run_every=REFRESH_S)
def line(project: api.Project, lead: Person) -> None:
    """One short line of all that waits and is stuck, which keeps itself up to date."""
    if auth.current() is None:
        st.rerun()
    kept = now_waiting(project, lead)
    parts = [_WAITS[one.kind][2]._replace(act=f"{one.count:,} {_SHORT[one.kind]}").link for one in kept.waits]
    said = [f"Waits for you: {', '.join(parts)}."] if parts else []
    if pairs := sum(one.pairs for one in kept.stuck):
        place = WayThere("Progress", "", "See why")
        said.append(f"<b>{wording.pairs_are(pairs)} stuck.</b> {place.link}")
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
    who = " and ".join(_ORDINALS[place] for place in one.places)
    waits = f"{wording.count_of(one.pairs, 'pair')} {'waits' if one.pairs == 1 else 'wait'} for a {who} person"
    return f"{waits}: {_needed(one.lacking)} needed."


def _ways_out(one: Stuck) -> Iterable[Line]:
    for why, names, pairs in one.ways_out:
        single, several, place = _OUT[why]
        # One name more takes no more room than "1 other".
        shown = [*names[:_NAMES], f"{len(names) - _NAMES:,} others"] if len(names) > _NAMES + 1 else list(names)
        who = shown[0] if len(shown) == 1 else f"{', '.join(shown[:-1])} and {shown[-1]}"
        which = "it" if one.pairs == 1 else "all of them" if pairs == one.pairs else f"{pairs:,} of them"
        yield Line(f"{who} {single if len(names) == 1 else several}, else they could grade {which}.", place, below=True)


def _needed(people: int) -> str:
    return "one more annotator is" if people == 1 else f"{wording.number(people).lower()} more annotators are"


def _more(count: int) -> str:
    return "is more" if count == 1 else "are more"
