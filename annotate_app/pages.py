"""List all pages of the app. The navigation, the addresses, the session check, the menu and the tests read this list.

To add a page, add an entry here and a module in `annotate_app.screens`.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NewType

from annotate_app.language import marked
from backend.campaign.nouns import Role

Group = NewType("Group", str)
"""English title of a menu in the navigation bar, which groups pages of leads."""


@dataclass(frozen=True, slots=True)
class Page:
    """One page of the app.

    Attributes:
        title: the English title; pages show it in the reader's language.
        role: the role that may open the page.
        icon: the icon in the menu.
        group: the drop-down menu that contains the page; None shows the page directly in the menu bar.
        former: maps former addresses to the query string that opens the same content on this page. Their pages were
            renamed, or became parts of this page. `exam?trial` is the page Exam with a query parameter `trial`.

    >>> page = Page("My work", Role.ANNOTATOR, ":material/insights:")
    >>> page.address, page.module
    ('my-work', 'annotate_app.screens.my_work')
    """

    title: str
    role: Role
    icon: str
    group: Group | None = None
    former: Mapping[str, str] = field(default_factory=dict)

    @property
    def address(self) -> str:
        """Path of the page without its leading slash."""
        return address(self.title)

    @property
    def module(self) -> str:
        """Dotted name of the module whose function `page` draws the page."""
        return f"annotate_app.screens.{self.title.lower().replace(' ', '_')}"


def address(title: str) -> str:
    """Return the path of the page with this title, without its leading slash.

    >>> address("My work")
    'my-work'
    """
    return title.lower().replace(" ", "-")


DESCRIBE = "Describe"
"""Title of the page that annotators have only while a lead lets them describe."""
FRONT = {Role.ANNOTATOR: "Grade", Role.LEAD: "Queries"}
"""Title of the page that `/` leads to, by role."""
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
"""All pages in the order of the menu: first the bar, then its groups."""
GROUPS = {group: [page for page in PAGES if page.group == group] for group in (TEAM, TRAINING, DATA, ANALYSIS, PROJECT)}
"""The pages of each group."""
