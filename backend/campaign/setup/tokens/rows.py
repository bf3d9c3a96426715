"""SQL for personal tokens. Only hashes of tokens are stored."""

import sqlite3

from backend.campaign.nouns import Person, Role
from backend.campaign.setup.tokens.model import PersonalToken, TokenScope
from backend.core.ids import AnnotatorId
from backend.store.engine import Database

_TOKENS = "SELECT t.*, a.name AS owner, a.role, a.suspended FROM personal_token t JOIN annotator a USING (annotator_id)"


def add(db: Database, token: PersonalToken, secret_hash: str) -> None:
    """Store a token. `secret_hash` is the SHA-256 hash of its complete text."""
    db.conn.execute(
        "INSERT INTO personal_token (annotator_id, token_key, secret_hash, name, scope, created_at, expires_at) "
        "VALUES (?, ?, ?, ?, ?, ?, ?)",
        [
            *(token.owner.annotator_id, token.key, secret_hash, token.name, token.scope.value),
            *(token.created_at, token.expires_at),
        ],
    )


def tokens(db: Database, owner: AnnotatorId | None = None) -> list[PersonalToken]:
    """Return the tokens of one person, or of everybody if `owner` is None; newest first."""
    rows = db.conn.execute(
        f"{_TOKENS} WHERE t.annotator_id = coalesce(?, t.annotator_id) ORDER BY t.token_id DESC", [owner]
    )
    return [_token(row) for row in rows]


def by_key(db: Database, key: str) -> tuple[PersonalToken, str] | None:
    """Return the token with this key, and the hash of its complete text; None if there is no such token."""
    row = db.conn.execute(f"{_TOKENS} WHERE t.token_key = ?", [key]).fetchone()
    return (_token(row), row["secret_hash"]) if row else None


def note_use(db: Database, key: str, *, at: float) -> None:
    """Store when a token was last used. If it was revoked meanwhile, nothing happens."""
    db.conn.execute("UPDATE personal_token SET used_at = ? WHERE token_key = ?", [at, key])


def remove(db: Database, key: str) -> None:
    """Delete a token."""
    db.conn.execute("DELETE FROM personal_token WHERE token_key = ?", [key])


def forget_expired(db: Database, *, until: float) -> None:
    """Delete the tokens that expired at `until` or earlier, in seconds since 1970."""
    db.conn.execute("DELETE FROM personal_token WHERE expires_at <= ?", [until])


def _token(row: sqlite3.Row) -> PersonalToken:
    owner = Person(AnnotatorId(row["annotator_id"]), row["owner"], Role(row["role"]), bool(row["suspended"]))
    return PersonalToken(
        key=row["token_key"],
        name=row["name"],
        owner=owner,
        scope=TokenScope(row["scope"]),
        created_at=row["created_at"],
        expires_at=row["expires_at"],
        used_at=row["used_at"],
    )
