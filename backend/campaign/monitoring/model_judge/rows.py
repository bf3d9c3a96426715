"""SQL for the grades of models. They are kept apart from judgements. Only the list of reviews reads this table too."""

from collections.abc import Iterable

from backend.campaign.monitoring.model_judge.model import (
    AnswerOutcome,
    AskablePair,
    Judge,
    JudgeSummary,
    ModelAnswer,
    ModelGrade,
)
from backend.campaign.selection.candidates.rows import PROBE_PAIRS
from backend.core.ids import MomentId, PairId, QueryId
from backend.store.engine import Database


def add(db: Database, judge: Judge, host: str, answers: Iterable[ModelAnswer]) -> None:
    """Store answers of a judge; a second grade of a pair with the same query is left out.

    `host` is the host name of the endpoint.
    """
    db.conn.executemany(
        "INSERT INTO model_grade (pair_id, query, model, host, prompt_version, outcome, grade, reason, requests, "
        "tokens_in, tokens_out, cost, asked_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING",
        [
            [
                answer.pair_id,
                answer.query,
                judge.model,
                host,
                judge.prompt_version,
                answer.outcome.value,
                answer.grade,
                answer.reason,
                answer.requests,
                answer.tokens_in,
                answer.tokens_out,
                answer.cost,
                answer.asked_at,
            ]
            for answer in answers
        ],
    )


def grades(db: Database, judge: Judge | None = None, pair_id: PairId | None = None) -> list[ModelGrade]:
    """Return the grades of a judge, or of all judges; sorted by judge, then by pair. `pair_id` selects one pair.

    A grade is left out if its query was reworded since, because the judge did not see the present text.
    """
    rows = db.conn.execute(
        "SELECT g.model, g.prompt_version, g.pair_id, p.query_id, p.moment_id, v.name, m.start_s, m.end_s, g.grade, "
        "g.reason FROM model_grade g JOIN pair p USING (pair_id) JOIN query q ON q.query_id = p.query_id "
        "AND q.text = g.query JOIN moment m ON m.moment_id = p.moment_id JOIN video v ON v.video_id = m.video_id "
        "WHERE g.outcome = 'graded' AND (:model IS NULL OR (g.model = :model AND g.prompt_version = :prompt)) "
        f"{'' if pair_id is None else 'AND g.pair_id = :pair '}ORDER BY g.model, g.prompt_version, g.pair_id",
        {"model": judge and judge.model, "prompt": judge and judge.prompt_version, "pair": pair_id},
    )
    return [
        ModelGrade(Judge(row[0], row[1]), PairId(row[2]), QueryId(row[3]), MomentId(row[4]), *row[5:]) for row in rows
    ]


def summaries(db: Database) -> list[JudgeSummary]:
    """Return a summary of each judge that was asked about a pair; the one that was asked last comes first.

    All answers count, also those about a query that was reworded since: they were paid for.
    """
    counts = ", ".join(f"sum(CASE WHEN outcome = '{outcome}' THEN 1 ELSE 0 END)" for outcome in AnswerOutcome)
    rows = db.conn.execute(
        f"SELECT model, prompt_version, {counts}, sum(requests), coalesce(sum(tokens_in), 0), "
        "coalesce(sum(tokens_out), 0), coalesce(sum(cost), 0.0), min(asked_at), max(asked_at) FROM model_grade "
        "GROUP BY model, prompt_version "
        "ORDER BY max(asked_at) DESC, max(model_grade_id) DESC"
    )
    return [JudgeSummary(Judge(row[0], row[1]), *row[2:]) for row in rows]


def answered(db: Database, judge: Judge) -> dict[PairId, AnswerOutcome]:
    """Map each pair that this judge was asked about to the outcome: a grade if there is one, else the newest outcome.

    An answer about a query that was reworded since does not count.
    """
    rows = db.conn.execute(
        "SELECT g.pair_id, g.outcome FROM model_grade g JOIN pair p USING (pair_id) JOIN query q "
        "ON q.query_id = p.query_id AND q.text = g.query WHERE g.model = ? AND g.prompt_version = ? "
        "ORDER BY CASE WHEN g.outcome = 'graded' THEN 1 ELSE 0 END, g.model_grade_id",
        [judge.model, judge.prompt_version],
    )
    return {PairId(row[0]): AnswerOutcome(row[1]) for row in rows}


def askable(db: Database, *, settled: bool) -> list[AskablePair]:
    """Return the pairs that a model may be asked about: handed out, not of a probe, with a clip that can be shown.

    They come query by query in the order of judging, and within a query in an order that tells nothing.

    Args:
        db: the database.
        settled: whether to leave out pairs without a relevance.
    """
    rows = db.conn.execute(
        "SELECT p.pair_id, q.text, v.name, m.start_s, m.end_s FROM pair p JOIN query q ON q.query_id = p.query_id "
        "JOIN moment m ON m.moment_id = p.moment_id JOIN video v ON v.video_id = m.video_id "
        "LEFT JOIN consensus c ON c.pair_id = p.pair_id "
        f"WHERE p.pair_id NOT IN {PROBE_PAIRS} AND p.moment_id NOT IN (SELECT moment_id FROM clip_fault) "
        "AND (:settled = 0 OR c.relevance IS NOT NULL) ORDER BY q.position, q.query_id, p.pair_key",
        {"settled": int(settled)},
    )
    return [AskablePair(PairId(row[0]), *row[1:]) for row in rows]
