"""The tables, as migrations: written once, never edited after a release.

`source` tables are the record and only grow; `consensus` and `agenda` are derived and may be dropped and rebuilt
at any time; `seat` is where places change hands; a row of `skip`, `example` or `exam` changes once, when it ends.
An exam item's explanation may be reworded, and an attempt notes when it was handed in and when its result was read.
The one row of `campaign` says what the campaign is; `scale`, its grades, is fixed with the first of them.
docs/schema.md is generated from here.
"""

from collections.abc import Iterable

from backend.ground.errors import ProjectError
from backend.store.engine import Database, Migrations

migrations = Migrations("reelrank")

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

# What m002 makes anew, because SQLite cannot loosen a constraint in place. A pair of an earlier campaign may be known
# by its number alone; and only such a campaign may bring a second grade of one person for one pair (`repeat`).
REBUILT = {
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
  CHECK ((batch_id IS NULL) + (query_id IS NULL) + (moment_id IS NULL) + (rank IS NULL) + (similarity IS NULL)
         + (encoder IS NULL) IN (0, 6))
) STRICT
""",
    "seat": """
CREATE TABLE {} (
  pair_id       INTEGER NOT NULL REFERENCES pair,
  seat_no       INTEGER NOT NULL CHECK (seat_no BETWEEN 1 AND 4),
  annotator_id  INTEGER REFERENCES annotator,
  lease_until   REAL,
  claim_no      INTEGER,
  repeat        INTEGER NOT NULL DEFAULT 0 CHECK (repeat IN (0, 1)),
  PRIMARY KEY (pair_id, seat_no),
  UNIQUE (pair_id, seat_no, annotator_id),
  CHECK (annotator_id IS NOT NULL OR lease_until IS NULL),
  CHECK (repeat = 0 OR (annotator_id IS NOT NULL AND lease_until IS NULL))
) STRICT
""",
}

CAMPAIGN = """
CREATE INDEX pair_batch ON pair (batch_id);
CREATE INDEX pair_moment ON pair (moment_id);
CREATE UNIQUE INDEX seat_person ON seat (pair_id, annotator_id) WHERE repeat = 0;
CREATE INDEX seat_claims ON seat (annotator_id, claim_no, repeat);
CREATE INDEX seat_held ON seat (annotator_id, lease_until) WHERE lease_until IS NOT NULL;
CREATE INDEX seat_lease ON seat (lease_until) WHERE lease_until IS NOT NULL;
DROP INDEX judgement_annotator;
CREATE INDEX judgement_day ON judgement (annotator_id, graded_at, revision);
CREATE INDEX judgement_last ON judgement (annotator_id, judgement_id);
-- The reference to a seat in the order of its columns: without it SQLite looks through all grades of the person.
CREATE INDEX judgement_seat ON judgement (pair_id, seat_no, annotator_id);
ALTER TABLE judgement ADD COLUMN elapsed_ms INTEGER CHECK (elapsed_ms >= 0);
ALTER TABLE judgement ADD COLUMN imported INTEGER NOT NULL DEFAULT 0 CHECK (imported IN (0, 1));

-- Somebody's wish not to judge a pair. Never a grade; the seat goes back. `lifted_at`: offered to them again.
CREATE TABLE skip (
  skip_id       INTEGER PRIMARY KEY,
  pair_id       INTEGER NOT NULL REFERENCES pair,
  annotator_id  INTEGER NOT NULL REFERENCES annotator,
  kind          TEXT NOT NULL CHECK (kind IN ('skip', 'cannot_judge', 'broken_clip')),
  reason        TEXT NOT NULL CHECK (trim(reason) <> ''),
  skipped_at    REAL NOT NULL,
  event_key     TEXT NOT NULL UNIQUE,
  lifted_at     REAL
) STRICT;
CREATE UNIQUE INDEX skip_standing ON skip (pair_id, annotator_id) WHERE lifted_at IS NULL;

-- Derived: batches with a seat that is not judged yet. `nearest` is the lowest such seat of the pair that is
-- nearest to completion; it does not depend on who holds what, so leases may run out without anybody noticing.
CREATE TABLE agenda (
  batch_id      INTEGER PRIMARY KEY REFERENCES batch,
  nearest       INTEGER NOT NULL CHECK (nearest BETWEEN 1 AND 4),
  position      INTEGER NOT NULL
) STRICT;
CREATE INDEX agenda_order ON agenda (nearest DESC, position, batch_id);
"""

DESK = """
ALTER TABLE judgement ADD COLUMN contexts INTEGER NOT NULL DEFAULT 0 CHECK (contexts >= 0);

-- Settled pairs that a lead chose to show what a grade means; one stands for each grade.
CREATE TABLE example (
  example_id    INTEGER PRIMARY KEY,
  grade         INTEGER NOT NULL CHECK (grade BETWEEN 0 AND 4),
  pair_id       INTEGER NOT NULL REFERENCES pair,
  note          TEXT NOT NULL CHECK (trim(note) <> ''),
  lead_id       INTEGER NOT NULL REFERENCES annotator,
  chosen_at     REAL NOT NULL,
  withdrawn_at  REAL
) STRICT;
CREATE UNIQUE INDEX example_standing ON example (grade) WHERE withdrawn_at IS NULL;
"""

IDENTITY = """
-- Who somebody is at an identity provider (OpenID Connect); bound by accepting an invitation, never by a name.
CREATE TABLE identity (
  issuer        TEXT NOT NULL,
  subject       TEXT NOT NULL,
  annotator_id  INTEGER NOT NULL REFERENCES annotator,
  bound_at      REAL NOT NULL,
  PRIMARY KEY (issuer, subject)
) STRICT;
"""

EXAM = """
-- An exam: settled pairs and the grades that are right. At most one is held at a time.
CREATE TABLE exam (
  exam_id       INTEGER PRIMARY KEY,
  set_at        REAL NOT NULL,
  set_by        INTEGER REFERENCES annotator,
  source        TEXT NOT NULL,
  seed          INTEGER,
  most_missed   REAL NOT NULL CHECK (most_missed BETWEEN 0 AND 100),
  ended_at      REAL
) STRICT;
CREATE UNIQUE INDEX exam_held ON exam ((ended_at IS NULL)) WHERE ended_at IS NULL;

-- `right_grade` is the key: the relevance of the pair when the exam was set, or what the lead's file says.
CREATE TABLE exam_item (
  item_id       INTEGER PRIMARY KEY,
  exam_id       INTEGER NOT NULL REFERENCES exam,
  pair_id       INTEGER NOT NULL REFERENCES pair,
  right_grade   INTEGER NOT NULL CHECK (right_grade BETWEEN 0 AND 4),
  explanation   TEXT NOT NULL DEFAULT '',
  UNIQUE (exam_id, pair_id)
) STRICT;

-- `number` counts the attempts of one person; `attempt_key` names its items in a browser and seeds their order.
CREATE TABLE exam_attempt (
  attempt_id    INTEGER PRIMARY KEY,
  exam_id       INTEGER NOT NULL REFERENCES exam,
  annotator_id  INTEGER NOT NULL REFERENCES annotator,
  number        INTEGER NOT NULL CHECK (number >= 1),
  attempt_key   TEXT NOT NULL UNIQUE,
  started_at    REAL NOT NULL,
  handed_in_at  REAL,
  read_at       REAL,
  UNIQUE (annotator_id, number),
  CHECK (read_at IS NULL OR handed_in_at IS NOT NULL)
) STRICT;

-- Never a judgement. Of an item the newest answer counts that is not `again`: those were given after the attempt was
-- handed in, to a missed item that had been explained.
CREATE TABLE exam_answer (
  attempt_id    INTEGER NOT NULL REFERENCES exam_attempt,
  item_id       INTEGER NOT NULL REFERENCES exam_item,
  revision      INTEGER NOT NULL CHECK (revision >= 1),
  again         INTEGER NOT NULL CHECK (again IN (0, 1)),
  grade         INTEGER NOT NULL CHECK (grade BETWEEN 0 AND 4),
  answered_at   REAL NOT NULL,
  active_ms     INTEGER NOT NULL DEFAULT 0 CHECK (active_ms >= 0),
  event_key     TEXT NOT NULL UNIQUE,
  PRIMARY KEY (attempt_id, item_id, revision)
) STRICT, WITHOUT ROWID;

-- What leads decide about a person: another attempt, or none needed. The newest one counts; `after_attempt` is the
-- number of the person's attempts when it was made.
CREATE TABLE exam_ruling (
  ruling_id     INTEGER PRIMARY KEY,
  annotator_id  INTEGER NOT NULL REFERENCES annotator,
  lead_id       INTEGER REFERENCES annotator,
  kind          TEXT NOT NULL CHECK (kind IN ('retake', 'exempt')),
  reason        TEXT NOT NULL,
  after_attempt INTEGER NOT NULL CHECK (after_attempt >= 0),
  ruled_at      REAL NOT NULL,
  CHECK (kind = 'retake' OR trim(reason) <> '')
) STRICT;
CREATE INDEX exam_ruling_person ON exam_ruling (annotator_id);
"""

# Columns as arrays of little-endian numbers, one after another, so that a file is parsed once: offsets int64 (where
# each query's moments begin, and the end), query_rows int64, video int32 (counts in videos), start_s, end_s and the
# last one float64, row int32. queries and videos are JSON lists, texts an object of query texts by id, as far as the
# file told them. The blobs come last, so a list of names reads none.
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

FACTS = """
-- What this campaign is, in one row: every act reads it anew. Two seats a pair, two more after escalation: the rule
-- knows no other numbers yet.
CREATE TABLE campaign (
  campaign_id   INTEGER PRIMARY KEY CHECK (campaign_id = 1),
  batch_size    INTEGER NOT NULL CHECK (batch_size IN (20, 40)),
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
) STRICT;
CREATE TRIGGER campaign_no_delete BEFORE DELETE ON campaign
  BEGIN SELECT RAISE(ABORT, 'a project is one campaign'); END;

-- The grades from 0 on: `label` fits on a button, `meaning` below it, `detail` in the guideline; `example` is what a
-- clip of this grade shows for the campaign's `example_query`. Grades above 4 wait for the other tables' checks.
CREATE TABLE scale (
  grade         INTEGER PRIMARY KEY CHECK (grade BETWEEN 0 AND 4),
  label         TEXT NOT NULL CHECK (trim(label) <> ''),
  meaning       TEXT NOT NULL,
  detail        TEXT NOT NULL,
  example       TEXT NOT NULL
) STRICT
"""
BATCH_SIZE_SHOWN = (
    "SELECT CASE WHEN max(p.rank) > 20 THEN 40 ELSE 20 END FROM pair p JOIN batch b USING (batch_id) WHERE b.number = 1"
)
"""The batch size that the open batches were made with; 20 without any."""
FIRST_CAMPAIGN = f"""
INSERT INTO campaign VALUES (1, ({BATCH_SIZE_SHOWN}), 1, 'tvr-ranking-1', 2, 2, 10, 10, 20.0, 0, 0.05,
  'A woman pours coffee into a red cup.')
"""
FIRST_SCALE = (
    (
        *(0, "Unrelated", "Shows something else", "Nothing that matters in the query can be seen."),
        "A man parks a car.",
    ),
    (
        *(1, "Touches", "Some points, not the main action"),
        "A thing or a place of the query is there, but its main action does not happen.",
        "A red cup stands on a table; nobody pours anything.",
    ),
    (
        *(2, "Partly", "Matches in part, clear gaps"),
        "The action is there in part: much of what is asked for is hidden, missing, or outside the clip.",
        "A woman pours coffee, but into a white mug and mostly out of sight.",
    ),
    (
        *(3, "Well", "Matches, a detail is off"),
        "The action matches; a detail is missing, or the clip holds some footage that does not belong.",
        "She pours coffee into a red cup, then a long chat follows.",
    ),
    (
        *(4, "Exactly", "All of it, and only that"),
        "Every action matches, is easy to see, and the clip covers it from start to end without surplus.",
        "She fills the red cup in full view; the clip begins and ends with the pouring.",
    ),
)
"""TVR-Ranking's grades, in the words that annotators read."""
GRADED = ("judgement", "adjudication", "exam_answer")

APPEND_ONLY = ("judgement", "adjudication", "event")
APPEND_ONLY_EXAM = ("exam_answer", "exam_ruling")

# When the clip came on its holder's screen. A seat that is merely held may be a clip that a browser loads ahead.
SHOWN = "ALTER TABLE seat ADD COLUMN shown_at REAL CHECK (shown_at IS NULL OR annotator_id IS NOT NULL)"


@migrations()
def m001_initial(db: Database) -> None:
    """Everything from corpus to release."""
    _run(db, INITIAL)
    _forbid_changes(db, APPEND_ONLY)


@migrations(transactional=False)
def m002_campaign(db: Database) -> None:
    """Skips, the agenda, time to the grade; pairs and judgements of earlier campaigns."""
    # Tables can be made anew only while nothing looks at the references to them, and that cannot be switched inside
    # a transaction. So the transaction is ours, and a migration cut off before it was noted down starts again.
    if "repeat" in {column.name for column in db.table("seat").columns}:
        return
    db.conn.execute("PRAGMA foreign_keys = 0")
    try:
        with db.atomic():
            for table, create in REBUILT.items():
                columns = ", ".join(column.name for column in db.table(table).columns)
                db.conn.execute(create.format(f"{table}_new"))
                db.conn.execute(f"INSERT INTO {table}_new ({columns}) SELECT {columns} FROM {table}")
                db.conn.execute(f"DROP TABLE {table}")
                db.conn.execute(f"ALTER TABLE {table}_new RENAME TO {table}")
            _run(db, CAMPAIGN)
            if broken := db.conn.execute("PRAGMA foreign_key_check").fetchall():
                raise ProjectError(f"{len(broken)} rows point to rows that do not exist: restore an intact backup")
    finally:
        db.conn.execute("PRAGMA foreign_keys = 1")


@migrations()
def m003_desk(db: Database) -> None:
    """How often the context of a moment was looked at; examples for the guideline."""
    _run(db, DESK)


@migrations()
def m004_identity(db: Database) -> None:
    """Single sign-on."""
    _run(db, IDENTITY)


@migrations()
def m005_exam(db: Database) -> None:
    """The qualification exam."""
    _run(db, EXAM)
    _forbid_changes(db, APPEND_ONLY_EXAM)


@migrations()
def m006_runs(db: Database) -> None:
    """Ground truths and runs, kept as columns."""
    _run(db, RUNS)


@migrations()
def m007_campaign(db: Database) -> None:
    """What the campaign is, which stood in the code and in a file."""
    _run(db, FACTS)
    db.conn.execute(FIRST_CAMPAIGN)
    db.conn.executemany("INSERT INTO scale VALUES (?, ?, ?, ?, ?)", FIRST_SCALE)
    graded = " OR ".join(f"EXISTS (SELECT 1 FROM {table})" for table in GRADED)
    for action in ("INSERT", "UPDATE", "DELETE"):
        db.conn.execute(
            f"CREATE TRIGGER scale_no_{action.lower()} BEFORE {action} ON scale WHEN {graded} "
            "BEGIN SELECT RAISE(ABORT, 'the scale is fixed once somebody has graded'); END"
        )


@migrations()
def m008_shown(db: Database) -> None:
    """Which clips were seen, not only held."""
    _run(db, SHOWN)


@migrations()
def m009_added_by(db: Database) -> None:
    """Which lead added a person; NULL for the command line, and for everybody who was here before."""
    db.conn.execute("ALTER TABLE annotator ADD COLUMN added_by INTEGER REFERENCES annotator")


def _forbid_changes(db: Database, tables: Iterable[str]) -> None:
    for table in tables:
        for action in ("UPDATE", "DELETE"):
            db.conn.execute(
                f"CREATE TRIGGER {table}_no_{action.lower()} BEFORE {action} ON {table} "
                f"BEGIN SELECT RAISE(ABORT, '{table} is append-only'); END"
            )


def _run(db: Database, script: str) -> None:
    """Statement by statement: `executescript` would end the transaction around it."""
    for statement in script.split(";\n"):
        if statement.strip():
            db.conn.execute(statement)
