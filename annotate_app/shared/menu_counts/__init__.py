"""How much waits for a lead, behind the titles in the menu; up to date by itself, whatever page is open.

The browser asks the route `/lead/waiting` now and then, and at once when the tab is looked at again. The counts are
drawn beside the titles by a style sheet, never by a run of the page: no dialog closes, and nothing typed is lost.
"""

from collections.abc import Callable
from pathlib import Path

import streamlit as st

from annotate_app.pages import address
from annotate_app.shared import waiting
from annotate_app.shared.desk import joined
from backend import api
from backend.campaign.nouns import Person

MORE: list[Callable[[api.Project, Person], dict[str, str]]] = []
"""What else is told behind a title, by who knows: the server adds itself."""
_HERE = Path(__file__).parent
_mount = st.components.v2.component(
    "reelrank_menu_counts",
    html='<div class="rr-menu-counts" hidden></div>',
    js=joined(_HERE, ("../../shared/full_path.js", "../../shared/keyboard.js", "menu_counts.js")),
    isolate_styles=False,
)


def menu_counts(project: api.Project, lead: Person) -> None:
    """Puts the counts into the menu, and keeps them true."""
    _mount(key="menu-counts", data={"told": told(project, lead), "every_ms": 1000 * waiting.REFRESH_S})


def told(project: api.Project, lead: Person) -> dict[str, object]:
    """What the route answers: the counts by the path of their page, and when they were made, in seconds since 1970."""
    kept = waiting.now_waiting(project, lead)
    counts = waiting.counts(kept.waits, kept.stuck)
    for more in MORE:
        counts |= more(project, lead)
    return {"at": kept.at, "counts": {f"/{address(title)}": count for title, count in counts.items()}}
