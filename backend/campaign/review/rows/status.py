"""Count pairs by state, judgements and annotators. Reads only."""

from backend.campaign.nouns import Verdict
from backend.campaign.selection.candidates.rows.lists import PROBE_PAIRS
from backend.store.engine import Database

_RELEASED = f"p.pair_id NOT IN {PROBE_PAIRS}"


def pair_counts(db: Database, *, probes: bool = True) -> dict[str, int]:
    """Return how many pairs each state has; the seven numbers add up to all pairs, or to those of no probe alone.

    `blocked` pairs are those whose clip cannot be shown and which were not settled before that was found out;
    `set_aside` those that wait because an exam asks them.
    """
    which = "TRUE" if probes else _RELEASED
    pairs: int = db.conn.execute(f"SELECT count(*) FROM pair p WHERE {which}").fetchone()[0]
    found = dict(
        db.conn.execute(f"SELECT verdict, count(*) FROM consensus p WHERE {which} GROUP BY verdict").fetchall()
    )
    # Few clips are broken, so what they change is counted by itself.
    blocked = dict(
        db.conn.execute(
            "SELECT coalesce(c.verdict, 'open') AS state, count(*) FROM clip_fault f JOIN pair p USING (moment_id) "
            f"LEFT JOIN consensus c USING (pair_id) WHERE {which} GROUP BY state HAVING state IN ('open', 'escalated')"
        ).fetchall()
    )
    aside = dict(
        db.conn.execute(
            "SELECT coalesce(c.verdict, 'open') AS state, count(*) FROM set_aside o JOIN pair p USING (pair_id) "
            "LEFT JOIN consensus c USING (pair_id) LEFT JOIN clip_fault f USING (moment_id) "
            f"WHERE f.moment_id IS NULL AND {which} GROUP BY state HAVING state IN ('open', 'escalated')"
        ).fetchall()
    )
    found["open"] = pairs - sum(found.values())
    waiting = {state: blocked.get(state, 0) + aside.get(state, 0) for state in ("open", "escalated")}
    counts = {verdict.value: found.get(verdict, 0) - waiting.get(verdict.value, 0) for verdict in Verdict}
    return {**counts, "blocked": sum(blocked.values()), "set_aside": sum(aside.values())}


def judgement_counts(db: Database, *, probes: bool = True) -> tuple[int, int]:
    """Return (grades that count, how many are simulated): every judged seat has one, from its first revision on.

    All of them, or without those of pairs that are a probe's alone.
    """
    row = db.conn.execute(
        "SELECT count(*), coalesce(sum(simulated), 0) FROM judgement p WHERE revision = 1 "
        f"AND {'TRUE' if probes else _RELEASED}"
    ).fetchone()
    return row[0], row[1]


def annotator_count(db: Database) -> int:
    """Return how many annotators there are (leads not counted)."""
    count: int = db.conn.execute("SELECT count(*) FROM annotator WHERE role = 'annotator'").fetchone()[0]
    return count
