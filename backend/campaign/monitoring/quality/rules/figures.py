"""The headline figures of agreement over all pairs, each with its base and, where asked for, its interval.

Two alphas have a name of their own: over all grades that count, and over first-round grades alone. There is none within
the pairs of two or of four grades: who has four was chosen by disagreement, so both would be artefacts of selection.
"""

from collections.abc import Callable
from functools import partial

import numpy as np

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
"""What `reelrank consensus --json` has, by its keys."""

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
    """Every figure by its key: alphas, observed agreement, kappas, shares of pairs.

    Args:
        grades: all that count.
        kinds: the patterns of their pairs.
        couples: of the same grades, where somebody has them already.
        resamples: of the pairs, for intervals; 0 for none.
        seed: of the resamples.
    """
    kept = first_per_annotator(grades.pair, grades.annotator)
    once = grades.counts_of(kept)
    couples = couples_of(grades.pair, grades.annotator, grades.grade) if couples is None else couples
    drawn = partial(bootstrap.drawn_patterns, resamples=resamples, seed=seed)
    all_rounds = drawn(kinds.times)

    def alpha(level: Level, given: Patterns, draws: Integers) -> Figure:
        return _coincident(
            krippendorff_alpha(given.counts, level, given.times), given, draws, partial(alphas, level=level)
        )

    def near(within: int) -> Figure:
        found = observed_agreement(kinds.counts, within, kinds.times)
        return _coincident(found, kinds, all_rounds, partial(shares_within, within=within))

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
        "within_one_agreement": near(1) if grades.highest > 1 else _told(_ANY_TWO, GRADES),
        "within_tolerance_agreement": near(grades.tolerance),
    }
    return {**found, **_kappas(couples, grades.pairs, resamples, seed), **_shares(kinds, all_rounds, grades.may_go_on)}


def _kappas(couples: Couples, units: int, resamples: int, seed: int) -> dict[str, Figure]:
    samples = bootstrap.mean_kappas(couples, units, MIN_SHARED, resamples=resamples, seed=seed)
    named: dict[str, Weights] = {"kappa_plain": "plain", "kappa_quadratic": "quadratic"}
    return {
        key: _told(mean_kappa(couples, weights, MIN_SHARED), COUPLES, samples[weights])
        for key, weights in named.items()
    }


def _shares(kinds: Patterns, drawn: Integers, may_go_on: bool) -> dict[str, Figure]:
    """Of all pairs, those settled by two and by four and the discarded; of those in consensus, those on a half."""
    consensus = kinds.having(Verdict.CONSENSUS)
    whole = np.ones(len(kinds.times), dtype=bool)
    asked = {
        "share_settled_by_two": (kinds.having(Verdict.CONSENSUS, size=2), whole, PAIRS),
        "share_settled_by_four": (kinds.having(Verdict.CONSENSUS, size=4), whole, PAIRS),
        "share_discarded": (kinds.without_relevance(may_go_on), whole, PAIRS),
        "share_rounded": (kinds.on_a_half(), consensus, SETTLED),
    }
    found = {}
    for key, (part, base, of) in asked.items():
        n = int(kinds.times[base].sum())
        value = (
            Agreement(int(kinds.times[part].sum()) / n, n)
            if n
            else Agreement(None, 0, said("there are no {of}", of=of))
        )
        below = drawn[:, base].sum(axis=1)
        samples = np.full(len(drawn), np.nan)
        np.divide(drawn[:, part].sum(axis=1), below, out=samples, where=below > 0)
        found[key] = _told(value, of, samples)
    return found


def _coincident(found: Agreement, given: Patterns, drawn: Integers, measure: Callable[[Floats], Floats]) -> Figure:
    """A figure that is a function of coincidences alone."""
    return _told(found, GRADES, measure(np.tensordot(drawn, coincidences(given.counts), 1)))


def _told(found: Agreement, of: str, samples: Floats | None = None) -> Figure:
    between = None if samples is None or found.value is None else bootstrap.interval(samples)
    low, high = between or (None, None)
    return Figure(found.value, found.n, of, found.reason, low, high)
