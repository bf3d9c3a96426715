"""Preview an exam before it is held.

*Reads* what `planning` reads, and queries. *Writes* nothing.
"""

from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from backend.campaign.nouns import Lead, Operator
from backend.campaign.qualification.answers.rows import names_of
from backend.campaign.qualification.exam import planning
from backend.campaign.qualification.exam.model import ExamKey
from backend.campaign.qualification.exam.planning import SEED, ExamDraw, Plan
from backend.campaign.qualification.exam.rules.guessing import Guesses
from backend.campaign.setup.people import permissions
from backend.campaign.setup.project import rows as facts
from backend.campaign.setup.project.folder import Project
from backend.core.ids import PairKey, QueryId
from backend.core.reading import bytes_of
from backend.store.connection import Database, reading


@dataclass(frozen=True, slots=True)
class PreviewItem:
    """A pair that would be asked, with its right grade, if there is one."""

    pair: PairKey
    query_id: QueryId
    query: str
    right: int | None


@dataclass(frozen=True, slots=True)
class ExamPreview:
    """What would be held. `grades` says how many items have each right grade of the scale.

    Of an exam whose key comes later `grades` is empty and `guesses` None.

    `short` says what was asked for and is not there; it is empty where all of it is. `digest` names this very exam:
    setting it with that name is refused if something has changed since.
    """

    items: tuple[PreviewItem, ...]
    queries: int
    source: str
    seed: int | None
    most_missed: float
    short: str
    grades: tuple[int, ...]
    guesses: Guesses | None
    digest: str


@permissions.in_charge
def preview_exam(
    project: Project,
    by: Lead | Operator,
    *,
    queries: int | None = None,
    pairs: int | None = None,
    seed: int = SEED,
    most_missed: float | None = None,
    key: ExamKey = ExamKey.SETTLED,
    spread: bool = True,
    now: float,
) -> ExamPreview:
    """Return the exam that `set_exam` would hold, and what guessing scores in it; arguments and errors as there."""
    with reading(project.store) as db:
        draw = ExamDraw(queries, pairs, seed, most_missed, key, spread)
        return _preview(db, planning.of_draw(db, draw, now=now))


@permissions.in_charge
def preview_exam_from_file(
    project: Project, by: Lead | Operator, file: Path, *, most_missed: float | None = None, now: float
) -> ExamPreview:
    """Return the exam that `set_exam_from_file` would hold, and what guessing scores in it; errors as there."""
    data = bytes_of(file)
    with reading(project.store) as db:
        return _preview(db, planning.of_file(db, data, file.name, most_missed=most_missed, now=now))


def _preview(db: Database, plan: Plan) -> ExamPreview:
    named = names_of(db, [pair for pair, _, _ in plan.items])
    items = tuple(PreviewItem(*named[pair], right) for pair, right, _ in plan.items)
    queries, grades = len({item.query_id for item in items}), Counter(plan.right)
    return ExamPreview(
        items,
        queries,
        plan.source,
        plan.seed,
        plan.most_missed,
        planning.short(plan.asked, len(items), queries),
        tuple(grades[grade] for grade in facts.scale(db).grades) if plan.right else (),
        planning.guessed(db, plan.right, plan.most_missed) if plan.right else None,
        plan.digest,
    )
