"""Make a project from a release, to inspect its campaign, continue it, and release it again.

*Reads* the folder or zip of a release. *Writes* a whole project, or nothing. The project gets everything that the
release holds: queries with their splits, moments, captions, pairs, every grade, the decisions of leads and the
candidate lists of training queries. A release of the new project holds the same as the original release. Pairs and
grades are imported like those of any earlier campaign.
"""

from collections import defaultdict
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from backend.campaign.corpus.captions import rows as captions_rows
from backend.campaign.corpus.captions.rows import Rewrite
from backend.campaign.corpus.importing import rows as corpus
from backend.campaign.corpus.importing.model import CORPUS_IMPORTED
from backend.campaign.corpus.moments import rows as proposed
from backend.campaign.corpus.moments.model import Origin
from backend.campaign.judging.model import CLIP_REPORTED
from backend.campaign.judging.rows import pair_status
from backend.campaign.nouns import OPERATOR, GradeMeaning, Role, Rounding, Scale, Split, Verdict
from backend.campaign.release.earlier import importing as earlier
from backend.campaign.release.earlier import rows as earlier_rows
from backend.campaign.release.earlier.model import JudgementsReport
from backend.campaign.release.earlier.rows import moment_ids
from backend.campaign.release.export import validating
from backend.campaign.release.export.opening import open_release
from backend.campaign.release.export.rules import pair_checks, returning
from backend.campaign.release.export.rules.returning import ReturnedMoment
from backend.campaign.release.export.terms import set_release_terms
from backend.campaign.release.export.validating import PAIRS, RAW, SourceManifest, SourceRelease, read_source
from backend.campaign.review import adjudicating
from backend.campaign.review.rows import reviews
from backend.campaign.selection.candidates import rows as candidates_rows
from backend.campaign.selection.candidates.model import FoundSpan
from backend.campaign.selection.queries import rows as queries
from backend.campaign.selection.queries.model import QUERIES_ADDED, QueryRow
from backend.campaign.setup.people import accounts, permissions
from backend.campaign.setup.project import folder as projects
from backend.campaign.setup.project import rows as project_rows
from backend.campaign.setup.project import scale_file
from backend.campaign.setup.project.folder import Project
from backend.campaign.setup.project.model import Grading
from backend.campaign.setup.project.places import is_project
from backend.core.errors import InputError, ProjectError
from backend.core.ids import MomentId, PairId, QueryId
from backend.core.progress import Progress
from backend.core.text_files import read_csv
from backend.core.typed_text import readable
from backend.encoders import sentence
from backend.store import events
from backend.store.connection import Database, reading, writing

_RULES = "released"
"""The rule version of imprecise captions from a release; a release does not say who made them."""


_AS_RELEASED = "as in the release that the project came from"


@dataclass(frozen=True, slots=True)
class ReleaseImport:
    """Counts of what an import of a release added to the new project.

    Attributes:
        queries: number of queries by split.
        training_lists: training queries with candidate lists.
        adjudicated: pairs that leads decided. Their author is one new lead, because releases hold no names of people.
        blocked: pairs without a final verdict whose query was finished: their clip could not be shown.
        judgements: report on the grades.
    """

    queries: dict[str, int]
    moments: int
    videos: int
    training_lists: int
    adjudicated: int
    blocked: int
    judgements: JudgementsReport


def import_release(
    path: Path,
    folder: Path,
    *,
    encoder: str | None = None,
    kind: str | None = None,
    now: float,
    progress: Progress | None = None,
) -> ReleaseImport:
    """Make a project from a release.

    Args:
        path: the folder or zip of the release.
        folder: the folder of the new project.
        encoder: name of the project's encoder (the model that compares texts), used if the release names no known one;
            None for the default encoder.
        kind: `sup`, `unsup` or `minilm`, the kind of that encoder; None to derive it from the name.
        now: seconds since 1970.
        progress: called with (name of the step, steps done, all steps).

    Raises:
        InputError: the release has problems, all of which are listed, or lacks a file; no project is made.
        AlreadyDone: the folder holds a project that was made from this release.
        ProjectError: the folder already holds another project.
    """
    usual = sentence.resolve(encoder or sentence.DEFAULT_NAME, kind)
    with open_release(path) as files:
        validation = validating.check_release(files, progress=progress)
        if not validation.clean:
            raise InputError(validation.problems)
        release = read_source(files, path)
        digests = {file: files.sha256(file) for file in sorted(files.places)}
    name, kind, dtype = returning.parse_encoder(release.manifest.encoder) or (usual.name, usual.kind, "fp32")
    asked = events.asked(files=digests, encoder=(name, kind, dtype))
    is_new_folder = not folder.exists()
    try:
        project = projects.create(folder, encoder=name, encoder_kind=kind, encoder_dtype=dtype)
    except ProjectError:
        if is_project(folder):
            _refuse_if_done(folder, asked, now)
        raise
    try:
        with projects.filling(project):  # all of it, or nothing
            report = _fill(project, release, asked, now, progress)
    except BaseException:
        if is_new_folder:
            with suppress(OSError):
                folder.rmdir()
        raise
    project.store.close()
    return report


def _refuse_if_done(folder: Path, asked: str, now: float) -> None:
    project = projects.open_project(folder)
    try:
        with reading(project.store) as db:
            events.refuse_if_done(db, QUERIES_ADDED, now=now, asked=asked)
    finally:
        project.store.close()


def _set_grading(db: Database, manifest: SourceManifest) -> None:
    """Give the project the scale, tolerance and rounding of a release.

    A release states only the labels of its grades. If ReelRank knows a scale with the same labels, tolerance and
    rounding, its longer texts are stored too.
    """
    labels = [meaning.label for meaning in manifest.scale]
    released = (labels, manifest.tolerance, manifest.rounding)
    usual = project_rows.grading(db)
    if not labels or _labels_and_rule(usual) == released:
        return
    known = (scale_file.load_scale(name) for name in scale_file.scale_names())
    scale = Scale(tuple(GradeMeaning(n, label, "", "", "") for n, label in enumerate(labels)))
    without_words = Grading(scale, manifest.tolerance, manifest.rounding, "", (), ())
    project_rows.set_grading(
        db, next((meaning for meaning in known if _labels_and_rule(meaning) == released), without_words)
    )


def _labels_and_rule(grading: Grading) -> tuple[list[str], int, Rounding]:
    return [meaning.label for meaning in grading.scale.meanings], grading.tolerance, grading.rounding


def _fill(project: Project, release: SourceRelease, asked: str, now: float, progress: Progress | None) -> ReleaseImport:
    with writing(project.store) as db:
        _set_grading(db, release.manifest)
        if release.manifest.batch_size:
            project_rows.set_batch_size(db, release.manifest.batch_size)
        moments = _add_moments(db, release, now)
        query_rows = returning.queries(release.truth, release.campaign.pairs, release.training)
        queries.add_released(db, query_rows, release.manifest.name or release.name)
        training_lists = _add_lists(db, release, query_rows, now)
        by_split = queries.split_counts(db)
        payload = {"file": release.name, **by_split, "asked": asked}
        events.record(db, QUERIES_ADDED, at=now, actor=None, subject="queries", payload=payload)
    raw, pairs = (release.raw, RAW), (release.pairs, PAIRS)
    report = earlier.take(project, raw, pairs, now=now, progress=progress, may_be_ungraded=True)
    with writing(project.store) as db:
        earlier_rows.close_gaps(db)
    adjudicated = _decide(project, release, now)
    blocked = _block(project, release, now)
    manifest = release.manifest
    if manifest.licence or manifest.citation:
        set_release_terms(
            project, OPERATOR, licence=manifest.licence, citation=manifest.citation, reason=_AS_RELEASED, now=now
        )
    videos = corpus.counts(project.store.db)[0]
    return ReleaseImport(by_split, moments, videos, training_lists, adjudicated, blocked, report)


def _add_moments(db: Database, release: SourceRelease, now: float) -> int:
    """Add the videos, moments and captions of a release, imprecise captions included; return the number of moments."""
    pairs = release.campaign.pairs
    table = read_csv(release.pairs, PAIRS, ["pair_id"], ["published_caption"])
    published = dict(zip(table.rows, table.columns.get("published_caption", ()), strict=False))
    imprecise = release.manifest.captions == "imprecise"
    returned = returning.moments(
        *(release.truth.values(), release.training, pairs, published, dict(release.campaign.durations)),
        imprecise=imprecise,
    )
    durations = release.durations or {
        **{moment.span[0]: moment.duration_s for moment in returned if moment.duration_s is not None},
        **release.campaign.durations,
    }
    lacking = sorted({moment.span[0] for moment in returned} - durations.keys())
    if lacking:
        raise InputError.single(PAIRS, f"the release does not say how long the video {lacking[0]!r} lasts")
    described = [stored for moment in returned if (stored := moment.stored())]
    videos, moments, captions = corpus.add_moments(db, described, durations, {})
    undescribed = [moment.span for moment in returned if moment.stored() is None]
    moments += sum(proposed.add(db, video, [(start, end)], Origin.IMPORTED) for video, start, end in undescribed)
    if imprecise:
        _add_imprecise(db, returned, now)
    payload = {"file": release.name, "format": "release", "videos": videos, "moments": moments, "captions": captions}
    events.record(db, CORPUS_IMPORTED, at=now, actor=None, subject="corpus", payload=payload)
    return moments


def _add_imprecise(db: Database, returned: list[ReturnedMoment], now: float) -> None:
    """Add the imprecise captions of a release: rewrites of published captions without names.

    If the release has no caption for a moment, the rewrite of its published caption is recorded as rejected.
    """
    numbers = moment_ids(db)
    by_moment = {numbers[moment.span]: moment for moment in returned}
    rejected: set[str] = set()
    rows = []
    for source in corpus.published_captions(db):
        moment = by_moment[source.moment_id]
        rows.append(Rewrite(source, moment.caption or source.text, _RULES, 0, None, accepted=bool(moment.caption)))
        if not moment.caption:
            rejected.add(source.text.strip())
    captions_rows.replace_rewrites(db, rows)
    for text in sorted(rejected):
        captions_rows.decide(db, text, None, at=now, by=None)


def _add_lists(db: Database, release: SourceRelease, query_rows: list[QueryRow], now: float) -> int:
    """Add the candidates of a release: those that were handed out, and the lists of its training queries.

    Returns the number of training queries with a list.
    """
    numbers = moment_ids(db)
    number_of = {query.text: query.query_id for query in query_rows if query.split is not Split.TRAIN}
    judged = returning.ranked(release.campaign).items()
    rows = [
        (number_of[text], pair.rank, MomentId(numbers[pair.span]), pair.similarity)
        for text, pairs in judged
        for pair in pairs
    ]
    if not release.training:
        # Without these lists, the project's own encoder makes them when somebody asks for them.
        return 0
    training = [query.query_id for query in query_rows if query.split is Split.TRAIN]
    for query_id, moments in zip(training, returning.weighted(release.training), strict=True):
        rows += [
            (QueryId(query_id), rank, MomentId(numbers[moment.span]), moment.similarity)
            for rank, moment in enumerate(moments, start=1)
        ]
    candidates_rows.add_listed(db, ((*row, None if row[-1] is None else release.encoder) for row in rows))
    if release.manifest.sources:
        _add_sources(db, release, rows, now)
    else:
        candidates_rows.note_similar(db, release.encoder, at=now, by=None)
    return len(training)


def _add_sources(
    db: Database, release: SourceRelease, listed: Iterable[tuple[QueryId, int, MomentId, float | None]], now: float
) -> None:
    """Add the sources of the candidates, such as the runs of systems, with each candidate's rank in its sources.

    A release states neither the scores that a source gave nor the exact spans that it found.
    """
    table = read_csv(release.pairs, PAIRS, ["pair_id"], ["sources"])
    cells = dict(zip(table.rows, table.columns.get("sources", ()), strict=False))
    spans_by_label: dict[str, list[FoundSpan]] = defaultdict(list)
    judged = (pair for pairs in returning.ranked(release.campaign).values() for pair in pairs)
    for pair, (query_id, _, moment_id, _) in zip(judged, listed, strict=False):
        for cell in filter(None, cells.get(pair.row, "").split("; ")):
            label, _, rank = cell.rpartition(" ")
            if rank.isdecimal():
                spans_by_label[label].append(FoundSpan(query_id, moment_id, int(rank), None, *pair.span[1:]))
    for source in release.manifest.sources:
        candidates_rows.add_source(db, source, spans_by_label.pop(source.label, ()), at=now, by=None)


def _decide(project: Project, release: SourceRelease, now: float) -> int:
    """Add the relevances that leads decided on, and return how many there are.

    Their author is one new lead, because a release names nobody.
    """
    table = read_csv(release.raw, RAW, ["pair_id"], ["adjudicated"], may_be_empty=True)
    relevances, _ = pair_checks.read_decided(table, RAW, release.campaign.pairs, PAIRS)
    if not relevances:
        return 0
    store = project.store
    person = accounts.add(
        store, OPERATOR, readable(f"lead of {release.manifest.name or release.name}"), Role.LEAD, now=now
    )
    lead = permissions.require_lead(store, person)
    reason = f"decided by a lead before the release {release.manifest.name or release.name}"
    with writing(store) as db:
        pairs = reviews.by_id(db, [PairId(number) for number in sorted(relevances)])
        for pair in pairs:
            seen = len(pair_status.acts(db, pair.pair_id))  # it may have been re-opened before
            adjudicating.adjudicate(project, lead, pair.pair, relevances[pair.pair_id], reason, seen=seen, now=now)
    return len(pairs)


def _block(project: Project, release: SourceRelease, now: float) -> int:
    """Mark clips that could not be shown when the release was made, so that nobody is asked to grade their pairs.

    These are the clips of pairs without a final grade in queries that the release counts as finished. Returns the
    number of these pairs.
    """
    unfinished = release.manifest.unfinished_queries
    if unfinished is None:
        return 0
    finished = {
        entry.query.strip()
        for file in release.truth.values()
        for entry in file.entries
        if entry.query_id not in unfinished
    }
    waits = (Verdict.OPEN, Verdict.ESCALATED)
    blocked = [pair for pair in release.campaign.pairs if pair.query in finished and pair.verdict in waits]
    reason = f"could not be shown when {release.manifest.name or release.name} was released"
    with writing(project.store) as db:
        numbers = moment_ids(db)
        for moment in sorted({MomentId(numbers[pair.span]) for pair in blocked}):
            pair_status.add_fault(db, moment, reason, at=now)
            candidates_rows.refresh_agenda_of_moment(db, moment)
            payload = {"reason": reason}
            events.record(db, CLIP_REPORTED, at=now, actor=None, subject=f"moment:{moment}", payload=payload)
    return len(blocked)
