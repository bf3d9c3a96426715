"""Create the first tables: videos, captions, queries, pairs, judgements, releases and so on."""

from backend.store.engine import SqliteDatabase
from backend.store.schema.running import forbid_changes, migrations, run

INITIAL = """
CREATE TABLE video (
  video_id    INTEGER PRIMARY KEY,
  name        TEXT NOT NULL UNIQUE CHECK (name <> ''),
  duration_s  REAL NOT NULL CHECK (duration_s > 0),
  path        TEXT,
  fps_num     INTEGER CHECK (fps_num > 0),
  fps_den     INTEGER CHECK (fps_den > 0),
  width_px    INTEGER,
  height_px   INTEGER,
  has_audio   INTEGER,
  sha256      TEXT
) STRICT;

CREATE TABLE moment (
  moment_id   INTEGER PRIMARY KEY,
  video_id    INTEGER NOT NULL REFERENCES video,
  start_s     REAL NOT NULL,
  end_s       REAL NOT NULL,
  CHECK (0 <= start_s AND start_s < end_s),
  UNIQUE (video_id, start_s, end_s)
) STRICT;

CREATE TABLE caption (
  caption_id        INTEGER PRIMARY KEY,
  moment_id         INTEGER NOT NULL REFERENCES moment,
  text              TEXT NOT NULL CHECK (text <> ''),
  kind              TEXT NOT NULL CHECK (kind IN ('published', 'rewritten')),
  external_id       TEXT,
  source_caption_id INTEGER REFERENCES caption,
  rule_version      TEXT NOT NULL DEFAULT '',
  similarity        REAL,
  accepted          INTEGER NOT NULL DEFAULT 1 CHECK (accepted IN (0, 1)),
  reason            TEXT NOT NULL DEFAULT '',
  CHECK ((kind = 'rewritten') = (source_caption_id IS NOT NULL)),
  UNIQUE (moment_id, kind, rule_version, text)
) STRICT;
CREATE UNIQUE INDEX caption_external ON caption (external_id) WHERE kind = 'published';
CREATE INDEX caption_kind ON caption (kind, accepted);

CREATE TABLE query (
  query_id    INTEGER PRIMARY KEY,
  text        TEXT NOT NULL UNIQUE CHECK (text <> ''),
  caption_id  INTEGER NOT NULL REFERENCES caption,
  split       TEXT NOT NULL CHECK (split IN ('val', 'test', 'train')),
  position    INTEGER NOT NULL
) STRICT;
CREATE INDEX query_split ON query (split, position);

CREATE TABLE candidate (
  query_id    INTEGER NOT NULL REFERENCES query,
  rank        INTEGER NOT NULL CHECK (rank >= 1),
  moment_id   INTEGER NOT NULL REFERENCES moment,
  similarity  REAL NOT NULL,
  encoder     TEXT NOT NULL,
  PRIMARY KEY (query_id, rank),
  UNIQUE (query_id, moment_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE annotator (
  annotator_id  INTEGER PRIMARY KEY,
  name          TEXT NOT NULL UNIQUE COLLATE NOCASE CHECK (trim(name) <> ''),
  role          TEXT NOT NULL CHECK (role IN ('annotator', 'lead')),
  password_hash TEXT,
  suspended     INTEGER NOT NULL DEFAULT 0 CHECK (suspended IN (0, 1)),
  simulated     INTEGER NOT NULL DEFAULT 0 CHECK (simulated IN (0, 1)),
  created_at    REAL NOT NULL
) STRICT;

CREATE TABLE invitation (
  token_hash    TEXT PRIMARY KEY,
  annotator_id  INTEGER NOT NULL REFERENCES annotator,
  expires_at    REAL NOT NULL,
  used_at       REAL
) STRICT;

CREATE TABLE session (
  token_hash    TEXT PRIMARY KEY,
  annotator_id  INTEGER NOT NULL REFERENCES annotator,
  created_at    REAL NOT NULL,
  expires_at    REAL NOT NULL
) STRICT;

CREATE TABLE batch (
  batch_id    INTEGER PRIMARY KEY,
  query_id    INTEGER NOT NULL REFERENCES query,
  number      INTEGER NOT NULL CHECK (number >= 1),
  opened_at   REAL NOT NULL,
  opened_by   INTEGER REFERENCES annotator,
  UNIQUE (query_id, number)
) STRICT;

CREATE TABLE pair (
  pair_id     INTEGER PRIMARY KEY,
  pair_key    TEXT NOT NULL UNIQUE,
  batch_id    INTEGER NOT NULL REFERENCES batch,
  query_id    INTEGER NOT NULL REFERENCES query,
  moment_id   INTEGER NOT NULL REFERENCES moment,
  rank        INTEGER NOT NULL,
  similarity  REAL NOT NULL,
  encoder     TEXT NOT NULL,
  UNIQUE (query_id, moment_id)
) STRICT;
CREATE INDEX pair_batch ON pair (batch_id);
CREATE INDEX pair_moment ON pair (moment_id);

-- Three states: free (nobody), held (somebody, until lease_until), judged (somebody, lease_until NULL).
-- The number of rows of a pair IS its overlap: a third annotator has nowhere to sit.
CREATE TABLE seat (
  pair_id       INTEGER NOT NULL REFERENCES pair,
  seat_no       INTEGER NOT NULL CHECK (seat_no BETWEEN 1 AND 4),
  annotator_id  INTEGER REFERENCES annotator,
  lease_until   REAL,
  claim_no      INTEGER,
  PRIMARY KEY (pair_id, seat_no),
  UNIQUE (pair_id, annotator_id),
  UNIQUE (pair_id, seat_no, annotator_id),
  CHECK (annotator_id IS NOT NULL OR lease_until IS NULL)
) STRICT;
CREATE INDEX seat_open ON seat (pair_id) WHERE annotator_id IS NULL OR lease_until IS NOT NULL;
CREATE INDEX seat_claims ON seat (annotator_id, claim_no);
CREATE INDEX seat_held ON seat (annotator_id, lease_until) WHERE lease_until IS NOT NULL;

CREATE TABLE judgement (
  judgement_id  INTEGER PRIMARY KEY,
  pair_id       INTEGER NOT NULL,
  seat_no       INTEGER NOT NULL,
  annotator_id  INTEGER NOT NULL,
  revision      INTEGER NOT NULL CHECK (revision >= 1),
  grade         INTEGER NOT NULL CHECK (grade BETWEEN 0 AND 4),
  graded_at     REAL NOT NULL,
  active_ms     INTEGER NOT NULL DEFAULT 0 CHECK (active_ms >= 0),
  event_key     TEXT NOT NULL UNIQUE,
  simulated     INTEGER NOT NULL DEFAULT 0 CHECK (simulated IN (0, 1)),
  UNIQUE (pair_id, seat_no, revision),
  FOREIGN KEY (pair_id, seat_no, annotator_id) REFERENCES seat (pair_id, seat_no, annotator_id)
) STRICT;
CREATE INDEX judgement_annotator ON judgement (annotator_id, graded_at);

-- The grade that counts: the newest revision of each seat.
CREATE VIEW standing AS
  SELECT j.* FROM judgement AS j
  WHERE j.revision = (SELECT max(revision) FROM judgement WHERE pair_id = j.pair_id AND seat_no = j.seat_no);

CREATE TABLE adjudication (
  adjudication_id INTEGER PRIMARY KEY,
  pair_id       INTEGER NOT NULL REFERENCES pair,
  revision      INTEGER NOT NULL CHECK (revision >= 1),
  lead_id       INTEGER NOT NULL REFERENCES annotator,
  relevance     INTEGER NOT NULL CHECK (relevance BETWEEN 0 AND 4),
  reason        TEXT NOT NULL CHECK (trim(reason) <> ''),
  decided_at    REAL NOT NULL,
  UNIQUE (pair_id, revision)
) STRICT;

-- Derived from judgement and adjudication; a pair without a row is still open.
CREATE TABLE consensus (
  pair_id       INTEGER PRIMARY KEY REFERENCES pair,
  verdict       TEXT NOT NULL CHECK (verdict IN ('escalated', 'consensus', 'discarded', 'adjudicated')),
  relevance     INTEGER CHECK (relevance BETWEEN 0 AND 4),
  mean          REAL,
  rule_version  TEXT NOT NULL,
  CHECK ((verdict IN ('consensus', 'adjudicated')) = (relevance IS NOT NULL))
) STRICT;
CREATE INDEX consensus_verdict ON consensus (verdict);

CREATE TABLE clip_fault (
  moment_id     INTEGER PRIMARY KEY REFERENCES moment,
  reason        TEXT NOT NULL,
  reported_at   REAL NOT NULL
) STRICT;

CREATE TABLE "release" (
  release_id    INTEGER PRIMARY KEY,
  created_at    REAL NOT NULL,
  created_by    INTEGER REFERENCES annotator,
  manifest      TEXT NOT NULL CHECK (json_valid(manifest)),
  sha256        TEXT NOT NULL
) STRICT;

CREATE TABLE event (
  event_id      INTEGER PRIMARY KEY AUTOINCREMENT,
  at            REAL NOT NULL,
  actor         INTEGER REFERENCES annotator,
  kind          TEXT NOT NULL,
  subject       TEXT NOT NULL,
  payload       TEXT NOT NULL CHECK (json_valid(payload))
) STRICT;
CREATE INDEX event_subject ON event (subject);
"""

APPEND_ONLY = ("judgement", "adjudication", "event")


@migrations()
def m001_initial(db: SqliteDatabase) -> None:
    """Create the first tables: videos, captions, queries, pairs, judgements, releases and so on."""
    run(db, INITIAL)
    forbid_changes(db, APPEND_ONLY)
