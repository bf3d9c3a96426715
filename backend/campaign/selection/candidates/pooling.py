"""Pool runs: make candidates of what systems found, beside captions and frames or instead of them, and again later.

*Reads* run files, queries, videos, moments, candidates, pairs. *Writes* moment, candidate, source, candidate_source,
batch, pair, seat, events. The union of the runs' best predictions is what is judged, as TREC does; predictions that
nearly are the same moment are one candidate, which remembers all that found it. A first pooling makes the lists, and
opens their first batches; a later one adds what nobody was asked about yet, and hands that out as a batch of its own.
"""

from dataclasses import replace

from backend.campaign.nouns import Lead, Operator
from backend.campaign.selection.candidates import choosing, frame_search
from backend.campaign.selection.candidates.model import (
    CANDIDATES_ADDED,
    CANDIDATES_CHOSEN,
    CandidateSource,
    PoolingReport,
    SourceKind,
)
from backend.campaign.selection.candidates.pooled_lists import (
    Given,
    add_runs,
    append_to_list,
    merge_found,
    merging_of,
    record_pooling,
    report_on,
    require_unchanged,
    store_moments,
)
from backend.campaign.selection.candidates.pooled_lists import read as material_of
from backend.campaign.selection.candidates.rows import lists
from backend.campaign.selection.candidates.rows.lists import CandidateRow
from backend.campaign.selection.candidates.submitted_runs import CAPTIONS, VISUAL, CandidatePooling, Listed
from backend.campaign.selection.queries.editing import require_no_lists
from backend.campaign.setup.people.permissions import in_charge
from backend.campaign.setup.project import rows as facts
from backend.campaign.setup.project.folder import MAX_CANDIDATES, Project
from backend.campaign.setup.project.sentence_encoder import load_encoder
from backend.core.errors import ProjectError
from backend.core.ids import QueryId
from backend.core.messages import said
from backend.core.progress import Progress
from backend.core.where import HERE, Where, placed
from backend.encoders.clip import FOR_CANDIDATES, Clip, load_clip
from backend.encoders.sentence import Encoder
from backend.store.connection import writing


@in_charge
def pool_candidates(
    project: Project,
    by: Lead | Operator,
    runs: Given,
    options: CandidatePooling | None = None,
    *,
    captions: bool = True,
    visual: str | None = None,
    again: bool = False,
    batch_size: int | None = None,
    dry_run: bool = False,
    where: Where = HERE,
    now: float,
    progress: Progress | None = None,
) -> PoolingReport:
    """Make candidates of what runs found, beside what captions find, and open batch 1 of every query.

    Args:
        project: the project.
        by: who pools; their name goes on record.
        runs: files of runs; none is needed where frames are looked at.
        options: how deep, and which spans are one candidate.
        captions: whether candidates are also found by captions, under the project's encoder.
        visual: a CLIP model, or its folder, that looks at the frames of moments; None leaves frames out.
        again: add to the lists what further runs found, and hand that out as one batch a query. Captions and the size
            of a batch then stay as they are.
        batch_size: candidates a batch from now on; None leaves it as it is.
        dry_run: only report what would be, and write nothing.
        where: where sentences and frames are encoded.
        now: seconds since 1970.
        progress: called with (what is done, done, all).

    Raises:
        InputError: with everything that is wrong with the runs; nothing is written then.
        ProjectError: no queries yet; candidate lists exist already, or with `again` do not; or no such batch size,
            depth or overlap.
        EncoderUnavailable: the encoder or the CLIP model cannot be found or built.
    """
    options = options or CandidatePooling()
    if again:
        return _pool_again(project, by, runs, options, dry_run=dry_run, now=now, progress=progress)
    require_no_lists(project)
    return _pool_first(
        project,
        by,
        runs,
        options,
        load_encoder(project, where) if captions else None,
        placed(load_clip(visual, FOR_CANDIDATES), where) if visual else None,
        batch_size=batch_size,
        dry_run=dry_run,
        now=now,
        progress=progress,
    )


def _pool_first(
    project: Project,
    by: Lead | Operator,
    given: Given,
    options: CandidatePooling,
    encoder: Encoder | None,
    clip: Clip | None,
    *,
    batch_size: int | None,
    dry_run: bool,
    now: float,
    progress: Progress | None,
) -> PoolingReport:
    """Store lists of what runs, captions and frames found, and open the first batches."""
    asked = choosing.to_judge(project, batch_size)
    require_no_lists(project)
    material = material_of(project, given, options, without_runs=clip is not None)
    similar: list[CandidateRow] = []
    split_ties, unread = 0, list[str]()
    if encoder:
        similar, split_ties = choosing.search(project, encoder, asked, MAX_CANDIDATES, unread=unread, progress=progress)
    seen = frame_search.search(project, clip, asked, MAX_CANDIDATES, progress=progress) if clip else None
    beside: dict[QueryId, list[Listed]] = {}
    for source, rows in ((CAPTIONS, similar), (VISUAL, seen.rows if seen else ())):
        for row in rows:
            beside.setdefault(row.query_id, []).append((row.moment_id, row.rank, row.similarity, source))
    merging = merging_of(material, options)
    found = merge_found(merging, asked, beside, progress)
    size = batch_size or project.campaign.batch_size
    report = replace(
        report_on(project, material, merging, found, asked),
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
        ids = store_moments(db, merging)
        similarity = {(row.query_id, row.moment_id): row.similarity for row in similar}
        for query_id, candidates in found.items():
            append_to_list(db, query_id, candidates, ids, similarity, report.encoder)
            lists.open_batch(db, campaign, query_id, 1, at=now, by=by.annotator_id)
        spans = merging.found_spans(found, ids)
        if report.encoder:
            captions = CandidateSource(SourceKind.CAPTIONS, report.encoder, None, MAX_CANDIDATES)
            lists.add_source(db, captions, spans.get(CAPTIONS, ()), at=now, by=by.annotator_id)
        if report.visual:
            frames = CandidateSource(SourceKind.VISUAL, report.visual, None, MAX_CANDIDATES)
            lists.add_source(db, frames, spans.get(VISUAL, ()), at=now, by=by.annotator_id)
        add_runs(db, by, material, options, spans, part=1, now=now)
        what = {"encoder": report.encoder, "queries": report.queries, "candidates": report.candidates}
        if report.visual:
            what["visual"] = report.visual
        record_pooling(db, CANDIDATES_CHOSEN, by, report, options, what, now=now)
    return report


def _pool_again(
    project: Project,
    by: Lead | Operator,
    given: Given,
    options: CandidatePooling,
    *,
    dry_run: bool,
    now: float,
    progress: Progress | None,
) -> PoolingReport:
    """Add to the lists what later runs found, and hand out, as one batch a query, what of it is new."""
    asked = choosing.to_judge(project, None)
    if not lists.any_batch(project.store.db):
        raise ProjectError(said("there are no candidate lists yet that runs could add to: leave --again out"))
    material = material_of(project, given, options)
    merging = merging_of(material, options)
    beside = {
        query_id: [(moment_id, None, 0.0, CAPTIONS) for moment_id in moments]
        for query_id, moments in material.listed.items()
    }
    found = merge_found(merging, asked, beside, progress)
    new = {
        query_id: [one for one in candidates if one.moment_id not in material.listed.get(query_id, ())]
        for query_id, candidates in found.items()
    }
    ask = {
        query_id: [one for one in candidates if one.moment_id not in material.handed_out.get(query_id, ())]
        for query_id, candidates in found.items()
    }
    report = replace(
        report_on(project, material, merging, found, asked),
        candidates=sum(map(len, new.values())),
        pairs=sum(map(len, ask.values())),
    )
    if dry_run:
        return report
    with writing(project.store) as db:
        require_unchanged(db, material)
        lists.list_pairs(db)
        part = max(1, lists.last_part(db)) + 1
        campaign, numbers = facts.campaign(db), lists.open_batches(db)
        ids = store_moments(db, merging)
        for query_id in found:
            append_to_list(db, query_id, new[query_id], ids, {}, None)
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
        add_runs(db, by, material, options, merging.found_spans(found, ids), part=part, now=now)
        what = {"queries": report.queries, "candidates": report.candidates, "pairs": report.pairs}
        record_pooling(db, CANDIDATES_ADDED, by, report, options, what, now=now)
    return replace(report, part=part)
