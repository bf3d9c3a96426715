"""Refuse what would change the record: queries and encoder are fixed once candidate lists exist."""

from backend.campaign.selection.queries import rows
from backend.campaign.setup.project.folder import Project
from backend.core.errors import ProjectError
from backend.core.messages import said


def require_no_lists(project: Project) -> None:
    """Refuse to go on once candidate lists are stored, or pairs of an earlier campaign stand in their place.

    Raises:
        ProjectError: there are some; it names what they come from.
    """
    db = project.store.db
    if rows.any_list(db):
        made_with = ", ".join(dict.fromkeys(rows.source_names(db))) or "no encoder"
        raise ProjectError(
            said("the candidate lists exist already (made with {encoder}); they are the record", encoder=made_with)
        )
    if rows.any_batch(db):
        raise ProjectError(
            said("the pairs of an earlier campaign were imported with their queries; they are the record")
        )
