"""Read the files of a finished campaign for a replay: its raw annotations, its pairs, and the runs to score.

Reads: the CSV of raw annotations, the CSV of pairs, run files, perhaps a video map. Writes nothing.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from backend.campaign.nouns import Rounding
from backend.campaign.release.earlier.model import EarlierCampaign, EarlierPair
from backend.campaign.release.earlier.rules.campaign_files import read_campaign
from backend.campaign.release.earlier.rules.raw_annotation import RawAnnotations, read_raw
from backend.campaign.release.replay.model import GivenGrades
from backend.core.errors import InputError, Problem
from backend.core.reading import file_bytes
from backend.scoring.collected_problems import read_or_collect
from backend.scoring.files.formats import read_run, read_videos
from backend.scoring.matching.columns import Run, Truth, offsets_of


@dataclass(frozen=True, slots=True)
class ReplayFiles:
    """What a replay works on: the grades, every pair as a moment of a truth in the same order, and the runs.

    Only queries that a run answers are in it. All relevances of `truth` are 1; a policy's own take their place.
    """

    given: GivenGrades
    truth: Truth
    runs: tuple[Run, ...]
    warnings: tuple[str, ...]


def read_files(
    raw: Path,
    pairs: Path,
    runs: Mapping[str, Path],
    videos: Path | None,
    *,
    highest: int,
    tolerance: int,
    rounding: Rounding,
    batch_size: int,
) -> ReplayFiles:
    """Read and check the files of a replay.

    Args:
        raw: CSV with the columns pair_id, worker, relevance and perhaps those of a release's `raw_annotation.csv`.
        pairs: CSV as `raw_query_moment_pair.csv`, with the column query_id.
        runs: the file of each run by its name.
        videos: a map of videos for runs with video indices.
        highest: the highest grade of the scale.
        tolerance: how far two grades may differ and still agree.
        rounding: how a mean of x.5 is rounded.
        batch_size: the number of pairs of a batch.

    Raises:
        InputError: lists the problems of the files; or fewer than two runs, or no run answers a query of the pairs.
    """
    if len(runs) < 2:
        raise InputError.single("runs", "a replay compares the order of systems: give at least two runs")
    raw_bytes = file_bytes(raw)
    campaign = read_campaign(raw_bytes, raw.name, file_bytes(pairs), pairs.name, highest=highest)
    problems = list(campaign.problems)
    if any(pair.query_id is None for pair in campaign.pairs):
        problems.append(Problem(pairs.name, 1, "a replay needs the column query_id, by which runs name queries"))
    if problems:
        raise InputError(problems)
    handed_out, left_out = _handed_out(campaign)
    if not handed_out:
        raise InputError.single(pairs.name, f"has none of the pairs that {raw.name} grades")
    annotations = read_raw(raw_bytes, raw.name, highest)
    given = _given(campaign, handed_out, annotations, tolerance, rounding, batch_size)
    truth = _truth(handed_out, pairs.name)
    names = None if videos is None else read_videos(videos)
    read = [read_or_collect(problems, read_run, path, names, truth) for path in runs.values()]
    if problems:
        raise InputError(problems)
    found = tuple(run for run in read if run is not None)
    answered = {str(query) for run in found for query in run.queries}
    wanted = np.array([str(query) in answered for query in truth.queries])
    if not wanted.any():
        raise InputError.single(pairs.name, "no run answers any of its queries: compare query_id with the runs")
    warnings = [f"{left_out:,} graded pairs are not in {pairs.name} and were left out"] if left_out else []
    if unanswered := int((~wanted).sum()):
        warnings.append(f"{unanswered:,} queries that no run answers were left out")
    return ReplayFiles(given.of_queries(wanted), truth.of_queries(wanted), found, tuple(warnings))


def _handed_out(campaign: EarlierCampaign) -> tuple[list[EarlierPair], int]:
    """Return the graded pairs by query and rank, and how many graded pairs the file of pairs lacks."""
    graded = {grade.pair_id for grade in campaign.grades}
    place: dict[str, int] = {}
    for pair in campaign.pairs:
        place.setdefault(pair.query, len(place))
    known = [pair for pair in campaign.pairs if pair.pair_id in graded]
    known.sort(key=lambda pair: (place[pair.query], pair.rank))
    return known, len(graded) - len(known)


def _given(
    campaign: EarlierCampaign,
    pairs: Sequence[EarlierPair],
    raw: RawAnnotations,
    tolerance: int,
    rounding: Rounding,
    batch_size: int,
) -> GivenGrades:
    """Return the grades of the pairs; `raw` has the leads' decisions, and says whether the file tells rounds."""
    decided = dict(zip(map(int, raw.pairs), raw.decided.tolist(), strict=True))
    number = {pair.pair_id: place for place, pair in enumerate(pairs)}
    people = {worker: place for place, worker in enumerate(campaign.workers)}
    timed = all(grade.graded_at is not None for grade in campaign.grades)
    rows = sorted(
        (number[grade.pair_id], (grade.seat_no + 1) // 2, grade.graded_at or 0.0, people[grade.worker], grade.grade)
        for grade in campaign.grades
        if grade.pair_id in number
    )
    columns = list(zip(*rows, strict=True))
    pair, round_no, annotator, grade = (np.array(columns[at], dtype=np.int64) for at in (0, 1, 3, 4))
    queries = list(dict.fromkeys(pair.query for pair in pairs))
    query_of = {query: place for place, query in enumerate(queries)}
    return GivenGrades(
        query=np.array([query_of[one.query] for one in pairs], dtype=np.int64),
        batch=np.array([(one.rank - 1) // batch_size + 1 for one in pairs], dtype=np.int64),
        decided=np.array([decided.get(one.pair_id, -1) for one in pairs], dtype=np.int64),
        re_opened=np.array([one.pair_id in campaign.re_opened for one in pairs], dtype=bool),
        pair=pair,
        annotator=annotator,
        grade=grade,
        round=round_no if timed or raw.round.all() else np.zeros_like(round_no),
        timed=timed,
        highest=raw.highest,
        tolerance=tolerance,
        rounding=rounding,
    )


def _truth(pairs: Sequence[EarlierPair], file: str) -> Truth:
    """Return the pairs as a truth in which every moment has relevance 1, in the order of `pairs`."""
    queries = list(dict.fromkeys(pair.query_id for pair in pairs))
    place = {query: number for number, query in enumerate(queries)}
    query = np.array([place[pair.query_id] for pair in pairs], dtype=np.int64)
    videos = list(dict.fromkeys(pair.span[0] for pair in pairs))
    video_of = {name: number for number, name in enumerate(videos)}
    offsets = offsets_of(np.bincount(query))
    row = np.array([pair.row for pair in pairs], dtype=np.int64)
    return Truth(
        file=file,
        queries=tuple(number for number in queries if number is not None),
        query_rows=tuple(row[offsets[:-1]].tolist()),
        offsets=offsets,
        videos=tuple(videos),
        video=np.array([video_of[pair.span[0]] for pair in pairs], dtype=np.int64),
        start_s=np.array([pair.span[1] for pair in pairs]),
        end_s=np.array([pair.span[2] for pair in pairs]),
        row=row,
        number=np.arange(len(pairs)) - offsets[:-1][query] + 1,
        relevance=np.ones(len(pairs)),
    )
