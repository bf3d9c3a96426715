"""Values of the judge report, which measures a model's grades against people's."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from backend.campaign.monitoring.model_judge.model import Judge
from backend.campaign.monitoring.quality.model import Figure
from backend.core.messages import said
from backend.scoring.statistics.orders import OrderChange

LEFT_OUT = {
    "probe": said("the pair is judged for a probe only"),
    "unsettled": said("people have not settled the pair yet, or discarded it"),
    "one_grade": said("the pair has fewer than two grades of people"),
    "model_seen": said("a lead decided after they had opened what a model said"),
}
"""Why a pair with a model's grade is not compared, by its key in `JudgeReport.left_out`."""

FIGURE_WORDS = {
    "kappa_quadratic": said("Kappa, quadratic: model and relevance"),
    "kappa_quadratic_half": said("Kappa, quadratic: model and half of the people"),
    "kappa_quadratic_people": said("Kappa, quadratic: two halves of the people"),
    "alpha_people": said("Alpha, ordinal: people"),
    "alpha_with_model": said("Alpha, ordinal: people and model"),
    "alpha_change": said("Change of alpha by the model"),
    "equal": said("Equal to the relevance"),
    "within_one": said("Within one of the relevance"),
    "bias": said("Bias of the model"),
}
"""Maps each figure of the report to its name on screen, in the order in which they are read."""


@dataclass(frozen=True, slots=True)
class BiasGroup:
    """The bias of a model in one group of pairs: the mean of its grade minus the unrounded grade that people agreed on.

    `name` is the group: a relevance, a range of words of the query, or a show. Above 0, the model is more generous.
    """

    name: str
    pairs: int
    bias: Figure


@dataclass(frozen=True, slots=True)
class SplitSpread:
    """The mean of a figure over several random splits of the people, and its lowest and highest value."""

    mean: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class MeasureOrder:
    """How one measure orders the systems by the truth of people and by that of the model.

    Attributes:
        change: tau-b of the two orders, and the largest swap of two systems.
        half: tau-b of the orders by the model and by a random half of the people; None where it is undefined.
        people: tau-b of the orders by two random halves of the people, the ceiling; None where it is undefined.
    """

    change: OrderChange
    half: SplitSpread | None
    people: SplitSpread | None


@dataclass(frozen=True, slots=True)
class JudgeReport:
    """How the grades of a judge (a model with its prompt) compare with people's, over the pairs that both graded.

    Attributes:
        judge: the model and its prompt version.
        split: the split whose pairs are covered; empty for all.
        pairs: the pairs that are compared.
        queries: their queries, which the bootstrap draws.
        left_out: the pairs with a grade of the judge that are not compared, by the reason, see `LEFT_OUT`.
        figures: the figures of agreement, by their keys in `FIGURE_WORDS`.
        confusion: the number of pairs by relevance (first index) and the judge's grade (second index).
        by_grade: the bias for each relevance.
        by_length: the bias by the number of words in the query.
        by_show: the bias by show; empty if videos are not named as in TVR.
        apart: the pairs whose two grades differ by `APART` or more.
        splits: how many random splits of the people the ceiling is computed from.
        resamples: how many samples of queries the intervals are computed from.
        runs: the systems that are ordered.
        runs_left_out: the other runs of the project, each with the reason.
        order_queries: the queries that every ordered system answers.
        orders: the orders by each measure of the leaderboard.
        no_orders: why there are no orders; empty if there are.
    """

    judge: Judge
    split: str
    pairs: int
    queries: int
    left_out: Mapping[str, int]
    figures: Mapping[str, Figure]
    confusion: tuple[tuple[int, ...], ...]
    by_grade: tuple[BiasGroup, ...]
    by_length: tuple[BiasGroup, ...]
    by_show: tuple[BiasGroup, ...]
    apart: int
    splits: int
    resamples: int
    runs: tuple[str, ...] = ()
    runs_left_out: Mapping[str, str] = field(default_factory=dict)
    order_queries: int = 0
    orders: tuple[MeasureOrder, ...] = ()
    no_orders: str = ""


APART = 2
"""A judge's grade that differs from the relevance by this much or more is worth a lead's look."""
