"""The addresses of the pages, told before any page is loaded: the guard knows by them what leads nowhere."""

SIGN_IN_PATH = "/session/sign-in"
HEALTH_PATH, READY_PATH = "/healthz", "/readyz"
"""What programs ask that look after a server; see `annotate_app.server.health`."""
TITLES = (
    "Grade",
    "Describe",
    "My work",
    "Set up",
    "Queries",
    "Progress",
    "Disagreements",
    "Agreement",
    "People",
    "Release",
    "Leaderboard",
    "Rewrites",
    "Moments",
    "Descriptions",
    "Guideline",
    "Exam",
    "Gold",
    "Hours",
    "Explore",
    "Activity",
    "Settings",
)
"""Of all pages that `annotate_app.navigation` has."""


def address(title: str) -> str:
    """The path of a page without its slash.

    >>> address("My work")
    'my-work'
    """
    return title.lower().replace(" ", "-")


PAGE_PATHS = frozenset(f"/{address(title)}" for title in TITLES)
