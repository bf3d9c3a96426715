"""Count what waits for a lead, and the pairs that want grades by kind, with who may give them. Reads only.

Each count of the first is a range of an index, or a walk over few rows. SQLite counts the kinds of the second, so that
all pairs of a large campaign come as a few dozen rows.
"""

from collections import Counter
from collections.abc import Callable
from functools import cache

from backend.campaign.monitoring.progress.model import Wanting
from backend.campaign.nouns import SECOND_ROUND_SEATS
from backend.campaign.selection.candidates.rows import STILL_LISTED
from backend.core.ids import AnnotatorId, QueryId
from backend.store.engine import Database

_OPEN = "coalesce(c.verdict, 'escalated') = 'escalated'"


def discarded(db: Database) -> int:
    """Count the pairs on which people disagree for good, and that no lead has adjudicated or confirmed."""
    return _count(
        db,
        "SELECT count(*) FROM consensus WHERE verdict = 'discarded' "
        "AND pair_id NOT IN (SELECT pair_id FROM confirmed_discard)",
    )


def notes(db: Database) -> int:
    """Count the current notes that nobody replied to."""
    return _count(
        db,
        "SELECT count(*) FROM standing_note n WHERE NOT EXISTS "
        "(SELECT 1 FROM note_reply r WHERE r.judgement_id = n.judgement_id)",
    )


def skipped(db: Database) -> int:
    """Count the pairs that are not settled and that somebody skips; blocked ones are counted as those."""
    return _count(
        db,
        "SELECT count(DISTINCT k.pair_id) FROM skip k JOIN pair p USING (pair_id) LEFT JOIN consensus c USING (pair_id)"
        f" WHERE k.lifted_at IS NULL AND {_OPEN} AND p.moment_id NOT IN (SELECT moment_id FROM clip_fault)",
    )


def batches(db: Database) -> int:
    """Count the queries whose open batches are done as far as they can be, and whose next one nobody declined."""
    return _count(
        db,
        "SELECT count(*) FROM (SELECT b.query_id FROM batch b WHERE b.number IS NOT NULL GROUP BY b.query_id "
        # Whatever lacks a grade is on the agenda, but for what an exam asks and for clips that cannot be shown.
        "HAVING NOT EXISTS (SELECT 1 FROM batch o JOIN agenda a USING (batch_id) "
        "  WHERE o.query_id = b.query_id AND o.number IS NOT NULL) "
        "AND NOT EXISTS (SELECT 1 FROM set_aside s JOIN pair p USING (pair_id) JOIN batch o USING (batch_id) "
        "  LEFT JOIN consensus c USING (pair_id) WHERE p.query_id = b.query_id AND o.number IS NOT NULL "
        f"  AND {_OPEN} AND p.moment_id NOT IN (SELECT moment_id FROM clip_fault)) "
        "AND NOT EXISTS (SELECT 1 FROM declined_batch d WHERE d.query_id = b.query_id AND d.ended_at IS NULL) "
        f"AND {STILL_LISTED.format(query='b.query_id')} > 0)",
    )


def descriptions(db: Database) -> int:
    """Count the descriptions that nobody has accepted or sent back."""
    return _count(db, "SELECT count(*) FROM description WHERE status = 'waiting'")


def paused(db: Database) -> int:
    """Count the annotators who are paused, and not suspended as well."""
    return _count(
        db,
        "SELECT count(*) FROM pause u JOIN annotator a USING (annotator_id) "
        "WHERE u.ended_at IS NULL AND a.suspended = 0",
    )


def warned_by_gold(db: Database) -> list[AnnotatorId]:
    """Return the annotators at work whom gold warned last; what it found before they were let go on does not count."""
    rows = db.conn.execute(
        "SELECT g.annotator_id FROM gold_finding g JOIN annotator a USING (annotator_id) "
        "WHERE a.suspended = 0 AND g.kind = 'warned' AND g.gold_finding_id = "
        "(SELECT max(gold_finding_id) FROM gold_finding l WHERE l.annotator_id = g.annotator_id) "
        "AND NOT EXISTS (SELECT 1 FROM pause u WHERE u.annotator_id = g.annotator_id AND u.paused_at >= g.found_at)"
    )
    return [AnnotatorId(row[0]) for row in rows]


def _count(db: Database, sql: str) -> int:
    count: int = db.conn.execute(sql).fetchone()[0]
    return count


# Pairs that may be handed out and lack a grade; all of them are in a batch on the agenda.
_WANTING = """
  FROM agenda a CROSS JOIN pair p USING (batch_id) LEFT JOIN consensus c USING (pair_id)
  WHERE (c.verdict IS NULL OR c.verdict = 'escalated')
    AND p.moment_id NOT IN (SELECT moment_id FROM clip_fault) AND p.pair_id NOT IN (SELECT pair_id FROM set_aside)
"""


# Seats, those with a grade, and by whom; a place that somebody merely holds has none yet.
_SEATS = """
  (SELECT count(*) || ':' || count(iif(s.lease_until IS NULL, s.annotator_id, NULL)) || ':'
     || coalesce(group_concat(iif(s.lease_until IS NULL, s.annotator_id, NULL)), '')
   FROM seat s WHERE s.pair_id = p.pair_id) || ':' || (c.verdict IS NOT NULL)
"""


_SKIPPED = "(SELECT group_concat(k.annotator_id) FROM skip k WHERE k.pair_id = p.pair_id AND k.lifted_at IS NULL)"


_KNOWN = "(SELECT group_concat(y.annotator_id) FROM known_pair y WHERE y.pair_id = p.pair_id)"


def kinds(db: Database, alike: Callable[[QueryId], QueryId] | None = None) -> Counter[Wanting]:
    """Return how many pairs of each kind there are.

    With `alike`, pairs of two queries are of one kind only if it names the same query for both.
    """
    query = "p.query_id" if alike else "NULL"
    named = cache(alike) if alike else None
    made = cache(_kind)
    found = Counter[Wanting]()
    for told, query_id, count in db.conn.execute(
        f"SELECT told, query_id, count(*) FROM (SELECT {_SEATS} AS told, {query} AS query_id {_WANTING}) "
        "GROUP BY told, query_id"
    ):
        found[made(told, named and named(query_id))] += count
    # Few pairs were skipped or answered in an exam; those are of a kind of their own.
    for told, query_id, skipped, known in db.conn.execute(
        f"SELECT {_SEATS}, {query}, {_SKIPPED}, {_KNOWN} {_WANTING} AND p.pair_id IN "
        "(SELECT pair_id FROM skip WHERE lifted_at IS NULL UNION SELECT pair_id FROM known_pair)"
    ):
        found[made(told, named and named(query_id))] -= 1
        found[made(told, named and named(query_id), skipped or "", known or "")] += 1
    return Counter({kind: count for kind, count in found.items() if kind.free and count})


def of_query(db: Database, query_id: QueryId) -> list[tuple[int, Wanting]]:
    """Return rank and kind of every pair of a query that wants grades and can be handed out."""
    rows = db.conn.execute(
        f"SELECT p.rank, {_SEATS} AS told, {_SKIPPED}, {_KNOWN} {_WANTING} AND p.query_id = ? ORDER BY p.rank",
        [query_id],
    )
    found = [(int(rank), _kind(told, query_id, skipped or "", known or "")) for rank, told, skipped, known in rows]
    return [(rank, kind) for rank, kind in found if kind.free]


def kept_back_of(db: Database, query_id: QueryId) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Return (ranks of blocked, of reserved) pairs of a query that are not settled; one that is both is blocked."""
    rows = db.conn.execute(
        "SELECT p.rank, f.moment_id IS NOT NULL, EXISTS (SELECT 1 FROM set_aside o WHERE o.pair_id = p.pair_id) "
        "FROM pair p LEFT JOIN consensus c USING (pair_id) LEFT JOIN clip_fault f USING (moment_id) "
        "WHERE p.query_id = ? AND coalesce(c.verdict, 'escalated') = 'escalated' ORDER BY p.rank",
        [query_id],
    ).fetchall()
    return (
        tuple(int(rank) for rank, blocked, _ in rows if blocked),
        tuple(int(rank) for rank, blocked, aside in rows if aside and not blocked),
    )


def disputed(db: Database) -> tuple[int, int]:
    """Return (pairs with their first two grades, how many of them went on to two further annotators)."""
    row = db.conn.execute(
        "SELECT count(*), count(s.pair_id) FROM consensus c "
        "LEFT JOIN seat s ON s.pair_id = c.pair_id AND s.seat_no = ?",
        [min(SECOND_ROUND_SEATS)],
    ).fetchone()
    return row[0], row[1]


def kept_back(db: Database) -> tuple[int, int]:
    """Return the number of (blocked, reserved) pairs that are not settled; one that is both is blocked."""
    row = db.conn.execute(
        "SELECT (SELECT count(*) FROM clip_fault f JOIN pair p USING (moment_id) LEFT JOIN consensus c USING (pair_id) "
        "  WHERE coalesce(c.verdict, 'escalated') = 'escalated'), "
        "(SELECT count(DISTINCT p.pair_id) FROM set_aside o JOIN pair p USING (pair_id) "
        "  LEFT JOIN consensus c USING (pair_id) WHERE coalesce(c.verdict, 'escalated') = 'escalated' "
        "  AND p.moment_id NOT IN (SELECT moment_id FROM clip_fault))"
    ).fetchone()
    return row[0], row[1]


def version(db: Database) -> tuple[int, ...]:
    """Return the last event, judgement, answer and description: every change moves one of them on."""
    row = db.conn.execute(
        "SELECT (SELECT max(event_id) FROM event), (SELECT max(judgement_id) FROM judgement), "
        "(SELECT max(gold_answer_id) FROM gold_answer), (SELECT max(act_id) FROM description_act)"
    ).fetchone()
    return tuple(number or 0 for number in row)


def _kind(told: str, query: QueryId | None, skipped: str = "", known: str = "") -> Wanting:
    seats, judged, graded, disputed = told.split(":")
    return Wanting(
        seats=int(seats),
        graded=_people(graded),
        judged=int(judged),
        disputed=disputed == "1",
        skipped=_people(skipped),
        known=_people(known),
        query=query,
    )


def _people(told: str) -> frozenset[AnnotatorId]:
    return frozenset(AnnotatorId(int(one)) for one in told.split(",") if one)
