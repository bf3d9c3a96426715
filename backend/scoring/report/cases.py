"""The case view of a report: the queries worth looking at, each with the runs that a screen has room for.

Reads: nothing. Writes: nothing.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from backend.scoring.analysis.cases import Worth, notable
from backend.scoring.files.facts import Facts
from backend.scoring.scoreboard import Scoreboard
from backend.scoring.views.case import KINDS, SIGNS, CaseView, Lane, MomentCard, PredictionCard, bars_told, view

_RUNS = 3
"""Beside the ground truth, what a screen has room for."""
_CHIPS = 10
"""Runs whose values stand in a case's head."""

LEGEND = tuple((sign, worth.value, meaning) for worth, (sign, meaning) in SIGNS.items())


def case_kinds(board: Scoreboard, key: str, k: int, mu: float, facts: Facts) -> list[dict[str, Any]]:
    """For the template: chosen queries by kind, at one K and mu, chosen by the measure `key`."""
    queries, values = board.shared(key)
    if not len(queries):
        return []
    leaders = np.argsort(-values.mean(axis=1), kind="stable")
    chosen = notable(values)
    numbers = [number for columns in chosen.values() for number in columns]
    cases = iter(board.cases([int(queries[number]) for number in numbers], k, mu))
    place = 0
    kinds = []
    for kind, columns in chosen.items():
        views = []
        for column in columns:
            place += 1
            shown = [board.runs[n].name for n in _shown(values[:, column], leaders, differ=kind == "differ")]
            views.append(_laid_out(view(board, next(cases), shown, facts, key), f"c{place}", mu, open_=place == 1))
        kinds.append({"title": KINDS[kind][0], "cases": views})
    return kinds


def _shown(values: Any, leaders: Any, *, differ: bool) -> list[int]:
    """Runs to stand beside the truth: the leaders; where runs differ, first the best and the worst of this query."""
    first = [int(values.argmax()), int(values.argmin())] if differ else []
    wanted = list(dict.fromkeys([*first, *leaders.tolist()]))[:_RUNS]
    return sorted(wanted, key=leaders.tolist().index)


def _laid_out(case: CaseView, name: str, mu: float, *, open_: bool) -> dict[str, Any]:
    """A case with names for its cards, so that they can be linked, and a place for a strip of frames in each."""
    return {
        "view": case,
        "open": open_,
        "scores": [{"run": run, "shown": f"{value:.3f}"} for run, value in case.values[:_CHIPS]],
        "moments": [_moment_item(card, name) for card in case.moments if card.first],
        "more": [_moment_item(card, name) for card in case.moments if not card.first],
        "runs": [_lane(lane, f"{name}r{n}", name, mu) for n, lane in enumerate(case.lanes)],
        "bars": bars_told(case.unmeasured),
    }


def _moment_item(card: MomentCard, name: str) -> dict[str, Any]:
    told = [
        (one, f"{name}r{lane}p{one.rank}" if one.rank else None)
        for lane, one in enumerate(card.told)
        if one is not None
    ]
    span = (card.bar.video, card.bar.start_s, card.bar.end_s)
    return {"card": card, "id": f"{name}g{card.number}", "span": span, "strip": None, "told": told}


def _lane(lane: Lane, own: str, name: str, mu: float) -> dict[str, Any]:
    rest = [card for card in lane.predictions if not card.first]
    hits = sum(card.worth is Worth.MATCH for card in rest)
    return {
        "name": lane.run,
        "shown": f"first {len(lane.predictions)} at mu {mu:g}",
        "first": _prediction_items([card for card in lane.predictions if card.first], own, name),
        "rest": _prediction_items(rest, own, name),
        "rest_words": f"{hits} more match{'' if hits == 1 else 'es'}" if hits else "no more matches",
    }


def _prediction_items(cards: Sequence[PredictionCard], own: str, name: str) -> list[dict[str, Any]]:
    return [
        {
            "card": card,
            "id": f"{own}p{card.rank}",
            "span": (card.bar.video, card.bar.start_s, card.bar.end_s),
            "strip": None,
            "kind": card.worth.value.replace(" ", "-"),
            "href": f"{name}g{card.takes}" if card.takes else None,
        }
        for card in cards
    ]
