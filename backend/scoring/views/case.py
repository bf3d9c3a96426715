"""One query seen whole: which are worth a look, and what stands on every card of the truth and of a run.

Reads and writes nothing.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from backend.core.messages import said, said_n
from backend.scoring.cases import Case, CaseMoment, CasePrediction, CaseRun, Worth, notable
from backend.scoring.fates import WORDS, Fate
from backend.scoring.files.facts import Facts
from backend.scoring.matching.columns import QueryKey
from backend.scoring.scoreboard import Scoreboard
from backend.scoring.views.table import times

FIRST = 10
"""Predictions and moments shown before the rest is folded away or left out."""
COLORS = 8

KINDS = {
    "differ": ("Where runs differ most", said("where runs differ")),
    "worst": ("What all runs answer worst", said("answered badly by all")),
    "best": ("What all runs answer best", said("answered well by all")),
}
"""What makes a query worth a look: as a heading, and in brackets."""

_WORTHS = {
    Worth.MATCH: said("match"),
    Worth.NOT_RELEVANT: said("not relevant"),
    Worth.TAKEN: said("already matched"),
    Worth.WRONG_TIME: said("wrong time"),
    Worth.WRONG_VIDEO: said("wrong video"),
}
SIGNS = {
    Worth.MATCH: ("✓", "takes a truth moment (same number and colour in the ground truth)"),
    Worth.NOT_RELEVANT: ("○", "takes a moment that people judged 0"),
    Worth.TAKEN: ("≡", "reaches mu, but better ranks took the moments that it fits"),
    Worth.WRONG_TIME: ("◐", "the truth has a moment in this video (outlined), but none is reached"),
    Worth.WRONG_VIDEO: ("✕", "the truth has no moment in this video"),
}
"""For each worth of a prediction its sign and what it means."""


@dataclass(frozen=True, slots=True)
class Bar:
    """A moment of a video; `left` and `width` in percent of the video, as far as its length is known."""

    video: str
    start_s: float
    end_s: float
    times: str
    left: float
    width: float


@dataclass(frozen=True, slots=True)
class Told:
    """What a run made of a truth moment, in words; `rank` of the prediction that takes it."""

    run: str
    rank: int | None
    text: str


@dataclass(frozen=True, slots=True)
class MomentCard:
    """A truth moment; `color` counts the matched ones, None where no run takes it."""

    number: int
    relevance: int
    bar: Bar
    color: int | None
    told: tuple[Told | None, ...]
    """One for each run, None where there is nothing to say: a moment that nobody has to find."""

    @property
    def first(self) -> bool:
        """Whether it is shown before the rest: the most relevant ones, and all that a run takes."""
        return self.number <= FIRST or self.color is not None


@dataclass(frozen=True, slots=True)
class PredictionCard:
    """A prediction; `takes` numbers its truth moment, `text` is what it is worth, `outlines` its video's truth."""

    rank: int
    worth: Worth
    bar: Bar
    takes: int | None
    relevance: int | None
    color: int | None
    sign: str
    text: str
    outlines: tuple[Bar, ...]

    @property
    def first(self) -> bool:
        """Whether it is shown before the rest."""
        return self.rank <= FIRST


@dataclass(frozen=True, slots=True)
class Lane:
    """A run's predictions, and its value of the measure that the case is shown by (None where it has none)."""

    run: str
    value: float | None
    predictions: tuple[PredictionCard, ...]


@dataclass(frozen=True, slots=True)
class CaseView:
    """A query with the words to show it by; `values` are those of all runs, the highest first, upper bounds last.

    `unmeasured` counts videos whose length nobody told: their bars end with the last moment there is.
    """

    query: QueryKey
    title: str
    measure: str
    moments: tuple[MomentCard, ...]
    lanes: tuple[Lane, ...]
    values: tuple[tuple[str, float], ...]
    unmeasured: int


def view(board: Scoreboard, case: Case, shown: Sequence[str], facts: Facts, key: str | None = None) -> CaseView:
    """A case of the board with the lanes of these runs, valued by one measure (that in focus, if None)."""
    measure = board.focus if key is None else key
    values = _values(board, case.query, measure)
    runs = [run for name in shown for run in case.runs if run.name == name]
    names = {run.name: run.label for run in board.runs}
    length = _lengths(case, facts.durations)
    taken = sorted({found.takes for run in runs for found in run.predictions if found.takes})
    color = {number: place % COLORS for place, number in enumerate(taken)}
    moments = tuple(
        MomentCard(
            item.number,
            item.relevance,
            _bar(item, length),
            color.get(item.number),
            tuple(_told(run, item) for run in runs),
        )
        for item in case.moments
    )
    lanes = tuple(
        Lane(
            names[run.name],
            values.get(run.name),
            tuple(_prediction(item, case.moments, color, length) for item in run.predictions),
        )
        for run in runs
    )
    bounds = {run.name for run in board.runs if run.upper_bound}
    falling = sorted(values.items(), key=lambda item: (item[0] in bounds, -item[1]))
    ranked = tuple((names[name], value) for name, value in falling)
    bars = [card.bar for card in moments] + [card.bar for lane in lanes for card in lane.predictions]
    unmeasured = len({bar.video for bar in bars} - facts.durations.keys())
    return CaseView(case.query, query_title(case.query, facts), measure, moments, lanes, ranked, unmeasured)


def bars_told(unmeasured: int) -> str:
    """What to know of bars of videos whose length nobody told; an empty text where there is none."""
    if not unmeasured:
        return ""
    return said_n(
        "The duration of {n:,} video is unknown: there the bar ends with the last moment of the case.",
        "The duration of {n:,} videos is unknown: there the bar ends with the last moment of the case.",
        unmeasured,
    )


def query_title(query: QueryKey, facts: Facts) -> str:
    """A query's words, or its id where nobody told them."""
    return facts.texts.get(str(query), said("Query {query}", query=query))


def notable_queries(board: Scoreboard) -> dict[int, str]:
    """Numbers of the queries that count for all runs, those worth a look first, with the kind that makes them so.

    Kinds are those of `KINDS`; an empty text marks the others, which follow in the truth's order.
    """
    queries, values = board.shared(board.focus)
    if not len(queries):
        return {}
    chosen = {int(queries[column]): kind for kind, columns in notable(values, each=5).items() for column in columns}
    return chosen | {number: "" for number in np.sort(queries).tolist() if number not in chosen}


def _values(board: Scoreboard, query: QueryKey, key: str) -> dict[str, float]:
    """One measure of every run that the query counts for."""
    row, number = board.settings.keys.index(key), board.queries.index(query)
    found = {}
    for run in board.runs:
        at = np.flatnonzero(run.query == number)
        if len(at):
            found[run.name] = float(run.values[row, at[0]])
    return found


def _told(run: CaseRun, item: CaseMoment) -> Told | None:
    found = run.found[item.number - 1]
    if found.rank is not None and item.relevance == 0:
        return Told(run.name, found.rank, said("○ not relevant, taken by rank {rank}", rank=found.rank))
    if found.rank is not None:
        told = said("✓ found at rank {rank}", rank=found.rank)
        if found.fate is Fate.WRONG_RANK:
            told = said("✓ found at rank {rank}, too low", rank=found.rank)
        return Told(run.name, found.rank, told)
    return None if found.fate is None else Told(run.name, None, said("✕ missed: {fate}", fate=WORDS[found.fate]))


def _prediction(
    item: CasePrediction, moments: Sequence[CaseMoment], color: Mapping[int, int], length: Mapping[str, float]
) -> PredictionCard:
    told = _WORTHS[item.worth]
    if item.iou is not None:
        told = said("{worth}, best IoU {iou:.2f}", worth=told, iou=item.iou)
    return PredictionCard(
        item.rank,
        item.worth,
        _bar(item, length),
        item.takes,
        item.relevance,
        None if item.takes is None else color[item.takes],
        SIGNS[item.worth][0],
        told,
        tuple(_bar(moment, length) for moment in moments if moment.video == item.video),
    )


def _bar(item: CaseMoment | CasePrediction, length: Mapping[str, float]) -> Bar:
    whole = length[item.video]
    left, right = (min(max(100 * at / whole, 0.0), 100.0) if whole else 0.0 for at in (item.start_s, item.end_s))
    width = round(max(right - left, 0.0), 1)
    return Bar(item.video, item.start_s, item.end_s, times(item.start_s, item.end_s), round(left, 1), width)


def _lengths(case: Case, durations: Mapping[str, float]) -> dict[str, float]:
    """Length of each video's bar: its duration where known, and in any case past the last end."""
    length: dict[str, float] = {}
    spans: list[CaseMoment | CasePrediction] = [*case.moments, *(item for run in case.runs for item in run.predictions)]
    for item in spans:
        end = item.end_s if np.isfinite(item.end_s) else 0.0
        length[item.video] = max(length.get(item.video, durations.get(item.video, 0.0)), end)
    return length
