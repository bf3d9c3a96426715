"""Grades of models for tests, stored as if a model had been asked."""

from backend.campaign.monitoring.model_judge import rows
from backend.campaign.monitoring.model_judge.model import AnswerOutcome, Judge, ModelAnswer
from backend.campaign.nouns import OPERATOR
from backend.campaign.review.queries import list_queries, query_pairs
from backend.campaign.setup.project.folder import Project
from backend.store.connection import writing
from support import NOW

JUDGE = Judge("eye-1", "judge-1")


def says(
    project: Project,
    grades: dict[int, int | None],
    judge: Judge = JUDGE,
    *,
    reason: str = "A man sits.",
    at: float = NOW,
) -> None:
    """Store what a model says about pairs, by pair id; None is a refusal."""
    queries = list_queries(project, OPERATOR)
    pairs = [pair for query in queries for pair in query_pairs(project, OPERATOR, query.query_id)]
    answers = [
        ModelAnswer(
            *(pair.pair_id, pair.query),
            *(AnswerOutcome.REFUSED if grade is None else AnswerOutcome.GRADED, grade, reason, 1200, 30, None, at),
        )
        for pair in pairs
        if pair.pair_id in grades
        for grade in [grades[pair.pair_id]]
    ]
    with writing(project.store) as db:
        rows.add(db, judge, "eyes.example", answers)
