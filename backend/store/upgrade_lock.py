"""The lock under which `reelrank migrate` replaces the tables of a PostgreSQL database.

While this lock is held and after the upgrade, a process that runs the older ReelRank gets no connection but the error
`BeingUpgraded`. Its front ends answer 503 with that message, and browsers keep what people give and send it again.
"""

from psycopg import sql

from backend.core.errors import BeingUpgraded
from backend.store.dialect import Raw

APPLICATION = "reelrank"
"""The name under which connections that respect the lock are known to the server (`application_name`)."""
KEY = 0x5265656D
"""The key of the advisory lock."""
_NEWEST = b"SELECT name FROM _sqlite_migrations ORDER BY id DESC LIMIT 1"
_IS_HELD = sql.SQL(
    "SELECT EXISTS (SELECT 1 FROM pg_catalog.pg_locks WHERE locktype = 'advisory' AND granted AND classid = 0 "
    "AND objid = {} AND database = (SELECT oid FROM pg_catalog.pg_database WHERE datname = current_database()))"
).format(sql.Literal(KEY))


def require_same_schema(raw: Raw, opened_with: str) -> None:
    """Refuse a connection to a database that is being upgraded, or was upgraded after this process opened it.

    Call it before the first other statement of a connection. It never waits for an upgrade.

    Args:
        raw: the connection.
        opened_with: name of the newest migration when this process opened the database; "" if it has not yet.

    Raises:
        BeingUpgraded: the database is being upgraded, or was upgraded.
    """
    held = raw.execute(_IS_HELD, prepare=False).fetchone()
    if held and held[0]:
        raise BeingUpgraded.said("ReelRank is being upgraded. Wait a few minutes. What was saved is safe.")
    if opened_with and raw.execute(_NEWEST, prepare=False).fetchall() != [(opened_with,)]:
        raise BeingUpgraded.said(
            "ReelRank was upgraded, but this server still runs the older version. It works again once somebody has "
            "restarted it. What was saved is safe."
        )
