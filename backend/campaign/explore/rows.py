"""What of the judged pairs is counted. Reads only."""

from backend.campaign.candidates.rows.lists import PROBE_PAIRS
from backend.store.engine import Database


def fates(db: Database) -> list[tuple[str, int, int]]:
    """(verdict, how many people were asked, pairs) of all pairs that are not a probe's alone.

    A pair has a seat for everybody who is asked about it. Those without a verdict are open: two are asked.
    """
    found: list[tuple[str, int, int]] = [
        tuple(row)
        for row in db.conn.execute(
            "SELECT verdict, (SELECT coalesce(max(seat_no), 2) FROM seat s WHERE s.pair_id = c.pair_id), count(*) "
            f"FROM consensus c WHERE c.pair_id NOT IN {PROBE_PAIRS} GROUP BY 1, 2"
        )
    ]
    pairs: int = db.conn.execute(f"SELECT count(*) FROM pair p WHERE p.pair_id NOT IN {PROBE_PAIRS}").fetchone()[0]
    return [*found, ("open", 2, pairs - sum(count for _, _, count in found))]
