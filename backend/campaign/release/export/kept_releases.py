"""Store releases as named zips under `releases/`, and list, download and compare them.

*Reads* release, its files, the log of what leads did to pairs. *Writes* release, files, an event. The name of a zip has
the hash of its content, so making the same release again makes the same file. The database row is written after the
file, so no row names a file that does not exist yet.
"""

import hashlib
import re
import zipfile
from collections.abc import Iterator, Sequence
from datetime import datetime
from pathlib import Path
from shutil import copyfileobj
from typing import Any

import msgspec

from backend.campaign.nouns import Lead, Operator
from backend.campaign.release.export import diffing
from backend.campaign.release.export import rows as releases
from backend.campaign.release.export.model import RELEASED, Adjudicated, KeptRelease, ReleaseRow
from backend.campaign.release.export.names import next_name, proper_name, proper_notes
from backend.campaign.release.export.rules.diffing import ReleaseDiff, compare
from backend.campaign.setup.people.permissions import in_charge
from backend.campaign.setup.project.folder import Project
from backend.core.atomic_output import new_files
from backend.core.errors import ProjectError
from backend.core.file_system import leads_out, make_private, make_private_folder
from backend.core.messages import said
from backend.core.progress import Progress
from backend.core.typed_text import name_key, nfc
from backend.store import events
from backend.store.connection import Database, reading, writing

FIRST_DAY = (1980, 1, 1, 0, 0, 0)
"""The date of every file in a zip: the earliest that zip can store. A fixed date keeps the bytes the same."""


def keep(project: Project, part: Path, sha256: str) -> tuple[Path, str]:
    """Pack the folder `part` into a zip below `releases/`; return the path of the zip and its SHA-256.

    `sha256` is the hash of the release's manifest, which becomes part of the file name.
    """
    folder, root = project.folder / FOLDER, root_name(project.name, sha256)
    make_private_folder(folder)
    with new_files(folder) as temporary:
        pack(part, temporary / f"{root}.zip", root)
        make_private(temporary / f"{root}.zip")
        digest = file_sha256(temporary / f"{root}.zip")
    return folder / f"{root}.zip", digest


def root_name(name: str, sha256: str) -> str:
    """Return the name of a release's zip and of the folder in it, with characters that are valid on any file system.

    >>> root_name("My films (2)", "0123456789abcdef")
    'My-films-2-0123456789ab'
    """
    plain = re.sub(r"[^A-Za-z0-9._]+", "-", name).strip("-.")
    return f"{plain or 'release'}-{sha256[:12]}"


def pack(folder: Path, file: Path, root: str) -> None:
    """Write the files of a folder into a zip, sorted by name, inside one folder of the zip.

    Args:
        folder: the folder of a release; it has no subfolders.
        file: the zip, which is replaced if it exists.
        root: the name of the folder in the zip.
    """
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for path in sorted(folder.iterdir()):
            entry = zipfile.ZipInfo(f"{root}/{path.name}", FIRST_DAY)
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.create_system = 3  # Unix permissions, so that the bytes are the same on every system
            entry.external_attr = 0o644 << 16
            entry.file_size = path.stat().st_size  # zip needs to know files of more than 4 GiB beforehand
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
    archive: tuple[Path, str] | None,
    out: Path | None = None,
    now: float,
) -> tuple[str, bool]:
    """Store the record of a new release; return its name, and whether the project had it already.

    If an earlier release has the same content, and `name` is None or the name of that release, no new release is
    recorded. `archive` is the path of the zip and its SHA-256. `out` is the folder that it is written to: a second
    event for the same folder, after a killed command, is left out.

    Raises:
        ProjectError: the name was used before, or three releases hold the same content and there are no notes.
    """
    file, digest = (project.stored_path(archive[0]), archive[1]) if archive else (None, None)
    with writing(project.store) as db:
        existing = releases.all_releases(db)
        again = _identical_release(existing, sha256, name, needs_zip=archive is not None)
        if again is None:
            used_names = releases.used_names(db)
            _require_free(used_names, name)
            _require_notes(existing, sha256, notes)
            name = name or next_name(used_names)
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
        final_name = again.name if again else str(name)
        payload = {"name": final_name, "sha256": sha256, "file": file, "again": again is not None}
        asked, changed = events.asked(name=final_name, out=out and out.resolve()), again is None or out is None
        subject = f"release:{sha256[:12]}"
        events.note_once(db, RELEASED, by, subject, payload, now=now, changed=changed, asked=asked)
    return final_name, again is not None


def is_kept(project: Project, name: str | None, sha256: str, *, needs_zip: bool) -> bool:
    """Return whether a release with this manifest hash and name (None for any) is on record, if asked with its zip."""
    with reading(project.store) as db:
        return _identical_release(releases.all_releases(db), sha256, name, needs_zip=needs_zip) is not None


def discard(project: Project, archive: tuple[Path, str] | None) -> None:
    """Delete the zip of a release that could not be recorded, unless another release has the same file."""
    if archive is not None:
        with reading(project.store) as db:
            used = {release.file for release in releases.all_releases(db)}
        if project.stored_path(archive[0]) not in used:
            archive[0].unlink(missing_ok=True)


def require_free(project: Project, name: str | None, sha256: str, notes: str) -> None:
    """Refuse a release that `record` would refuse, before its files are packed.

    Raises:
        ProjectError: the name was used before, or three releases hold the same content and there are no notes.
    """
    with reading(project.store) as db:
        existing, used_names = releases.all_releases(db), releases.used_names(db)
    if not any(release.sha256 == sha256 and name in (None, release.name) for release in existing):
        _require_free(used_names, name)
        _require_notes(existing, sha256, notes)


def _identical_release(
    existing: Sequence[ReleaseRow], sha256: str, name: str | None, *, needs_zip: bool
) -> ReleaseRow | None:
    """Return the first existing release with this manifest hash and this name; None if there is none.

    A `name` of None fits any release. With `needs_zip`, releases without a zip are ignored.
    """
    return next(
        (
            release
            for release in existing
            if release.sha256 == sha256 and name in (None, release.name) and (release.file or not needs_zip)
        ),
        None,
    )


def _require_free(used_names: Sequence[str], name: str | None) -> None:
    if name is not None and any(name_key(used_name) == name_key(name) for used_name in used_names):
        raise ProjectError(
            said("A release called {name} was made before, and names are never reused. Choose another name.", name=name)
        )


def _require_notes(existing: Sequence[ReleaseRow], sha256: str, notes: str) -> None:
    same = [release.name for release in existing if release.sha256 == sha256]
    if len(same) >= MOST_IDENTICAL and not notes:
        raise ProjectError(
            said(
                "{names} already hold exactly this. To make another release of it, say why in the notes.",
                names=", ".join(reversed(same)),
            )
        )


FOLDER = "releases"
"""The folder of the zips, within the project's folder."""
MOST_IDENTICAL = 3
"""The largest number of releases with identical content; one more needs notes that say why."""


@in_charge
def check_new_release(project: Project, by: Lead | Operator, name: str, notes: str) -> None:
    """Refuse an invalid name or invalid notes before a release is made, which takes minutes.

    Raises:
        ProjectError: the name is invalid or was used before, or the notes are too long or have control characters.
    """
    proper_notes(notes)
    with reading(project.store) as db:
        _require_free(releases.used_names(db), proper_name(name))


@in_charge
def next_release_name(project: Project, by: Lead | Operator) -> str:
    """Return the name that the next release gets if the user chooses none."""
    with reading(project.store) as db:
        return next_name(releases.used_names(db))


@in_charge
def list_releases(project: Project, by: Lead | Operator) -> list[KeptRelease]:
    """Return the releases of a project, the newest first, without removed ones."""
    with reading(project.store) as db:
        rows = releases.all_releases(db)
    return [_list_entry(project, row) for row in rows]


@in_charge
def release_file(project: Project, by: Lead | Operator, name: str) -> Path:
    """Return the path of a release's zip, after checking that its hash is the recorded one.

    A project may come from a stranger, and its database may name any file on this machine. So the zip must be in the
    project's folder of releases.

    Raises:
        ProjectError: there is no release of this name; or its zip is missing, outside the folder, or changed.
    """
    with reading(project.store) as db:
        existing = releases.all_releases(db)
    row = next((release for release in existing if nfc(release.name) == nfc(name)), None)
    if row is None:
        names = ", ".join(release.name for release in existing)
        raise ProjectError(
            said(
                "there is no release called {name}; the project has {names}", name=name, names=names or said("none yet")
            )
        )
    if row.file is None:
        raise ProjectError(
            said("only the manifest of the release {name} was kept: its files are not in the project", name=name)
        )
    if (file := zip_of(project, row.file)) is None:
        raise ProjectError(
            said(
                "{name}: {file} is outside of the folder {folder}/ of the project, so it cannot be "
                "downloaded. Put the zip itself there",
                name=name,
                file=row.file,
                folder=FOLDER,
            )
        )
    if not file.is_file():
        raise ProjectError(
            said(
                "the file of the release {name} is missing: put {file} back into the project's folder",
                name=name,
                file=row.file,
            )
        )
    if file_sha256(file) != row.file_sha256:
        raise ProjectError(
            said(
                "{name}: {file} has changed since it was made (its hash differs). Restore it from a copy of "
                "the project's folder",
                name=name,
                file=row.file,
            )
        )
    return file


@in_charge
def release_changes(
    project: Project, by: Lead | Operator, before: str, after: str, *, progress: Progress | None = None
) -> ReleaseDiff:
    """Return the differences between two releases, with what leads did to the pairs in the time between them.

    Args:
        project: the project.
        by: the person who asks for it.
        before: the name of a stored release, or the path of a folder or zip.
        after: the name or path of the other release.
        progress: called with (name of the step, steps done, all steps).

    Raises:
        ProjectError: there is no such release, or `release_file` refuses its zip.
        InputError: one of them cannot be read as a release.
    """
    with reading(project.store) as db:
        names = {release.name for release in releases.all_releases(db)}
    first, second = (
        (
            release_file(project, by, reference)
            if reference in names or not Path(reference).exists()
            else Path(reference),
            reference,
        )
        for reference in (before, after)
    )
    (before_release, before_time), (after_release, after_time) = diffing.read_both(first, second, progress)
    log: dict[str, list[str]] = {}
    if before_time and after_time:
        start, end = sorted(datetime.fromisoformat(at).timestamp() for at in (before_time, after_time))
        with reading(project.store) as db:
            # The time of a release is in whole seconds, so acts within its last second are included.
            for pair_id, words in releases.lead_acts(db, start, end + 1):
                log.setdefault(str(pair_id), []).append(words)
    return compare(before_release, after_release, log)


def damaged_releases(project: Project, db: Database) -> Iterator[str]:
    """Yield a message for each release whose manifest or zip is missing or differs from what was recorded."""
    for row in releases.all_releases(db):
        if hashlib.sha256(row.manifest.encode()).hexdigest() != row.sha256:
            yield f"{row.name}: its manifest was changed"
        elif row.file is not None:
            file = zip_of(project, row.file)
            if file is None:
                yield f"{row.name}: {row.file} is outside of {FOLDER}/"
            elif not file.is_file():
                yield f"{row.name}: {row.file} is missing"
            elif file_sha256(file) != row.file_sha256:
                yield f"{row.name}: {row.file} was changed"


def _list_entry(project: Project, row: ReleaseRow) -> KeptRelease:
    manifest: dict[str, Any] = msgspec.json.decode(row.manifest)
    counts: dict[str, int] = manifest.get("released", {})
    file = zip_of(project, row.file) if row.file else None
    settings = [
        *([said("without adjudicated pairs")] if manifest.get("adjudicated") == Adjudicated.LEAVE_OUT else []),
        *([said("with unfinished queries")] if manifest.get("unfinished_queries") else []),
        *(
            [said("with published captions")]
            if manifest.get("published_captions") and manifest.get("captions") != "published"
            else []
        ),
        *([said("with grades of models")] if manifest.get("model_grades") else []),
    ]
    return KeptRelease(
        name=row.name,
        notes=row.notes,
        made_at=row.made_at,
        made_by=row.made_by,
        sha256=row.sha256,
        state_of=manifest["created_at"],
        file=row.file,
        megabytes=file.stat().st_size / 1e6 if file and file.is_file() else None,
        val_queries=counts.get("val_queries"),
        test_queries=counts.get("test_queries"),
        moments=counts.get("moments"),
        settings=tuple(settings),
    )


def zip_of(project: Project, stored: str) -> Path | None:
    """Return the path of a release's zip; None if it is outside the folder of releases, with links resolved.

    `stored` is the path as recorded, relative to the project's folder.
    """
    file = project.file(stored)
    return None if leads_out(file, project.folder / FOLDER) else file


def file_sha256(file: Path) -> str:
    """Return the SHA-256 of a file, in hexadecimal digits. Large files are read piece by piece."""
    with file.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()
