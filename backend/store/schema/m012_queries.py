"""Allow queries without a caption, training queries with equal texts, batches of any size, and probes.

A batch is a group of a query's moments that is handed out for grading together. A probe is a sample of a query's
moments, graded to learn down to which rank grading is worthwhile.
"""

from backend.store.engine import SqliteDatabase
from backend.store.schema.running import migrations, remake, run

REMADE = {
    # A query comes from a caption, or from a person's own file, which `source` names. Judged queries have distinct
    # texts; several training queries may share one text, as many captions do.
    "query": """
CREATE TABLE {} (
  query_id    INTEGER PRIMARY KEY,
  text        TEXT NOT NULL CHECK (text <> ''),
  caption_id  INTEGER REFERENCES caption,
  split       TEXT NOT NULL CHECK (split IN ('val', 'test', 'train')),
  position    INTEGER NOT NULL,
  source      TEXT NOT NULL DEFAULT '',
  CHECK ((caption_id IS NULL) = (source <> ''))
) STRICT
""",
    # A batch without a number is the probe of its query, and its pairs are in no release.
    "batch": """
CREATE TABLE {} (
  batch_id    INTEGER PRIMARY KEY,
  query_id    INTEGER NOT NULL REFERENCES query,
  number      INTEGER CHECK (number >= 1),
  opened_at   REAL NOT NULL,
  opened_by   INTEGER REFERENCES annotator,
  UNIQUE (query_id, number)
) STRICT
""",
    "campaign": """
CREATE TABLE {} (
  campaign_id   INTEGER PRIMARY KEY CHECK (campaign_id = 1),
  batch_size    INTEGER NOT NULL CHECK (batch_size BETWEEN 1 AND 40),
  tolerance     INTEGER NOT NULL CHECK (tolerance >= 0),
  rule_version  TEXT NOT NULL CHECK (rule_version <> ''),
  seats         INTEGER NOT NULL CHECK (seats = 2),
  further_seats INTEGER NOT NULL CHECK (further_seats = 2),
  exam_queries  INTEGER NOT NULL CHECK (exam_queries >= 1),
  exam_pairs    INTEGER NOT NULL CHECK (exam_pairs >= 1),
  exam_most_missed REAL NOT NULL CHECK (exam_most_missed BETWEEN 0 AND 100),
  gold          INTEGER NOT NULL CHECK (gold IN (0, 1)),
  gold_share    REAL NOT NULL CHECK (gold_share BETWEEN 0 AND 1),
  example_query TEXT NOT NULL
) STRICT
""",
}

WITH_THEM = """
CREATE INDEX query_split ON query (split, position);
CREATE UNIQUE INDEX query_judged ON query (text) WHERE split <> 'train';
CREATE UNIQUE INDEX batch_probe ON batch (query_id) WHERE number IS NULL;
CREATE TRIGGER campaign_no_delete BEFORE DELETE ON campaign
  BEGIN SELECT RAISE(ABORT, 'a project is one campaign'); END;
"""


@migrations(transactional=False)
def m012_queries(db: SqliteDatabase) -> None:
    """Allow queries without a caption, training queries with equal texts, batches of any size, and probes.

    A probe is a sample of a query's moments, graded to learn down to which rank grading is worthwhile.
    """
    if "source" in {column.name for column in db.table("query").columns}:
        return  # it ran before, but was cut off before it was recorded
    remake(db, REMADE, lambda: run(db, WITH_THEM))
