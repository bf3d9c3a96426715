r"""Write the scores of an evaluation as LaTeX tables to paste into a paper; they need `\usepackage{booktabs}`.

A table is as wide as one column of a two-column page, or as both columns. Reads and writes nothing.
"""

import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate, chain, groupby, pairwise, product, zip_longest
from typing import Any, TypeVar

from backend.scoring.views.paper import paper
from backend.scoring.views.splits import parts_of
from backend.scoring.views.table import PLAIN, Cell, Column, Head, Mark, Row, Shown, Table
from backend.scoring.views.tex_lines import BOLD, SMALL, WIDEST, TexText, name_lines, width_of, words_of, wrapped
from backend.scoring.views.words import ended, tex_text

_COLUMN, _PAGE = 229.0, 469.0
r"""Widths in points of one column and of both columns of a page, in `\documentclass[twocolumn]{article}`.

Those of IEEE, ACM and CVPR are a little larger.
"""
_LINES = 46
"""Lines of text in a table that a page has room for, beside the caption."""
_SIGN_WIDTH = 9.0
"""Width in points of a dagger with an arrow."""
_SIGNS = {"†↑": r"$^{\dagger\uparrow}$", "†↓": r"$^{\dagger\downarrow}$"}
_NO_SIGN = r"\phantom{$^{\dagger\uparrow}$}"
_Item = TypeVar("_Item")


_Line = list[TexText]


@dataclass(frozen=True, slots=True)
class _Block:
    """One measure's part of a table. `heads` has the text lines of each level of headings, `rows` those of each run."""

    heads: list[list[_Line]]
    rows: list[list[_Line]]


def to_latex(summary: Mapping[str, Any], shown: Shown = PLAIN) -> str:
    r"""Return a LaTeX `table` for one column of a two-column page or, with `shown.wide`, a `table*` for both columns.

    The rows are runs, or models and their variants. The columns are cut-offs, thresholds and splits. Each measure has
    its own block of rows, or several if its columns do not fit side by side. Breakdowns by group of queries, error
    counts, and scores for retrieval within each query's own video get blocks too, if the summary has them. A table that
    would be higher than a page continues in another one. Long names continue in the next line.

    Best values are bold; only runs that count the same queries are compared. A dagger marks a run that differs
    significantly from the baseline, if that was tested. Intervals are printed under their values. The caption says how
    the numbers were computed. The number of queries that a run counts has a column, unless all runs count all queries.
    `shown` says how to format numbers.
    """
    room, gap = (_PAGE, 4) if shown.wide else (_COLUMN, 3)
    every = all(run["counted"] == part["truth"]["queries"] for _, part in parts_of(summary) for run in part["runs"])
    tables = [table.without("queries") if every else table for table in paper(summary, shown, sys.maxsize)]
    for widest, short in product(range(int(room / WIDEST / 2), 0, -1), (False, True)):
        blocks = _blocks([part for table in tables for part in _apart(table, widest)], room, gap, short=short)
        if _width(blocks, gap) <= room:
            break
    names = sum(not column.number for column in tables[0].columns)
    columns = max(len(row[0]) for block in blocks for row in block.rows)
    name = "table*" if shown.wide else "table"
    lines = []
    for number, page in enumerate(_pages(blocks, names)):
        notes = ["Continued from the table before."] if number else tables[0].notes
        caption = " ".join(tex_text(text) for text in (ended(shown.caption), *notes) if text)
        lines += [
            f"\\begin{{{name}}}[t]",
            r"  \centering",
            f"  \\caption{{{caption}}}",
            *([f"  \\label{{{shown.label}{f'-{number + 1}' if number else ''}}}"] if shown.label else []),
            r"  \footnotesize",
            f"  \\setlength{{\\tabcolsep}}{{{gap}pt}}",
            f"  \\begin{{tabular}}{{@{{}}{'l' * names}{'r' * (columns - names)}@{{}}}}",
            *(f"    {line}" for line in (r"\toprule", *page, r"\bottomrule")),
            r"  \end{tabular}",
            f"\\end{{{name}}}",
        ]
    return "\n".join([*lines, ""])


def _apart(table: Table, widest: int) -> list[Table]:
    """Return a table as several tables with at most `widest` columns of numbers.

    Columns under one head stay together if they fit. The columns without heads, such as that of the runs, are repeated.
    """
    front = sum(not column.heads for column in table.columns)
    kept = [[*range(front), *numbers] for numbers in _bands(table, range(front, len(table.columns)), widest)]
    return [
        replace(
            table,
            columns=tuple(table.columns[n] for n in part),
            rows=tuple(tuple(row[n] for n in part) for row in table.rows),
        )
        for part in kept
    ]


def _bands(table: Table, numbers: Sequence[int], widest: int, depth: int = 1) -> list[list[int]]:
    """Divide columns, given by their numbers, into parts of at most `widest` columns.

    Columns that share their first `depth` heads form a group. Groups that fit share a part, others are divided.
    """
    if len(numbers) <= widest:
        return [list(numbers)]
    groups = [list(group) for _, group in groupby(numbers, key=lambda n: table.columns[n].heads[:depth])]
    longest = max(map(len, groups))
    if longest <= widest:
        return [[*chain(*part)] for part in _evenly(groups, widest // longest)]
    if depth == len(table.columns[-1].heads):
        return [list(part) for part in _evenly(numbers, widest)]
    return [part for group in groups for part in _bands(table, group, widest, depth + 1)]


def _evenly(items: Sequence[_Item], most: int) -> list[Sequence[_Item]]:
    """Divide items into as few parts as possible, of about equal size, with at most `most` items in each.

    >>> _evenly("abcdefg", 3)
    ['abc', 'de', 'fg']
    """
    count = -(-len(items) // most)
    return [items[low:high] for low, high in pairwise(-(-len(items) * n // count) for n in range(count + 1))]


def _blocks(tables: Sequence[Table], room: float, gap: float, *, short: bool) -> list[_Block]:
    """Return each table's headings and rows, broken into lines for a width of `room` points.

    `gap` is half the space between two columns, in points. If `short` is true, headings are broken into lines that are
    about as wide as the numbers below.
    """
    names = sum(not column.number for column in tables[0].columns)
    longest = room * (0.4 if names == 1 else 0.24)
    bodies = [_rows(table.rows, names, longest) for table in tables]
    widths = _widths(line for rows in bodies for row in rows for line in row)
    if not short:
        widths = [room] * len(widths)
    for _ in range(2):  # the second time with room for the longest words of the heads in all tables
        blocks = [_Block(_heads(table.columns, widths, gap), rows) for table, rows in zip(tables, bodies, strict=True)]
        widths = _widths(line for block in blocks for part in (*block.heads, *block.rows) for line in part)
    return blocks


def _width(blocks: Sequence[_Block], gap: float) -> float:
    """Return the width in points of the table that has these blocks below each other."""
    lines = [line for block in blocks for part in (*block.heads, *block.rows) for line in part]
    widths = _widths(lines)
    for line in lines:
        first = 0
        for text in line:
            last = first + text.span
            widths[last - 1] += max(0.0, text.width - _span(widths[first:last], gap))
            first = last
    return _span(widths, gap)


def _span(widths: Sequence[float], gap: float) -> float:
    """Return the width in points of neighbouring columns with the space between them."""
    return sum(widths) + 2 * gap * (len(widths) - 1)


def _widths(lines: Iterable[_Line]) -> list[float]:
    """Return the width in points of each column; headings that span several columns are ignored."""
    widths: list[float] = []
    for line in lines:
        own = [width for text in line for width in ([text.width] if text.span == 1 else [0.0] * text.span)]
        widths = [max(pair) for pair in zip_longest(widths, own, fillvalue=0.0)]
    return widths


def _pages(blocks: Sequence[_Block], names: int) -> Iterator[list[str]]:
    """Yield the LaTeX lines of each table, with as many blocks below each other as fit on a page.

    `names` is how many columns hold names of runs: two if models have variants, else one.
    """
    page: list[str] = []
    for block in blocks:
        heads = _head_lines(block.heads)
        for rows in _evenly(block.rows, max(1, (_LINES - len(heads)) // max(map(len, block.rows)))):
            lines = [*heads, r"\midrule", *_row_lines(rows, variants=names > 1)]
            if page and _height([*page, *lines]) > _LINES:
                yield page
                page = []
            page += [*([r"\midrule"] if page else []), *lines]
    yield page


def _height(lines: Sequence[str]) -> float:
    """Return the height of a part of a table, in lines. A rule is about half as high as a line of text."""
    return sum(1.0 if line.endswith(r"\\") else 0.55 for line in lines)


def _heads(columns: Sequence[Column], widths: Sequence[float], gap: float) -> list[list[_Line]]:
    """Return the headings of a table as lines of text, for each level from the top; `widths` has the column widths.

    A heading over several columns is one text. Columns without headings, such as that of the runs, have their title in
    the last level.
    """
    depth = max(1, *(len(column.heads) for column in columns))
    levels = []
    for level in range(depth):
        cells: list[tuple[list[TexText], int]] = []
        first = 0
        for _, group in groupby(enumerate(columns), key=lambda item: item[1].heads[: level + 1] or item[0]):
            (_, column), *others = group
            last = first + len(others) + 1
            title = column.title[:1].upper() + column.title[1:] if level == depth - 1 else ""
            head = column.heads[level] if column.heads else Head(title, tex_text(title))
            # The last title may reach over columns that only other blocks have.
            while depth > 1 > level and len(columns) <= last < len(widths):
                if width_of(head.tex) <= _span(widths[first:last], gap):
                    break
                last += 1
            words = words_of(head.tex)
            room = max(_span(widths[first:last], gap), *map(width_of, words))
            cells.append((wrapped(words, room), last - first))
            first = last
        height = max(len(texts) for texts, _ in cells)
        padded = [([TexText()] * (height - len(texts)) + texts, span) for texts, span in cells]
        levels.append([[replace(texts[n], span=span) for texts, span in padded] for n in range(height)])
    return levels


def _rows(rows: Sequence[Row], names: int, longest: float) -> list[list[_Line]]:
    """Return the lines of each row; the first `names` cells of a row hold the run's name, or its model and variant.

    A name wider than `longest` points continues in the next line. Intervals stand in the line below the numbers.
    """
    signed = [any(row[number].sign for row in rows) for number in range(len(rows[0]))]
    result = []
    for row in rows:
        cells = [name_lines(cell.text, longest) for cell in row[:names]]
        for cell, phantom in zip(row[names:], signed[names:], strict=True):
            below = tex_text(cell.below)
            small = [TexText(f"{{\\scriptsize {below}}}", SMALL * width_of(below))] if below else []
            cells.append([_number(cell, phantom=phantom), *small])
        result.append([list(line) for line in zip_longest(*cells, fillvalue=TexText())])
    return result


def _number(cell: Cell, *, phantom: bool) -> TexText:
    """Return a number as LaTeX. `phantom` reserves space for a dagger, because a number in the column has one."""
    number, plus_minus, deviation = cell.text.partition(" ± ")
    tex, width = tex_text(number), width_of(number) * BOLD
    if Mark.BEST in cell.marks:
        tex = f"\\textbf{{{tex}}}"
    if plus_minus:
        tex, width = f"{tex} {{\\scriptsize $\\pm$ {deviation}}}", width + SMALL * width_of(f"{deviation} +  ")
    if phantom:
        tex, width = tex + (_SIGNS[cell.sign] if cell.sign else _NO_SIGN), width + _SIGN_WIDTH
    return TexText(tex, width)


def _head_lines(levels: Sequence[Sequence[_Line]]) -> list[str]:
    """Return the head of a table as LaTeX, with a rule under each head of several columns."""
    result: list[str] = []
    for lines in levels:
        result += map(_printed, lines)
        ends = list(accumulate(text.span for text in lines[-1]))
        spans = zip(lines[-1], ends, strict=True)
        rules = [f"\\cmidrule(lr){{{end - text.span + 1}-{end}}}" for text, end in spans if text.span > 1]
        result += [" ".join(rules)] if rules else []
    return result


def _row_lines(rows: Sequence[Sequence[_Line]], *, variants: bool) -> list[str]:
    """Return the rows as LaTeX.

    If models have variants, only the first row of a model has its name, and there is space between the models.
    """
    result: list[str] = []
    before = ""
    for row in rows:
        model = "".join(line[0].tex for line in row)
        if variants and model == before:
            result += [_printed([TexText(), *line[1:]]) for line in row if any(text.tex for text in line[1:])]
        else:
            result += [r"\addlinespace"] * (variants and before != "")
            result += map(_printed, row)
        before = model
    return result


def _printed(line: _Line) -> str:
    texts = (f"\\multicolumn{{{text.span}}}{{c}}{{{text.tex}}}" if text.span > 1 else text.tex for text in line)
    return " & ".join(texts) + r" \\"
