"""The case view of a report: which queries are worth looking at, and every bar that is drawn for them.

Reads: nothing. Writes: nothing.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from backend.scoring.analysis.cases import Case, CaseFound, CaseMoment, CasePrediction, CaseRun, Verdict, notable
from backend.scoring.analysis.fates import Fate
from backend.scoring.files.facts import Facts
from backend.scoring.scoreboard import Scoreboard

_RUNS = 3
"""Beside the ground truth, what a screen has room for."""
_FIRST = 10
"""Predictions and moments shown before the rest is folded away."""
_COLORS = 8

MARKS = {
    Verdict.MATCH: ("✓", "takes"),
    Verdict.NOT_RELEVANT: ("○", "takes, judged not relevant:"),
    Verdict.TAKEN: ("≡", "right moment, already matched"),
    Verdict.WRONG_TIME: ("◐", "right video, wrong time"),
    Verdict.WRONG_VIDEO: ("✕", "wrong video"),
}
LEGEND = (
    ("✓", "match", "takes a truth moment (same number and colour in the ground truth); a link leads there"),
    ("○", "not relevant", "takes a moment that people judged 0"),
    ("≡", "already matched", "reaches mu, but better ranks took the moments it fits"),
    ("◐", "wrong time", "the truth has a moment in this video (dashed), but none is reached"),
    ("✕", "wrong video", "the truth has no moment in this video"),
)
KINDS = {
    "differ": "Where runs differ most",
    "worst": "What all runs answer worst",
    "best": "What all runs answer best",
}


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
            case = next(cases)
            shown = _shown(values[:, column], leaders, differ=kind == "differ")
            falling = np.argsort(-values[:, column], kind="stable")
            chips = [{"run": case.runs[n].name, "shown": f"{values[n, column]:.3f}"} for n in falling]
            runs = [case.runs[n] for n in shown]
            views.append(_view(case, runs, facts, f"c{place}", open_=place == 1) | {"scores": chips[:10]})
        kinds.append({"title": KINDS[kind], "cases": views})
    return kinds


def times(start_s: float, end_s: float) -> str:
    """A span for people: `12-19.5 s`."""
    return f"{start_s:.6g}-{end_s:.6g} s"


def _shown(values: Any, leaders: Any, *, differ: bool) -> list[int]:
    """Runs to stand beside the truth: the leaders; where runs differ, first the best and the worst of this query."""
    first = [int(values.argmax()), int(values.argmin())] if differ else []
    wanted = list(dict.fromkeys([*first, *leaders.tolist()]))[:_RUNS]
    return sorted(wanted, key=leaders.tolist().index)


def _view(case: Case, runs: Sequence[CaseRun], facts: Facts, name: str, *, open_: bool) -> dict[str, Any]:
    length = _lengths(case, facts.durations)
    matched = {found.takes for run in runs for found in run.predictions if found.takes}
    taken = {number: i for i, number in enumerate(sorted(matched))}
    moments = [_moment(item, runs, name, taken, length) for item in case.moments]
    early = [m for m in moments if m["number"] <= _FIRST or m["number"] in taken]
    lanes = []
    for lane, run in enumerate(runs):
        items = [_prediction(item, case.moments, f"{name}r{lane}", name, taken, length) for item in run.predictions]
        hits = sum(item.verdict is Verdict.MATCH for item in run.predictions[_FIRST:])
        lanes.append(
            {
                "name": run.name,
                "shown": f"first {len(items)} at mu {case.mu:g}",
                "first": items[:_FIRST],
                "rest": items[_FIRST:],
                "rest_words": f"{hits} more match{'' if hits == 1 else 'es'}" if hits else "no more matches",
            }
        )
    return {
        "title": facts.texts.get(str(case.query), f"Query {case.query}"),
        "query": case.query,
        "open": open_,
        "moments": early,
        "more": [m for m in moments if m not in early],
        "runs": lanes,
    }


def _moment(
    item: CaseMoment, runs: Sequence[CaseRun], name: str, taken: Mapping[int, int], length: Mapping[str, float]
) -> dict[str, Any]:
    found = [_found(run.found[item.number - 1], run.name, f"{name}r{n}") for n, run in enumerate(runs)]
    return _bar(item.video, item.start_s, item.end_s, length) | {
        "id": f"{name}g{item.number}",
        "group": item.number if item.number in taken else None,
        "color": taken.get(item.number, 0) % _COLORS,
        "number": item.number,
        "relevance": item.relevance,
        "ghosts": [],
        "found": [one for one in found if one],
    }


def _found(found: CaseFound, run: str, lane: str) -> dict[str, Any] | None:
    if found.rank is None and found.fate is None:
        return None
    plain = found.fate in (None, Fate.IN_PLACE)
    return {
        "run": run,
        "rank": found.rank,
        "href": f"{lane}p{found.rank}" if found.rank else None,
        "words": "" if plain or found.fate is None else found.fate.value,
    }


def _prediction(
    item: CasePrediction,
    moments: Iterable[CaseMoment],
    lane: str,
    name: str,
    taken: Mapping[int, int],
    length: Mapping[str, float],
) -> dict[str, Any]:
    mark, words = MARKS[item.verdict]
    same = [moment for moment in moments if moment.video == item.video]
    ghosts = [_bar(moment.video, moment.start_s, moment.end_s, length) for moment in same]
    return _bar(item.video, item.start_s, item.end_s, length) | {
        "id": f"{lane}p{item.rank}",
        "group": item.takes,
        "color": taken.get(item.takes or 0, 0) % _COLORS,
        "rank": item.rank,
        "kind": item.verdict.value.replace(" ", "-"),
        "mark": mark,
        "words": words,
        "href": f"{name}g{item.takes}" if item.takes else None,
        "takes": item.takes,
        "relevance": item.relevance,
        "iou": None if item.iou is None else f"{item.iou:.2f}",
        "ghosts": ghosts,
    }


def _bar(video: str, start_s: float, end_s: float, length: Mapping[str, float]) -> dict[str, Any]:
    whole = length[video]
    left, right = (min(max(100 * at / whole, 0.0), 100.0) if whole else 0.0 for at in (start_s, end_s))
    return {
        "video": video,
        "span": (video, start_s, end_s),
        "strip": None,
        "times": times(start_s, end_s),
        "left": f"{left:.1f}",
        "width": f"{max(right - left, 0.0):.1f}",
    }


def _lengths(case: Case, durations: Mapping[str, float]) -> dict[str, float]:
    """Length of each video's bar: its duration where known, and in any case past the last end."""
    length: dict[str, float] = {}
    spans: list[CaseMoment | CasePrediction] = [*case.moments, *(item for run in case.runs for item in run.predictions)]
    for item in spans:
        end = item.end_s if np.isfinite(item.end_s) else 0.0
        length[item.video] = max(length.get(item.video, durations.get(item.video, 0.0)), end)
    return length
