"""A background job on a page: how far it is, how it ended, and putting its outcome away."""

import time
from collections.abc import Callable, Container

import streamlit as st

from annotate_app.language import retold, tr
from annotate_app.plain import plain
from annotate_app.session import auth
from annotate_app.shared import look, wording
from annotate_app.shared.upload import NOT_TAKEN
from backend import api
from backend.campaign.nouns import Person
from backend.campaign.setup.serving.model import LongWork, WorkState

_EVERY_S = 1.0
_ROWS, _TALLEST_PX = 12, 420
"""A table of more rows is scrolled in."""


def job_view(
    project: api.Project,
    lead: Person,
    steps: Container[str],
    problem: str,
    then: Callable[[LongWork], None] | None = None,
) -> LongWork | None:
    """Show the job that runs, whoever began it and wherever, or the outcome of the last one of these steps.

    Args:
        project: the project.
        lead: who looks.
        steps: whose outcomes this page shows; a job that runs is shown by every page that shows jobs.
        problem: the key in the session under which the page keeps why a button did nothing.
        then: draws what a lead may do with an outcome.

    Returns:
        The job; None if there is none, or its outcome was put away.
    """
    job = api.look_at_work(project, lead, now=time.time())
    if job is not None and job.state is WorkState.UNDER_WAY:
        auth.fragment(_running, run_every=_EVERY_S)(project, lead)
    elif job is not None and job.step in steps:
        with st.container(border=True, key="job-outcome"):
            _outcome(job)
            with st.container(horizontal=True):
                if then is not None:
                    then(job)
                st.button(tr("Put this away"), key="put_away", on_click=_put_away, args=(problem,))
    return job


def _put_away(problem: str) -> None:
    st.session_state.pop(NOT_TAKEN, None)
    st.session_state[problem] = look.as_lead(lambda project, lead: api.put_work_away(project, lead, now=time.time()))


def _running(project: api.Project, lead: Person) -> None:
    """Show how far the job is; the whole page is drawn anew once it is over."""
    if auth.current() is None:
        st.rerun()
    job = api.look_at_work(project, lead, now=time.time())
    if job is None or job.state is not WorkState.UNDER_WAY:
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
        st.caption(tr("Begun by {by}, {began}. It goes on when you close this page.", by=plain(job.by), began=began))


def _outcome(job: LongWork) -> None:
    title = plain(retold(job.title))
    match job.state:
        case WorkState.REFUSED:
            st.error(
                tr("**{title}**  \n{refusal}  \nNothing was changed.", title=title, refusal=plain(retold(job.refusal)))
            )
        case WorkState.FAILED:
            st.error(tr("**{title}** failed. The server's log says why; nothing was changed.", title=title))
        case WorkState.CUT_SHORT:
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
