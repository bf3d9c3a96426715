"""List the moments that people will be shown, in their order. Reads only."""

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

from backend.store.engine import Database

_SETTLED = "EXISTS (SELECT 1 FROM consensus c WHERE c.pair_id = p.pair_id AND c.verdict <> 'escalated')"
_OPEN = f"""
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
    """A moment that people will be shown; `path`, `sha256` and `fps` are None while nobody has shown its video."""

    video: str
    path: str | None
    sha256: str | None
    fps: Fraction | None
    start_s: float
    end_s: float


def moments(db: Database, *, next_batches: bool, everything: bool) -> Iterator[QueuedMoment]:
    """The moments of pairs that wait for grades, those wanted first at first; some may come more than once.

    An exam's or trial's pairs come before the agenda's. A moment whose clip cannot be shown is left out.

    Args:
        db: the database.
        next_batches: then those of each query's next batch, which a lead may open.
        everything: then all candidates, and what was graded.
    """
    wanted = _OPEN + (f"UNION ALL {_NEXT}" if next_batches or everything else "")
    wanted += f"UNION ALL {_ALL}" if everything else ""
    rows = db.conn.execute(
        "SELECT v.name, v.path, v.sha256, v.fps_num, v.fps_den, m.start_s, m.end_s "
        f"FROM ({wanted}) AS w JOIN moment m USING (moment_id) JOIN video v USING (video_id) "
        "WHERE NOT EXISTS (SELECT 1 FROM clip_fault f WHERE f.moment_id = w.moment_id) "
        "ORDER BY w.part, w.nearest, w.position, w.nth"
    )
    for row in rows:
        fps = Fraction(row[3], row[4]) if row[3] else None
        yield QueuedMoment(row[0], row[1], row[2], fps, row[5], row[6])
