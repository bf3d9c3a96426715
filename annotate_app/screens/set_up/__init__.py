"""The lead's page "Set up": from an empty project to the first grade, as a list of steps.

What is done and what is not is read from the project every time, so that it does not matter who did it and whether on
this page or by commands. What takes long runs in a worker and goes on when the page is closed.
"""

import time
from collections.abc import Sequence

import streamlit as st

from annotate_app.language import retold, tr
from annotate_app.plain import plain
from annotate_app.screens.set_up import annotations, candidates, moments, names, people, queries, videos
from annotate_app.screens.set_up.step import SetUpStep
from annotate_app.session import auth
from annotate_app.shared import inviting, look, wording
from annotate_app.shared.upload import NOT_TAKEN, not_taken
from backend import api
from backend.campaign.nouns import Person
from backend.campaign.setup.serving.model import LongWork, WorkState

STEPS: Sequence[SetUpStep] = (
    *(videos.STEP, annotations.STEP, moments.STEP, names.STEP, queries.STEP, candidates.STEP),
    *(people.TRAIN, people.INVITE, people.OPEN),
)
_EVERY_S = 1.0
_ROWS, _TALLEST_PX = 12, 420
"""A table of more rows is scrolled in."""
_DONE, _TO_DO, _LATER = ":material/check_circle:", ":material/radio_button_unchecked:", ":material/more_horiz:"


def page() -> None:
    """What is being done, what came of it, and the steps."""
    project, lead, counts = look.lead_page("Set up")
    look.refusal("set_up_problem")
    not_taken()
    inviting.outcome()  # here, because the step of who was invited may be folded by then
    work = api.look_at_work(project, lead, now=time.time())
    if work is not None:
        _work(project, lead, work)
    standings = [step.standing(project, lead, counts) for step in STEPS]
    following = next(
        (n for n, one in enumerate(standings) if not (one.done or one.waits or STEPS[n].optional)), len(STEPS)
    )
    for number, (step, standing) in enumerate(zip(STEPS, standings, strict=True)):
        icon = _DONE if standing.done else _LATER if standing.waits else _TO_DO
        title = f"**{number + 1}. {plain(tr(step.title))}** — {plain(standing.told)}"
        # Another key once it is done: Streamlit then forgets that it was open.
        with st.expander(title, expanded=number == following, icon=icon, key=f"step-{step.key}-{standing.done}"):
            if standing.waits:
                st.markdown(plain(standing.waits))
            else:
                step.show(project, lead, counts)


def put_away() -> None:
    """Callback of the button beside an outcome."""
    st.session_state.pop(NOT_TAKEN, None)
    st.session_state["set_up_problem"] = look.as_lead(
        lambda project, lead: api.put_work_away(project, lead, now=time.time())
    )


def _work(project: api.Project, lead: Person, work: LongWork) -> None:
    if work.state is WorkState.UNDER_WAY:
        auth.fragment(_under_way, run_every=_EVERY_S)(project, lead)
        return
    with st.container(border=True, key="set-up-outcome"):
        _outcome(work)
        step = next((step for step in STEPS if step.key == work.step), None)
        with st.container(horizontal=True):
            if work.state is WorkState.DONE and step is not None and step.then is not None:
                step.then(work)
            st.button(tr("Put this away"), key="put_away", on_click=put_away)


def _under_way(project: api.Project, lead: Person) -> None:
    """How far it has come; the whole page is drawn anew once it is over."""
    if auth.current() is None:
        st.rerun()
    work = api.look_at_work(project, lead, now=time.time())
    if work is None or work.state is not WorkState.UNDER_WAY:
        st.rerun()
        return
    began = wording.when(work.began_at, st.context.timezone)
    with st.container(border=True, key="set-up-work"):
        st.markdown(f"**{plain(retold(work.title))}**")
        said = (
            tr("{what}: {done:,} of {total:,}", what=work.what, done=work.done, total=work.total)
            if work.total
            else retold(work.what) or tr("beginning")
        )
        st.progress(min(1.0, work.done / work.total) if work.total else 0.0, text=plain(said))
        st.caption(tr("Begun by {by}, {began}. It goes on when you close this page.", by=plain(work.by), began=began))


def _outcome(work: LongWork) -> None:
    title = plain(retold(work.title))
    match work.state:
        case WorkState.REFUSED:
            st.error(
                tr("**{title}**  \n{refusal}  \nNothing was changed.", title=title, refusal=plain(retold(work.refusal)))
            )
        case WorkState.FAILED:
            st.error(tr("**{title}** failed. The server's log says why; nothing was changed.", title=title))
        case WorkState.CUT_SHORT:
            st.warning(
                tr(
                    "**{title}** was cut short, because the server stopped. Nothing was changed: do it again.",
                    title=title,
                )
            )
        case _:
            st.markdown(tr("**{title}** is done.", title=title))
    for sentence in work.outcome.sentences:
        st.markdown(plain(retold(sentence)))
    for table in work.outcome.tables:
        with st.container(height=_TALLEST_PX if len(table.rows) > _ROWS else "content", border=False):
            columns = {retold(head): [plain(retold(row[n])) for row in table.rows] for n, head in enumerate(table.head)}
            st.table(columns, hide_index=True)


def is_first(project: api.Project, lead: Person) -> bool:
    """Whether a lead is better led here than to the queries: as long as no pair was handed out."""
    return not any(api.status_counts(project, lead)["pairs"].values())
