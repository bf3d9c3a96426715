"""Releases that the project keeps: each whole, as one zip under `releases/`, by a name, for ever.

*Reads* release, its files. *Writes* release, files, an event. A zip is named by what it holds, so making the same
release again makes the same file; a row comes after its file, so no row ever names one that is not there yet.
"""

import hashlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import msgspec

from backend.campaign.nouns import Lead, Operator
from backend.campaign.release.export import rows as releases
from backend.campaign.release.export.archive import pack, root_name
from backend.campaign.release.export.model import Adjudicated, KeptRelease, ReleaseRow
from backend.campaign.setup.project.folder import Project
from backend.core.arriving import new_files
from backend.core.errors import ProjectError
from backend.core.links import leads_out
from backend.core.person_names import is_readable, spaced
from backend.core.private import make_private, make_private_folder
from backend.core.saying import said
from backend.core.text_files import control_fault
from backend.core.typed_text import nfc
from backend.store import events
from backend.store.connection import Database, reading, writing
from backend.store.events import EventKind

FOLDER = "releases"
LONGEST_NAME = 100
LONGEST_NOTES = 2000


def proper_name(name: str | None) -> str | None:
    """A name for a release, or None for the next `release-N`; that it is free is for `record` to say.

    Raises:
        ProjectError: it cannot be read, or is too long.
    """
    if name is None or not name.strip():
        return None
    name = spaced(name)
    if not is_readable(name) or len(name) > LONGEST_NAME:
        raise ProjectError(
            said(
                "a release needs a name that can be read, of at most {longest} characters",
                longest=LONGEST_NAME,
            )
        )
    return name


def proper_notes(notes: str) -> str:
    """What to say about a release.

    Raises:
        ProjectError: it is too long, or has control characters.
    """
    notes = notes.strip()
    if fault := control_fault(notes):
        raise ProjectError(fault)
    if len(notes) > LONGEST_NOTES:
        raise ProjectError(
            said(
                "the notes have {length:,} characters: say it in {longest:,}",
                length=len(notes),
                longest=LONGEST_NOTES,
            )
        )
    return notes


def keep(project: Project, part: Path, sha256: str) -> tuple[Path, str]:
    """Put a release that lies in a folder among the kept ones: its zip, and the SHA-256 of that."""
    folder, root = project.folder / FOLDER, root_name(project.name, sha256)
    make_private_folder(folder)
    with new_files(folder) as own:
        pack(part, own / f"{root}.zip", root)
        make_private(own / f"{root}.zip")
        digest = _sha256(own / f"{root}.zip")
    return folder / f"{root}.zip", digest


def record(
    project: Project,
    by: Lead | Operator,
    manifest: str,
    sha256: str,
    *,
    name: str | None,
    notes: str,
    kept: tuple[Path, str] | None,
    now: float,
) -> tuple[str, bool]:
    """Note down a release that was made: its name, and whether it was there already.

    A release without a name of its own that holds what another one holds is that one. `kept` is the zip and its hash.

    Raises:
        ProjectError: the name belongs to a release that holds something else.
    """
    file, file_sha256 = (project.stored_path(kept[0]), kept[1]) if kept else (None, None)
    with writing(project.store) as db:
        found = releases.all_releases(db)
        again = _same(found, sha256, name, kept=kept is not None)
        if again is None:
            _require_free(found, name)
            taken = {one.name for one in found}
            number = max((one.release_id for one in found), default=0) + 1
            while name is None:
                name = f"release-{number}" if f"release-{number}" not in taken else None
                number += 1
            releases.add(
                db,
                manifest,
                sha256,
                name=name,
                notes=notes,
                file=file,
                file_sha256=file_sha256,
                at=now,
                by=by.annotator_id,
            )
        called = again.name if again else str(name)
        events.record(
            db,
            EventKind.RELEASED,
            at=now,
            actor=by.annotator_id,
            subject=f"release:{sha256[:12]}",
            payload={"name": called, "sha256": sha256, "file": file, "again": again is not None},
        )
    return called, again is not None


def require_free(project: Project, name: str | None, sha256: str) -> None:
    """Refuse the name of a release that holds something else than what has this hash.

    Raises:
        ProjectError: it is taken.
    """
    with reading(project.store) as db:
        _require_free([one for one in releases.all_releases(db) if one.sha256 != sha256], name)


def _same(found: Sequence[ReleaseRow], sha256: str, name: str | None, *, kept: bool) -> ReleaseRow | None:
    """The release that is what somebody makes now, under the name that they say, if they say one."""
    return next(
        (one for one in found if one.sha256 == sha256 and name in (None, one.name) and (one.file or not kept)), None
    )


def _require_free(found: Sequence[ReleaseRow], name: str | None) -> None:
    if name is not None and any(nfc(one.name) == name for one in found):
        raise ProjectError(
            said("a release called {name} was made before: releases are never replaced, give another name", name=name)
        )


def listed(project: Project) -> list[KeptRelease]:
    """All releases, the newest first."""
    with reading(project.store) as db:
        found = releases.all_releases(db)
    return [_told(project, row) for row in found]


def file_of(project: Project, name: str) -> Path:
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
    if _sha256(file) != row.file_sha256:
        raise ProjectError(
            said(
                "{name}: {file} is not the file that was made, by its hash: put it back from a copy of the project's "
                "folder",
                name=name,
                file=row.file,
            )
        )
    return file


def damaged(project: Project, db: Database) -> Iterator[str]:
    """Releases whose manifest or zip is not what was noted down for it."""
    for row in releases.all_releases(db):
        if hashlib.sha256(row.manifest.encode()).hexdigest() != row.sha256:
            yield f"{row.name}: its manifest was changed"
        elif row.file is not None:
            file = _zip(project, row.file)
            if file is None:
                yield f"{row.name}: {row.file} lies outside of {FOLDER}/"
            elif not file.is_file():
                yield f"{row.name}: {row.file} is missing"
            elif _sha256(file) != row.file_sha256:
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


def _sha256(file: Path) -> str:
    with file.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()
