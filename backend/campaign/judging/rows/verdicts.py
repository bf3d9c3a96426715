"""What settles pairs: the stored verdicts, and what leads did about pairs.

The acts of leads are append-only: decisions, confirmed discards, re-openings, and what of it they took back.

The acts of one pair are counted together, from 1. One stands until it is taken back, and only the newest that stands
can be.
"""

from collections import defaultdict
from collections.abc import Iterable
from enum import StrEnum
from typing import NamedTuple

from backend.campaign.judging.model import ActKind
from backend.campaign.judging.rules import MOST_GRADES
from backend.campaign.nouns import Verdict
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


def add_decision(db: Database, pair_id: PairId, lead: AnnotatorId, relevance: int, reason: str, *, at: float) -> None:
    """Append a decision; the newest one that stands counts."""
    db.conn.execute(
        "INSERT INTO adjudication (pair_id, revision, lead_id, relevance, reason, decided_at) "
        f"VALUES (:pair, {NEXT_REVISION}, :lead, :relevance, :reason, :at)",
        {"pair": pair_id, "lead": lead, "relevance": relevance, "reason": reason, "at": at},
    )


def add_act(
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


def decision_of_lead(db: Database, pair_id: PairId) -> tuple[int | None, bool]:
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


def lead_has_gone_on(db: Database, pair_id: PairId, seat_no: int) -> bool:
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


def verdict(db: Database, pair_id: PairId) -> Verdict:
    """The stored verdict of a pair."""
    row = db.conn.execute("SELECT verdict FROM consensus WHERE pair_id = ?", [pair_id]).fetchone()
    return Verdict(row[0]) if row else Verdict.OPEN


def set_verdict(
    db: Database,
    pair_id: PairId,
    verdict: Verdict,
    relevance: int | None,
    mean: float | None,
    rule_version: str,
) -> None:
    """Store what the rule, or a lead, says now; an open pair has no row."""
    if verdict is Verdict.OPEN:
        db.conn.execute("DELETE FROM consensus WHERE pair_id = ?", [pair_id])
        return
    db.conn.execute(
        "INSERT INTO consensus (pair_id, verdict, relevance, mean, rule_version) VALUES (?, ?, ?, ?, ?) "
        "ON CONFLICT (pair_id) DO UPDATE SET verdict = excluded.verdict, relevance = excluded.relevance, "
        "mean = excluded.mean, rule_version = excluded.rule_version",
        [pair_id, verdict.value, relevance, mean, rule_version],
    )


def grades_by_pair(db: Database) -> dict[PairId, list[int]]:
    """The grades that count of every pair that has any, sorted."""
    found: defaultdict[PairId, list[int]] = defaultdict(list)
    for pair_id, grade in db.conn.execute("SELECT pair_id, grade FROM standing ORDER BY pair_id, grade"):
        found[pair_id].append(grade)
    return found


def replace_verdicts(db: Database, verdicts: Iterable[tuple[PairId, Verdict, int | None, float | None, str]]) -> None:
    """Put these (pair, verdict, relevance, mean, version of the rule) in the place of all stored; none is open."""
    db.conn.execute("DELETE FROM consensus")
    db.conn.executemany(
        "INSERT INTO consensus (pair_id, verdict, relevance, mean, rule_version) VALUES (?, ?, ?, ?, ?)",
        ((pair_id, verdict.value, *rest) for pair_id, verdict, *rest in verdicts),
    )


class GoneOn(StrEnum):
    """How somebody has gone on from another person's grade."""

    GRADED = "graded"
    ON_SCREEN = "on screen"


def annotator_has_gone_on(db: Database, pair_id: PairId, me: AnnotatorId, *, now: float) -> GoneOn | None:
    """Whether, and how, anybody has gone on from this person's grade of a pair.

    That is: somebody graded it later, or somebody at a later round (two seats are one) has the clip on screen. A clip
    that only lies ahead on somebody's desk, or whose lease has run out, nobody has gone on to.
    """
    graded, shown = db.conn.execute(
        "SELECT EXISTS (SELECT 1 FROM judgement WHERE pair_id = :pair AND annotator_id <> :me AND judgement_id > "
        "(SELECT max(judgement_id) FROM judgement WHERE pair_id = :pair AND annotator_id = :me)), "
        "EXISTS (SELECT 1 FROM seat AS mine JOIN seat AS theirs USING (pair_id) WHERE pair_id = :pair "
        "AND mine.annotator_id = :me AND (mine.seat_no + 1) / 2 < (theirs.seat_no + 1) / 2 "
        "AND theirs.annotator_id <> :me AND theirs.shown_at IS NOT NULL AND theirs.lease_until >= :now)",
        {"pair": pair_id, "me": me, "now": now},
    ).fetchone()
    return GoneOn.GRADED if graded else GoneOn.ON_SCREEN if shown else None
