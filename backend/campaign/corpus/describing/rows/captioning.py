"""Turn a description into a moment and its caption in the corpus' own tables, and back."""

import sqlite3

from backend.campaign.corpus.moments import rows as moments
from backend.campaign.corpus.moments.model import Origin
from backend.core.ids import AnnotatorId, MomentId, VideoId
from backend.store.engine import Database


def moment_at(db: Database, video: str, span: tuple[float, float]) -> tuple[MomentId, bool]:
    """The moment of these very seconds of a video, and whether it is new by this."""
    new = moments.add(db, video, [span], Origin.DESCRIBED)
    row = db.conn.execute(
        "SELECT moment_id FROM moment JOIN video USING (video_id) WHERE name = ? AND start_s = ? AND end_s = ?",
        [video, *span],
    ).fetchone()
    return MomentId(row[0]), new == 1


def moment_of(db: Database, moment_id: MomentId) -> tuple[VideoId, float, float] | None:
    """Video, start and end (seconds) of a moment."""
    row = db.conn.execute("SELECT video_id, start_s, end_s FROM moment WHERE moment_id = ?", [moment_id]).fetchone()
    return (VideoId(row[0]), row[1], row[2]) if row else None


def caption_of(db: Database, moment_id: MomentId, text: str) -> tuple[int, bool]:
    """The published caption of a moment with these words, and whether it is new by this."""
    cursor = db.conn.execute(
        "INSERT OR IGNORE INTO caption (moment_id, text, kind) VALUES (?, ?, 'published')", [moment_id, text]
    )
    row = db.conn.execute(
        "SELECT caption_id FROM caption WHERE moment_id = ? AND text = ? AND kind = 'published'", [moment_id, text]
    ).fetchone()
    return row[0], cursor.rowcount == 1


def is_candidate(db: Database, moment_id: MomentId) -> bool:
    """Whether the moment was chosen for a query, or asked anybody about."""
    row = db.conn.execute(
        "SELECT EXISTS (SELECT 1 FROM candidate WHERE moment_id = :id) OR EXISTS (SELECT 1 FROM pair "
        "WHERE moment_id = :id)",
        {"id": moment_id},
    ).fetchone()
    return bool(row[0])


def accept(
    db: Database,
    description_id: int,
    moment: tuple[MomentId, bool],
    caption: tuple[int, bool],
    lead: AnnotatorId,
    *,
    span: tuple[float, float],
    sentence: str,
    at: float,
) -> None:
    """A description is this caption of this moment; each with whether it is new."""
    db.conn.execute(
        "UPDATE description SET status = 'accepted', moment_id = ?, made_moment = ?, caption_id = ?, made_caption = ? "
        "WHERE description_id = ?",
        [*moment, *caption, description_id],
    )
    db.conn.execute(
        "INSERT INTO description_act (description_id, kind, person_id, at, start_s, end_s, sentence) "
        "VALUES (?, 'accepted', ?, ?, ?, ?, ?)",
        [description_id, lead, at, *span, sentence],
    )


def give_back(db: Database, description_id: int, lead: AnnotatorId, words: str, *, at: float) -> None:
    """A description goes back to its author."""
    db.conn.execute("UPDATE description SET status = 'returned' WHERE description_id = ?", [description_id])
    db.conn.execute(
        "INSERT INTO description_act (description_id, kind, person_id, at, words) VALUES (?, 'returned', ?, ?, ?)",
        [description_id, lead, at, words],
    )


def take_back(db: Database, description_id: int, lead: AnnotatorId, *, at: float) -> None:
    """What a lead did last about a description counts no more."""
    db.conn.execute(
        "UPDATE description SET status = 'waiting', moment_id = NULL, made_moment = 0, caption_id = NULL, "
        "made_caption = 0 WHERE description_id = ?",
        [description_id],
    )
    db.conn.execute(
        "INSERT INTO description_act (description_id, kind, person_id, at) VALUES (?, 'taken_back', ?, ?)",
        [description_id, lead, at],
    )


def drop_caption(db: Database, caption_id: int) -> bool:
    """Remove a caption that a description made, unless another one says the same; whether nothing else needs it."""
    if _passed_on(db, "caption", caption_id):
        return True
    return _dropped(db, "caption", caption_id)


def drop_moment(db: Database, moment_id: MomentId) -> bool:
    """Remove a moment that a description made, unless another one is of it; whether nothing else needs it."""
    if _passed_on(db, "moment", moment_id):
        return True
    return _dropped(db, "moment", moment_id)


def _passed_on(db: Database, what: str, row_id: int) -> bool:
    """Whether another description rests on it; that one then counts as the one that made it."""
    cursor = db.conn.execute(
        f"UPDATE description SET made_{what} = 1 WHERE description_id = "
        f"(SELECT min(description_id) FROM description WHERE {what}_id = ?)",
        [row_id],
    )
    return cursor.rowcount == 1


def _dropped(db: Database, what: str, row_id: int) -> bool:
    try:
        with db.atomic():
            db.conn.execute(f"DELETE FROM {what} WHERE {what}_id = ?", [row_id])
    except sqlite3.IntegrityError:  # whatever table it is that points here
        return False
    return True
