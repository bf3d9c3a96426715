"""Grades of a whole campaign as columns, and the distinct patterns of grades that pairs have.

A *pattern* is how often each grade was given to a pair, and what a lead decided. Tens of thousands of pairs have only
about a hundred patterns. Figures that do not depend on who graded are computed from the patterns and the number of
pairs with each.
"""

from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from backend.campaign.judging.rules import MOST_GRADES, decide
from backend.campaign.nouns import Rounding, Verdict
from backend.scoring.statistics.agreement import Floats, Integers, count_grades

Codes = NDArray[np.int64]
UNDECIDED = -1
"""Marks pairs that no lead decided, and missing queries, splits and days."""


@dataclass(frozen=True, slots=True, eq=False)
class GradedPairs:
    """The current grades of some pairs as columns, in the order of giving where that is known.

    `pair`, `annotator` and `grade` have one entry per grade given. Pairs and annotators are numbered from 0; `people`
    has the annotators' names. `decided` has one entry per pair: the relevance that a lead decided on, -1 where none
    did. `highest` is the highest grade of the scale. Two grades agree if they differ by at most `tolerance`.
    `may_go_on` says whether further grades can still come. If not, pairs that lack grades count as discarded.

    `first_round`, with one entry per grade given, marks the first two grades of each pair. It is None if it is unknown
    which grades these are; `no_rounds` then says why. `re_opened`, with one entry per pair, marks the pairs that a lead
    re-opened for two more people after four grades. It is None where there are none.
    """

    people: tuple[str, ...]
    pair: Codes
    annotator: Codes
    grade: Codes
    decided: Codes
    highest: int
    tolerance: int
    rounding: Rounding
    may_go_on: bool
    first_round: NDArray[np.bool_] | None = None
    no_rounds: str = ""
    re_opened: NDArray[np.bool_] | None = None

    @property
    def pairs(self) -> int:
        """The number of pairs."""
        return len(self.decided)

    def counts(self) -> NDArray[np.int64]:
        """Return how often each grade was given to each pair, shape [pairs, grades of the scale]."""
        return self.counts_of(slice(None))

    def counts_of(self, rows: Codes | NDArray[np.bool_] | slice) -> NDArray[np.int64]:
        """Return how often each grade was given to each pair, shape [pairs, grades of the scale].

        Only the given grades that `rows` selects are counted.
        """
        found = count_grades(self.pair[rows], self.grade[rows], self.highest + 1)
        return np.vstack([found, np.zeros((self.pairs - len(found), self.highest + 1), dtype=np.int64)])

    def patterns(self) -> "Patterns":
        """Return the distinct patterns of the pairs: how often each grade was given, and a lead's decision."""
        return patterns(self.counts(), self.decided, self.tolerance, self.rounding, self.re_opened)

    def first_counts(self) -> NDArray[np.int64]:
        """Return how often each grade was given to each pair in its first round, shape [pairs, grades of the scale].

        Only grades that are known to be among the first two of their pair are counted.
        """
        return self.counts_of(slice(0) if self.first_round is None else self.first_round)


@dataclass(frozen=True, slots=True, eq=False)
class Patterns:
    """The distinct patterns of grades that pairs have: how often each grade was given, and what a lead decided.

    `counts` has shape [patterns, grades of the scale]. `of_pair` has the number of each pair's pattern. All other
    fields have one entry per pattern. `decided` is a lead's relevance, and `relevance` the final one (-1 without).
    `times` is the number of pairs with the pattern. `halves` says whether the mean lies between two grades.
    """

    counts: Codes
    decided: Codes
    times: Codes
    of_pair: Codes
    verdict: tuple[Verdict, ...]
    relevance: Codes
    halves: NDArray[np.bool_]

    @property
    def size(self) -> Codes:
        """Number of grades that a pair of each pattern has, shape [patterns]."""
        size: Codes = self.counts.sum(axis=1)
        return size

    def by(self, group: Integers, groups: int) -> Codes:
        """Return how many pairs of each group have each pattern of grades, shape [groups, patterns].

        `group` is the number of each pair's group; a pair with a number below 0 belongs to none. `groups` is the number
        of groups.
        """
        cells = group * len(self.times) + self.of_pair
        flat = np.bincount(cells[group >= 0], minlength=groups * len(self.times))
        return flat.reshape(groups, len(self.times))

    def having(self, *verdicts: Verdict, size: int | None = None) -> NDArray[np.bool_]:
        """Return which patterns have one of these verdicts, as booleans of shape [patterns].

        If `size` is given, they must also have this many grades.
        """
        found = np.array([verdict in verdicts for verdict in self.verdict], dtype=bool)
        return found if size is None else found & (self.size == size)

    def without_relevance(self, may_go_on: bool) -> NDArray[np.bool_]:
        """Return which patterns leave a pair without a relevance, as booleans of shape [patterns].

        These are the patterns that the consensus rule discards. If no further grades can come (`may_go_on` is False),
        they are also the patterns that lack grades.
        """
        waiting = (Verdict.OPEN, Verdict.ESCALATED)
        return self.having(Verdict.DISCARDED, *(() if may_go_on else waiting))

    def on_a_half(self) -> NDArray[np.bool_]:
        """Return which patterns have a consensus whose mean lies between two grades, so that rounding decides."""
        return self.having(Verdict.CONSENSUS) & self.halves


def patterns(
    counts: Integers,
    decided: Integers,
    tolerance: int,
    rounding: Rounding,
    re_opened: NDArray[np.bool_] | None = None,
) -> Patterns:
    """Return the distinct patterns of grades that pairs have, each with its number of pairs and its verdict.

    The verdict comes from a lead's decision, or else from the consensus rule.

    Args:
        counts: how often each grade was given to each pair, shape [pairs, grades].
        decided: a lead's relevance of each pair, -1 where there is none.
        tolerance: how far two grades may differ and still agree.
        rounding: how a mean of x.5 is rounded.
        re_opened: which pairs a lead re-opened. Pairs with more than four grades always count as re-opened.

    >>> found = patterns(np.array([[1, 1], [0, 2], [1, 1]]), np.array([-1, -1, -1]), 1, Rounding.HALF_UP)
    >>> found.times.tolist(), found.relevance.tolist(), found.of_pair.tolist()
    ([1, 2], [1, 1], [1, 0, 1])
    """
    # One number per pair, because `np.unique` over rows is ten times as slow.
    base = int(counts.max(initial=0)) + 1
    further = counts.sum(axis=1) > MOST_GRADES
    further = further if re_opened is None else further | re_opened
    key = (decided.astype(np.int64) + 1) * 2 + further
    for column in counts.T:
        key = key * base + column
    _, first, of_pair, times = np.unique(key, return_index=True, return_inverse=True, return_counts=True)
    kinds = counts[first].astype(np.int64)
    by_lead = decided[first].astype(np.int64)
    verdicts, relevance, halves = [], by_lead.copy(), np.zeros(len(by_lead), dtype=bool)
    for place, (kind, lead, more) in enumerate(zip(kinds, by_lead, further[first].tolist(), strict=True)):
        if lead != UNDECIDED:
            verdicts.append(Verdict.ADJUDICATED)
            continue
        decision = decide(np.repeat(np.arange(len(kind)), kind).tolist(), tolerance, rounding, re_opened=more)
        verdicts.append(decision.verdict)
        if decision.relevance is not None and decision.mean is not None:
            relevance[place], halves[place] = decision.relevance, decision.mean % 1 > 0
    return Patterns(kinds, by_lead, times, of_pair, tuple(verdicts), relevance, halves)


Truths = NDArray[np.bool_]


NOT_MEASURED = -1
"""Stands for an elapsed time that was not measured."""


@dataclass(frozen=True, slots=True, eq=False)
class Grades:
    """Grades as columns of equal length, in the order of giving.

    Attributes:
        pair: the pair's id, `pair_id`.
        seat: the place among the pair's graders, 1 to 6; 1 and 2 are the first round.
        annotator: the annotator's id, `annotator_id`.
        grade: the grade.
        at: when it was given, in seconds since 1970. An imported grade without a time of its own has the time of the
            import.
        timed: whether `at` is when the grade was given.
        active_ms: the time of active work in milliseconds; 0 where it was not measured.
        elapsed_ms: milliseconds from the first frame on screen to the key press; `NOT_MEASURED` where it was not
            measured.
    """

    pair: Codes
    seat: Codes
    annotator: Codes
    grade: Codes
    at: Floats
    timed: Truths
    active_ms: Codes
    elapsed_ms: Codes

    def __len__(self) -> int:
        """Return the number of grades."""
        return len(self.pair)

    def take(self, which: Codes | Truths) -> "Grades":
        """Return the grades that `which` selects, by index or by boolean mask."""
        return Grades(*(getattr(self, field.name)[which] for field in fields(self)))


@dataclass(frozen=True, slots=True, eq=False)
class Skips:
    """Skips (refusals to grade a pair) that were not taken back, as columns of equal length, the oldest first.

    `annotator` and `pair` are ids. `broken` says whether the clip was reported as broken. `at` is in seconds since
    1970.
    """

    annotator: Codes
    pair: Codes
    broken: Truths
    at: Floats

    def of(self, annotator_id: int) -> "Skips":
        """Return the skips of one annotator."""
        return self.take(self.annotator == annotator_id)

    def take(self, which: Truths) -> "Skips":
        """Return the skips that the boolean mask `which` selects."""
        return Skips(*(getattr(self, field.name)[which] for field in fields(self)))

    def pairs(self, only_broken: bool) -> Codes:
        """Return the ids of all skipped pairs, or only of those whose clip was reported as broken."""
        return self.pair[self.broken] if only_broken else self.pair


NO_SKIPS = Skips(*(np.empty(0, dtype=kind) for kind in (np.int64, np.int64, bool, np.float64)))


def standing(given: Grades) -> Grades:
    """Return the current grades: the newest revision of each, with the working times of all its revisions added up.

    The times are added because somebody who corrects a slip has seen the clip before. The elapsed time is unknown if it
    was not measured for one of the revisions.

    Args:
        given: every revision of every grade, older ones before newer ones.
    """
    if not len(given):
        return given
    key = given.pair * 8 + given.seat
    # Reversed, so that the first row of each key is its newest revision.
    _, newest, code = np.unique(key[::-1], return_index=True, return_inverse=True)
    if len(newest) == len(key):
        return given  # nobody corrected anything
    last, code = len(key) - 1 - newest, code[::-1]
    unmeasured = np.bincount(code, weights=given.elapsed_ms == NOT_MEASURED) > 0
    elapsed = np.where(unmeasured, NOT_MEASURED, _sums(code, given.elapsed_ms))
    order = np.argsort(last, kind="stable")
    kept = given.take(last[order])
    columns: dict[str, Any] = {field.name: getattr(kept, field.name) for field in fields(kept)}
    columns |= {"active_ms": _sums(code, given.active_ms)[order], "elapsed_ms": elapsed[order]}
    return Grades(**columns)


def _sums(code: Codes, values: Codes) -> Codes:
    """Return, for each code from 0, the sum of `values` at the positions with this code. Sums below 2**53 are exact."""
    return np.bincount(code, weights=values).astype(np.int64)
