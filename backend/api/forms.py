"""A release in other forms than TVR-Ranking's."""

from pathlib import Path

from backend.api.pipeline import encoder_needed
from backend.campaign.nouns import Operator, Person
from backend.campaign.people import gate
from backend.campaign.project.folder import Project
from backend.campaign.release import export
from backend.campaign.release.formats import exporting
from backend.campaign.release.formats.model import FormReport, ReleaseForm
from backend.campaign.release.model import ReleaseOptions
from backend.ground.progress import Progress


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
    gate.in_charge(project.store, by)
    wanted, options = ReleaseForm(form), options or ReleaseOptions()
    export.require_ready(project, options, out)  # before the encoder is loaded
    encoder = encoder_needed(project) if wanted is ReleaseForm.PARQUET else None
    return exporting.export_form(project, encoder, out, wanted, options, threshold=threshold, progress=progress)
