"""The texts of what waits for a lead and of what keeps annotators from a pair, each with a link to its page."""

from html import escape
from typing import NamedTuple

from annotate_app.language import marked, marked_n, tr
from annotate_app.pages import address
from annotate_app.session.addresses import full_path
from backend.campaign.monitoring.progress.model import Barred, WaitKind


class WayThere(NamedTuple):
    """A link to where something is dealt with: the title of the page, its query string, and what to do there."""

    title: str
    asks: str
    act: str

    @property
    def link(self) -> str:
        """The link as HTML."""
        place = escape(full_path(f"/{address(self.title)}{self.asks}"))
        return f'<a href="{place}" target="_self">{escape(tr(self.act))}</a>'


WAITS: dict[WaitKind, tuple[tuple[str, str], WayThere]] = {
    WaitKind.DISCARDED: (
        marked_n("{n} discarded pair waits for your decision.", "{n} discarded pairs wait for your decision."),
        WayThere("Disputes", "?show=discarded", marked("Decide")),
    ),
    WaitKind.NOTES: (
        marked_n("{n} note has no reply.", "{n} notes have no reply."),
        WayThere("Disputes", "?show=notes", marked("Reply")),
    ),
    WaitKind.SKIPPED: (
        marked_n("{n} skipped pair is not settled.", "{n} skipped pairs are not settled."),
        WayThere("Disputes", "?show=skipped", marked("Review skips")),
    ),
    WaitKind.BLOCKED: (
        marked_n(
            "{n} pair is blocked: its clip cannot be shown.", "{n} pairs are blocked: their clips cannot be shown."
        ),
        WayThere("Disputes", "?show=blocked", marked("Check clips")),
    ),
    WaitKind.BATCHES: (
        marked_n("The rule recommends {n} further batch.", "The rule recommends {n} further batches."),
        WayThere("Queries", "?show=next", marked("Open or decline")),
    ),
    WaitKind.EXAM_FAILED: (
        marked_n("{n} annotator failed the exam.", "{n} annotators failed the exam."),
        WayThere("Exam", "", marked("Retake or exempt")),
    ),
    WaitKind.EXAM_ROUND: (
        marked_n(
            "{n} annotator finished the exam and waits for the result.",
            "{n} annotators finished the exam and wait for their results.",
        ),
        WayThere("Exam", "", marked("Close the round")),
    ),
    WaitKind.REWRITES: (
        marked_n("{n} rewritten caption waits for your decision.", "{n} rewritten captions wait for your decision."),
        WayThere("Captions", "?part=rewrites", marked("Decide")),
    ),
    WaitKind.DESCRIPTIONS: (
        marked_n("{n} description waits for your review.", "{n} descriptions wait for your review."),
        WayThere("Captions", "?part=descriptions", marked("Review")),
    ),
    WaitKind.PAUSED: (
        marked_n("{n} annotator is paused.", "{n} annotators are paused."),
        WayThere("People", "", marked("Resume")),
    ),
    WaitKind.GOLD: (
        marked_n(
            "{n} annotator was warned because of missed gold questions.",
            "{n} annotators were warned because of missed gold questions.",
        ),
        WayThere("Gold", "", marked("See the answers")),
    ),
    WaitKind.TEAM: (
        marked_n(
            "{n} pair waits for grades, but there are no annotators.",
            "{n} pairs wait for grades, but there are no annotators.",
        ),
        WayThere("People", "", marked("Invite annotators")),
    ),
    WaitKind.EXAM_KEY: (
        marked_n(
            "The exam has no answer key yet: grade its {n} pair yourself.",
            "The exam has no answer key yet: grade its {n} pairs yourself.",
        ),
        WayThere("Exam", "", marked("Answer it yourself")),
    ),
    WaitKind.EXAM_ANSWERS: (
        marked_n("{n} pair of the exam is not settled.", "{n} pairs of the exam are not settled."),
        WayThere("Exam", "", marked("Let the answers count")),
    ),
    WaitKind.RESERVED: (
        marked_n(
            "{n} pair is reserved until you end the exam.",
            "{n} pairs are reserved until you end the exam.",
        ),
        WayThere("Exam", "", marked("End it")),
    ),
    WaitKind.CALIBRATION: (
        marked_n(
            "{n} pair is reserved until you end the calibration round.",
            "{n} pairs are reserved until you end the calibration round.",
        ),
        WayThere("Calibration", "", marked("End it")),
    ),
    WaitKind.REPORTED: (
        marked_n("{n} clip was reported as broken.", "{n} clips were reported as broken."),
        WayThere("Disputes", "?show=skipped", marked("Check clips")),
    ),
}
CURES = {
    WaitKind.EXAM_ANSWERS: marked(
        "Let the exam answers count as grades. Otherwise annotators who did not take the exam grade these pairs once "
        "it has ended."
    ),
    WaitKind.RESERVED: marked("Nobody can grade these pairs before."),
    WaitKind.CALIBRATION: marked("Nobody can grade these pairs before."),
}
"""What a lead does about it, where the button alone does not say it."""
SHORT = {
    WaitKind.DISCARDED: marked("discarded"),
    WaitKind.NOTES: marked("notes without a reply"),
    WaitKind.SKIPPED: marked("skipped"),
    WaitKind.BLOCKED: marked("blocked"),
    WaitKind.BATCHES: marked("recommended batches"),
    WaitKind.EXAM_FAILED: marked("failed the exam"),
    WaitKind.EXAM_ROUND: marked("finished the exam"),
    WaitKind.REWRITES: marked("undecided rewrites"),
    WaitKind.DESCRIPTIONS: marked("descriptions to review"),
    WaitKind.PAUSED: marked("paused"),
    WaitKind.GOLD: marked("warned by gold"),
    WaitKind.TEAM: marked("pairs without annotators"),
    WaitKind.EXAM_KEY: marked("exam pairs without a key"),
    WaitKind.EXAM_ANSWERS: marked("unsettled exam pairs"),
    WaitKind.RESERVED: marked("reserved pairs"),
    WaitKind.CALIBRATION: marked("reserved pairs"),
    WaitKind.REPORTED: marked("reported clips"),
}
"""In a short line, after the count."""
OUT: dict[Barred, tuple[tuple[str, str], WayThere]] = {
    Barred.PAUSED: (
        marked_n("{who} could grade {which}, but is paused.", "{who} could grade {which}, but are paused."),
        WayThere("People", "", marked("Resume")),
    ),
    Barred.EXAM: (
        marked_n("{who} could grade {which}, but failed the exam.", "{who} could grade {which}, but failed the exam."),
        WayThere("Exam", "", marked("Retake or exempt")),
    ),
    Barred.QUOTA: (
        marked_n(
            "{who} could grade {which}, but has reached the quota.",
            "{who} could grade {which}, but have reached their quotas.",
        ),
        WayThere("People", "?part=assignments", marked("Change the quota")),
    ),
    Barred.ASSIGNED: (
        marked_n(
            "{who} could grade {which}, but is assigned to other queries.",
            "{who} could grade {which}, but are assigned to other queries.",
        ),
        WayThere("People", "?part=assignments", marked("Change the assignment")),
    ),
    Barred.SKIPPED: (
        marked_n("{who} skipped {which}.", "{who} skipped {which}."),
        WayThere("Disputes", "?show=skipped", marked("Offer again")),
    ),
    Barred.SUSPENDED: (
        marked_n("{who} could grade {which}, but is suspended.", "{who} could grade {which}, but are suspended."),
        WayThere("People", "", marked("Reinstate")),
    ),
}
"""Why somebody cannot grade a stuck pair, and the way to change that."""
