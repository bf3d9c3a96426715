"""Add accounts of identity providers, with which people sign in (single sign-on)."""

from backend.store.engine import SqliteDatabase
from backend.store.schema.running import migrations, run

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


@migrations()
def m004_identity(db: SqliteDatabase) -> None:
    """Add accounts of identity providers, with which people sign in (single sign-on)."""
    run(db, IDENTITY)
