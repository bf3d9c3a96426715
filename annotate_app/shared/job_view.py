"""Show a background job on a page: its progress, its outcome, and a button that dismisses it."""

import time
from collections.abc import Callable, Collection

import streamlit as st

from annotate_app.language import tr, translate_message
from annotate_app.plain import plain
from annotate_app.session import auth
from annotate_app.shared import look, results, wording
from annotate_app.shared.upload import NOT_TAKEN
from backend.campaign.nouns import Person
from backend.campaign.setup.project.folder import Project
from backend.campaign.setup.serving.jobs import cancel_job, dismiss_job, list_jobs
from backend.campaign.setup.serving.model import Job, JobKind, JobState

_CANCEL_PROBLEM = "cancel_job_problem"
_EVERY_S = 1.0
_WATCHED = "watched_job"
"""Session key of the job whose progress was shown last."""
_ROWS, _TALLEST_PX = 12, 420
"""A table with more than `_ROWS` rows scrolls within `_TALLEST_PX` pixels."""


def job_view(
    project: Project,
    lead: Person,
    kinds: Collection[JobKind],
    problem: str,
    then: Callable[[Job], None] | None = None,
) -> Job | None:
    """Show a background job with its progress or outcome, and return it; None if there is no job to show.

    Args:
        project: the project.
        lead: the lead who opens the page.
        kinds: the kinds of jobs to show, as for `find_job`.
        problem: session key under which a refusal to dismiss the job is kept.
        then: draws buttons for what the lead may do next, once the job has ended.
    """
    job = find_job(project, lead, kinds)
    if job is not None:
        show_job(project, lead, job, problem, then)
    return job


def find_job(project: Project, lead: Person, kinds: Collection[JobKind]) -> Job | None:
    """Return the background job to show: the running one, whoever started it, else the last one not yet dismissed.

    Return None if there is no such job. Only jobs of the given `kinds` are considered, with one exception. Only one job
    at a time may change the project. So if one of `kinds` does, a running job of another kind that changes the project
    is shown too.
    """
    jobs = list_jobs(project, lead, now=time.time())
    own_jobs = [job for job in jobs if job.kind in kinds]
    is_exclusive = any(kind.changes_project for kind in kinds)
    running = (
        job for job in jobs if job.is_running and (job in own_jobs or (is_exclusive and job.kind.changes_project))
    )
    return next(running, own_jobs[0] if own_jobs else None)


def show_job(project: Project, lead: Person, job: Job, problem: str, then: Callable[[Job], None] | None = None) -> None:
    """Show the progress of a background job or, once it has ended, its outcome with a button that dismisses it.

    Args:
        project: the project.
        lead: the lead who opens the page.
        job: the job.
        problem: session key under which a refusal to dismiss the job is kept.
        then: draws buttons for what the lead may do next, once the job has ended.
    """
    if job.is_running:
        look.refusal(_CANCEL_PROBLEM)
        auth.fragment(_running, run_every=_EVERY_S)(project, lead, job.key)
        return
    with st.container(border=True, key="job-outcome"):
        job_outcome(job)
        with st.container(horizontal=True):
            if then is not None:
                then(job)
            st.button(tr("Dismiss"), key="dismiss_job", on_click=_dismiss, args=(problem, job.key))
        if st.session_state.get(_WATCHED) == job.key:
            results.bring_into_view("job-outcome", job.key)


def _dismiss(problem: str, key: str) -> None:
    st.session_state.pop(NOT_TAKEN, None)
    st.session_state[problem] = look.as_lead(lambda project, lead: dismiss_job(project, lead, key, now=time.time()))


@look.lead_callback(_CANCEL_PROBLEM)
def _cancel(project: Project, lead: Person, key: str) -> None:
    """Ask a background job to stop at its next step. This is the callback of the button "Cancel"."""
    cancel_job(project, lead, key)


def _running(project: Project, lead: Person, key: str) -> None:
    """Show the progress of a background job, and rerun the whole page once it has ended."""
    if auth.current() is None:
        st.rerun()
    job = next((job for job in list_jobs(project, lead, now=time.time()) if job.key == key), None)
    if job is None or not job.is_running:
        st.rerun()
        return
    st.session_state[_WATCHED] = key
    began = wording.when(job.began_at, st.context.timezone)
    with st.container(border=True, key="job"):
        st.markdown(f"**{plain(translate_message(job.title))}**")
        said = (
            tr("{what}: {done:,} of {total:,}", what=job.what, done=job.done, total=job.total)
            if job.total
            else translate_message(job.what) or tr("starting")
        )
        st.progress(min(1.0, job.done / job.total) if job.total else 0.0, text=plain(said))
        st.caption(
            tr(
                "Started by {by}, {began}. You can close this page: it continues.",
                by=plain(translate_message(job.by)),
                began=began,
            )
        )
        st.button(
            tr("Cancelling …") if job.is_cancelled else tr("Cancel"),
            key="cancel_job",
            icon=":material/cancel:",
            disabled=job.is_cancelled,
            help=tr("Stops at the next step. Nothing is kept."),
            on_click=_cancel,
            args=(key,),
        )
        results.bring_into_view("job", key)


def job_outcome(job: Job) -> None:
    """Show how a background job ended, with the sentences and tables of its result."""
    title = plain(translate_message(job.title))
    match job.state:
        case JobState.REFUSED:
            st.error(
                tr(
                    "**{title}**  \n{refusal}  \nNothing was changed.",
                    title=title,
                    refusal=plain(translate_message(job.refusal)),
                )
            )
        case JobState.FAILED:
            st.error(tr("**{title}** failed. Nothing was changed. The server's log has the reason.", title=title))
        case JobState.CANCELLED:
            st.warning(tr("**{title}** was cancelled. Nothing was changed.", title=title))
        case JobState.INTERRUPTED:
            st.warning(
                tr(
                    "**{title}** was interrupted, because the server stopped. Nothing was changed: start it again.",
                    title=title,
                )
            )
        case _:
            st.markdown(tr("**{title}** is done.", title=title))
    for sentence in job.outcome.sentences:
        st.markdown(plain(translate_message(sentence)))
    for table in job.outcome.tables:
        with st.container(height=_TALLEST_PX if len(table.rows) > _ROWS else "content", border=False):
            columns = {
                translate_message(head): [plain(translate_message(row[n])) for row in table.rows]
                for n, head in enumerate(table.head)
            }
            st.table(columns, hide_index=True)
