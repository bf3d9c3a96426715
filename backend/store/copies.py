"""Keep copies of earlier states of a database, find them again, and list copies."""

import shutil
import sqlite3
import stat
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from backend.store.address import DUMP_ENDING
from backend.store.files import COMPANIONS, NEVER_COPIED, atomic_file, copy, damage_of, part_file, remove_secrets, sync

_HEADER = 100
"""Bytes of the header of an SQLite file; https://www.sqlite.org/fileformat.html, section 1.3."""


@dataclass(frozen=True, slots=True)
class Backup:
    """A copy of the database in the project's folder.

    `made_at` is when the file was last written, in seconds since 1970.
    """

    file: Path
    made_at: float
    megabytes: float


def backups(folder: Path, name: str = "*") -> list[Backup]:
    """Return the copies in a folder, newest first; none if the folder does not exist. Links are left out.

    `name` is a pattern of the names without their ending, such as `reelrank.before-*` for what `restore`, `migrate` and
    `move` kept.
    """
    copies = []
    for file in (*folder.glob(f"{name}.db"), *folder.glob(f"{name}{DUMP_ENDING}")):
        with suppress(FileNotFoundError):  # somebody may be deleting files
            status = file.lstat()
            if stat.S_ISREG(status.st_mode):  # leads download what is listed: a link could be to any file
                copies.append(Backup(file, status.st_mtime, status.st_size / 1e6))
    return sorted(copies, key=lambda backup: (-backup.made_at, backup.file.name))


def keep(present: sqlite3.Connection, old_file: Path) -> Path:
    """Copy the present database to `old_file`, byte for byte if it is damaged; return where the copy is.

    An earlier copy of the same state is returned instead. If the database is intact, the copy has neither the
    campaign's secret nor tokens, which a copy of the project must not share.
    """
    with part_file(old_file) as part:
        copy(present, part)
        if not damage_of(part):
            remove_secrets(part)
        if earlier := _earlier_copy(part, old_file):
            return earlier
        sync(part)
        part.replace(old_file)
        sync(old_file.parent)
    return old_file


def keep_file(path: Path, old_file: Path) -> Path:
    """Copy an unreadable database file and its companions to `old_file`, unless an earlier copy has its bytes."""
    if earlier := _earlier_copy(path, old_file):
        return earlier
    for file in (path, *companions(path)):
        if file.exists():
            with atomic_file(old_file.with_name(old_file.name + file.name.removeprefix(path.name))) as copied:
                shutil.copyfile(file, copied)
    return old_file


def companions(path: Path) -> list[Path]:
    """Return the paths of the files that SQLite may keep beside a database."""
    return [path.with_name(path.name + end) for end in COMPANIONS]


def _earlier_copy(file: Path, copied: Path) -> Path | None:
    """Return a database beside the free path `copied`, kept by an earlier command, that has the content of `file`.

    So a command that is run again after it was killed keeps no second copy. Bytes of the header that count openings
    are not compared.
    """
    kept = copied.parent.glob(f"{copied.name.partition('.before-')[0]}.before-*{file.suffix}")
    return next((one for one in sorted(kept) if not one.is_symlink() and _same_pages(one, file)), None)


def _same_pages(one: Path, other: Path) -> bool:
    """Compare two SQLite files except for bytes 18 and 19 (journal), 24 to 27 and 92 to 99 (change counters)."""
    if one.stat().st_size != other.stat().st_size:
        return False
    with one.open("rb") as left, other.open("rb") as right:
        heads = (bytearray(left.read(_HEADER)), bytearray(right.read(_HEADER)))
        for head in heads:
            for part in (slice(18, 20), slice(24, 28), slice(92, 100)):
                head[part] = bytes(len(head[part]))
        if heads[0] != heads[1]:
            return False
        while block := left.read(1 << 20):
            if block != right.read(1 << 20):
                return False
    return True


def same_rows(present: sqlite3.Connection, file: Path, *, but_events: str) -> bool:
    """Return whether a database and a file have the same tables and rows.

    Events of the kind `but_events` and the rows that no copy has (`NEVER_COPIED`) are not compared.
    """
    present.execute("ATTACH ? AS other", [str(file)])
    try:
        mine, theirs = (
            set(present.execute(f"SELECT name, sql FROM {of}.sqlite_master WHERE name NOT LIKE 'sqlite_%'"))
            for of in ("main", "other")
        )
        if mine != theirs:
            return False
        for name in {name for name, sql in mine if sql.startswith("CREATE TABLE")} - {*NEVER_COPIED}:
            only = f"WHERE kind <> '{but_events}'" if name == "event" else ""
            left, right = (f'SELECT * FROM {of}."{name}" {only}' for of in ("main", "other"))
            for difference in (f"{left} EXCEPT {right}", f"{right} EXCEPT {left}"):
                if present.execute(f"{difference} LIMIT 1").fetchone():
                    return False
        return True
    finally:
        present.execute("DETACH other")
