"""What waits for a lead and what bars people, in words, each with the way to where it is dealt with."""

from html import escape
from typing import NamedTuple

from annotate_app.language import marked, marked_n, tr
from annotate_app.pages import address
from annotate_app.session.addresses import full_path
from backend.campaign.monitoring.progress.model import Barred, WaitKind


class WayThere(NamedTuple):
    """Where something is dealt with: the page, what its address says, and what there is to do."""

    title: str
    asks: str
    act: str

    @property
    def link(self) -> str:
        """The way there, as HTML."""
        path = full_path(f"/{address(self.title)}{self.asks}")
        return f'<a href="{escape(path)}" target="_self">{escape(tr(self.act))}</a>'


WAITS: dict[WaitKind, tuple[tuple[str, str], WayThere]] = {
    WaitKind.DISCARDED: (
        marked_n(
            "{n} pair is discarded, and nobody has said whether that is right.",
            "{n} pairs are discarded, and nobody has said whether that is right.",
        ),
        WayThere("Disputes", "?show=discarded", marked("Decide")),
    ),
    WaitKind.NOTES: (
        marked_n("{n} note has no reply.", "{n} notes have no reply."),
        WayThere("Disputes", "?show=notes", marked("Reply")),
    ),
    WaitKind.SKIPPED: (
        marked_n("{n} pair was skipped, and is not settled.", "{n} pairs were skipped, and are not settled."),
        WayThere("Disputes", "?show=skipped", marked("Offer again")),
    ),
    WaitKind.BLOCKED: (
        marked_n(
            "{n} pair is blocked: its clip cannot be shown.", "{n} pairs are blocked: their clips cannot be shown."
        ),
        WayThere("Disputes", "?show=blocked", marked("Look at the clips")),
    ),
    WaitKind.BATCHES: (
        marked_n(
            "{n} query is through, and has a further batch.", "{n} queries are through, and have a further batch."
        ),
        WayThere("Queries", "?show=next", marked("Open or decline")),
    ),
    WaitKind.EXAM_FAILED: (
        marked_n("{n} annotator has not passed the exam.", "{n} annotators have not passed the exam."),
        WayThere("Exam", "", marked("Let try again, or exempt")),
    ),
    WaitKind.EXAM_ROUND: (
        marked_n(
            "{n} annotator has finished the exam, which has no key yet.",
            "{n} annotators have finished the exam, which has no key yet.",
        ),
        WayThere("Exam", "", marked("Fix the key")),
    ),
    WaitKind.REWRITES: (
        marked_n(
            "{n} caption waits for a decision on its rewrite.", "{n} captions wait for a decision on their rewrites."
        ),
        WayThere("Captions", "?part=rewrites", marked("Decide")),
    ),
    WaitKind.DESCRIPTIONS: (
        marked_n(
            "{n} description waits to be accepted or sent back.", "{n} descriptions wait to be accepted or sent back."
        ),
        WayThere("Captions", "?part=descriptions", marked("Review")),
    ),
    WaitKind.PAUSED: (
        marked_n("{n} annotator is paused.", "{n} annotators are paused."),
        WayThere("People", "", marked("Look at why")),
    ),
    WaitKind.GOLD: (
        marked_n("{n} annotator was warned by gold.", "{n} annotators were warned by gold."),
        WayThere("Gold", "", marked("Look at the answers")),
    ),
}
SHORT = {
    WaitKind.DISCARDED: marked("discarded"),
    WaitKind.NOTES: marked("notes without a reply"),
    WaitKind.SKIPPED: marked("skipped"),
    WaitKind.BLOCKED: marked("blocked"),
    WaitKind.BATCHES: marked("next batches"),
    WaitKind.EXAM_FAILED: marked("failed the exam"),
    WaitKind.EXAM_ROUND: marked("finished the exam"),
    WaitKind.REWRITES: marked("undecided rewrites"),
    WaitKind.DESCRIPTIONS: marked("descriptions to review"),
    WaitKind.PAUSED: marked("paused"),
    WaitKind.GOLD: marked("warned by gold"),
}
"""In a short line, after the count."""
OUT: dict[Barred, tuple[tuple[str, str], WayThere]] = {
    Barred.PAUSED: (
        marked_n("{who} is paused, else they could grade {which}.", "{who} are paused, else they could grade {which}."),
        WayThere("People", "", marked("Let go on")),
    ),
    Barred.EXAM: (
        marked_n(
            "{who} has not passed the exam, else they could grade {which}.",
            "{who} have not passed the exam, else they could grade {which}.",
        ),
        WayThere("Exam", "", marked("Look at the exam")),
    ),
    Barred.QUOTA: (
        marked_n(
            "{who} has reached a quota, else they could grade {which}.",
            "{who} have reached a quota, else they could grade {which}.",
        ),
        WayThere("People", "?part=assignments", marked("Change the quota")),
    ),
    Barred.ASSIGNED: (
        marked_n(
            "{who} is assigned to other queries, else they could grade {which}.",
            "{who} are assigned to other queries, else they could grade {which}.",
        ),
        WayThere("People", "?part=assignments", marked("Change the assignment")),
    ),
    Barred.SKIPPED: (
        marked_n(
            "{who} skipped them, else they could grade {which}.", "{who} skipped them, else they could grade {which}."
        ),
        WayThere("Disputes", "?show=skipped", marked("Offer again")),
    ),
    Barred.SUSPENDED: (
        marked_n(
            "{who} is suspended, else they could grade {which}.", "{who} are suspended, else they could grade {which}."
        ),
        WayThere("People", "", marked("Reinstate")),
    ),
}
