"""Store webhooks: addresses of other programs that are told what happens in the project."""

from backend.store.engine import SqliteDatabase
from backend.store.schema.running import migrations, run

WEBHOOK = """
-- Addresses that leads chose, each with the secret that signs what is sent there. `topics` is a JSON list. No copy of
-- the database has rows here, because the secret is one, and the address may be: a copy tells nobody anything.
CREATE TABLE webhook (
  webhook_id    INTEGER PRIMARY KEY,
  url           TEXT NOT NULL CHECK (url <> ''),
  secret        TEXT NOT NULL CHECK (secret <> ''),
  topics        TEXT NOT NULL CHECK (json_valid(topics)),
  added_by      INTEGER REFERENCES annotator,
  added_at      REAL NOT NULL
) STRICT;

-- What is true now and was told, or was true before there was a webhook: a finished batch, a release, a raised flag.
-- A flag that is raised anew has no row any more, and is told again.
CREATE TABLE webhook_known (
  topic         TEXT NOT NULL,
  subject       TEXT NOT NULL,
  PRIMARY KEY (topic, subject)
) STRICT, WITHOUT ROWID;

-- Messages to webhooks, the newest ones of each. A waiting one is tried from `due_at` on; who tries it moves `due_at`
-- and counts the attempt first, so a killed server loses none. `status` is that of the last HTTP answer.
CREATE TABLE webhook_delivery (
  delivery_id   INTEGER PRIMARY KEY,
  webhook_id    INTEGER NOT NULL REFERENCES webhook,
  message_key   TEXT NOT NULL UNIQUE,
  topic         TEXT NOT NULL,
  body          TEXT NOT NULL CHECK (json_valid(body)),
  made_at       REAL NOT NULL,
  state         TEXT NOT NULL DEFAULT 'waiting' CHECK (state IN ('waiting', 'delivered', 'failed')),
  due_at        REAL NOT NULL,
  attempts      INTEGER NOT NULL DEFAULT 0,
  tried_at      REAL,
  status        INTEGER,
  problem       TEXT NOT NULL DEFAULT ''
) STRICT;
CREATE INDEX webhook_delivery_due ON webhook_delivery (due_at) WHERE state = 'waiting';
CREATE INDEX webhook_delivery_of ON webhook_delivery (webhook_id, delivery_id)
"""
SCHEMA_DIGEST = "b4fd782db2c9cd7dd3fa2c2bd11c26ed425d1da94e477c81ff70def1accb0407"


@migrations()
def m051_webhook(db: SqliteDatabase) -> None:
    """Create the tables of webhooks and of what is delivered to them."""
    run(db, WEBHOOK)
