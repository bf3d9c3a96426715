"""Compare a model's grades of pairs with people's: agreement, bias and confusion, with intervals over queries.

Pairs of one query are alike, so the bootstrap draws whole queries, each with all its pairs. Figures of random halves
are means over several splits of the people of each pair.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from backend.campaign.monitoring.quality.model import Figure
from backend.campaign.nouns import Rounding
from backend.campaign.release.judge_report.model import APART, BiasGroup, SplitSpread
from backend.core.messages import said
from backend.scoring.breakdown import show_of
from backend.scoring.statistics.agreement import (
    Agreement,
    Floats,
    alphas,
    cohen_kappa,
    coincidences,
    count_grades,
    kappas,
    krippendorff_alpha,
)
from backend.scoring.statistics.bootstrap import RESAMPLES, SEED, drawn_patterns, interval, mean_samples

Codes = NDArray[np.int64]
Halves = tuple[Codes, Codes]
"""The grades of two halves of the people for each pair, each of shape [pairs]."""

SPLITS = 10
"""How many random splits of the people are drawn."""
PAIRS, GRADES, MODEL_GRADES = said("pairs"), said("grades"), said("model grades")
_WORDS_A_BIN, _LONGEST_BIN = 5, 4


@dataclass(frozen=True, slots=True, eq=False)
class JudgedPairs:
    """Pairs with a relevance, two grades of people or more, and a model's grade, as columns.

    All columns but the last two have one entry per pair. `query` numbers the queries from 0. `agreed` is the unrounded
    mean of a consensus, or a lead's relevance. `model` has the model's grades. `of_pair` and `grade` have one entry per
    grade of a person: the number of its pair, and the grade. `highest` is the highest grade of the scale.
    """

    query: Codes
    relevance: Codes
    agreed: Floats
    model: Codes
    of_pair: Codes
    grade: Codes
    highest: int
    rounding: Rounding

    @property
    def queries(self) -> int:
        """The number of queries."""
        return int(self.query.max()) + 1 if self.query.size else 0


def halves(judged: JudgedPairs, seed: int) -> Halves:
    """Split the people of each pair at random into two halves, and return the grades of both, each of shape [pairs].

    The grade of a half is the mean of its grades, rounded as the campaign rounds. With two people each half is one
    person. Of an odd number the second half has one more.
    """
    of_pair = judged.of_pair
    order = np.lexsort((np.random.default_rng(seed).random(len(of_pair)), of_pair))
    size = np.bincount(of_pair)
    place = np.arange(len(order)) - np.repeat(np.cumsum(size) - size, size)
    pair, grade = of_pair[order], judged.grade[order]
    in_first = place < size[pair] // 2
    first, second = (_half(pair[rows], grade[rows], judged.rounding) for rows in (in_first, ~in_first))
    return first, second


def _half(pair: Codes, grade: Codes, rounding: Rounding) -> Codes:
    mean = np.bincount(pair, weights=grade) / np.bincount(pair)
    rounded = np.floor(mean + 0.5) if rounding is Rounding.HALF_UP else np.ceil(mean - 0.5)
    return rounded.astype(np.int64)


def figures(
    judged: JudgedPairs, splits: Sequence[Halves], *, resamples: int = RESAMPLES, seed: int = SEED
) -> dict[str, Figure]:
    """Return the figures of agreement by their keys in `model.FIGURE_WORDS`, with 95 % intervals over queries.

    `kappa_quadratic` compares the model with the relevance. A relevance is made from several grades and so is surer
    than one grade. To compare the model with a person, take `kappa_quadratic_half` and `kappa_quadratic_people`: the
    model and one half of the people, and both halves with each other. These are means over the splits.

    Args:
        judged: the pairs.
        splits: the grades of two halves of the people for each pair, for each split.
        resamples: how many samples of queries to draw for the intervals; 0 for none.
        seed: the seed of the samples.
    """
    times = _draws(judged, resamples, seed)
    distance = np.abs(judged.model - judged.relevance)

    def mean(values: Floats, of: str) -> Figure:
        return _mean_figure(values, judged.query, of, resamples, seed)

    return {
        "kappa_quadratic": _kappa(judged, [(judged.model, judged.relevance)], times),
        "kappa_quadratic_half": _kappa(judged, [(judged.model, half) for split in splits for half in split], times),
        "kappa_quadratic_people": _kappa(judged, splits, times),
        **_alphas(judged, times),
        "equal": mean(1.0 * (distance == 0), PAIRS),
        "within_one": mean(1.0 * (distance <= 1), PAIRS),
        "bias": mean(judged.model - judged.agreed, MODEL_GRADES),
    }


def confusion(judged: JudgedPairs) -> tuple[tuple[int, ...], ...]:
    """Count the pairs by relevance (first index) and the model's grade (second index)."""
    size = judged.highest + 1
    cells = np.bincount(judged.relevance * size + judged.model, minlength=size**2)
    return tuple(tuple(row) for row in cells.reshape(size, size).tolist())


def apart(judged: JudgedPairs) -> int:
    """Return the number of pairs whose relevance and model's grade differ by `APART` or more."""
    return int((np.abs(judged.model - judged.relevance) >= APART).sum())


def bias_groups(
    judged: JudgedPairs, group: Codes, names: Sequence[str], *, resamples: int = RESAMPLES, seed: int = SEED
) -> tuple[BiasGroup, ...]:
    """Return the model's bias in each group of pairs, in the order of `names`. Groups without pairs are left out.

    `group` has the index in `names` of each pair's group.
    """
    values, found = judged.model - judged.agreed, []
    for number, name in enumerate(names):
        rows = group == number
        if n := int(rows.sum()):
            found.append(
                BiasGroup(name, n, _mean_figure(values[rows], judged.query[rows], MODEL_GRADES, resamples, seed))
            )
    return tuple(found)


def length_groups(words: Sequence[int]) -> tuple[Codes, list[str]]:
    """Group queries by their number of words: 1 to 5, 6 to 10 and so on, and more than 20 together.

    Returns:
        The index of each query's group, and the names of all groups.

    >>> group, names = length_groups([1, 5, 6, 35])
    >>> group.tolist(), names[0], names[4]
    ([0, 0, 1, 4], '1–5 words', '21 words or more')
    """
    group = np.clip((np.array(words) - 1) // _WORDS_A_BIN, 0, _LONGEST_BIN)
    first = [number * _WORDS_A_BIN + 1 for number in range(_LONGEST_BIN + 1)]
    names = [said("{first}–{last} words", first=n, last=n + _WORDS_A_BIN - 1) for n in first[:-1]]
    return group, [*names, said("{first} words or more", first=first[-1])]


def show_groups(videos: Sequence[str]) -> tuple[Codes, list[str]]:
    """Group pairs by the show of their video, where videos are named as in TVR.

    Returns:
        The index of each pair's group, and the names of the shows; no names if all videos are of one show or none.
    """
    shows = [show_of(video) for video in videos]
    names = sorted({*shows})
    place = {name: number for number, name in enumerate(names)}
    return np.array([place[show] for show in shows]), names if len(names) > 1 else []


def spreads(taus: Sequence[Floats], measures: int) -> list[SplitSpread | None]:
    """Return the spread of tau over the splits for each measure; None for a measure without any tau.

    `taus` has an array of shape [measures] for each split, with NaN where tau is undefined.
    """
    found: list[SplitSpread | None] = []
    for number in range(measures):
        values = [float(tau[number]) for tau in taus if not np.isnan(tau[number])]
        found.append(SplitSpread(float(np.mean(values)), min(values), max(values)) if values else None)
    return found


def _draws(judged: JudgedPairs, resamples: int, seed: int) -> Floats:
    """Return how often each query is in each sample, shape [resamples, queries]."""
    return np.float64(1.0) * drawn_patterns(np.ones(judged.queries), resamples=resamples, seed=seed)


def _kappa(judged: JudgedPairs, couples: Sequence[Halves], times: Floats) -> Figure:
    """Return the mean over the couples of quadratic kappa, with an interval from the samples in `times`."""
    size, values, samples = judged.highest + 1, [], np.zeros(len(times))
    for one, other in couples:
        found = cohen_kappa(one, other, "quadratic")
        if found.value is None:
            return Figure(None, found.n, MODEL_GRADES, found.reason)
        values.append(found.value)
        cells = (judged.query * size + one) * size + other
        tables = np.bincount(cells, minlength=judged.queries * size**2).reshape(judged.queries, size**2)
        samples += kappas((times @ tables).reshape(len(times), size, size), "quadratic") / len(couples)
    return _figure(Agreement(float(np.mean(values)), len(judged.query)), samples, MODEL_GRADES)


def _alphas(judged: JudgedPairs, times: Floats) -> dict[str, Figure]:
    """Return ordinal alpha of people, of people and the model as one more annotator, and the difference of both."""
    size, pairs = judged.highest + 1, np.arange(len(judged.query))
    people = count_grades(judged.of_pair, judged.grade, size)
    model = people.copy()
    model[pairs, judged.model] += 1
    found, sampled = {}, {}
    for key, counts in (("alpha_people", people), ("alpha_with_model", model)):
        alpha = krippendorff_alpha(counts)
        cells = coincidences(counts).reshape(len(counts), size**2)
        of_query = np.stack([np.bincount(judged.query, column) for column in cells.T], axis=1)
        sampled[key] = alphas((times @ of_query).reshape(len(times), size, size))
        found[key] = _figure(alpha, sampled[key], GRADES)
    before, after = found["alpha_people"], found["alpha_with_model"]
    change = Agreement(None, after.n, before.reason or after.reason)
    if before.value is not None and after.value is not None:
        change = Agreement(after.value - before.value, after.n)
    return {
        **found,
        "alpha_change": _figure(change, sampled["alpha_with_model"] - sampled["alpha_people"], GRADES),
    }


def _mean_figure(values: Floats, query: Codes, of: str, resamples: int, seed: int) -> Figure:
    samples = mean_samples(values, query, resamples=resamples, seed=seed)
    return _figure(Agreement(float(values.mean()), len(values)), samples, of)


def _figure(found: Agreement, samples: Floats, of: str) -> Figure:
    low, high = (found.value is not None and interval(samples)) or (None, None)
    return Figure(found.value, found.n, of, found.reason, low, high)
