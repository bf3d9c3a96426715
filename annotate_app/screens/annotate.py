"""The annotator's page: one clip, one query, the grades."""

import time
from dataclasses import asdict

import streamlit as st

from annotate_app.session import auth
from annotate_app.widgets.lesson import lesson
from annotate_app.widgets.player.player import player
from backend import api
from backend.campaign.judging.model import DeskState
from backend.campaign.nouns import Role


def page() -> None:
    """Show the signed-in annotator's desk.

    This runs once when the page opens; from then on the player talks to `/desk/exchange` by itself. Whoever is new, or
    comes with `?tutorial`, is shown the tutorial first; whoever knows an earlier guideline, what changed.
    """
    person = auth.require(Role.ANNOTATOR)
    project, now = auth.project(), time.time()
    desk = api.desk(project, person, now=now)
    again = "tutorial" in st.query_params
    shown = lesson(project, person, now=now) if again or desk.state is DeskState.GUIDELINE else None
    player(asdict(desk), person, lesson=shown)
