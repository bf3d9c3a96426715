"""A release in other forms than TVR-Ranking's."""

from pathlib import Path

from backend.api.pipeline import encoder_needed
from backend.campaign.nouns import Operator, Person
from backend.campaign.release.export import export
from backend.campaign.release.export.formats import exporting
from backend.campaign.release.export.formats.model import FormReport, ReleaseForm
from backend.campaign.release.export.model import ReleaseOptions
from backend.campaign.setup.people import permissions
from backend.campaign.setup.project.folder import Project
from backend.core.progress import Progress


def export_form(
    project: Project,
    by: Person | Operator,
    out: Path,
    form: str,
    options: ReleaseOptions | None = None,
    *,
    threshold: int | None = None,
    progress: Progress | None = None,
) -> FormReport:
    """Write what a release would hold in another form: `trec`, `parquet` or `qvhighlights`; see `formats.exporting`."""
    permissions.require_in_charge(project.store, by)
    wanted, options = ReleaseForm(form), options or ReleaseOptions()
    export.require_ready(project, options, out)  # before the encoder is loaded
    encoder = encoder_needed(project) if wanted is ReleaseForm.PARQUET else None
    return exporting.export_form(project, encoder, out, wanted, options, threshold=threshold, progress=progress)
