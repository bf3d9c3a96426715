"""Draw the inbox of the page "Progress": the tasks for leads, newest first, each with its buttons."""

import time
from collections.abc import Callable, Iterator, Sequence
from itertools import groupby
from typing import NamedTuple

import streamlit as st

from annotate_app.language import tr, translate_message, trn
from annotate_app.plain import component_key
from annotate_app.server import job_functions, jobs
from annotate_app.shared import look, waiting, wording
from annotate_app.shared.flag_dismissal import dismissal
from annotate_app.shared.job_view import job_view
from annotate_app.shared.waiting import Line
from annotate_app.shared.ways import WayThere
from backend.campaign.judging import queue
from backend.campaign.monitoring.progress import progress
from backend.campaign.monitoring.progress.model import FlaggedPerson, Wait, WaitKind, WorkAhead
from backend.campaign.monitoring.quality.model import FLAG_NAMES, Flag, FlagKind
from backend.campaign.nouns import Person
from backend.campaign.setup.project.folder import Project
from backend.campaign.setup.serving.jobs import dismiss_job, list_jobs
from backend.campaign.setup.serving.model import Job, JobKind, JobState
from backend.core.ids import PairKey

_DONE = "inbox"
"""Name of the place on the page where refusals appear."""
_PROBLEM = f"{_DONE}_problem"
_BEGUN = "inbox_clips_begun"
_SHOWN = 5
"""The most reported clips, and the most flagged annotators, that have a row each. One more row counts the rest."""
_ENDED_BADLY = (JobState.INTERRUPTED, JobState.FAILED, JobState.REFUSED)
_OF_SKIPS = (FlagKind.SKIPS, FlagKind.REPORTS)


class Button(NamedTuple):
    """A button of an inbox row: its label, its Streamlit key, its callback and the callback's arguments."""

    label: str
    key: str
    act: Callable[..., None]
    args: tuple[object, ...]


class InboxRow(NamedTuple):
    """One row of the inbox: a sentence with a link, and buttons.

    Attributes:
        at: time of the newest event that the row reports, in seconds since 1970. Rows without a time come first.
        line: the sentence and its link.
        buttons: the buttons.
        flags: an annotator, and those of their quality flags that the row lets a lead dismiss; None for other rows.
    """

    at: float | None
    line: Line
    buttons: tuple[Button, ...] = ()
    flags: tuple[FlaggedPerson, tuple[FlagKind, ...]] | None = None


def inbox(
    project: Project, lead: Person, waits: Sequence[Wait], ahead: WorkAhead, flagged: Sequence[FlaggedPerson]
) -> None:
    """Draw the work that the current team cannot finish, then the tasks for the lead, newest first.

    Draw nothing if there is neither.
    """
    if st.session_state.pop(_BEGUN, False):
        st.rerun()  # the whole page: the job is shown above this part of it
    stuck = waiting.stuck_lines(ahead)
    entries = [
        *(
            InboxRow(wait.newest, waiting.wait_line(wait, _zone()))
            for wait in waits
            if wait.kind is not WaitKind.REPORTED
        ),
        *_reported(project, lead),
        *_jobs(project, lead),
        *_flags(flagged),
    ]
    entries.sort(key=lambda entry: (entry.at is not None, -(entry.at or 0.0)))
    look.outcome(_DONE)
    if not stuck and not entries:
        return
    with st.container(key="inbox", gap="xxsmall"):
        st.header(tr("Waits for you"), anchor=False)
        if stuck:
            st.html(f"<div class='rr-stuck'>{waiting.list_of(stuck)}</div>")
        for has_buttons, rows in groupby(entries, key=lambda entry: bool(entry.buttons or entry.flags)):
            if has_buttons:
                for entry in rows:
                    _with_buttons(entry)
            else:
                st.html(waiting.list_of([entry.line for entry in rows]))


def _with_buttons(entry: InboxRow) -> None:
    key = entry.buttons[0].key if entry.buttons else f"flags-{entry.flags}"
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key=f"inbox-{component_key(key)}"):
        st.html(waiting.list_of([entry.line]), width="stretch")
        for button in entry.buttons:
            st.button(button.label, key=button.key, on_click=button.act, args=button.args)
        if entry.flags is not None:
            one, kinds = entry.flags
            dismissal(one.flags.annotator_id, one.flags.name, kinds, _DONE)


def _zone() -> str | None:
    return st.context.timezone


def _reported(project: Project, lead: Person) -> Iterator[InboxRow]:
    """Yield a row for each clip that one annotator reported as broken, newest first, up to `_SHOWN` clips.

    If there are more, a last row says how many.
    """
    reports = sorted(queue.reported_clips(project, lead), key=lambda report: -report.at)
    see = WayThere("Disputes", "?show=skipped", tr("Show clip"))
    for report in reports[:_SHOWN]:
        text = tr("{who} reported a clip as broken: “{reason}”", who=report.by, reason=report.reason)
        note = tr(
            "{moment} · others still get it until a second report · {when}",
            moment=wording.moment(report),
            when=wording.when(report.at, _zone()),
        )
        block = Button(tr("Block the clip"), f"keep-{report.pair}", block_clip, (report.pair, report.reason))
        yield InboxRow(report.at, Line(text, see, note=note), (block,))
    if more := reports[_SHOWN:]:
        text = trn("{n} more clip was reported as broken.", "{n} more clips were reported as broken.", len(more))
        yield InboxRow(more[0].at, Line(text, see._replace(act=tr("Check clips"))))


@look.lead_callback(_PROBLEM)
def block_clip(project: Project, lead: Person, pair: PairKey, reason: str) -> None:
    """Block a clip that a lead agrees is broken, so that no annotator gets it."""
    queue.block_clip(project, lead, pair, reason, now=time.time())


def _jobs(project: Project, lead: Person) -> Iterator[InboxRow]:
    """Yield a row for each background job that did not finish, until a lead dismisses it."""
    for job in list_jobs(project, lead, now=time.time()):
        if job.state not in _ENDED_BADLY:
            continue
        text = _job_end(job)
        note = tr("Started by {by}, {began}. Nothing was changed.", by=translate_message(job.by), began=_when(job))
        if job.refusal:
            note = f"{translate_message(job.refusal)} · {_when(job)}"
        dismiss = Button(tr("Dismiss"), f"dismiss-{job.key}", dismiss_ended, (job.key,))
        if job.kind is JobKind.CLIPS:
            again = Button(tr("Start again"), "clips_again", cut_again, (job,))
            yield InboxRow(job.began_at, Line(text, None, note=note), (again, dismiss))
        else:
            place = WayThere(jobs.PAGES[job.kind], "", tr("Start again"))
            yield InboxRow(job.began_at, Line(text, place, note=note), (dismiss,))


def _job_end(job: Job) -> str:
    title = translate_message(job.title)
    match job.state:
        case JobState.INTERRUPTED:
            return tr("{title} was interrupted, because the server stopped.", title=title)
        case JobState.FAILED:
            return tr("{title} failed. The server's log has the reason.", title=title)
        case _:
            return tr("{title} could not be done.", title=title)


def _when(job: Job) -> str:
    return wording.when(job.began_at, _zone())


@look.lead_callback(_PROBLEM)
def dismiss_ended(project: Project, lead: Person, key: str) -> None:
    """Dismiss a job that did not finish, so that the inbox no longer shows it."""
    dismiss_job(project, lead, key, now=time.time())


def clips_job(project: Project, lead: Person) -> None:
    """Draw the progress or the result of the job that cuts clips. If it did not finish, the inbox shows it instead."""
    newest = next((job for job in list_jobs(project, lead, now=time.time()) if job.kind is JobKind.CLIPS), None)
    if newest is not None and newest.state not in _ENDED_BADLY:
        job_view(project, lead, {JobKind.CLIPS}, _PROBLEM)


@look.lead_callback(_PROBLEM)
def cut_again(project: Project, lead: Person, job: Job) -> None:
    """Begin a new job that cuts the clips of a job that did not finish."""
    options = (bool(job.asked[progress.NEXT_BATCHES]), bool(job.asked[progress.EVERYTHING]))
    cut = job_functions.cut_clips
    jobs.begin(project, lead, JobKind.CLIPS, "", job.title, cut, *options, asked=job.asked, now=time.time())
    st.session_state[_BEGUN] = True


def _flags(flagged: Sequence[FlaggedPerson]) -> Iterator[InboxRow]:
    """Yield a row for each annotator with quality flags, up to `_SHOWN` annotators. A last row counts the others.

    Flags about skips and about reports of broken clips get a separate row.
    """
    for flagged_person in flagged[:_SHOWN]:
        person = flagged_person.flags
        skips = [flag for flag in person.raised if flag.kind in _OF_SKIPS]
        others = [flag for flag in person.raised if flag.kind not in _OF_SKIPS]
        if skips:
            text = tr("{name} skips unusually many pairs.", name=person.name)
            yield _flag_row(flagged_person, text, skips)
        if others:
            text = trn("{name} has {n} quality flag.", "{name} has {n} quality flags.", len(others), name=person.name)
            yield _flag_row(flagged_person, text, others)
    if more := flagged[_SHOWN:]:
        text = trn("{n} more annotator has quality flags.", "{n} more annotators have quality flags.", len(more))
        yield InboxRow(more[0].newest, Line(text, WayThere("People", "", tr("Show flags"))))


def _flag_row(flagged_person: FlaggedPerson, text: str, flags: Sequence[Flag]) -> InboxRow:
    kinds = tuple(flag.kind for flag in flags)
    return InboxRow(
        flagged_person.newest,
        Line(text, _work(flagged_person, flags[0]), note=_figures(flags)),
        flags=(flagged_person, kinds),
    )


def _work(flagged_person: FlaggedPerson, flag: Flag) -> WayThere:
    return WayThere("People", f"?who={flagged_person.flags.annotator_id}&flag={flag.kind.value}", tr("Show pairs"))


def _figures(flags: Sequence[Flag]) -> str:
    """Return quality flags as text: `Too fast 12.0 %, n = 120 · Drift +0.40, n = 400`.

    n is the number of grades or pairs from which the figure before it was computed.
    """
    return " · ".join(
        tr("{flag} {figure}, n = {n:,}", flag=FLAG_NAMES[flag.kind], figure=flag.figure, n=flag.n) for flag in flags
    )
