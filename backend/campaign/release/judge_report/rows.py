"""SQL for the judge report: what people and leads decided about pairs. Reads only."""

from typing import NamedTuple

from backend.campaign.review.model import ADJUDICATED
from backend.campaign.selection.candidates.rows import PROBE_PAIRS
from backend.store.engine import Database


class Settled(NamedTuple):
    """One pair as people settled it.

    `agreed` is the unrounded mean of a consensus, or a lead's relevance. It and `relevance` are None if the pair is not
    settled or was discarded.
    """

    text: str
    split: str
    relevance: int | None
    agreed: float | None
    probe: bool


def settled(db: Database) -> dict[int, Settled]:
    """Map the id of each pair of a query to how people settled it."""
    rows = db.conn.execute(
        "SELECT p.pair_id, q.text, q.split, c.relevance, CASE c.verdict WHEN 'consensus' THEN c.mean ELSE c.relevance "
        f"END, p.pair_id IN {PROBE_PAIRS} "
        "FROM pair p JOIN query q USING (query_id) LEFT JOIN consensus c USING (pair_id)"
    )
    return {row[0]: Settled(row[1], row[2], row[3], row[4], bool(row[5])) for row in rows}


def decided_with_model(db: Database) -> frozenset[int]:
    """Return the ids of the pairs that a lead adjudicated after they had opened what a model said about them."""
    rows = db.conn.execute(
        "SELECT d.pair_id FROM lead_act d JOIN event e ON e.subject = 'pair:' || d.pair_id AND e.at = d.at "
        "WHERE d.kind = 'decided' AND e.kind = ? AND e.payload ->> 'model_seen' IS NOT NULL AND d.revision = "
        "(SELECT max(revision) FROM lead_act l WHERE l.pair_id = d.pair_id AND l.kind = 'decided' AND l.stands)",
        [ADJUDICATED.kind],
    )
    return frozenset(row[0] for row in rows)
