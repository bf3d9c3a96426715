"""What a lead may want to look at in people's work, and the pairs behind it.

*Reads* judgements, skips and clips, *writes* nothing. Nothing here acts: no grade is refused, left out or weighed by a
flag.
"""

from dataclasses import replace

import numpy as np

from backend.campaign.monitoring.quality.model import BehindFlag, FlagKind, PersonFlags
from backend.campaign.monitoring.quality.rows import columns
from backend.campaign.monitoring.quality.rules import flags
from backend.campaign.monitoring.quality.rules.columns import standing
from backend.campaign.setup.project import rows as facts
from backend.core.ids import AnnotatorId
from backend.store.connection import Database, Store, reading


def report(store: Store, only: AnnotatorId | None = None) -> list[PersonFlags]:
    """The flags of every annotator, or of one, raised or not; everything of one instant."""
    with reading(store) as db:
        people = [one for one in columns.annotators(db) if only in (None, one[0])]
        work = _work(db)
    return [
        PersonFlags(
            *(annotator_id, name, int((work.grades.annotator == annotator_id).sum())),
            *(_median_s(work, annotator_id), flags.flags_of(work, annotator_id)),
        )
        for annotator_id, name in people
    ]


def behind(store: Store, annotator_id: AnnotatorId, kind: FlagKind) -> BehindFlag:
    """How one figure of a person went over time, and the pairs that speak for a flag, those to look at first."""
    with reading(store) as db:
        found, known = flags.behind(_work(db).of(annotator_id), kind), set(columns.clips(db)[0].tolist())
    shown = tuple(pair for pair in found.pairs if pair in known)
    return replace(found, pairs=shown, by_number=len(found.pairs) - len(shown))


def _work(db: Database) -> flags.Work:
    given, clips, grading = columns.given(db), columns.clips(db), facts.grading(db)
    skips = columns.skips(db)
    return flags.look_at(standing(given), clips, skips, highest=grading.scale.highest, tolerance=grading.tolerance)


def _median_s(work: flags.Work, annotator_id: AnnotatorId) -> float | None:
    active = work.grades.active_ms[work.grades.annotator == annotator_id]
    measured = active[active > 0]
    return float(np.median(measured)) / 1000 if len(measured) else None
