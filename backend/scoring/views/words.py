"""Write the text around the numbers of a paper's table: its column heads, as text and in LaTeX, and its caption.

Reads and writes nothing.
"""

import re
import unicodedata
from collections.abc import Sequence

from backend.core.messages import said_n
from backend.scoring.measure import AVERAGE
from backend.scoring.statistics.sureness import APART
from backend.scoring.views.ranking import conventions
from backend.scoring.views.splits import Row, Summary
from backend.scoring.views.table import Head, NamedKey, Shown, named_keys

_GREEK = {
    letter: unicodedata.name(letter).removeprefix("GREEK SMALL LETTER ").replace("LAMDA", "lambda").lower()
    for letter in "αβγδεζηθικλμνξπρστφχψω"
}
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
    '"': r"\textquotedblright{}",
    "[": "{[}",
    "]": "{]}",
    "*": "{*}",
    "±": r"$\pm$",
    "†": r"$\dagger$",
    "↑": r"$\uparrow$",
    "↓": r"$\downarrow$",
    "≥": r"$\geq$",
    "≤": r"$\leq$",
    "−": "$-$",
    **{letter: f"$\\{name}$" for letter, name in _GREEK.items()},
}
"""Escapes for LaTeX. Brackets and stars need them because LaTeX takes them for an argument after a line break."""
_SIGNS = {">=": r"\geq", ">": ">"}


def tex_text(text: str) -> str:
    """Escape a text for LaTeX, so that it prints as it is. Ends of lines become spaces."""
    return "".join(_TEX.get(letter, letter) for letter in re.sub(r"\s", " ", text)).replace("--", "-{}-")


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


def ended(text: str) -> str:
    """Return a text with a full stop at its end, unless it ends a sentence already.

    >>> ended("Our runs"), ended("Our runs. "), ended("Better (by far!)")
    ('Our runs.', 'Our runs.', 'Better (by far!)')
    """
    text = text.rstrip()
    return text if not text or text.rstrip("\"')]”’»").endswith((".", "!", "?", "…")) else f"{text}."


def captions(parts: Sequence[tuple[str, Summary]], rows: Sequence[Row], shown: Shown) -> list[str]:
    """Return the sentences of a table's caption: preset, sizes, and what bold, ±, daggers and brackets mean."""
    first = parts[0][1]
    benchmark = first.get("benchmark")
    clauses = [f"{benchmark['title']}, as {benchmark['evaluator']} counts"] if benchmark else []
    clauses += [f"preset {conventions(first)}", *(_size(split, part) for split, part in parts)]
    if benchmark:
        clauses += ["in percent"] if benchmark["percent"] else []
    elif shown.percent:
        unbounded = [entry.measure.short for entry in named_keys(first).values() if entry.measure.highest is None]
        clauses.append("in percent" + (f", but for {', '.join(dict.fromkeys(unbounded))}" if unbounded else ""))
    seeds = sorted({len(runs) for row in rows for runs in row.runs.values()})
    if seeds[-1] > 1:
        clauses.append(f"mean ± sample standard deviation over {seeds[-1]} seeds{_fewer(rows, seeds[-1])}")
    if sum(not row.upper_bound for row in rows) > 1:
        clauses.append(
            "best in bold" + _unlike(parts) + (", upper bounds aside" * any(row.upper_bound for row in rows))
        )
    sentence = "; ".join(clauses)
    notes = [f"{sentence[:1].upper()}{sentence[1:]}"]
    alone = [(split, runs[0]) for row in rows for split, runs in row.runs.items() if len(runs) == 1]
    marks = []
    if tested := {split for split, run in alone if run.get("comparison")}:
        sizes = [(part["statistics"]["queries"], part["truth"]["queries"]) for split, part in parts if split in tested]
        shared = " / ".join(f"{count:,}" for count, _ in sizes)
        of = "" if all(count == every for count, every in sizes) else f" over the {shared} queries that all runs count"
        left = _clusters(parts) + (", single runs only" if seeds[-1] > 1 else "")
        marks.append(f"†↑ above, †↓ below {first['baseline']}, p < {APART:g} (sign-flip test{of}, Holm{left})")
    if shown.intervals and any("intervals" in run for _, run in alone):
        marks.append("in brackets 95 % bootstrap intervals" + _clusters(parts))
    text = "; ".join(marks)
    return [ended(note) for note in (*notes, f"{text[:1].upper()}{text[1:]}") if note]


def _clusters(parts: Sequence[tuple[str, Summary]]) -> str:
    """Return a text that says by which property queries were drawn in clusters; empty if they were drawn one by one."""
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
    queries = said_n("{n:,} query", "{n:,} queries", truth["queries"])
    moments = said_n("{n:,} moment", "{n:,} moments", truth["moments"])
    return f"{split + ': ' if split else ''}{queries}, {moments}"


def _unlike(parts: Sequence[tuple[str, Summary]]) -> str:
    """Return a note if the runs of a split are scored on different numbers of queries; otherwise an empty text."""
    unlike = any(len({run["counted"] for run in part["runs"]}) > 1 for _, part in parts)
    return " among runs that count the same queries" if unlike else ""
