"""The addresses of the pages, told before any page is loaded: the guard knows by them what leads nowhere."""

SIGN_IN_PATH = "/session/sign-in"
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
