"""The registry of pages: navigation, addresses, the guard, the menu and tests read it.

A new page is one entry here, and its module in `annotate_app.screens`.
"""

from dataclasses import dataclass

from annotate_app.language import marked
from backend.campaign.nouns import Role


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
PAGES = (
    Page(marked("Grade"), Role.ANNOTATOR, ":material/play_circle:"),
    Page(marked("Describe"), Role.ANNOTATOR, ":material/edit_square:"),
    Page(marked("My work"), Role.ANNOTATOR, ":material/insights:"),
    Page(marked("Set up"), Role.LEAD, ":material/checklist:"),
    Page(marked("Queries"), Role.LEAD, ":material/format_list_numbered:"),
    Page(marked("Progress"), Role.LEAD, ":material/monitoring:"),
    Page(marked("Disagreements"), Role.LEAD, ":material/call_split:"),
    Page(marked("Agreement"), Role.LEAD, ":material/balance:"),
    Page(marked("People"), Role.LEAD, ":material/group:"),
    Page(marked("Release"), Role.LEAD, ":material/inventory_2:"),
    Page(marked("Leaderboard"), Role.LEAD, ":material/leaderboard:"),
    Page(marked("Rewrites"), Role.LEAD, ":material/edit_note:"),
    Page(marked("Moments"), Role.LEAD, ":material/content_cut:"),
    Page(marked("Descriptions"), Role.LEAD, ":material/subtitles:"),
    Page(marked("Guideline"), Role.LEAD, ":material/menu_book:"),
    Page(marked("Exam"), Role.LEAD, ":material/school:"),
    Page(marked("Gold"), Role.LEAD, ":material/visibility_off:"),
    Page(marked("Hours"), Role.LEAD, ":material/schedule:"),
    Page(marked("Explore"), Role.LEAD, ":material/explore:"),
    Page(marked("Activity"), Role.LEAD, ":material/history:"),
    Page(marked("Settings"), Role.LEAD, ":material/settings:"),
)
"""In the order of the menu. Where the bar has no room, those at the end are one click further away. (Streamlit would
group pages into menus of their own, but then lists them on a phone in a way that screen readers cannot follow.)"""
