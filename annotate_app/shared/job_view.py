"""A background job on a page: how far it is, how it ended, and dismissing its outcome."""

import time
from collections.abc import Callable, Collection

import streamlit as st

from annotate_app.language import retold, tr
from annotate_app.plain import plain
from annotate_app.session import auth
from annotate_app.shared import look, wording
from annotate_app.shared.upload import NOT_TAKEN
from backend.campaign.nouns import Person
from backend.campaign.setup.project.folder import Project
from backend.campaign.setup.serving.jobs import dismiss_job, list_jobs
from backend.campaign.setup.serving.model import Job, JobKind, JobState

_EVERY_S = 1.0
_ROWS, _TALLEST_PX = 12, 420
"""A table of more rows is scrolled in."""


def job_view(
    project: Project,
    lead: Person,
    kinds: Collection[JobKind],
    problem: str,
    then: Callable[[Job], None] | None = None,
) -> Job | None:
    """Show the job that runs, whoever began it and wherever, or the outcome of the last one of these kinds.

    Args:
        project: the project.
        lead: who looks.
        kinds: whose outcomes this page shows. A job that changes the project is shown by the pages of all such jobs
            while it runs, because none of theirs can begin.
        problem: the key in the session under which the page keeps why a button did nothing.
        then: draws what a lead may do with an outcome.

    Returns:
        The job; None if there is none, or its outcome was dismissed.
    """
    jobs = list_jobs(project, lead, now=time.time())
    shown = [job for job in jobs if job.kind in kinds]
    excluding = any(kind.changes_project for kind in kinds)
    for job in jobs:
        if job.is_running and (job in shown or (excluding and job.kind.changes_project)):
            auth.fragment(_running, run_every=_EVERY_S)(project, lead, job.key)
            return job
    if not shown:
        return None
    with st.container(border=True, key="job-outcome"):
        job_outcome(shown[0])
        with st.container(horizontal=True):
            if then is not None:
                then(shown[0])
            st.button(tr("Put this away"), key="put_away", on_click=_dismiss, args=(problem, shown[0].key))
    return shown[0]


def _dismiss(problem: str, key: str) -> None:
    st.session_state.pop(NOT_TAKEN, None)
    st.session_state[problem] = look.as_lead(lambda project, lead: dismiss_job(project, lead, key, now=time.time()))


def _running(project: Project, lead: Person, key: str) -> None:
    """Show how far the job is; the whole page is drawn anew once it is over."""
    if auth.current() is None:
        st.rerun()
    job = next((job for job in list_jobs(project, lead, now=time.time()) if job.key == key), None)
    if job is None or not job.is_running:
        st.rerun()
        return
    began = wording.when(job.began_at, st.context.timezone)
    with st.container(border=True, key="job"):
        st.markdown(f"**{plain(retold(job.title))}**")
        said = (
            tr("{what}: {done:,} of {total:,}", what=job.what, done=job.done, total=job.total)
            if job.total
            else retold(job.what) or tr("beginning")
        )
        st.progress(min(1.0, job.done / job.total) if job.total else 0.0, text=plain(said))
        st.caption(
            tr("Begun by {by}, {began}. It goes on when you close this page.", by=plain(retold(job.by)), began=began)
        )


def job_outcome(job: Job) -> None:
    """Show how a job ended, in words and tables."""
    title = plain(retold(job.title))
    match job.state:
        case JobState.REFUSED:
            st.error(
                tr("**{title}**  \n{refusal}  \nNothing was changed.", title=title, refusal=plain(retold(job.refusal)))
            )
        case JobState.FAILED:
            st.error(tr("**{title}** failed. The server's log says why; nothing was changed.", title=title))
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
        st.markdown(plain(retold(sentence)))
    for table in job.outcome.tables:
        with st.container(height=_TALLEST_PX if len(table.rows) > _ROWS else "content", border=False):
            columns = {retold(head): [plain(retold(row[n])) for row in table.rows] for n, head in enumerate(table.head)}
            st.table(columns, hide_index=True)
