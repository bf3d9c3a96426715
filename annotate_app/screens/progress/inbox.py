"""The inbox of the page Progress: all work that waits for a lead, the newest first, each entry with its button."""

import time
from collections.abc import Callable, Iterator, Sequence
from itertools import groupby
from typing import NamedTuple

import streamlit as st

from annotate_app.language import retold, tr, trn
from annotate_app.plain import component_key
from annotate_app.server import job_functions, jobs
from annotate_app.shared import look, waiting, wording
from annotate_app.shared.flag_dismissal import dismissal
from annotate_app.shared.job_view import job_view
from annotate_app.shared.waiting import Line
from annotate_app.shared.ways import WayThere
from backend.campaign.judging import queue
from backend.campaign.monitoring.progress import progress
from backend.campaign.monitoring.progress.model import Ahead, FlaggedPerson, Wait, WaitKind
from backend.campaign.monitoring.quality.model import FLAG_NAMES, Flag, FlagKind
from backend.campaign.nouns import Person
from backend.campaign.setup.project.folder import Project
from backend.campaign.setup.serving.jobs import dismiss_job, list_jobs
from backend.campaign.setup.serving.model import Job, JobKind, JobState
from backend.core.ids import PairKey

_DONE = "inbox"
"""Name of the place where results are shown."""
_PROBLEM = f"{_DONE}_problem"
_BEGUN = "inbox_clips_begun"
_SHOWN = 5
"""Largest number of reported clips, and of flagged people, that have their own row."""
_ENDED_BADLY = (JobState.INTERRUPTED, JobState.FAILED, JobState.REFUSED)
_OF_SKIPS = (FlagKind.SKIPS, FlagKind.REPORTS)


class Button(NamedTuple):
    """A button that runs an action on this page: label, key, callback, and arguments of the callback."""

    label: str
    key: str
    act: Callable[..., None]
    args: tuple[object, ...]


class InboxRow(NamedTuple):
    """A row of the inbox, with the time since when it waits; rows without a time come first."""

    at: float | None
    line: Line
    buttons: tuple[Button, ...] = ()
    flags: tuple[FlaggedPerson, tuple[FlagKind, ...]] | None = None
    """The person and their flags that can be dismissed in this row."""


def inbox(
    project: Project, lead: Person, waits: Sequence[Wait], ahead: Ahead, flagged: Sequence[FlaggedPerson]
) -> None:
    """Draw the stuck pairs, then the work that waits for the lead, the newest first; nothing if there is neither."""
    if st.session_state.pop(_BEGUN, False):
        st.rerun()  # the whole page, because the job is shown above this fragment
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
    """Yield a row for each clip that one person reported as broken, the newest first."""
    found = sorted(queue.reported_clips(project, lead), key=lambda one: -one.at)
    see = WayThere("Disputes", "?show=skipped", tr("Show clip"))
    for one in found[:_SHOWN]:
        text = tr("{who} reported a clip as broken: “{reason}”", who=one.by, reason=one.reason)
        note = tr(
            "{moment} · others still get it until a second report · {when}",
            moment=wording.moment(one),
            when=wording.when(one.at, _zone()),
        )
        block = Button(tr("Block the clip"), f"keep-{one.pair}", block_clip, (one.pair, one.reason))
        yield InboxRow(one.at, Line(text, see, note=note), (block,))
    if more := found[_SHOWN:]:
        text = trn("{n} more clip was reported as broken.", "{n} more clips were reported as broken.", len(more))
        yield InboxRow(more[0].at, Line(text, see._replace(act=tr("Check clips"))))


@look.lead_callback(_PROBLEM)
def block_clip(project: Project, lead: Person, pair: PairKey, reason: str) -> None:
    """Block a clip that a lead confirms as broken, as the callback of a button. Nobody gets it any more."""
    queue.block_clip(project, lead, pair, reason, now=time.time())


def _jobs(project: Project, lead: Person) -> Iterator[InboxRow]:
    """Yield a row for each background job that did not finish, until somebody dismisses it."""
    for job in list_jobs(project, lead, now=time.time()):
        if job.state not in _ENDED_BADLY:
            continue
        text = _job_end(job)
        note = tr("Started by {by}, {began}. Nothing was changed.", by=retold(job.by), began=_when(job))
        if job.refusal:
            note = f"{retold(job.refusal)} · {_when(job)}"
        dismiss = Button(tr("Dismiss"), f"dismiss-{job.key}", dismiss_ended, (job.key,))
        if job.kind is JobKind.CLIPS:
            again = Button(tr("Start again"), "clips_again", cut_again, (job,))
            yield InboxRow(job.began_at, Line(text, None, note=note), (again, dismiss))
        else:
            place = WayThere(jobs.PAGES[job.kind], "", tr("Start again"))
            yield InboxRow(job.began_at, Line(text, place, note=note), (dismiss,))


def _job_end(job: Job) -> str:
    title = retold(job.title)
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
    """Dismiss a job that did not finish, as the callback of a button."""
    dismiss_job(project, lead, key, now=time.time())


def clips_job(project: Project, lead: Person) -> None:
    """Draw the job that cuts clips while it runs, and its outcome. A job that did not finish is in the inbox."""
    newest = next((job for job in list_jobs(project, lead, now=time.time()) if job.kind is JobKind.CLIPS), None)
    if newest is not None and newest.state not in _ENDED_BADLY:
        job_view(project, lead, {JobKind.CLIPS}, _PROBLEM)


@look.lead_callback(_PROBLEM)
def cut_again(project: Project, lead: Person, job: Job) -> None:
    """Cut the clips that an earlier job did not finish, as the callback of a button."""
    wanted = (bool(job.asked[progress.NEXT_BATCHES]), bool(job.asked[progress.EVERYTHING]))
    cut = job_functions.cut_clips
    jobs.begin(project, lead, JobKind.CLIPS, "", job.title, cut, *wanted, asked=job.asked, now=time.time())
    st.session_state[_BEGUN] = True


def _flags(flagged: Sequence[FlaggedPerson]) -> Iterator[InboxRow]:
    """Yield a row for each annotator with quality flags, and for each who skips or reports unusually many pairs."""
    for one in flagged[:_SHOWN]:
        person = one.flags
        skips = [flag for flag in person.raised if flag.kind in _OF_SKIPS]
        others = [flag for flag in person.raised if flag.kind not in _OF_SKIPS]
        if skips:
            text = tr("{name} skips unusually many pairs.", name=person.name)
            yield _flag_row(one, text, skips)
        if others:
            text = trn("{name} has {n} quality flag.", "{name} has {n} quality flags.", len(others), name=person.name)
            yield _flag_row(one, text, others)
    if more := flagged[_SHOWN:]:
        text = trn("{n} more annotator has quality flags.", "{n} more annotators have quality flags.", len(more))
        yield InboxRow(more[0].newest, Line(text, WayThere("People", "", tr("Show flags"))))


def _flag_row(one: FlaggedPerson, text: str, flags: Sequence[Flag]) -> InboxRow:
    kinds = tuple(flag.kind for flag in flags)
    return InboxRow(one.newest, Line(text, _work(one, flags[0]), note=_figures(flags)), flags=(one, kinds))


def _work(one: FlaggedPerson, flag: Flag) -> WayThere:
    return WayThere("People", f"?who={one.flags.annotator_id}&flag={flag.kind.value}", tr("Show pairs"))


def _figures(flags: Sequence[Flag]) -> str:
    """Write the figures of flags: `Too fast 12.0 % of 120 · Drift +0.40 of 400`."""
    return " · ".join(
        tr("{flag} {figure}, n = {n:,}", flag=FLAG_NAMES[flag.kind], figure=flag.figure, n=flag.n) for flag in flags
    )
