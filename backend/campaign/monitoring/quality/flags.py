"""Flag what is worth a look in people's work, and return the pairs behind a flag.

*Reads* judgements, skips and clips, *writes* nothing. Nothing here acts: no grade is refused, left out or weighed by a
flag.
"""

from dataclasses import replace

import numpy as np

from backend.campaign.monitoring.quality.model import BehindFlag, FlagKind, PersonFlags
from backend.campaign.monitoring.quality.rows import columns
from backend.campaign.monitoring.quality.rules import flags as rules
from backend.campaign.monitoring.quality.rules.columns import standing
from backend.campaign.nouns import Lead, Operator
from backend.campaign.review.model import PairReview
from backend.campaign.review.rows import reviews
from backend.campaign.setup.people.permissions import in_charge
from backend.campaign.setup.project import rows as project_rows
from backend.campaign.setup.project.folder import Project
from backend.core.ids import AnnotatorId, PairId
from backend.store.connection import Database, reading


@in_charge
def flags(project: Project, by: Lead | Operator, only: AnnotatorId | None = None) -> list[PersonFlags]:
    """Return the flags of every annotator, or of one, raised or not, by name; everything of one instant."""
    with reading(project.store) as db:
        people = [one for one in columns.annotators(db) if only in (None, one[0])]
        work = _work(db)
    return [
        PersonFlags(
            *(annotator_id, name, int((work.grades.annotator == annotator_id).sum())),
            *(_median_s(work, annotator_id), rules.flags_of(work, annotator_id)),
        )
        for annotator_id, name in people
    ]


@in_charge
def behind_flag(project: Project, by: Lead | Operator, annotator_id: AnnotatorId, kind: FlagKind) -> BehindFlag:
    """Return how one figure of a person went over time, and the pairs that speak for a flag, the strongest first."""
    with reading(project.store) as db:
        found, known = rules.behind(_work(db).of(annotator_id), kind), set(columns.clips(db)[0].tolist())
    shown = tuple(pair for pair in found.pairs if pair in known)
    return replace(found, pairs=shown, by_number=len(found.pairs) - len(shown))


@in_charge
def pairs_behind(project: Project, by: Lead | Operator, pairs: tuple[PairId, ...]) -> list[PairReview]:
    """Return a page of the pairs of `behind_flag` with everything a lead may see of them, in the same order."""
    return reviews.by_id(project.store.db, pairs)


def _work(db: Database) -> rules.Work:
    given, clips, grading = columns.given(db), columns.clips(db), project_rows.grading(db)
    skips = columns.skips(db)
    return rules.look_at(standing(given), clips, skips, highest=grading.scale.highest, tolerance=grading.tolerance)


def _median_s(work: rules.Work, annotator_id: AnnotatorId) -> float | None:
    active = work.grades.active_ms[work.grades.annotator == annotator_id]
    measured = active[active > 0]
    return float(np.median(measured)) / 1000 if len(measured) else None
