"""Record which sources found each candidate: an encoder, or runs of search systems.

Only an encoder of captions gives a candidate a similarity.
"""

from backend.store.engine import SqliteDatabase
from backend.store.schema.running import migrations, remake, run

# Recreated because a candidate that only runs found has no similarity, nor has its pair.
REMADE = {
    "candidate": """
CREATE TABLE {} (
  query_id    INTEGER NOT NULL REFERENCES query,
  rank        INTEGER NOT NULL CHECK (rank >= 1),
  moment_id   INTEGER NOT NULL REFERENCES moment,
  similarity  REAL,
  encoder     TEXT,
  PRIMARY KEY (query_id, rank),
  UNIQUE (query_id, moment_id),
  CHECK ((similarity IS NULL) = (encoder IS NULL))
) STRICT, WITHOUT ROWID
""",
    "pair": """
CREATE TABLE {} (
  pair_id     INTEGER PRIMARY KEY,
  pair_key    TEXT NOT NULL UNIQUE,
  batch_id    INTEGER REFERENCES batch,
  query_id    INTEGER REFERENCES query,
  moment_id   INTEGER REFERENCES moment,
  rank        INTEGER,
  similarity  REAL,
  encoder     TEXT,
  UNIQUE (query_id, moment_id),
  CHECK ((batch_id IS NULL) + (query_id IS NULL) + (moment_id IS NULL) + (rank IS NULL) IN (0, 4)),
  CHECK ((similarity IS NULL) = (encoder IS NULL)),
  CHECK (batch_id IS NOT NULL OR similarity IS NULL)
) STRICT
""",
}

WITH_THEM = """
CREATE INDEX pair_batch ON pair (batch_id);
CREATE INDEX pair_moment ON pair (moment_id);

-- The part of its query's list that a batch was opened for: 1, or that of a later pooling, which is handed out whole.
ALTER TABLE batch ADD COLUMN part INTEGER NOT NULL DEFAULT 1 CHECK (part >= 1);

-- What candidates come from: captions by their similarity under an encoder, frames by theirs, a run that was pooled.
-- `name` is an encoder's identity or what a run is called, `depth` how many moments a query were taken of it. `part`
-- tells sources apart that came one after the other: those that made the lists are part 1, those of a later pooling 2.
CREATE TABLE source (
  source_id   INTEGER PRIMARY KEY,
  kind        TEXT NOT NULL CHECK (kind IN ('captions', 'visual', 'run')),
  name        TEXT NOT NULL CHECK (trim(name) <> ''),
  sha256      TEXT,
  depth       INTEGER NOT NULL CHECK (depth >= 1),
  part        INTEGER NOT NULL CHECK (part >= 1),
  added_at    REAL,
  added_by    INTEGER REFERENCES annotator,
  UNIQUE (part, kind, name),
  CHECK ((kind = 'run') = (sha256 IS NOT NULL))
) STRICT;

-- Which source found a candidate: at which rank of its own list, at which score, and as which span; several near spans
-- of one source may be the same candidate. Training queries, which nobody judges, have none. Releases tell no scores.
CREATE TABLE candidate_source (
  query_id    INTEGER NOT NULL,
  moment_id   INTEGER NOT NULL,
  source_id   INTEGER NOT NULL REFERENCES source,
  rank        INTEGER NOT NULL CHECK (rank >= 1),
  score       REAL,
  start_s     REAL NOT NULL,
  end_s       REAL NOT NULL CHECK (start_s < end_s),
  PRIMARY KEY (query_id, source_id, rank),
  FOREIGN KEY (query_id, moment_id) REFERENCES candidate (query_id, moment_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX candidate_source_moment ON candidate_source (query_id, moment_id);
"""

# Earlier lists came from captions alone, so their ranks are those of this one source.
FILLED = """
INSERT INTO source (kind, name, depth, part, added_at)
  SELECT 'captions', k.encoder, max(k.rank), 1, (SELECT max(at) FROM event WHERE kind = 'candidates_chosen')
  FROM candidate k JOIN query q USING (query_id) WHERE q.split <> 'train' GROUP BY k.encoder;
INSERT INTO candidate_source (query_id, moment_id, source_id, rank, score, start_s, end_s)
  SELECT k.query_id, k.moment_id, s.source_id, k.rank, k.similarity, m.start_s, m.end_s
  FROM candidate k JOIN query q USING (query_id) JOIN moment m USING (moment_id) JOIN source s ON s.name = k.encoder
  WHERE q.split <> 'train';
"""


@migrations(transactional=False)
def m033_sources(db: SqliteDatabase) -> None:
    """Record which sources (encoders or runs of search systems) found each candidate.

    Candidates and pairs may then lack a similarity, because only an encoder of captions computes one.
    """
    if "source" in db.table_names():
        return  # it ran before, but was cut off before it was recorded

    def then() -> None:
        run(db, WITH_THEM)
        run(db, FILLED)

    remake(db, REMADE, then)
