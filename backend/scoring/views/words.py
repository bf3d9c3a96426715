"""Write the text around the numbers of a paper's table: its column heads, as text and in LaTeX, and its caption.

Reads and writes nothing.
"""

from collections.abc import Sequence

from backend.scoring.measure import AVERAGE
from backend.scoring.statistics.sureness import APART
from backend.scoring.views.ranking import conventions
from backend.scoring.views.splits import Row, Summary
from backend.scoring.views.table import Head, NamedKey, Shown, named_keys

_TEX = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "&": r"\&",
    "%": r"\%",
    "$": r"\$",
    "#": r"\#",
    "_": r"\_",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    '"': r"\textquotedbl{}",
    "[": "{[}",
    "]": "{]}",
    "*": "{*}",
    "±": r"$\pm$",
    "†": r"$\dagger$",
    "↑": r"$\uparrow$",
    "↓": r"$\downarrow$",
}
"""Escapes for LaTeX. Brackets and stars need them because LaTeX takes them for an argument after a line break."""
_SIGNS = {">=": r"\geq", ">": ">"}


def tex_text(text: str) -> str:
    """Escape a text for LaTeX, so that it prints as it is."""
    return "".join(_TEX.get(letter, letter) for letter in text).replace("--", "-{}-")


def tex_title(entry: NamedKey, *, whole: bool = False) -> str:
    r"""Return a LaTeX title such as `R@10, IoU$\geq\theta$`; if `whole`, with the threshold's value, not its symbol."""
    measure = entry.measure
    title = tex_text(measure.short) + (f"@{entry.k}" if entry.k else "")
    if measure.threshold:
        sign = _SIGNS[measure.threshold.sign(entry.iou_compare)]
        level = measure.threshold.words(entry.threshold) if whole else measure.threshold.tex
        title += f", IoU${sign}{level}$"
    return f"{title} ({tex_text(measure.source)})" if measure.source else title


def tex_level(entry: NamedKey) -> Head:
    """Return a column head with the threshold of `entry`, or with its range of thresholds if it is a mean over them."""
    threshold = entry.measure.threshold
    if threshold is None:
        raise ValueError(f"{entry.key} has no threshold")
    if entry.threshold == AVERAGE:
        return Head(f"{threshold.symbol}={threshold.words(AVERAGE)}", f"${threshold.tex}={threshold.words(AVERAGE)}$")
    return Head(f"{threshold.symbol}={entry.threshold}", f"${threshold.tex}={entry.threshold}$")


def captions(parts: Sequence[tuple[str, Summary]], rows: Sequence[Row], shown: Shown) -> list[str]:
    """Return the notes in a table's caption: preset, sizes, and what ±, bold, daggers and brackets mean."""
    first = parts[0][1]
    notes = [f"Preset {conventions(first)}; {'; '.join(_size(split, part) for split, part in parts)}"]
    if benchmark := first.get("benchmark"):
        notes = [f"{benchmark['title']}, as {benchmark['evaluator']} counts; {notes[0][:1].lower()}{notes[0][1:]}"]
        notes += ["In percent"] if benchmark["percent"] else []
    elif shown.percent:
        unbounded = [entry.measure.short for entry in named_keys(first).values() if entry.measure.highest is None]
        notes.append("In percent" + (f", but for {', '.join(dict.fromkeys(unbounded))}" if unbounded else ""))
    seeds = sorted({len(runs) for row in rows for runs in row.runs.values()})
    if seeds[-1] > 1:
        notes.append(f"Mean ± sample standard deviation over {seeds[-1]} seeds{_fewer(rows, seeds[-1])}")
    if sum(not row.upper_bound for row in rows) > 1:
        notes.append("Bold: the best of those that count the same queries" + _unlike(parts))
    if bounds := [row.name for row in rows if row.upper_bound]:
        notes.append(f"Upper bounds, never bold: {', '.join(bounds)}")
    alone = [(split, runs[0]) for row in rows for split, runs in row.runs.items() if len(runs) == 1]
    tested = {split for split, run in alone if run.get("comparison")}
    if tested:
        sizes = " / ".join(f"{part['statistics']['queries']:,}" for split, part in parts if split in tested)
        left = _clusters(parts) + ("; means over seeds are not tested" if seeds[-1] > 1 else "")
        notes.append(
            f"†↑ above and †↓ below {first['baseline']}: p < {APART:g} by sign-flip randomisation over the {sizes} "
            f"queries that count for every run, Holm over the comparisons of a measure{left}"
        )
    if shown.intervals and any("intervals" in run for _, run in alone):
        notes.append("In brackets: 95 % percentile bootstrap over queries" + _clusters(parts))
    return [f"{sentence}." for sentence in notes]


def _clusters(parts: Sequence[tuple[str, Summary]]) -> str:
    """Return a text that says in which clusters queries were drawn; empty if they were drawn one by one."""
    clusters = {part.get("statistics", {}).get("clusters", {}).get("by") for _, part in parts} - {None}
    return f", in whole clusters by {', '.join(sorted(clusters))}" if clusters else ""


def _fewer(rows: Sequence[Row], most: int) -> str:
    """Return a text that names the models with fewer than `most` seeds; empty if there are none."""
    fewer = [
        f"{row.name} {split} {len(runs)}".replace("  ", " ")
        for row in rows
        for split, runs in row.runs.items()
        if len(runs) < most
    ]
    return f" ({', '.join(fewer)})" if fewer else ""


def _size(split: str, part: Summary) -> str:
    truth = part["truth"]
    return f"{split + ': ' if split else ''}{truth['queries']:,} queries, {truth['moments']:,} moments"


def _unlike(parts: Sequence[tuple[str, Summary]]) -> str:
    """Return a note if the runs of a split are scored on different numbers of queries; otherwise an empty text."""
    unlike = any(len({run["counted"] for run in part["runs"]}) > 1 for _, part in parts)
    return ", the most that do; means over other queries are not comparable with them" if unlike else ""
