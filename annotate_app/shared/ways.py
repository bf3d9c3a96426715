"""Texts and links about work that waits for a lead, and about reasons why annotators cannot grade a pair."""

from html import escape
from typing import NamedTuple

from annotate_app.language import marked, marked_n, tr
from annotate_app.pages import address
from annotate_app.session.addresses import full_path
from backend.campaign.monitoring.progress.model import Barred, WaitKind


class WayThere(NamedTuple):
    """A link to the page where a lead can act: title of the page, query string of its URL, and text of the link."""

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
        WayThere("Disputes", "?show=discarded", marked("Adjudicate")),
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
        WayThere("Exam", "", marked("Close the exam")),
    ),
    WaitKind.REWRITES: (
        marked_n("{n} rewritten caption waits for your decision.", "{n} rewritten captions wait for your decision."),
        WayThere("Captions", "?part=rewrites", marked("Review")),
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
        WayThere("Gold", "", marked("Show answers")),
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
        WayThere("Exam", "", marked("Count the answers")),
    ),
    WaitKind.RESERVED: (
        marked_n(
            "{n} pair is reserved until you end the exam.",
            "{n} pairs are reserved until you end the exam.",
        ),
        WayThere("Exam", "", marked("End the exam")),
    ),
    WaitKind.CALIBRATION: (
        marked_n(
            "{n} pair is reserved until you end the calibration round.",
            "{n} pairs are reserved until you end the calibration round.",
        ),
        WayThere("Calibration", "", marked("End the round")),
    ),
    WaitKind.REPORTED: (
        marked_n("{n} clip was reported as broken.", "{n} clips were reported as broken."),
        WayThere("Disputes", "?show=skipped", marked("Check clips")),
    ),
}
CURES = {
    WaitKind.EXAM_ANSWERS: marked(
        "Count the exam answers as judgements. Otherwise annotators who did not take the exam grade these "
        "pairs after it ends."
    ),
    WaitKind.RESERVED: marked("Nobody can grade these pairs until then."),
    WaitKind.CALIBRATION: marked("Nobody can grade these pairs until then."),
}
"""Advice on waiting work, where the link alone does not say what to do."""
SHORT: dict[WaitKind, tuple[str, str]] = {
    WaitKind.DISCARDED: marked_n("{n} discarded pair", "{n} discarded pairs"),
    WaitKind.NOTES: marked_n("{n} note without a reply", "{n} notes without a reply"),
    WaitKind.SKIPPED: marked_n("{n} skipped pair", "{n} skipped pairs"),
    WaitKind.BLOCKED: marked_n("{n} blocked pair", "{n} blocked pairs"),
    WaitKind.BATCHES: marked_n("{n} recommended batch", "{n} recommended batches"),
    WaitKind.EXAM_FAILED: marked_n("{n} failed exam", "{n} failed exams"),
    WaitKind.EXAM_ROUND: marked_n("{n} finished exam", "{n} finished exams"),
    WaitKind.REWRITES: marked_n("{n} rewrite to review", "{n} rewrites to review"),
    WaitKind.DESCRIPTIONS: marked_n("{n} description to review", "{n} descriptions to review"),
    WaitKind.PAUSED: marked_n("{n} paused annotator", "{n} paused annotators"),
    WaitKind.GOLD: marked_n("{n} warned annotator", "{n} warned annotators"),
    WaitKind.TEAM: marked_n("{n} pair without annotators", "{n} pairs without annotators"),
    WaitKind.EXAM_KEY: marked_n("{n} exam pair without an answer key", "{n} exam pairs without an answer key"),
    WaitKind.EXAM_ANSWERS: marked_n("{n} unsettled exam pair", "{n} unsettled exam pairs"),
    WaitKind.RESERVED: marked_n("{n} pair reserved by the exam", "{n} pairs reserved by the exam"),
    WaitKind.CALIBRATION: marked_n(
        "{n} pair reserved by the calibration round", "{n} pairs reserved by the calibration round"
    ),
    WaitKind.REPORTED: marked_n("{n} reported clip", "{n} reported clips"),
}
"""Short texts for the same kinds of waiting work."""
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
"""Reasons why annotators cannot grade a stuck pair, each with a link to the page where a lead can change that."""
