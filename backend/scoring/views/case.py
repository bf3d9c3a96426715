"""Prepare one query for display: its truth moments and predictions as cards with texts, bars and colours.

It also chooses queries that are worth a look.

Reads and writes nothing.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from backend.core.messages import said, said_n
from backend.scoring.cases import Case, CaseMoment, CasePrediction, CaseRun, Worth, pick_notable
from backend.scoring.fates import WORDS, Fate
from backend.scoring.files.facts import Facts
from backend.scoring.matching.columns import QueryKey
from backend.scoring.scoreboard import Scoreboard
from backend.scoring.views.table import times

FIRST = 10
"""Number of predictions and moments to show; the rest is folded away or left out."""
COLORS = 8

KINDS = {
    "differ": ("Where runs differ most", said("where runs differ")),
    "worst": ("What all runs answer worst", said("answered badly by all")),
    "best": ("What all runs answer best", said("answered well by all")),
}
"""Reasons why a query is worth a look: each as a heading, and as a short text for brackets."""

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
"""The sign and the meaning of each kind of prediction."""


@dataclass(frozen=True, slots=True)
class Bar:
    """A moment of a video, drawn as a part of a bar that stands for the video.

    `left` and `width` are percent of the video, or of the time up to its last moment if its length is unknown. `times`
    is the moment's start and end as text.
    """

    video: str
    start_s: float
    end_s: float
    times: str
    left: float
    width: float


@dataclass(frozen=True, slots=True)
class MomentOutcome:
    """What became of a truth moment in one run, as a text such as "found at rank 3".

    `rank` is the rank of the prediction that is matched to the moment; None if there is none.
    """

    run: str
    rank: int | None
    text: str


@dataclass(frozen=True, slots=True)
class MomentCard:
    """A truth moment as it is displayed.

    `color` is the number of the colour that the moment shares with the predictions matched to it; None if no run shown
    has such a prediction. `told` says for each of these runs what became of the moment. An item is None if the moment
    was not matched and need not be found, because it is not relevant.
    """

    number: int
    relevance: float
    bar: Bar
    color: int | None
    told: tuple[MomentOutcome | None, ...]

    @property
    def first(self) -> bool:
        """Whether the moment is visible at first and not folded away.

        This holds for the ten most relevant moments, and for moments to which a prediction is matched.
        """
        return self.number <= FIRST or self.color is not None


@dataclass(frozen=True, slots=True)
class PredictionCard:
    """A prediction of a run as it is displayed.

    `takes` is the number of the truth moment that it is matched to, and `color` that moment's colour; None if there is
    none. `worth` is the kind of hit or error, `sign` its symbol such as ✓, and `text` its words. `outlines` are the
    truth moments in its video.
    """

    rank: int
    worth: Worth
    bar: Bar
    takes: int | None
    relevance: float | None
    color: int | None
    sign: str
    text: str
    outlines: tuple[Bar, ...]

    @property
    def first(self) -> bool:
        """Whether the prediction is visible at first and not folded away: it is one of the first ten."""
        return self.rank <= FIRST


@dataclass(frozen=True, slots=True)
class Lane:
    """The predictions of one run for a query. `value` is the run's score at this query; None if it has none."""

    run: str
    value: float | None
    predictions: tuple[PredictionCard, ...]


@dataclass(frozen=True, slots=True)
class CaseView:
    """A query with everything needed to show it: its truth moments, and a lane of predictions for each run shown.

    `values` are the scores of all runs at this query by the measure `measure`, the highest first, upper bounds last.
    `unmeasured` is the number of videos of unknown length; their bars end with the last moment shown.
    """

    query: QueryKey
    title: str
    measure: str
    moments: tuple[MomentCard, ...]
    lanes: tuple[Lane, ...]
    values: tuple[tuple[str, float], ...]
    unmeasured: int


def case_view(board: Scoreboard, case: Case, shown: Sequence[str], facts: Facts, key: str | None = None) -> CaseView:
    """Return a query prepared for display, with its truth moments and the predictions of the runs in `shown`.

    `case` holds the query's results. The scores beside the runs are those of the measure `key`, or of the scoreboard's
    main measure if it is None.
    """
    measure = board.focus if key is None else key
    values = _values(board, case.query, measure)
    runs = [run for name in shown for run in case.runs if run.name == name]
    names = {run.name: run.label for run in board.runs}
    length = _lengths(case, facts.durations)
    taken = sorted({prediction.takes for run in runs for prediction in run.predictions if prediction.takes})
    color = {number: place % COLORS for place, number in enumerate(taken)}
    moments = tuple(
        MomentCard(
            item.number,
            item.relevance,
            _bar(item, length),
            color.get(item.number),
            tuple(_outcome(run, item) for run in runs),
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


def unknown_durations_note(unmeasured: int) -> str:
    """Return a note for `unmeasured` videos of unknown length; an empty text if there are none.

    The note says that their bars end with the last moment shown.
    """
    if not unmeasured:
        return ""
    return said_n(
        "The duration of {n:,} video is unknown: there the bar ends with the last moment of the case.",
        "The duration of {n:,} videos is unknown: there the bar ends with the last moment of the case.",
        unmeasured,
    )


def query_title(query: QueryKey, facts: Facts) -> str:
    """Return a query's text, or its id if the text is unknown."""
    return facts.texts.get(str(query), said("Query {query}", query=query))


def notable_queries(board: Scoreboard) -> dict[int, str]:
    """Return why queries are worth a look: the reason by the index of the query, the notable ones first.

    Reasons are `differ` (runs differ most), `worst` and `best` (lowest and highest mean). The other queries that count
    for all runs follow in the truth's order, with an empty text.
    """
    queries, values = board.shared(board.focus)
    if not len(queries):
        return {}
    chosen = {
        int(queries[column]): kind for kind, columns in pick_notable(values, each=5).items() for column in columns
    }
    return chosen | {number: "" for number in np.sort(queries).tolist() if number not in chosen}


def _values(board: Scoreboard, query: QueryKey, key: str) -> dict[str, float]:
    """Return each run's score at one query by the measure `key`, by run name.

    Runs for which the query does not count are absent.
    """
    row, number = board.settings.keys.index(key), board.queries.index(query)
    values = {}
    for run in board.runs:
        columns = np.flatnonzero(run.query == number)
        if len(columns):
            values[run.name] = float(run.values[row, columns[0]])
    return values


def _outcome(run: CaseRun, item: CaseMoment) -> MomentOutcome | None:
    match = run.found[item.number - 1]
    if match.rank is not None and item.relevance == 0:
        return MomentOutcome(run.name, match.rank, said("○ not relevant, taken by rank {rank}", rank=match.rank))
    if match.rank is not None:
        text = said("✓ found at rank {rank}", rank=match.rank)
        if match.fate is Fate.WRONG_RANK:
            text = said("✓ found at rank {rank}, too low", rank=match.rank)
        return MomentOutcome(run.name, match.rank, text)
    return (
        None if match.fate is None else MomentOutcome(run.name, None, said("✕ missed: {fate}", fate=WORDS[match.fate]))
    )


def _prediction(
    item: CasePrediction, moments: Sequence[CaseMoment], color: Mapping[int, int], length: Mapping[str, float]
) -> PredictionCard:
    text = _WORTHS[item.worth]
    if item.iou is not None:
        text = said("{worth}, best IoU {iou:.2f}", worth=text, iou=item.iou)
    return PredictionCard(
        item.rank,
        item.worth,
        _bar(item, length),
        item.takes,
        item.relevance,
        None if item.takes is None else color[item.takes],
        SIGNS[item.worth][0],
        text,
        tuple(_bar(moment, length) for moment in moments if moment.video == item.video),
    )


def _bar(item: CaseMoment | CasePrediction, length: Mapping[str, float]) -> Bar:
    whole = length[item.video]
    left, right = (min(max(100 * time / whole, 0.0), 100.0) if whole else 0.0 for time in (item.start_s, item.end_s))
    width = round(max(right - left, 0.0), 1)
    return Bar(item.video, item.start_s, item.end_s, times(item.start_s, item.end_s), round(left, 1), width)


def _lengths(case: Case, durations: Mapping[str, float]) -> dict[str, float]:
    """Return the length in seconds of each video's bar.

    It is the video's duration if known, but never less than the last end of a moment.
    """
    length: dict[str, float] = {}
    spans: list[CaseMoment | CasePrediction] = [*case.moments, *(item for run in case.runs for item in run.predictions)]
    for item in spans:
        end = item.end_s if np.isfinite(item.end_s) else 0.0
        length[item.video] = max(length.get(item.video, durations.get(item.video, 0.0)), end)
    return length
