"""Make the evaluation report: everything that a scoreboard holds, on one HTML page that loads no other file.

It also shows single queries in full ("cases"): those where runs differ most, or score lowest or highest.

Reads: its template, style and script, which become part of the page. Writes: nothing. The template escapes all text
that comes from files. Only our own style, script and charts are markup.
"""

import base64
import hashlib
import platform
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict
from datetime import datetime
from itertools import pairwise
from pathlib import Path
from typing import Any

import jinja2
import numpy as np
from markupsafe import Markup

from backend import __version__
from backend.core.progress import Progress
from backend.core.timespan import Floats
from backend.scoring.cases import Worth, pick_notable
from backend.scoring.drawing import svg
from backend.scoring.files.facts import Facts, Inputs, Source
from backend.scoring.report import parts
from backend.scoring.scoreboard import Scoreboard
from backend.scoring.statistics.sureness import Sureness, add_statistics
from backend.scoring.views.case import (
    KINDS,
    SIGNS,
    CaseView,
    Lane,
    MomentCard,
    PredictionCard,
    case_view,
    unknown_durations_note,
)
from backend.scoring.views.errors import pool_sentence as pool_sentence
from backend.scoring.views.ranking import conventions
from backend.scoring.views.splits import narrow_groups

Film = Callable[[str, float, float], bytes | None]
"""A function that takes a video, a start and an end in seconds, and returns a strip of frames (WebP), or None."""

BUDGET = 5_000_000
"""Characters of all strips together. It keeps the page below 6 MB, because most mail servers refuse 10 MB."""

_MEANING = (
    "A picture is a frame of its moment. Point at a card, or move to its link, to play six "
    "frames, evenly spaced over the moment (unless your system asks for less motion)."
)


def add_strips(
    kinds: Sequence[Mapping[str, Any]],
    film: Film,
    *,
    budget: int = BUDGET,
    progress: Progress | None = None,
) -> dict[str, Any]:
    """Add pictures to the moments in the report: strips of frames, until their total size reaches `budget`.

    Each moment is a card in the report. Every visible card gets `strip`, the index of its picture in the result. Cards
    of equal moments share a picture. The best ranks of all queries come first, so only low ranks lack a picture when
    the budget is used up.

    Args:
        kinds: the result of `case_kinds`; its cards are changed.
        film: returns the picture of a moment, or None.
        budget: the size of all pictures together, in characters of base64.
        progress: called with the name of the step, how much of it is done, and its total.

    Returns:
        `strips`, the pictures in base64, and `words`, a text that explains the pictures and says how many moments have
        none.
    """
    strips: list[str] = []
    cards: dict[tuple[str, float, float], list[dict[str, Any]]] = {}
    for _, card in sorted(_cards(kinds), key=lambda placed: placed[0]):
        cards.setdefault(card["span"], []).append(card)
    unseen = without = used = 0
    for done, (span, equal_cards) in enumerate(cards.items()):
        if progress:
            progress("drawing pictures of moments", done, len(cards))
        if used >= budget:
            unseen = len(cards) - done
            break
        picture = film(*span)
        if picture is None:
            without += 1
            continue
        for card in equal_cards:
            card["strip"] = len(strips)
        strips.append(base64.b64encode(picture).decode())
        used += len(strips[-1])
    if progress:
        progress("drawing pictures of moments", len(cards), len(cards))
    words = [_MEANING] if strips else []
    if without:
        words.append(f"{without:,} of {len(cards):,} moments have no picture: no video of the project shows them.")
    if unseen:
        words.append(f"The pictures end at {budget / 1e6:g} MB; {unseen:,} later moments have none.")
    return {"strips": strips, "words": " ".join(words)}


def _cards(kinds: Sequence[Mapping[str, Any]]) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield the position and the card of each moment that the report shows before anything is unfolded.

    A card is the dict that describes one moment in the report. The position counts from 0 among the truth moments of a
    query, or among the predictions of one run.
    """
    for case in (case for kind in kinds for case in kind["cases"]):
        for lane in (case["moments"], *(run["first"] for run in case["runs"])):
            yield from enumerate(lane)


_RUNS = 3
"""Number of runs that a screen has room for beside the ground truth."""
_CHIPS = 10
"""Number of runs whose values stand in the head of a case."""

LEGEND = tuple((sign, worth.value, meaning) for worth, (sign, meaning) in SIGNS.items())


def case_kinds(board: Scoreboard, key: str, k: int, mu: float, facts: Facts) -> list[dict[str, Any]]:
    """Choose queries worth a look by the measure `key`, and return them in groups for the page's template.

    The groups are queries where runs differ most, and those with the lowest or highest scores. Each group has a `title`
    and its `cases`. A case shows a query's truth moments beside the first `k` predictions of some runs, matched at the
    IoU threshold `mu`.
    """
    queries, values = board.shared(key)
    if not len(queries):
        return []
    leaders = board.falling(values)
    rivals = [n for n in leaders if not board.runs[n].upper_bound] or leaders
    chosen = pick_notable(values)
    numbers = [number for columns in chosen.values() for number in columns]
    cases = iter(board.cases([int(queries[number]) for number in numbers], k, mu))
    place = 0
    kinds = []
    for kind, columns in chosen.items():
        views = []
        for column in columns:
            place += 1
            shown = [
                board.runs[n].name
                for n in _runs_beside_truth(values[:, column], leaders, rivals if kind == "differ" else [])
            ]
            views.append(
                _case_item(case_view(board, next(cases), shown, facts, key), f"c{place}", mu, open_=place == 1)
            )
        kinds.append({"title": KINDS[kind][0], "cases": views})
    return kinds


def _runs_beside_truth(values: Floats, leaders: Sequence[int], rivals: Sequence[int]) -> list[int]:
    """Return the indices of the runs to show for one query, at most three, in the order of `leaders`.

    Args:
        values: the score of each run at the query.
        leaders: all runs, the highest mean first. They fill the places that `rivals` leave free.
        rivals: runs to compare; the best and the worst of them at this query are shown. May be empty.
    """
    places = sorted(rivals)
    first = [places[int(choose(values[places]))] for choose in (np.argmax, np.argmin)] if places else []
    chosen = list(dict.fromkeys([*first, *leaders]))[:_RUNS]
    return sorted(chosen, key=leaders.index)


def _case_item(case: CaseView, name: str, mu: float, *, open_: bool) -> dict[str, Any]:
    """Return the data with which the template shows one query: its truth moments and the predictions of some runs.

    `name` is the prefix of all HTML ids in this part of the page. `mu` is the IoU threshold of the matches. `open_`
    says whether the query is unfolded at first.
    """
    return {
        "view": case,
        "open": open_,
        "scores": [{"run": run, "shown": f"{value:.3f}"} for run, value in case.values[:_CHIPS]],
        "moments": [_moment_item(card, name) for card in case.moments if card.first],
        "more": [_moment_item(card, name) for card in case.moments if not card.first],
        "runs": [_lane(lane, f"{name}r{n}", name, mu) for n, lane in enumerate(case.lanes)],
        "bars": unknown_durations_note(case.unmeasured),
    }


def _moment_item(card: MomentCard, name: str) -> dict[str, Any]:
    outcomes = [
        (outcome, f"{name}r{lane}p{outcome.rank}" if outcome.rank else None)
        for lane, outcome in enumerate(card.told)
        if outcome is not None
    ]
    span = (card.bar.video, card.bar.start_s, card.bar.end_s)
    return {"card": card, "id": f"{name}g{card.number}", "span": span, "strip": None, "told": outcomes}


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


_FOLDER = Path(__file__).parent
_PIECES = re.compile(r"\s+|[^\s_./=,:|+@-]{1,16}[_./=,:|+@-]*|[_./=,:|+@-]+")
"""The pieces of a name between its separators, each with the separators that follow."""
_BREAKDOWNS = ("duration", "show", "relevance")
_SECTIONS = {
    "leaderboard": ("Leaderboard", ""),
    "charts": ("Charts", "By cut-off, run by run, query by query"),
    "measures": ("All measures", "Every mean, and what each measure stands for"),
    "groups": ("Groups", "By duration, show and relevance"),
    "errors": ("Errors", "What became of the relevant moments"),
    "cases": ("Cases", "Single queries: truth and predictions side by side"),
    "queries": ("Every query", "One measure of each query, to search and download"),
    "made": ("How this was made", "Settings, files and versions"),
}
_PRESETS = {
    "paper": "The formulas of the papers: linear gain, exact arithmetic, every query of the truth counts.",
    "tvr-ranking": "The published TVR-Ranking evaluator bit for bit: gain 2^rel - 1, IoU > mu, predicted queries only.",
    "axiou": "The formulas of the papers, with the twelve measures of the AxIoU paper: R@K, IoU>theta and AxIoU@K.",
}


def report_page(
    board: Scoreboard,
    inputs: Inputs,
    *,
    made: datetime,
    asked: Sureness | None = None,
    film: Film | None = None,
    progress: Progress | None = None,
) -> str:
    """Return the report as one self-contained HTML file: leaderboard, charts, groups, errors, cases, every query.

    Args:
        board: the scores.
        inputs: the files from which the scores were made.
        made: the date and time to show.
        asked: the options of the statistics; by default the first run is the baseline.
        film: returns a picture of a moment (video, start, end in seconds); without it, moments are only drawn as bars.
        progress: called with the name of the step, how much of it is done, and its total.
    """
    step = iter(range(1, 7))

    def advance(value: Any) -> Any:
        if progress:
            progress("writing the report", next(step), 6)
        return value

    focus, settings = board.focus, board.settings
    k, mu = board.middle
    facts = advance(inputs.facts)
    summary = advance(board.summary(_BREAKDOWNS, errors=True))
    asked = asked or Sureness(board.runs[0].name if len(board.runs) > 1 else None)
    add_statistics(summary, board, asked, progress=progress)
    truth = summary["truth"]
    names = [run.label for run in board.runs]
    kinds = advance(case_kinds(board, focus, k, mu, facts))
    strips = add_strips(kinds, film, progress=progress) if film else {"strips": [], "words": ""}
    shown = names if len(names) < 4 else [*names[:3], f"{len(names) - 3} more"]
    context = {
        "version": __version__,
        "headline": f"{len(names)} run{'s' if len(names) > 1 else ''} on {inputs.title}",
        "lede": f"{', '.join(shown)}. Scored against {inputs.truth}: {truth['queries']:,} queries, "
        f"{truth['moments']:,} moments, preset {conventions(summary)}.",
        "truth": {"name": inputs.title},
        "titles": {id_: {"title": title, "about": about} for id_, (title, about) in _SECTIONS.items()},
        "facts": [
            ("Preset", conventions(summary)),
            ("Shown first", focus),
            ("Queries", f"{truth['queries']:,}"),
            ("Truth moments", f"{truth['moments']:,}"),
            ("Relevant from", f"relevance {settings.min_relevance}"),
            ("Made", f"{made:%Y-%m-%d %H:%M %Z}"),
        ],
        "warnings": [
            *([pool_sentence(summary)] if "pool" in summary else []),
            *(f"{note[:1].upper()}{note[1:]}." for note in summary.get("notes", ())),
            *_incomplete(summary),
            *summary["warnings"],
        ],
        "focus": focus,
        "conventions": conventions(summary),
        "runs": names,
        "leaderboard": parts.leaderboard(summary),
        "charts": advance(
            [
                {
                    "title": picture.title,
                    "caption": picture.caption,
                    "alt": picture.caption,
                    "svg": _inline(picture.chart),
                }
                for picture in parts.board_pictures(board, focus)
            ]
        ),
        "measures": parts.measures(summary),
        "groups": [{"name": by, "table": narrow_groups(summary, by)} for by in _BREAKDOWNS],
        "errors": parts.errors(summary, facts),
        "cases": {
            "words": f"Ground truth and predictions side by side, matched at K = {k} and IoU threshold {mu:g}, and "
            f"chosen by {focus}. A bar is the whole video, the filled part the moment. Point at a match, or follow "
            "its link, to see its partner.",
            "legend": LEGEND,
            "kinds": kinds,
            "strips": strips,
        },
        "per_query": advance(parts.per_query(board, focus, facts)),
        "preset_words": _PRESETS[settings.preset],
        "inputs": advance([_file(source) for source in inputs.sources]),
        "conventions_table": [
            ("K", ", ".join(map(str, settings.k))),
            ("mu", ", ".join(map(str, settings.mu))),
            ("theta", ", ".join(map(str, settings.theta))),
            ("min_relevance", settings.min_relevance),
            *((name, str(value).lower()) for name, value in asdict(settings.conventions).items()),
        ],
        "made": f"{made:%Y-%m-%d %H:%M %Z}",
        "versions": f"Python {platform.python_version()} and NumPy {np.__version__}.",
    }
    return _render(context)


def _incomplete(summary: dict[str, Any]) -> list[str]:
    """Return a warning for each run that lacks predictions for some queries."""
    return [
        f"{run['name']} has no predictions for {len(run['missing'])} queries: "
        + ", ".join(map(str, run["missing"][:10]))
        + (" ..." if len(run["missing"]) > 10 else "")
        for run in summary["runs"]
        if run["missing"]
    ]


def _file(source: Source) -> dict[str, str]:
    size = "-" if source.size is None else f"{source.size:,}"
    return {"what": source.what, "name": source.name, "bytes": size, "sha256": source.sha256 or "-"}


def _render(context: Mapping[str, Any]) -> str:
    """Return the HTML page that the template makes of `context`.

    A value that is missing in `context` raises an error.
    """
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(_FOLDER), autoescape=True, undefined=jinja2.StrictUndefined, trim_blocks=True
    )
    style, script = (
        Markup((_FOLDER / name).read_text(encoding="utf-8"))  # our own files
        for name in ("report.css", "report.js")
    )
    environment.filters["breakable"] = breakable
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    page = environment.get_template("page.html.jinja")
    return page.render(context, css=style, script=script, script_hash=f"sha256-{digest}")


def _inline(chart: Mapping[str, Any]) -> Markup:
    """Return a chart as SVG markup; the renderer has escaped its text."""
    return Markup(svg(chart))


def breakable(text: object) -> Markup:
    """Return a text as HTML that may break after separators in a name, such as `_`, and within very long words.

    >>> print(breakable("a<b_seed2018"))
    a&lt;b_<wbr>seed2018
    """
    pieces = _PIECES.findall(str(text))
    return Markup("").join(
        Markup("{}<wbr>").format(piece) if not (piece.isspace() or following.isspace()) else piece
        for piece, following in pairwise([*pieces, " "])
    )
