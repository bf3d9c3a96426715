"""SQL for gold questions: the pairs, who is to get them, the answers, and the warnings and pauses that followed."""

from collections.abc import Iterable
from dataclasses import dataclass

from backend.campaign.qualification.answers.rules import KnownPair
from backend.campaign.qualification.gold.rules import Consequence
from backend.core.ids import AnnotatorId, PairId, PairKey, QueryId
from backend.store.engine import Database, Select, run_later

# This person has seen an explanation of what the guideline shows, what their exam asked, and what they practised on.
# An exam that is open may explain its pairs to them later.
_UNSEEN = """
  NOT EXISTS (SELECT 1 FROM example x WHERE x.pair_id = {pair} AND x.withdrawn_at IS NULL)
  AND NOT EXISTS (SELECT 1 FROM set_aside a WHERE a.pair_id = {pair})
  AND NOT EXISTS (SELECT 1 FROM exam_item i JOIN exam_attempt t USING (exam_id)
    WHERE i.pair_id = {pair} AND t.annotator_id = :me)
  AND NOT EXISTS (SELECT 1 FROM practice_answer w JOIN practice r USING (practice_id) JOIN pair u USING (moment_id)
    WHERE u.pair_id = {pair} AND w.annotator_id = :me)
"""


@dataclass(frozen=True, slots=True)
class GoldGrade:
    """An annotator's current grade of a gold question, and its right grade at present.

    `at` is the time of the grade in seconds since 1970.
    """

    gold_answer_id: int
    """The id of the first revision, which gives the answer its place in the order."""
    pair: PairKey
    query_id: QueryId
    query: str
    own: int
    right: int
    at: float
    note: str
    """The note that the person wrote with it; empty if there is none."""


@dataclass(frozen=True, slots=True)
class GoldFinding:
    """A warning or a pause that followed from an annotator's answers to gold questions.

    It was based on the last `answers` answers; `within` is how many of these were within the tolerance of the right
    grade. `last_answer` is the id of the newest one. By then, the annotator had given `graded` grades in all.
    """

    kind: Consequence
    answers: int
    within: int
    last_answer: int
    graded: int
    at: float


def replace_pairs(db: Database, pairs: Iterable[tuple[PairId, int | None]]) -> None:
    """Replace all gold questions by these (pair, right grade). A grade of None stands for the pair's final grade."""
    db.conn.execute("UPDATE gold_pair SET chosen = 0")
    db.conn.executemany(
        "INSERT INTO gold_pair (pair_id, right_grade) VALUES (?, ?) "
        "ON CONFLICT (pair_id) DO UPDATE SET right_grade = excluded.right_grade, chosen = 1",
        pairs,
    )


def known(db: Database) -> list[KnownPair]:
    """Return all gold questions with their right grades, including those whose clip cannot be shown."""
    rows = db.conn.execute(
        "SELECT g.pair_id, coalesce(g.right_grade, c.relevance), p.query_id FROM gold_pair g "
        "JOIN pair p USING (pair_id) LEFT JOIN consensus c USING (pair_id) "
        "WHERE g.chosen AND coalesce(g.right_grade, c.relevance) IS NOT NULL"
    )
    return [KnownPair(PairId(row[0]), row[1], QueryId(row[2])) for row in rows]


def fit_for(db: Database, me: AnnotatorId) -> list[KnownPair]:
    """Return the gold questions that an annotator can be given: they are new to them, and the clip can be shown.

    The annotator was never handed such a pair, and did not skip it, see it in an exam or practise on it. It is not an
    example of the guideline or part of an open exam.
    """
    rows = db.conn.execute(
        f"""
        SELECT g.pair_id, coalesce(g.right_grade, c.relevance), p.query_id FROM gold_pair g JOIN pair p USING (pair_id)
        JOIN consensus c USING (pair_id)
        WHERE g.chosen AND coalesce(g.right_grade, c.relevance) IS NOT NULL AND c.verdict <> 'escalated'
          AND NOT EXISTS (SELECT 1 FROM seat s WHERE s.pair_id = g.pair_id AND s.annotator_id = :me)
          AND NOT EXISTS (SELECT 1 FROM gold_seat o WHERE o.pair_id = g.pair_id AND o.annotator_id = :me)
          AND NOT EXISTS (SELECT 1 FROM skip k WHERE k.pair_id = g.pair_id AND k.annotator_id = :me)
          AND NOT EXISTS (SELECT 1 FROM clip_fault f WHERE f.moment_id = p.moment_id)
          AND {_UNSEEN.format(pair="g.pair_id")}
        """,
        {"me": me},
    )
    return [KnownPair(PairId(row[0]), row[1], QueryId(row[2])) for row in rows]


def offer(db: Database, pair_id: PairId, me: AnnotatorId) -> None:
    """Store that an annotator is to be handed this pair as a gold question."""
    db.conn.execute("INSERT INTO gold_seat (pair_id, annotator_id) VALUES (?, ?)", [pair_id, me])


def offers(db: Database, me: AnnotatorId) -> int:
    """Return how many gold questions an annotator has been offered, including those not handed out yet."""
    count: int = db.conn.execute("SELECT count(*) FROM gold_seat WHERE annotator_id = ?", [me]).fetchone()[0]
    return count


def withdraw_seen(db: Database, me: AnnotatorId) -> None:
    """Take back gold questions that are not handed out yet, if the annotator has since seen the pair elsewhere."""
    run_later(
        db,
        "DELETE FROM gold_seat WHERE annotator_id = :me AND claim_no IS NULL "
        f"AND NOT ({_UNSEEN.format(pair='gold_seat.pair_id')})",
        {"me": me},
    )


def withdraw_all(db: Database) -> None:
    """Take back all gold questions that are not handed out yet, and forget when annotators are due the next one."""
    db.conn.execute("DELETE FROM gold_seat WHERE claim_no IS NULL")
    db.conn.execute("DELETE FROM gold_rhythm")


def next_select(me: AnnotatorId) -> Select[int | None]:
    """Select after how many pairs an annotator gets the next gold question; None if none is planned.

    All pairs that were handed to the annotator so far count.
    """
    sql = "SELECT next_at FROM gold_rhythm WHERE annotator_id = :me"
    return Select(sql, {"me": me}, lambda rows: int(rows[0][0]) if rows else None)


def set_next(db: Database, me: AnnotatorId, claim: int) -> None:
    """Set how many pairs (`claim`) an annotator must have been handed before the next gold question is due."""
    db.conn.execute(
        "INSERT INTO gold_rhythm (annotator_id, next_at) VALUES (?, ?) "
        "ON CONFLICT (annotator_id) DO UPDATE SET next_at = excluded.next_at",
        [me, claim],
    )


def answers(db: Database, me: AnnotatorId, *, after: int = 0) -> list[GoldGrade]:
    """Return a person's current answers to gold questions, in the order in which they first answered them.

    Questions whose first answer has an id of at most `after` are left out.
    """
    rows = db.conn.execute(
        "SELECT a.gold_answer_id, p.pair_key, p.query_id, q.text, n.grade, coalesce(g.right_grade, c.relevance), "
        "n.graded_at, coalesce((SELECT note FROM gold_answer w WHERE w.annotator_id = a.annotator_id "
        "AND w.pair_id = a.pair_id AND w.note IS NOT NULL ORDER BY w.revision DESC LIMIT 1), '') FROM gold_answer a "
        "JOIN gold_answer n ON n.annotator_id = a.annotator_id AND n.pair_id = a.pair_id AND n.revision = "
        "(SELECT max(revision) FROM gold_answer l WHERE l.annotator_id = a.annotator_id AND l.pair_id = a.pair_id) "
        "JOIN pair p ON p.pair_id = a.pair_id JOIN query q USING (query_id) "
        "LEFT JOIN gold_pair g ON g.pair_id = a.pair_id LEFT JOIN consensus c ON c.pair_id = a.pair_id "
        "WHERE a.annotator_id = :me AND a.revision = 1 AND a.gold_answer_id > :after "
        "AND coalesce(g.right_grade, c.relevance) IS NOT NULL ORDER BY a.gold_answer_id",
        {"me": me, "after": after},
    )
    return [GoldGrade(r[0], PairKey(r[1]), QueryId(r[2]), r[3], r[4], r[5], r[6], r[7]) for r in rows]


def own_pairs_since_gold(db: Database, me: AnnotatorId, most: int) -> int:
    """Return how many other pairs this person graded since their last answer to a gold question, but at most `most`."""
    count: int = db.conn.execute(
        "SELECT count(*) FROM (SELECT 1 FROM judgement WHERE annotator_id = :me AND judgement_id > "
        "coalesce((SELECT after_judgement FROM gold_answer WHERE annotator_id = :me "
        "ORDER BY gold_answer_id DESC LIMIT 1), 0) LIMIT :most)",
        {"me": me, "most": most},
    ).fetchone()[0]
    return count


def findings(db: Database, me: AnnotatorId) -> list[GoldFinding]:
    """Return the warnings and pauses that followed from a person's answers, the newest first."""
    return _findings(db, me, "")


def last_finding(db: Database, me: AnnotatorId) -> GoldFinding | None:
    """Return the newest warning or pause that followed from a person's answers; None if there is none."""
    matches = _findings(db, me, "LIMIT 1")
    return matches[0] if matches else None


def add_finding(db: Database, me: AnnotatorId, finding: GoldFinding) -> None:
    """Store a warning or a pause that followed from a person's answers."""
    db.conn.execute(
        "INSERT INTO gold_finding (annotator_id, kind, answers, within, last_answer, graded, found_at) "
        "VALUES (?, ?, ?, ?, ?, ?, ?)",
        [me, finding.kind.value, finding.answers, finding.within, finding.last_answer, finding.graded, finding.at],
    )


def _findings(db: Database, me: AnnotatorId, limit: str) -> list[GoldFinding]:
    rows = db.conn.execute(
        "SELECT kind, answers, within, last_answer, graded, found_at FROM gold_finding WHERE annotator_id = ? "
        f"ORDER BY gold_finding_id DESC {limit}",
        [me],
    )
    return [GoldFinding(Consequence(r[0]), *r[1:]) for r in rows]
