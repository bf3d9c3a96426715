"""Create a project in which people check a file of pools (does each whole video match?), and report the result.

*Reads* a file of pools, the video files, verdicts. *Writes* a whole project: video, moment, caption, query, candidate,
batch, pair, seat, pool_check, pool_place, one event. All input is checked before the folder is made.
"""

import hashlib
from collections.abc import Sequence
from dataclasses import replace
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
    MadeReport,
    PutInAs,
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
from backend.core.progress import Progress, named
from backend.core.reading import bytes_of, unpack
from backend.core.typed_text import is_visible
from backend.encoders import sentence
from backend.encoders.sentence import Encoder
from backend.media.probe import probe
from backend.media.sources import VideoFacts
from backend.media.video_folder import VideoFolder
from backend.scoring.pools.files import pools_of
from backend.scoring.pools.model import Pools
from backend.scoring.statistics.distributions import wilson
from backend.store import events
from backend.store.connection import Database, reading, writing

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
    negatives: int = NEGATIVES,
    seed: int = 0,
    encoder: str | None = None,
    kind: str | None = None,
    now: float,
    progress: Progress | None = None,
) -> tuple[Project, MadeReport]:
    """Create a project in which people check a sample of a file of pools: does a whole video match its query?

    People do not see whether the pool has a video as positive or negative.

    Args:
        file: the file of pools.
        folder: the folder of the new project.
        videos: the folder of the video files.
        queries: how many queries to draw; all that can be checked, if these are fewer.
        negatives: the most negatives to draw from each pool.
        seed: seeds the draw.
        encoder: computes the similarity of query and video, which is stored with each pair and never shown to
            annotators; MiniLM if None.
        kind: kind of the encoder.
        now: seconds since 1970.
        progress: called with (name of the step, number done, number of all).

    Raises:
        InputError: everything that is wrong with the file, or with the videos; nothing was made. Also if the file has
            no query that can be checked.
        ProjectError: the folder is a project already, `queries` or `negatives` is too low, or the folder of videos
            cannot be read.
        EncoderUnavailable: the encoder cannot be found.
    """
    spec = sentence.resolve(encoder or sentence.MINILM, kind)
    loaded = sentence.load(spec)
    projects.require_none(folder)
    if queries < 1 or negatives < 0:
        raise ProjectError(f"cannot check {queries} queries with {negatives} negatives: ask for 1 or more of each")
    content = bytes_of(file)
    pools = pools_of(unpack(content, str(file)), str(file))
    drawn = pools_model.draw_sample(pools, queries, negatives, seed, most=MAX_CANDIDATES)
    _require_checkable(drawn, str(file))
    names = list(dict.fromkeys(video for one in drawn.drawn for video in one.videos))
    sentences = _sentences(pools, names, str(file))
    measured = _measured(names, videos, progress)
    similar = _similarities(loaded, drawn.drawn, sentences, progress)

    grading = scale_file.named(scale_file.MATCHES)
    project = projects.create(folder, encoder=spec.name, encoder_kind=spec.kind, grading=grading)
    stored = {video: replace(one, path=project.stored_path(Path(one.path))) for video, one in measured.items()}
    found = CheckFacts(
        file.name, hashlib.sha256(content).hexdigest(), seed, drawn.checkable, len(drawn.drawn), negatives
    )
    with projects.undone_if_it_fails(project), writing(project.store) as db:
        _add(db, drawn, sentences, stored, similar, loaded.identity, found, now)
    counts = {role: sum(len(getattr(one, role)) for one in drawn.drawn) for role in ("positives", "negatives")}
    notes = tuple(_notes(pools, drawn, measured, queries))
    return project, MadeReport(
        len(drawn.drawn), drawn.checkable, len(names), **counts, encoder=loaded.identity, notes=notes
    )


def _require_checkable(drawn: CheckSample, file: str) -> None:
    if not drawn.drawn:
        raise InputError.single(file, "has no query with a full pool and a video other than its own")
    problems = []
    for one in drawn.drawn:
        if len(one.positives) > MAX_CANDIDATES:
            why = f"has {len(one.positives)} added positives: at most {MAX_CANDIDATES} videos of a query can be checked"
        elif not one.videos:
            why = "has no added positive: ask for negatives too"
        else:
            continue
        problems.append(Problem(file, None, f"query {one.query.query_id} {why}"))
    if problems:
        raise InputError(problems)


def _sentences(pools: Pools, names: Sequence[str], file: str) -> dict[str, list[str]]:
    """Return the distinct sentences that the file has about each video.

    The video's own sentences come first, then those of its moments that are positives of a query.
    """
    wanted = set(names)
    elsewhere = (moment for query in pools.queries for moment in query.positives)
    said: dict[str, dict[str, None]] = {name: {} for name in names}
    for moment in (*(moment for name in names for moment in pools.moments[name]), *elsewhere):
        if moment.video in wanted and is_visible(moment.sentence):
            said[moment.video][moment.sentence.strip()] = None
    found = {name: list(texts) for name, texts in said.items()}
    if silent := [name for name, texts in found.items() if not texts]:
        raise InputError.single(file, f"has no sentence about {len(silent)} videos: {', '.join(silent)}")
    return found


def _measured(names: Sequence[str], videos: Path, progress: Progress | None) -> dict[str, VideoFacts]:
    """Find and measure every video; if any is missing, name all missing ones in one line and measure none."""
    try:
        there = VideoFolder(videos)
    except VideoUnreadable as error:
        raise ProjectError(str(error)) from error
    paths: dict[str, Path] = {}
    missing, problems = [], []
    for name in names:
        try:
            paths[name] = there.find(name)
        except VideoUnreadable:
            missing.append(name)
    found: dict[str, VideoFacts] = {}
    report = named(progress, "measuring videos")
    for done, (name, path) in enumerate(paths.items(), start=1):
        if missing:
            break  # measuring takes long, and the folder is probably the wrong one
        try:
            found[name] = probe(path)
        except VideoUnreadable as error:
            problems.append(Problem(str(videos), None, str(error)))
        if report:
            report(done, len(paths))
    if missing:
        what = "1 video of the sample is" if len(missing) == 1 else f"{len(missing)} videos of the sample are"
        problems.append(Problem(str(videos), None, f"{what} not here: {', '.join(missing)}"))
    if problems:
        raise InputError(problems)
    return found


def _similarities(
    encoder: Encoder, drawn: Sequence[CheckedQuery], sentences: dict[str, list[str]], progress: Progress | None
) -> dict[tuple[str, str], float]:
    """Return s_te of every query with each of its videos, by (query id, video)."""
    texts = list(
        dict.fromkeys([*(one.query.text for one in drawn), *(text for said in sentences.values() for text in said)])
    )
    vectors = encoder.encode(texts, progress=named(progress, "encoding queries and sentences"))
    row = {text: number for number, text in enumerate(texts)}
    found: dict[tuple[str, str], float] = {}
    for one in drawn:
        said = [(video, row[text]) for video in one.videos for text in sentences[video]]
        starts = video_starts([video for video, _ in said])
        values = query_video(vectors[[row[one.query.text]]], vectors[[place for _, place in said]], starts)[0]
        found |= {(one.query.query_id, video): float(value) for video, value in zip(one.videos, values, strict=True)}
    return found


def _add(
    db: Database,
    drawn: CheckSample,
    sentences: dict[str, list[str]],
    measured: dict[str, VideoFacts],
    similar: dict[tuple[str, str], float],
    made_by: str,
    found: CheckFacts,
    now: float,
) -> None:
    durations = {video: one.duration_s for video, one in measured.items()}
    moments = (
        CaptionedMoment(video, 0.0, durations[video], text, row)
        for row, (video, text) in enumerate(
            ((video, text) for video, texts in sentences.items() for text in texts), start=1
        )
    )
    corpus.add_moments(db, moments, durations, measured)
    moment_of = rows.whole_moments(db)
    asked = [
        OwnQuery(" ".join(one.query.text.split()), Split.TEST, f"{found.file} {one.query.query_id}", row)
        for row, one in enumerate(drawn.drawn, start=1)
    ]
    query_rows.add_own(db, asked)
    ids = {query.text: query.query_id for query in query_rows.query_rows(db)}
    candidates, places = [], []
    for mine, one in zip(asked, drawn.drawn, strict=True):
        query_id = ids[mine.text]
        ranked = sorted(one.videos, key=lambda video: (-similar[one.query.query_id, video], video))
        for rank, video in enumerate(ranked, start=1):
            candidates.append(CandidateRow(query_id, rank, moment_of[video], similar[one.query.query_id, video]))
            kind = PutInAs.POSITIVE if video in one.positives else PutInAs.NEGATIVE
            places.append((query_id, moment_of[video], kind))
    project_rows.set_batch_size(db, max(len(one.videos) for one in drawn.drawn))
    candidates_rows.add_candidates(db, candidates, made_by, at=now)
    rows.add(db, found, places)
    campaign = project_rows.campaign(db)
    for mine in asked:
        candidates_rows.open_batch(db, campaign, ids[mine.text], 1, at=now, by=None)
    events.record(
        db,
        POOL_CHECK_MADE,
        at=now,
        actor=None,
        subject=f"file:{found.file}",
        payload={"sha256": found.sha256, "seed": found.seed, "queries": found.drawn, "pairs": len(places)},
    )


def _notes(pools: Pools, drawn: CheckSample, measured: dict[str, VideoFacts], wanted: int) -> list[str]:
    notes = []
    if drawn.checkable < wanted:
        notes.append(f"only {drawn.checkable} queries can be checked: all of them were taken")
    for count, why in (
        (drawn.repeated, "have the same text as an earlier one"),
        (drawn.short, "have a short pool"),
        (drawn.alone, "have only their own video in their pool"),
    ):
        if count:
            notes.append(f"{count} queries could not be drawn: they {why}")
    other = [
        f"{video} lasts {one.duration_s:.1f} s, not {pools.durations[video]:.1f} s"
        for video, one in measured.items()
        if abs(one.duration_s - pools.durations[video]) > END_SLACK_S
    ]
    if other:
        more = f", and {len(other) - 1} more differ" if len(other) > 1 else ""
        notes.append(f"a video has another length than in the file: {other[0]}{more}")
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
    of = {kind: [place for place in places if place.put_in_as is kind] for kind in PutInAs}
    return CheckReport(
        facts,
        _share(of[PutInAs.POSITIVE]),
        _share(of[PutInAs.NEGATIVE]),
        _share(places),
        tuple(WrongVideo(one.query, one.source, one.video, one.put_in_as) for one in places if _is_wrong(one)),
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
