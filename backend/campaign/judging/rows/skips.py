"""Skips: people's wishes not to judge a pair, with their reasons. Never grades."""

from backend.campaign.judging.model import SkipKind
from backend.ground.ids import AnnotatorId, PairId
from backend.store.engine import Database
from backend.store.events import EventKind


def event_owner(db: Database, key: str) -> tuple[PairId, AnnotatorId] | None:
    """The pair and the person of a skip that was stored before."""
    row = db.conn.execute("SELECT pair_id, annotator_id FROM skip WHERE event_key = ?", [key]).fetchone()
    return (PairId(row[0]), AnnotatorId(row[1])) if row else None


def add(db: Database, pair_id: PairId, me: AnnotatorId, kind: SkipKind, reason: str, key: str, *, at: float) -> None:
    """Note a skip; it takes the place of one that this person made of the pair before."""
    lift(db, pair_id, me, at=at)
    db.conn.execute(
        "INSERT INTO skip (pair_id, annotator_id, kind, reason, skipped_at, event_key) VALUES (?, ?, ?, ?, ?, ?)",
        [pair_id, me, kind.value, reason, at, key],
    )


def skipped(db: Database, pair_id: PairId, me: AnnotatorId) -> bool:
    """Whether a skip of this person stands at the pair."""
    row = db.conn.execute(
        "SELECT 1 FROM skip WHERE pair_id = ? AND annotator_id = ? AND lifted_at IS NULL", [pair_id, me]
    ).fetchone()
    return row is not None


def lift(db: Database, pair_id: PairId, me: AnnotatorId | None, *, at: float) -> int:
    """The pair may be offered again to this person, or (None) to everybody who skipped it; how many skips that were."""
    cursor = db.conn.execute(
        "UPDATE skip SET lifted_at = :at WHERE pair_id = :pair AND lifted_at IS NULL "
        "AND annotator_id = coalesce(:me, annotator_id)",
        {"at": at, "pair": pair_id, "me": me},
    )
    return cursor.rowcount


def last_offer(db: Database, pair_id: PairId) -> tuple[str, float] | None:
    """Who last offered a pair again to people who had skipped it, and when."""
    row = db.conn.execute(
        "SELECT a.name, e.at FROM event e JOIN annotator a ON a.annotator_id = e.actor "
        "WHERE e.subject = ? AND e.kind = ? ORDER BY e.event_id DESC LIMIT 1",
        [f"pair:{pair_id}", EventKind.OFFERED_AGAIN],
    ).fetchone()
    return (row[0], row[1]) if row else None


def left_to_others(db: Database, me: AnnotatorId) -> int:
    """How many pairs that are not settled, or look so to them, this person skipped."""
    count: int = db.conn.execute(
        "SELECT count(*) FROM skip k LEFT JOIN consensus c USING (pair_id) WHERE k.annotator_id = :me "
        "AND k.lifted_at IS NULL AND (coalesce(c.verdict, 'escalated') = 'escalated' OR EXISTS (SELECT 1 "
        "FROM gold_seat g WHERE g.pair_id = k.pair_id AND g.annotator_id = :me))",
        {"me": me},
    ).fetchone()[0]
    return count


def pair_count(db: Database) -> int:
    """How many pairs a skip stands at."""
    count: int = db.conn.execute("SELECT count(DISTINCT pair_id) FROM skip WHERE lifted_at IS NULL").fetchone()[0]
    return count
