"""What leads replied to one person's notes, for that person's eyes; only of pairs that are settled for good."""

from backend.campaign.monitoring.quality.model import MyReply
from backend.core.ids import AnnotatorId
from backend.store.engine import Database

# The reply that counts to each note of the person, where nobody can grade the pair or take a grade back any more.
# CROSS JOIN: from the few replies there are, not from all judgements of the person, at every exchange.
_TOLD = """
  FROM note_reply AS r CROSS JOIN note AS n USING (judgement_id) CROSS JOIN judgement AS j USING (judgement_id)
  CROSS JOIN consensus AS c USING (pair_id)
  WHERE j.annotator_id = :me AND c.verdict IN ('consensus', 'discarded', 'adjudicated')
  AND NOT EXISTS (SELECT 1 FROM note_reply AS l WHERE l.judgement_id = r.judgement_id AND l.reply_id > r.reply_id)
  AND NOT EXISTS (SELECT 1 FROM judgement AS f WHERE f.pair_id = j.pair_id AND f.graded_at > :final)
"""
_UNREAD = "NOT EXISTS (SELECT 1 FROM reply_read AS d WHERE d.reply_id = r.reply_id)"


def told(db: Database, me: AnnotatorId, *, final_before: float) -> list[MyReply]:
    """The replies that have reached this person, those they have not read first, then the newest.

    Args:
        db: the database.
        me: whose notes.
        final_before: a reply is told only if its pair is settled and all grades of it are older than this instant, as
            for everything that a person is told of their pairs.
    """
    query = "SELECT q.text FROM pair AS p JOIN query AS q USING (query_id) WHERE p.pair_id = j.pair_id"
    grade = "SELECT s.grade FROM standing AS s WHERE s.pair_id = j.pair_id AND s.seat_no = j.seat_no"
    rows = db.conn.execute(
        f"SELECT r.reply_id, ({query}), ({grade}), n.text, r.text, r.replied_at, {_UNREAD} AS is_new {_TOLD} "
        "ORDER BY is_new DESC, r.reply_id DESC",
        {"me": me, "final": final_before},
    )
    return [MyReply(r[0], r[1], r[2], r[3], r[4], r[5], bool(r[6])) for r in rows]


def unread(db: Database, me: AnnotatorId, *, final_before: float) -> int:
    """How many of them the person has not read."""
    count: int = db.conn.execute(
        f"SELECT count(*) {_TOLD} AND {_UNREAD}", {"me": me, "final": final_before}
    ).fetchone()[0]
    return count


def mark_read(db: Database, me: AnnotatorId, *, final_before: float, at: float) -> None:
    """The person has seen every reply that has reached them."""
    db.conn.execute(
        f"INSERT INTO reply_read (reply_id, read_at) SELECT r.reply_id, :at {_TOLD} AND {_UNREAD}",
        {"me": me, "final": final_before, "at": at},
    )
