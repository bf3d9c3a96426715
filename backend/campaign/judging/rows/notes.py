"""Notes that people gave with their grades, and what leads replied to them."""

from backend.core.ids import AnnotatorId, PairId
from backend.store.engine import Database


def of(db: Database, pair_id: PairId, me: AnnotatorId) -> str:
    """This person's note on a pair, as it stands; empty where there is none."""
    row = db.conn.execute(
        "SELECT text FROM standing_note WHERE pair_id = :pair AND annotator_id = :me UNION ALL SELECT * FROM ("
        "SELECT note FROM gold_answer WHERE pair_id = :pair AND annotator_id = :me AND note IS NOT NULL "
        "ORDER BY revision DESC LIMIT 1)",
        {"pair": pair_id, "me": me},
    ).fetchone()
    return row[0] if row else ""


def add(db: Database, judgement_id: int, text: str) -> None:
    """Append the note of a judgement; an empty one takes back what its person wrote before."""
    db.conn.execute("INSERT INTO note (judgement_id, text) VALUES (?, ?)", [judgement_id, text])


def by_id(db: Database, judgement_id: int) -> tuple[PairId, str] | None:
    """(pair, text) of a note, standing or not."""
    row = db.conn.execute(
        "SELECT j.pair_id, n.text FROM note n JOIN judgement j USING (judgement_id) WHERE n.judgement_id = ?",
        [judgement_id],
    ).fetchone()
    return (PairId(row[0]), row[1]) if row else None


def newest_reply(db: Database, judgement_id: int) -> tuple[int, str, str, float] | None:
    """(id, lead, text, when) of the reply that counts to a note."""
    row = db.conn.execute(
        "SELECT r.reply_id, a.name, r.text, r.replied_at FROM note_reply r "
        "JOIN annotator a ON a.annotator_id = r.lead_id WHERE r.judgement_id = ? ORDER BY r.reply_id DESC LIMIT 1",
        [judgement_id],
    ).fetchone()
    return (row[0], row[1], row[2], row[3]) if row else None


def reply(db: Database, judgement_id: int, lead: AnnotatorId, text: str, *, at: float) -> None:
    """Append a lead's reply to a note."""
    db.conn.execute(
        "INSERT INTO note_reply (judgement_id, lead_id, text, replied_at) VALUES (?, ?, ?, ?)",
        [judgement_id, lead, text, at],
    )
