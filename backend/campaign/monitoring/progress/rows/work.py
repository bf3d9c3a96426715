"""SQL that counts work: pairs that need grades, judgements by day and person, clips to cut before they are needed.

Reads only. SQLite groups the pairs that need grades by their state, so that even a large campaign gives only a few
dozen rows. Corrections of a grade are not counted as further work. Imported and simulated judgements do not count for
the pace, because nobody made them in this project.
"""

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cache

from backend.campaign.monitoring.progress.model import DayCount, PairKind, PersonPace
from backend.campaign.nouns import SECOND_ROUND_SEATS
from backend.core.ids import AnnotatorId, PairKey, QueryId
from backend.store.engine import Database
from backend.store.events import newest

# Pairs that may be handed out and lack a grade; all of them are in a batch on the agenda.
_WANTING = """
  FROM agenda a CROSS JOIN pair p USING (batch_id) LEFT JOIN consensus c USING (pair_id)
  WHERE (c.verdict IS NULL OR c.verdict = 'escalated')
    AND p.moment_id NOT IN (SELECT moment_id FROM clip_fault) AND p.pair_id NOT IN (SELECT pair_id FROM set_aside)
"""

# Seats, seats with a grade, who gave the grades, whether disputed. A seat that is only held has no grade yet.
_SEATS = """
  (SELECT count(*) || ':' || count(iif(s.lease_until IS NULL, s.annotator_id, NULL)) || ':'
     || coalesce(group_concat(iif(s.lease_until IS NULL, s.annotator_id, NULL)), '')
   FROM seat s WHERE s.pair_id = p.pair_id) || ':' || (c.verdict IS NOT NULL)
"""

_SKIPPED = "(SELECT group_concat(k.annotator_id) FROM skip k WHERE k.pair_id = p.pair_id AND k.lifted_at IS NULL)"

_KNOWN = "(SELECT group_concat(y.annotator_id) FROM known_pair y WHERE y.pair_id = p.pair_id)"


def kinds(db: Database, alike: Callable[[QueryId], QueryId] | None = None) -> Counter[PairKind]:
    """Count the pairs that need grades and can be given to annotators, in groups of pairs with the same state.

    `alike` maps each query to one query that stands for its group, such as all queries with the same annotators. Only
    pairs whose queries are in the same group are counted together. Without `alike`, the query does not matter.
    """
    query = "p.query_id" if alike else "NULL"
    named = cache(alike) if alike else None
    made = cache(_kind)
    counts = Counter[PairKind]()
    for facts, query_id, count in db.conn.execute(
        f"SELECT told, query_id, count(*) FROM (SELECT {_SEATS} AS told, {query} AS query_id {_WANTING}) "
        "GROUP BY told, query_id"
    ):
        counts[made(facts, named and named(query_id))] += count
    # Pairs that were skipped or answered in an exam are few, and are counted one by one.
    for facts, query_id, skipped, known in db.conn.execute(
        f"SELECT {_SEATS}, {query}, {_SKIPPED}, {_KNOWN} {_WANTING} AND p.pair_id IN "
        "(SELECT pair_id FROM skip WHERE lifted_at IS NULL UNION SELECT pair_id FROM known_pair)"
    ):
        counts[made(facts, named and named(query_id))] -= 1
        counts[made(facts, named and named(query_id), skipped or "", known or "")] += 1
    return Counter({kind: count for kind, count in counts.items() if kind.free and count})


def of_query(db: Database, query_id: QueryId) -> list[tuple[int, PairKind]]:
    """Return (rank, state) of every pair of a query that needs grades and can be given to annotators."""
    rows = db.conn.execute(
        f"SELECT p.rank, {_SEATS} AS told, {_SKIPPED}, {_KNOWN} {_WANTING} AND p.query_id = ? ORDER BY p.rank",
        [query_id],
    )
    kinds_by_rank = [
        (int(rank), _kind(told, query_id, skipped or "", known or "")) for rank, told, skipped, known in rows
    ]
    return [(rank, kind) for rank, kind in kinds_by_rank if kind.free]


def of_pair(db: Database, pair: PairKey) -> PairKind | None:
    """Return the state of one pair, whether it needs grades or not; None if there is no such pair."""
    row = db.conn.execute(
        f"SELECT {_SEATS}, p.query_id, {_SKIPPED}, {_KNOWN} FROM pair p LEFT JOIN consensus c USING (pair_id) "
        "WHERE p.pair_key = ?",
        [pair],
    ).fetchone()
    return _kind(row[0], row[1], row[2] or "", row[3] or "") if row else None


def kept_back_of(db: Database, query_id: QueryId) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Return the ranks of a query's unsettled pairs that are kept from annotators, as (blocked, reserved).

    Blocked pairs have a clip that cannot be shown; reserved pairs belong to an exam or a calibration round. A pair that
    is both is listed as blocked.
    """
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
    """Return (pairs that got their first two grades, how many of them went on to two further annotators)."""
    row = db.conn.execute(
        "SELECT count(*), count(s.pair_id) FROM consensus c "
        "LEFT JOIN seat s ON s.pair_id = c.pair_id AND s.seat_no = ?",
        [min(SECOND_ROUND_SEATS)],
    ).fetchone()
    return row[0], row[1]


def kept_back(db: Database) -> tuple[int, int]:
    """Count the unsettled pairs that are kept from annotators, as (blocked, reserved).

    Blocked pairs have a clip that cannot be shown; reserved pairs belong to an exam or a calibration round. A pair that
    is both counts as blocked.
    """
    row = db.conn.execute(
        "SELECT (SELECT count(*) FROM clip_fault f JOIN pair p USING (moment_id) LEFT JOIN consensus c USING (pair_id) "
        "  WHERE coalesce(c.verdict, 'escalated') = 'escalated'), "
        "(SELECT count(DISTINCT p.pair_id) FROM set_aside o JOIN pair p USING (pair_id) "
        "  LEFT JOIN consensus c USING (pair_id) WHERE coalesce(c.verdict, 'escalated') = 'escalated' "
        "  AND p.moment_id NOT IN (SELECT moment_id FROM clip_fault))"
    ).fetchone()
    return row[0], row[1]


def version(db: Database) -> tuple[str, ...]:
    """Return texts that change with four tables: events, judgements, gold answers, and actions on descriptions.

    Every change adds a row to one of these tables.
    """
    row = db.conn.execute(
        f"SELECT {newest('event', 'event_id')}, {newest('judgement', 'judgement_id')}, "
        f"{newest('gold_answer', 'gold_answer_id')}, {newest('description_act', 'act_id')}"
    ).fetchone()
    return tuple(row)


def _kind(facts: str, query: QueryId | None, skipped: str = "", known: str = "") -> PairKind:
    seats, judged, graded, disputed = facts.split(":")
    return PairKind(
        seats=int(seats),
        graded=_people(graded),
        judged=int(judged),
        disputed=disputed == "1",
        skipped=_people(skipped),
        known=_people(known),
        query=query,
    )


def _people(ids: str) -> frozenset[AnnotatorId]:
    return frozenset(AnnotatorId(int(annotator_id)) for annotator_id in ids.split(",") if annotator_id)


_BY_PEOPLE = "j.revision = 1 AND j.simulated = 0 AND j.imported = 0"


def days(db: Database, since: float) -> list[DayCount]:
    """Return the judgements of each local day from an instant on (seconds since 1970). Days without any have no row."""
    # CROSS JOIN, because the index of judgements begins with the person, and people are few.
    rows = db.conn.execute(
        "SELECT date(j.graded_at, 'unixepoch', 'localtime') AS day, sum(j.simulated = 0), sum(j.simulated) "
        "FROM annotator a CROSS JOIN judgement j USING (annotator_id) "
        "WHERE j.graded_at >= ? AND j.revision = 1 AND j.imported = 0 GROUP BY day ORDER BY day",
        [since],
    )
    return [DayCount(*row) for row in rows]


@dataclass(frozen=True, slots=True)
class Pace:
    """One annotator with their pace and with what may prevent them from working.

    `began` is when they gave their first grade, in seconds since 1970; None if they gave none. `elsewhere` says whether
    they worked only in an earlier campaign, and nobody has invited them to this one.
    """

    annotator_id: AnnotatorId
    pace: PersonPace
    began: float | None
    suspended: bool
    simulated: bool
    paused: bool
    elsewhere: bool

    @property
    def may_work(self) -> bool:
        """Whether the annotator may work. The exam is not checked here.

        They may if they are not suspended, simulated, paused or `elsewhere`.
        """
        return not (self.suspended or self.simulated or self.paused or self.elsewhere)


def paces(db: Database, *, midnight: float, week_ago: float) -> list[Pace]:
    """Return how many pairs every annotator judged since midnight and in the last seven days, the busiest first.

    `midnight` and `week_ago` are in seconds since 1970.
    """
    return _paces(db, _BY_PEOPLE, midnight, week_ago)


def everybody(db: Database) -> list[Pace]:
    """Return every annotator with counts of 0. Judgements are not read, so this is quick."""
    return _paces(db, "FALSE", 0.0, 0.0)


def _paces(db: Database, counted: str, midnight: float, week_ago: float) -> list[Pace]:
    rows = db.conn.execute(
        "SELECT a.name, coalesce(sum(j.graded_at >= :midnight), 0), coalesce(sum(j.graded_at >= :week), 0) AS week, "
        "a.annotator_id, min(j.graded_at), a.suspended, a.simulated, "
        "EXISTS (SELECT 1 FROM pause u WHERE u.ended_at IS NULL AND u.annotator_id = a.annotator_id), "
        "a.password_hash IS NULL AND coalesce((SELECT f.imported FROM judgement f "
        "  WHERE f.annotator_id = a.annotator_id ORDER BY f.judgement_id LIMIT 1), 0) "
        "  AND NOT EXISTS (SELECT 1 FROM invitation i WHERE i.annotator_id = a.annotator_id) "
        "  AND NOT EXISTS (SELECT 1 FROM identity d WHERE d.annotator_id = a.annotator_id) "
        f"FROM annotator a LEFT JOIN judgement j ON j.annotator_id = a.annotator_id AND {counted} "
        "WHERE a.role = 'annotator' GROUP BY a.annotator_id ORDER BY week DESC, a.name",
        {"midnight": midnight, "week": week_ago},
    )
    return [
        Pace(AnnotatorId(r[3]), PersonPace(r[0], r[1], r[2]), r[4], bool(r[5]), bool(r[6]), bool(r[7]), bool(r[8]))
        for r in rows
    ]


def imported(db: Database) -> int:
    """Count the judgements that were imported from earlier campaigns."""
    count: int = db.conn.execute("SELECT count(*) FROM judgement WHERE revision = 1 AND imported = 1").fetchone()[0]
    return count


def held(db: Database, now: float) -> int:
    """Count the pairs that somebody has been given to grade and that are reserved for them at the instant `now`."""
    count: int = db.conn.execute(
        "SELECT count(DISTINCT pair_id) FROM seat WHERE lease_until >= ?",
        [now],
    ).fetchone()[0]
    return count


_SETTLED = "EXISTS (SELECT 1 FROM consensus c WHERE c.pair_id = p.pair_id AND c.verdict <> 'escalated')"


_OPEN_PAIRS = f"""
  SELECT p.moment_id, 0 AS part, 0 AS nearest, 0 AS position, p.pair_id AS nth
  FROM set_aside JOIN pair p USING (pair_id)
  UNION ALL
  SELECT p.moment_id, 1, -a.nearest, a.position, p.pair_id
  FROM agenda a JOIN pair p USING (batch_id) WHERE NOT {_SETTLED}
"""

_WAITING = """
  SELECT moment_id, query_id, rank, row_number() OVER (PARTITION BY query_id ORDER BY rank) AS place
  FROM candidate c WHERE NOT EXISTS (SELECT 1 FROM pair p WHERE (p.query_id, p.moment_id) = (c.query_id, c.moment_id))
"""

_NEXT = f"""
  SELECT w.moment_id, 2, 0, q.position, w.rank FROM ({_WAITING}) w JOIN query q USING (query_id)
  WHERE w.place <= (SELECT batch_size FROM campaign) AND EXISTS (SELECT 1 FROM batch b WHERE b.query_id = w.query_id)
"""

_ALL = """
  SELECT p.moment_id, 3, 0, q.position, p.rank FROM pair p JOIN query q USING (query_id)
  UNION ALL SELECT c.moment_id, 4, 0, q.position, c.rank FROM candidate c JOIN query q USING (query_id)
"""


@dataclass(frozen=True, slots=True)
class QueuedMoment:
    """A moment that annotators will be shown. `path`, `sha256` and `fps` are None while its video file is not known."""

    video: str
    path: str | None
    sha256: str | None
    fps: Fraction | None
    start_s: float
    end_s: float


def moments(db: Database, *, next_batches: bool, everything: bool) -> Iterator[QueuedMoment]:
    """Yield the moments of pairs that need grades, in the order in which annotators will need their clips.

    Pairs of an exam or a calibration round come first. Moments with a broken clip are left out. Some moments may come
    more than once.

    Args:
        db: the database.
        next_batches: also yield the moments of each query's next batch, which a lead may open.
        everything: also yield the moments of all candidates, and of pairs that were graded.
    """
    subquery = _OPEN_PAIRS + (f"UNION ALL {_NEXT}" if next_batches or everything else "")
    subquery += f"UNION ALL {_ALL}" if everything else ""
    rows = db.conn.execute(
        "SELECT v.name, v.path, v.sha256, v.fps_num, v.fps_den, m.start_s, m.end_s "
        f"FROM ({subquery}) AS w JOIN moment m USING (moment_id) JOIN video v USING (video_id) "
        "WHERE NOT EXISTS (SELECT 1 FROM clip_fault f WHERE f.moment_id = w.moment_id) "
        "ORDER BY w.part, w.nearest, w.position, w.nth"
    )
    for row in rows:
        fps = Fraction(row[3], row[4]) if row[3] else None
        yield QueuedMoment(row[0], row[1], row[2], fps, row[5], row[6])
