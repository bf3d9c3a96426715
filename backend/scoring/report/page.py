"""Make the evaluation report: everything that a scoreboard holds, on one HTML page that fetches nothing.

Reads: its template, style and script, which travel inside. Writes: nothing. Everything that comes from files is text:
the template escapes it. Only our own style, script and charts are markup.
"""

import base64
import hashlib
import platform
import re
from collections.abc import Mapping
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
from backend.scoring.drawing import svg
from backend.scoring.files.facts import Inputs, Source
from backend.scoring.report import parts
from backend.scoring.report.cases import LEGEND, Film, add_strips, case_kinds
from backend.scoring.scoreboard import Scoreboard
from backend.scoring.statistics.sureness import Sureness, add_statistics
from backend.scoring.views.errors import told as pools_told
from backend.scoring.views.ranking import conventions
from backend.scoring.views.splits import narrow_groups
from backend.scoring.views.table import Mark

_FOLDER = Path(__file__).parent
_PIECES = re.compile(r"\s+|[^\s_./=,:|+@-]{1,16}[_./=,:|+@-]*|[_./=,:|+@-]+")
"""Of a name: what stands between the signs that part names, with the signs after it."""
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
    "tvr-ranking": "The published TVR-Ranking evaluator bit for bit: gain 2^rel - 1, IoU > mu, predicted queries only.",
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
    """One HTML file that needs nothing else: leaderboard, charts, groups, errors, cases, every query.

    Args:
        board: the scores.
        inputs: what they were made from.
        made: the date to show.
        asked: the statistics; without them, the first run is the baseline.
        film: pictures of moments for the cases; without it they are bars only.
        progress: called with (what is done, done, all).
    """
    step = iter(range(1, 7))

    def told(value: Any) -> Any:
        if progress:
            progress("writing the report", next(step), 6)
        return value

    focus, settings = board.focus, board.settings
    k, mu = board.middle
    facts = told(inputs.facts)
    summary = told(board.summary(_BREAKDOWNS, errors=True))
    asked = asked or Sureness(board.runs[0].name if len(board.runs) > 1 else None)
    add_statistics(summary, board, asked, progress=progress)
    truth = summary["truth"]
    names = [run.name for run in board.runs]
    kinds = told(case_kinds(board, focus, k, mu, facts))
    strips = add_strips(kinds, film, progress=progress) if film else {"strips": [], "words": ""}
    shown = names if len(names) < 4 else [*names[:3], f"{len(names) - 3} more"]
    context = {
        "version": __version__,
        "headline": f"{len(names)} run{'s' if len(names) > 1 else ''} on {inputs.title}",
        "lede": f"{', '.join(shown)}: scored against {inputs.truth}, preset {conventions(summary)}.",
        "truth": {"name": inputs.title},
        "sections": _SECTIONS,
        "facts": [
            ("Preset", conventions(summary)),
            ("Shown first", focus),
            ("Queries", f"{truth['queries']:,}"),
            ("Truth moments", f"{truth['moments']:,}"),
            ("Relevant from", f"relevance {settings.min_relevance}"),
            ("Made", f"{made:%Y-%m-%d %H:%M %Z}"),
        ],
        "warnings": [
            *([pools_told(summary)] if "pool" in summary else []),
            *(f"{note[:1].upper()}{note[1:]}." for note in summary.get("notes", ())),
            *_incomplete(summary),
            *summary["warnings"],
        ],
        "focus": focus,
        "conventions": conventions(summary),
        "runs": names,
        "best": Mark.BEST,
        "leaderboard": parts.leaderboard(summary),
        "charts": told(
            [
                {"title": one.title, "caption": one.caption, "alt": one.caption, "svg": _inline(one.chart)}
                for one in parts.board_pictures(board, focus)
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
        "per_query": told(parts.per_query(board, focus, facts)),
        "preset_words": _PRESETS[settings.preset],
        "inputs": told([_file(source) for source in inputs.sources]),
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
    """What a reader must know before comparing: runs that lack queries."""
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
    """Return the page; a value that the template lacks is an error."""
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
    """Return a chart as SVG markup; the renderer has escaped what is in it."""
    return Markup(svg(chart))


def breakable(text: object) -> Markup:
    """Return a text that may be broken after what parts a name, such as `_`, and within very long pieces.

    >>> print(breakable("a<b_seed2018"))
    a&lt;b_<wbr>seed2018
    """
    pieces = _PIECES.findall(str(text))
    return Markup("").join(
        Markup("{}<wbr>").format(piece) if not (piece.isspace() or following.isspace()) else piece
        for piece, following in pairwise([*pieces, " "])
    )
