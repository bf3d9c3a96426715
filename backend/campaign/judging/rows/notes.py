"""Notes that people gave with their grades, and what leads replied to them."""

from backend.campaign.judging.model import MyReply
from backend.core.ids import AnnotatorId, PairId
from backend.store.engine import Database

# The reply that counts to each note of the person, where nobody can grade the pair or take a grade back any more.
# CROSS JOIN: from the few replies there are, not from all judgements of the person, at every exchange.
_REPLIES = """
  FROM note_reply AS r CROSS JOIN note AS n USING (judgement_id) CROSS JOIN judgement AS j USING (judgement_id)
  CROSS JOIN consensus AS c USING (pair_id)
  WHERE j.annotator_id = :me AND c.verdict IN ('consensus', 'discarded', 'adjudicated')
  AND NOT EXISTS (SELECT 1 FROM note_reply AS l WHERE l.judgement_id = r.judgement_id AND l.reply_id > r.reply_id)
  AND NOT EXISTS (SELECT 1 FROM judgement AS f WHERE f.pair_id = j.pair_id AND f.graded_at > :final)
"""
_UNREAD = "NOT EXISTS (SELECT 1 FROM reply_read AS d WHERE d.reply_id = r.reply_id)"


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


def replies_to(db: Database, me: AnnotatorId, *, final_before: float) -> list[MyReply]:
    """The replies that have reached this person, those they have not read first, then the newest.

    Args:
        db: the database.
        me: whose notes.
        final_before: a reply reaches them only if its pair is settled and all its grades are older than this,
            as for everything that a person is told of their pairs.
    """
    query = "SELECT q.text FROM pair AS p JOIN query AS q USING (query_id) WHERE p.pair_id = j.pair_id"
    grade = "SELECT s.grade FROM standing AS s WHERE s.pair_id = j.pair_id AND s.seat_no = j.seat_no"
    rows = db.conn.execute(
        f"SELECT r.reply_id, ({query}), ({grade}), n.text, r.text, r.replied_at, {_UNREAD} AS is_new {_REPLIES} "
        "ORDER BY is_new DESC, r.reply_id DESC",
        {"me": me, "final": final_before},
    )
    return [MyReply(r[0], r[1], r[2], r[3], r[4], r[5], bool(r[6])) for r in rows]


def unread_replies(db: Database, me: AnnotatorId, *, final_before: float) -> int:
    """How many of them the person has not read."""
    count: int = db.conn.execute(
        f"SELECT count(*) {_REPLIES} AND {_UNREAD}", {"me": me, "final": final_before}
    ).fetchone()[0]
    return count


def mark_replies_read(db: Database, me: AnnotatorId, *, final_before: float, at: float) -> None:
    """The person has seen every reply that has reached them."""
    db.conn.execute(
        f"INSERT INTO reply_read (reply_id, read_at) SELECT r.reply_id, :at {_REPLIES} AND {_UNREAD}",
        {"me": me, "final": final_before, "at": at},
    )
