"""The tables that papers print: models and their variants down, cut-offs, thresholds and splits across.

Runs that differ only in their seed are one row, mean and standard deviation. Reads and writes nothing.
"""

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from backend.scoring.fates import FATES
from backend.scoring.measure import Measure
from backend.scoring.upper_bound import run_label
from backend.scoring.views.splits import Row, Summary, parts_of, rows_of, span_of, spread
from backend.scoring.views.table import (
    PLAIN,
    Cell,
    Column,
    Head,
    Named,
    Shown,
    Table,
    counted_queries,
    fair,
    keys_of,
    marks,
    named,
)
from backend.scoring.views.words import captions, tex_level, tex_text, tex_title

_WIDEST, _WIDEST_LONG = 10, 6
"""So many columns of numbers fit side by side, fewer with ± or intervals; cut-offs that do not stand below others."""


@dataclass(frozen=True, slots=True)
class _Column:
    """Where the numbers of a column come from: a split, and a value of each of its runs, written by `show`.

    `key` is the measure whose intervals and comparisons belong to it, empty where there are none. `ranked` tells
    whether one of its values can be best.
    """

    heads: tuple[Head, ...]
    title: str
    split: str
    value: Callable[[Mapping[str, Any]], float | None]
    show: Callable[[float], str]
    key: str = ""
    ranked: bool = True


def paper(summary: Summary, shown: Shown = PLAIN) -> list[Table]:
    """Every measure, group and error of a summary, as blocks of one table; `notes` of the first are for its caption."""
    parts = parts_of(summary)
    rows = rows_of(parts)
    found = [runs for row in rows for runs in row.runs.values()]
    long = any(len(runs) > 1 or (shown.intervals and "intervals" in runs[0]) for runs in found)
    widest = _WIDEST_LONG if long else _WIDEST
    first = parts[0][1]
    blocks = _figures(parts, widest) if "benchmark" in first else _measures(parts, shown, widest)
    if "own_video" in first["runs"][0]:
        blocks += _measures(parts, shown, widest, "own_video", ", own video")
    for by in first["runs"][0].get("by", ()):
        blocks += _apart(_groups(parts, by, shown), widest)
    if "errors" in first["runs"][0]:
        blocks += _apart(_errors(parts), widest)
    tables = [_table(title, columns, rows, parts, shown) for title, columns in blocks]
    notes = tuple(captions(parts, rows, shown))
    return [Table(table.title, table.columns, table.rows, notes if n == 0 else ()) for n, table in enumerate(tables)]


_Block = tuple[str, list[_Column]]


def _apart(block: _Block, widest: int) -> list[_Block]:
    """A block, or where it is too wide one for each split."""
    title, columns = block
    if len(columns) <= widest:
        return [block]
    splits = dict.fromkeys(column.split for column in columns)
    return [(title, [column for column in columns if column.split == split]) for split in splits]


def _figures(parts: Sequence[tuple[str, Summary]], widest: int) -> list[_Block]:
    """What a benchmark's own evaluator prints, as it prints it."""
    benchmark = parts[0][1]["benchmark"]
    shown = Shown(percent=benchmark["percent"], digits=benchmark["digits"])
    title = Head(benchmark["title"], tex_text(benchmark["title"]))
    columns: list[_Column] = []
    for figure in benchmark["figures"]:
        name = Head(figure["name"], tex_text(figure["name"]))
        columns += _in_splits([title, name], [split for split, _ in parts], _figure_value(figure["name"]), shown.number)
    return [(title.text, columns[at : at + widest]) for at in range(0, len(columns), widest)]


def _in_splits(
    heads: list[Head],
    splits: Sequence[str],
    value: Callable[[Mapping[str, Any]], float | None],
    show: Callable[[float], str],
    *,
    apart: bool | None = None,
    ranked: bool = True,
) -> Iterator[_Column]:
    """A column of a value for each split, which has a head of its own where there are several (`apart`)."""
    for split in splits:
        own = [*heads, _split_head(split)] if (len(splits) > 1 if apart is None else apart) else heads
        yield _Column(tuple(own), " ".join(head.text for head in own[1:]), split, value, show, ranked=ranked)


def _split_head(split: str) -> Head:
    return Head(split, tex_text(split.capitalize()))


def _figure_value(name: str) -> Callable[[Mapping[str, Any]], float | None]:
    return lambda run: run["figures"][name]


def _measures(
    parts: Sequence[tuple[str, Summary]], shown: Shown, widest: int, of: str = "", suffix: str = ""
) -> list[_Block]:
    """The measures family by family; one cut-off below the other where they are too many to stand side by side."""
    families: dict[str, list[Named]] = {}
    for one in named(parts[0][1], _keys(parts)).values():
        families.setdefault(one.measure.name, []).append(one)
    blocks = []
    for family in families.values():
        cutoffs = list(dict.fromkeys(one.k for one in family))
        together = len(family) * len(parts) <= widest
        for k in [None] if together else cutoffs:
            chosen = [one for one in family if together or one.k == k]
            several = together and len(cutoffs) > 1
            columns = [
                _value(one, split, len(parts) > 1, several, shown, of, suffix) for one in chosen for split, _ in parts
            ]
            measure = chosen[0].measure
            title = measure.title("K" if several else chosen[0].k or "K", iou_compare=chosen[0].iou_compare)
            blocks.append((title + suffix, columns))
    return blocks


def _keys(parts: Sequence[tuple[str, Summary]]) -> list[str]:
    return list(dict.fromkeys(key for _, part in parts for key in keys_of(part)))


def _value(one: Named, split: str, splits: bool, cutoffs: bool, shown: Shown, of: str, suffix: str) -> _Column:
    """The column of a measure in a split; its title says which split and cut-off where there are several."""
    title = one.measure.title(one.k or "K", iou_compare=one.iou_compare) + suffix
    heads = [Head(title, tex_title(one) + tex_text(suffix))]
    words = [f"@{one.k}"] if one.k and cutoffs else []
    if one.threshold is not None:
        level = tex_level(one)
        heads.append(level)
        words.append(level.text)
    if splits:
        heads.append(_split_head(split))
        words.append(split)
    return _Column(
        tuple(heads),
        " ".join(words) or title,
        split,
        lambda run: (run[of] if of else run)["measures"].get(one.key),
        _written(shown, one.measure),
        "" if of else one.key,
    )


def _written(shown: Shown, measure: Measure) -> Callable[[float], str]:
    return lambda value: shown.number(value, measure)


def _groups(parts: Sequence[tuple[str, Summary]], by: str, shown: Shown) -> _Block:
    """The measure in focus of each group of queries; how many queries a group has stands in its head."""
    focus = named(parts[0][1], [parts[0][1]["focus"]])[parts[0][1]["focus"]]
    title = Head(f"{focus.title} by {by}", tex_title(focus, whole=True) + f" by {by}")
    sizes: dict[str, dict[str, list[int]]] = {}
    for split, part in parts:
        for run in part["runs"]:
            for name, group in run["by"][by]["groups"].items():
                sizes.setdefault(name, {}).setdefault(split, []).append(group["queries"])
    columns: list[_Column] = []
    for name, of_split in sizes.items():
        text = f"{name} ({' / '.join(span_of(found) for found in of_split.values())})"
        heads, value = [title, Head(text, tex_text(text))], _group_value(by, name, focus.key)
        columns += _in_splits(heads, list(of_split), value, _written(shown, focus.measure), apart=len(parts) > 1)
    return title.text, columns


def _group_value(by: str, group: str, key: str) -> Callable[[Mapping[str, Any]], float | None]:
    return lambda run: run["by"][by]["groups"].get(group, {"measures": {}})["measures"].get(key)


def _errors(parts: Sequence[tuple[str, Summary]]) -> _Block:
    """How many relevant moments met which fate."""
    at = parts[0][1]["runs"][0]["errors"]
    text = f"relevant moments within ranks 1-{at['k']}, at an IoU threshold of {at['mu']:g}, by what became of them"
    columns: list[_Column] = []
    for fate in (*(fate.value for fate in FATES), "never found"):
        heads = [Head(text, tex_text(text)), Head(fate, tex_text(fate))]
        columns += _in_splits(heads, [split for split, _ in parts], _fate_value(fate), _count, ranked=False)
    return text, columns


def _fate_value(fate: str) -> Callable[[Mapping[str, Any]], float | None]:
    return lambda run: run["errors"]["counts"].get(fate, run["errors"]["never_found"])


def _count(value: float) -> str:
    return f"{value:,.0f}"


def _table(
    title: str, columns: Sequence[_Column], rows: Sequence[Row], parts: Sequence[tuple[str, Summary]], shown: Shown
) -> Table:
    among = {split: _among(rows, split, part) for split, part in parts}
    variants = any(row.variant for row in rows)
    head = [Column("model", "model" if variants or any("model" in r for r in _runs(rows)) else "run", number=False)]
    if variants:
        head.append(Column("variant", shown.variant or "variant", number=False))
    head.append(Column("queries", "queries", "That count, in each split.", "queries"))
    cells: list[list[Cell]] = [_labels(row, parts, variants) for row in rows]
    for column in columns:
        means = [_mean(row.runs.get(column.split, []), column) for row in rows]
        fair_ones = [mean for mean, fits in zip(means, among[column.split], strict=True) if fits and mean is not None]
        best = max(fair_ones, default=None) if column.ranked and len(fair_ones) > 1 else None
        for row, into, mean, fits in zip(rows, cells, means, among[column.split], strict=True):
            runs = row.runs.get(column.split, [])
            into.append(_cell(runs, column, shown, best=fits and mean is not None and mean == best))
    numbers = [Column(f"{column.split} {n}", column.title, heads=column.heads) for n, column in enumerate(columns)]
    return Table(title, (*head, *numbers), tuple(map(tuple, cells)))


def _runs(rows: Sequence[Row]) -> list[Mapping[str, Any]]:
    return [run for row in rows for runs in row.runs.values() for run in runs]


def _among(rows: Sequence[Row], split: str, part: Summary) -> list[bool]:
    """Which rows of a split one can be best of: no upper bounds, and all over the same queries as most rows."""
    queries: list[Hashable | None] = []
    sizes = []
    for row in rows:
        found = {counted_queries(part, run) for run in row.runs.get(split, [])}
        queries.append(None if row.upper_bound else next(iter(found)) if len(found) == 1 else row.name)
        sizes.append(min((run["counted"] for run in row.runs.get(split, [])), default=-1))
    return fair(queries, sizes)


def _labels(row: Row, parts: Sequence[tuple[str, Summary]], variants: bool) -> list[Cell]:
    counted = " / ".join(span_of([run["counted"] for run in row.runs.get(split, [])]) for split, _ in parts)
    model = run_label(row.model, upper_bound=row.upper_bound)
    labels = [model, row.variant] if variants else [model]
    return [*(Cell(label, label) for label in labels), Cell(counted, counted)]


def _mean(runs: Sequence[Mapping[str, Any]], column: _Column) -> float | None:
    values = [value for value in map(column.value, runs) if value is not None]
    return spread(values)[0] if values else None


def _cell(runs: Sequence[Mapping[str, Any]], column: _Column, shown: Shown, *, best: bool) -> Cell:
    """The value of one run, with its interval and whether it is told apart; of several their mean and deviation."""
    values = [value for value in map(column.value, runs) if value is not None]
    if not values:
        return Cell(None, "-")
    mean, deviation = spread(values)
    text = column.show(mean) if deviation is None else f"{column.show(mean)} ± {column.show(deviation)}"
    if len(runs) > 1 or not column.key:
        return Cell(mean, text, marks(None, best=best))
    (run,) = runs
    interval = run.get("intervals", {}).get(column.key) if shown.intervals else None
    below = f"[{column.show(interval['low'])}, {column.show(interval['high'])}]" if interval else ""
    return Cell(mean, text, marks(run.get("comparison", {}).get(column.key), best=best), below=below)
