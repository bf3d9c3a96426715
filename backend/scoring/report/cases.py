"""The case view of a report: the queries worth looking at, each with the runs that a screen has room for.

Reads: nothing. Writes: nothing.
"""

import base64
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from backend.core.progress import Progress
from backend.scoring.analysis.cases import Worth, notable
from backend.scoring.files.facts import Facts
from backend.scoring.scoreboard import Scoreboard
from backend.scoring.views.case import KINDS, SIGNS, CaseView, Lane, MomentCard, PredictionCard, bars_told, view

Film = Callable[[str, float, float], bytes | None]
"""A strip of frames (WebP) of a video's moment, start and end in seconds; None where there is none."""

BUDGET = 5_000_000
"""Characters of all strips together, so that the page stays below 6 MB: most mail servers refuse 10."""

_MEANING = (
    "A picture is a frame of its moment. Point at a card, or move to its link, and six frames play, evenly spaced over "
    "the moment (unless your system asks for less motion)."
)


def add_strips(
    kinds: Sequence[Mapping[str, Any]],
    film: Film,
    *,
    budget: int = BUDGET,
    progress: Progress | None = None,
) -> dict[str, Any]:
    """Give every card of the cases that is not folded away the number of its strip; equal moments share one.

    First ranks come first in all cases, so that where the budget ends it is the deep ranks that go without.

    Returns:
        For the template: the `strips` in base64, and `words` about what is shown and what is missing.
    """
    strips: list[str] = []
    cards: dict[tuple[str, float, float], list[dict[str, Any]]] = {}
    for _, card in sorted(_cards(kinds), key=lambda placed: placed[0]):
        cards.setdefault(card["span"], []).append(card)
    unseen = without = used = 0
    for done, (span, same) in enumerate(cards.items()):
        if progress:
            progress("drawing pictures of moments", done, len(cards))
        if used >= budget:
            unseen = len(cards) - done
            break
        picture = film(*span)
        if picture is None:
            without += 1
            continue
        for card in same:
            card["strip"] = len(strips)
        strips.append(base64.b64encode(picture).decode())
        used += len(strips[-1])
    if progress:
        progress("drawing pictures of moments", len(cards), len(cards))
    words = [_MEANING] if strips else []
    if without:
        words.append(f"{without:,} of {len(cards):,} moments have no picture: no video of the project shows them.")
    if unseen:
        words.append(f"The pictures end at {budget / 1e6:g} MB; {unseen:,} moments further down have none.")
    return {"strips": strips, "words": " ".join(words)}


def _cards(kinds: Sequence[Mapping[str, Any]]) -> Iterator[tuple[int, dict[str, Any]]]:
    """What is open to view, each with its place in its lane."""
    for case in (case for kind in kinds for case in kind["cases"]):
        for lane in (case["moments"], *(run["first"] for run in case["runs"])):
            yield from enumerate(lane)


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
