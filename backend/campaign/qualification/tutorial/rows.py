"""Store and read practice pairs and answers, and what is known of a text and a moment."""

import secrets
from dataclasses import dataclass

from backend.campaign.corpus.importing.rows import WHOLE
from backend.campaign.qualification.answers.rows import clip_fault
from backend.core.ids import AnnotatorId, MomentId, PairId, PairKey
from backend.core.messages import said
from backend.store.engine import Database


@dataclass(frozen=True, slots=True)
class PracticePair:
    """A practice pair of the tutorial."""

    practice_id: int
    key: str
    query: str
    moment_id: MomentId
    video: str
    start_s: float
    end_s: float
    whole: bool
    grade: int
    explanation: str


@dataclass(frozen=True, slots=True)
class SamePair:
    """A pair of the project with the same text and moment."""

    pair_id: PairId
    settled: bool
    relevance: int | None


def practice_pairs(db: Database) -> list[PracticePair]:
    """The practice pairs that stand, in the order in which they were chosen."""
    rows = db.conn.execute(
        f"SELECT practice_id, practice_key, query, moment_id, v.name, m.start_s, m.end_s, {WHOLE}, grade, explanation "
        "FROM practice JOIN moment m USING (moment_id) JOIN video v USING (video_id) "
        "WHERE withdrawn_at IS NULL ORDER BY practice_id"
    )
    return [PracticePair(r[0], r[1], r[2], MomentId(r[3]), r[4], r[5], r[6], bool(r[7]), r[8], r[9]) for r in rows]


def add(
    db: Database, query: str, moment_id: MomentId, grade: int, explanation: str, lead: AnnotatorId | None, *, at: float
) -> None:
    """A new practice pair behind the others."""
    db.conn.execute(
        "INSERT INTO practice (practice_key, query, moment_id, grade, explanation, lead_id, chosen_at) "
        "VALUES (?, ?, ?, ?, ?, ?, ?)",
        [secrets.token_urlsafe(12), query, moment_id, grade, explanation, lead, at],
    )


def withdraw(db: Database, practice_id: int, *, at: float) -> bool:
    """End a practice pair; whether it stood."""
    cursor = db.conn.execute(
        "UPDATE practice SET withdrawn_at = ? WHERE practice_id = ? AND withdrawn_at IS NULL", [at, practice_id]
    )
    return cursor.rowcount > 0


def moment_at(db: Database, video: str, start_s: float, end_s: float) -> MomentId | None:
    """The moment of this span."""
    row = db.conn.execute(
        "SELECT moment_id FROM moment JOIN video USING (video_id) WHERE name = ? AND start_s = ? AND end_s = ?",
        [video, start_s, end_s],
    ).fetchone()
    return MomentId(row[0]) if row else None


def pair_made_of(db: Database, key: PairKey) -> tuple[str, MomentId] | None:
    """(query, moment) of a pair."""
    row = db.conn.execute(
        "SELECT q.text, p.moment_id FROM pair p JOIN query q USING (query_id) WHERE pair_key = ?", [key]
    ).fetchone()
    return (row[0], MomentId(row[1])) if row else None


def fault(db: Database, moment_id: MomentId) -> str:
    """Why the clip of a moment cannot be shown; an empty text if it can."""
    row = db.conn.execute(
        "SELECT f.reason, v.path IS NULL "
        "FROM moment JOIN video v USING (video_id) LEFT JOIN clip_fault f USING (moment_id) WHERE moment_id = ?",
        [moment_id],
    ).fetchone()
    if row is None:
        return said("there is no such moment")
    return clip_fault(row[0], row[1])


def same_pairs(db: Database, query: str, moment_id: MomentId) -> list[SamePair]:
    """Pairs of the project with this text, however it is written, and this moment."""
    rows = db.conn.execute(
        "SELECT p.pair_id, c.verdict IN ('consensus', 'adjudicated', 'discarded'), c.relevance FROM pair p "
        "JOIN query q USING (query_id) LEFT JOIN consensus c USING (pair_id) "
        "WHERE p.moment_id = ? AND q.text = ? COLLATE NOCASE",
        [moment_id, query],
    )
    return [SamePair(PairId(row[0]), bool(row[1]), row[2]) for row in rows]


def may_become_pair(db: Database, query: str, moment_id: MomentId) -> bool:
    """Whether this is on the list of candidates of a query to be judged, and no pair yet."""
    row = db.conn.execute(
        "SELECT EXISTS (SELECT 1 FROM query q JOIN candidate k USING (query_id) WHERE q.split <> 'train' "
        "AND q.text = :text AND k.moment_id = :moment AND NOT EXISTS (SELECT 1 FROM pair p "
        "WHERE p.query_id = q.query_id AND p.moment_id = k.moment_id))",
        {"text": query, "moment": moment_id},
    ).fetchone()
    return bool(row[0])


def answer_owner(db: Database, event_key: str) -> tuple[int, AnnotatorId, int] | None:
    """(practice pair, person, grade) of the answer with this key."""
    row = db.conn.execute(
        "SELECT practice_id, annotator_id, grade FROM practice_answer WHERE event_key = ?", [event_key]
    ).fetchone()
    return (row[0], AnnotatorId(row[1]), row[2]) if row else None


def add_answer(db: Database, practice_id: int, me: AnnotatorId, grade: int, event_key: str, *, at: float) -> None:
    """What somebody answered in practice."""
    db.conn.execute(
        "INSERT INTO practice_answer (practice_id, annotator_id, grade, answered_at, event_key) VALUES (?, ?, ?, ?, ?)",
        [practice_id, me, grade, at, event_key],
    )


def last_answers(db: Database, me: AnnotatorId) -> dict[int, int]:
    """What somebody answered last, by practice pair."""
    rows = db.conn.execute(
        "SELECT practice_id, grade FROM practice_answer WHERE annotator_id = ? ORDER BY answer_id", [me]
    )
    return {row[0]: row[1] for row in rows}


def first_answers(db: Database) -> dict[int, list[int]]:
    """What everybody answered first, by practice pair."""
    found: dict[int, list[int]] = {}
    rows = db.conn.execute(
        "SELECT practice_id, grade FROM practice_answer WHERE answer_id IN "
        "(SELECT min(answer_id) FROM practice_answer GROUP BY practice_id, annotator_id)"
    )
    for practice_id, grade in rows:
        found.setdefault(practice_id, []).append(grade)
    return found
