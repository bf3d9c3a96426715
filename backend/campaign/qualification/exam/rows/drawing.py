"""Which pairs can be items of an exam."""

import json
from collections.abc import Iterable

from backend.campaign.qualification.exam.model import ExamPurpose
from backend.campaign.qualification.exam.rules.drawing import Open, Settled
from backend.core.ids import PairId, PairKey, QueryId
from backend.core.saying import recalled, said
from backend.store.engine import Database


def settled(db: Database, *, now: float, final_before: float) -> list[Settled]:
    """Pairs that may be items: a relevance that nobody can change by a grade any more, and a clip.

    Left out are pairs that somebody has on their desk, pairs that were graded after `final_before` (unless a lead
    decided), and those that the guideline shows with their grade.
    """
    rows = db.conn.execute(
        """
        SELECT p.query_id, p.pair_id, c.relevance FROM consensus c JOIN pair p USING (pair_id)
        JOIN moment m USING (moment_id) JOIN video v USING (video_id) LEFT JOIN clip_fault f USING (moment_id)
        WHERE c.relevance IS NOT NULL AND f.moment_id IS NULL AND v.path IS NOT NULL
          AND NOT EXISTS (SELECT 1 FROM seat s WHERE s.pair_id = p.pair_id AND s.lease_until >= :now)
          AND NOT EXISTS (SELECT 1 FROM example x WHERE x.pair_id = p.pair_id AND x.withdrawn_at IS NULL)
          AND (c.verdict = 'adjudicated' OR NOT EXISTS (SELECT 1 FROM judgement j
            WHERE j.pair_id = p.pair_id AND j.graded_at > :final AND NOT j.imported AND NOT j.simulated))
        """,
        {"now": now, "final": final_before},
    )
    return [Settled(QueryId(row[0]), PairId(row[1]), row[2]) for row in rows]


def open_pairs(db: Database, *, now: float, replaced: ExamPurpose) -> list[Open]:
    """Pairs that may be asked before anything is settled: nobody has graded or holds them, and they have a clip.

    Left out are pairs of probes, those that an exam or a trial asks already, and those that somebody has answered in
    one: who comes later would be asked what others were told. What is asked by the one of the kind `replaced` may be
    asked again, as it ends.
    """
    rows = db.conn.execute(
        """
        SELECT p.query_id, p.pair_id, p.rank FROM pair p JOIN batch b USING (batch_id)
        JOIN moment m USING (moment_id) JOIN video v USING (video_id) LEFT JOIN clip_fault f USING (moment_id)
        WHERE b.number IS NOT NULL AND f.moment_id IS NULL AND v.path IS NOT NULL
          AND NOT EXISTS (SELECT 1 FROM judgement j WHERE j.pair_id = p.pair_id)
          AND NOT EXISTS (SELECT 1 FROM consensus c WHERE c.pair_id = p.pair_id)
          AND NOT EXISTS (SELECT 1 FROM seat s WHERE s.pair_id = p.pair_id AND s.lease_until >= :now)
          AND NOT EXISTS (SELECT 1 FROM exam_item i JOIN exam e USING (exam_id)
            WHERE i.pair_id = p.pair_id AND e.ended_at IS NULL AND e.purpose <> :replaced)
          AND NOT EXISTS (SELECT 1 FROM known_pair k WHERE k.pair_id = p.pair_id)
        """,
        {"now": now, "replaced": replaced},
    )
    return [Open(QueryId(row[0]), PairId(row[1]), row[2]) for row in rows]


def why_unfit(db: Database, pair_id: PairId, *, now: float) -> str:
    """Why a pair cannot be an item; an empty text if it can."""
    row = db.conn.execute(
        """
        SELECT c.verdict, v.path IS NULL, f.reason,
          EXISTS (SELECT 1 FROM seat s WHERE s.pair_id = p.pair_id AND s.lease_until >= :now),
          EXISTS (SELECT 1 FROM example x WHERE x.pair_id = p.pair_id AND x.withdrawn_at IS NULL)
        FROM pair p JOIN moment m USING (moment_id) JOIN video v USING (video_id)
        LEFT JOIN consensus c USING (pair_id) LEFT JOIN clip_fault f USING (moment_id) WHERE p.pair_id = :pair
        """,
        {"pair": pair_id, "now": now},
    ).fetchone()
    if row is None:
        return said("is not a pair of this project with a known moment")
    verdict, no_video, fault, on_a_desk, example = row
    if verdict not in ("consensus", "adjudicated", "discarded"):
        return said("is not settled: people may still have to grade it")
    if no_video or fault:
        return said(
            "has no clip to show ({fault})", fault=recalled(fault) if fault else said("its video file is not known")
        )
    if on_a_desk:
        return said("is on somebody's desk just now")
    return said("is an example of the guideline, which shows its grade") if example else ""


def query_of(db: Database, pair_id: PairId) -> QueryId | None:
    """The query of a pair."""
    row = db.conn.execute("SELECT query_id FROM pair WHERE pair_id = ?", [pair_id]).fetchone()
    return None if row is None or row[0] is None else QueryId(row[0])


def told(db: Database, pair_ids: Iterable[PairId]) -> dict[PairId, tuple[PairKey, QueryId, str]]:
    """(name, query, its text) of some pairs."""
    wanted = json.dumps(list(pair_ids))
    rows = db.conn.execute(
        "SELECT p.pair_id, p.pair_key, p.query_id, q.text FROM pair p JOIN query q USING (query_id) "
        "WHERE p.pair_id IN (SELECT value FROM json_each(?))",
        [wanted],
    )
    return {PairId(row[0]): (PairKey(row[1]), QueryId(row[2]), row[3]) for row in rows}
