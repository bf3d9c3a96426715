"""The lead's page "Activity": who did what and when, newest first, with filters and a CSV download."""

import time
from functools import partial
from html import escape

import streamlit as st

from annotate_app.language import marked, tr, translate_message, translated
from annotate_app.shared import address_state, look, wording
from annotate_app.shared.long_list import ListColumn, ListRow, long_list
from backend.campaign.monitoring.activity.log import activity_csv, activity_people, count_activity, find_activity
from backend.campaign.monitoring.activity.model import ActivityEntry, ActivityFilter
from backend.campaign.nouns import Person
from backend.campaign.setup.project.folder import Project
from backend.core.days import midnight
from backend.core.events import EventGroup

_GROUPS = {
    "": marked("All except grading"),
    EventGroup.DECISIONS.value: marked("Decisions"),
    EventGroup.PEOPLE.value: marked("People"),
    EventGroup.TRAINING.value: marked("Guideline, exam, gold"),
    EventGroup.MATERIAL.value: marked("Corpus, captions, queries"),
    EventGroup.RESULTS.value: marked("Releases and runs"),
    EventGroup.DESK.value: marked("Work at the desk"),
    EventGroup.GRADES.value: marked("Grades"),
}
_DAYS = {"": marked("All days"), "1": marked("Today"), "7": marked("Last 7 days"), "30": marked("Last 30 days")}
_COLUMNS = (
    ListColumn(marked("When")),
    ListColumn(marked("Who")),
    ListColumn(marked("What")),
    ListColumn(marked("About"), phone=False),
)
_CLEARS = ("page",)


def page() -> None:
    """Draw the filters, the activity entries that match them, and a CSV download."""
    project, lead, _ = look.lead_page("Activity")
    people = activity_people(project, lead)
    search_column, group, who, days = st.columns([4, 3, 2, 2], vertical_alignment="center")
    with search_column:
        words = address_state.search(tr("Search: words of a query, a reason, a file"), type="search")
    with group:
        chosen = address_state.choice(
            tr("About"), "about", translated(_GROUPS), clears=_CLEARS, box=True, label_visibility="collapsed"
        )
    with who:
        names = {"": tr("Everybody"), **{name: name for name in people}}
        by = address_state.choice(tr("Who"), "by", names, clears=_CLEARS, box=True, label_visibility="collapsed")
    with days:
        since = address_state.choice(
            tr("Days"), "days", translated(_DAYS), clears=_CLEARS, box=True, label_visibility="collapsed"
        )
    entry_filter = ActivityFilter(
        EventGroup(chosen) if chosen else None,
        by,
        midnight(time.time(), days_ago=int(since) - 1) if since else None,
        None,
        words.strip(),
    )
    _list(project, lead, entry_filter)


def _list(project: Project, lead: Person, entry_filter: ActivityFilter) -> None:
    def rows(first: int, most: int) -> list[ListRow]:
        return [_row(entry) for entry in find_activity(project, lead, entry_filter, first=first, most=most)]

    count = count_activity(project, lead, entry_filter)
    long_list(
        tr("Activity"),
        _COLUMNS,
        count,
        rows,
        opens="query",
        noun="entry",
        nothing=tr("No activity to show."),
        page="/queries",
    )
    if count:
        make = partial(activity_csv, project, lead, entry_filter)
        look.csv_download(tr("Download as CSV"), make, "activity.csv", "activity_csv", ":material/download:")


def _row(entry: ActivityEntry) -> ListRow:
    """Return the list row of an activity entry. A click opens the entry's query, if it is about a query or a pair."""
    who = escape(entry.by) if entry.by else "<span class='rr-quiet'>" + tr("automatic") + "</span>"
    cells = (
        wording.when(entry.at, st.context.timezone),
        who,
        escape(translate_message(entry.words)),
        escape(translate_message(entry.about)),
    )
    return ListRow(entry.query_id or "", cells)
