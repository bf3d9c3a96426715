"""The lead's page "Set up": from an empty project to the first grade, as a list of steps.

What is done and what is not is read from the project every time, so that it does not matter who did it and whether on
this page or by commands. What takes long runs in a worker and goes on when the page is closed.
"""

from collections.abc import Sequence

import streamlit as st

from annotate_app.language import tr
from annotate_app.plain import plain
from annotate_app.screens.set_up import annotations, candidates, moments, names, people, queries, videos
from annotate_app.screens.set_up.step import SetUpStep
from annotate_app.shared import inviting, look
from annotate_app.shared.job_view import job_view
from annotate_app.shared.upload import not_taken
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
    job_view(project, lead, {step.key for step in STEPS}, "set_up_problem", _then)
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


def _then(job: LongWork) -> None:
    step = next(step for step in STEPS if step.key == job.step)
    if job.state is WorkState.DONE and step.then is not None:
        step.then(job)


def is_first(project: api.Project, lead: Person) -> bool:
    """Whether a lead is better led here than to the queries: as long as no pair was handed out."""
    return not any(api.status_counts(project, lead)["pairs"].values())
