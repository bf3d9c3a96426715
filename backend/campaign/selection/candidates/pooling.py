"""Pool runs: what systems found becomes candidates, beside captions and frames or instead of them, and again later.

*Reads* run files, queries, videos, moments, candidates, pairs. *Writes* moment, candidate, source, candidate_source,
batch, pair, seat, events. The union of the runs' best predictions is what is judged, as TREC does; predictions that
nearly are the same moment are one candidate, which remembers all that found it. A first pooling makes the lists, and
opens their first batches; a later one adds what nobody was asked about yet, and hands that out as a batch of its own.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from backend.campaign.corpus.importing import rows as corpus
from backend.campaign.nouns import Lead, Operator
from backend.campaign.selection.candidates import choosing, visual
from backend.campaign.selection.candidates.material import Given, Material, require_unchanged
from backend.campaign.selection.candidates.material import read as material_of
from backend.campaign.selection.candidates.merging import CAPTIONS, VISUAL, Listed, Merging
from backend.campaign.selection.candidates.model import (
    CandidateSource,
    FoundSpan,
    PooledRun,
    PoolingReport,
    SourceKind,
)
from backend.campaign.selection.candidates.record import require_no_lists
from backend.campaign.selection.candidates.rows import lists, sources
from backend.campaign.selection.candidates.rows.lists import CandidateRow
from backend.campaign.selection.candidates.rules.pooling import MergedSpan
from backend.campaign.selection.candidates.submitted import PoolingOptions
from backend.campaign.selection.queries.model import QueryRow
from backend.campaign.setup.project import rows as facts
from backend.campaign.setup.project.folder import MAX_CANDIDATES, Project
from backend.core.errors import ProjectError
from backend.core.ids import MomentId, QueryId
from backend.core.progress import Progress, named
from backend.core.saying import said
from backend.core.timespan import decimal_fraction
from backend.encoders.clip import Clip
from backend.encoders.sentence import Encoder
from backend.store import events
from backend.store.connection import Database, writing
from backend.store.events import EventKind

Found = dict[QueryId, list[MergedSpan]]
_ORIGIN = "pooled"


def pool_first(
    project: Project,
    by: Lead | Operator,
    given: Given,
    options: PoolingOptions,
    encoder: Encoder | None,
    *,
    clip: Clip | None = None,
    batch_size: int | None = None,
    dry_run: bool = False,
    now: float,
    progress: Progress | None = None,
) -> PoolingReport:
    """Store lists of what runs found, with what captions and frames found where they are asked; open the first batches.

    Args:
        project: the project, without lists.
        by: who does.
        given: the runs; none is needed where frames are looked at.
        options: how deep, and what is the same.
        encoder: of the captions' similarity; None leaves captions out.
        clip: looks at the frames of moments; None leaves them out.
        batch_size: candidates a batch from now on; None leaves it as it is.
        dry_run: only tell what would be.
        now: seconds since 1970.
        progress: called with (what is done, done, all).

    Raises:
        InputError: with everything that is wrong with the runs; nothing is written then.
        ProjectError: no queries yet, candidate lists exist already, or no such batch size, depth or overlap.
        EncoderUnavailable: the CLIP model cannot be built.
    """
    asked = choosing.to_judge(project, batch_size)
    require_no_lists(project)
    material = material_of(project, given, options, without_runs=clip is not None)
    similar: list[CandidateRow] = []
    split_ties, unread = 0, list[str]()
    if encoder:
        similar, split_ties = choosing.search(project, encoder, asked, MAX_CANDIDATES, unread=unread, progress=progress)
    seen = visual.search(project, clip, asked, MAX_CANDIDATES, progress=progress) if clip else None
    beside: dict[QueryId, list[Listed]] = {}
    for source, rows in ((CAPTIONS, similar), (VISUAL, seen.rows if seen else ())):
        for row in rows:
            beside.setdefault(row.query_id, []).append((row.moment_id, row.rank, row.similarity, source))
    merging = _merging(material, options)
    found = _found(merging, asked, beside, progress)
    size = batch_size or project.campaign.batch_size
    report = replace(
        _report(project, material, merging, found, asked),
        pairs=sum(min(size, len(candidates)) for candidates in found.values()),
        encoder=encoder.identity if encoder else None,
        split_ties=split_ties,
        unread=tuple(unread),
        visual=seen.identity if seen else None,
        unseen=seen.unseen if seen else (),
    )
    if dry_run:
        return report
    with writing(project.store) as db:
        require_no_lists(project)  # here, because another process may have made some in the meantime
        require_unchanged(db, material)
        if batch_size is not None:
            facts.set_batch_size(db, batch_size)
        campaign = facts.campaign(db)
        ids = _store(db, merging)
        similarity = {(row.query_id, row.moment_id): row.similarity for row in similar}
        for query_id, candidates in found.items():
            _list(db, query_id, candidates, ids, similarity, report.encoder)
            lists.open_batch(db, campaign, query_id, 1, at=now, by=by.annotator_id)
        spans = merging.found_spans(found, ids)
        if report.encoder:
            captions = CandidateSource(SourceKind.CAPTIONS, report.encoder, None, MAX_CANDIDATES)
            sources.add(db, captions, spans.get(CAPTIONS, ()), at=now, by=by.annotator_id)
        if report.visual:
            frames = CandidateSource(SourceKind.VISUAL, report.visual, None, MAX_CANDIDATES)
            sources.add(db, frames, spans.get(VISUAL, ()), at=now, by=by.annotator_id)
        _add_runs(db, by, material, options, spans, part=1, now=now)
        what = {"encoder": report.encoder, "queries": report.queries, "candidates": report.candidates}
        if report.visual:
            what["visual"] = report.visual
        _record(db, EventKind.CANDIDATES_CHOSEN, by, report, options, what, now=now)
    return report


def pool_again(
    project: Project,
    by: Lead | Operator,
    given: Given,
    options: PoolingOptions,
    *,
    dry_run: bool = False,
    now: float,
    progress: Progress | None = None,
) -> PoolingReport:
    """Add to the lists what later runs found, and hand out, as one batch a query, what of it nobody was asked about.

    Args:
        project: the project, with lists, or with the pairs of an earlier campaign.
        by: who does.
        given: the runs.
        options: how deep, and what is the same.
        dry_run: only tell what would be.
        now: seconds since 1970.
        progress: called with (what is done, done, all).

    Raises:
        InputError: with everything that is wrong with the runs; nothing is written then.
        ProjectError: no lists yet, or no such depth or overlap.
    """
    asked = choosing.to_judge(project, None)
    if not lists.any_batch(project.store.db):
        raise ProjectError(said("there are no candidate lists yet that runs could add to: leave --again out"))
    material = material_of(project, given, options)
    merging = _merging(material, options)
    beside = {
        query_id: [(moment_id, None, 0.0, CAPTIONS) for moment_id in moments]
        for query_id, moments in material.listed.items()
    }
    found = _found(merging, asked, beside, progress)
    new = {
        query_id: [one for one in candidates if one.moment_id not in material.listed.get(query_id, ())]
        for query_id, candidates in found.items()
    }
    ask = {
        query_id: [one for one in candidates if one.moment_id not in material.handed_out.get(query_id, ())]
        for query_id, candidates in found.items()
    }
    report = replace(
        _report(project, material, merging, found, asked),
        candidates=sum(map(len, new.values())),
        pairs=sum(map(len, ask.values())),
    )
    if dry_run:
        return report
    with writing(project.store) as db:
        require_unchanged(db, material)
        lists.list_pairs(db)
        part = max(1, sources.last_part(db)) + 1
        campaign, numbers = facts.campaign(db), lists.open_batches(db)
        ids = _store(db, merging)
        for query_id in found:
            _list(db, query_id, new[query_id], ids, {}, None)
            if ask[query_id]:
                lists.open_batch_of(
                    db,
                    campaign,
                    query_id,
                    numbers.get(query_id, 0) + 1,
                    [ids.get(one.moment_id, one.moment_id) for one in ask[query_id]],
                    part=part,
                    at=now,
                    by=by.annotator_id,
                )
        _add_runs(db, by, material, options, merging.found_spans(found, ids), part=part, now=now)
        what = {"queries": report.queries, "candidates": report.candidates, "pairs": report.pairs}
        _record(db, EventKind.CANDIDATES_ADDED, by, report, options, what, now=now)
    return replace(report, part=part)


def _merging(material: Material, options: PoolingOptions) -> Merging:
    return Merging(material.runs, material.places, depth=options.depth, iou=decimal_fraction(options.iou))


def _found(
    merging: Merging,
    asked: Sequence[QueryRow],
    listed: Mapping[QueryId, Sequence[Listed]],
    progress: Progress | None,
) -> Found:
    """The candidates of every query that has any, in judging order."""
    report = named(progress, said("merging what was found"))
    found: Found = {}
    for done, query in enumerate(asked, start=1):
        if candidates := merging.candidates(query.query_id, listed.get(query.query_id, ())):
            found[query.query_id] = candidates
        if report:
            report(done, len(asked))
    return found


def _report(
    project: Project, material: Material, merging: Merging, found: Found, asked: Sequence[QueryRow]
) -> PoolingReport:
    """What came of it; candidates and pairs are those of a first pooling."""
    runs = []
    for number, run in enumerate(material.runs):
        its = [
            (query_id, one)
            for query_id, some in found.items()
            for one in some
            if any(s.source == number for s in one.seen)
        ]
        runs.append(
            PooledRun(
                run.name,
                run.sha256,
                spans=sum(seen.source == number for _, one in its for seen in one.seen),
                candidates=len(its),
                alone=sum(len({seen.source for seen in one.seen}) == 1 for _, one in its),
                new=sum(one.moment_id not in material.handed_out.get(query_id, ()) for query_id, one in its),
            )
        )
    return PoolingReport(
        part=1,
        runs=tuple(runs),
        queries=len(found),
        without=len(asked) - len(found),
        candidates=sum(map(len, found.values())),
        moments=len(merging.new),
        pairs=0,
        encoder=None,
        split_ties=0,
        without_file=len(corpus.videos_without_file(project.store.db)),
    )


def _store(db: Database, merging: Merging) -> dict[MomentId, MomentId]:
    """Store the new moments; their numbers by those they had so far."""
    stored = corpus.add_spans(db, merging.new, _ORIGIN)
    return {MomentId(-number): stored[place] for number, place in enumerate(merging.new, start=1)}


def _list(
    db: Database,
    query_id: QueryId,
    candidates: Sequence[MergedSpan],
    ids: Mapping[MomentId, MomentId],
    similarity: Mapping[tuple[QueryId, MomentId], float],
    encoder: str | None,
) -> None:
    """Put candidates at the end of a query's list, each with its similarity where captions found it."""
    moments = [ids.get(one.moment_id, one.moment_id) for one in candidates]
    alike = [similarity.get((query_id, moment_id)) for moment_id in moments]
    first = lists.last_rank(db, query_id) + 1
    lists.add_listed(
        db,
        (
            (query_id, rank, moment_id, value, None if value is None else encoder)
            for rank, (moment_id, value) in enumerate(zip(moments, alike, strict=True), start=first)
        ),
    )


def _add_runs(
    db: Database,
    by: Lead | Operator,
    material: Material,
    options: PoolingOptions,
    spans: Mapping[int, Sequence[FoundSpan]],
    *,
    part: int,
    now: float,
) -> None:
    for number, run in enumerate(material.runs):
        source = CandidateSource(SourceKind.RUN, run.name, run.sha256, options.depth, part)
        sources.add(db, source, spans.get(number, ()), at=now, by=by.annotator_id)


def _record(
    db: Database,
    kind: EventKind,
    by: Lead | Operator,
    report: PoolingReport,
    options: PoolingOptions,
    what: Mapping[str, object],
    *,
    now: float,
) -> None:
    pooled = [{"name": run.name, "sha256": run.sha256, "depth": options.depth} for run in report.runs]
    payload = {**what, "pooled": pooled, "iou": options.iou, "moments": report.moments}
    events.record(db, kind, at=now, actor=by.annotator_id, subject="candidates", payload=payload)
