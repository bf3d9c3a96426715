"""What leads did about pairs: decisions, confirmed discards, re-openings, and what of it they took back. Append-only.

The acts of one pair are counted together, from 1. One stands until it is taken back, and only the newest that stands
can be.
"""

from typing import NamedTuple

from backend.campaign.judging.model import ActKind
from backend.campaign.judging.rules import MOST_GRADES
from backend.core.ids import AnnotatorId, PairId
from backend.store.engine import Database


class LeadAct(NamedTuple):
    """Something that a lead did about a pair."""

    revision: int
    lead_id: AnnotatorId | None
    """Nobody here where it came with an earlier campaign."""
    lead: str
    kind: ActKind
    relevance: int | None
    reason: str
    at: float
    stands: bool


_ACTS = (
    "SELECT a.revision, a.lead_id, coalesce(p.name, ''), a.kind, a.relevance, a.reason, a.at, a.stands "
    "FROM lead_act AS a LEFT JOIN annotator AS p ON p.annotator_id = a.lead_id"
)
NEXT_REVISION = (
    "(SELECT 1 + max(coalesce((SELECT max(revision) FROM adjudication WHERE pair_id = :pair), 0), "
    "coalesce((SELECT max(revision) FROM ruling WHERE pair_id = :pair), 0)))"
)


def acts(db: Database, pair_id: PairId) -> list[LeadAct]:
    """All acts of leads about a pair, the oldest first."""
    rows = db.conn.execute(f"{_ACTS} WHERE a.pair_id = ? ORDER BY a.revision", [pair_id])
    return [_act(row) for row in rows]


def adjudicate(db: Database, pair_id: PairId, lead: AnnotatorId, relevance: int, reason: str, *, at: float) -> None:
    """Append a decision; the newest one that stands counts."""
    db.conn.execute(
        "INSERT INTO adjudication (pair_id, revision, lead_id, relevance, reason, decided_at) "
        f"VALUES (:pair, {NEXT_REVISION}, :lead, :relevance, :reason, :at)",
        {"pair": pair_id, "lead": lead, "relevance": relevance, "reason": reason, "at": at},
    )


def add(
    db: Database,
    pair_id: PairId,
    lead: AnnotatorId | None,
    kind: ActKind,
    reason: str,
    *,
    at: float,
    takes_back: int | None = None,
) -> None:
    """Append what is no decision; `takes_back` is the revision of the act that counts no more."""
    db.conn.execute(
        "INSERT INTO ruling (pair_id, revision, lead_id, kind, takes_back, reason, ruled_at) "
        f"VALUES (:pair, {NEXT_REVISION}, :lead, :kind, :takes_back, :reason, :at)",
        {"pair": pair_id, "lead": lead, "kind": kind, "takes_back": takes_back, "reason": reason, "at": at},
    )


def standing(db: Database, pair_id: PairId) -> tuple[int | None, bool]:
    """(relevance that a lead decided on, if a decision stands; whether two more people are asked, or were)."""
    decided, re_opened = db.conn.execute(
        "SELECT (SELECT relevance FROM lead_act WHERE pair_id = :pair AND kind = 'decided' AND stands "
        "ORDER BY revision DESC LIMIT 1), EXISTS (SELECT 1 FROM re_opened WHERE pair_id = :pair)",
        {"pair": pair_id},
    ).fetchone()
    return decided, bool(re_opened)


def all_adjudicated(db: Database) -> dict[PairId, int]:
    """The relevance that a lead decided on, of every pair where a decision stands."""
    # The newest one comes last and stays in the dictionary.
    rows = db.conn.execute(
        "SELECT pair_id, relevance FROM lead_act WHERE kind = 'decided' AND stands ORDER BY pair_id, revision"
    )
    return {PairId(row[0]): row[1] for row in rows}


def is_re_opened(db: Database, pair_id: PairId) -> bool:
    """Whether two more people are asked about a pair, or were."""
    return bool(db.conn.execute("SELECT EXISTS (SELECT 1 FROM re_opened WHERE pair_id = ?)", [pair_id]).fetchone()[0])


def all_re_opened(db: Database) -> set[PairId]:
    """Every such pair."""
    return {PairId(row[0]) for row in db.conn.execute("SELECT pair_id FROM re_opened")}


def gone_on(db: Database, pair_id: PairId, seat_no: int) -> bool:
    """Whether a lead has gone on from the grade of a seat, by an act that stands.

    Grades of seats that came with a re-opening were given after it.
    """
    row = db.conn.execute(
        "SELECT kind FROM lead_act WHERE pair_id = ? AND stands ORDER BY revision DESC LIMIT 1", [pair_id]
    ).fetchone()
    return row is not None and (seat_no <= MOST_GRADES or row[0] != ActKind.RE_OPENED)


def _act(row: tuple[int, int | None, str, str, int | None, str, float, int]) -> LeadAct:
    lead = None if row[1] is None else AnnotatorId(row[1])
    return LeadAct(row[0], lead, row[2], ActKind(row[3]), row[4], row[5], row[6], bool(row[7]))
