"""Score all runs stored in a project against one ground truth, and provide video frames for the report.

*Reads* stored truths and runs, pairs with a final grade, releases, the corpus and its video files. *Writes* nothing.
"""

import hashlib
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import SupportsIndex, Unpack

from backend.campaign.corpus.importing import rows as corpus
from backend.campaign.nouns import Lead, Operator
from backend.campaign.release.board import kept_runs, truths
from backend.campaign.release.board import rows as kept_rows
from backend.campaign.release.board.model import Kept
from backend.campaign.release.board.rows import Shelf
from backend.campaign.release.board.truths import OWN_TRUTHS
from backend.campaign.selection.queries import rows as queries
from backend.campaign.setup.people.permissions import in_charge
from backend.campaign.setup.project.folder import Project
from backend.core.errors import InputError, VideoUnreadable
from backend.core.messages import said, said_n
from backend.media.probe import require_unchanged
from backend.media.sources import VideoFacts
from backend.media.strip import film_strip
from backend.scoring.files.facts import Facts, Inputs, Source
from backend.scoring.matching.columns import Run, Truth
from backend.scoring.presets import DEFAULT_K, DEFAULT_MU, Options, Preset, Settings, settle
from backend.scoring.report.page import Film
from backend.scoring.scoreboard import Scoreboard, Setting, score_runs
from backend.scoring.scores import AnswerKey, prepare_run, prepare_truth
from backend.store.connection import reading


@dataclass(frozen=True, slots=True)
class Leaderboard:
    """The scores of all runs stored in a project against one ground truth.

    `inputs` describes the truth and the runs that were scored. `scores` is None if no run could be scored. `left_out`
    maps each run that could not be scored to the reason.
    """

    truth: str
    inputs: Inputs
    scores: Scoreboard | None
    left_out: Mapping[str, str]


@in_charge
def truth_names(project: Project, by: Lead | Operator) -> list[str]:
    """Return the names of all ground truths that a project's runs can be scored against.

    First come the project's own splits, if at least one of their queries is completely graded. Then come the truths of
    releases, and then the stored truths.
    """
    releases = truths.released_truths(project, by)
    with reading(project.store) as db:
        splits = {query.split for query in truths.own_queries(project, by)[0]}
        own = [name for name, split in OWN_TRUTHS.items() if split in splits]
        return [*own, *releases, *_by_choice(kept_rows.listed(db, Shelf.TRUTHS), releases)]


@in_charge
def truth_of_runs(project: Project, by: Lead | Operator, names: Collection[str] | None = None) -> str | None:
    """Return the name of the ground truth that fits most of the named runs; None if no truth fits any.

    A truth fits a run if they share a query. Of several truths that fit equally many runs, the first one is returned.
    If `names` is None, all stored runs are considered.
    """
    answered = kept_rows.answered(project.store.db, Shelf.RUNS)
    return _fitting(_answers(project, by), [ids for name, ids in answered.items() if names is None or name in names])


def _fitting(truth_queries: Mapping[str, frozenset[str]], runs: Sequence[frozenset[str]]) -> str | None:
    """Return the name of the truth that shares queries with the most runs, the first of several; None if none does."""
    fits = {truth: sum(not ids.isdisjoint(run) for run in runs) for truth, ids in truth_queries.items()}
    best = max(fits, key=fits.__getitem__, default=None)
    return best if best is not None and fits[best] else None


def _answers(project: Project, by: Lead | Operator) -> dict[str, frozenset[str]]:
    """Return the query ids of each ground truth, by its name in `truth_names`."""
    releases = truths.released_truths(project, by)
    with reading(project.store) as db:
        finished = truths.own_queries(project, by)[0]
        kept = kept_rows.answered(db, Shelf.TRUTHS)
        by_choice = _by_choice(kept_rows.listed(db, Shelf.TRUTHS), releases)
    own = {name: frozenset(str(q.query_id) for q in finished if q.split is split) for name, split in OWN_TRUTHS.items()}
    released = {
        name: frozenset(map(str, truths.load_released(project, by, name, truth).queries))
        for name, truth in releases.items()
    }
    return {
        **{name: ids for name, ids in own.items() if ids},
        **released,
        **{n: kept[entry.name] for n, entry in by_choice.items()},
    }


@in_charge
def score_kept_runs(
    project: Project,
    by: Lead | Operator,
    truth: str,
    *,
    preset: Preset = "paper",
    k: Iterable[SupportsIndex] = DEFAULT_K,
    mu: Iterable[float] = DEFAULT_MU,
    **options: Unpack[Options],
) -> Leaderboard:
    """Score every stored run that shares queries with a ground truth.

    A run may cover validation and test queries, and the truth only one of these splits. So queries of a run that are
    not in the truth are ignored by default (the option `unknown`). `k` are the rank cut-offs of the measures, and `mu`
    the IoU thresholds of NDCG. The leaderboard shows every option beside the numbers.

    Raises:
        ProjectError: there is no such truth.
        InputError: the truth, or an option, cannot be used.
    """
    settings = settle(preset, k, mu, Options(**{"unknown": "ignore", **options}))
    kept = kept_rows.listed(project.store.db, Shelf.RUNS)
    durations = _durations(project, by, truth, kept)
    columns = replace(_truth(project, by, truth), durations=durations)
    key = prepare_truth(columns, settings)
    fitting, left_out = {}, {}
    elsewhere: Mapping[str, frozenset[str]] = {}
    for entry in kept:
        run = kept_runs.load_run(project, by, entry.name)
        if why := why_unfit(run, key, settings):
            elsewhere = elsewhere or _answers(project, by)
            other = _fitting(elsewhere, [frozenset(map(str, run.queries))])
            chosen = other not in (None, truth)
            left_out[entry.name] = said("{why}; choose {truth} to score it", why=why, truth=other) if chosen else why
        else:
            fitting[entry.name] = run
    scores = score_runs(columns, fitting, settings) if fitting else None
    scores = scores and scores.with_upper_bounds({entry.name for entry in kept if entry.upper_bound})
    if scores and (note := _unfinished(project, by, truth)):
        scores = replace(scores, setting=Setting(notes=(note,)))
    inputs = _inputs(project, by, truth, [entry for entry in kept if entry.name in fitting], durations)
    return Leaderboard(truth, inputs, scores, left_out)


@in_charge
def leaderboard_version(project: Project, by: Lead | Operator, truth: str) -> str:
    """Return a digest, as a key for caches, that changes whenever the leaderboard for this ground truth would change.

    Raises:
        ProjectError: there is no such truth.
    """
    releases = truths.released_truths(project, by)
    with reading(project.store) as db:
        runs = [(run.name, run.sha256, run.added_at) for run in kept_rows.listed(db, Shelf.RUNS)]
        kept = _by_choice(kept_rows.listed(db, Shelf.TRUTHS), releases).get(truth)
    digest = hashlib.sha256(repr(runs).encode())
    if truth in OWN_TRUTHS:
        columns = _truth(project, by, truth)
        digest.update(repr((columns.queries, columns.videos, _unfinished(project, by, truth))).encode())
        for column in (columns.offsets, columns.video, columns.start_s, columns.end_s, columns.relevance):
            digest.update(column.tobytes())
    elif truth in releases:
        digest.update(repr(releases[truth]).encode())
    else:
        # A kept truth never changes. But it may be removed, and another file added under its name.
        facts = (kept.name, kept.sha256, kept.added_at) if kept else _truth(project, by, truth)
        digest.update(repr(facts).encode())
    return digest.hexdigest()


def why_unfit(run: Run, key: AnswerKey, settings: Settings) -> str:
    """Return why a run cannot be scored against this truth; an empty text if it can."""
    if not any(str(query) in key.query_number for query in run.queries):
        return said_n(
            "its query is not in this ground truth",
            "none of its {n:,} queries are in this ground truth",
            len(run.queries),
        )
    try:
        prepare_run(run, key, settings)
    except InputError as error:
        if len(error.problems) == 1:
            return str(error.problems[0])
        return said("{problem} (and {n} more)", problem=error.problems[0], n=len(error.problems) - 1)
    return ""


def _unfinished(project: Project, by: Lead | Operator, truth: str) -> str:
    """Return a note about how many queries a project's own truth lacks because some of their pairs are not graded yet.

    The text is empty if no query is missing, or if the truth is not one of the project's own.
    """
    split = OWN_TRUTHS.get(truth)
    waiting = [query for query in truths.own_queries(project, by)[1] if query.split is split]
    if not waiting:
        return ""
    return said_n(
        "{n:,} query has settled pairs and is not counted yet, because other pairs still wait for grades",
        "{n:,} queries have settled pairs and are not counted yet, because other pairs still wait for grades",
        len(waiting),
    )


def _truth(project: Project, by: Lead | Operator, name: str) -> Truth:
    split = OWN_TRUTHS.get(name)
    if split is not None:
        return truths.truth_of_project(project, by, split)
    releases = truths.released_truths(project, by)
    if name in releases:
        return truths.load_released(project, by, name, releases[name])
    with reading(project.store) as db:
        kept = _by_choice(kept_rows.listed(db, Shelf.TRUTHS), releases).get(name)
    return kept_runs.load_truth(project, by, kept.name if kept else name)


def _by_choice(kept: Sequence[Kept], releases: Collection[str]) -> dict[str, Kept]:
    """Return the stored truths by the names under which users choose them.

    Normally this is the truth's own name. If the project itself or a release has a truth of the same name, " (kept)" is
    added. `add_truth` refuses the names of the project's own truths now, but an older project may still have one.
    """
    own = {*OWN_TRUTHS, *releases}
    taken = {entry.name for entry in kept} | own
    by_name = {}
    for entry in kept:
        name = entry.name
        if name in own:
            while name in taken:
                name += " (kept)"
        by_name[name] = entry
    return by_name


def _durations(project: Project, by: Lead | Operator, truth: str, runs: Sequence[Kept]) -> dict[str, float]:
    """Return each video's duration in seconds: measured by the project, else stated by the truth, else by a run."""
    releases = truths.released_truths(project, by)
    with reading(project.store) as db:
        stated = [kept_rows.facts(db, Shelf.RUNS, run.name).durations for run in runs]
        if kept := _by_choice(kept_rows.listed(db, Shelf.TRUTHS), releases).get(truth):
            stated.append(kept_rows.facts(db, Shelf.TRUTHS, kept.name).durations)
        return dict(item for durations in [*stated, corpus.video_durations(db)] for item in durations.items())


def _inputs(
    project: Project, by: Lead | Operator, truth: str, runs: Sequence[Kept], durations: Mapping[str, float]
) -> Inputs:
    releases = truths.released_truths(project, by)
    with reading(project.store) as db:
        split = OWN_TRUTHS.get(truth)
        if truth in releases:
            texts: Mapping[str, str] = truths.released_texts(project, by, releases[truth])
            source = Source("truth", f"{releases[truth].file} of the release {releases[truth].release}", None, None)
        elif split is None:
            kept = _by_choice(kept_rows.listed(db, Shelf.TRUTHS), releases)[truth]
            texts = kept_rows.facts(db, Shelf.TRUTHS, kept.name).texts
            source = Source("truth", f"{kept.name} ({kept.file})", None, kept.sha256)
        else:
            texts = {str(query.query_id): query.text for query in queries.query_rows(db, (split,))}
            source = Source("truth", f"settled pairs of {project.name}, {split.value} queries", None, None)
    sources = [source, *(Source("run", f"{run.name} ({run.file})", None, run.sha256) for run in runs)]
    return Inputs(truth, source.name, Facts(texts, durations), tuple(sources))


@in_charge
def videos_with_file(project: Project, by: Lead | Operator) -> dict[str, float]:
    """Return the durations in seconds of the videos whose file the project knows, by video name."""
    with reading(project.store) as db:
        without = set(corpus.videos_without_file(db))
        return {name: length for name, length in corpus.video_durations(db).items() if name not in without}


@in_charge
def report_frames(project: Project, by: Lead | Operator) -> Film:
    """Return a function that draws a strip of frames of a video span, for the HTML report.

    The function takes (video, start in seconds, end in seconds) and returns an image. It returns None if the video is
    unknown, missing, changed or damaged, or the span begins after the end of the video.
    """

    @cache
    def known(video: str) -> VideoFacts | None:
        with reading(project.store) as db:
            return corpus.video_facts(db, video)

    def film(video: str, start_s: float, end_s: float) -> bytes | None:
        facts = known(video)
        if facts is None or start_s >= facts.duration_s:
            return None
        try:
            # A database that came from elsewhere may name any file of this machine as a video.
            require_unchanged(project.source(facts), facts.sha256)
            return film_strip(project.source(facts), max(start_s, 0.0), min(end_s, facts.duration_s))
        except (InputError, VideoUnreadable):
            return None

    return film
