"""Create a project in which people check a file of pools (does each whole video match?), and report the result.

*Reads* a file of pools, the video files, verdicts. *Writes* a whole project: video, moment, caption, query, candidate,
batch, pair, seat, pool_check, pool_place, one event. All input is checked before the folder is made.
"""

import hashlib
from collections.abc import Sequence
from dataclasses import replace
from math import ceil
from pathlib import Path

from backend.campaign.corpus.importing import rows as corpus
from backend.campaign.corpus.importing.model import END_SLACK_S, CaptionedMoment
from backend.campaign.nouns import Lead, Operator, Split, Verdict
from backend.campaign.selection.candidates import rows as candidates_rows
from backend.campaign.selection.candidates.rows import CandidateRow
from backend.campaign.selection.pools import model as pools_model
from backend.campaign.selection.pools import rows
from backend.campaign.selection.pools.model import (
    POOL_CHECK_MADE,
    CheckedQuery,
    CheckFacts,
    CheckReport,
    CheckSample,
    PutInAs,
    SampleReport,
    Share,
    WrongVideo,
)
from backend.campaign.selection.pools.rows import PoolPlace
from backend.campaign.selection.pools.similarity import query_video, video_starts
from backend.campaign.selection.queries import rows as query_rows
from backend.campaign.selection.queries.model import OwnQuery
from backend.campaign.setup.people.permissions import in_charge
from backend.campaign.setup.project import folder as projects
from backend.campaign.setup.project import rows as project_rows
from backend.campaign.setup.project import scale_file
from backend.campaign.setup.project.folder import MAX_CANDIDATES, Project
from backend.core.errors import InputError, Problem, ProjectError, VideoUnreadable
from backend.core.ids import MomentId, QueryId
from backend.core.progress import Progress, steps_of
from backend.core.reading import file_bytes, unpack
from backend.core.typed_text import is_visible
from backend.encoders import sentence
from backend.encoders.sentence import Encoder
from backend.media.probe import probe
from backend.media.sources import VideoFacts
from backend.media.video_folder import VideoFolder
from backend.scoring.pools.files import parse_pools
from backend.scoring.pools.model import Pools
from backend.scoring.statistics.distributions import wilson
from backend.store import events
from backend.store.connection import Database, reading

QUERIES = 100
"""Queries in a sample by default: as many as the paper checked."""
NEGATIVES = 5
"""Negatives for each query by default; the paper's annotators looked at whole pools."""


def make_pool_check(
    file: Path,
    folder: Path,
    videos: Path,
    *,
    queries: int = QUERIES,
    negatives: int | None = NEGATIVES,
    seed: int = 0,
    encoder: str | None = None,
    kind: str | None = None,
    now: float,
    progress: Progress | None = None,
) -> tuple[Project, SampleReport]:
    """Create a project in which people check a sample of a file of pools: does a whole video match its query?

    The people do not see whether a video is a positive or a negative in the pool.

    Args:
        file: the file of pools.
        folder: the folder of the new project.
        videos: the folder of the video files.
        queries: how many queries to draw; if fewer can be checked, all of them are drawn.
        negatives: how many negatives to draw from each pool at most; None draws all of them, as in the paper.
        seed: seeds the draw.
        encoder: computes the similarity of query and video, which is stored with each pair and never shown to
            annotators; MiniLM if None.
        kind: kind of the encoder that `encoder` names.
        now: seconds since 1970.
        progress: called with (name of the step, number done, number of all).

    Raises:
        InputError: everything that is wrong with the file or the videos, or that the file has no query to check. No
            project was made.
        ProjectError: the folder is a project already, `queries` or `negatives` is too low, or the folder of videos
            cannot be read.
        EncoderUnavailable: the encoder cannot be found.
    """
    spec = sentence.resolve(encoder or sentence.MINILM, kind)
    loaded = sentence.load(spec)
    grading = scale_file.load_scale(scale_file.MATCHES)
    projects.require_none(folder, grading)
    if queries < 1 or (negatives is not None and negatives < 0):
        raise ProjectError(f"cannot check {queries} queries with {negatives} negatives: ask for 1 or more of each")
    content = file_bytes(file)
    pools = parse_pools(unpack(content, str(file)), str(file))
    sample = pools_model.draw_sample(pools, queries, negatives, seed)
    _require_checkable(sample, str(file))
    names = list(dict.fromkeys(video for checked in sample.drawn for video in checked.videos))
    sentences = _collect_sentences(pools, names, str(file))
    video_facts = _measure_videos(names, videos, progress)
    similarities = _compute_similarities(loaded, sample.drawn, sentences, progress)

    project = projects.create(folder, encoder=spec.name, encoder_kind=spec.kind, grading=grading)
    stored = {name: replace(facts, path=project.stored_path(Path(facts.path))) for name, facts in video_facts.items()}
    check_facts = CheckFacts(
        file.name,
        hashlib.sha256(content).hexdigest(),
        seed,
        sample.checkable,
        len(sample.drawn),
        max(len(checked.negatives) for checked in sample.drawn) if negatives is None else negatives,
    )
    with projects.filling(project) as db:
        _add_check(db, sample, sentences, stored, similarities, loaded.identity, check_facts, now)
    counts = {role: sum(len(getattr(query, role)) for query in sample.drawn) for role in ("positives", "negatives")}
    notes = tuple(_notes(pools, sample, video_facts, queries))
    return project, SampleReport(
        len(sample.drawn), sample.checkable, len(names), **counts, encoder=loaded.identity, notes=notes
    )


def _require_checkable(sample: CheckSample, file: str) -> None:
    if not sample.drawn:
        raise InputError.single(file, "has no query with a full pool and a video other than its own")
    problems = [
        Problem(file, None, f"query {checked.query.query_id} has no added positive: ask for negatives too")
        for checked in sample.drawn
        if not checked.videos
    ]
    if problems:
        raise InputError(problems)


def _collect_sentences(pools: Pools, names: Sequence[str], file: str) -> dict[str, list[str]]:
    """Map each video to the distinct sentences that the file has about it.

    First come the sentences that the file lists for the video itself. Then come sentences of queries' pools in which a
    moment of this video is a positive.
    """
    name_set = set(names)
    elsewhere = (moment for query in pools.queries for moment in query.positives)
    texts_by_video: dict[str, dict[str, None]] = {name: {} for name in names}
    for moment in (*(moment for name in names for moment in pools.moments[name]), *elsewhere):
        if moment.video in name_set and is_visible(moment.sentence):
            texts_by_video[moment.video][moment.sentence.strip()] = None
    sentences = {name: list(texts) for name, texts in texts_by_video.items()}
    if silent := [name for name, texts in sentences.items() if not texts]:
        raise InputError.single(file, f"has no sentence about {len(silent)} videos: {', '.join(silent)}")
    return sentences


def _measure_videos(names: Sequence[str], videos: Path, progress: Progress | None) -> dict[str, VideoFacts]:
    """Find and measure every video; if any is missing, name all missing ones in one line and measure none."""
    try:
        folder = VideoFolder(videos)
    except VideoUnreadable as error:
        raise ProjectError(str(error)) from error
    paths: dict[str, Path] = {}
    missing, problems = [], []
    for name in names:
        try:
            paths[name] = folder.find(name)
        except VideoUnreadable:
            missing.append(name)
    video_facts: dict[str, VideoFacts] = {}
    report = steps_of(progress, "measuring videos")
    for done, (name, path) in enumerate(paths.items(), start=1):
        if missing:
            break  # measuring takes long, and the folder is probably the wrong one
        try:
            video_facts[name] = probe(path)
        except VideoUnreadable as error:
            problems.append(Problem(str(videos), None, str(error)))
        if report:
            report(done, len(paths))
    if missing:
        subject = "1 video of the sample is" if len(missing) == 1 else f"{len(missing)} videos of the sample are"
        problems.append(Problem(str(videos), None, f"{subject} not here: {', '.join(missing)}"))
    if problems:
        raise InputError(problems)
    return video_facts


def _compute_similarities(
    encoder: Encoder, drawn: Sequence[CheckedQuery], sentences: dict[str, list[str]], progress: Progress | None
) -> dict[tuple[str, str], float]:
    """Return the similarity of each drawn query to each of its videos, by (query id, video).

    It is the highest similarity of the query to a sentence of the video.
    """
    texts = list(
        dict.fromkeys(
            [*(checked.query.text for checked in drawn), *(text for texts in sentences.values() for text in texts)]
        )
    )
    vectors = encoder.encode(texts, progress=steps_of(progress, "encoding queries and sentences"))
    row = {text: number for number, text in enumerate(texts)}
    similarities: dict[tuple[str, str], float] = {}
    for checked in drawn:
        entries = [(video, row[text]) for video in checked.videos for text in sentences[video]]
        starts = video_starts([video for video, _ in entries])
        values = query_video(vectors[[row[checked.query.text]]], vectors[[number for _, number in entries]], starts)[0]
        similarities |= {
            (checked.query.query_id, video): float(value) for video, value in zip(checked.videos, values, strict=True)
        }
    return similarities


def _add_check(
    db: Database,
    sample: CheckSample,
    sentences: dict[str, list[str]],
    video_facts: dict[str, VideoFacts],
    similarities: dict[tuple[str, str], float],
    made_by: str,
    check_facts: CheckFacts,
    now: float,
) -> None:
    durations = {video: facts.duration_s for video, facts in video_facts.items()}
    moments = (
        CaptionedMoment(video, 0.0, durations[video], text, row)
        for row, (video, text) in enumerate(
            ((video, text) for video, texts in sentences.items() for text in texts), start=1
        )
    )
    corpus.add_moments(db, moments, durations, video_facts)
    moment_of = rows.whole_moments(db)
    own_queries = [
        OwnQuery(" ".join(checked.query.text.split()), Split.TEST, f"{check_facts.file} {checked.query.query_id}", row)
        for row, checked in enumerate(sample.drawn, start=1)
    ]
    query_rows.add_own(db, own_queries)
    ids = {query.text: query.query_id for query in query_rows.query_rows(db)}
    candidates, places = [], []
    moments_by_rank: dict[QueryId, list[MomentId]] = {}
    for own_query, checked in zip(own_queries, sample.drawn, strict=True):
        query_id = ids[own_query.text]
        ranked = sorted(checked.videos, key=lambda video: (-similarities[checked.query.query_id, video], video))
        for rank, video in enumerate(ranked, start=1):
            candidates.append(
                CandidateRow(query_id, rank, moment_of[video], similarities[checked.query.query_id, video])
            )
            kind = PutInAs.POSITIVE if video in checked.positives else PutInAs.NEGATIVE
            places.append((query_id, moment_of[video], kind))
        moments_by_rank[query_id] = [moment_of[video] for video in ranked]
    size = pools_model.even_size(max(map(len, moments_by_rank.values())), MAX_CANDIDATES)
    project_rows.set_batch_size(db, size)
    candidates_rows.add_candidates(db, candidates, made_by, at=now)
    rows.add(db, check_facts, places)
    campaign = project_rows.campaign(db)
    for query_id, by_rank in moments_by_rank.items():
        batches = ceil(len(by_rank) / size)
        for number in range(1, batches + 1):
            # Batches by rank would put most positives into the first one, so the ranks take turns.
            batch = by_rank[number - 1 :: batches]
            candidates_rows.open_batch_of(db, campaign, query_id, number, batch, at=now, by=None)
    events.record(
        db,
        POOL_CHECK_MADE,
        at=now,
        actor=None,
        subject=f"file:{check_facts.file}",
        payload={
            "sha256": check_facts.sha256,
            "seed": check_facts.seed,
            "queries": check_facts.drawn,
            "pairs": len(places),
        },
    )


def _notes(pools: Pools, sample: CheckSample, video_facts: dict[str, VideoFacts], requested: int) -> list[str]:
    notes = []
    if sample.checkable < requested:
        notes.append(f"only {sample.checkable} queries can be checked: all of them were taken")
    for count, why in (
        (sample.repeated, "have the same text as an earlier one"),
        (sample.short, "have a short pool"),
        (sample.alone, "have only their own video in their pool"),
    ):
        if count:
            notes.append(f"{count} queries could not be drawn: they {why}")
    changed = [
        f"{video} lasts {facts.duration_s:.1f} s, not {pools.durations[video]:.1f} s"
        for video, facts in video_facts.items()
        if abs(facts.duration_s - pools.durations[video]) > END_SLACK_S
    ]
    if changed:
        more = f", and {len(changed) - 1} more differ" if len(changed) > 1 else ""
        notes.append(f"a video has another length than in the file: {changed[0]}{more}")
    return notes


MATCHES = 1
"""The grade for a video that matches its query."""


@in_charge
def pool_check_report(project: Project, by: Lead | Operator) -> CheckReport | None:
    """Return the shares of positives and negatives that people found wrong; None if the project checks no pools."""
    with reading(project.store) as db:
        facts, places = rows.facts(db), rows.places(db)
    if facts is None:
        return None
    by_role = {kind: [place for place in places if place.put_in_as is kind] for kind in PutInAs}
    return CheckReport(
        facts,
        _share(by_role[PutInAs.POSITIVE]),
        _share(by_role[PutInAs.NEGATIVE]),
        _share(places),
        tuple(
            WrongVideo(place.query, place.source, place.video, place.put_in_as) for place in places if _is_wrong(place)
        ),
    )


def _is_wrong(place: PoolPlace) -> bool:
    return place.relevance is not None and (place.relevance == MATCHES) != (place.put_in_as is PutInAs.POSITIVE)


def _share(places: Sequence[PoolPlace]) -> Share:
    settled = [place for place in places if place.relevance is not None]
    wrong = sum(map(_is_wrong, settled))
    low, high = wilson(wrong, len(settled)) if settled else (None, None)
    return Share(
        settled=len(settled),
        wrong=wrong,
        share=wrong / len(settled) if settled else None,
        low=low,
        high=high,
        waiting=sum(not place.verdict.is_settled for place in places),
        undecided=sum(place.verdict is Verdict.DISCARDED for place in places),
    )
