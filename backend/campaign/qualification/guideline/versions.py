"""Read and change the guideline: its versions, who has read them, and its example pairs.

*Reads* grades, campaign, guideline_seen, pairs, consensus, videos. *Writes* scale, guideline, guideline_version,
guideline_seen, examples, events; frees seats (annotators' places on a pair) whose reservation has expired. Every
version stays in the record.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from backend.campaign.corpus.importing import rows as corpus
from backend.campaign.judging.rows import judgements, seats
from backend.campaign.nouns import Annotator, Lead, Operator
from backend.campaign.qualification.answers.rows import Fitness, fitness
from backend.campaign.qualification.guideline import rows
from backend.campaign.qualification.guideline.rules import Change, Example, Reading, changes, to_read
from backend.campaign.selection.candidates import rows as candidates_rows
from backend.campaign.setup.people import permissions
from backend.campaign.setup.project import model, scale_file
from backend.campaign.setup.project import rows as project_rows
from backend.campaign.setup.project.folder import Project
from backend.campaign.setup.project.model import Grading, GuidelineVersion
from backend.core.errors import InputError, Overtaken, Problem, ProjectError, VideoUnreadable
from backend.core.events import Event, EventGroup
from backend.core.ids import PairKey
from backend.core.messages import said, said_n
from backend.core.typed_text import reason_of
from backend.media.jobs import ClipJob, clip_job
from backend.store import events
from backend.store.connection import Database, Store, reading, writing

LONGEST_REASON = 200
FIXED = said("somebody has graded")
EXAMPLE_CHOSEN = Event("example_chosen", EventGroup.TRAINING, said("chose the example of {grade}: “{note}”"))
"""grade, note, replaced: the pair that was shown before"""
EXAMPLE_WITHDRAWN = Event("example_withdrawn", EventGroup.TRAINING, said("withdrew the example of {grade}"))
"""grade"""
GUIDELINE_CHANGED = Event(
    "guideline_changed", EventGroup.TRAINING, said("wrote version {version} of the guideline ({changed})")
)
"""version, reason, changed: which texts differ, judgement: the number of the last grade under the version before"""


@permissions.in_charge
def guideline_versions(project: Project, by: Lead | Operator) -> list[GuidelineVersion]:
    """Return all versions of the guideline, the oldest first; the last one is in force."""
    return project_rows.versions(project.store.db)


@permissions.in_charge
def guideline_readers(project: Project, by: Lead | Operator) -> dict[int, int]:
    """Return, by guideline version, how many annotators have read this version but no newer one."""
    return rows.readers(project.store.db)


@permissions.in_charge
def reword_guideline(
    project: Project, by: Lead | Operator, new: Grading, reason: str, *, now: float, based_on: int | None = None
) -> tuple[int, list[Change]]:
    """Replace the texts of the guideline from now on, as a new version.

    Once somebody has graded, the number of grades, the tolerance and the rounding can no longer change.

    Args:
        project: the project.
        by: the user who rewords it.
        new: the whole guideline with its new texts.
        reason: one sentence about why it changes, which annotators read too.
        now: seconds since 1970.
        based_on: the version that the lead looked at; None skips the check that it is still the current one.

    Returns:
        The number of the new version, and the texts that changed.

    Raises:
        InputError: the texts have problems, all of which are listed.
        Overtaken: somebody added another version in the meantime.
        ProjectError: the reason is blank, or nothing changed.
    """
    return _reword(project.store, by, new, reason, now=now, based_on=based_on, source="the guideline")


@permissions.in_charge
def set_guideline_from_file(
    project: Project, by: Lead | Operator, file: Path, reason: str, *, now: float
) -> tuple[int, list[Change]]:
    """Replace the texts of the guideline by those of a scale file, which `reelrank init --scale` reads too.

    Returns the number of the new version, and the texts that changed. Errors are those of `reword_guideline`.
    """
    new = scale_file.read(file, _notes(project.store.db))
    return _reword(project.store, by, new, reason, now=now, based_on=None, source=str(file))


def _reword(
    store: Store, by: Lead | Operator, new: Grading, reason: str, *, now: float, based_on: int | None, source: str
) -> tuple[int, list[Change]]:
    needed = said("a change needs a reason: say why in one sentence; annotators read it")
    reason = reason_of(reason, LONGEST_REASON, needed)
    with writing(store) as db:
        old, present = project_rows.grading(db), project_rows.version(db)
        problems = list(
            model.grading_problems(new.scale.meanings, new.tolerance, new.example_query, new.questions, new.reminders)
        )
        problems += [] if problems else model.translation_problems(new, _notes(db))
        if project_rows.has_graded(db):
            problems += _fixed(old, new)
        if problems:
            raise InputError([Problem(source, None, message) for message in problems])
        if based_on is not None and based_on != present:
            who = project_rows.versions(db)[-1].by or said("the command line", _context="by")
            raise Overtaken(
                said(
                    "{who} changed the guideline in the meantime (version {present}): look at it, then change yours",
                    who=who,
                    present=present,
                )
            )
        changed = changes(old, new)
        if not changed:
            events.refuse_if_done(db, GUIDELINE_CHANGED, now=now, reason=reason)
            raise ProjectError(said("nothing changed: the guideline already says this"))
        number = project_rows.add_version(db, new, reason, by.annotator_id, at=now)
        events.record(
            db,
            GUIDELINE_CHANGED,
            at=now,
            actor=by.annotator_id,
            subject=f"guideline:{number}",
            payload={
                "version": number,
                "reason": reason,
                "changed": [change.where for change in changed],
                "judgement": candidates_rows.last_rows(db)["judgement_id"],
            },
        )
    return number, changed


def _notes(db: Database) -> set[str]:
    """Return the leads' notes on example pairs for which the guideline may hold translations.

    These are the notes on the current examples, and already translated notes on earlier examples. Those are kept
    because a lead may choose an earlier example again.
    """
    grading = project_rows.grading(db)
    translated = {text for texts in grading.translations.values() for text in texts}
    return {example.note for example in rows.current_examples(db)} | translated - set(grading.texts)


def _fixed(old: Grading, new: Grading) -> list[str]:
    """Return an error message for each difference between guidelines in number of grades, tolerance and rounding."""
    problems = []
    if len(old.scale.grades) != len(new.scale.grades):
        problems.append(
            said(
                "has {n} grades, but this campaign has {present}, and {fixed}",
                n=len(new.scale.grades),
                present=len(old.scale.grades),
                fixed=FIXED,
            )
        )
    if old.tolerance != new.tolerance:
        problems.append(
            said(
                "tolerance is {tolerance}, but this campaign has {old_tolerance}, and {fixed}",
                tolerance=new.tolerance,
                old_tolerance=old.tolerance,
                fixed=FIXED,
            )
        )
    if old.rounding is not new.rounding:
        problems.append(
            said(
                "rounding is {rounding}, but this campaign has {old_rounding}, and {fixed}",
                rounding=new.rounding.value,
                old_rounding=old.rounding.value,
                fixed=FIXED,
            )
        )
    return problems


@dataclass(frozen=True, slots=True)
class News:
    """The changes of the guideline since an annotator last read it.

    `version` is the current version. `reasons` says why each version since then was made, the oldest first.
    """

    version: int
    reasons: Sequence[str]
    changes: Sequence[Change]


@permissions.signed_in
def guideline_version(project: Project, person: Lead | Annotator) -> int:
    """Return the number of the guideline's current version."""
    return project_rows.version(project.store.db)


@permissions.annotator_only
def guideline_due(project: Project, person: Annotator) -> Reading | None:
    """Return which part of the guideline an annotator has to read before they grade; None for nothing."""
    with reading(project.store) as db:
        seen, present, tutorial = rows.reading(db, person.annotator_id)
    return to_read(seen, present, tutorial=tutorial)


@permissions.annotator_only
def guideline_news(project: Project, person: Annotator, language: str = "") -> News | None:
    """Return what changed since an annotator last read the guideline.

    Returns None if nothing changed, or they have not read it yet. The `changes` are only of texts that are shown in
    this language, so they may be empty.
    """
    with reading(project.store) as db:
        seen, present, _ = rows.reading(db, person.annotator_id)
        if seen is None or seen == present:
            return None
        by_number = {version.version: version for version in project_rows.versions(db)}
    since = [by_number[number].reason for number in range(seen + 1, present + 1)]
    before, after = (by_number[number].grading.in_language(language) for number in (seen, present))
    return News(present, since, changes(before, after))


@permissions.annotator_only
def note_guideline_seen(project: Project, person: Annotator, version: int, *, now: float) -> None:
    """Record that an annotator has read a version of the guideline to its end.

    If there is a newer version by now, `guideline_news` returns what is new in it.

    Raises:
        ProjectError: there is no such version.
    """
    with writing(project.store) as db:
        if not 1 <= version <= project_rows.version(db):
            raise ProjectError(said("the guideline has no version {version}: reload the page", version=version))
        rows.note_seen(db, person.annotator_id, version, at=now)


LONGEST_NOTE = 200


@permissions.in_charge
def examples_chosen(project: Project, by: Lead | Operator) -> list[Example]:
    """Return the example chosen for each grade, including examples that the guideline does not show at present."""
    return rows.current_examples(project.store.db)


@permissions.signed_in
def examples(project: Project, person: Lead | Annotator) -> list[Example]:
    """Return the examples that the guideline shows, in the order of the grades.

    An example is left out if the final grade of its pair has changed since a lead chose it, or its clip cannot be
    shown.
    """
    return [example for example in rows.current_examples(project.store.db) if example.showing]


@permissions.signed_in
def example_clip(project: Project, person: Lead | Annotator, grade: int, version: int | None = None) -> ClipJob:
    """Return the description of the clip of a grade's example, from which it can be cut and shown.

    Args:
        project: the project.
        person: the user who asks.
        grade: a grade of the scale.
        version: the `version` of the example; None takes the current one.

    Raises:
        ProjectError: the guideline does not show this example.
        VideoUnreadable: the project does not know the video's file.
    """
    for example in examples(project, person):
        if example.grade == grade and version in (None, example.version):
            return _clip(project, example.pair)
    raise ProjectError(said("this example of grade {grade} no longer exists: reload the page", grade=grade))


@permissions.lead_only
def choose_example(project: Project, lead: Lead, pair: PairKey, grade: int, note: str, *, now: float) -> None:
    """Make a pair with a final grade the example of this grade in the guideline.

    It replaces the earlier example of the grade. From then on nobody can grade the pair, so showing its grade does no
    harm.

    Args:
        project: the project.
        lead: the lead who chooses it.
        pair: a pair with a final grade.
        grade: the pair's final grade as the lead saw it.
        note: why the pair deserves this grade, in the lead's words.
        now: seconds since 1970.

    Raises:
        ProjectError: the note is missing or too long; the pair's final grade is not `grade`; its clip cannot be shown;
            its last grade can still be corrected; somebody is grading it; or it is in an exam.
    """
    note = " ".join(note.split())
    if not note:
        raise ProjectError(said("an example needs a note: say in one sentence why it deserves this grade"))
    if len(note) > LONGEST_NOTE:
        raise ProjectError(
            said(
                "the note has {length} characters: use at most {longest}",
                length=len(note),
                longest=LONGEST_NOTE,
            )
        )
    with writing(project.store) as db:
        row = judgements.pair_by_key(db, pair)
        if row is None:
            raise ProjectError(said("this pair no longer exists: reload the page"))
        if seats.is_set_aside(db, row.pair_id):
            raise ProjectError(said("this pair is in the exam, and an example would reveal its grade"))
        _require_fit(fitness(db, row.pair_id), grade, project.lease_s, now=now)
        seats.free_held(db, row.pair_id)
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
    """Withdraw the example pair of a grade, if there is one. The guideline then describes an example in words."""
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


def _require_fit(pair: Fitness, grade: int, lease_s: float, *, now: float) -> None:
    if pair.relevance is None:
        raise ProjectError(said("this pair has no relevance yet: only a settled pair can be an example"))
    if pair.relevance != grade:
        raise ProjectError(
            said(
                "the relevance of this pair is now {relevance}, not {grade}: reload the page",
                relevance=pair.relevance,
                grade=grade,
            )
        )
    if pair.fault:
        raise ProjectError(said("the clip of this pair cannot be shown: {fault}", fault=pair.fault))
    correctable_s = pair.correctable_s(now)
    if correctable_s > 0:
        raise ProjectError(
            said(
                "the last grade of this pair can still be corrected: choose it {when}",
                when=_minutes_from_now(correctable_s),
            )
        )
    held_s = pair.held_s(now, lease_s)
    if held_s >= 0:
        raise ProjectError(
            said(
                "somebody is grading this pair: choose it once they have finished, or {when}",
                when=_minutes_from_now(held_s),
            )
        )


def _minutes_from_now(seconds: float) -> str:
    minutes = int(seconds // 60) + 1
    return said_n("in {n} minute", "in {n} minutes", minutes)
