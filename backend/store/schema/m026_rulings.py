"""Let leads confirm that a pair is discarded, re-open it for two more annotators, and take back a decision."""

from backend.store.engine import SqliteDatabase
from backend.store.schema.running import forbid_changes, migrations, remake, run

# Recreated because a re-opened pair has seats 5 and 6.
REMADE = {
    "seat": """
CREATE TABLE {} (
  pair_id       INTEGER NOT NULL REFERENCES pair,
  seat_no       INTEGER NOT NULL CHECK (seat_no BETWEEN 1 AND 6),
  annotator_id  INTEGER REFERENCES annotator,
  lease_until   REAL,
  claim_no      INTEGER,
  repeat        INTEGER NOT NULL DEFAULT 0 CHECK (repeat IN (0, 1)),
  shown_at      REAL CHECK (shown_at IS NULL OR annotator_id IS NOT NULL),
  PRIMARY KEY (pair_id, seat_no),
  UNIQUE (pair_id, seat_no, annotator_id),
  CHECK (annotator_id IS NOT NULL OR lease_until IS NULL),
  CHECK (repeat = 0 OR (annotator_id IS NOT NULL AND lease_until IS NULL))
) STRICT
""",
    "agenda": """
CREATE TABLE {} (
  batch_id      INTEGER PRIMARY KEY REFERENCES batch,
  nearest       INTEGER NOT NULL CHECK (nearest BETWEEN 1 AND 6),
  position      INTEGER NOT NULL
) STRICT
""",
}

WITH_THEM = """
CREATE UNIQUE INDEX seat_person ON seat (pair_id, annotator_id) WHERE repeat = 0;
CREATE INDEX seat_claims ON seat (annotator_id, claim_no, repeat);
CREATE INDEX seat_held ON seat (annotator_id, lease_until) WHERE lease_until IS NOT NULL;
CREATE INDEX seat_lease ON seat (lease_until) WHERE lease_until IS NOT NULL;
CREATE INDEX agenda_order ON agenda (nearest DESC, position, batch_id);

-- What a lead said about a pair beside a relevance: its discard is confirmed; it is re-opened for two more people; what
-- a lead did before (`takes_back`, by its revision) is taken back. `revision` counts these rows and those of
-- `adjudication` of a pair together. Nobody's (`lead_id` is NULL) is a re-opening that came with an earlier campaign.
CREATE TABLE ruling (
  ruling_id     INTEGER PRIMARY KEY,
  pair_id       INTEGER NOT NULL REFERENCES pair,
  revision      INTEGER NOT NULL CHECK (revision >= 1),
  lead_id       INTEGER REFERENCES annotator,
  kind          TEXT NOT NULL CHECK (kind IN ('discard_confirmed', 're_opened', 'taken_back')),
  takes_back    INTEGER CHECK (takes_back < revision),
  reason        TEXT NOT NULL CHECK (trim(reason) <> '' OR kind = 'discard_confirmed'),
  ruled_at      REAL NOT NULL,
  UNIQUE (pair_id, revision),
  UNIQUE (pair_id, takes_back),
  CHECK ((kind = 'taken_back') = (takes_back IS NOT NULL)),
  CHECK (lead_id IS NOT NULL OR kind = 're_opened')
) STRICT;

-- All that leads did about pairs. `stands` until it is taken back; the newest decision that stands is the relevance.
CREATE VIEW lead_act AS
  SELECT d.pair_id, d.revision, d.lead_id, 'decided' AS kind, d.relevance, d.reason, d.decided_at AS at,
    NOT EXISTS (SELECT 1 FROM ruling AS t WHERE t.pair_id = d.pair_id AND t.takes_back = d.revision) AS stands
  FROM adjudication AS d
  UNION ALL
  SELECT r.pair_id, r.revision, r.lead_id, r.kind, NULL, r.reason, r.ruled_at,
    r.kind <> 'taken_back'
    AND NOT EXISTS (SELECT 1 FROM ruling AS t WHERE t.pair_id = r.pair_id AND t.takes_back = r.revision)
  FROM ruling AS r;

-- The pairs with places for two more people, by the re-opening that stands.
CREATE VIEW re_opened AS
  SELECT r.pair_id FROM ruling AS r WHERE r.kind = 're_opened'
  AND NOT EXISTS (SELECT 1 FROM ruling AS t WHERE t.pair_id = r.pair_id AND t.takes_back = r.revision);

-- The pairs whose discard a lead confirmed, and none re-opened since.
CREATE VIEW confirmed_discard AS
  SELECT r.pair_id FROM ruling AS r WHERE r.kind = 'discard_confirmed'
  AND NOT EXISTS (SELECT 1 FROM ruling AS t WHERE t.pair_id = r.pair_id AND t.takes_back = r.revision)
  AND NOT EXISTS (SELECT 1 FROM ruling AS n WHERE n.pair_id = r.pair_id AND n.revision > r.revision
    AND n.kind = 're_opened' AND NOT EXISTS (
      SELECT 1 FROM ruling AS t WHERE t.pair_id = n.pair_id AND t.takes_back = n.revision));
"""


@migrations(transactional=False)
def m026_rulings(db: SqliteDatabase) -> None:
    """Let leads confirm that a pair is discarded, re-open it for two more annotators, and take back a decision."""
    if "ruling" in db.table_names():
        return  # it ran before, but was cut off before it was recorded

    def then() -> None:
        run(db, WITH_THEM)
        forbid_changes(db, ("ruling",))

    remake(db, REMADE, then)
