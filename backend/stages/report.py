"""The evaluation report: everything that a scoreboard holds, on one HTML page.

Reads: the input files once more, for hashes, query texts and durations. Writes: nothing.
"""

import hashlib
import platform
from collections.abc import Callable
from dataclasses import asdict
from datetime import datetime
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import scipy

from backend import __version__
from backend.core.score_tables import conventions
from backend.figures.report_page import render
from backend.stages import report_parts as parts
from backend.stages.report_cases import LEGEND, case_kinds
from backend.stages.scoreboard import Facts, Inputs, Scoreboard
from backend.stages.standings import Sureness, add_statistics

_BREAKDOWNS = ("duration", "show", "relevance")
_SECTIONS = (
    ("leaderboard", "Leaderboard"),
    ("charts", "Charts"),
    ("measures", "All measures"),
    ("groups", "Groups"),
    ("errors", "Errors"),
    ("cases", "Cases"),
    ("queries", "Every query"),
    ("made", "How made"),
)
_PRESETS = {
    "paper": "The formulas of the papers: linear gain, exact arithmetic, every query of the truth counts.",
    "official": "The published TVR-Ranking evaluator bit for bit: gain 2^rel - 1, IoU > mu, predicted queries only.",
}


def report_page(
    board: Scoreboard,
    inputs: Inputs | None = None,
    *,
    made: datetime,
    facts: Facts | None = None,
    asked: Sureness | None = None,
    progress: Callable[[str, int, int], None] | None = None,
) -> str:
    """One HTML file that needs nothing else: leaderboard, charts, groups, errors, cases, every query.

    Args:
        board: the scores.
        inputs: the files they are from, where they are from files.
        made: the date to show.
        facts: query texts and durations; without them, what the files say.
        asked: the statistics; without them, the first run is the baseline.
        progress: called with (what is done, done, all).
    """
    step = iter(range(1, 7))

    def told(value: Any) -> Any:
        if progress:
            progress("writing the report", next(step), 6)
        return value

    focus, settings = board.focus, board.settings
    k, mu = board.middle
    facts = told(facts or (_facts(inputs) if inputs else Facts({}, {})))
    name = Path(board.key.truth.file)
    summary = told(board.summary(_BREAKDOWNS, errors=True))
    asked = asked or Sureness(board.runs[0].name if len(board.runs) > 1 else None)
    add_statistics(summary, board, asked, keys=[focus], progress=progress)
    truth = summary["truth"]
    names = [run.name for run in board.runs]
    shown = names if len(names) < 4 else [*names[:3], f"{len(names) - 3} more"]
    context = {
        "version": __version__,
        "headline": f"{len(names)} run{'s' if len(names) > 1 else ''} on {name.stem}",
        "lede": f"{', '.join(shown)}: scored against {name.name}, preset {conventions(summary)}.",
        "truth": {"name": name.stem},
        "sections": _SECTIONS,
        "facts": [
            ("Preset", conventions(summary)),
            ("Shown first", focus),
            ("Queries", f"{truth['queries']:,}"),
            ("Truth moments", f"{truth['moments']:,}"),
            ("Relevant from", f"relevance {settings.min_relevance}"),
            ("Made", f"{made:%Y-%m-%d %H:%M %Z}"),
        ],
        "warnings": [*_incomplete(summary), *summary["warnings"]],
        "focus": focus,
        "conventions": conventions(summary),
        "runs": names,
        "leaderboard": parts.leaderboard(summary, focus),
        "charts": told(parts.pictures(board, focus)),
        "measures": parts.measures(summary),
        "breakdowns": parts.breakdowns(summary, focus),
        "errors": parts.errors(summary, facts),
        "cases": {
            "words": f"Ground truth and predictions side by side, matched at K = {k} and IoU threshold {mu:g}, and "
            f"chosen by {focus}. A bar is the whole video, the filled part the moment. Point at a match, or follow "
            "its link, to see its partner.",
            "legend": LEGEND,
            "kinds": told(case_kinds(board, focus, k, mu, facts)),
        },
        "per_query": told(parts.per_query(board, focus, facts)),
        "preset_words": _PRESETS[settings.preset],
        "inputs": told(_files(inputs) if inputs else []),
        "conventions_table": [
            ("K", ", ".join(map(str, settings.k))),
            ("mu", ", ".join(map(str, settings.mu))),
            ("theta", ", ".join(map(str, settings.theta))),
            ("min_relevance", settings.min_relevance),
            *((name, str(value).lower()) for name, value in asdict(settings.conventions).items()),
        ],
        "made": f"{made:%Y-%m-%d %H:%M %Z}",
        "versions": f"Python {platform.python_version()}, NumPy {np.__version__}, SciPy {scipy.__version__}.",
    }
    return render(context)


def _incomplete(summary: dict[str, Any]) -> list[str]:
    """What a reader must know before comparing: runs that lack queries."""
    return [
        f"{run['name']} has no predictions for {len(run['missing'])} queries: "
        + ", ".join(map(str, run["missing"][:10]))
        + (" ..." if len(run["missing"]) > 10 else "")
        for run in summary["runs"]
        if run["missing"]
    ]


def _files(inputs: Inputs) -> list[dict[str, str]]:
    files = [("truth", inputs.truth), *(("run", path) for path in inputs.runs)]
    files += [("videos", inputs.videos)] if inputs.videos else []
    return [
        {"what": what, "name": path.name, "bytes": f"{path.stat().st_size:,}", "sha256": _sha256(path)}
        for what, path in files
    ]


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _facts(inputs: Inputs) -> Facts:
    """Texts and durations where the truth is a `val.json` and the videos a map; without them the page shows ids."""
    texts: dict[str, str] = {}
    durations: dict[str, float] = {}
    for entry in _decoded(inputs.truth, list[_Entry], []):
        texts |= {str(entry.query_id): entry.query} if entry.query else {}
        durations |= {m.video_name: m.duration for m in entry.relevant_moment if m.duration}
    if inputs.videos:
        for name, value in _decoded(inputs.videos, dict[str, tuple[float, int]], {}).items():
            durations[name] = value[0]
    return Facts(texts, durations)


class _Moment(msgspec.Struct):
    video_name: str = ""
    duration: float | None = None


class _Entry(msgspec.Struct):
    query_id: int | str
    query: str = ""
    relevant_moment: list[_Moment] = []


def _decoded(path: Path, shape: Any, otherwise: Any) -> Any:
    try:
        return msgspec.json.decode(path.read_bytes(), type=shape)
    except (OSError, ValueError):
        return otherwise
