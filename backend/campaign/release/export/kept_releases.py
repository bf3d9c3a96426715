"""List the releases that the project keeps, hand them out, and compare them.

*Reads* release, its files, what leads did. *Writes* nothing.
"""

import hashlib
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

import msgspec

from backend.campaign.nouns import Lead, Operator
from backend.campaign.release.export import diffing
from backend.campaign.release.export import rows as releases
from backend.campaign.release.export.model import Adjudicated, KeptRelease, ReleaseRow
from backend.campaign.release.export.rules.diffing import ReleaseDiff, compare
from backend.campaign.setup.people.permissions import in_charge
from backend.campaign.setup.project.folder import Project
from backend.core.errors import ProjectError
from backend.core.links import leads_out
from backend.core.messages import said
from backend.core.progress import Progress
from backend.core.typed_text import nfc
from backend.store.connection import Database, reading

FOLDER = "releases"
"""Where their zips lie, within the project's folder."""


@in_charge
def list_releases(project: Project, by: Lead | Operator) -> list[KeptRelease]:
    """Return the releases made so far, the newest first."""
    with reading(project.store) as db:
        found = releases.all_releases(db)
    return [_told(project, row) for row in found]


@in_charge
def release_file(project: Project, by: Lead | Operator, name: str) -> Path:
    """Return the zip of a release, after comparing it with the hash that was recorded when it was made.

    A project may come from a stranger, whose database may name any file of this machine.

    Raises:
        ProjectError: there is no release of this name, or its zip is not there, lies elsewhere or was changed.
    """
    with reading(project.store) as db:
        found = releases.all_releases(db)
    row = next((one for one in found if nfc(one.name) == nfc(name)), None)
    if row is None:
        names = ", ".join(one.name for one in found)
        raise ProjectError(
            said("there is no release called {name}; there is {names}", name=name, names=names or said("none yet"))
        )
    if row.file is None:
        raise ProjectError(
            said("of the release {name} only the manifest was kept: it is nowhere in the project", name=name)
        )
    if (file := _zip(project, row.file)) is None:
        raise ProjectError(
            said(
                "{name}: {file} lies outside of the folder {folder}/ of the project, so it is not given out: put the "
                "zip itself there",
                name=name,
                file=row.file,
                folder=FOLDER,
            )
        )
    if not file.is_file():
        raise ProjectError(
            said("the release {name} is gone: put {file} back into the project's folder", name=name, file=row.file)
        )
    if file_sha256(file) != row.file_sha256:
        raise ProjectError(
            said(
                "{name}: {file} is not the file that was made, by its hash: put it back from a copy of the project's "
                "folder",
                name=name,
                file=row.file,
            )
        )
    return file


@in_charge
def release_changes(
    project: Project, by: Lead | Operator, before: str, after: str, *, progress: Progress | None = None
) -> ReleaseDiff:
    """Return what changed from one release to another, with what leads did in between.

    Args:
        project: the project.
        by: who asks.
        before: the name of a kept release, or a folder or zip.
        after: the same of the other.
        progress: called with (what is done, done, all).

    Raises:
        ProjectError: there is no such release, or its zip is gone.
        InputError: one of them cannot be read as a release.
    """
    with reading(project.store) as db:
        names = {one.name for one in releases.all_releases(db)}
    first, second = (
        (release_file(project, by, given) if given in names or not Path(given).exists() else Path(given), given)
        for given in (before, after)
    )
    (one, was), (other, now) = diffing.read_both(first, second, progress)
    log: dict[str, list[str]] = {}
    if was and now:
        start, end = sorted(datetime.fromisoformat(at).timestamp() for at in (was, now))
        with reading(project.store) as db:
            # A release tells the second at which something happened, so the acts of that second count for both.
            for pair_id, words in releases.lead_acts(db, start, end + 1):
                log.setdefault(str(pair_id), []).append(words)
    return compare(one, other, log)


def damaged(project: Project, db: Database) -> Iterator[str]:
    """Yield the releases whose manifest or zip is not what was noted down for it."""
    for row in releases.all_releases(db):
        if hashlib.sha256(row.manifest.encode()).hexdigest() != row.sha256:
            yield f"{row.name}: its manifest was changed"
        elif row.file is not None:
            file = _zip(project, row.file)
            if file is None:
                yield f"{row.name}: {row.file} lies outside of {FOLDER}/"
            elif not file.is_file():
                yield f"{row.name}: {row.file} is missing"
            elif file_sha256(file) != row.file_sha256:
                yield f"{row.name}: {row.file} was changed"


def _told(project: Project, row: ReleaseRow) -> KeptRelease:
    told: dict[str, Any] = msgspec.json.decode(row.manifest)
    held: dict[str, int] = told.get("released", {})
    file = _zip(project, row.file) if row.file else None
    settings = [
        *([said("without what leads decided")] if told.get("adjudicated") == Adjudicated.LEAVE_OUT else []),
        *([said("with unfinished queries")] if told.get("unfinished_queries") else []),
        *(
            [said("with published captions")]
            if told.get("published_captions") and told.get("captions") != "published"
            else []
        ),
    ]
    return KeptRelease(
        name=row.name,
        notes=row.notes,
        made_at=row.made_at,
        made_by=row.made_by,
        sha256=row.sha256,
        state_of=told["created_at"],
        file=row.file,
        megabytes=file.stat().st_size / 1e6 if file and file.is_file() else None,
        val_queries=held.get("val_queries"),
        test_queries=held.get("test_queries"),
        moments=held.get("moments"),
        settings=tuple(settings),
    )


def _zip(project: Project, stored: str) -> Path | None:
    """Return the place of a zip; None where it is not within the folder of releases, links resolved."""
    file = project.file(stored)
    return None if leads_out(file, project.folder / FOLDER) else file


def file_sha256(file: Path) -> str:
    """Return the SHA-256 of a file, of which only a part is held at once."""
    with file.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()
