"""SQL for queries, and to tell whether candidates or batches exist. Once they do, no query may change."""

import json
from collections.abc import Iterable, Sequence

from backend.campaign.nouns import Split
from backend.campaign.selection.queries.model import DrawnQuery, ListedQuery, OwnQuery, QueryRow
from backend.core.ids import MomentId, QueryId
from backend.store.engine import Database, like_pattern


def add_drawn(db: Database, drawn: Iterable[DrawnQuery]) -> None:
    """Insert drawn queries after the existing ones, in judging order."""
    last = _last_position(db)
    db.conn.executemany(
        "INSERT INTO query (text, caption_id, split, position) VALUES (?, ?, ?, ?)",
        ((query.text, query.caption_id, query.split.value, last + n) for n, query in enumerate(drawn, start=1)),
    )


def add_own(db: Database, mine: Iterable[OwnQuery]) -> None:
    """Insert a person's own queries after the existing ones."""
    last = _last_position(db)
    db.conn.executemany(
        "INSERT INTO query (text, source, split, position) VALUES (?, ?, ?, ?)",
        ((query.text, query.source, query.split.value, last + n) for n, query in enumerate(mine, start=1)),
    )


def add_released(db: Database, released: Iterable[QueryRow], source: str) -> None:
    """Insert the queries of a release with the ids that they have there. A release does not tell their captions."""
    last = _last_position(db)
    db.conn.executemany(
        "INSERT INTO query (query_id, text, source, split, position) VALUES (?, ?, ?, ?, ?)",
        (
            (query.query_id, query.text, source, query.split.value, last + n)
            for n, query in enumerate(released, start=1)
        ),
    )


def moment_places(db: Database) -> dict[MomentId, tuple[str, float, float]]:
    """Map each moment to (video, start, end), with times in seconds."""
    rows = db.conn.execute("SELECT moment_id, name, start_s, end_s FROM moment JOIN video USING (video_id)")
    return {MomentId(row[0]): (row[1], row[2], row[3]) for row in rows}


def query_rows(db: Database, splits: Sequence[Split] = tuple(Split)) -> list[QueryRow]:
    """Return the queries of the named splits, in judging order."""
    marks = ", ".join("?" * len(splits))
    return _where(db, f"split IN ({marks}) ORDER BY position, query_id", [split.value for split in splits])


def _where(db: Database, condition: str, values: Sequence[object]) -> list[QueryRow]:
    rows = db.conn.execute(f"SELECT query_id, text, split FROM query WHERE {condition}", values)
    return [QueryRow(QueryId(row[0]), row[1], Split(row[2])) for row in rows]


def listed(db: Database, search: str, *, first: int, most: int) -> list[ListedQuery]:
    """Return the validation and test queries that contain all words of `search`, in judging order.

    The first `first` of them are skipped, and at most `most` are returned.
    """
    where, words = _with_words(search)
    rows = db.conn.execute(
        f"SELECT query_id, text, split, source FROM query WHERE {where} ORDER BY position, query_id LIMIT ? OFFSET ?",
        [*words, most, first],
    )
    return [ListedQuery(QueryId(row[0]), row[1], Split(row[2]), row[3]) for row in rows]


def count_listed(db: Database, search: str) -> int:
    """Return how many validation and test queries contain all words of `search`."""
    where, words = _with_words(search)
    count: int = db.conn.execute(f"SELECT count(*) FROM query WHERE {where}", words).fetchone()[0]
    return count


def _with_words(search: str) -> tuple[str, list[str]]:
    words = search.split()
    return " AND ".join(["split <> 'train'", *["text LIKE ? ESCAPE '!'"] * len(words)]), [*map(like_pattern, words)]


def find(db: Database, query_ids: Sequence[QueryId]) -> list[QueryRow]:
    """Return the queries with these ids; an id that no query has is skipped."""
    return _where(db, "query_id IN (SELECT value FROM json_each(?)) ORDER BY position", [json.dumps(query_ids)])


def of_text(db: Database, text: str) -> list[QueryRow]:
    """Return the queries with this text; several training queries may have the same text."""
    return _where(db, "text = ?", [text])


def change(db: Database, query_id: QueryId, text: str, split: Split) -> None:
    """Give a query another text and split."""
    db.conn.execute("UPDATE query SET text = ?, split = ? WHERE query_id = ?", [text, split.value, query_id])


def remove(db: Database, query_ids: Sequence[QueryId]) -> None:
    """Remove queries that no other row refers to."""
    db.conn.executemany("DELETE FROM query WHERE query_id = ?", ([query_id] for query_id in query_ids))


def split_counts(db: Database) -> dict[str, int]:
    """Return how many queries each split has."""
    counts = dict(db.conn.execute("SELECT split, count(*) FROM query GROUP BY split").fetchall())
    return {split.value: counts.get(split.value, 0) for split in Split}


def any_list(db: Database) -> bool:
    """Return whether any candidate is stored, from any source."""
    return db.conn.execute("SELECT 1 FROM candidate LIMIT 1").fetchone() is not None


def any_batch(db: Database) -> bool:
    """Return whether any batch exists."""
    return db.conn.execute("SELECT 1 FROM batch LIMIT 1").fetchone() is not None


def source_names(db: Database) -> list[str]:
    """Return the names of the candidate sources: the identity of an encoder, or the name of a run."""
    return [row[0] for row in db.conn.execute("SELECT name FROM source ORDER BY part, source_id")]


def _last_position(db: Database) -> int:
    position: int = db.conn.execute("SELECT coalesce(max(position), 0) FROM query").fetchone()[0]
    return position
