"""Values of a replay: the grades of a finished campaign, and what a policy that saves grades is told."""

from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from backend.campaign.nouns import Rounding
from backend.core.timespan import Flags
from backend.scoring.gain import OwnGain
from backend.scoring.matching.discount import Gain

Codes = NDArray[np.int64]

_FIRST_TWO = np.array(list(combinations(range(4), 2)))
"""The six ways to choose which two of four grades came first."""


@dataclass(frozen=True, slots=True, eq=False)
class GivenGrades:
    """The grades of a finished campaign, and the pairs that they were given to, each with one grade or more.

    Pairs are grouped by query and in rank order; grades are grouped by pair and in the order of giving. Where the files
    do not tell this order, `drawn_order` draws one.

    Attributes:
        query: the number of each pair's query, from 0 without a gap; shape [pairs].
        batch: the batch in which each pair was handed out, from 1; shape [pairs].
        decided: the relevance that a lead decided on, -1 where none did; shape [pairs].
        re_opened: whether a lead asked two more annotators; shape [pairs].
        pair: the number of each grade's pair; shape [grades].
        annotator: the number of each grade's annotator; shape [grades].
        grade: the grade; shape [grades].
        round: the round of each grade from 1, or 0 if the files do not tell it; shape [grades].
        timed: whether the files tell when each grade was given.
        highest: the highest grade of the scale.
        tolerance: how far two grades may differ and still agree.
        rounding: how a mean of x.5 is rounded.
    """

    query: Codes
    batch: Codes
    decided: Codes
    re_opened: Flags
    pair: Codes
    annotator: Codes
    grade: Codes
    round: Codes
    timed: bool
    highest: int
    tolerance: int
    rounding: Rounding

    @property
    def pairs(self) -> int:
        """The number of pairs."""
        return len(self.query)

    @property
    def seat(self) -> Codes:
        """The place of each grade among those of its pair, from 0; shape [grades]."""
        return np.arange(len(self.pair)) - np.searchsorted(self.pair, self.pair)

    @property
    def position(self) -> Codes:
        """The place of each pair among those of its query, from 0; shape [pairs]."""
        return np.arange(self.pairs) - np.searchsorted(self.query, self.query)

    def of_queries(self, wanted: Flags) -> "GivenGrades":
        """Return the pairs and grades of the marked queries only; `wanted` has shape [queries]."""
        kept = wanted[self.query]
        by_grade = kept[self.pair]
        columns = {
            field.name: getattr(self, field.name)[kept if field.name in _OF_PAIRS else by_grade]
            for field in fields(self)
            if field.name in (*_OF_PAIRS, *_OF_GRADES)
        }
        columns["query"] = (np.cumsum(wanted) - 1)[columns["query"]]
        columns["pair"] = (np.cumsum(kept) - 1)[columns["pair"]]
        return replace(self, **columns)

    def drawn_order(self, generator: np.random.Generator) -> "GivenGrades":
        """Return the grades in a possible order of giving, drawn at random where the files do not tell it.

        All orders in which a pair can have got its grades are equally likely. Third and fourth grades follow a
        disagreement, so the first two of four differ by more than the tolerance, unless no two of the four do.
        """
        if self.timed:
            return self
        chance = generator.random(len(self.pair))
        order = np.lexsort((chance, self.round, self.pair))
        size = np.bincount(self.pair, minlength=self.pairs)
        begin = np.cumsum(size) - size
        four = begin[(size == 4) & (self.round[begin] == 0)]
        if len(four):
            rows = order[four[:, None] + np.arange(4)]
            apart = np.abs(np.diff(self.grade[rows][:, _FIRST_TWO], axis=2))[..., 0] > self.tolerance
            apart |= ~apart.any(axis=1, keepdims=True)
            first = _FIRST_TWO[(generator.random(apart.shape) * apart).argmax(axis=1)]
            later = np.ones(rows.shape, dtype=bool)
            np.put_along_axis(later, first, False, axis=1)
            places = np.argsort(later, axis=1, kind="stable")
            order[four[:, None] + np.arange(4)] = np.take_along_axis(rows, places, axis=1)
        return replace(self, **{name: getattr(self, name)[order] for name in _OF_GRADES})


_OF_PAIRS = ("query", "batch", "decided", "re_opened")
_OF_GRADES = ("pair", "annotator", "grade", "round")


@dataclass(frozen=True, slots=True, eq=False)
class Evidence:
    """What a policy may look at: the grades, and where the systems rank each pair.

    Attributes:
        given: the grades.
        relevance: the relevance of each pair by all its grades, -1 without; shape [pairs].
        taken_at: the rank, from 1, at which each system finds each pair, 0 where it does not; shape [systems, pairs].
        k: the rank cut-off of the measure.
        gain: the gain of the measure.
        generator: for policies that draw.
    """

    given: GivenGrades
    relevance: Codes
    taken_at: Codes
    k: int
    gain: Gain | OwnGain
    generator: np.random.Generator


@dataclass(frozen=True, slots=True)
class Policy:
    """A way to collect fewer grades.

    Attributes:
        name: its name on the command line.
        about: what it does, for tables; `setting` is its number there.
        settings: the settings that are tried unless the caller names others.
        lowest: the lowest setting that makes sense.
        highest: the highest setting that makes sense.
        draws: whether it depends on the order of the grades of a pair, or on random numbers.
        used: returns which grades the policy would have collected, for one setting; shape [grades].
    """

    name: str
    about: str
    settings: tuple[float, ...]
    lowest: float
    highest: float
    draws: bool
    used: Callable[[Evidence, float], Flags]


@dataclass(frozen=True, slots=True)
class ScoreChange:
    """How a policy changes the scores of systems; intervals are of 95 %, over samples of queries and over draws.

    Attributes:
        change: the change of the systems' mean score, averaged over the systems, with its interval.
        largest: the largest change of one system's mean score, and that system's number.
        tau: Kendall's tau-b between the orders of systems with all grades and with fewer, with its interval; None if
            one of them ties all systems.
        swapped: how many pairs of systems change their order; averaged over draws.
    """

    change: tuple[float, float, float]
    largest: tuple[float, int]
    tau: tuple[float, float, float] | None
    swapped: float
