"""The documented Python interface: score runs, open or create a project, export a release.

    from backend.api import evaluate, export_release, open_project

Every other action on a project is a function in the package of its feature, for example
`backend.campaign.review.adjudicating.adjudicate`. docs/concepts.md has a map of the features.

Each function imports its dependencies only when it is called. So scoring imports no database, and opening a project
loads no model.
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
    """Open the project in a folder; see `backend.campaign.setup.project.folder.open_project` for its errors."""
    from backend.campaign.setup.project import folder as projects

    return projects.open_project(folder)


def init_project(folder: Path, **options: Any) -> "Project":
    """Create an empty project in a folder, and return it.

    `options` are the keyword arguments of `backend.campaign.setup.project.sentence_encoder.init_project`: the encoder,
    its kind, and the scale of grades.
    """
    from backend.campaign.setup.project import sentence_encoder

    return sentence_encoder.init_project(folder, **options)


def export_release(
    project: "Project",
    by: Person | Operator,
    out: Path | None,
    options: "ReleaseOptions | None" = None,
    **more: Any,
) -> "ReleaseReport":
    """Export a release: a frozen copy of the project's results, with hashes, in a new folder and as a zip.

    `out` is the folder to create; with None, the project only keeps the zip. `more` are the keyword arguments of
    `backend.campaign.release.export.freezing.export_release`, such as `name` and the required `now`.
    """
    from backend.campaign.release.export import freezing

    return freezing.export_release(project, by, out, options, **more)
