"""The registry of pages: navigation, addresses, the guard, the menu and tests read it.

A new page is one entry here, and its module in `annotate_app.screens`.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NewType

from annotate_app.language import marked
from backend.campaign.nouns import Role

Group = NewType("Group", str)
"""The English title of a menu in the bar, which opens on some pages of leads."""


@dataclass(frozen=True, slots=True)
class Page:
    """One page of the app.

    >>> page = Page("My work", Role.ANNOTATOR, ":material/insights:")
    >>> page.address, page.module
    ('my-work', 'annotate_app.screens.my_work')
    """

    title: str
    """In English; shown in the reader's language."""
    role: Role
    """Whose page it is."""
    icon: str
    group: Group | None = None
    """The menu that has this page; without one, the page is in the bar."""
    former: Mapping[str, str] = field(default_factory=dict)
    """Addresses that lead here since their pages were renamed or became parts of this one, each with the query that
    asks for the part. `exam?trial` is the page Exam, asked for a `trial`."""

    @property
    def address(self) -> str:
        """Its path without the slash."""
        return address(self.title)

    @property
    def module(self) -> str:
        """The module whose function `page` shows it."""
        return f"annotate_app.screens.{self.title.lower().replace(' ', '_')}"


def address(title: str) -> str:
    """Return the path of a page without its slash.

    >>> address("My work")
    'my-work'
    """
    return title.lower().replace(" ", "-")


DESCRIBE = "Describe"
"""The page that annotators have only while a lead lets them describe."""
FRONT = {Role.ANNOTATOR: "Grade", Role.LEAD: "Queries"}
"""The page that `/` leads to."""
TEAM, TRAINING, DATA = Group(marked("Team")), Group(marked("Training")), Group(marked("Data"))
ANALYSIS, PROJECT = Group(marked("Analysis")), Group(marked("Project"))
PAGES = (
    Page(marked("Grade"), Role.ANNOTATOR, ":material/play_circle:"),
    Page(marked("Describe"), Role.ANNOTATOR, ":material/edit_square:"),
    Page(marked("My work"), Role.ANNOTATOR, ":material/insights:"),
    Page(marked("Set up"), Role.LEAD, ":material/checklist:"),
    Page(marked("Progress"), Role.LEAD, ":material/monitoring:"),
    Page(marked("Queries"), Role.LEAD, ":material/format_list_numbered:"),
    Page(marked("Disputes"), Role.LEAD, ":material/call_split:", former={"disagreements": ""}),
    Page(marked("Release"), Role.LEAD, ":material/inventory_2:"),
    Page(marked("Leaderboard"), Role.LEAD, ":material/leaderboard:"),
    Page(marked("People"), Role.LEAD, ":material/group:", TEAM),
    Page(marked("Hours"), Role.LEAD, ":material/schedule:", TEAM),
    Page(marked("Guideline"), Role.LEAD, ":material/menu_book:", TRAINING),
    Page(marked("Exam"), Role.LEAD, ":material/school:", TRAINING),
    Page(marked("Calibration"), Role.LEAD, ":material/tune:", TRAINING, former={"exam?trial": ""}),
    Page(marked("Gold"), Role.LEAD, ":material/visibility_off:", TRAINING),
    Page(marked("Videos"), Role.LEAD, ":material/video_library:", DATA),
    Page(marked("Moments"), Role.LEAD, ":material/content_cut:", DATA),
    Page(
        marked("Captions"),
        Role.LEAD,
        ":material/subtitles:",
        DATA,
        former={"rewrites": "part=rewrites", "descriptions": "part=descriptions"},
    ),
    Page(marked("Agreement"), Role.LEAD, ":material/balance:", ANALYSIS),
    Page(marked("Explore"), Role.LEAD, ":material/explore:", ANALYSIS),
    Page(marked("Settings"), Role.LEAD, ":material/settings:", PROJECT),
    Page(marked("Activity"), Role.LEAD, ":material/history:", PROJECT),
    Page(marked("Backups"), Role.LEAD, ":material/shield:", PROJECT),
)
"""In the order of the menu: first the bar, then its groups."""
GROUPS = {group: [page for page in PAGES if page.group == group] for group in (TEAM, TRAINING, DATA, ANALYSIS, PROJECT)}
"""The pages of each group."""
