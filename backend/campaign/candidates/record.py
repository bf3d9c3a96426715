"""Candidate lists are the record: there is one set of them, and it is never made again."""

from backend.campaign.candidates.rows import lists
from backend.campaign.project.folder import Project
from backend.ground.errors import ProjectError


def require_no_lists(project: Project) -> None:
    """Refuse to go on once candidate lists are stored, or pairs of an earlier campaign stand in their place.

    Raises:
        ProjectError: there are some; it names their encoder.
    """
    if made_by := lists.encoder_of_candidates(project.store.db):
        raise ProjectError(f"the candidate lists exist already (made with {made_by}); they are the record")
    if lists.any_batch(project.store.db):
        raise ProjectError("the pairs of an earlier campaign were imported with their queries; they are the record")
