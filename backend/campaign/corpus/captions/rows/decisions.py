"""What people decide about rewrites: reads and writes.

Captions with the same published text (but for spaces around it) are decided about together.
"""

from dataclasses import dataclass

from backend.campaign.corpus.captions.model import RewriteCounts, TakenDecision
from backend.campaign.corpus.captions.rows.rewrites import BY_HAND
from backend.core.ids import AnnotatorId
from backend.core.messages import recalled
from backend.store.engine import Database

_WAITS = "c.kind = 'rewritten' AND c.accepted = 0 AND c.decided_at IS NULL"
_WITH_SOURCE = "caption c JOIN caption s ON s.caption_id = c.source_caption_id"


@dataclass(frozen=True, slots=True)
class DecisionRow:
    """A rewrite with its published text and what was decided about it; `lead` is None for the command line."""

    published: str
    text: str
    accepted: bool
    decided_at: float | None
    decided_by: AnnotatorId | None
    lead: str | None


def counts(db: Database) -> RewriteCounts:
    """Imprecise captions by what became of them."""
    row = db.conn.execute(
        "SELECT coalesce(sum(accepted), 0), coalesce(sum(attempts > 1), 0), "
        "coalesce(sum(accepted = 0 AND decided_at IS NULL), 0), coalesce(sum(accepted AND rule_version = ?), 0), "
        "coalesce(sum(accepted = 0 AND decided_at IS NOT NULL), 0) FROM caption WHERE kind = 'rewritten'",
        [BY_HAND],
    ).fetchone()
    return RewriteCounts(*row)


def waiting(db: Database, limit: int) -> list[tuple[int, int, str, str, str]]:
    """(first caption, captions, published text, rewrite, reason) of the first published texts that wait."""
    return [
        (row[0], row[1], row[2], row[3], recalled(row[4]))
        for row in db.conn.execute(
            "SELECT o.caption_id, o.captions, o.published, f.text, f.reason FROM "
            "(SELECT min(c.caption_id) AS caption_id, "
            f"count(*) AS captions, trim(s.text) AS published FROM {_WITH_SOURCE} WHERE {_WAITS} GROUP BY trim(s.text) "
            "ORDER BY 1 LIMIT ?) AS o JOIN caption f USING (caption_id) ORDER BY o.caption_id",
            [limit],
        )
    ]


def find(db: Database, caption_id: int) -> DecisionRow | None:
    """One rewrite."""
    row = db.conn.execute(
        f"SELECT trim(s.text), c.text, c.accepted, c.decided_at, c.decided_by, a.name FROM {_WITH_SOURCE} "
        "LEFT JOIN annotator a ON a.annotator_id = c.decided_by WHERE c.caption_id = ?",
        [caption_id],
    ).fetchone()
    return DecisionRow(row[0], row[1], bool(row[2]), *row[3:]) if row else None


def decide(db: Database, published: str, text: str | None, *, at: float, by: AnnotatorId | None) -> int:
    """Accept these words for every waiting rewrite of a published text, or reject them (None); how many waited.

    Of two captions of one moment that would get the same words the first one stands for both: the second is rejected.
    """
    found = db.conn.execute(
        f"SELECT c.caption_id, c.moment_id, c.text FROM {_WITH_SOURCE} WHERE {_WAITS} AND trim(s.text) = ? "
        "ORDER BY c.caption_id",
        [published],
    ).fetchall()
    for caption_id, moment_id, proposal in found:
        stands = db.conn.execute(
            "SELECT 1 FROM caption WHERE moment_id = ? AND kind = 'rewritten' AND accepted = 1 AND text = ?",
            [moment_id, text],
        ).fetchone()
        db.conn.execute(
            "UPDATE caption SET accepted = ?, decided_at = ?, decided_by = ? WHERE caption_id = ?",
            [int(text is not None and stands is None), at, by, caption_id],
        )
        if text is not None and stands is None and text != " ".join(proposal.split()):
            db.conn.execute(
                "UPDATE caption SET proposal = text, proposal_version = rule_version, text = ?, rule_version = ? "
                "WHERE caption_id = ?",
                [text, BY_HAND, caption_id],
            )
    return len(found)


def last_of(db: Database, lead: AnnotatorId) -> TakenDecision | None:
    """What this lead decided last, of all that stands."""
    row = db.conn.execute(
        f"SELECT c.caption_id, trim(s.text), iif(c.accepted, c.text, NULL) FROM {_WITH_SOURCE} "
        # Of captions decided together an accepted one tells: another may only stand behind it.
        "WHERE c.decided_by = ? ORDER BY c.decided_at DESC, c.accepted DESC, c.caption_id LIMIT 1",
        [lead],
    ).fetchone()
    return TakenDecision(*row) if row else None


def take_back(db: Database, caption_id: int) -> int:
    """Let everything wait again that was decided together with this caption; how many captions that are."""
    ids = [
        row[0]
        for row in db.conn.execute(
            "SELECT c.caption_id FROM caption c JOIN caption s ON s.caption_id = c.source_caption_id, "
            "caption one JOIN caption its ON its.caption_id = one.source_caption_id WHERE one.caption_id = ? "
            "AND c.decided_at = one.decided_at AND c.decided_by IS one.decided_by AND trim(s.text) = trim(its.text)",
            [caption_id],
        )
    ]
    db.conn.executemany(
        # Had another caption of its moment got the same words meanwhile, this one takes their place.
        "UPDATE OR REPLACE caption SET accepted = 0, decided_at = NULL, decided_by = NULL, "
        "text = coalesce(proposal, text), rule_version = coalesce(proposal_version, rule_version), "
        "proposal = NULL, proposal_version = NULL WHERE caption_id = ?",
        [(one,) for one in ids],
    )
    return len(ids)
