"""Show a lead what models said about a pair, and record that this lead has seen it.

*Reads* grades of models. *Writes* events.
"""

from backend.campaign.judging.rows import judgements
from backend.campaign.monitoring.model_judge import rows
from backend.campaign.monitoring.model_judge.model import ModelGrade
from backend.campaign.nouns import Lead
from backend.campaign.review.adjudicating import GONE
from backend.campaign.review.model import MODEL_SEEN
from backend.campaign.review.rows import reviews
from backend.campaign.setup.people.permissions import lead_only
from backend.campaign.setup.project.folder import Project
from backend.core.errors import ProjectError
from backend.core.ids import PairKey
from backend.store import events
from backend.store.connection import reading, writing


@lead_only
def unfold_model_grades(project: Project, lead: Lead, key: PairKey, *, now: float) -> list[ModelGrade]:
    """Return the grades that models gave to a pair, and record once that this lead has seen them.

    Pages get a model's grade of a pair from this function alone. If the lead adjudicates the pair later, the decision
    records that they had seen it. Pairs decided so are left out where models are measured against people.

    Raises:
        ProjectError: there is no such pair.
    """
    with reading(project.store) as db:
        pair = judgements.pair_by_key(db, key)
        if pair is None:
            raise ProjectError(GONE)
        grades = rows.grades(db, pair_id=pair.pair_id)
        recorded = reviews.saw_model(db, pair.pair_id, lead.annotator_id)
    if grades and not recorded:
        with writing(project.store) as db:
            if not reviews.saw_model(db, pair.pair_id, lead.annotator_id):
                models = sorted({grade.judge.model for grade in grades})
                events.note(db, MODEL_SEEN, lead, f"pair:{pair.pair_id}", now=now, models=models)
    return grades


@lead_only
def has_model_grade(project: Project, lead: Lead, key: PairKey) -> bool:
    """Return whether a model graded a pair. It does not tell the grade."""
    pair = judgements.pair_by_key(project.store.db, key)
    return pair is not None and bool(rows.grades(project.store.db, pair_id=pair.pair_id))
