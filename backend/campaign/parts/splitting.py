"""Split a project, before people begin, into projects over disjoint queries.

*Reads* a snapshot of the project, and *writes* one new folder with a project for each part. The project itself does not
change. Rows keep their ids, so those of queries and pairs are disjoint, and `joining` can put the parts together again.

Once people have graded, a project stays whole: browsers may hold grades of its pairs that they have not sent yet, and
an exam, gold questions and quality flags look at all of a person's work.
"""

import os
import secrets
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from backend.campaign.judging.rows import seats
from backend.campaign.nouns import Split
from backend.campaign.parts.rows import splits
from backend.campaign.selection.candidates import rows as candidates_rows
from backend.campaign.setup.people.permissions import commands_only
from backend.campaign.setup.project.folder import Project
from backend.campaign.setup.project.model import PROJECT_SPLIT
from backend.campaign.setup.project.places import DATABASE_FILE, SETTINGS_FILE
from backend.campaign.setup.project.settings_file import set_database
from backend.core.atomic_output import new_folder
from backend.core.errors import ProjectError
from backend.core.file_system import make_private_file, make_private_folder
from backend.core.ids import QueryId
from backend.core.messages import joined, said
from backend.store import events, sqlite
from backend.store.connection import Database, reading, writing

_FILES = ("cast.csv", "videos", "files", "pooled")
"""What else a project's folder holds that cannot be made again."""
PAIRS_OF_PART = 100_000_000
"""How far apart the numbers are that parts give to later pairs. TVR-Ranking has 96,483 pairs."""


@dataclass(frozen=True, slots=True)
class PartCounts:
    """A part that `split` made: its folder, and its numbers of validation and test queries and of pairs."""

    folder: Path
    val: int
    test: int
    pairs: int


def part_folder(out: Path, number: int) -> Path:
    """Return the folder of a part; `number` counts from 1."""
    return out / f"part-{number}"


@commands_only
def split(project: Project, parts: int, out: Path, *, now: float) -> list[PartCounts]:
    """Make `parts` projects of one, each with its share of the validation and test queries, and all of the rest.

    The queries are dealt out in the order in which they are handed out: the first to part 1, the second to part 2. All
    parts have the users with their passwords, the videos, captions, training queries, rules and settings.

    Args:
        project: the project, on which nobody has worked yet. Its database may be in PostgreSQL; those of the parts are
            files.
        parts: the number of parts, at least 2.
        out: the new folder for them: `part-1`, `part-2` and so on.
        now: seconds since 1970, recorded in each part.

    Raises:
        ProjectError: people have worked on the project, it is a part already, it has too few queries, or `out` exists.
    """
    with reading(project.store) as db:
        _require_whole(project, db, parts, now=now)
        queries, (_, last_pair) = [query for query, _ in splits.judged_queries(db)], splits.pair_numbers(db)
    key = secrets.token_hex(8)
    with new_folder(out) as part_of_disk:
        snapshot = part_of_disk.parent / DATABASE_FILE
        make_private_file(snapshot)
        project.store.copy_to(snapshot)
        made = []
        for number in range(1, parts + 1):
            folder = part_folder(part_of_disk, number)
            bring_files(project.folder, folder)
            first_pair = last_pair + 1 + (number - 1) * PAIRS_OF_PART
            payload = {"split": key, "part": number, "parts": parts, "first_pair": first_pair}
            counts = _make(snapshot, folder, queries[number - 1 :: parts], payload, now=now)
            made.append(PartCounts(part_folder(out, number), *counts))
    return made


def bring_files(source: Path, folder: Path) -> None:
    """Make a project's folder with the settings and files of another project; large files share their place on disk."""
    make_private_folder(folder)
    shutil.copy2(source / SETTINGS_FILE, folder / SETTINGS_FILE)
    set_database(folder, "")
    for name in _FILES:
        if (source / name).is_dir():
            shutil.copytree(source / name, folder / name, symlinks=True, copy_function=_link, dirs_exist_ok=True)
        elif (source / name).exists() and not (folder / name).exists():
            shutil.copy2(source / name, folder / name)


def _link(source: str, target: str) -> None:
    if os.path.lexists(target):  # two parts may have the same video
        return
    try:
        os.link(source, target)
    except OSError:  # another disk, or a file system without links
        shutil.copy2(source, target)


def _require_whole(project: Project, db: Database, parts: int, *, now: float) -> None:
    if part := splits.part_of(db):
        raise ProjectError(
            said(
                "{folder} is part {number} of {parts} already: split the project that it was made of into more parts",
                folder=project.folder,
                number=part.number,
                parts=part.parts,
            )
        )
    if work := splits.begun(db, now=now):
        raise ProjectError(
            said(
                "{folder} has {work}, so it stays one project: a project is split before people begin. Set exams and "
                "gold questions in each part after the split",
                folder=project.folder,
                work=joined(", ", work),
            )
        )
    queries = len(splits.judged_queries(db))
    if queries < parts:
        raise ProjectError(
            said(
                "{folder} has {queries} validation and test queries, too few for {parts} parts: add queries, or make "
                "fewer parts",
                folder=project.folder,
                queries=queries,
                parts=parts,
            )
        )


def _make(
    snapshot: Path, folder: Path, queries: Sequence[QueryId], payload: dict[str, object], *, now: float
) -> tuple[int, int, int]:
    """Make the database of a part; return its numbers of validation queries, test queries and pairs."""
    store = sqlite.create(folder / DATABASE_FILE)
    try:
        with splits.attached(store.db, snapshot), splits.filling(store.db):
            splits.copy_part(store.db, queries)
        with writing(store) as db:
            free_desks(db)
            last = {"last": splits.last_ids(db)}
            events.record(db, PROJECT_SPLIT, at=now, actor=None, subject="project", payload=payload | last)
            kinds, pairs = [kind for _, kind in splits.judged_queries(db)], splits.pair_numbers(db)[0]
    finally:
        store.close()
    return kinds.count(Split.VAL), kinds.count(Split.TEST), pairs


def free_desks(db: Database) -> None:
    """Take all ungraded pairs off people's desks, which are on another server, and rebuild the agenda."""
    for person in splits.holders(db):
        seats.release(db, person)
    candidates_rows.rebuild_agenda(db)
