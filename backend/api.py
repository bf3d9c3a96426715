"""The surface of ReelRank: everything the front end, the command line and other programs may call.

Functions take an opened `Project` first. `now` is seconds since 1970, always given by the caller. Refusals are
`ReelRankError`s with a text for the person; anything else is a bug.
"""

import shutil
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from backend.core.errors import InputError, NotAllowed, VideoUnreadable
from backend.core.metrics.presets import OPTION_VALUES as EVALUATION_OPTIONS
from backend.core.model import (
    AnnotatorId,
    Desk,
    GradeEvent,
    PairKey,
    PairReview,
    Person,
    PersonReview,
    QueryId,
    QueryReview,
    Receipt,
    Role,
)
from backend.core.raw_annotation import read_raw, summarise
from backend.encoders import sentence
from backend.encoders.sentence import DEFAULT_NAME, Encoder
from backend.media.clips import ClipJob, CutReport, clip_job, cut
from backend.media.clips import ensure as cut_clip
from backend.stages import (
    assignments,
    candidates,
    captions,
    consensus,
    corpus,
    demo,
    export,
    judgements,
    people,
    pseudo_train,
    queries,
    review,
    status,
)
from backend.stages.candidates import CandidateReport
from backend.stages.captions import RewriteReport
from backend.stages.corpus import ImportReport
from backend.stages.evaluate import evaluate, evaluate_files
from backend.stages.export import ReleaseReport
from backend.stages.people import accept_invitation as _accept
from backend.stages.queries import QueryReport
from backend.store import connection, reviews
from backend.store import corpus as corpus_rows
from backend.store import judgements as judgement_rows
from backend.store import people as people_rows
from backend.store import project as projects
from backend.store import seats as seat_rows
from backend.store.project import Project
from backend.store.releases import ReleaseRow, all_releases

__all__ = [
    "EVALUATION_OPTIONS",
    "CandidateReport",
    "ClipJob",
    "CutReport",
    "ImportReport",
    "Project",
    "QueryReport",
    "ReleaseReport",
    "ReleaseRow",
    "RewriteReport",
    "cut",
    "cut_clip",
    "evaluate",
    "evaluate_files",
]

Progress = Callable[[str, int, int], None]
"""Called with (what is being done, done so far, all of it)."""


# --- projects and their pipeline -------------------------------------------------------------------------------


def open_project(folder: Path) -> Project:
    """Open a project folder; raises `ProjectError`, `SchemaOutOfDate` or `InputError` (settings)."""
    return projects.open_project(folder)


def init_project(folder: Path, *, encoder: str | None = None, kind: str | None = None) -> Project:
    """A new, empty project; the encoder is SimCSE from the model hub unless another is named."""
    spec = sentence.resolve(encoder or DEFAULT_NAME, kind)
    return projects.create(folder, encoder=spec.name, encoder_kind=spec.kind)


def build_demo(folder: Path, *, judged: bool, now: float, progress: Progress) -> Project:
    """The demo project, built if it is not there yet; `judged` adds simulated judgements, marked as such."""
    if (folder / projects.DATABASE_FILE).exists():
        project = open_project(folder)
    else:
        project = demo.build(folder, now=now, progress=progress)
    if judged and not status.counts(project)["simulated"]:
        demo.simulate(project, now=now, progress=progress)
    return project


def demo_people() -> tuple[str, Sequence[str], str]:
    """(lead, annotators, everybody's password) of the demo project."""
    return demo.LEAD, demo.ANNOTATORS, demo.PASSWORD


def import_corpus(
    project: Project,
    file: Path,
    format: str,  # noqa: A002 - the word of the public contract
    *,
    videos: Path | None = None,
    types: frozenset[str] | None = None,
    now: float,
    progress: Progress | None = None,
) -> ImportReport:
    """Take an annotation file into the project, or nothing of it; see `backend.stages.corpus`."""
    return corpus.import_file(
        project,
        file,
        format,
        videos=videos,
        types=types,
        now=now,
        progress=(lambda done, total: progress("measuring videos", done, total)) if progress else None,
    )


def choose_encoder(project: Project, name: str, kind: str | None = None) -> Project:
    """Write another encoder into the project's settings, after finding its files."""
    spec = sentence.resolve(name, kind)
    sentence.load(spec)
    return projects.set_encoder(project, spec.name, spec.kind)


def rewrite_captions(project: Project, *, now: float, progress: Progress | None = None) -> RewriteReport:
    """Turn captions into imprecise ones by the rules and the cast list of the project."""
    return captions.rewrite_captions(
        project,
        _encoder(project),
        now=now,
        progress=(lambda done, total: progress("encoding", done, total)) if progress else None,
    )


def waiting_rewrites(project: Project) -> list[tuple[str, str, str]]:
    """(caption, rewrite, reason) of every rewrite that waits for a person."""
    return corpus_rows.waiting_rewrites(project.store.db)


def draw_queries(project: Project, *, val: int, test: int, seed: int, now: float) -> QueryReport:
    """Draw validation and test queries; the rest trains."""
    return queries.draw(project, val=val, test=test, seed=seed, now=now)


def choose_candidates(
    project: Project, *, batch_size: int | None = None, now: float, progress: Progress | None = None
) -> CandidateReport:
    """Embed, search, store the candidate lists, open batch 1 of every query."""
    if batch_size is not None and batch_size != project.settings.batch_size:
        project = projects.set_batch_size(project, batch_size)
    return candidates.choose(
        project, _encoder(project), batch_size=project.settings.batch_size, now=now, progress=progress
    )


def write_pseudo_train(
    project: Project, out: Path, *, tops: Sequence[int] = pseudo_train.TOPS, progress: Progress | None = None
) -> list[Path]:
    """Write `train_topNN.json` files into a folder; the files written."""
    return export.write_training_sets(project, _encoder(project), out, tops, progress=progress)


def export_release(
    project: Project, out: Path, *, by: Person | None = None, now: float, progress: Progress | None = None
) -> ReleaseReport:
    """Freeze a release of format tvr-ranking into a new folder."""
    return export.export_tvr_ranking(
        project, _encoder(project), out, now=now, by=by.annotator_id if by else None, progress=progress
    )


def export_zip(project: Project, person: Person, *, now: float) -> Path:
    """A release as one zip under `releases/` of the project, for download by a lead."""
    review.require_lead(person)
    name = datetime.fromtimestamp(now, UTC).strftime("release-%Y%m%d-%H%M%S")
    folder = project.folder / "releases" / name
    export_release(project, folder, by=person, now=now)
    return Path(shutil.make_archive(str(folder), "zip", root_dir=folder.parent, base_dir=name))


def list_releases(project: Project) -> list[ReleaseRow]:
    """The releases made so far, the newest first."""
    return all_releases(project.store.db)


def status_counts(project: Project) -> dict[str, Any]:
    """The counts of `reelrank status --json`, equal to what the screens show."""
    return status.counts(project)


def backup(project: Project, file: Path) -> None:
    """A consistent copy of the database while people work."""
    connection.backup(project.store, file)


def migrate(folder: Path) -> tuple[list[str], Path | None]:
    """Bring the database of a project up to date; (migrations applied, copy of the old state)."""
    return connection.migrate(folder / projects.DATABASE_FILE)


def summarise_raw(file: Path) -> dict[str, Any]:
    """The consensus rule and agreement over a raw annotation CSV, no project needed."""
    try:
        data = file.read_bytes()
    except OSError as error:
        raise InputError.single(file, f"cannot be read: {error.strerror}") from error
    return dict(summarise(read_raw(data, file.name)))


# --- people ---------------------------------------------------------------------------------------------------


def add_person(project: Project, name: str, role: Role, *, now: float) -> str:
    """Add somebody; a one-time invitation token with which they set their password."""
    return people.invite(project.store, people.add(project.store, name, role, now=now), now=now)


def add_person_with_password(project: Project, name: str, role: Role, password: str, *, now: float) -> Person:
    """Add somebody whose password is known already, all or nothing (for scripts)."""
    with connection.writing(project.store):
        person = people.add(project.store, name, role, now=now)
        people.set_password(project.store, person, password, now=now)
    return person


def sign_in(project: Project, name: str, password: str, *, now: float) -> str:
    """A session token; raises `SignInRefused`. Slow on purpose (argon2): keep it off the event loop."""
    return people.sign_in(project.store, name, password, now=now)


def person_for(project: Project, token: str, *, now: float) -> Person | None:
    """Whose session a token is; None if it is over."""
    return people.person_for(project.store, token, now=now)


def sign_out(project: Project, token: str, *, now: float) -> None:
    """End a session and give back the seats that the person holds."""
    person = people.person_for(project.store, token, now=now)
    people.sign_out(project.store, token)
    if person is not None:
        assignments.sign_off(project.store, person, now=now)


def invited(project: Project, invitation: str, *, now: float) -> Person | None:
    """Whom a one-time invitation is for; None if it is used up."""
    return people.invited(project.store, invitation, now=now)


def accept_invitation(project: Project, invitation: str, password: str, *, now: float) -> str:
    """Set the password of an invited person; a session token."""
    return _accept(project.store, invitation, password, now=now)


def list_people(project: Project) -> list[PersonReview]:
    """Everybody, with how much they graded."""
    return people_rows.reviews(project.store.db)


def suspend(project: Project, lead: Person, annotator_id: AnnotatorId, suspended: bool, *, now: float) -> None:
    """Suspend somebody or let them in again."""
    review.require_lead(lead)
    people.suspend(project.store, lead, annotator_id, suspended, now=now)


# --- the annotator's desk -------------------------------------------------------------------------------------


def desk(project: Project, person: Person, *, now: float) -> Desk:
    """What this annotator grades next: renews and claims seats."""
    if person.role is not Role.ANNOTATOR:
        raise NotAllowed("leads do not grade, so that their decisions stay independent: sign in as an annotator")
    lease_s = project.settings.lease_minutes * 60
    found = assignments.desk(project.store, person, now=now, lease_s=lease_s)
    return replace(found, previous=judgements.previous(project.store, person, now=now))


def record_grades(project: Project, person: Person, events: Sequence[GradeEvent], *, now: float) -> list[Receipt]:
    """Take grades in the order of giving; one receipt each. Sending an event again changes nothing."""
    if person.role is not Role.ANNOTATOR:
        raise NotAllowed("leads do not grade: sign in as an annotator")
    return [consensus.record_grade(project.store, person, event, now=now) for event in events]


def clip_for(project: Project, person: Person, pair: PairKey) -> ClipJob:
    """Which clip shows a pair, for somebody who may see it: the person at one of its seats, or a lead.

    Raises:
        NotAllowed: not this person's pair.
        VideoUnreadable: the project does not know the video's file.
    """
    row = judgement_rows.pair_by_key(project.store.db, pair)
    allowed = row is not None and (
        person.role is Role.LEAD or seat_rows.seat_of(project.store.db, row.pair_id, person.annotator_id) is not None
    )
    if row is None or not allowed:
        raise NotAllowed("this clip is not on your desk")
    facts = corpus_rows.video_facts(project.store.db, row.video)
    if facts is None:
        raise VideoUnreadable(f"{row.video}: no video file known; import the corpus again with --videos FOLDER")
    return clip_job(project.clips, project.file(facts.path), row.start_s, row.end_s, facts.sha256)


def report_clip(project: Project, person: Person, pair: PairKey, reason: str, *, now: float) -> None:
    """This pair's clip cannot be shown: it is not handed out again, and the lead sees why."""
    review.block_clip(project.store, person, pair, reason, now=now)


def restore_clip(project: Project, person: Person, pair: PairKey, *, now: float) -> None:
    """A lead hands a blocked pair out again."""
    review.restore_clip(project.store, person, pair, now=now)


# --- the lead's pages -----------------------------------------------------------------------------------------


def list_queries(project: Project) -> list[QueryReview]:
    """Every query with an open batch, in judging order."""
    return reviews.query_reviews(project.store.db, project.settings.batch_size)


def query_pairs(project: Project, query_id: QueryId) -> list[PairReview]:
    """All pairs of a query's open batches, in rank order."""
    return reviews.pairs_of_query(project.store.db, query_id)


def disagreements(project: Project) -> list[PairReview]:
    """Escalated, discarded and adjudicated pairs, the newest grade first."""
    return reviews.disagreements(project.store.db)


def blocked(project: Project) -> list[PairReview]:
    """Pairs whose clip cannot be shown, with the reason."""
    return reviews.blocked(project.store.db)


def open_batch(project: Project, person: Person, query_id: QueryId, *, now: float) -> int:
    """Open the next batch of a query; the number of new pairs."""
    return review.open_next_batch(project.store, person, query_id, batch_size=project.settings.batch_size, now=now)


def adjudicate(project: Project, person: Person, pair: PairKey, relevance: int, reason: str, *, now: float) -> None:
    """Record a lead's decision on a pair, with its reason."""
    review.adjudicate(project.store, person, pair, relevance, reason, now=now)


def _encoder(project: Project) -> Encoder:
    return sentence.load(sentence.resolve(project.settings.encoder, project.settings.encoder_kind))
