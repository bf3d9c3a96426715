r"""Write the scores of an evaluation as one LaTeX table to paste into a paper; it needs `\usepackage{booktabs}`.

Reads and writes nothing.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from backend.scoring.views.paper import paper
from backend.scoring.views.table import PLAIN, Cell, Column, Mark, Row, Shown
from backend.scoring.views.words import tex_text

_DAGGERS = {"†↑": r"$^{\dagger\uparrow}$", "†↓": r"$^{\dagger\downarrow}$"}
_NARROW = 4
"""A table with more columns of numbers than this spans both columns of a page, in small type."""


def to_latex(summary: Mapping[str, Any], shown: Shown = PLAIN) -> str:
    r"""Return a LaTeX `table` with one `tabular`.

    The rows are runs, or models and their variants. The columns are cut-offs, thresholds and splits. Each measure has
    its own block of rows. So have breakdowns by group of queries, error counts and own-video scores, if the summary has
    them. Best values are bold; only runs that count the same queries are compared. A dagger marks a run that differs
    significantly from the baseline, if that was tested. Intervals are printed under their values. The caption says how
    the numbers were computed. `shown` says how to format numbers.
    """
    tables = paper(summary, shown)
    labels = len([column for column in tables[0].columns if not column.heads])
    widest = max(len(table.columns) for table in tables) - labels
    wide = widest > _NARROW or any("±" in cell.text for table in tables for row in table.rows for cell in row)
    name = "table*" if wide else "table"
    caption = " ".join(map(tex_text, [shown.caption, *tables[0].notes] if shown.caption else tables[0].notes))
    text = "l" * (labels - 1)
    lines = [
        f"\\begin{{{name}}}[t]",
        r"  \centering",
        f"  \\caption{{{caption}}}",
        *([f"  \\label{{{shown.label}}}"] if shown.label else []),
        *([r"  \footnotesize", r"  \setlength{\tabcolsep}{4pt}"] if wide else []),
        f"  \\begin{{tabular}}{{{text}r{'r' * widest}}}",
        r"    \toprule",
    ]
    for n, table in enumerate(tables):
        lines += [r"    \midrule"] if n else []
        lines += [f"    {line}" for line in (*_heads(table.columns, labels), r"\midrule", *_rows(table.rows, labels))]
    return "\n".join([*lines, r"    \bottomrule", r"  \end{tabular}", f"\\end{{{name}}}", ""])


def _heads(columns: Sequence[Column], labels: int) -> list[str]:
    """Return the header lines of the table. A column can have several heads, one above the other; each level is a line.

    A head that spans several columns has a rule under it. The first `labels` columns have only a title, in the last
    line.
    """
    numbers = columns[labels:]
    depth = max(len(column.heads) for column in numbers)
    words = [tex_text(column.title[:1].upper() + column.title[1:]) for column in columns[:labels]]
    lines = []
    for level in range(depth):
        last = level == depth - 1
        cells, rules, column_number = words if last else [""] * labels, [], labels + 1
        for heads in _group_equals([column.heads[: level + 1] for column in numbers]):
            text = heads[0][-1].tex if len(heads[0]) > level else ""
            wide = len(heads)
            cells = [*cells, f"\\multicolumn{{{wide}}}{{c}}{{{text}}}" if wide > 1 else text]
            rules += [f"\\cmidrule(lr){{{column_number}-{column_number + wide - 1}}}"] if wide > 1 else []
            column_number += wide
        lines.append(" & ".join(cells) + r" \\")
        if rules:
            lines.append(" ".join(rules))
    return lines


def _group_equals(paths: Sequence[tuple[Any, ...]]) -> list[list[tuple[Any, ...]]]:
    """Return the paths in groups of equal neighbours. A path holds the heads of a column from the top."""
    groups: list[list[tuple[Any, ...]]] = []
    for path in paths:
        if groups and groups[-1][0] == path:
            groups[-1].append(path)
        else:
            groups.append([path])
    return groups


def _rows(rows: Sequence[Row], labels: int) -> list[str]:
    """Return the lines of the rows, whose first `labels` cells name the run.

    If models have variants, only the first row of a model has its name, and there is space between the models.
    """
    lines = []
    variants = labels > 2
    before = None
    for row in rows:
        model = row[0].text
        if variants and before is not None and model != before:
            lines.append(r"\addlinespace")
        first = "" if variants and model == before else tex_text(model)
        before = model
        others = [tex_text(cell.text) for cell in row[1:labels]]
        lines.append(" & ".join([first, *others, *map(_number, row[labels:])]) + r" \\")
        if any(cell.below for cell in row):
            under = [f"{{\\scriptsize {tex_text(cell.below)}}}" if cell.below else "" for cell in row[labels:]]
            lines.append(" & ".join([""] * labels + under) + r" \\")
    return lines


def _number(cell: Cell) -> str:
    text = tex_text(cell.text)
    return (f"\\textbf{{{text}}}" if Mark.BEST in cell.marks else text) + _DAGGERS.get(cell.sign, "")
