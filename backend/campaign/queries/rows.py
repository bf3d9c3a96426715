"""Queries: reads and writes."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from backend.campaign.nouns import Split
from backend.ground.ids import QueryId
from backend.store.engine import Database


@dataclass(frozen=True, slots=True)
class QueryRow:
    """A query of the project."""

    query_id: QueryId
    text: str
    split: Split


def add_queries(db: Database, drawn: Iterable[tuple[str, int, Split]]) -> None:
    """Insert queries as (text, caption_id, split), in the order in which they will be judged."""
    db.conn.executemany(
        "INSERT INTO query (text, caption_id, split, position) VALUES (?, ?, ?, ?)",
        ((text, caption_id, split.value, n) for n, (text, caption_id, split) in enumerate(drawn, start=1)),
    )


def query_rows(db: Database, splits: Sequence[Split] = tuple(Split)) -> list[QueryRow]:
    """Queries of the named splits, in judging order."""
    marks = ", ".join("?" * len(splits))
    rows = db.conn.execute(
        f"SELECT query_id, text, split FROM query WHERE split IN ({marks}) ORDER BY position",
        [split.value for split in splits],
    )
    return [QueryRow(QueryId(row[0]), row[1], Split(row[2])) for row in rows]


def split_counts(db: Database) -> dict[str, int]:
    """How many queries each split has."""
    found = dict(db.conn.execute("SELECT split, count(*) FROM query GROUP BY split").fetchall())
    return {split.value: found.get(split.value, 0) for split in Split}
