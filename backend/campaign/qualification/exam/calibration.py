"""Hold a calibration round: everybody grades a few pairs blind, and then they talk about them.

*Reads* exams, attempts, answers, notes. *Writes* what `setting` writes. There is no key and no result, and no answer
ever becomes a judgement or is released. Its pairs are reserved while it is open; afterwards they are work again for
people who did not answer them, as after an exam of open pairs.
"""

from collections.abc import Sequence

from backend.campaign.nouns import Lead, Operator
from backend.campaign.qualification.answers.rows import takers
from backend.campaign.qualification.exam import planning, setting
from backend.campaign.qualification.exam.model import CalibrationPerson, CalibrationRound, ExamKey, ExamPurpose
from backend.campaign.qualification.exam.planning import SEED, ExamDraw
from backend.campaign.qualification.exam.rows import attempts, exams
from backend.campaign.qualification.exam.setting import ExamReport
from backend.campaign.setup.people import permissions
from backend.campaign.setup.project.folder import Project
from backend.core.errors import ProjectError
from backend.core.ids import QueryId
from backend.core.messages import said
from backend.core.text_files import csv_text
from backend.store.connection import reading, writing

QUERIES, PAIRS = 3, 5
HEADER = ("query_id", "query", "video", "start_s", "end_s", "rank", "annotator", "grade", "note")


@permissions.in_charge
def start_trial(
    project: Project,
    by: Lead | Operator,
    *,
    queries: int = QUERIES,
    pairs: int = PAIRS,
    seed: int = SEED,
    chosen: Sequence[QueryId] = (),
    now: float,
) -> ExamReport:
    """Begin a calibration round. It comes before exam and work until each annotator has finished it, or it is ended.

    Args:
        project: the project.
        by: who begins it.
        queries: how many queries to draw.
        pairs: how many pairs of each, the top candidates that nobody has graded.
        seed: of the draw.
        chosen: these queries instead of a draw.
        now: seconds since 1970.

    Raises:
        ProjectError: one is open already, a chosen query has no open pair, or there is none at all.
    """
    with writing(project.store) as db:
        if exams.held(db, ExamPurpose.CALIBRATION) is not None:
            raise ProjectError(said("a trial round is open already: end it first"))
        among = frozenset(chosen)
        draw = ExamDraw(len(among) or queries, pairs, seed, most_missed=100, key=ExamKey.NONE, among=among)
        return setting.hold(db, by, planning.of_draw(db, draw, now=now), now=now)


@permissions.in_charge
def end_trial(project: Project, by: Lead | Operator, *, now: float) -> bool:
    """End the calibration round, and return whether one was open. What was answered stays to be read."""
    with writing(project.store) as db:
        return setting.end(db, by, ExamPurpose.CALIBRATION, now=now)


@permissions.in_charge
def trial_round(project: Project, by: Lead | Operator) -> CalibrationRound | None:
    """Return the calibration round that is open, or else the last one, with all answers and notes; None without any."""
    with reading(project.store) as db:
        found = exams.newest(db, ExamPurpose.CALIBRATION)
        if found is None:
            return None
        begun = attempts.calibration_people(db, found.exam_id)
        asked = {person.annotator_id: CalibrationPerson(person.annotator_id, person.name) for person in takers(db)}
        people = sorted((asked | begun).values(), key=lambda one: one.name)
        pairs = sorted(attempts.calibration_pairs(db, found.exam_id), key=lambda pair: (-pair.spread, -pair.notes))
        return CalibrationRound(found.set_at, found.set_by, found.ended_at, found.seed, tuple(people), tuple(pairs))


@permissions.in_charge
def trial_csv(project: Project, by: Lead | Operator, *, names: bool = True) -> str:
    """Return every answer of that round as CSV, a row each; an empty text where there was none.

    Without names people are numbered, each the same number throughout.
    """
    found = trial_round(project, by)
    if found is None:
        return ""
    called = found.called(names=names)
    rows = [
        (
            *(pair.query_id, pair.query, pair.video, pair.start_s, pair.end_s, pair.rank),
            *(called[answer.annotator_id], answer.grade, answer.note),
        )
        for pair in found.pairs
        for answer in pair.answers
    ]
    return csv_text(HEADER, rows, for_people=True)
