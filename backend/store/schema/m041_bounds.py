"""Record when annotators were handed a pair, to limit credited working time; delay sign-in after wrong passwords.

Nobody is locked out by wrong passwords.
"""

from backend.store.engine import SqliteDatabase
from backend.store.schema.running import migrations, run

CLAIMED = """
-- When the holder of a seat took it: nobody is credited more time for a grade than has passed since.
ALTER TABLE seat ADD COLUMN claimed_at REAL;
ALTER TABLE gold_seat ADD COLUMN claimed_at REAL;
CREATE INDEX gold_answer_day ON gold_answer (annotator_id, graded_at);
CREATE INDEX description_act_person ON description_act (person_id, at)
"""

SIGN_IN = """
DROP TABLE sign_in_attempt;

-- Wrong passwords that still count, by name and client address together, by name, by address, and by a known browser.
-- `who` is a SHA-256: people type passwords where names belong. An attempt counts when it begins, until it succeeds. A
-- row is gone an hour after its last attempt.
CREATE TABLE sign_in_attempt (
  kind          TEXT NOT NULL CHECK (kind IN ('pair', 'name', 'address', 'browser')),
  who           TEXT NOT NULL,
  failures      INTEGER NOT NULL CHECK (failures >= 1),
  last_at       REAL NOT NULL,
  PRIMARY KEY (kind, who)
) STRICT, WITHOUT ROWID;
CREATE INDEX sign_in_attempt_last ON sign_in_attempt (last_at);

-- Browsers on which a person signed in: others' wrong passwords do not slow them down. `browser_hash` is the SHA-256 of
-- a random cookie, which lets nobody in.
CREATE TABLE known_browser (
  browser_hash  TEXT NOT NULL,
  annotator_id  INTEGER NOT NULL REFERENCES annotator,
  known_at      REAL NOT NULL,
  PRIMARY KEY (browser_hash, annotator_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX known_browser_person ON known_browser (annotator_id, known_at)
"""


@migrations()
def m041_bounds(db: SqliteDatabase) -> None:
    """Record when each pair was handed to an annotator; count wrong passwords; record the browsers of each person."""
    run(db, CLAIMED)
    run(db, SIGN_IN)
