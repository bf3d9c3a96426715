"""The scores of an evaluation as text to take along: CSV, Markdown, LaTeX.

All of them come from the object that `reelrank evaluate --json` prints, and all of them carry the preset and every
option that differs from it, and say of every measure whether IoU must reach or exceed its threshold.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from backend.ground.text_files import csv_text
from backend.scoring.measure import AVERAGE, Measure, Threshold
from backend.scoring.views.groups import groups
from backend.scoring.views.naming import Named, keys_of, legend, named
from backend.scoring.views.pools import own_and_pool
from backend.scoring.views.ranking import means, narrow_means, options, ranking, sentence, word
from backend.scoring.views.table import Mark, Row, Table

_LATEX = {
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
}
_DAGGERS = {"†↑": r"$^{\dagger\uparrow}$", "†↓": r"$^{\dagger\downarrow}$"}
_STATISTICS = ("low", "high")
_COMPARISON = ("difference", "difference_low", "difference_high", "p", "p_holm", "p_t", "wins", "ties", "losses")


def to_csv(summary: Mapping[str, Any]) -> str:
    """One line for each run, group and measure, ready for a data frame; numbers in full, undefined ones empty.

    Columns: run, by, group, queries (that count), missing, measure, value, then interval and comparison where they
    were asked for, then baseline, preset and options, and last the measure's title, which says how IoU is compared.
    """
    head = ["run", "by", "group", "queries", "missing", "measure", "value", *_STATISTICS, "baseline", *_COMPARISON]
    lines = []
    names = named(summary)
    tail = [summary["preset"], " ".join(options(summary))]
    for run, part, group, queries, measures in _groups(summary):
        whole = part == ""
        for key, value in measures.items():
            interval = run.get("intervals", {}).get(key, {}) if whole else {}
            compared = run.get("comparison", {}).get(key, {}) if whole else {}
            cells = [run["name"], part, group, queries, len(run["missing"]), key, value]
            cells += [interval.get(name) for name in _STATISTICS]
            cells += [summary.get("baseline") if compared else None, *(compared.get(name) for name in _COMPARISON)]
            lines.append([*cells, *tail, names[key].title])
    return csv_text([*head, "preset", "options", "title"], lines)


def per_query_csv(summary: Mapping[str, Any], rows: Sequence[tuple[str, Any, bool, Mapping[str, float]]]) -> str:
    """One line for each run and query that counts, all measures as columns; `rows` from `Scoreboard.per_query`."""
    keys = list(rows[0][3]) if rows else []
    changed = " ".join(options(summary))
    lines = (
        [run, query, word(lacking), *(values[key] for key in keys), summary["preset"], changed]
        for run, query, lacking, values in rows
    )
    return csv_text(["run", "query", "missing", *keys, "preset", "options"], lines)


def to_markdown(summary: Mapping[str, Any]) -> str:
    """A table of measures by runs (runs by measures where those are fewer), then one for each breakdown."""
    runs = summary["runs"]
    blocks = [f"Preset {_markdown(sentence(summary).removeprefix('preset '))}.", _grid(narrow_means(summary))]
    blocks.append("\n".join(f"- {_markdown(line)}" for line in legend(summary)))
    if any("intervals" in run for run in runs):
        ranked = ranking(summary)
        blocks += [_grid(ranked), *(_markdown(note) for note in ranked.notes)]
    if "own_video" in runs[0]:
        beside = own_and_pool(summary)
        blocks += [f"{_markdown(beside.title)}. {_markdown(' '.join(beside.notes))}", _grid(beside)]
    for by in runs[0].get("by", {}):
        table = groups(summary, by)
        blocks += [f"{_markdown(table.title)}. {_markdown(' '.join(table.notes))}", _grid(table)]
    notes = [f"- {_markdown(run['name'])}: {len(run['missing'])} queries without predictions" for run in runs]
    blocks += ["\n".join(note for note, run in zip(notes, runs, strict=True) if run["missing"])]
    return "\n\n".join(block for block in blocks if block) + "\n"


def to_latex(summary: Mapping[str, Any]) -> str:
    r"""A `table` to paste, runs by cut-off and threshold, one block a family; needs \usepackage{booktabs}.

    The best value of a column is bold; a dagger marks a difference to the baseline with Holm-corrected p < .05.
    """
    table, families = means(summary), dict.fromkeys(key.partition("@")[0] for key in keys_of(summary))
    blocks = [
        _latex_block(summary, table, [row for row in table.rows if row[0].text.partition("@")[0] == family])
        for family in families
    ]
    marked = (
        f" Daggers: difference to {_tex(summary['baseline'])} with $p < .05$ (sign-flip randomisation, Holm)."
        if summary.get("baseline")
        else ""
    )
    caption = f"{_tex(sentence(summary)).removeprefix('preset ')}.{marked}"
    return "\n".join(
        [
            r"\begin{table}[t]",
            r"  \centering",
            f"  \\caption{{Preset {caption}}}",
            *"\n  \\medskip\n\n".join(blocks).splitlines(),
            r"\end{table}",
            "",
        ]
    )


def _groups(summary: Mapping[str, Any]) -> Iterator[tuple[Mapping[str, Any], str, str, int, Mapping[str, float]]]:
    for run in summary["runs"]:
        yield run, "", "all", run["counted"], run["measures"]
        if own := run.get("own_video"):
            yield run, "video", "own", own["counted"], own["measures"]
        for by, part in run.get("by", {}).items():
            for name, group in part["groups"].items():
                yield run, by, name, group["queries"], group["measures"]


def _grid(table: Table) -> str:
    rows = table.texts()
    lines = ["| " + " | ".join(_markdown(cell) for cell in row) + " |" for row in rows]
    rule = "| " + " | ".join("---:" if column.number else "---" for column in table.columns) + " |"
    return "\n".join([lines[0], rule, *lines[1:]])


def _markdown(text: str) -> str:
    """Text that no Markdown reader takes for a cell border, markup or HTML."""
    for mark in "\\|`*_[]<>":
        text = text.replace(mark, f"\\{mark}" if mark not in "<>" else {"<": "&lt;", ">": "&gt;"}[mark])
    return " ".join(text.split())


def _latex_block(summary: Mapping[str, Any], table: Table, rows: Sequence[Row]) -> str:
    """The keys of one measure: runs by cut-off and threshold."""
    names = list(named(summary, [row[0].text for row in rows]).values())
    measure, iou_compare = names[0].measure, names[0].iou_compare
    widths: dict[str | None, int] = {}
    for one in names:
        widths[one.k] = widths.get(one.k, 0) + 1
    heads = {cutoff: _title(measure, cutoff, iou_compare) for cutoff in widths}
    head = " & ".join(
        f"\\multicolumn{{{width}}}{{c}}{{{heads[cutoff]}}}" if width > 1 else heads[cutoff]
        for cutoff, width in widths.items()
    )
    lines = [f"  \\begin{{tabular}}{{l{'r' * len(rows)}}}", r"    \toprule", f"    & {head} \\\\"]
    if measure.threshold:
        lines.append("    Run & " + " & ".join(_tex_level(measure.threshold, one) for one in names) + r" \\")
    lines.append(r"    \midrule")
    for place, column in enumerate(table.columns[2:], start=2):
        cells = []
        for row in rows:
            cell = row[place]
            text = f"\\textbf{{{cell.text}}}" if Mark.BEST in cell.marks else cell.text
            cells.append(text + _DAGGERS.get(cell.sign, ""))
        lines.append(f"    {_tex(column.title)} & " + " & ".join(cells) + r" \\")
    return "\n".join([*lines, r"    \bottomrule", r"  \end{tabular}"])


def _tex_level(threshold: Threshold, one: Named) -> str:
    """The threshold of a column, or the range that it is the mean over."""
    if one.threshold == AVERAGE:
        return f"${threshold.words(AVERAGE)}$"
    return f"${threshold.tex}={one.threshold}$"


def _title(measure: Measure, cutoff: str | None, iou_compare: str) -> str:
    r"""Such as `R@10, IoU$\geq\theta$`."""
    title = _tex(measure.short) + ("" if cutoff is None else f"@{cutoff}")
    if measure.threshold:
        sign = {">=": r"\geq", ">": ">"}[measure.threshold.sign(iou_compare)]
        title += f", IoU${sign}{measure.threshold.tex}$"
    return f"{title} ({_tex(measure.source)})" if measure.source else title


def _tex(text: str) -> str:
    return "".join(_LATEX.get(letter, letter) for letter in text)


SCORE_FORMATS: Mapping[str, Callable[[Mapping[str, Any]], str]] = {
    "csv": to_csv,
    "markdown": to_markdown,
    "latex": to_latex,
}
