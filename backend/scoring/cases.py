"""Collect all results of one query: its truth moments, each run's first predictions, and which prediction is right.

This is TVR-Ranking's Figure 7 as data; pages and reports draw it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from backend.core.timespan import Floats
from backend.scoring.fates import FATES, Fate, Meeting, fates
from backend.scoring.matching.columns import QueryKey
from backend.scoring.scores import AnswerKey, RankedRun


class Worth(StrEnum):
    """How right a prediction is.

    The values are `match`, `not relevant` (matched with a moment of relevance 0), `already matched` (better predictions
    took its moments), `wrong time` and `wrong video`. If several fit, the first one holds.
    """

    MATCH = "match"
    """Takes a truth moment of a relevance above 0."""
    NOT_RELEVANT = "not relevant"
    """Takes a truth moment of relevance 0, which people judged not relevant."""
    TAKEN = "already matched"
    """Reaches mu with truth moments, but predictions of better rank took them all."""
    WRONG_TIME = "wrong time"
    """The truth has moments in this video, but the prediction reaches mu with none of them."""
    WRONG_VIDEO = "wrong video"
    """The truth has no moment in this video."""


@dataclass(frozen=True, slots=True)
class CaseMoment:
    """A truth moment of the query; `number` counts from 1, by falling relevance, then in the order of the truth."""

    number: int
    video: str
    start_s: float
    end_s: float
    relevance: float


@dataclass(frozen=True, slots=True)
class CasePrediction:
    """One prediction of a run for the query, and how right it is (`worth`).

    `takes` is the number of the truth moment that the prediction is matched with, and `relevance` that moment's
    relevance. Both are None without a match. `iou` is the highest IoU with a truth moment in the same video, None if
    there is none.
    """

    rank: int
    video: str
    start_s: float
    end_s: float
    score: float
    takes: int | None
    relevance: float | None
    iou: float | None
    worth: Worth


@dataclass(frozen=True, slots=True)
class CaseAnswer:
    """What became of one truth moment in a run: the rank of the prediction matched with it, and its fate.

    `rank` is None if no prediction is matched with it. `fate` says how it was found or missed, such as `wrong time`. It
    is None for a moment that is not relevant, because no run has to find it.
    """

    rank: int | None
    fate: Fate | None


@dataclass(frozen=True, slots=True)
class CaseRun:
    """One run's predictions for the query, up to rank K.

    `found` says for each truth moment, in the order of `Case.moments`, whether the run found it.
    """

    name: str
    predictions: tuple[CasePrediction, ...]
    found: tuple[CaseAnswer, ...]


@dataclass(frozen=True, slots=True)
class Case:
    """One query with its truth moments, and the predictions of all runs matched with them.

    The first `k` predictions of each run are matched, at the IoU threshold `mu`.
    """

    query: QueryKey
    k: int
    mu: float
    moments: tuple[CaseMoment, ...]
    runs: tuple[CaseRun, ...]


def build_case(
    query: int,
    key: AnswerKey,
    runs: Mapping[str, tuple[RankedRun, Meeting]],
    min_relevance: float = 1,
) -> Case:
    """Return the results of one query: its truth moments, and the predictions of each run matched with them.

    Args:
        query: the index of the query in the truth.
        key: the truth, prepared for scoring.
        runs: each run's predictions, and their matching with the truth. All matchings have the same K and mu.
        min_relevance: the lowest relevance of a moment that counts as relevant.

    Example (TVR-Ranking's Figure 2, the first prediction): `[10, 30)` has IoU .35 with `[12, 19)` and .4 with `[20,
    28)`. At mu = 0.3 it is matched with the second.
    """
    truth = key.truth
    first, last = int(truth.offsets[query]), int(truth.offsets[query + 1])
    order = first + np.argsort(-truth.relevance[first:last], kind="stable")
    number_of = {int(moment): number for number, moment in enumerate(order, start=1)}
    moments = tuple(
        CaseMoment(
            number,
            truth.videos[truth.video[moment]],
            float(truth.start_s[moment]),
            float(truth.end_s[moment]),
            truth.grades[moment].item(),
        )
        for moment, number in number_of.items()
    )
    meeting = next(iter(runs.values()))[1]
    answers = tuple(_case_run(name, query, number_of, key, *run, min_relevance) for name, run in runs.items())
    return Case(truth.queries[query], meeting.k, meeting.mu, moments, answers)


def _case_run(
    name: str,
    query: int,
    number_of: Mapping[int, int],
    key: AnswerKey,
    ranked: RankedRun,
    meeting: Meeting,
    min_relevance: float,
) -> CaseRun:
    run, truth = ranked.run, key.truth
    predictions = []
    for i in np.flatnonzero(meeting.query == query).tolist():
        position, moment, iou = int(meeting.position[i]), int(meeting.takes[i]), float(meeting.best_iou[i])
        relevance = None if moment < 0 else truth.grades[moment].item()
        if relevance is not None:
            worth = Worth.MATCH if relevance else Worth.NOT_RELEVANT
        elif meeting.reaches[i]:
            worth = Worth.TAKEN
        else:
            worth = Worth.WRONG_VIDEO if np.isnan(iou) else Worth.WRONG_TIME
        predictions.append(
            CasePrediction(
                int(meeting.rank[i]),
                run.videos[run.video[position]],
                float(run.start_s[position]),
                float(run.end_s[position]),
                float(run.score[position]),
                number_of.get(moment),
                relevance,
                None if np.isnan(iou) else iou,
                worth,
            )
        )
    fate = fates(key, meeting, min_relevance)
    return CaseRun(
        name,
        tuple(predictions),
        tuple(
            CaseAnswer(int(meeting.taken_at[m]) or None, None if fate[m] < 0 else FATES[int(fate[m])])
            for m in number_of
        ),
    )


def pick_notable(values: Floats, each: int = 3) -> dict[str, list[int]]:
    """Return the queries that are worth looking at: where runs differ most, and where their mean is lowest or highest.

    Args:
        values: one measure's value of every run and query, shape (runs, queries).
        each: how many queries of each kind; no query occurs twice.

    Returns:
        The columns of these queries in `values`, by kind (`differ`, `worst`, `best`). Kinds without a query are absent.

    >>> pick_notable(np.array([[0.0, 0.9, 0.1, 0.5], [0.0, 0.9, 0.8, 0.5]]), each=1)
    {'differ': [2], 'worst': [0], 'best': [1]}
    """
    spread, mean = values.max(axis=0) - values.min(axis=0), values.mean(axis=0)
    kinds: Sequence[tuple[str, Floats]] = (("differ", -spread), ("worst", mean), ("best", -mean))
    chosen: dict[str, list[int]] = {}
    used: set[int] = set()
    for kind, order in kinds:
        fitting = [i for i in np.argsort(order, kind="stable").tolist() if i not in used]
        if kind == "differ":
            fitting = [i for i in fitting if spread[i] > 0]
        if picked := fitting[:each]:
            chosen[kind] = picked
            used.update(picked)
    return chosen
