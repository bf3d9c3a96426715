"""Who did what and when, and how the campaign is set up, in words."""

from backend.campaign.monitoring.activity import settings as setup
from backend.campaign.monitoring.activity import telling
from backend.campaign.monitoring.activity.model import ActivityEntry, ActivityFilter, CampaignSetting
from backend.campaign.monitoring.activity.rows import people
from backend.campaign.nouns import Operator, Person
from backend.campaign.setup.people import permissions
from backend.campaign.setup.project.folder import Project


def find_activity(
    project: Project, by: Person | Operator, wanted: ActivityFilter, *, first: int, most: int
) -> list[ActivityEntry]:
    """At most so many entries of the log, the newest first, from the given one on (counted from 0)."""
    permissions.require_in_charge(project.store, by)
    return telling.entries(project.store, wanted, first=first, most=most)


def count_activity(project: Project, by: Person | Operator, wanted: ActivityFilter) -> int:
    """How many entries of the log are wanted."""
    permissions.require_in_charge(project.store, by)
    return telling.count(project.store, wanted)


def activity_csv(project: Project, by: Person | Operator, wanted: ActivityFilter) -> str:
    """All entries that are wanted as CSV, the newest first; instants in UTC."""
    permissions.require_in_charge(project.store, by)
    return telling.as_csv(project.store, wanted)


def activity_people(project: Project, by: Person | Operator) -> list[str]:
    """The names of all people who may stand in the log, leads first."""
    permissions.require_in_charge(project.store, by)
    return people(project.store.db)


def campaign_settings(project: Project, by: Person | Operator) -> list[CampaignSetting]:
    """Every setting in words, by what it belongs to: its value, what it changes, since when, by whom, where."""
    permissions.require_in_charge(project.store, by)
    return setup.settings(project)
