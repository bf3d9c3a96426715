"""What the grades of a campaign come to, in numbers: what `reelrank consensus` prints, and the board begins with."""

from collections.abc import Mapping
from typing import TypedDict

import numpy as np

from backend.campaign.judging.rules import RULE_VERSION
from backend.campaign.monitoring.quality.model import Figure
from backend.campaign.monitoring.quality.rules.figures import STATISTICS
from backend.campaign.monitoring.quality.rules.pairs import GradedPairs, Patterns
from backend.campaign.nouns import Verdict
from backend.scoring.statistics.agreement import first_per_annotator

WAITING = (Verdict.OPEN, Verdict.ESCALATED)


class GradeSummary(TypedDict):
    """What `reelrank consensus --json` prints. Statistics that are None are explained in `undefined`."""

    rule: str
    rows: int
    pairs: int
    annotators: int
    consensus: int
    discarded: int
    adjudicated: int
    undecided: dict[str, int]
    """Pairs that lack grades: "one", "two" (that do not agree), "three"; of re-opened ones "four" and "five", which are
    named only where there are any. Where the file does not say that its
    campaign may go on, they are among the `discarded`: then `consensus + discarded == pairs`. Else all four add up.
    """
    relevance: dict[str, int]
    """Of the pairs in consensus and the adjudicated ones."""
    settled_by_two: int
    settled_by_four: int
    settled_by_six: int
    """Pairs that a lead re-opened for two more people."""
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
    """Verdicts, relevances, agreement and oddities.

    Args:
        grades: all that count.
        kinds: the patterns of their pairs.
        found: of `figures`.
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
    """In how many pairs somebody graded twice, and how many grades repeat an earlier one of the same person exactly."""
    pair, annotator = grades.pair, grades.annotator
    kept = first_per_annotator(pair, annotator)
    twice = np.bincount(pair, minlength=grades.pairs) > np.bincount(pair[kept], minlength=grades.pairs)
    # Sorted by hand: `np.unique` without indices would keep all other threads waiting.
    triples = np.sort((pair * len(grades.people) + annotator) * (grades.highest + 1) + grades.grade)
    return int(twice.sum()), int((triples[1:] == triples[:-1]).sum())
