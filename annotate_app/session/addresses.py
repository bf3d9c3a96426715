"""The addresses of the pages, told before any page is loaded: the guard knows by them what leads nowhere."""

from annotate_app.language import marked

SIGN_IN_PATH = "/session/sign-in"
HEALTH_PATH, READY_PATH = "/healthz", "/readyz"
"""What programs ask that look after a server; see `annotate_app.server.health`."""
TITLES = (
    marked("Grade"),
    marked("Describe"),
    marked("My work"),
    marked("Set up"),
    marked("Queries"),
    marked("Progress"),
    marked("Disagreements"),
    marked("Agreement"),
    marked("People"),
    marked("Release"),
    marked("Leaderboard"),
    marked("Rewrites"),
    marked("Moments"),
    marked("Descriptions"),
    marked("Guideline"),
    marked("Exam"),
    marked("Gold"),
    marked("Hours"),
    marked("Explore"),
    marked("Activity"),
    marked("Settings"),
)
"""Of all pages that `annotate_app.navigation` has."""


def address(title: str) -> str:
    """The path of a page without its slash.

    >>> address("My work")
    'my-work'
    """
    return title.lower().replace(" ", "-")


PAGE_PATHS = frozenset(f"/{address(title)}" for title in TITLES)
