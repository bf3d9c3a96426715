"""Store and read the guideline's examples, and who was shown which version of its words."""

from backend.campaign.qualification.answers.rows import CLIP, HAS_CLIP
from backend.campaign.qualification.guideline.model import Example
from backend.core.ids import AnnotatorId, PairId, PairKey
from backend.store.engine import Database


def current_examples(db: Database) -> list[Example]:
    """The current example of each grade that has one, in the order of the grades."""
    rows = db.conn.execute(
        "SELECT e.example_id, e.grade, p.pair_key, q.text, e.note, "
        f"c.relevance IS e.grade AND {HAS_CLIP} "
        f"FROM example e JOIN pair p USING (pair_id) JOIN query q USING (query_id) {CLIP} "
        "LEFT JOIN consensus c USING (pair_id) "
        "WHERE e.withdrawn_at IS NULL ORDER BY e.grade"
    )
    return [Example(r[0], r[1], PairKey(r[2]), r[3], r[4], bool(r[5])) for r in rows]


def add(db: Database, grade: int, pair_id: PairId, note: str, lead: AnnotatorId, *, at: float) -> None:
    """Add the example of a grade that has none."""
    db.conn.execute(
        "INSERT INTO example (grade, pair_id, note, lead_id, chosen_at) VALUES (?, ?, ?, ?, ?)",
        [grade, pair_id, note, lead, at],
    )


def withdraw(db: Database, grade: int, *, at: float) -> PairId | None:
    """End the current example of a grade; the pair that it showed, None if there was none."""
    row = db.conn.execute(
        "UPDATE example SET withdrawn_at = ? WHERE grade = ? AND withdrawn_at IS NULL RETURNING pair_id", [at, grade]
    ).fetchone()
    return PairId(row[0]) if row else None


def reading(db: Database, me: AnnotatorId) -> tuple[int | None, int, bool]:
    """(newest version that somebody was shown, version that stands, whether newcomers are shown the tutorial)."""
    row = db.conn.execute(
        "SELECT (SELECT max(version) FROM guideline_seen WHERE annotator_id = ?), "
        "(SELECT max(version) FROM guideline_version), tutorial FROM campaign",
        [me],
    ).fetchone()
    return row[0], row[1], bool(row[2])


def note_seen(db: Database, me: AnnotatorId, version: int, *, at: float) -> None:
    """Somebody was shown a version, to its end; the first time stays."""
    db.conn.execute(
        "INSERT OR IGNORE INTO guideline_seen (annotator_id, version, seen_at) VALUES (?, ?, ?)", [me, version, at]
    )


def readers(db: Database) -> dict[int, int]:
    """How many annotators who may sign in were shown each version as their newest."""
    rows = db.conn.execute(
        "SELECT version, count(*) FROM (SELECT max(version) AS version FROM guideline_seen "
        "JOIN annotator USING (annotator_id) WHERE NOT suspended AND NOT simulated GROUP BY annotator_id) "
        "GROUP BY version"
    )
    return {row[0]: row[1] for row in rows}
