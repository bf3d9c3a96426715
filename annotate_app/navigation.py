"""Which pages a role gets. How much waits on a lead's page, `menu_counts` writes behind its title.

A page of another role exists only to say so; the gate decides, whatever page is open.
"""

from collections.abc import Callable
from functools import partial

import streamlit as st
from streamlit.navigation.page import StreamlitPage

from annotate_app.language import tr
from annotate_app.screens import (
    activity,
    agreement,
    annotate,
    describe,
    descriptions,
    disagreements,
    exam,
    explore,
    gold,
    guideline,
    hours,
    leaderboard,
    moments,
    my_work,
    people,
    progress,
    queries,
    release,
    rewrites,
    set_up,
    settings,
)
from annotate_app.session import auth
from annotate_app.session.addresses import address
from backend import api
from backend.campaign.nouns import Person, Role

_DESCRIBE = "Describe"
"""The page that an annotator has only while a lead lets them describe."""

_PAGES: tuple[tuple[Role, Callable[[], None], str, str], ...] = (
    (Role.ANNOTATOR, annotate.page, "Grade", ":material/play_circle:"),
    (Role.ANNOTATOR, describe.page, _DESCRIBE, ":material/edit_square:"),
    (Role.ANNOTATOR, my_work.page, "My work", ":material/insights:"),
    (Role.LEAD, set_up.page, "Set up", ":material/checklist:"),
    (Role.LEAD, queries.page, "Queries", ":material/format_list_numbered:"),
    (Role.LEAD, progress.page, "Progress", ":material/monitoring:"),
    (Role.LEAD, disagreements.page, "Disagreements", ":material/call_split:"),
    (Role.LEAD, agreement.page, "Agreement", ":material/balance:"),
    (Role.LEAD, people.page, "People", ":material/group:"),
    (Role.LEAD, release.page, "Release", ":material/inventory_2:"),
    (Role.LEAD, leaderboard.page, "Leaderboard", ":material/leaderboard:"),
    (Role.LEAD, rewrites.page, "Rewrites", ":material/edit_note:"),
    (Role.LEAD, moments.page, "Moments", ":material/content_cut:"),
    (Role.LEAD, descriptions.page, "Descriptions", ":material/subtitles:"),
    (Role.LEAD, guideline.page, "Guideline", ":material/menu_book:"),
    (Role.LEAD, exam.page, "Exam", ":material/school:"),
    (Role.LEAD, gold.page, "Gold", ":material/visibility_off:"),
    (Role.LEAD, hours.page, "Hours", ":material/schedule:"),
    (Role.LEAD, explore.page, "Explore", ":material/explore:"),
    (Role.LEAD, activity.page, "Activity", ":material/history:"),
    (Role.LEAD, settings.page, "Settings", ":material/settings:"),
)
"""Where the bar has no room, those at the end are one click further away. (Streamlit would group pages into menus of
their own, but then lists them on a phone in a way that screen readers cannot follow.)"""

_FRONT = {Role.ANNOTATOR: "Grade", Role.LEAD: "Queries"}
"""Where `/` leads."""


def page_for(person: Person | None) -> StreamlitPage:
    """The page this run shows.

    `/` leads on to the page that the person's role works with most; a lead of a project in which nobody can grade yet
    to where that is changed, and somebody who may describe there to that.
    """
    role = None if person is None else person.role
    describes = person is not None and role is Role.ANNOTATOR and api.may_describe(auth.project(), person)
    pages = {
        title: st.Page(
            page if owner is role else partial(_not_yours, owner),
            title=tr(title),
            icon=icon,
            url_path=address(title),
            visibility="visible" if owner is role and (describes or title != _DESCRIBE) else "hidden",
        )
        for owner, page, title, icon in _PAGES
    }

    def lead_on() -> None:
        first = _FRONT[role or Role.ANNOTATOR]
        if person is not None and role is Role.LEAD and set_up.is_first(auth.project(), person):
            first = "Set up"
        elif person is not None and describes and api.describing_comes_first(auth.project(), person):
            first = _DESCRIBE
        st.switch_page(pages[first])

    # Streamlit serves its default page at `/` only. With this one in between, every page keeps its own address.
    front = st.Page(lead_on, title="ReelRank", default=True, visibility="hidden")
    # The menu sits in the header, which is there anyway: it takes no height from the desk.
    return st.navigation([front, *pages.values()], position="top" if role is not None else "hidden")


def _not_yours(owner: Role) -> None:
    auth.require(owner)
