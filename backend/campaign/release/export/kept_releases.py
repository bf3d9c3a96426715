"""Keep releases as named zips under `releases/`, and list, download and compare them.

*Reads* release, its files, what leads did. *Writes* release, files, an event. A zip is named by what it holds, so
making the same release again makes the same file; a row comes after its file, so no row ever names one that is not
there yet.
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
"""The date of every file in a zip: there is none before, and a clock must not change it."""


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
        ProjectError: the name belongs to a release that holds something else, or see `require_news`.
    """
    file, digest = (project.stored_path(kept[0]), kept[1]) if kept else (None, None)
    with writing(project.store) as db:
        found = releases.all_releases(db)
        again = _same(found, sha256, name, kept=kept is not None)
        if again is None:
            taken = releases.used_names(db)
            _require_free(taken, name)
            _require_news(found, sha256, notes)
            name = name or next_name(taken)
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


def discard(project: Project, kept: tuple[Path, str] | None) -> None:
    """Delete the zip of a release that could not be recorded, unless another release is the same file."""
    if kept is not None:
        with reading(project.store) as db:
            used = {one.file for one in releases.all_releases(db)}
        if project.stored_path(kept[0]) not in used:
            kept[0].unlink(missing_ok=True)


def require_free(project: Project, name: str | None, sha256: str, notes: str) -> None:
    """Refuse, before it is packed, a release that `record` would refuse.

    Raises:
        ProjectError: see `record`.
    """
    with reading(project.store) as db:
        found, taken = releases.all_releases(db), releases.used_names(db)
    if not any(one.sha256 == sha256 and name in (None, one.name) for one in found):
        _require_free(taken, name)
        _require_news(found, sha256, notes)


def _same(found: Sequence[ReleaseRow], sha256: str, name: str | None, *, kept: bool) -> ReleaseRow | None:
    """The release that is what somebody makes now, under the name that they say, if they say one."""
    return next(
        (one for one in found if one.sha256 == sha256 and name in (None, one.name) and (one.file or not kept)), None
    )


def _require_free(taken: Sequence[str], name: str | None) -> None:
    if name is not None and any(name_key(one) == name_key(name) for one in taken):
        raise ProjectError(
            said("A release called {name} was made before, and names are never reused. Choose another name.", name=name)
        )


def _require_news(found: Sequence[ReleaseRow], sha256: str, notes: str) -> None:
    same = [one.name for one in found if one.sha256 == sha256]
    if len(same) >= MOST_IDENTICAL and not notes:
        raise ProjectError(
            said(
                "{names} already hold exactly this. To make another release of it, say why in the notes.",
                names=", ".join(reversed(same)),
            )
        )


FOLDER = "releases"
"""Where their zips lie, within the project's folder."""
MOST_IDENTICAL = 3
"""So many releases may hold the same, byte for byte, without a word on why."""


@in_charge
def check_new_release(project: Project, by: Lead | Operator, name: str, notes: str) -> None:
    """Refuse the name or the notes of a release before it is made, which takes minutes.

    Raises:
        ProjectError: the name cannot be one, or was given before; or the notes are too long.
    """
    proper_notes(notes)
    with reading(project.store) as db:
        _require_free(releases.used_names(db), proper_name(name))


@in_charge
def next_release_name(project: Project, by: Lead | Operator) -> str:
    """Return the name of the next release that gets no other."""
    with reading(project.store) as db:
        return next_name(releases.used_names(db))


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
            file = zip_of(project, row.file)
            if file is None:
                yield f"{row.name}: {row.file} is outside of {FOLDER}/"
            elif not file.is_file():
                yield f"{row.name}: {row.file} is missing"
            elif file_sha256(file) != row.file_sha256:
                yield f"{row.name}: {row.file} was changed"


def _told(project: Project, row: ReleaseRow) -> KeptRelease:
    told: dict[str, Any] = msgspec.json.decode(row.manifest)
    held: dict[str, int] = told.get("released", {})
    file = zip_of(project, row.file) if row.file else None
    settings = [
        *([said("without adjudicated pairs")] if told.get("adjudicated") == Adjudicated.LEAVE_OUT else []),
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


def zip_of(project: Project, stored: str) -> Path | None:
    """Return the place of a zip; None where it is not within the folder of releases, links resolved."""
    file = project.file(stored)
    return None if leads_out(file, project.folder / FOLDER) else file


def file_sha256(file: Path) -> str:
    """Return the SHA-256 of a file, of which only a part is held at once."""
    with file.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()
