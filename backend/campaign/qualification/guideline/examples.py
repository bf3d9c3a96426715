"""Show settled pairs in the guideline as examples of what a grade means.

*Reads* pairs, consensus, seats, videos. *Writes* examples, seats that nobody came back to, events.
"""

from backend.campaign.corpus.importing import rows as corpus
from backend.campaign.judging.rows import judgements, seats
from backend.campaign.nouns import Annotator, Lead, Operator
from backend.campaign.qualification.answers.rows import Fitness, fitness, is_reserved
from backend.campaign.qualification.guideline import rows
from backend.campaign.qualification.guideline.rules import Example
from backend.campaign.setup.people import permissions
from backend.campaign.setup.project.folder import Project
from backend.core.errors import ProjectError, VideoUnreadable
from backend.core.events import Event, EventGroup
from backend.core.ids import PairKey
from backend.core.messages import said, said_n
from backend.media.jobs import ClipJob, clip_job
from backend.store import events
from backend.store.connection import writing

LONGEST_NOTE = 200
EXAMPLE_CHOSEN = Event("example_chosen", EventGroup.TRAINING, said("chose the example of {grade}: “{note}”"))
"""grade, note, replaced: the pair that was shown before"""
EXAMPLE_WITHDRAWN = Event("example_withdrawn", EventGroup.TRAINING, said("withdrew the example of {grade}"))
"""grade"""


@permissions.in_charge
def examples_chosen(project: Project, by: Lead | Operator) -> list[Example]:
    """Return the example chosen for each grade, including one that is not shown just now."""
    return rows.current_examples(project.store.db)


@permissions.signed_in
def examples(project: Project, person: Lead | Annotator) -> list[Example]:
    """Return the examples that the guideline shows, in the order of the grades.

    Left out: pairs that got another relevance since they were chosen, and pairs whose clip cannot be shown.
    """
    return [example for example in rows.current_examples(project.store.db) if example.showing]


@permissions.signed_in
def example_clip(project: Project, person: Lead | Annotator, grade: int, version: int | None = None) -> ClipJob:
    """Return the clip of the example of a grade.

    Args:
        project: the project.
        person: who asks.
        grade: one of the scale.
        version: the choice it should belong to; None takes the present one.

    Raises:
        ProjectError: no such example is shown (any more).
        VideoUnreadable: the project does not know the video's file.
    """
    for example in examples(project, person):
        if example.grade == grade and version in (None, example.version):
            return _clip(project, example.pair)
    raise ProjectError(said("there is no such example of grade {grade} (any more): reload the page", grade=grade))


@permissions.lead_only
def choose_example(project: Project, lead: Lead, pair: PairKey, grade: int, note: str, *, now: float) -> None:
    """Show a pair as the example of its relevance; the example that stood there before is withdrawn.

    Nobody can grade the pair any more from then on, so that the example gives nothing away.

    Args:
        project: the project.
        lead: who chooses it.
        pair: a settled one.
        grade: the relevance that the lead saw when they chose.
        note: why it deserves this grade, in the lead's words.
        now: seconds since 1970.

    Raises:
        ProjectError: no note, or a pair that cannot be an example (yet).
    """
    note = " ".join(note.split())
    if not note:
        raise ProjectError(said("an example needs a note: say in one sentence why it deserves this grade"))
    if len(note) > LONGEST_NOTE:
        raise ProjectError(
            said(
                "the note has {length} characters: say it in {longest}",
                length=len(note),
                longest=LONGEST_NOTE,
            )
        )
    with writing(project.store) as db:
        row = judgements.pair_by_key(db, pair)
        if row is None:
            raise ProjectError(said("there is no such pair (any more): reload the page"))
        if is_reserved(db, row.pair_id):
            raise ProjectError(said("this pair is asked in the exam: an example would tell its grade"))
        _require_fit(fitness(db, row.pair_id), grade, now=now)
        seats.free_lapsed(db, row.pair_id)
        replaced = rows.withdraw_example(db, grade, at=now)
        rows.add_example(db, grade, row.pair_id, note, lead.annotator_id, at=now)
        events.record(
            db,
            EXAMPLE_CHOSEN,
            at=now,
            actor=lead.annotator_id,
            subject=f"pair:{row.pair_id}",
            payload={"grade": grade, "note": note, "replaced": replaced},
        )


@permissions.lead_only
def withdraw_example(project: Project, lead: Lead, grade: int, *, now: float) -> None:
    """Take back the example of a grade, if there is one; the guideline then shows the one in words."""
    with writing(project.store) as db:
        pair_id = rows.withdraw_example(db, grade, at=now)
        if pair_id is not None:
            events.record(
                db,
                EXAMPLE_WITHDRAWN,
                at=now,
                actor=lead.annotator_id,
                subject=f"pair:{pair_id}",
                payload={"grade": grade},
            )


def _clip(project: Project, key: PairKey) -> ClipJob:
    row = judgements.pair_by_key(project.store.db, key)
    video = corpus.video_facts(project.store.db, row.video) if row else None
    if row is None or video is None:
        raise VideoUnreadable(said("the video of this example is not in the project"))
    return clip_job(project.clips, project.source(video), row.start_s, row.end_s, video.sha256)


def _require_fit(pair: Fitness, grade: int, *, now: float) -> None:
    if pair.relevance is None:
        raise ProjectError(said("this pair has no relevance yet: only a settled pair can be an example"))
    if pair.relevance != grade:
        raise ProjectError(
            said(
                "the relevance of this pair is {relevance} now, not {grade}: reload the page",
                relevance=pair.relevance,
                grade=grade,
            )
        )
    if pair.fault:
        raise ProjectError(said("the clip of this pair cannot be shown: {fault}", fault=pair.fault))
    correctable_s = pair.correctable_s(now)
    if correctable_s > 0:
        raise ProjectError(
            said("whoever graded this pair last may still correct it: choose it {when}", when=_in(correctable_s))
        )
    if pair.held_until is not None and pair.held_until >= now:
        raise ProjectError(
            said(
                "somebody has this pair on their desk: choose it once they have graded it, or {when}",
                when=_in(pair.held_until - now),
            )
        )


def _in(seconds: float) -> str:
    minutes = int(seconds // 60) + 1
    return said_n("in {n} minute", "in {n} minutes", minutes)
