"""Pool runs: make candidates of the moments that systems found, with or without those that captions and frames find.

*Reads* run files, queries, videos, moments, candidates, pairs. *Writes* vectors of frames, moment, candidate, source,
candidate_source, batch, pair, seat, events. As at TREC, people judge the union of the runs' best predictions.
Predictions at nearly the same times are one candidate, which is stored with every source that found it. A first pooling
makes the candidate lists and opens their first batches. A later pooling adds candidates that annotators were never
given, and opens a batch with them.
"""

import hashlib
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from backend.campaign.corpus.importing import rows as corpus
from backend.campaign.nouns import Lead, Operator
from backend.campaign.selection.candidates import choosing
from backend.campaign.selection.candidates import rows as candidates_rows
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
from backend.campaign.selection.candidates.rows import CandidateRow
from backend.campaign.selection.candidates.submitted_runs import CAPTIONS, VISUAL, CandidatePooling, Listed, Place
from backend.campaign.selection.queries import rows as queries
from backend.campaign.selection.queries.model import QUERIES_TAKEN_BACK, QueryRow
from backend.campaign.setup.people.permissions import in_charge
from backend.campaign.setup.project import rows as project_rows
from backend.campaign.setup.project.folder import MAX_CANDIDATES, Project
from backend.campaign.setup.project.sentence_encoder import load_encoder
from backend.core.errors import InputError, ProjectError, VideoUnreadable
from backend.core.ids import MomentId, QueryId
from backend.core.messages import said
from backend.core.progress import Progress, steps_of
from backend.core.reading import file_bytes
from backend.core.where import HERE, Where, placed
from backend.encoders.clip import FOR_CANDIDATES, Clip, load_clip, of_span
from backend.encoders.search import QUERIES_AT_ONCE, Captions
from backend.media.frames import keep_frames, vectors_of
from backend.scoring.run_files import named_files
from backend.store import events
from backend.store.connection import reading, writing


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
    """Make candidates of what runs and captions find, and give the first batch of each query to annotators.

    Args:
        project: the project.
        by: the person who pools; their name goes on record.
        runs: files of runs; may be empty if `visual` is given.
        options: the depth, and the overlap from which spans are one candidate.
        captions: whether candidates are also found by captions, under the project's encoder.
        visual: a CLIP model, or its folder, that looks at the frames of moments; None leaves frames out.
        again: add to existing lists what further runs found, and open one batch for each query with these candidates.
            Captions are not searched then, and the size of a batch stays as it is.
        batch_size: number of candidates in a batch from now on; None leaves it as it is.
        dry_run: only report what would change, and write nothing.
        where: where sentences and frames are encoded.
        now: seconds since 1970.
        progress: called with (name of the step, number done, number of all).

    Raises:
        InputError: with everything that is wrong with the runs; nothing is written then.
        AlreadyDone: exactly this was pooled before.
        ProjectError: there are no queries yet; candidate lists exist already, or with `again` do not exist yet; or the
            batch size, depth or overlap is out of range.
        EncoderUnavailable: the encoder or the CLIP model cannot be found or built.
    """
    options = options or CandidatePooling()
    files = [(run.name, _hash(run.path)) for run in named_files(runs)]
    rest = {"captions": captions, "visual": visual, "batch_size": batch_size}
    asked = choosing.asked_of(project, None, runs=files, options=options, **rest)
    if again:
        undone_by = (QUERIES_TAKEN_BACK,)
        events.refuse_if_done(project.store.db, CANDIDATES_ADDED, now=now, undone_by=undone_by, asked=asked)
        return _pool_again(project, by, runs, options, asked, dry_run=dry_run, now=now, progress=progress)
    choosing.require_not_chosen(project, asked, now=now)
    encoder = load_encoder(project, where) if captions else None
    clip = placed(load_clip(visual, FOR_CANDIDATES), where) if visual else None
    to_judge = choosing.to_judge(project, batch_size)
    material = material_of(project, runs, options, without_runs=clip is not None)
    similar: list[CandidateRow] = []
    split_ties, unread = 0, list[str]()
    if encoder:
        similar, split_ties = choosing.search(
            project, encoder, to_judge, MAX_CANDIDATES, unread=unread, progress=progress
        )
    seen = search_frames(project, clip, to_judge, MAX_CANDIDATES, progress=progress) if clip else None
    beside: dict[QueryId, list[Listed]] = {}
    for source, rows in ((CAPTIONS, similar), (VISUAL, seen.rows if seen else ())):
        for row in rows:
            beside.setdefault(row.query_id, []).append((row.moment_id, row.rank, row.similarity, source))
    merging = merging_of(material, options)
    merged = merge_found(merging, to_judge, beside, progress)
    size = batch_size or project.campaign.batch_size
    report = replace(
        report_on(project, material, merging, merged, to_judge),
        pairs=sum(min(size, len(candidates)) for candidates in merged.values()),
        encoder=encoder.identity if encoder else None,
        split_ties=split_ties,
        unread=tuple(unread),
        visual=seen.identity if seen else None,
        unseen=seen.unseen if seen else (),
    )
    if dry_run:
        return report
    with writing(project.store) as db:
        choosing.require_not_chosen(project, asked, now=now)  # another process may have made some meanwhile
        require_unchanged(db, material)
        if batch_size is not None:
            project_rows.set_batch_size(db, batch_size)
        campaign = project_rows.campaign(db)
        ids = store_moments(db, merging)
        similarity = {(row.query_id, row.moment_id): row.similarity for row in similar}
        for query_id, candidates in merged.items():
            append_to_list(db, query_id, candidates, ids, similarity, report.encoder)
            candidates_rows.open_batch(db, campaign, query_id, 1, at=now, by=by.annotator_id)
        spans = merging.found_spans(merged, ids)
        if report.encoder:
            by_captions = CandidateSource(SourceKind.CAPTIONS, report.encoder, None, MAX_CANDIDATES)
            candidates_rows.add_source(db, by_captions, spans.get(CAPTIONS, ()), at=now, by=by.annotator_id)
        if report.visual:
            by_frames = CandidateSource(SourceKind.VISUAL, report.visual, None, MAX_CANDIDATES)
            candidates_rows.add_source(db, by_frames, spans.get(VISUAL, ()), at=now, by=by.annotator_id)
        add_runs(db, by, material, options, spans, part=1, now=now)
        what = {"encoder": report.encoder, "queries": report.queries, "candidates": report.candidates, "asked": asked}
        if report.visual:
            what["visual"] = report.visual
        record_pooling(db, CANDIDATES_CHOSEN, by, report, options, what, now=now)
    return report


def _hash(file: Path) -> str:
    """Return the SHA-256 of a file; "" if it cannot be read, which reading it again explains."""
    with suppress(InputError):
        return hashlib.sha256(file_bytes(file)).hexdigest()
    return ""


def _pool_again(
    project: Project,
    by: Lead | Operator,
    given: Given,
    options: CandidatePooling,
    asked_for: str,
    *,
    dry_run: bool,
    now: float,
    progress: Progress | None,
) -> PoolingReport:
    """Add to the lists what later runs found, and open one batch for each query with the new candidates."""
    asked = choosing.to_judge(project, None)
    if not queries.any_batch(project.store.db):
        raise ProjectError(said("there are no candidate lists to add to yet: remove --again"))
    material = material_of(project, given, options)
    merging = merging_of(material, options)
    beside = {
        query_id: [(moment_id, None, 0.0, CAPTIONS) for moment_id in moments]
        for query_id, moments in material.listed.items()
    }
    merged = merge_found(merging, asked, beside, progress)
    new = {
        query_id: [
            candidate for candidate in candidates if candidate.moment_id not in material.listed.get(query_id, ())
        ]
        for query_id, candidates in merged.items()
    }
    to_hand_out = {
        query_id: [
            candidate for candidate in candidates if candidate.moment_id not in material.handed_out.get(query_id, ())
        ]
        for query_id, candidates in merged.items()
    }
    report = replace(
        report_on(project, material, merging, merged, asked),
        candidates=sum(map(len, new.values())),
        pairs=sum(map(len, to_hand_out.values())),
    )
    if dry_run:
        return report
    with writing(project.store) as db:
        require_unchanged(db, material)
        candidates_rows.list_pairs(db)
        part = max(1, candidates_rows.last_part(db)) + 1
        campaign, numbers = project_rows.campaign(db), candidates_rows.open_batches(db)
        ids = store_moments(db, merging)
        for query_id in merged:
            append_to_list(db, query_id, new[query_id], ids, {}, None)
            if to_hand_out[query_id]:
                candidates_rows.open_batch_of(
                    db,
                    campaign,
                    query_id,
                    numbers.get(query_id, 0) + 1,
                    [ids.get(candidate.moment_id, candidate.moment_id) for candidate in to_hand_out[query_id]],
                    part=part,
                    at=now,
                    by=by.annotator_id,
                )
        add_runs(db, by, material, options, merging.found_spans(merged, ids), part=part, now=now)
        what = {"queries": report.queries, "candidates": report.candidates, "pairs": report.pairs, "asked": asked_for}
        what["last"] = candidates_rows.last_rows(db)
        record_pooling(db, CANDIDATES_ADDED, by, report, options, what, now=now)
    return replace(report, part=part)


FRAMES_PER_S = 2.0
"""Frames looked at in each second of a video; a moment shorter than a second has at least one."""


@dataclass(frozen=True, slots=True)
class SeenMoments:
    """Moments that were found because their frames are similar to a query, as the model CLIP sees them.

    `rows` has these moments, sorted by query and rank.

    `identity` names the CLIP model. `unseen` names videos that cannot be read, with the reason.
    """

    identity: str
    rows: list[CandidateRow]
    unseen: tuple[str, ...]


def search_frames(
    project: Project, clip: Clip, asked: Sequence[QueryRow], k: int, *, progress: Progress | None = None
) -> SeenMoments:
    """Return the k moments of each query whose frames are most similar to it, under CLIP.

    The score is the coarse part of EMScore, applied to a moment instead of a whole video. Let v_1 ... v_N be the unit
    vectors of its frames, g their mean, and x the unit vector of the query's end token. The score is `x . g / |g|`.
    (Shi et al., EMScore, CVPR 2022; `backend.encoders.emscore` has the whole measure.) Moments of videos whose file is
    not known or cannot be shown are left out.

    Raises:
        EncoderUnavailable: the model cannot be built.
        ProjectError: there is no moment, or no video of any moment can be read.
    """
    with reading(project.store) as db:
        places = queries.moment_places(db)
        names = sorted({place[0] for place in places.values()})
        facts = {name: corpus.video_facts(db, name) for name in names}
    of_video: dict[str, list[tuple[MomentId, Place]]] = {}
    for moment_id, place in places.items():
        of_video.setdefault(place[0], []).append((moment_id, place))
    sources = [project.source(one) for one in facts.values() if one is not None]
    keep_frames(
        clip, sources, project.embeddings, per_s=FRAMES_PER_S, progress=steps_of(progress, said("encoding frames"))
    )
    looking = steps_of(progress, said("looking at videos"))
    unseen = []
    alike: dict[bytes, list[int]] = {}  # moments that show the same frames are as similar to any query
    for done, name in enumerate(names, start=1):
        try:
            if (known := facts[name]) is None:
                raise VideoUnreadable(said("{name}: no file is known", name=name))
            frames = vectors_of(clip, project.source(known), FRAMES_PER_S, project.embeddings)
        except VideoUnreadable as error:
            unseen.append(str(error))
        else:
            for moment_id, (_, start_s, end_s) in of_video[name]:
                alike.setdefault(of_span(frames, start_s, end_s, FRAMES_PER_S).tobytes(), []).append(moment_id)
        if looking:
            looking(done, len(names))
    if not alike:
        none = said("no video of any moment can be read")
        raise ProjectError(said("{none}: {why}", none=none, why=unseen[0]) if unseen else none)
    vectors = np.stack([np.frombuffer(one, dtype=np.float32) for one in alike])
    searched = Captions(vectors, list(alike.values()), queries=len(asked))
    sentences = clip.sentences(
        {query.text for query in asked}, progress=steps_of(progress, said("encoding queries by CLIP"))
    )
    rows: list[CandidateRow] = []
    for start in range(0, len(asked), QUERIES_AT_ONCE):
        block = asked[start : start + QUERIES_AT_ONCE]
        query_vectors = np.stack([sentences[query.text].vectors[-1] for query in block])
        for query, ranking in zip(block, searched.top(query_vectors, k), strict=True):
            rows += [CandidateRow(query.query_id, one.rank, MomentId(one.moment_id), one.similarity) for one in ranking]
    return SeenMoments(f"{clip.identity} frames={FRAMES_PER_S:g}/s", rows, tuple(unseen))
