"""SQL for the guideline's examples and readers, and for practice pairs and the answers to them."""

import secrets
from dataclasses import dataclass

from backend.campaign.corpus.importing.rows import WHOLE
from backend.campaign.qualification.answers.rows import CLIP, HAS_CLIP, clip_fault
from backend.campaign.qualification.guideline.rules import Example
from backend.core.ids import AnnotatorId, MomentId, PairId, PairKey
from backend.core.messages import said
from backend.store.engine import Database


def current_examples(db: Database) -> list[Example]:
    """Return the current example of each grade, in the order of the grades. Grades without an example are left out."""
    rows = db.conn.execute(
        "SELECT e.example_id, e.grade, p.pair_key, q.text, e.note, "
        f"c.relevance IS e.grade AND {HAS_CLIP} "
        f"FROM example e JOIN pair p USING (pair_id) JOIN query q USING (query_id) {CLIP} "
        "LEFT JOIN consensus c USING (pair_id) "
        "WHERE e.withdrawn_at IS NULL ORDER BY e.grade"
    )
    return [Example(r[0], r[1], PairKey(r[2]), r[3], r[4], bool(r[5])) for r in rows]


def add_example(db: Database, grade: int, pair_id: PairId, note: str, lead: AnnotatorId, *, at: float) -> None:
    """Store the example of a grade, which must have none at present."""
    db.conn.execute(
        "INSERT INTO example (grade, pair_id, note, lead_id, chosen_at) VALUES (?, ?, ?, ?, ?)",
        [grade, pair_id, note, lead, at],
    )


def withdraw_example(db: Database, grade: int, *, at: float) -> PairId | None:
    """Withdraw the current example of a grade, and return its pair; None if there was none."""
    row = db.conn.execute(
        "UPDATE example SET withdrawn_at = ? WHERE grade = ? AND withdrawn_at IS NULL RETURNING pair_id", [at, grade]
    ).fetchone()
    return PairId(row[0]) if row else None


def reading(db: Database, me: AnnotatorId) -> tuple[int | None, int, bool]:
    """Return (newest version that a person was shown, current version, whether the tutorial is on).

    The first is None for a person who was shown no version yet.
    """
    row = db.conn.execute(
        "SELECT (SELECT max(version) FROM guideline_seen WHERE annotator_id = ?), "
        "(SELECT max(version) FROM guideline_version), tutorial FROM campaign",
        [me],
    ).fetchone()
    return row[0], row[1], bool(row[2])


def note_seen(db: Database, me: AnnotatorId, version: int, *, at: float) -> None:
    """Record that an annotator has read a guideline version to its end. Repeated calls keep the first time."""
    db.conn.execute(
        "INSERT OR IGNORE INTO guideline_seen (annotator_id, version, seen_at) VALUES (?, ?, ?)", [me, version, at]
    )


def readers(db: Database) -> dict[int, int]:
    """Return, by guideline version, how many annotators have read this version but no newer one.

    Suspended and simulated annotators do not count.
    """
    rows = db.conn.execute(
        "SELECT version, count(*) FROM (SELECT max(version) AS version FROM guideline_seen "
        "JOIN annotator USING (annotator_id) WHERE NOT suspended AND NOT simulated GROUP BY annotator_id) "
        "GROUP BY version"
    )
    return {row[0]: row[1] for row in rows}


@dataclass(frozen=True, slots=True)
class PracticePair:
    """A practice pair of the tutorial.

    `key` is its name in the browser. `whole` says whether the clip is the whole video. `grade` is the right grade.
    """

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
    """A pair of the project with the same query text and moment as a practice pair.

    `settled` says whether its grading has ended, with a final grade (`relevance`) or without one (None).
    """

    pair_id: PairId
    settled: bool
    relevance: int | None


def practice_pairs(db: Database) -> list[PracticePair]:
    """Return the current practice pairs, in the order in which they were chosen."""
    rows = db.conn.execute(
        f"SELECT practice_id, practice_key, query, moment_id, v.name, m.start_s, m.end_s, {WHOLE}, grade, explanation "
        "FROM practice JOIN moment m USING (moment_id) JOIN video v USING (video_id) "
        "WHERE withdrawn_at IS NULL ORDER BY practice_id"
    )
    return [PracticePair(r[0], r[1], r[2], MomentId(r[3]), r[4], r[5], r[6], bool(r[7]), r[8], r[9]) for r in rows]


def add_practice(
    db: Database, query: str, moment_id: MomentId, grade: int, explanation: str, lead: AnnotatorId | None, *, at: float
) -> None:
    """Add a practice pair at the end of the list."""
    db.conn.execute(
        "INSERT INTO practice (practice_key, query, moment_id, grade, explanation, lead_id, chosen_at) "
        "VALUES (?, ?, ?, ?, ?, ?, ?)",
        [secrets.token_urlsafe(12), query, moment_id, grade, explanation, lead, at],
    )


def withdraw_practice(db: Database, practice_id: int, *, at: float) -> bool:
    """Withdraw a practice pair, and return whether it was current."""
    cursor = db.conn.execute(
        "UPDATE practice SET withdrawn_at = ? WHERE practice_id = ? AND withdrawn_at IS NULL", [at, practice_id]
    )
    return cursor.rowcount > 0


def moment_at(db: Database, video: str, start_s: float, end_s: float) -> MomentId | None:
    """Return the moment with this span in a video; None if there is none."""
    row = db.conn.execute(
        "SELECT moment_id FROM moment JOIN video USING (video_id) WHERE name = ? AND start_s = ? AND end_s = ?",
        [video, start_s, end_s],
    ).fetchone()
    return MomentId(row[0]) if row else None


def pair_made_of(db: Database, key: PairKey) -> tuple[str, MomentId] | None:
    """Return the (query text, moment) of a pair; None if there is no such pair."""
    row = db.conn.execute(
        "SELECT q.text, p.moment_id FROM pair p JOIN query q USING (query_id) WHERE pair_key = ?", [key]
    ).fetchone()
    return (row[0], MomentId(row[1])) if row else None


def fault(db: Database, moment_id: MomentId) -> str:
    """Return why the clip of a moment cannot be shown; an empty text if it can."""
    row = db.conn.execute(
        "SELECT f.reason, v.path IS NULL "
        "FROM moment JOIN video v USING (video_id) LEFT JOIN clip_fault f USING (moment_id) WHERE moment_id = ?",
        [moment_id],
    ).fetchone()
    if row is None:
        return said("there is no such moment")
    return clip_fault(row[0], row[1])


def same_pairs(db: Database, query: str, moment_id: MomentId) -> list[SamePair]:
    """Return the pairs of the project with this moment and this query text, ignoring upper and lower case."""
    rows = db.conn.execute(
        "SELECT p.pair_id, c.verdict IN ('consensus', 'adjudicated', 'discarded'), c.relevance FROM pair p "
        "JOIN query q USING (query_id) LEFT JOIN consensus c USING (pair_id) "
        "WHERE p.moment_id = ? AND q.text = ? COLLATE NOCASE",
        [moment_id, query],
    )
    return [SamePair(PairId(row[0]), bool(row[1]), row[2]) for row in rows]


def may_become_pair(db: Database, query: str, moment_id: MomentId) -> bool:
    """Return whether a later batch may hand out this moment for this query text, ignoring upper and lower case.

    It may if the moment is a candidate of a validation or test query with this text, but not yet a pair that is handed
    out.
    """
    row = db.conn.execute(
        "SELECT EXISTS (SELECT 1 FROM query q JOIN candidate k USING (query_id) WHERE q.split <> 'train' "
        "AND q.text = :text COLLATE NOCASE AND k.moment_id = :moment AND NOT EXISTS (SELECT 1 FROM pair p "
        "WHERE p.query_id = q.query_id AND p.moment_id = k.moment_id))",
        {"text": query, "moment": moment_id},
    ).fetchone()
    return bool(row[0])


def answer_owner(db: Database, event_key: str) -> tuple[int, AnnotatorId, int] | None:
    """Return the (practice id, annotator, grade) that was stored for this key press; None if there is none."""
    row = db.conn.execute(
        "SELECT practice_id, annotator_id, grade FROM practice_answer WHERE event_key = ?", [event_key]
    ).fetchone()
    return (row[0], AnnotatorId(row[1]), row[2]) if row else None


def add_answer(db: Database, practice_id: int, me: AnnotatorId, grade: int, event_key: str, *, at: float) -> None:
    """Store a person's answer to a practice pair; `event_key` identifies the key press."""
    db.conn.execute(
        "INSERT INTO practice_answer (practice_id, annotator_id, grade, answered_at, event_key) VALUES (?, ?, ?, ?, ?)",
        [practice_id, me, grade, at, event_key],
    )


def last_answers(db: Database, me: AnnotatorId) -> dict[int, int]:
    """Return the newest grade that a person gave to each practice pair, by practice id."""
    rows = db.conn.execute(
        "SELECT practice_id, grade FROM practice_answer WHERE annotator_id = ? ORDER BY answer_id", [me]
    )
    return {row[0]: row[1] for row in rows}


def first_answers(db: Database) -> dict[int, list[int]]:
    """Return, by practice id, the first grade that each annotator gave to the practice pair."""
    answers: dict[int, list[int]] = {}
    rows = db.conn.execute(
        "SELECT practice_id, grade FROM practice_answer WHERE answer_id IN "
        "(SELECT min(answer_id) FROM practice_answer GROUP BY practice_id, annotator_id)"
    )
    for practice_id, grade in rows:
        answers.setdefault(practice_id, []).append(grade)
    return answers
