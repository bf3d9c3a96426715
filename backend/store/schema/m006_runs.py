"""Add tables for ground truths and runs (ranked results of search systems), each stored as arrays of numbers."""

from backend.store.engine import SqliteDatabase
from backend.store.schema.running import migrations, run

# Columns are arrays of little-endian numbers, so that a file is parsed once. offsets int64: where each query's moments
# begin, and the end; query_rows int64; video int32: an index into videos; row int32; start_s, end_s and relevance or
# score float64. queries and videos are JSON lists; texts is an object of query texts by id, as far as the file has
# them. The blobs come last, so that listing names reads none of them.
_KEPT = """
CREATE TABLE {table} (
  {table}_id    INTEGER PRIMARY KEY,
  name          TEXT NOT NULL UNIQUE CHECK (trim(name) <> ''),
  file          TEXT NOT NULL,
  sha256        TEXT NOT NULL,
  added_at      REAL NOT NULL,
  added_by      INTEGER REFERENCES annotator,
  query_count   INTEGER NOT NULL CHECK (query_count > 0),
  moment_count  INTEGER NOT NULL CHECK (moment_count >= 0),
  queries       TEXT NOT NULL CHECK (json_valid(queries)),
  videos        TEXT NOT NULL CHECK (json_valid(videos)),
  texts         TEXT NOT NULL CHECK (json_valid(texts)),
  query_rows    BLOB NOT NULL CHECK (length(query_rows) = 8 * query_count),
  offsets       BLOB NOT NULL CHECK (length(offsets) = 8 * query_count + 8),
  video         BLOB NOT NULL CHECK (length(video) = 4 * moment_count),
  start_s       BLOB NOT NULL CHECK (length(start_s) = 8 * moment_count),
  end_s         BLOB NOT NULL CHECK (length(end_s) = 8 * moment_count),
  row           BLOB NOT NULL CHECK (length(row) = 4 * moment_count),
  {value}       BLOB NOT NULL CHECK (length({value}) = 8 * moment_count)
) STRICT;
CREATE TRIGGER {table}_no_update BEFORE UPDATE ON {table} BEGIN SELECT RAISE(ABORT, '{table} is never changed'); END
"""
RUNS = ";\n".join(
    _KEPT.format(table=table, value=value).strip()
    for table, value in (("kept_truth", "relevance"), ("kept_run", "score"))
)


@migrations()
def m006_runs(db: SqliteDatabase) -> None:
    """Add tables for ground truths and runs (ranked results of search systems), each stored as arrays of numbers."""
    run(db, RUNS)
