"""Which pages a role gets. How much waits on a lead's page, `menu_counts` writes behind its title.

A page of another role exists only to say so; the permission checks decide, whatever page is open.
"""

from functools import partial
from importlib import import_module

import streamlit as st
from streamlit.navigation.page import StreamlitPage

from annotate_app.language import tr
from annotate_app.pages import DESCRIBE, FRONT, PAGES
from annotate_app.screens import set_up
from annotate_app.session import auth
from backend import api
from backend.campaign.nouns import Person, Role

_SCREENS = {page.title: import_module(page.module).page for page in PAGES}


def page_for(person: Person | None) -> StreamlitPage:
    """The page this run shows.

    `/` leads on to the page that the person's role works with most; a lead of a project in which nobody can grade yet
    to where that is changed, and somebody who may describe there to that.
    """
    role = None if person is None else person.role
    describes = person is not None and role is Role.ANNOTATOR and api.may_describe(auth.project(), person)
    pages = {
        page.title: st.Page(
            _SCREENS[page.title] if page.role is role else partial(_not_yours, page.role),
            title=tr(page.title),
            icon=page.icon,
            url_path=page.address,
            visibility="visible" if page.role is role and (describes or page.title != DESCRIBE) else "hidden",
        )
        for page in PAGES
    }

    def lead_on() -> None:
        first = FRONT[role or Role.ANNOTATOR]
        if person is not None and role is Role.LEAD and set_up.is_first(auth.project(), person):
            first = "Set up"
        elif person is not None and describes and api.describing_comes_first(auth.project(), person):
            first = DESCRIBE
        st.switch_page(pages[first])

    # Streamlit serves its default page at `/` only. With this one in between, every page keeps its own address.
    front = st.Page(lead_on, title="ReelRank", default=True, visibility="hidden")
    # The menu sits in the header, which is there anyway: it takes no height from the desk.
    return st.navigation([front, *pages.values()], position="top" if role is not None else "hidden")


def _not_yours(owner: Role) -> None:
    auth.require(owner)
