"""The registry of pages, as the menu of leads: doors, groups, and pages that appear when they mean something."""

import pytest

from annotate_app import navigation
from annotate_app.pages import GROUPS, PAGES
from backend.campaign.nouns import Role
from backend.campaign.review.model import InUse
from small_project import SmallProject


def test_every_page_of_a_lead_is_a_door_or_in_a_group() -> None:
    of_leads = [page for page in PAGES if page.role is Role.LEAD]
    doors = [page.title for page in of_leads if not page.group]
    assert doors == ["Set up", "Progress", "Queries", "Disputes", "Release", "Leaderboard"]
    assert {group: [page.title for page in pages] for group, pages in GROUPS.items()} == {
        "Team": ["People", "Hours"],
        "Training": ["Guideline", "Exam", "Calibration", "Gold"],
        "Data": ["Videos", "Moments", "Captions"],
        "Analysis": ["Agreement", "Explore"],
        "Project": ["Settings", "Activity", "Backups"],
    }
    assert len(doors) + sum(map(len, GROUPS.values())) == len(of_leads)


@pytest.mark.parametrize(
    ("used", "left_out"),
    [
        (InUse(captions=False, rewrites=False, descriptions=False, gold=False), {"Captions", "Gold"}),
        (InUse(captions=True, rewrites=False, descriptions=False, gold=False), {"Gold"}),
        (InUse(captions=False, rewrites=False, descriptions=True, gold=True), set()),
    ],
)
def test_a_page_that_means_nothing_yet_is_not_in_the_menu(
    real_project: SmallProject, monkeypatch: pytest.MonkeyPatch, used: InUse, left_out: set[str]
) -> None:
    monkeypatch.setattr(navigation.auth, "project", lambda: real_project.project)
    monkeypatch.setattr(navigation, "in_use", lambda _project, _person: used)
    assert navigation._left_out(real_project.lead) == left_out
    assert navigation._left_out(real_project.person("Ana")) == {"Describe"}
    assert navigation._left_out(None) == {"Describe"}
