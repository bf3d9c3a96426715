"""Join the parts that `splitting` made of a project, with the work that people did in them, into one project.

*Reads* a snapshot of each part, and *writes* one new folder with a project. The parts do not change. If people did in
the parts what they would have done in one campaign, the releases of both have the same bytes.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from backend.campaign.judging.verdicts import rebuild_verdicts
from backend.campaign.parts.model import PARTS_JOINED, TABLES, Joining, PartOfSplit
from backend.campaign.parts.rows import comparing, splits
from backend.campaign.parts.rows import joined as joined_rows
from backend.campaign.parts.splitting import bring_files, free_desks
from backend.campaign.review import status
from backend.campaign.setup.people.permissions import commands_only
from backend.campaign.setup.project.folder import open_project
from backend.campaign.setup.project.places import DATABASE_FILE
from backend.campaign.setup.project.settings import ProjectSettings
from backend.core.atomic_output import new_folder
from backend.core.errors import ProjectError
from backend.core.file_system import make_private_file
from backend.core.messages import joined, said
from backend.store import events, sqlite
from backend.store.connection import Database, writing

_SETTINGS = ("name", "encoder", "encoder_kind", "encoder_dtype", "cast")
"""Settings in `reelrank.toml` that a release depends on."""


@dataclass(frozen=True, slots=True)
class JoinReport:
    """What `join` made: the numbers of validation and test queries, pairs, judgements and annotators.

    `other_passwords` names the users who had different passwords in different parts.
    """

    folder: Path
    queries: int
    pairs: int
    judgements: int
    annotators: int
    other_passwords: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Source:
    """A part to join: its folder, what it is part of, its settings, and a snapshot of its database."""

    folder: Path
    part: PartOfSplit
    settings: ProjectSettings
    snapshot: Path


@commands_only
def join(folders: Sequence[Path], out: Path, *, now: float) -> JoinReport:
    """Make one project of all parts of a split project. People may go on working in the parts meanwhile.

    A user is the same person in all parts if the name is the same, as in signing in. If they have several
    passwords, that of the part with the lowest number is valid. Pairs that are on desks become free. Assignments,
    invitations, sessions, tokens, webhooks, and the parts' own releases and leaderboards stay behind.

    Args:
        folders: the folders of the parts, in any order.
        out: the folder of the new project. Its settings are those of part 1, and its database is a file.
        now: seconds since 1970, recorded in the new project.

    Raises:
        ProjectError: the folders are not all parts of one split; the parts have other rules, or the same query; or
            `out` exists. Nothing is written.
    """
    with new_folder(out) as made:
        parts = _read(folders, made.parent)
        for part in parts:
            bring_files(part.folder, made)
        store = sqlite.create(made / DATABASE_FILE)
        try:
            comparing.compare_names(store)
            _stage(store.db, parts)
            _require_joinable(store.db, parts)
            passwords = comparing.other_passwords(store.db)
            _fill(store.db, parts)
            with writing(store) as db:
                payload = {"split": parts[0].part.split, "parts": len(parts)}
                events.record(db, PARTS_JOINED, at=now, actor=None, subject="project", payload=payload)
            rebuild_verdicts(store)
            with writing(store) as db:
                free_desks(db)
            counts = status.counts(store)
        finally:
            store.close()
    return JoinReport(
        folder=out,
        queries=counts["queries"]["val"] + counts["queries"]["test"],
        pairs=sum(counts["pairs"].values()),
        judgements=counts["judgements"],
        annotators=counts["annotators"],
        other_passwords=tuple(passwords),
    )


def _read(folders: Sequence[Path], temporary: Path) -> list[_Source]:
    """Copy the database of each part, and return the parts by number, after checking that they are one whole."""
    sources = []
    for place, folder in enumerate(folders):
        project = open_project(folder)
        try:
            part = splits.part_of(project.store.db)
            if part is None:
                raise ProjectError(
                    said(
                        "{folder} is not a part that `reelrank split` made, so the numbers of its queries may be those "
                        "of others too: import all queries into one project, split that, and let people grade in its "
                        "parts. To keep the grades, make a release of {folder} alone",
                        folder=folder,
                    )
                )
            snapshot = temporary / f"{place}.db"
            make_private_file(snapshot)
            project.store.copy_to(snapshot)
            sources.append(_Source(folder, part, project.settings, snapshot))
        finally:
            project.store.close()
    if not sources:
        raise ProjectError(said("no part is named: name the folders of all parts, then the folder to make"))
    sources.sort(key=lambda source: source.part.number)
    _require_whole(sources)
    return sources


def _require_whole(sources: Sequence[_Source]) -> None:
    first = sources[0]
    for before, source in pairwise(sources):
        if source.part.split != first.part.split:
            raise ProjectError(
                said(
                    "{folder} and {other} are parts of different splits: join the parts of one `reelrank split`",
                    folder=first.folder,
                    other=source.folder,
                )
            )
        if source.part.number == before.part.number:
            raise ProjectError(
                said(
                    "{folder} and {other} are both part {number}, so they overlap: name each part once",
                    folder=before.folder,
                    other=source.folder,
                    number=source.part.number,
                )
            )
    missing = [n for n in range(1, first.part.parts + 1) if n not in {source.part.number for source in sources}]
    if missing:
        raise ProjectError(
            said(
                "{missing} of {parts} parts are not named (number {numbers}): name the folders of all parts",
                missing=len(missing),
                parts=first.part.parts,
                numbers=", ".join(map(str, missing)),
            )
        )


def _stage(db: Database, parts: Sequence[_Source]) -> None:
    for part in parts:
        with splits.attached(db, part.snapshot):
            if comparing.checks_pools(db):
                raise ProjectError(
                    said("{folder} checks pools, which is done in a project of its own", folder=part.folder)
                )
            comparing.stage(db, part.part.number)


def _require_joinable(db: Database, parts: Sequence[_Source]) -> None:
    """Refuse parts whose rules or settings differ, or that have the same query."""
    first = parts[0]
    for part in parts[1:]:
        differing = [
            table.words
            for name, table in TABLES.items()
            if table.joining is Joining.RULE and comparing.different_rule(db, name, part.part.number)
        ]
        if comparing.different_training(db, part.part.number):
            differing.append(said("the training queries"))
        if comparing.terms(db, part.part.number) != comparing.terms(db, 1):
            differing.append(said("the licence and citation"))
        for name in _SETTINGS:
            if getattr(part.settings, name) != getattr(first.settings, name):
                differing.append(said("the setting `{name}`", name=name))
        if differing:
            raise ProjectError(
                said(
                    "{folder} and {other} have different rules ({what}): make them the same in both, then join",
                    folder=first.folder,
                    other=part.folder,
                    what=joined(", ", differing),
                )
            )
    if found := comparing.overlaps(db):
        one, other, query, text = found[0]
        raise ProjectError(
            said(
                "{folder} and {other} both have query {query} (“{text}”), and {n} in all: remove it in one of them. "
                "Add queries before a project is split",
                folder=parts[one - 1].folder,
                other=parts[other - 1].folder,
                query=query,
                text=text,
                n=len(found),
            )
        )
    for purpose, holding in comparing.held_exams(db):
        raise ProjectError(
            said(
                "{folders} each hold {what} now, and one project holds one: end it in all but one of them",
                folders=", ".join(str(parts[number - 1].folder) for number in holding),
                what=said("an exam") if purpose == "exam" else said("a calibration round"),
            )
        )


def _fill(db: Database, parts: Sequence[_Source]) -> None:
    with splits.filling(db):
        if different := joined_rows.join(db, [part.part.last for part in parts]):
            words, name, column, one, other = different
            raise ProjectError(
                said(
                    "{words} “{name}” differs between {folder} and {other} ({column}): make it the same in both, then "
                    "join",
                    words=words,
                    name=name,
                    folder=parts[one - 1].folder,
                    other=parts[other - 1].folder,
                    column=column,
                )
            )
