"""The lead's page "Videos": add videos, see their problems, and check them again."""

import streamlit as st

from annotate_app.language import tr
from annotate_app.plain import plain
from annotate_app.screens import set_up
from annotate_app.screens.set_up.videos import VIDEOS_STEP
from annotate_app.shared import look
from annotate_app.shared.job_view import find_job
from annotate_app.shared.upload import not_taken
from annotate_app.shared.ways import WayThere
from backend.campaign.setup.serving.model import JobKind


def page() -> None:
    """Draw the number of videos, and the same form for adding videos as on the page "Set up"."""
    project, lead, counts = look.lead_page("Videos")
    not_taken()
    standing = VIDEOS_STEP.standing(project, lead, counts)
    st.markdown(tr("In this project: {videos}.", videos=plain(standing.told)))
    if counts["videos"]:
        way = WayThere("Moments", "", tr("Open Moments"))
        st.html(f"<p class='rr-waiting'>{way.link}</p>")
    VIDEOS_STEP.show(project, lead, counts)
    job = find_job(project, lead, {JobKind.SET_UP})
    if job is not None and job.subject != VIDEOS_STEP.key:
        job = None  # of another step: it is on the page Set up
    set_up.results_of(project, lead, VIDEOS_STEP, job)
