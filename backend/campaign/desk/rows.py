"""Read whether somebody may work at their desk just now, and which of their windows has it."""

from typing import NamedTuple

from backend.core.ids import AnnotatorId
from backend.store.engine import Database


class DeskGate(NamedTuple):
    """What may keep an annotator from work: a pause, a version of the guideline, an exam or a calibration round.

    `seen` is the newest version of the guideline that they were shown, None if they are new; `version` is in force.
    """

    paused: bool
    seen: int | None
    version: int
    tutorial: bool
    exam: bool


def gate(db: Database, me: AnnotatorId) -> DeskGate:
    """Return what may keep an annotator from work: one question, asked at every key press."""
    row = db.conn.execute(
        "SELECT EXISTS (SELECT 1 FROM pause WHERE annotator_id = :me AND ended_at IS NULL), "
        "(SELECT max(version) FROM guideline_seen WHERE annotator_id = :me), "
        "(SELECT max(version) FROM guideline_version), tutorial, "
        "EXISTS (SELECT 1 FROM exam WHERE ended_at IS NULL) FROM campaign",
        {"me": me},
    ).fetchone()
    return DeskGate(bool(row[0]), row[1], row[2], bool(row[3]), bool(row[4]))


def is_exam_held(db: Database) -> bool:
    """Return whether an exam or a calibration round is held."""
    return bool(db.conn.execute("SELECT EXISTS (SELECT 1 FROM exam WHERE ended_at IS NULL)").fetchone()[0])


def window_at_desk(db: Database, person: AnnotatorId) -> str | None:
    """Return the window that took a person's desk last."""
    row = db.conn.execute("SELECT window_key FROM desk_window WHERE annotator_id = ?", [person]).fetchone()
    return str(row["window_key"]) if row else None


def take_desk(db: Database, person: AnnotatorId, window: str, *, at: float) -> None:
    """Let a window have a person's desk from now on."""
    db.conn.execute(
        "INSERT INTO desk_window (annotator_id, window_key, taken_at) VALUES (?, ?, ?) ON CONFLICT (annotator_id) "
        "DO UPDATE SET window_key = excluded.window_key, taken_at = excluded.taken_at",
        [person, window, at],
    )
