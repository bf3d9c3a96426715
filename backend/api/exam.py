"""The qualification exam: what leads do about it, and how people did."""

from functools import partial
from pathlib import Path

from backend.campaign.nouns import Operator, Person
from backend.campaign.qualification.exam import keys, previewing, results, using
from backend.campaign.qualification.exam import setting as exam_lead
from backend.campaign.qualification.exam.keys import KeyPreview, KeyReport
from backend.campaign.qualification.exam.model import ExamKey
from backend.campaign.qualification.exam.planning import SEED
from backend.campaign.qualification.exam.previewing import ExamPreview
from backend.campaign.qualification.exam.results import ExamOutcomes, ExamPerson
from backend.campaign.qualification.exam.rows import exams
from backend.campaign.qualification.exam.rows.exams import Exam, Place
from backend.campaign.qualification.exam.setting import ExamReport
from backend.campaign.qualification.exam.using import UsedReport
from backend.campaign.setup.people import permissions
from backend.campaign.setup.project.folder import Project
from backend.core.ids import AnnotatorId


def exam_held(project: Project, by: Person | Operator) -> Exam | None:
    """The exam that annotators have to pass just now; None if there is none."""
    permissions.require_in_charge(project.store, by)
    return exams.held(project.store.db)


def exam_items(project: Project, by: Person | Operator) -> list[Place]:
    """The items of the exam that is held, with their key and explanations."""
    held = exam_held(project, by)
    return exams.places(project.store.db, held.exam_id) if held else []


def preview_exam(
    project: Project,
    by: Person | Operator,
    *,
    queries: int | None = None,
    pairs: int | None = None,
    seed: int = SEED,
    most_missed: float | None = None,
    key: ExamKey = ExamKey.SETTLED,
    spread: bool = True,
    now: float,
) -> ExamPreview:
    """The exam that `set_exam` would hold, and what it comes to for who does not look, if its key is there."""
    permissions.require_in_charge(project.store, by)
    look = (
        partial(previewing.of_settled, spread=spread)
        if key is ExamKey.SETTLED
        else partial(previewing.of_open, key=key)
    )
    return look(project.store, queries=queries, pairs=pairs, seed=seed, most_missed=most_missed, now=now)


def preview_exam_from_file(
    project: Project, by: Person | Operator, file: Path, *, most_missed: float | None = None, now: float
) -> ExamPreview:
    """The exam that `set_exam_from_file` would hold, and what it comes to for who does not look."""
    permissions.require_in_charge(project.store, by)
    return previewing.of_file(project.store, file, most_missed=most_missed, now=now)


def set_exam(
    project: Project,
    by: Person | Operator,
    *,
    queries: int | None = None,
    pairs: int | None = None,
    seed: int = SEED,
    most_missed: float | None = None,
    newcomers_only: bool = False,
    key: ExamKey = ExamKey.SETTLED,
    spread: bool = True,
    although: str = "",
    previewed: str = "",
    now: float,
) -> ExamReport:
    """Hold an exam of settled pairs, or of open ones whose key comes later.

    `spread` and `although` are for settled pairs alone.
    """
    lead = permissions.require_in_charge(project.store, by)
    draw = (
        partial(exam_lead.set_from_settled, spread=spread, although=although, previewed=previewed)
        if key is ExamKey.SETTLED
        else partial(exam_lead.set_from_open, key=key, previewed=previewed)
    )
    return draw(
        project.store,
        lead,
        queries=queries,
        pairs=pairs,
        seed=seed,
        most_missed=most_missed,
        newcomers_only=newcomers_only,
        now=now,
    )


def set_exam_from_file(
    project: Project,
    by: Person | Operator,
    file: Path,
    *,
    most_missed: float | None = None,
    although: str = "",
    newcomers_only: bool = False,
    now: float,
) -> ExamReport:
    """Hold an exam with the key of a CSV file, or take nothing of it."""
    lead = permissions.require_in_charge(project.store, by)
    return exam_lead.set_from_file(
        project.store,
        lead,
        file,
        most_missed=most_missed,
        although=although,
        newcomers_only=newcomers_only,
        now=now,
    )


def exam_although(project: Project, by: Person | Operator) -> tuple[list[str], str] | None:
    """Why the exam that is held tells too little, and for which reason it is held all the same; None if it is sound."""
    held = exam_held(project, by)
    return exams.although(project.store.db, held.exam_id) if held else None


def exam_to_use(project: Project, by: Person | Operator) -> Exam | None:
    """The newest exam of open pairs, if a lead may let its answers count now."""
    permissions.require_in_charge(project.store, by)
    found = exams.newest_of_open_pairs(project.store.db)
    return found if found is not None and found.usable else None


def preview_exam_key(project: Project, by: Person | Operator) -> KeyPreview | None:
    """The key that closing the round would fix now, and what guessing scores with it; None if it cannot be closed."""
    permissions.require_in_charge(project.store, by)
    return keys.preview(project.store)


def close_exam_round(project: Project, by: Person | Operator, *, although: str = "", now: float) -> KeyReport:
    """Fix the key of an exam of open pairs: the median of everybody who finished, or what a lead handed in."""
    return keys.close_round(project.store, permissions.require_in_charge(project.store, by), although=although, now=now)


def use_exam(project: Project, by: Person | Operator, *, now: float) -> UsedReport:
    """Let the blind first answers of the newest exam of open pairs count as judgements of the first round."""
    return using.use(project.store, permissions.require_in_charge(project.store, by), now=now)


def end_exam(project: Project, by: Person | Operator, *, now: float) -> bool:
    """Hold no exam any more; whether one was held."""
    return exam_lead.end(project.store, permissions.require_in_charge(project.store, by), now=now)


def explain_exam_item(project: Project, lead: Person, item_id: int, explanation: str, *, now: float) -> None:
    """Write why the right grade of an item is right; told to people who missed it, after they handed in."""
    exam_lead.explain(project.store, permissions.require_lead(project.store, lead), item_id, explanation, now=now)


def grant_retake(project: Project, by: Person | Operator, annotator_id: AnnotatorId, *, now: float) -> None:
    """Let somebody take the exam once more."""
    exam_lead.grant_retake(project.store, permissions.require_in_charge(project.store, by), annotator_id, now=now)


def exempt_from_exam(
    project: Project, by: Person | Operator, annotator_id: AnnotatorId, reason: str, *, now: float
) -> None:
    """Let somebody judge without having passed, for a reason."""
    exam_lead.exempt(project.store, permissions.require_in_charge(project.store, by), annotator_id, reason, now=now)


def exam_results(project: Project, by: Person | Operator) -> list[ExamPerson]:
    """How every annotator stands, with their attempts and what they missed."""
    permissions.require_in_charge(project.store, by)
    return results.overview(project.store)


def exam_outcomes(project: Project, by: Person | Operator) -> ExamOutcomes:
    """Miss rates and kappas of everybody's first attempt, each and together, with intervals."""
    permissions.require_in_charge(project.store, by)
    return results.outcomes(project.store)


def my_exam(project: Project, person: Person) -> ExamPerson:
    """How one annotator stands, for their own eyes."""
    return results.of(project.store, permissions.require_annotator(project.store, person))
