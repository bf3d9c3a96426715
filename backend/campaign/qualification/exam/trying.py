"""A trial round, with which a guideline is refined: everybody grades a few pairs blind, and then they talk about them.

*Reads* exams, attempts, answers, notes. *Writes* what `setting` writes. There is no key and no result, and no answer
of a trial ever becomes a judgement or is released. Its pairs are set aside while it is open; afterwards they are work
again for people who did not answer them, as after an exam of open pairs.
"""

from collections.abc import Sequence

from backend.campaign.nouns import Lead, Operator
from backend.campaign.qualification.exam import setting
from backend.campaign.qualification.exam.model import ExamKey, ExamPurpose, Trial, TrialPerson
from backend.campaign.qualification.exam.planning import SEED
from backend.campaign.qualification.exam.rows import attempts, exams, trials
from backend.campaign.qualification.exam.setting import ExamReport
from backend.core.errors import ProjectError
from backend.core.ids import QueryId
from backend.core.saying import said
from backend.core.text_files import csv_text
from backend.store.connection import Store, reading, writing

QUERIES, PAIRS = 3, 5
HEADER = ("query_id", "query", "video", "start_s", "end_s", "rank", "annotator", "grade", "note")


def start(
    store: Store,
    lead: Lead | Operator,
    *,
    queries: int = QUERIES,
    pairs: int = PAIRS,
    seed: int = SEED,
    chosen: Sequence[QueryId] = (),
    now: float,
) -> ExamReport:
    """Begin a trial: it stands before exam and work until each annotator has finished it, or it is ended.

    Args:
        store: the project's store.
        lead: who begins it.
        queries: how many queries to draw.
        pairs: how many pairs of each, the top candidates that nobody has graded.
        seed: of the draw.
        chosen: these queries instead of a draw.
        now: seconds since 1970.

    Raises:
        ProjectError: one is open already, a chosen query has no open pair, or there is none at all.
    """
    with writing(store) as db:
        if exams.held(db, ExamPurpose.TRIAL) is not None:
            raise ProjectError(said("a trial round is open already: end it first"))
        among = set(chosen)
        return setting.set_from_open(
            store,
            lead,
            ExamKey.NONE,
            queries=len(among) or queries,
            pairs=pairs,
            seed=seed,
            among=among or None,
            most_missed=100,
            now=now,
        )


def end(store: Store, lead: Lead | Operator, *, now: float) -> bool:
    """End the trial that is open; whether one was. What was answered stays to be read."""
    return setting.end(store, lead, now=now, purpose=ExamPurpose.TRIAL)


def newest(store: Store) -> Trial | None:
    """The trial that is open, or else the last one; None where there was none."""
    with reading(store) as db:
        found = exams.newest(db, ExamPurpose.TRIAL)
        if found is None:
            return None
        begun = trials.people(db, found.exam_id)
        asked = {person.annotator_id: TrialPerson(person.annotator_id, person.name) for person in attempts.takers(db)}
        people = sorted((asked | begun).values(), key=lambda one: one.name)
        pairs = sorted(trials.pairs(db, found.exam_id), key=lambda pair: (-pair.spread, -pair.notes))
        return Trial(found.set_at, found.set_by, found.ended_at, found.seed, tuple(people), tuple(pairs))


def as_csv(trial: Trial, *, names: bool = True) -> str:
    """Every answer of a trial, a row each; without names people are numbered, each the same number throughout."""
    called = trial.called(names=names)
    rows = [
        (
            *(pair.query_id, pair.query, pair.video, pair.start_s, pair.end_s, pair.rank),
            *(called[answer.annotator_id], answer.grade, answer.note),
        )
        for pair in trial.pairs
        for answer in pair.answers
    ]
    return csv_text(HEADER, rows, for_people=True)
