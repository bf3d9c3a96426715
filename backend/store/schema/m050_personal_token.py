"""Store personal tokens, with which programs call the HTTP interface as the people who made them."""

from backend.store.engine import SqliteDatabase
from backend.store.schema.running import migrations, run

PERSONAL_TOKEN = """
-- Personal tokens, `rr_KEY_SECRET`. `token_key` names a token in lists and events; `secret_hash` is the SHA-256 of the
-- whole token in hex, and the token itself is stored nowhere. A revoked token has no row any more, and no copy of the
-- database has any rows here: a restored project has no tokens. `used_at` may be a minute old.
CREATE TABLE personal_token (
  token_id      INTEGER PRIMARY KEY,
  annotator_id  INTEGER NOT NULL REFERENCES annotator,
  token_key     TEXT NOT NULL UNIQUE CHECK (length(token_key) = 12),
  secret_hash   TEXT NOT NULL CHECK (length(secret_hash) = 64),
  name          TEXT NOT NULL CHECK (name <> ''),
  scope         TEXT NOT NULL CHECK (scope IN ('read', 'act')),
  created_at    REAL NOT NULL,
  expires_at    REAL NOT NULL CHECK (expires_at > created_at),
  used_at       REAL,
  UNIQUE (annotator_id, name)
) STRICT
"""
SCHEMA_DIGEST = "6fe099548540ce47d44d4d0154dfd26659cb221d53fc63633cb7ed74cb28f899"


@migrations()
def m050_personal_token(db: SqliteDatabase) -> None:
    """Create the table of personal tokens."""
    run(db, PERSONAL_TOKEN)
