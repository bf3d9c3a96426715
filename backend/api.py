"""The documented Python interface: score runs, open or create a project, export a release.

    from backend.api import evaluate, export_release, open_project

Everything else that can be done to a project is a verb of the feature it belongs to, such as
`backend.campaign.review.adjudicating.adjudicate`; docs/concepts.md has a map of the features. What a function
needs is imported only when the function is used. So scoring imports no database, and opening a project loads no model.
"""

from pathlib import Path
from typing import TYPE_CHECKING, Any

from backend.campaign.nouns import OPERATOR, Operator, Person

if TYPE_CHECKING:
    from backend.campaign.release.export.freezing import ReleaseReport
    from backend.campaign.release.export.model import ReleaseOptions
    from backend.campaign.setup.project.folder import Project
    from backend.scoring.evaluate import compare, evaluate
else:

    def __getattr__(name: str) -> object:
        if name not in ("compare", "evaluate"):
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        from backend.scoring import evaluate as scoring

        return getattr(scoring, name)


__all__ = ["OPERATOR", "compare", "evaluate", "export_release", "init_project", "open_project"]


def open_project(folder: Path) -> "Project":
    """Open a project; see `backend.campaign.setup.project.folder.open_project`."""
    from backend.campaign.setup.project import folder as projects

    return projects.open_project(folder)


def init_project(folder: Path, **options: Any) -> "Project":
    """Create an empty project; see `backend.campaign.setup.project.sentence_encoder.init_project`."""
    from backend.campaign.setup.project import sentence_encoder

    return sentence_encoder.init_project(folder, **options)


def export_release(
    project: "Project",
    by: Person | Operator,
    out: Path | None,
    options: "ReleaseOptions | None" = None,
    **more: Any,
) -> "ReleaseReport":
    """Freeze a release; see `backend.campaign.release.export.freezing.export_release`."""
    from backend.campaign.release.export import freezing

    return freezing.export_release(project, by, out, options, **more)
