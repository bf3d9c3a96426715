"""The headline figures against packages, loops and counting by hand, and their intervals against slow resampling."""

import itertools
from collections.abc import Callable
from dataclasses import replace

import krippendorff
import numpy as np
import pytest

from backend.campaign.judging.rules import decide
from backend.campaign.monitoring.quality.model import Figure
from backend.campaign.monitoring.quality.rules.figures import figures
from backend.campaign.monitoring.quality.rules.pairs import UNDECIDED, GradedPairs, patterns
from backend.campaign.nouns import Rounding, Verdict
from backend.scoring.statistics import bootstrap
from backend.scoring.statistics.agreement import couples_of
from graded import a_campaign, graded


def found_of(grades: GradedPairs, resamples: int = 0, seed: int = 0) -> dict[str, Figure]:
    return figures(grades, grades.patterns(), resamples=resamples, seed=seed)


def alpha(counts: np.ndarray, level: str = "ordinal") -> float:
    return float(krippendorff.alpha(value_counts=counts, level_of_measurement=level, value_domain=range(5)))


def near(counts: np.ndarray, within: int) -> float:
    """The share of comparisons that differ by so much at most, each grade compared with the others of its pair."""
    close = grades = 0.0
    for row in counts:
        given = np.repeat(np.arange(5), row).tolist()
        if len(given) > 1:
            grades += len(given)
            close += sum(abs(a - b) <= within for a, b in itertools.permutations(given, 2)) / (len(given) - 1)
    return close / grades


def kappa(both: list[tuple[int, int]], apart: Callable[[int, int], float]) -> float:
    """Cohen's, as one minus how far grades of one pair are apart, over how far any two grades of the two people are."""
    first, second = zip(*both, strict=True)
    anyhow = [apart(a, b) for a, b in itertools.product(first, second)]
    return 1 - float(np.mean([apart(a, b) for a, b in both])) / float(np.mean(anyhow))


def a_graded_campaign() -> GradedPairs:
    """Up to four people a pair, two of them in its first round; one graded some pairs twice; a lead decided two."""
    found = graded(a_campaign(5, units=150, people=4), decided={3: 0, 8: 4}, tolerance=2)
    again = np.flatnonzero(found.annotator == 0)[:20]
    pair = np.concatenate([found.pair, found.pair[again]])
    # A repeated grade is a fifth of a few pairs otherwise, and the rule knows of no fifth.
    fits = np.bincount(pair)[pair] <= 4
    rows = np.flatnonzero(fits | (np.arange(len(pair)) < len(found.pair)))
    grade = np.concatenate([found.grade, 4 - found.grade[again]])[rows]
    annotator = np.concatenate([found.annotator, found.annotator[again]])[rows]
    return replace(found, pair=pair[rows], annotator=annotator, grade=grade, first_round=annotator < 2)


def counts_of(grades: GradedPairs, rows: list[int]) -> np.ndarray:
    counts = np.zeros((grades.pairs, 5), dtype=np.int64)
    for row in rows:
        counts[grades.pair[row], grades.grade[row]] += 1
    return counts


def shares(grades: GradedPairs, counts: np.ndarray, decided: list[int]) -> dict[str, float]:
    settled = []
    for row, lead in zip(counts, decided, strict=True):
        given = np.repeat(np.arange(5), row).tolist()
        decision = decide(given, grades.tolerance, grades.rounding)
        verdict = Verdict.ADJUDICATED if lead >= 0 else decision.verdict
        half = verdict is Verdict.CONSENSUS and decision.mean is not None and decision.mean % 1 == 0.5
        settled.append((verdict, len(given), half))
    consensus = [one for one in settled if one[0] is Verdict.CONSENSUS]
    return {
        "share_settled_by_two": sum(size == 2 for _, size, _ in consensus) / len(settled),
        "share_settled_by_four": sum(size == 4 for _, size, _ in consensus) / len(settled),
        "share_discarded": sum(verdict is Verdict.DISCARDED for verdict, _, _ in settled) / len(settled),
        "share_rounded": sum(half for _, _, half in consensus) / len(consensus),
    }


def test_every_figure_is_that_of_a_package_or_of_counting() -> None:
    grades = a_graded_campaign()
    everything = list(range(len(grades.grade)))
    seen: set[tuple[int, int]] = set()
    once = [
        row
        for row in everything
        if (key := (int(grades.pair[row]), int(grades.annotator[row]))) not in seen and not seen.add(key)
    ]
    assert len(once) < len(everything), "somebody graded twice"
    whole, first, kept = (
        counts_of(grades, rows) for rows in (everything, [row for row in everything if grades.annotator[row] < 2], once)
    )
    given = {who: {int(grades.pair[row]): int(grades.grade[row]) for row in reversed(everything)
                   if grades.annotator[row] == who} for who in range(4)}  # fmt: skip
    kappas: dict[str, list[float]] = {"kappa_plain": [], "kappa_quadratic": []}
    for one, other in itertools.combinations(range(4), 2):
        both = sorted(given[one].keys() & given[other].keys())
        assert len(both) >= 50
        grades_of_both = [(given[one][pair], given[other][pair]) for pair in both]
        kappas["kappa_plain"].append(kappa(grades_of_both, lambda a, b: a != b))
        kappas["kappa_quadratic"].append(kappa(grades_of_both, lambda a, b: (a - b) ** 2))
    expected = {
        "alpha_ordinal": alpha(whole),
        "alpha_nominal": alpha(whole, "nominal"),
        "alpha_interval": alpha(whole, "interval"),
        "alpha_ordinal_first_round": alpha(first),
        "alpha_ordinal_first_per_annotator": alpha(kept),
        "exact_agreement": near(whole, 0),
        "within_one_agreement": near(whole, 1),
        "within_tolerance_agreement": near(whole, 2),
        **{key: float(np.mean(values)) for key, values in kappas.items()},
        **shares(grades, whole, grades.decided.tolist()),
    }
    found = found_of(grades)
    assert {key: one.value for key, one in found.items()} == pytest.approx(expected, abs=1e-12)
    assert len(set(expected.values())) == len(expected), "no figure may stand in for another"
    assert all((one.reason, one.low, one.high) == ("", None, None) for one in found.values())
    comparable = {"whole": whole, "first": first, "once": kept}
    n = {key: int(counts[counts.sum(axis=1) > 1].sum()) for key, counts in comparable.items()}
    kinds = grades.patterns()
    consensus = sum(kinds.verdict[kind] is Verdict.CONSENSUS for kind in kinds.of_pair)
    assert {key: (one.n, one.of) for key, one in found.items()} == {
        **dict.fromkeys(("alpha_ordinal", "alpha_nominal", "alpha_interval"), (n["whole"], "grades")),
        **dict.fromkeys(("exact_agreement", "within_one_agreement"), (n["whole"], "grades")),
        "within_tolerance_agreement": (n["whole"], "grades"),
        "alpha_ordinal_first_round": (n["first"], "grades"),
        "alpha_ordinal_first_per_annotator": (n["once"], "grades"),
        **dict.fromkeys(("kappa_plain", "kappa_quadratic"), (6, "couples of annotators")),
        **dict.fromkeys(("share_settled_by_two", "share_settled_by_four", "share_discarded"), (150, "pairs")),
        "share_rounded": (consensus, "pairs in consensus"),
    }


def test_patterns_are_drawn_like_pairs() -> None:
    """With the draws of patterns in hand, a slow loop that builds every resample finds each value again."""
    grades = a_graded_campaign()
    found = found_of(grades, resamples=15, seed=3)
    kinds = grades.patterns()
    once = grades.counts_of(np.unique(grades.pair * 4 + grades.annotator, return_index=True)[1])

    def resampled(counts: np.ndarray, times: np.ndarray) -> list[np.ndarray]:
        drawn = bootstrap.drawn_patterns(times, resamples=15, seed=3)
        assert drawn.sum(axis=1).tolist() == [150] * 15
        return [np.repeat(np.arange(len(counts)), often) for often in drawn]

    def bounds(values: list[float]) -> tuple[float, float]:
        return tuple(np.quantile(values, [0.025, 0.975]).tolist())

    draws = resampled(kinds.counts, kinds.times)
    expected = {
        **{f"alpha_{level}": bounds([alpha(kinds.counts[rows], level) for rows in draws])
           for level in ("ordinal", "nominal", "interval")},
        "exact_agreement": bounds([near(kinds.counts[rows], 0) for rows in draws]),
        "within_one_agreement": bounds([near(kinds.counts[rows], 1) for rows in draws]),
        "within_tolerance_agreement": bounds([near(kinds.counts[rows], 2) for rows in draws]),
    }  # fmt: skip
    for key in ("share_settled_by_two", "share_settled_by_four", "share_discarded", "share_rounded"):
        expected[key] = bounds(
            [shares(grades, kinds.counts[rows], kinds.decided[rows].tolist())[key] for rows in draws]
        )
    for key, counts in (
        ("alpha_ordinal_first_round", grades.first_counts()),
        ("alpha_ordinal_first_per_annotator", once),
    ):
        of = patterns(counts, np.full(150, UNDECIDED), 2, Rounding.HALF_UP)
        expected[key] = bounds([alpha(of.counts[rows]) for rows in resampled(of.counts, of.times)])
    couples = couples_of(grades.pair, grades.annotator, grades.grade)
    kappas = bootstrap.mean_kappas(couples, 150, 50, resamples=15, seed=3)
    expected |= {f"kappa_{weights}": bounds(values.tolist()) for weights, values in kappas.items()}
    assert expected.keys() == found.keys()
    for key, (low, high) in expected.items():
        assert (found[key].low, found[key].high) == pytest.approx((low, high), abs=1e-12), key


@pytest.mark.long
def test_intervals_are_those_of_resampling_pair_by_pair() -> None:
    """The same pairs, drawn one by one and counted the long way, give the interval of the fast one."""
    table = a_campaign(1, units=150)
    fast = found_of(graded(table), resamples=400)
    rng = np.random.default_rng(7)
    slow = {"alpha_ordinal": [], "exact_agreement": [], "share_settled_by_two": []}
    for _ in range(400):
        again = found_of(graded([table[unit] for unit in rng.integers(0, len(table), len(table))]))
        for key, values in slow.items():
            values.append(again[key].value)
    for key, values in slow.items():
        low, high = np.quantile(values, [0.025, 0.975])
        width = high - low
        # Other draws, so alike within what 400 of them can tell.
        assert fast[key].low == pytest.approx(low, abs=0.2 * width)
        assert fast[key].high == pytest.approx(high, abs=0.2 * width)
        assert fast[key].low < fast[key].value < fast[key].high


def test_what_is_not_known_or_means_nothing_says_why() -> None:
    unknown = replace(graded([[0, 1], [1, 1]], highest=1), first_round=None, no_rounds="nobody says who came first")
    found = found_of(unknown, resamples=5)
    assert found["alpha_ordinal_first_round"] == Figure(None, 0, "grades", "nobody says who came first")
    assert found["within_one_agreement"] == Figure(None, 0, "grades", "with two grades, any two are within one")
    assert found_of(graded([[0, 2], [1, 1]], highest=2))["within_one_agreement"].value == 0.5
    with np.errstate(all="raise"):
        waiting = found_of(graded([[0, 4]]), resamples=5)
    assert waiting["share_rounded"] == Figure(None, 0, "pairs in consensus", "there are no pairs in consensus")
    assert waiting["share_settled_by_two"] == Figure(0.0, 1, "pairs", "", 0.0, 0.0)
    nothing = found_of(graded([]), resamples=5)
    assert nothing["share_discarded"] == Figure(None, 0, "pairs", "there are no pairs")
    assert nothing["kappa_plain"].reason == "no pair was graded by two annotators"


def test_whoever_lacks_grades_is_discarded_where_nobody_goes_on() -> None:
    table = [[1, None], [0, 4], [2, 2], [3, 3]]
    assert found_of(graded(table))["share_discarded"].value == 0
    assert found_of(graded(table, may_go_on=False))["share_discarded"].value == 0.5


def test_couples_of_few_shared_pairs_are_in_no_kappa() -> None:
    table = [[n % 5, n % 4] for n in range(50)]
    assert found_of(graded(table))["kappa_plain"].n == 1
    assert found_of(graded(table[:49]))["kappa_plain"].reason == "no two annotators share 50 pairs"


def test_couples_that_somebody_has_are_not_sought_again() -> None:
    grades = graded([[n % 5, n % 5] for n in range(60)])
    couples = couples_of(grades.pair, grades.annotator, np.where(grades.annotator == 0, grades.grade, 0))
    found = figures(grades, grades.patterns(), couples)
    assert found["kappa_plain"].value == pytest.approx(0.0, abs=1e-12)
    assert {(one.low, one.high) for one in found.values()} == {(None, None)}, "no resamples unless asked for"
