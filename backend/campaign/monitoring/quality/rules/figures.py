"""Compute the main figures of agreement, each with its number of cases and interval, and summarise all grades.

Krippendorff's alpha is computed over all current grades, and again over the first two grades of each pair alone. It is
not computed for only the pairs with two grades, or only those with four. Disagreement decides which pairs get four
grades, so these values would be artefacts of selection.
"""

from collections.abc import Callable, Mapping
from functools import partial
from typing import TypedDict

import numpy as np

from backend.campaign.judging.rules import RULE_VERSION
from backend.campaign.monitoring.quality.model import Figure
from backend.campaign.monitoring.quality.rules.pairs import UNDECIDED, GradedPairs, Patterns, patterns
from backend.campaign.nouns import Verdict
from backend.core.messages import said
from backend.scoring.statistics import bootstrap
from backend.scoring.statistics.agreement import (
    MIN_SHARED,
    Agreement,
    Couples,
    Floats,
    Integers,
    Level,
    Weights,
    alphas,
    coincidences,
    couples_of,
    first_per_annotator,
    krippendorff_alpha,
    mean_kappa,
    observed_agreement,
    shares_within,
)

STATISTICS = (
    *("alpha_ordinal", "alpha_nominal", "alpha_interval", "alpha_ordinal_first_per_annotator"),
    *("exact_agreement", "within_one_agreement", "kappa_plain", "kappa_quadratic"),
)
"""The keys of the statistics in `reelrank consensus --json`."""

GRADES, COUPLES, PAIRS, SETTLED = (
    *(said("grades"), said("couples of annotators"), said("pairs"), said("pairs in consensus")),
)
_ANY_TWO = Agreement(None, 0, said("with two grades, any two are within one"))


def figures(
    grades: GradedPairs,
    kinds: Patterns,
    couples: Couples | None = None,
    *,
    resamples: int = 0,
    seed: int = bootstrap.SEED,
) -> dict[str, Figure]:
    """Return every figure by its key: alphas, observed agreement, kappas, shares of pairs.

    Args:
        grades: all current grades.
        kinds: the different combinations of grades that these pairs have, and how many pairs have each.
        couples: the grades of each two annotators on their common pairs; computed here if None.
        resamples: how often the pairs are resampled for intervals; 0 for none.
        seed: the seed of the resampling.
    """
    first_grades = first_per_annotator(grades.pair, grades.annotator)
    once = grades.counts_of(first_grades)
    couples = couples_of(grades.pair, grades.annotator, grades.grade) if couples is None else couples
    drawn = partial(bootstrap.drawn_patterns, resamples=resamples, seed=seed)
    all_rounds = drawn(kinds.times)

    def alpha(level: Level, given: Patterns, draws: Integers) -> Figure:
        return _coincidence_figure(
            krippendorff_alpha(given.counts, level, given.times), given, draws, partial(alphas, level=level)
        )

    def near(within: int) -> Figure:
        found = observed_agreement(kinds.counts, within, kinds.times)
        return _coincidence_figure(found, kinds, all_rounds, partial(shares_within, within=within))

    def without_decisions(counts: Integers) -> Patterns:
        return patterns(counts, np.full(len(counts), UNDECIDED), grades.tolerance, grades.rounding)

    first, repeated = without_decisions(grades.first_counts()), without_decisions(once)
    found = {
        "alpha_ordinal": alpha("ordinal", kinds, all_rounds),
        "alpha_nominal": alpha("nominal", kinds, all_rounds),
        "alpha_interval": alpha("interval", kinds, all_rounds),
        "alpha_ordinal_first_round": Figure(None, 0, GRADES, grades.no_rounds)
        if grades.no_rounds
        else alpha("ordinal", first, drawn(first.times)),
        "alpha_ordinal_first_per_annotator": alpha("ordinal", repeated, drawn(repeated.times)),
        "exact_agreement": near(0),
        "within_one_agreement": near(1) if grades.highest > 1 else _figure(_ANY_TWO, GRADES),
        "within_tolerance_agreement": near(grades.tolerance),
    }
    return {**found, **_kappas(couples, grades.pairs, resamples, seed), **_shares(kinds, all_rounds, grades.may_go_on)}


def _kappas(couples: Couples, units: int, resamples: int, seed: int) -> dict[str, Figure]:
    samples = bootstrap.mean_kappas(couples, units, MIN_SHARED, resamples=resamples, seed=seed)
    named: dict[str, Weights] = {"kappa_plain": "plain", "kappa_quadratic": "quadratic"}
    return {
        key: _figure(mean_kappa(couples, weights, MIN_SHARED), COUPLES, samples[weights])
        for key, weights in named.items()
    }


def _shares(kinds: Patterns, drawn: Integers, may_go_on: bool) -> dict[str, Figure]:
    """Return the shares of pairs that are settled by two grades, settled by four, discarded, or rounded.

    Rounded pairs are those in consensus whose mean grade lies halfway between two grades; their share is taken of all
    pairs in consensus. The other shares are taken of all pairs. `drawn` has bootstrap resamples, for the intervals. If
    `may_go_on` is False, pairs that lack grades count as discarded.
    """
    consensus = kinds.having(Verdict.CONSENSUS)
    whole = np.ones(len(kinds.times), dtype=bool)
    shares = {
        "share_settled_by_two": (kinds.having(Verdict.CONSENSUS, size=2), whole, PAIRS),
        "share_settled_by_four": (kinds.having(Verdict.CONSENSUS, size=4), whole, PAIRS),
        "share_discarded": (kinds.without_relevance(may_go_on), whole, PAIRS),
        "share_rounded": (kinds.on_a_half(), consensus, SETTLED),
    }
    found = {}
    for key, (part, base, base_name) in shares.items():
        n = int(kinds.times[base].sum())
        value = (
            Agreement(int(kinds.times[part].sum()) / n, n)
            if n
            else Agreement(None, 0, said("there are no {of}", of=base_name))
        )
        below = drawn[:, base].sum(axis=1)
        samples = np.full(len(drawn), np.nan)
        np.divide(drawn[:, part].sum(axis=1), below, out=samples, where=below > 0)
        found[key] = _figure(value, base_name, samples)
    return found


def _coincidence_figure(
    found: Agreement, given: Patterns, drawn: Integers, measure: Callable[[Floats], Floats]
) -> Figure:
    """Return a figure of agreement, completed by its bootstrap interval.

    `found` is the figure without the interval, and `given` has the grades of the pairs. `measure` computes the figure
    from a matrix that counts how often each two grades were given to the same pair. `drawn` has the bootstrap
    resamples.
    """
    return _figure(found, GRADES, measure(np.tensordot(drawn, coincidences(given.counts), 1)))


def _figure(found: Agreement, of: str, samples: Floats | None = None) -> Figure:
    between = None if samples is None or found.value is None else bootstrap.interval(samples)
    low, high = between or (None, None)
    return Figure(found.value, found.n, of, found.reason, low, high)


WAITING = (Verdict.OPEN, Verdict.ESCALATED)


class GradeSummary(TypedDict):
    """The summary that `reelrank consensus --json` prints: numbers of pairs by verdict, and statistics of agreement.

    `rule` is the version of the consensus rule, and `rows` the number of grades. `relevance` counts the pairs in
    consensus and the adjudicated ones by their relevance. `undefined` says why a statistic is None.
    """

    rule: str
    rows: int
    pairs: int
    annotators: int
    consensus: int
    discarded: int
    adjudicated: int
    undecided: dict[str, int]
    """Pairs that lack grades: "one", "two" (that do not agree), "three"; "four" and "five" for re-opened pairs, if any.

    Where the file does not say that its campaign may go on, they are among the `discarded`: then `consensus + discarded
    == pairs`. Else `consensus`, `discarded`, `adjudicated` and `undecided` add up to `pairs`.
    """
    relevance: dict[str, int]
    settled_by_two: int
    settled_by_four: int
    settled_by_six: int
    """Settled by six grades, after a lead re-opened the pair for two more people."""
    alpha_ordinal: float | None
    alpha_nominal: float | None
    alpha_interval: float | None
    alpha_ordinal_first_per_annotator: float | None
    """Alpha without the second and later grades that one annotator gave to one pair."""
    exact_agreement: float | None
    within_one_agreement: float | None
    kappa_plain: float | None
    """Mean of Cohen's kappa over `kappa_couples` couples of annotators who share at least 50 pairs."""
    kappa_quadratic: float | None
    kappa_couples: int
    pairs_graded_twice_by_one: int
    duplicate_rows: int
    undefined: dict[str, str]


def summary(grades: GradedPairs, kinds: Patterns, found: Mapping[str, Figure]) -> GradeSummary:
    """Return the summary of all grades: verdicts, relevances, agreement, and how often somebody graded a pair twice.

    Args:
        grades: all current grades.
        kinds: the different combinations of grades that these pairs have.
        found: what `figures` returned for the same grades.
    """
    times = kinds.times
    settled = {size: int(times[kinds.having(Verdict.CONSENSUS, size=size)].sum()) for size in (2, 4, 6)}
    names = ("one", "two", "three", "four", "five")
    undecided = {name: int(times[kinds.having(*WAITING, size=n)].sum()) for n, name in enumerate(names, 1)}
    has = kinds.relevance >= 0
    relevance = np.bincount(kinds.relevance[has], weights=times[has], minlength=grades.highest + 1).astype(int)
    twice, duplicates = repeats(grades)
    return GradeSummary(
        rule=RULE_VERSION,
        rows=len(grades.grade),
        pairs=grades.pairs,
        annotators=len(grades.people),
        consensus=sum(settled.values()),
        discarded=int(times[kinds.without_relevance(grades.may_go_on)].sum()),
        adjudicated=int(times[kinds.having(Verdict.ADJUDICATED)].sum()),
        undecided={name: count for name, count in undecided.items() if count or name in names[:3]},
        relevance={str(value): count for value, count in enumerate(relevance.tolist())},
        settled_by_two=settled[2],
        settled_by_four=settled[4],
        settled_by_six=settled[6],
        alpha_ordinal=found["alpha_ordinal"].value,
        alpha_nominal=found["alpha_nominal"].value,
        alpha_interval=found["alpha_interval"].value,
        alpha_ordinal_first_per_annotator=found["alpha_ordinal_first_per_annotator"].value,
        exact_agreement=found["exact_agreement"].value,
        within_one_agreement=found["within_one_agreement"].value,
        kappa_plain=found["kappa_plain"].value,
        kappa_quadratic=found["kappa_quadratic"].value,
        kappa_couples=found["kappa_plain"].n,
        pairs_graded_twice_by_one=twice,
        duplicate_rows=duplicates,
        undefined={name: found[name].reason for name in STATISTICS if found[name].value is None},
    )


def repeats(grades: GradedPairs) -> tuple[int, int]:
    """Return (pairs that one person graded twice or more, grades that repeat an earlier one).

    A grade repeats an earlier one if pair, person and grade are equal.
    """
    pair, annotator = grades.pair, grades.annotator
    first_grades = first_per_annotator(pair, annotator)
    twice = np.bincount(pair, minlength=grades.pairs) > np.bincount(pair[first_grades], minlength=grades.pairs)
    # Sorted here, because `np.unique` without indices would block all other threads.
    triples = np.sort((pair * len(grades.people) + annotator) * (grades.highest + 1) + grades.grade)
    return int(twice.sum()), int((triples[1:] == triples[:-1]).sum())
