"""The scores of an evaluation as text to take along: CSV, Markdown, LaTeX.

All of them come from the object that `reelrank evaluate --json` prints, and all of them carry the preset and every
option that differs from it.
"""

import csv
import io
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from backend.scoring.measure import Measure
from backend.scoring.views import naming

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
_STATISTICS = ("low", "high")
_COMPARISON = ("difference", "difference_low", "difference_high", "p", "p_holm", "p_t", "wins", "ties", "losses")


def conventions(summary: Mapping[str, Any]) -> str:
    """The preset and what differs from it, as `paper, missing=skip`."""
    return ", ".join([summary["preset"], *(f"{name}={_word(value)}" for name, value in summary["options"].items())])


def sentence(summary: Mapping[str, Any]) -> str:
    """What stands beside the numbers: `preset paper; 500 queries, 12,987 moments`."""
    truth = summary["truth"]
    return f"preset {conventions(summary)}; {truth['queries']} queries, {truth['moments']} moments"


def to_csv(summary: Mapping[str, Any]) -> str:
    """One line for each run, group and measure, ready for a data frame; numbers in full, undefined ones empty.

    Columns: run, by, group, queries (that count), missing, measure, value, then interval and comparison where they
    were asked for, then baseline, preset and options.
    """
    text = io.StringIO()
    lines = csv.writer(text, lineterminator="\n")
    head = ["run", "by", "group", "queries", "missing", "measure", "value", *_STATISTICS, "baseline", *_COMPARISON]
    lines.writerow([*head, "preset", "options"])
    tail = [summary["preset"], " ".join(f"{name}={_word(value)}" for name, value in summary["options"].items())]
    for run, part, group, queries, measures in _groups(summary):
        whole = part == ""
        for key, value in measures.items():
            interval = run.get("intervals", {}).get(key, {}) if whole else {}
            compared = run.get("comparison", {}).get(key, {}) if whole else {}
            cells = [run["name"], part, group, queries, len(run["missing"]), key, value]
            cells += [interval.get(name) for name in _STATISTICS]
            cells += [summary.get("baseline") if compared else None, *(compared.get(name) for name in _COMPARISON)]
            lines.writerow([*("" if cell is None else cell for cell in cells), *tail])
    return text.getvalue()


def per_query_csv(summary: Mapping[str, Any], rows: Sequence[tuple[str, Any, bool, Mapping[str, float]]]) -> str:
    """One line for each run and query that counts, all measures as columns; `rows` from `Scoreboard.per_query`."""
    text = io.StringIO()
    lines = csv.writer(text, lineterminator="\n")
    keys = list(rows[0][3]) if rows else []
    options = " ".join(f"{name}={_word(value)}" for name, value in summary["options"].items())
    lines.writerow(["run", "query", "missing", *keys, "preset", "options"])
    lines.writerows(
        [run, query, _word(lacking), *(values[key] for key in keys), summary["preset"], options]
        for run, query, lacking, values in rows
    )
    return text.getvalue()


def to_markdown(summary: Mapping[str, Any]) -> str:
    """A table of measures by runs (runs by measures where those are fewer), then one for each breakdown."""
    runs = summary["runs"]
    blocks = [f"Preset {_markdown(sentence(summary).removeprefix('preset '))}.", _grid(table(summary))]
    if sure := standings(summary):
        blocks.append(_grid(sure))
    blocks += [_markdown(note) for note in summary.get("statistics", {}).get("notes", [])]
    for by, cells in group_tables(summary).items():
        blocks += [f"Mean {_markdown(summary['focus'])} by {by}: {runs[0]['by'][by]['note']}.", _grid(cells)]
    notes = [f"- {_markdown(run['name'])}: {len(run['missing'])} queries without predictions" for run in runs]
    blocks += ["\n".join(note for note, run in zip(notes, runs, strict=True) if run["missing"])]
    return "\n\n".join(block for block in blocks if block) + "\n"


def to_latex(summary: Mapping[str, Any]) -> str:
    r"""A `table` to paste, runs by cut-off and threshold, one block a family; needs \usepackage{booktabs}.

    The best value of a column is bold; a dagger marks a difference to the baseline with Holm-corrected p < .05.
    """
    families: dict[str, list[str]] = {}
    for key in _keys(summary):
        families.setdefault(key.split("@")[0], []).append(key)
    blocks = [_latex_block(summary, keys) for keys in families.values()]
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


def table(summary: Mapping[str, Any]) -> list[list[str]]:
    """Head and rows of the means, as text; a dagger marks a difference to the baseline with Holm-adjusted p < .05."""
    runs, keys = summary["runs"], _keys(summary)
    body = [[key, *(_cell(run, key) for run in runs)] for key in keys]
    if len(keys) < len(runs):
        return [["run", *keys], *([run["name"], *(_cell(run, key) for key in keys)] for run in runs)]
    return [["measure", *(run["name"] for run in runs)], *body]


def group_tables(summary: Mapping[str, Any]) -> dict[str, list[list[str]]]:
    """For each breakdown head and rows of the measure in focus: group, its queries, each run's mean."""
    runs, focus = summary["runs"], summary["focus"]
    tables: dict[str, list[list[str]]] = {}
    for by, first in runs[0].get("by", {}).items():
        tables[by] = [["group", "queries", *(run["name"] for run in runs)]]
        for name in first["groups"]:
            groups = [run["by"][by]["groups"][name] for run in runs]
            means = [group["measures"].get(focus) for group in groups]
            cells = ["-" if mean is None else f"{mean:.4f}" for mean in means]
            tables[by].append([name, group_size([group["queries"] for group in groups]), *cells])
    return tables


def standings(summary: Mapping[str, Any]) -> list[list[str]]:
    """Where statistics were asked for, head and rows of the measure in focus: interval, difference to the baseline."""
    focus, baseline = summary["focus"], summary.get("baseline")
    rows = []
    for run in summary["runs"]:
        interval, found = run.get("intervals", {}).get(focus), run.get("comparison", {}).get(focus)
        if interval is None:
            continue
        rows.append([run["name"], f"{run['measures'][focus]:.4f}", f"{interval['low']:.4f}-{interval['high']:.4f}"])
        if found is not None:
            p = [p_value(found[name]) for name in ("p", "p_holm", "p_t")]
            span = f"{found['difference_low']:+.4f} to {found['difference_high']:+.4f}"
            counts = f"{found['wins']}/{found['ties']}/{found['losses']}"
            rows[-1] += [f"{found['difference']:+.4f}", span, *p, counts]
        elif baseline is not None:
            rows[-1] += ["baseline" if run["name"] == baseline else "-", *["-"] * 5]
    if not rows:
        return []
    head = ["run", focus, "95 %"]
    return [head + (["difference", "95 %", "p", "p (Holm)", "p (t)", "W/T/L"] if baseline else []), *rows]


def p_value(value: float | None) -> str:
    """A p as text, `-` where it is undefined."""
    return "-" if value is None else "<.0001" if value < 0.0001 else f"{value:.4f}".removeprefix("0")


def group_size(sizes: Sequence[int]) -> str:
    """How many queries count: one number, or from and to where runs differ."""
    low, high = min(sizes), max(sizes)
    return f"{low:,}" if low == high else f"{low:,}-{high:,}"


def _groups(summary: Mapping[str, Any]) -> Iterator[tuple[Mapping[str, Any], str, str, int, Mapping[str, float]]]:
    for run in summary["runs"]:
        yield run, "", "all", run["counted"], run["measures"]
        for by, part in run.get("by", {}).items():
            for name, group in part["groups"].items():
                yield run, by, name, group["queries"], group["measures"]


def _keys(summary: Mapping[str, Any]) -> list[str]:
    return list(dict.fromkeys(key for run in summary["runs"] for key in run["measures"]))


def _cell(run: Mapping[str, Any], key: str) -> str:
    value = run["measures"].get(key)
    if value is None:
        return "-"
    p_holm = run.get("comparison", {}).get(key, {}).get("p_holm")
    return f"{value:.4f}" + ("" if p_holm is None or p_holm >= 0.05 else "†")


def _grid(rows: Sequence[Sequence[str]]) -> str:
    lines = ["| " + " | ".join(_markdown(cell) for cell in row) + " |" for row in rows]
    rule = "| --- |" + " ---: |" * (len(rows[0]) - 1)
    return "\n".join([lines[0], rule, *lines[1:]])


def _markdown(text: str) -> str:
    """Text that no Markdown reader takes for a cell border, markup or HTML."""
    for mark in "\\|`*_[]<>":
        text = text.replace(mark, f"\\{mark}" if mark not in "<>" else {"<": "&lt;", ">": "&gt;"}[mark])
    return " ".join(text.split())


def _latex_block(summary: Mapping[str, Any], keys: Sequence[str]) -> str:
    runs = summary["runs"]
    parts = [key.split("@")[1].split(",") for key in keys]
    cutoffs: dict[str, int] = {}
    for cutoff, *_ in parts:
        cutoffs[cutoff] = cutoffs.get(cutoff, 0) + 1
    named = naming.named(summary, keys)
    measure, iou_compare = named[keys[0]].measure, named[keys[0]].iou_compare
    heads = {cutoff: _title(measure, cutoff, iou_compare) for cutoff in cutoffs}
    head = " & ".join(
        f"\\multicolumn{{{width}}}{{c}}{{{heads[cutoff]}}}" if width > 1 else heads[cutoff]
        for cutoff, width in cutoffs.items()
    )
    lines = [f"  \\begin{{tabular}}{{l{'r' * len(keys)}}}", r"    \toprule", f"    & {head} \\\\"]
    if measure.threshold:
        lines.append("    Run & " + " & ".join(f"${measure.threshold.tex}={part[1]}$" for part in parts) + r" \\")
    lines.append(r"    \midrule")
    best = {key: max((run["measures"][key] for run in runs if key in run["measures"]), default=None) for key in keys}
    for run in runs:
        cells = []
        for key in keys:
            value, text = run["measures"].get(key), _cell(run, key).replace("†", r"$^\dagger$")
            cells.append(f"\\textbf{{{text}}}" if value is not None and value == best[key] and len(runs) > 1 else text)
        lines.append(f"    {_tex(run['name'])} & " + " & ".join(cells) + r" \\")
    return "\n".join([*lines, r"    \bottomrule", r"  \end{tabular}"])


def _title(measure: Measure, cutoff: str, iou_compare: str) -> str:
    r"""Such as `R@10, IoU$\geq\theta$`."""
    title = f"{_tex(measure.short)}@{cutoff}"
    if measure.threshold:
        sign = {">=": r"\geq", ">": ">"}[measure.threshold.sign(iou_compare)]
        title += f", IoU${sign}{measure.threshold.tex}$"
    return f"{title} ({_tex(measure.source)})" if measure.source else title


def _tex(text: str) -> str:
    return "".join(_LATEX.get(letter, letter) for letter in text)


def _word(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


SCORE_FORMATS: Mapping[str, Callable[[Mapping[str, Any]], str]] = {
    "csv": to_csv,
    "markdown": to_markdown,
    "latex": to_latex,
}
