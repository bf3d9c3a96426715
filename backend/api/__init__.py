"""The Python interface for programs: score runs, and operate an annotation campaign.

Scripts import the class `Campaign` from the package `reelrank`. Each of its methods is one operation on a campaign, and
the module `campaign` of this package lists them.

For what `Campaign` does not offer, call other functions of `backend`, such as
`backend.campaign.review.adjudicating.adjudicate`. They take the project that `open_project` returns. docs/concepts.md
says which package does what.

Modules are imported when they are first used. So scoring imports no database, and opening a project loads no model.
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
