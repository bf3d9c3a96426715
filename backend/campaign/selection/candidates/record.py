"""Candidate lists are the record: there is one set of them, and it is never made again."""

from backend.campaign.selection.candidates.rows import lists, sources
from backend.campaign.setup.project.folder import Project
from backend.core.errors import ProjectError
from backend.core.saying import said


def require_no_lists(project: Project) -> None:
    """Refuse to go on once candidate lists are stored, or pairs of an earlier campaign stand in their place.

    Raises:
        ProjectError: there are some; it names what they come from.
    """
    if lists.any_list(project.store.db):
        raise ProjectError(
            said(
                "the candidate lists exist already (made with {encoder}); they are the record",
                encoder=made_with(project),
            )
        )
    if lists.any_batch(project.store.db):
        raise ProjectError(
            said("the pairs of an earlier campaign were imported with their queries; they are the record")
        )


def made_with(project: Project) -> str:
    """What the candidate lists come from, in words: encoders by their identity, runs by their names."""
    names = [source.name for source in sources.all_sources(project.store.db)]
    return ", ".join(dict.fromkeys(names)) or "no encoder"
