"""What programs call, below the package `reelrank`: scoring, and the operations of a campaign.

`reelrank.Campaign` is the interface to campaigns for scripts, and `campaign.py` here has the table of its operations.
What it lacks is a function in the package of its feature, such as `backend.campaign.review.adjudicating.adjudicate`;
`open_project` returns the project that such a function takes. docs/concepts.md has a map of the features.

Nothing is imported before it is used. So scoring imports no database, and opening a project loads no model.
"""

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from backend.campaign.setup.project.folder import Project
    from backend.scoring.evaluate import compare, evaluate
else:

    def __getattr__(name: str) -> object:
        if name not in ("compare", "evaluate"):
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        from backend.scoring import evaluate as scoring

        return getattr(scoring, name)


__all__ = ["compare", "evaluate", "open_project"]


def open_project(folder: Path) -> "Project":
    """Open the project in a folder; see `backend.campaign.setup.project.folder.open_project` for its errors."""
    from backend.campaign.setup.project import folder as projects

    return projects.open_project(folder)
