"""Score all kept runs of a project against one truth, and show its videos beside the scores.

*Reads* kept files, settled pairs, the corpus and its video files. *Writes* nothing.
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
    """`scores` is None where no run fits the truth; `left_out` says of each run that does not, why."""

    truth: str
    inputs: Inputs
    scores: Scoreboard | None
    left_out: Mapping[str, str]


@in_charge
def truth_names(project: Project, by: Lead | Operator) -> list[str]:
    """Return the truths to score against: own splits with finished queries, those of releases, then kept ones."""
    releases = truths.released_truths(project, by)
    with reading(project.store) as db:
        splits = {query.split for query in truths.own_queries(project, by)[0]}
        own = [name for name, split in OWN_TRUTHS.items() if split in splits]
        return [*own, *releases, *_by_choice(kept_rows.listed(db, Shelf.TRUTHS), releases)]


@in_charge
def truth_of_runs(project: Project, by: Lead | Operator, names: Collection[str] | None = None) -> str | None:
    """Return the truth that has queries of most of these kept runs (of all, if None); among equals the first.

    None where no truth has a query of any.
    """
    answered = kept_rows.answered(project.store.db, Shelf.RUNS)
    return _fitting(_answers(project, by), [ids for name, ids in answered.items() if names is None or name in names])


def _fitting(truth_queries: Mapping[str, frozenset[str]], runs: Sequence[frozenset[str]]) -> str | None:
    """The truth that has queries of most runs, among equals the first; None where there is none."""
    fits = {truth: sum(not ids.isdisjoint(run) for run in runs) for truth, ids in truth_queries.items()}
    best = max(fits, key=fits.__getitem__, default=None)
    return best if best is not None and fits[best] else None


def _answers(project: Project, by: Lead | Operator) -> dict[str, frozenset[str]]:
    """The ids of each truth's queries, by the names of `truth_names`."""
    releases = truths.released_truths(project, by)
    with reading(project.store) as db:
        finished = truths.own_queries(project, by)[0]
        kept = kept_rows.answered(db, Shelf.TRUTHS)
        named = _by_choice(kept_rows.listed(db, Shelf.TRUTHS), releases)
    own = {name: frozenset(str(q.query_id) for q in finished if q.split is split) for name, split in OWN_TRUTHS.items()}
    released = {
        name: frozenset(map(str, truths.load_released(project, by, name, truth).queries))
        for name, truth in releases.items()
    }
    return {
        **{name: ids for name, ids in own.items() if ids},
        **released,
        **{n: kept[one.name] for n, one in named.items()},
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
    """Score every kept run that answers queries of the truth.

    A kept run may answer more queries than one truth has (validation and test, say), so `unknown` is `ignore`
    unless told otherwise, and shown beside the numbers like every option.

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
    for one in kept:
        run = kept_runs.load_run(project, by, one.name)
        if why := _unfit(run, key, settings):
            elsewhere = elsewhere or _answers(project, by)
            other = _fitting(elsewhere, [frozenset(map(str, run.queries))])
            chosen = other not in (None, truth)
            left_out[one.name] = said("{why}; choose {truth} to score it", why=why, truth=other) if chosen else why
        else:
            fitting[one.name] = run
    scores = score_runs(columns, fitting, settings) if fitting else None
    scores = scores and scores.with_upper_bounds({one.name for one in kept if one.upper_bound})
    if scores and (note := _unfinished(project, by, truth)):
        scores = replace(scores, setting=Setting(notes=(note,)))
    inputs = _inputs(project, by, truth, [one for one in kept if one.name in fitting], durations)
    return Leaderboard(truth, inputs, scores, left_out)


@in_charge
def leaderboard_version(project: Project, by: Lead | Operator, truth: str) -> str:
    """Return a text that changes whenever the leaderboard of this truth would: for caches.

    Raises:
        ProjectError: there is no such truth.
    """
    releases = truths.released_truths(project, by)
    with reading(project.store) as db:
        runs = [(one.name, one.sha256, one.added_at) for one in kept_rows.listed(db, Shelf.RUNS)]
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
        # What is kept never changes; another file may be kept under its name, with other words of the same queries.
        facts = (kept.name, kept.sha256, kept.added_at) if kept else _truth(project, by, truth)
        digest.update(repr(facts).encode())
    return digest.hexdigest()


def _unfit(run: Run, key: AnswerKey, settings: Settings) -> str:
    """Why a run cannot be scored against this truth; an empty text if it can."""
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
    """What to know of queries that one of the project's own truths will have later; an empty text if nothing."""
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
    """The kept truths by the names that they are chosen by: their own, but for names of the project's own truths.

    Those of the project's splits are refused now; a file that was kept under one before, or under a name that a release
    has since, is still there to score against.
    """
    own = {*OWN_TRUTHS, *releases}
    taken = {one.name for one in kept} | own
    named = {}
    for one in kept:
        name = one.name
        if name in own:
            while name in taken:
                name += " (kept)"
        named[name] = one
    return named


def _durations(project: Project, by: Lead | Operator, truth: str, runs: Sequence[Kept]) -> dict[str, float]:
    """Return each video's duration (s): measured by the project, else told by the truth, else by a run."""
    releases = truths.released_truths(project, by)
    with reading(project.store) as db:
        told = [kept_rows.facts(db, Shelf.RUNS, run.name).durations for run in runs]
        if kept := _by_choice(kept_rows.listed(db, Shelf.TRUTHS), releases).get(truth):
            told.append(kept_rows.facts(db, Shelf.TRUTHS, kept.name).durations)
        return dict(item for one in [*told, corpus.video_durations(db)] for item in one.items())


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
    """Return the durations (s) of the videos whose file the project knows, by name."""
    with reading(project.store) as db:
        without = set(corpus.videos_without_file(db))
        return {name: length for name, length in corpus.video_durations(db).items() if name not in without}


@in_charge
def report_frames(project: Project, by: Lead | Operator) -> Film:
    """Return what draws strips of frames for `report_page`; a video that is unknown, lost or damaged has none."""

    @cache
    def known(video: str) -> VideoFacts | None:
        with reading(project.store) as db:
            return corpus.video_facts(db, video)

    def film(video: str, start_s: float, end_s: float) -> bytes | None:
        facts = known(video)
        if facts is None or start_s >= facts.duration_s:
            return None
        try:
            # A stranger's database may name any file of this machine as a video.
            require_unchanged(project.source(facts), facts.sha256)
            return film_strip(project.source(facts), max(start_s, 0.0), min(end_s, facts.duration_s))
        except (InputError, VideoUnreadable):
            return None

    return film
