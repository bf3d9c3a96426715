"""The queries that people search with."""

from collections.abc import Sequence
from pathlib import Path

from backend.campaign.nouns import Operator, Person, Split
from backend.campaign.review import query_removal
from backend.campaign.review.query_removal import TakenBack
from backend.campaign.selection.candidates.record import require_no_lists
from backend.campaign.selection.queries import drawing, editing
from backend.campaign.selection.queries import rows as queries
from backend.campaign.selection.queries.drawing import QueryReport
from backend.campaign.selection.queries.model import DrawOptions, ListedQuery, OwnFile, Repeats, Stratum
from backend.campaign.setup.people import permissions
from backend.campaign.setup.project.folder import Project
from backend.core.ids import QueryId
from backend.core.reading import bytes_of
from backend.core.text_files import csv_text
from backend.store.connection import reading, writing


def draw_queries(
    project: Project,
    by: Person | Operator,
    *,
    val: int = 0,
    test: int = 0,
    seed: int = 0,
    own: Path | OwnFile | None = None,
    own_split: Split = Split.TEST,
    stratum: Stratum | None = None,
    show_of: str | None = None,
    repeats: Repeats = Repeats.KEEP,
    dry_run: bool = False,
    now: float,
) -> QueryReport:
    """Draw validation and test queries, take a person's own from a file, or both; the other captions train.

    Own queries may also be added later, as long as there are no candidate lists. The lines of a text file are of the
    split `own_split`; a table says it itself. With `dry_run` everything is checked and nothing is written.
    """
    someone = permissions.require_in_charge(project.store, by)
    file = OwnFile(bytes_of(own), own.name, own_split) if isinstance(own, Path) else own
    asked = DrawOptions(val, test, seed, stratum, show_of, repeats)
    with reading(project.store) if dry_run else writing(project.store):
        if file and not asked.draws:
            require_no_lists(project)
        return drawing.draw(project, someone, asked, own=file, dry_run=dry_run, now=now)


def queries_csv(project: Project, by: Person | Operator) -> str:
    """The queries that are judged, for systems that answer them: their numbers, which runs name, splits and texts."""
    permissions.require_in_charge(project.store, by)
    rows = queries.query_rows(project.store.db, (Split.VAL, Split.TEST))
    return csv_text(("query_id", "split", "query"), ((one.query_id, one.split.value, one.text) for one in rows))


def take_back_queries(project: Project, by: Person | Operator, *, now: float) -> TakenBack:
    """Remove all queries, with candidates, batches, pairs and seats, as long as nobody has worked on them."""
    return query_removal.take_back(project.store, permissions.require_in_charge(project.store, by), now=now)


def drawn_queries(
    project: Project, by: Person | Operator, search: str = "", *, first: int = 0, most: int
) -> list[ListedQuery]:
    """At most so many of the validation and test queries with all these words, with candidates or without."""
    permissions.require_in_charge(project.store, by)
    return queries.listed(project.store.db, search, first=first, most=most)


def count_drawn_queries(project: Project, by: Person | Operator, search: str = "") -> int:
    """How many validation and test queries have all these words."""
    permissions.require_in_charge(project.store, by)
    return queries.count_listed(project.store.db, search)


def change_query(
    project: Project, by: Person | Operator, query_id: QueryId, text: str, split: Split, *, seen: str, now: float
) -> bool:
    """Give a query another text or split, as long as there are no candidate lists; whether anything is new.

    Raises:
        Overtaken: it no longer has the text that was seen.
        ProjectError: there are candidate lists, no text, or that of another query.
    """
    someone = permissions.require_in_charge(project.store, by)
    with writing(project.store):
        require_no_lists(project)
        return editing.change(project.store, someone, query_id, text, split, seen=seen, now=now)


def remove_queries(project: Project, by: Person | Operator, query_ids: Sequence[QueryId], *, now: float) -> int:
    """Remove queries, as long as there are no candidate lists; how many were there."""
    someone = permissions.require_in_charge(project.store, by)
    with writing(project.store):
        require_no_lists(project)
        return editing.remove(project.store, someone, query_ids, now=now)
