"""Apply an evaluation's conventions to truth and runs, and compute the value of every measure for every query.

Call `prepare_truth` once, then `prepare_run` and `score` for every run.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Protocol, TypeVar

import numpy as np

from backend.core.errors import InputError, Problem
from backend.core.messages import said, said_n
from backend.core.timespan import Flags, Floats
from backend.scoring import measures as family
from backend.scoring.files.words import short
from backend.scoring.gain import OwnGain
from backend.scoring.matching.columns import HIGHEST_GRADE, Indices, Run, Spans, Truth, order_within
from backend.scoring.matching.found import Matches, MatchOrigin
from backend.scoring.matching.greedy import TruthIndex, index_truth, pair_up
from backend.scoring.matching.suppression import suppress
from backend.scoring.measures.ndcg import ideal_dcg
from backend.scoring.plausibility import doubts_about
from backend.scoring.presets import Settings

AnySpans = TypeVar("AnySpans", bound=Spans)

_CHUNK = 60_000
"""How many predictions are processed together; bounds the memory, and typical arrays fit the processor's cache."""
_LISTED = 10
"""How many ids a message lists; it only counts the rest."""


@dataclass(frozen=True, slots=True)
class AnswerKey:
    """The truth, checked and sorted for scoring.

    `index` has the truth moments sorted for matching, and `ideal` the DCG of each query's ideal ranking, shape (len(k),
    queries). `relevant` and `irrelevant`, of shape (queries,), count the moments with at least and with less than
    `min_relevance`. `has_relevant` tells whether a query has a relevance above 0. `query_number` and `video_number`
    give the index of a query id or video name in `truth`. `duration_s` has the duration of each of the truth's videos
    in seconds, NaN if it is not known; it is empty if no measure needs it. `highest` is the highest relevance of the
    scale.
    """

    truth: Truth
    index: TruthIndex
    ideal: Floats
    relevant: Indices
    irrelevant: Indices
    has_relevant: Flags
    duration_s: Floats
    highest: float
    query_number: dict[str, int]
    video_number: dict[str, int]
    warnings: tuple[str, ...]


class Narrowing(Protocol):
    """Selects the predictions of a run that count, for example those in a query's pool of videos.

    This happens before the run is cut at the highest K. `scoring.pools` has the selections in use.
    """

    @property
    def sorts(self) -> bool:
        """Whether predictions are ranked by score before they are selected, whatever the option `order` says."""

    @property
    def by_score(self) -> bool:
        """Whether the score of every prediction must be a number, because the selection uses scores."""

    def check(self, run: Run) -> tuple[list[Problem], list[str]]:
        """Return the problems of a run before any of its predictions are removed, and the warnings."""

    def narrow(self, run: Run) -> Run:
        """Return the run with only the predictions that count, in the order given."""


@dataclass(frozen=True, slots=True)
class RankedRun:
    """A run's predictions in rank order, cut at the highest K, for queries of the truth.

    `truth_query` is the index in the truth of each query of the run, -1 for a query that the truth lacks. `truth_video`
    is the index in the truth of each prediction's video. `missing` has the indices of the truth's queries that the run
    lacks. It leaves out queries without relevant moments if `no_relevant` is `correct_empty`. These are in
    `correctly_empty`: an empty answer is right for them and scores 1.
    """

    run: Run
    truth_query: Indices
    truth_video: Indices
    missing: Indices
    correctly_empty: Indices
    warnings: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Scores:
    """The values of N queries, in [0, 1] except for DCG@K: `values` has shape (len(settings.keys), N).

    Each row belongs to one of `settings.keys`, such as `ndcg@20,0.5`. `query` has the index of each query in the truth,
    shape (N,). `beside`, shape (N,), has the values of one more measure, if `score` was asked for it; otherwise it is
    None.
    """

    query: Indices
    values: Floats
    beside: Floats | None = None

    def mean(self, settings: Settings) -> dict[str, float]:
        """Return the mean over the queries, by key such as `ndcg@20,0.5`.

        It uses NumPy's pairwise sum, as in the published evaluator. The result is empty if no query counts, as in that
        evaluator, because 0 would look like a result.
        """
        if not len(self.query):
            return {}
        return {key: float(np.mean(row)) for key, row in zip(settings.keys, self.values, strict=True)}


def prepare_truth(truth: Truth, settings: Settings) -> AnswerKey:
    """Check the truth and sort it for scoring; remove or merge moments as the options `invalid` and `duplicates` say.

    Raises:
        InputError: lists every moment that the conventions do not allow, or there is no query.
    """
    options = settings.conventions
    if not truth.queries:
        raise InputError.single(truth.file, said("holds no query"))
    must = _relevance_problems(truth, settings)
    truth, further_warnings = _admit(truth, truth.span_problems(), must, settings)
    warnings = [*truth.notes, *further_warnings]
    order, first = truth.groups_of_equals()
    if repeated := len(order) - len(first):
        if options.duplicates == "merge_max":
            highest = np.maximum.reduceat(truth.relevance[order], first)
            file_order = np.argsort(order[first])
            truth = replace(truth.take(order[first][file_order]), relevance=highest[file_order])
        else:
            warnings.append(
                said("{file}: {n} moments repeat another of the same query; all were kept", file=truth.file, n=repeated)
            )
    query, relevance = truth.query, truth.grades
    if isinstance(options.gain, OwnGain) and (fault := options.gain.fault(np.unique(relevance).tolist())):
        raise InputError.single("gain", fault)
    has_relevant = np.bincount(query[relevance > 0], minlength=len(truth.queries)) > 0
    if not has_relevant.all():
        ids = _ids(truth, np.flatnonzero(~has_relevant))
        told = {
            "zero": said("{file}: queries without relevant moment count 0: {ids}", file=truth.file, ids=ids),
            "skip": said("{file}: queries without relevant moment were left out: {ids}", file=truth.file, ids=ids),
            "correct_empty": said(
                "{file}: queries without relevant moment count 1 without predictions, 0 with any: {ids}",
                file=truth.file,
                ids=ids,
            ),
        }
        warnings.append(told[options.no_relevant])
    able = np.flatnonzero((relevance > 0) | (options.zero_relevance == "absorb"))
    index = index_truth(
        query[able],
        truth.video[able],
        truth.start_s[able],
        truth.end_s[able],
        relevance[able],
        # One number more than the truth needs, for all other videos of a run.
        videos=len(truth.videos) + 1,
    )
    return AnswerKey(
        truth,
        index,
        ideal_dcg(query, relevance, len(truth.queries), settings.k, options.gain),
        np.bincount(query[relevance >= settings.min_relevance], minlength=len(truth.queries)),
        np.bincount(query[able][relevance[able] < settings.min_relevance], minlength=len(truth.queries)),
        has_relevant,
        _durations(truth, settings),
        float(truth.scale[-1]),
        {str(query): number for number, query in enumerate(truth.queries)},
        {video: number for number, video in enumerate(truth.videos)},
        tuple(warnings),
    )


def prepare_run(
    run: Run, key: AnswerKey, settings: Settings, narrowing: Narrowing | None = None, *, part: bool = False
) -> RankedRun:
    """Check a run and sort its predictions into rank order.

    A query is missing if the run does not name it, if it has no predictions, or if all of them are left out as
    impossible.

    Args:
        run: the run.
        key: the truth, prepared for scoring.
        settings: the settings of the evaluation.
        narrowing: selects the predictions that count, for example those in a query's pool of videos. None keeps all. A
            query whose predictions are all removed scores 0.
        part: whether `run` is only a part of a run, from which the caller has removed predictions. A query without
            predictions then scores 0, instead of being treated as missing.

    Raises:
        InputError: lists every prediction and query that the conventions do not allow.
    """
    options = settings.conventions
    problems = []
    truth_query = np.array([key.query_number.get(str(query), -1) for query in run.queries], dtype=np.int64)
    unknown = np.flatnonzero(truth_query < 0)
    if options.unknown == "error" and 0 < len(unknown) == len(run.queries):
        raise InputError.single(run.file, _no_shared_query(run, key.truth))
    if options.unknown == "error":
        messages = [said("query {query} is not in the truth", query=run.queries[i]) for i in unknown]
        if messages:
            messages[0] = said("{message} (the option unknown=ignore leaves such queries out)", message=messages[0])
        problems = [Problem(run.file, run.query_rows[i], told) for i, told in zip(unknown, messages, strict=True)]
    told: list[str] = []
    wrong: list[Problem] = []
    given, of_truth, sizes = run, truth_query, np.diff(run.offsets)
    refused: list[Problem] = []
    if narrowing:
        refused, told = narrowing.check(run)
    sorts = options.order == "score" or options.nms is not None or (narrowing is not None and narrowing.sorts)
    must = {}
    if sorts or (narrowing and narrowing.by_score):
        must = {int(i): said("the score is not a number") for i in np.flatnonzero(np.isnan(run.score))}
    ids = _ids(run, unknown)
    try:
        run, warnings = _admit(run, _times_problems(run, options.invalid), must, settings)
    except InputError as error:
        wrong = list(error.problems)
    empty = np.diff(run.offsets) == 0
    may_be_empty = ~key.has_relevant & (options.no_relevant == "correct_empty")
    counts_0 = empty & ((options.missing == "published") | (part & (sizes == 0)))
    counts_0 &= ~may_be_empty[truth_query] | (truth_query < 0)
    run, truth_query = run.of_queries(~empty | counts_0), truth_query[~empty | counts_0]
    lacking = np.ones(len(key.truth.queries), dtype=bool)
    lacking[truth_query[truth_query >= 0]] = False
    missing, correctly_empty = np.flatnonzero(lacking & ~may_be_empty), np.flatnonzero(lacking & may_be_empty)
    if options.missing == "error":
        messages = [said("query {query} is missing", query=key.truth.queries[i]) for i in missing]
        if messages:
            messages[0] = said(
                "{message} (missing=zero lets such queries count 0, missing=skip leaves them out of the mean)",
                message=messages[0],
            )
        problems += [Problem(run.file, None, message) for message in messages]
        if missing.size and run.answers and run.answers.unparsed:
            message = said(
                "no time was found in {n:,} of {total:,} answers; their queries count as missing",
                n=run.answers.unparsed,
                total=run.answers.total,
            )
            problems.insert(0, Problem(run.file, None, message))
    problems += [*refused, *wrong]
    if problems:
        raise InputError(problems)
    warnings = [*run.notes, *warnings, *told]
    if len(unknown):
        warnings.append(said("{file}: queries that the truth lacks were ignored: {ids}", file=run.file, ids=ids))
        run = run.take(np.flatnonzero(truth_query[run.query] >= 0))
    warnings += doubts_about(run, key.truth)
    if options.missing == "published" and (known := np.flatnonzero(counts_0 & (of_truth >= 0))).size:
        zeros = _ids(given, known)
        warnings.append(
            said("{file}: queries without predictions count 0, as published: {ids}", file=run.file, ids=zeros)
        )
    disordered = len(np.unique(run.query[1:][_rises(run)]))
    if disordered and sorts:
        run = run.take(order_within(run.query, -run.score))
    elif disordered:
        warnings.append(
            said_n(
                "{file}: the scores of {n} query are not in falling order; file order was used (order=score sorts)",
                "{file}: the scores of {n} queries are not in falling order; file order was used (order=score sorts)",
                disordered,
                file=run.file,
            )
        )
    if not sorts and (nowhere := int(np.isnan(run.score).sum())):
        warnings.append(
            said_n(
                "{file}: the score of {n} prediction is not a number; file order was used",
                "{file}: the scores of {n:,} predictions are not numbers; file order was used",
                nowhere,
                file=run.file,
            )
        )
    if narrowing:
        run = narrowing.narrow(run)
    if options.nms is not None:
        run = suppress(run, options.nms, arithmetic=options.arithmetic)
    if options.dedupe_predictions:
        order, first = run.groups_of_equals()
        run = run.take(np.sort(order[first]))
    other = len(key.video_number)
    video_of = np.array([key.video_number.get(video, other) for video in run.videos], dtype=np.int64)
    if len(video_of) and (video_of == other).all():
        warnings.append(said("{file}: none of its videos is in the truth: check that the names match", file=run.file))
    within = _rank(run) < settings.depth
    if not within.all():
        run = run.take(np.flatnonzero(within))
    return RankedRun(run, truth_query, video_of[run.video], missing, correctly_empty, tuple(warnings))


def score(key: AnswerKey, ranked: RankedRun, settings: Settings, beside: str | None = None) -> Scores:
    """Return the values of all measures for every query that counts.

    First come the queries of the run, in its order. Then come missing queries, if they count 0. Queries that the run
    rightly leaves empty come last and score 1.

    `beside` is the key of one more value to compute, such as `judged@20,0.5`. Its measure must have a cut-off and a
    threshold. This costs less than adding the measure to `settings`.
    """
    options = settings.conventions
    known = np.flatnonzero(ranked.truth_query >= 0)
    of_truth = ranked.truth_query[known]
    values = np.hstack([_values(key, ranked, chunk, settings, beside) for chunk in _chunks(ranked.run)])[:, known]
    if options.missing == "zero":
        of_truth = np.concatenate([of_truth, ranked.missing])
        values = np.hstack([values, np.zeros((len(values), len(ranked.missing)))])
    if len(ranked.correctly_empty):
        of_truth = np.concatenate([of_truth, ranked.correctly_empty])
        values = np.hstack([values, np.ones((len(values), len(ranked.correctly_empty)))])
    if options.no_relevant == "skip":
        relevant = key.has_relevant[of_truth]
        of_truth, values = of_truth[relevant], values[:, relevant]
    return Scores(of_truth, values) if beside is None else Scores(of_truth, values[:-1], values[-1])


def _chunks(run: Run) -> list[slice]:
    """Split the run's queries into slices of consecutive queries, with about 60,000 predictions each.

    There is at least one slice.
    """
    first = np.searchsorted(run.offsets[:-1], np.arange(_CHUNK, len(run.video), _CHUNK))
    edges = [0, *np.unique(first).tolist(), len(run.queries)]
    return [slice(low, high) for low, high in pairwise(edges)]


def _values(key: AnswerKey, ranked: RankedRun, chunk: slice, settings: Settings, beside: str | None) -> Floats:
    """Return the values of all measures for a slice of the run's queries, shape (len(settings.keys), queries).

    `beside` is one more value to compute, such as `judged@20,0.5`, as a last row.
    """
    options, run = settings.conventions, ranked.run
    truth_query = ranked.truth_query[chunk]
    offsets = run.offsets[chunk.start : chunk.stop + 1]
    rows = slice(int(offsets[0]), int(offsets[-1]))
    size = np.diff(offsets)
    query = np.repeat(np.arange(len(truth_query)), size)
    pairs = pair_up(
        key.index,
        truth_query[query],
        ranked.truth_video[rows],
        run.start_s[rows],
        run.end_s[rows],
        arithmetic=options.arithmetic,
        epsilon=options.iou_epsilon,
    )
    video, other = ranked.truth_video[rows], len(key.truth.videos)
    matches = Matches(
        queries=len(truth_query),
        query=query,
        rank=np.arange(len(query)) - np.repeat(offsets[:-1] - offsets[0], size),
        video=np.where(video == other, other + run.video[rows], video),
        start_s=run.start_s[rows],
        end_s=run.end_s[rows],
        pairs=pairs,
        truth=key.index,
        truth_query=truth_query,
        duration_s=key.duration_s,
        ideal=key.ideal[:, truth_query],
        relevant=key.relevant[truth_query],
        irrelevant=key.irrelevant[truth_query],
        gain=options.gain,
        strict=options.iou_compare == "gt",
        min_relevance=settings.min_relevance,
        abandonment=options.abandonment,
        persistence=options.persistence,
        map_depth=options.map_depth,
        highest=key.highest,
        origin=MatchOrigin(run, rows.start, key.truth, key.index, truth_query),
    )
    values = np.concatenate(
        [measure.values(matches, settings.k, settings.thresholds(measure)) for measure in settings.family]
    )
    values = values if settings.asked is None else values[settings.rows]
    if beside is None:
        return values
    measure = family.measure_of(beside)
    k, level = measure.read(beside)
    return np.vstack([values, measure.values(matches, (int(str(k)),), (float(str(level)),))])


def _admit(
    spans: AnySpans, times: dict[int, str], must: dict[int, str], settings: Settings
) -> tuple[AnySpans, list[str]]:
    """Refuse, leave out or keep moments with problems, as the option `invalid` says.

    Args:
        spans: the moments.
        times: the problems of moments with an impossible start or end, by position.
        must: the problems of moments with other invalid values, by position.
        settings: the settings of the evaluation. If `invalid` is `skip`, all these moments are left out. If it is
            `zero`, those in `times` are kept.

    Returns:
        The moments that are left, and the warnings.

    Raises:
        InputError: `invalid` is `error` and there are problems, or it is `zero` and there are some in `must`.
    """
    invalid = settings.conventions.invalid
    refused = {"error": times | must, "skip": {}, "zero": must}[invalid]
    if refused:
        raise InputError([spans.problem(i, message) for i, message in sorted(refused.items())])
    bad = sorted({*times, *must})
    if not bad:
        return spans, []
    values = {"file": spans.file, "n": str(len(bad)), "first": str(spans.problem(bad[0], (times | must)[bad[0]]))}
    warnings = [
        said("{file}: {n} impossible moments were left out; the first: {first}", **values)
        if invalid == "skip"
        else said("{file}: {n} impossible moments were kept as they are; the first: {first}", **values)
    ]
    if invalid == "zero":
        return spans, warnings
    return spans.take(np.setdiff1d(np.arange(len(spans.video)), bad)), warnings


def _relevance_problems(truth: Truth, settings: Settings) -> dict[int, str]:
    """Return what is wrong with the relevance of moments: messages by position.

    Some relevances, such as 0.5, are only allowed if the caller names the gain. The first message about one says so.
    """
    faults = truth.relevance_problems(any_grade=settings.any_grade)
    lasting = truth.relevance_problems(any_grade=True) if faults else {}
    first = next((place for place in faults if place not in lasting), None)
    if first is not None:
        faults[first] = said(
            "{message} (name the gain to use any relevance from 0 to {highest}, such as 0.5 or 10: gain=linear or"
            " gain=exp2)",
            message=faults[first],
            highest=HIGHEST_GRADE,
        )
    return faults


def _durations(truth: Truth, settings: Settings) -> Floats:
    """Return the duration of each of the truth's videos in seconds, NaN if unknown; empty if no measure needs it.

    Raises:
        InputError: a video with a relevant moment has no duration; the message says how to give durations.
    """
    needing = [measure.name for measure in settings.family if measure.needs_durations]
    if not needing:
        return np.empty(0)
    duration_s = np.array([truth.durations.get(video, np.nan) for video in truth.videos], dtype=np.float64)
    lacking = np.flatnonzero(np.isnan(duration_s[truth.video]) & (truth.relevance >= settings.min_relevance))
    if len(lacking):
        message = said(
            "the duration of video {video} is not known, and {measure} needs it (videos without duration: {n}): give"
            " --videos (videos= in Python), an object name -> [seconds, index], or each moment the field duration",
            video=truth.videos[truth.video[lacking[0]]],
            measure=", ".join(needing),
            n=len(np.unique(truth.video[lacking])),
        )
        raise InputError([truth.problem(int(lacking[0]), message)])
    return duration_s


def _no_shared_query(run: Run, truth: Truth) -> str:
    """Return the message that run and truth have no query in common, with one query id of each for comparison."""
    return said(
        "{file} has 0 of this run's {n:,} query ids, which are those of another split or data set: the run has {mine},"
        " the truth has {theirs}",
        file=truth.file,
        n=len(run.queries),
        mine=short(run.queries[0]),
        theirs=short(truth.queries[0]),
    )


def _times_problems(run: Run, invalid: str) -> dict[int, str]:
    """Return a message for each prediction whose start and end are impossible, by its position.

    Real runs have impossible predictions, and often thousands. If they are refused, the message about the first one
    names the options that accept them, and what each does to the figures.
    """
    faults = run.span_problems()
    if faults and invalid == "error":
        first = next(iter(faults))
        faults[first] = said(
            "{message} (invalid=zero keeps such predictions at their ranks with IoU 0, as published evaluators do;"
            " invalid=skip removes them, and those below move up)",
            message=faults[first],
        )
    return faults


def _rank(run: Run) -> Indices:
    return np.arange(len(run.video)) - np.repeat(run.offsets[:-1], np.diff(run.offsets))


def _rises(run: Run) -> Flags:
    """Return whether each score is above the one before it in the same query, shape (N - 1,)."""
    same = run.query[1:] == run.query[:-1]
    return np.asarray(same & (run.score[1:] > run.score[:-1]), dtype=bool)


def _ids(spans: Spans, numbers: Iterable[int]) -> str:
    ids = [str(spans.queries[i]) for i in numbers]
    more = f" and {len(ids) - _LISTED} more" if len(ids) > _LISTED else ""
    return ", ".join(ids[:_LISTED]) + more
