"""Remove a stored release: delete its zip, but keep its name, its row in the database and the reason.

*Reads* release, release_removal. *Writes* release_removal, an event; deletes one zip, unless another release needs it.
"""

from backend.campaign.nouns import Lead, Operator
from backend.campaign.release.export import rows as releases
from backend.campaign.release.export.kept_releases import zip_of
from backend.campaign.release.export.model import RELEASE_REMOVED
from backend.campaign.setup.people.permissions import in_charge
from backend.campaign.setup.project.folder import Project
from backend.core.errors import ProjectError
from backend.core.messages import said
from backend.core.typed_text import nfc, reason_of
from backend.store import events
from backend.store.connection import writing

LONGEST_REASON = 500


@in_charge
def remove_release(
    project: Project, by: Lead | Operator, name: str, confirmation: str, reason: str, *, now: float
) -> None:
    """Remove a release from the list of stored releases, and delete its zip unless another release has the same file.

    Args:
        project: the project.
        by: the person who removes it.
        name: the name of the release.
        confirmation: the name once more, as typed by the person.
        reason: why it is removed; this stays on record.
        now: seconds since 1970.

    Raises:
        ProjectError: there is no such release, the names differ, the reason is blank or too long, or the zip cannot be
            deleted. In the last case, the release is off the list all the same.
    """
    with writing(project.store) as db:
        existing = releases.all_releases(db)
        row = next((release for release in existing if nfc(release.name) == nfc(name)), None)
        if row is None:
            raise ProjectError(said("There is no release called {name} any more. Reload the page.", name=name))
        if nfc(confirmation.strip()) != nfc(row.name):
            raise ProjectError(said("To remove the release, type its name: {name}", name=row.name))
        reason = reason_of(reason, LONGEST_REASON, said("Give a reason: it stays on record."))
        releases.remove(db, row.release_id, reason, at=now, by=by.annotator_id)
        shared = any(release.file == row.file for release in existing if release.release_id != row.release_id)
        events.note(
            db,
            RELEASE_REMOVED,
            by,
            f"release:{row.sha256[:12]}",
            now=now,
            name=row.name,
            sha256=row.sha256,
            file=row.file,
            reason=reason,
        )
    file = zip_of(project, row.file) if row.file and not shared else None
    try:
        if file is not None:
            file.unlink(missing_ok=True)
    except OSError as error:
        raise ProjectError(
            said(
                "{name} is removed from the list, but {file} is still there ({strerror}). Delete it on the server.",
                name=row.name,
                file=row.file,
                strerror=error.strerror,
            )
        ) from None
