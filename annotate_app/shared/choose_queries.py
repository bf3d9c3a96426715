"""Choosing queries by name: a search offers some, and what was chosen stays whatever is searched for next.

A project may have thousands of queries; the widget never asks for all of them.
"""

from collections.abc import MutableMapping
from typing import Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from annotate_app.language import tr
from backend.campaign.nouns import Person
from backend.campaign.review.model import QueryFilter
from backend.campaign.review.queries import find_queries
from backend.campaign.setup.project.folder import Project
from backend.core.ids import QueryId

_OFFERED = 100
"""Queries that a search offers."""


def choose_queries(
    project: Project,
    lead: Person,
    name: str,
    labels: tuple[str, str],
    columns: tuple[DeltaGenerator, DeltaGenerator],
    *,
    none: str,
) -> None:
    """A search beside the queries that are chosen; `chosen(name)` says which.

    Not for a form, in which a search would offer nothing until the form is sent.

    Args:
        project: the project.
        lead: who chooses.
        name: of what is chosen, in the session.
        labels: of the search and of the choice.
        columns: where they are drawn.
        none: what it means that nothing is chosen.
    """
    words = columns[0].text_input(labels[0], key=f"{name}_search", placeholder=tr("Words of the query, or its number"))
    found = find_queries(project, lead, QueryFilter(search=words), most=_OFFERED) if words else []
    texts: MutableMapping[Any, str] = st.session_state.setdefault(f"{name}_names", {})
    texts.update({one.query_id: one.query for one in found})
    columns[1].multiselect(
        labels[1],
        list(dict.fromkeys([*chosen(name), *(one.query_id for one in found)])),
        format_func=lambda one: texts.get(one, str(one)),
        key=f"{name}_queries",
        placeholder=none,
    )


def chosen(name: str) -> list[QueryId]:
    """What is chosen."""
    return list(st.session_state.get(f"{name}_queries") or ())


def clear(name: str) -> None:
    """Choose nothing; for callbacks."""
    st.session_state.pop(f"{name}_queries", None)
