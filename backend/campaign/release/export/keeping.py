"""Keep a release in the project: whole, as one zip under `releases/`, by a name, for ever.

*Reads* release. *Writes* release, files, an event. A zip is named by what it holds, so making the same release again
makes the same file; a row comes after its file, so no row ever names one that is not there yet.
"""

import re
import zipfile
from collections.abc import Sequence
from pathlib import Path
from shutil import copyfileobj

from backend.campaign.nouns import Lead, Operator
from backend.campaign.release.export import rows as releases
from backend.campaign.release.export.kept_releases import FOLDER, file_sha256
from backend.campaign.release.export.model import RELEASED, ReleaseRow
from backend.campaign.setup.project.folder import Project
from backend.core.atomic_output import new_files
from backend.core.errors import ProjectError
from backend.core.file_system import make_private, make_private_folder
from backend.core.messages import said
from backend.core.text_files import control_fault
from backend.core.typed_text import is_readable, nfc, spaced
from backend.store import events
from backend.store.connection import reading, writing

LONGEST_NAME = 100
LONGEST_NOTES = 2000
FIRST_DAY = (1980, 1, 1, 0, 0, 0)
"""The date of every file in a zip: there is none before, and a clock must not change it."""


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
        digest = file_sha256(own / f"{root}.zip")
    return folder / f"{root}.zip", digest


def root_name(name: str, sha256: str) -> str:
    """What the zip of a release, and the folder in it, are called: by what it holds, in letters that any disk takes.

    >>> root_name("My films (2)", "0123456789abcdef")
    'My-films-2-0123456789ab'
    """
    plain = re.sub(r"[^A-Za-z0-9._]+", "-", name).strip("-.")
    return f"{plain or 'release'}-{sha256[:12]}"


def pack(folder: Path, file: Path, root: str) -> None:
    """Write the files of a folder into a zip, by name, under one folder of its own.

    Args:
        folder: a release; it has no folders in it.
        file: the zip, which is replaced where it is there.
        root: the name of the folder that unpacking it makes.
    """
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for path in sorted(folder.iterdir()):
            entry = zipfile.ZipInfo(f"{root}/{path.name}", FIRST_DAY)
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.create_system = 3  # rights are told as on Unix, on whichever system it is made
            entry.external_attr = 0o644 << 16
            entry.file_size = path.stat().st_size  # tells a file of more than 4 GiB beforehand
            with path.open("rb") as source, archive.open(entry, "w") as target:
                copyfileobj(source, target, 1 << 20)


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
    file, digest = (project.stored_path(kept[0]), kept[1]) if kept else (None, None)
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
                file_sha256=digest,
                at=now,
                by=by.annotator_id,
            )
        called = again.name if again else str(name)
        events.record(
            db,
            RELEASED,
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
