"""SQL that finds pairs whose grade is final, and the annotators who could take an exam.

Such pairs are exam items, gold questions and guideline examples: annotators are told their grades or are scored by
them. So nobody may still be able to change the grade, and nobody may be grading the pair at present.
"""

import json
from collections.abc import Iterable
from dataclasses import dataclass

from backend.campaign.judging.model import CORRECTION_S, LONGEST_LEASE_S
from backend.campaign.judging.rows.judgements import changeable
from backend.campaign.nouns import Person, Role
from backend.campaign.qualification.answers.rules import GoldExclusion, KnownPair
from backend.core.days import lasts
from backend.core.ids import AnnotatorId, PairId, PairKey, QueryId
from backend.core.messages import from_stored, said
from backend.store.engine import Database

CLIP = "JOIN moment m USING (moment_id) JOIN video v USING (video_id) LEFT JOIN clip_fault f USING (moment_id)"
"""Joins a pair `p` to its moment `m`, its video `v`, and the fault `f` of its clip, if the clip has one."""
HAS_CLIP = "f.moment_id IS NULL AND v.path IS NOT NULL"
ON_A_DESK = "EXISTS (SELECT 1 FROM seat s WHERE s.pair_id = p.pair_id AND s.lease_until >= :now)"
_IS_EXAMPLE = "EXISTS (SELECT 1 FROM example x WHERE x.pair_id = p.pair_id AND x.withdrawn_at IS NULL)"
_CORRECTABLE = (
    "EXISTS (SELECT 1 FROM judgement j WHERE j.pair_id = p.pair_id "
    f"AND {changeable('j.graded_at')} AND NOT j.imported AND NOT j.simulated)"
)
_SETTLED = (
    f"SELECT p.pair_id, c.relevance, p.query_id FROM consensus c JOIN pair p USING (pair_id) {CLIP} "
    f"WHERE c.relevance IS NOT NULL AND {HAS_CLIP} AND NOT {_IS_EXAMPLE} "
    f"AND (c.verdict = 'adjudicated' OR NOT {_CORRECTABLE})"
)
"""Pairs whose relevance is final, which have a clip, and which are no example of the guideline.

Those that were graded after `:final` are left out, unless a lead decided them.
"""


@dataclass(frozen=True, slots=True)
class Fitness:
    """The facts that decide whether annotators may be told the relevance (final grade) of a pair.

    `ruled` says whether a lead decided the relevance. `fault` says why the clip cannot be shown; it is empty if it can.
    `newest` is the time of the newest grade that an annotator gave in this project, without imported grades; None if
    there is none. `held_until` is the time until which an annotator has the pair reserved for grading; None if nobody
    has. Both times are in seconds since 1970.
    """

    relevance: int | None
    ruled: bool
    fault: str
    newest: float | None
    held_until: float | None

    def correctable_s(self, now: float) -> float:
        """Return for how many more seconds the newest grade may be corrected; 0 or less if it may not.

        If a lead decided the relevance, no grade can be corrected.
        """
        if self.ruled or self.newest is None or not lasts(self.newest, CORRECTION_S, now=now):
            return 0.0
        return self.newest + CORRECTION_S - now

    def held_s(self, now: float, lease_s: float = LONGEST_LEASE_S) -> float:
        """Return for how many more seconds an annotator has the pair reserved for grading; below 0 if nobody has.

        Pairs are reserved for `lease_s` seconds. A reservation from before the clock was set back by more is over.
        """
        held_s = -1.0 if self.held_until is None else self.held_until - now
        return -1.0 if held_s > 2 * lease_s else held_s


def settled(db: Database, *, now: float) -> list[KnownPair]:
    """Return the pairs with a final relevance: no grade can be corrected, and nobody is grading them at present.

    Pairs whose clip cannot be shown, and examples of the guideline, are left out.
    """
    rows = db.conn.execute(f"{_SETTLED} AND NOT {ON_A_DESK}", {"now": now, "final": now - CORRECTION_S})
    return [KnownPair(PairId(row[0]), row[1], QueryId(row[2])) for row in rows]


def well_known(db: Database, *, now: float) -> list[KnownPair]:
    """Return the pairs whose relevance is certain enough for gold questions.

    Either a lead decided the relevance, or the mean of the annotators' grades was a whole number. Grades that can still
    be corrected, pairs whose clip cannot be shown and examples of the guideline are left out.
    """
    rows = db.conn.execute(
        f"{_SETTLED} AND p.batch_id IS NOT NULL AND (c.verdict = 'adjudicated' OR c.mean = c.relevance)",
        {"final": now - CORRECTION_S},
    )
    return [KnownPair(PairId(row[0]), row[1], QueryId(row[2])) for row in rows]


def count_excluded(db: Database, *, now: float) -> dict[GoldExclusion, int]:
    """Count the graded pairs that cannot be gold questions, by reason.

    A pair with several reasons is counted once, under the first of them in the order of `GoldExclusion`.
    """
    rows = db.conn.execute(
        "SELECT why, count(*) FROM (SELECT CASE WHEN c.relevance IS NULL THEN 'discarded' "
        f"WHEN NOT ({HAS_CLIP}) THEN 'no clip' WHEN {_IS_EXAMPLE} THEN 'example' "
        f"WHEN c.verdict <> 'adjudicated' AND {_CORRECTABLE} THEN 'correctable' "
        "WHEN c.verdict <> 'adjudicated' AND c.mean <> c.relevance THEN 'rounded' END AS why "
        f"FROM consensus c JOIN pair p USING (pair_id) {CLIP} WHERE p.batch_id IS NOT NULL "
        "AND c.verdict IN ('consensus', 'adjudicated', 'discarded')) AS settled WHERE why IS NOT NULL GROUP BY why",
        {"final": now - CORRECTION_S},
    )
    counts = {GoldExclusion(row[0]): int(row[1]) for row in rows}
    return {reason: counts[reason] for reason in GoldExclusion if reason in counts}


def why_unfit(db: Database, pair_id: PairId, *, now: float) -> str:
    """Return why a pair may not be in a lead's answer key file; an empty text if it may."""
    row = db.conn.execute(
        f"SELECT c.verdict, v.path IS NULL, f.reason, {ON_A_DESK}, {_IS_EXAMPLE} "
        f"FROM pair p {CLIP} LEFT JOIN consensus c USING (pair_id) WHERE p.pair_id = :pair",
        {"pair": pair_id, "now": now},
    ).fetchone()
    if row is None:
        return said("is not a pair of this project with a known moment")
    verdict, no_video, fault, on_a_desk, example = row
    if verdict not in ("consensus", "adjudicated", "discarded"):
        return said("is not settled: annotators may still grade it")
    if why := clip_fault(fault, no_video):
        return said("has no clip to show ({fault})", fault=why)
    if on_a_desk:
        return said("is being graded right now")
    return said("is an example in the guideline, which shows its grade") if example else ""


def fitness(db: Database, pair_id: PairId) -> Fitness:
    """Return the facts that decide whether annotators may be told the relevance (final grade) of a pair."""
    relevance, ruled, fault, no_video, newest, held_until = db.conn.execute(
        "SELECT c.relevance, c.verdict IS 'adjudicated', "
        "f.reason, v.path IS NULL, "
        "(SELECT max(graded_at) FROM judgement j WHERE j.pair_id = p.pair_id AND NOT j.imported AND NOT j.simulated), "
        "(SELECT max(lease_until) FROM (SELECT lease_until FROM seat s WHERE s.pair_id = p.pair_id "
        "UNION ALL SELECT lease_until FROM gold_seat g WHERE g.pair_id = p.pair_id)) "
        f"FROM pair p {CLIP} LEFT JOIN consensus c USING (pair_id) WHERE p.pair_id = ?",
        [pair_id],
    ).fetchone()
    return Fitness(relevance, bool(ruled), clip_fault(fault, no_video), newest, held_until)


def clip_fault(fault: str | None, no_video: bool) -> str:
    """Return why a clip cannot be shown; an empty text if it can.

    Args:
        fault: the recorded fault of the clip, if any.
        no_video: whether the file of its video is unknown.
    """
    return from_stored(fault) if fault else said("the place of its video file is not known") if no_video else ""


def query_of(db: Database, pair_id: PairId) -> QueryId | None:
    """Return the query of a pair; None if there is no such pair."""
    row = db.conn.execute("SELECT query_id FROM pair WHERE pair_id = ?", [pair_id]).fetchone()
    return None if row is None or row[0] is None else QueryId(row[0])


def names_of(db: Database, pair_ids: Iterable[PairId]) -> dict[PairId, tuple[PairKey, QueryId, str]]:
    """Return, by pair id, the (name in the browser, query id, query text) of each given pair."""
    ids = json.dumps(list(pair_ids))
    rows = db.conn.execute(
        "SELECT p.pair_id, p.pair_key, p.query_id, q.text FROM pair p JOIN query q USING (query_id) "
        "WHERE p.pair_id IN (SELECT value FROM json_each(?))",
        [ids],
    )
    return {PairId(row[0]): (PairKey(row[1]), QueryId(row[2]), row[3]) for row in rows}


def exam_candidates(db: Database) -> list[Person]:
    """Return the annotators who could take an exam, sorted by name.

    Programs, and workers whose grades were imported from an earlier campaign, are left out because they cannot sign in.
    """
    rows = db.conn.execute(
        "SELECT a.annotator_id, a.name, a.suspended FROM annotator a WHERE a.role = 'annotator' AND NOT a.simulated "
        "AND (a.password_hash IS NOT NULL OR EXISTS (SELECT 1 FROM invitation i WHERE i.annotator_id = a.annotator_id) "
        "OR EXISTS (SELECT 1 FROM identity d WHERE d.annotator_id = a.annotator_id) "
        "OR EXISTS (SELECT 1 FROM exam_attempt t WHERE t.annotator_id = a.annotator_id)) ORDER BY a.name"
    )
    return [Person(AnnotatorId(row[0]), row[1], Role.ANNOTATOR, bool(row[2])) for row in rows]
