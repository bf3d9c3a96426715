"""Add the manual check of retrieval pools. A pool is the set of videos in which one query is searched.

Queries are drawn at random from a file of pools. For each video, the database has whether the pool lists it as positive
(it matches the query) or negative.
"""

from backend.store.engine import SqliteDatabase
from backend.store.schema.running import forbid_changes, migrations, run

POOL_CHECK = """
-- A project that checks a file of pools: `drawn` of its `queries` that could be checked, with up to `negatives` videos
-- each that the pool has as negatives.
CREATE TABLE pool_check (
  pool_check_id INTEGER PRIMARY KEY CHECK (pool_check_id = 1),
  file          TEXT NOT NULL CHECK (file <> ''),
  sha256        TEXT NOT NULL,
  seed          INTEGER NOT NULL,
  queries       INTEGER NOT NULL CHECK (queries >= drawn),
  drawn         INTEGER NOT NULL CHECK (drawn >= 1),
  negatives     INTEGER NOT NULL CHECK (negatives >= 0)
) STRICT;

-- As what the pool of a query has a video, which no annotator may know.
CREATE TABLE pool_place (
  query_id      INTEGER NOT NULL REFERENCES query,
  moment_id     INTEGER NOT NULL REFERENCES moment,
  put_in_as     TEXT NOT NULL CHECK (put_in_as IN ('positive', 'negative')),
  PRIMARY KEY (query_id, moment_id)
) STRICT
"""


@migrations()
def m015_pool_check(db: SqliteDatabase) -> None:
    """Add tables for the manual check of retrieval pools: the drawn queries, and the videos in the pool of each query.

    For each video, the table has whether the pool lists it as positive (it matches the query) or negative.
    """
    run(db, POOL_CHECK)
    forbid_changes(db, ("pool_check", "pool_place"))
