"""Clips that cannot be shown: which moments, why, and who found out."""

from backend.core.ids import MomentId
from backend.core.messages import kept
from backend.store.engine import Database
from backend.store.events import EventKind

BY_PERSON, BY_FILE = "person", "file"
"""Who found that a clip cannot be shown: somebody who looked at it, or whoever read the file."""


def add_fault(db: Database, moment_id: MomentId, reason: str, *, at: float, found_by: str = BY_PERSON) -> None:
    """This moment's clip cannot be shown; the first reason stays."""
    db.conn.execute(
        "INSERT OR IGNORE INTO clip_fault (moment_id, reason, reported_at, found_by) VALUES (?, ?, ?, ?)",
        [moment_id, kept(reason), at, found_by],
    )


def is_faulty(db: Database, moment_id: MomentId) -> bool:
    """Whether this moment's clip cannot be shown."""
    row = db.conn.execute("SELECT EXISTS (SELECT 1 FROM clip_fault WHERE moment_id = ?)", [moment_id]).fetchone()
    return bool(row[0])


def is_blocked_by_reports(db: Database, moment_id: MomentId) -> bool:
    """Whether a moment is blocked because annotators reported it: no file, and no lead after them, said so."""
    row = db.conn.execute(
        "SELECT EXISTS (SELECT 1 FROM clip_fault WHERE moment_id = :moment AND found_by = 'person') AND 'annotator' = "
        "(SELECT a.role FROM event e JOIN annotator a ON a.annotator_id = e.actor "
        "WHERE e.subject = :subject AND e.kind = :kind ORDER BY e.event_id DESC LIMIT 1)",
        {"moment": moment_id, "subject": f"moment:{moment_id}", "kind": EventKind.CLIP_REPORTED},
    ).fetchone()
    return bool(row[0])


def remove_fault(db: Database, moment_id: MomentId) -> None:
    """This moment's clip may be shown again."""
    db.conn.execute("DELETE FROM clip_fault WHERE moment_id = ?", [moment_id])
