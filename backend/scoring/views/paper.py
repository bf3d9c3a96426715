"""Make the tables that papers print: models and their variants as rows; cut-offs, thresholds and splits as columns.

Runs that differ only in their seed form one row, with mean and standard deviation. Reads and writes nothing.
"""

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from backend.scoring.fates import FATES
from backend.scoring.measure import Measure
from backend.scoring.pools.overconfidence import KEYS
from backend.scoring.upper_bound import run_label
from backend.scoring.views.splits import Row, Summary, parts_of, rows_of, span_of, spread
from backend.scoring.views.table import (
    PLAIN,
    Cell,
    Column,
    Head,
    NamedKey,
    Shown,
    Table,
    counted_queries,
    fair,
    keys_of,
    marks,
    named_keys,
)
from backend.scoring.views.words import captions, tex_level, tex_text, tex_title

_WIDEST, _WIDEST_LONG = 10, 6
"""Columns of numbers that fit side by side in a text: 10, or 6 with ± or intervals."""


@dataclass(frozen=True, slots=True)
class _Column:
    """A column of numbers to compute: `value` gives the number of each run of a split, and `show` formats it.

    `key` is the measure, such as `ndcg@20,0.5`, whose intervals and comparisons belong to the column, empty if there
    are none. `ranked` tells whether one of the values can be marked as best.
    """

    heads: tuple[Head, ...]
    title: str
    split: str
    value: Callable[[Mapping[str, Any]], float | None]
    show: Callable[[float], str]
    key: str = ""
    ranked: bool = True


def paper(summary: Summary, shown: Shown = PLAIN, widest: int | None = None) -> list[Table]:
    """Return the tables that a paper prints one below the other, with the same rows: one for each measure.

    Tables of breakdowns, error counts and own-video scores follow, if the summary has them. The `notes` of the first
    table are for the caption. If a measure needs more than `widest` columns of numbers, its cut-offs have tables of
    their own. By default `widest` is the number of columns that fit a page.
    """
    parts = parts_of(summary)
    rows = rows_of(parts)
    if widest is None:
        run_lists = [runs for row in rows for runs in row.runs.values()]
        long = any(len(runs) > 1 or (shown.intervals and "intervals" in runs[0]) for runs in run_lists)
        widest = _WIDEST_LONG if long else _WIDEST
    first = parts[0][1]
    blocks = _figures(parts, widest) if "benchmark" in first else _measures(parts, shown, widest)
    if "own_video" in first["runs"][0]:
        blocks += _measures(parts, shown, widest, "own_video", ", own video")
    if "overconfidence" in first["runs"][0]:
        blocks += _apart(_overconfidence(parts, shown), widest)
    for by in first["runs"][0].get("by", ()):
        blocks += _apart(_groups(parts, by, shown), widest)
    if "errors" in first["runs"][0]:
        blocks += _apart(_errors(parts), widest)
    nothing: list[_Block] = [("no query counts", [])]
    tables = [_table(title, columns, rows, parts, shown) for title, columns in blocks or nothing]
    notes = tuple(captions(parts, rows, shown))
    return [Table(table.title, table.columns, table.rows, notes if n == 0 else ()) for n, table in enumerate(tables)]


_Block = tuple[str, list[_Column]]


def _apart(block: _Block, widest: int) -> list[_Block]:
    """Split a table that has more than `widest` columns into one for each split of the truth.

    A table is a pair of its title and columns. A narrow one is returned unchanged, as the only item.
    """
    title, columns = block
    if len(columns) <= widest:
        return [block]
    splits = dict.fromkeys(column.split for column in columns)
    return [(title, [column for column in columns if column.split == split]) for split in splits]


def _figures(parts: Sequence[tuple[str, Summary]], widest: int) -> list[_Block]:
    """Return tables of a benchmark's figures, in the number format of its evaluator.

    A table has at most `widest` columns.
    """
    benchmark = parts[0][1]["benchmark"]
    shown = Shown(percent=benchmark["percent"], digits=benchmark["digits"])
    columns: list[_Column] = []
    for figure in benchmark["figures"]:
        heads, value = [Head(figure["name"], tex_text(figure["name"]))], _figure_value(figure["name"])
        columns += _in_splits(heads, [split for split, _ in parts], value, shown.number, titled=False)
    return [(benchmark["title"], columns[start : start + widest]) for start in range(0, len(columns), widest)]


def _in_splits(
    heads: list[Head],
    splits: Sequence[str],
    value: Callable[[Mapping[str, Any]], float | None],
    show: Callable[[float], str],
    *,
    apart: bool | None = None,
    ranked: bool = True,
    titled: bool = True,
) -> Iterator[_Column]:
    """Yield a column for each split of the truth, such as `val` and `test`.

    Args:
        heads: the parts of the column's head, from the top.
        splits: the names of the splits.
        value: gives the number of a run in the column.
        show: formats the number.
        apart: whether the split's name is added as a last head; by default if there are several splits.
        ranked: whether a value can be marked as best.
        titled: whether the first of `heads` is the title of the whole table, and so no part of the column's title.
    """
    for split in splits:
        own = [*heads, _split_head(split)] if (len(splits) > 1 if apart is None else apart) else heads
        yield _Column(tuple(own), " ".join(head.text for head in own[titled:]), split, value, show, ranked=ranked)


def _split_head(split: str) -> Head:
    return Head(split, tex_text(split.capitalize()))


def _figure_value(name: str) -> Callable[[Mapping[str, Any]], float | None]:
    return lambda run: run["figures"][name]


def _measures(
    parts: Sequence[tuple[str, Summary]], shown: Shown, widest: int, source: str = "", suffix: str = ""
) -> list[_Block]:
    """Return a table for each measure, or one for each of its cut-offs if they need more than `widest` columns.

    `source` is the entry of a run that has the means, such as `own_video`; if empty, the run has them itself. `suffix`
    is added to titles.
    """
    families: dict[str, list[NamedKey]] = {}
    for entry in named_keys(parts[0][1], _keys(parts)).values():
        families.setdefault(entry.measure.name, []).append(entry)
    blocks = []
    for family in families.values():
        cutoffs = list(dict.fromkeys(entry.k for entry in family))
        together = len(family) * len(parts) <= widest
        for k in [None] if together else cutoffs:
            chosen = [entry for entry in family if together or entry.k == k]
            several = together and len(cutoffs) > 1
            columns = [
                _value(entry, split, len(parts) > 1, several, shown, source, suffix)
                for entry in chosen
                for split, _ in parts
            ]
            measure = chosen[0].measure
            title = measure.title("K" if several else chosen[0].k or "K", iou_compare=chosen[0].iou_compare)
            blocks.append((title + suffix, columns))
    return blocks


def _keys(parts: Sequence[tuple[str, Summary]]) -> list[str]:
    return list(dict.fromkeys(key for _, part in parts for key in keys_of(part)))


def _value(entry: NamedKey, split: str, splits: bool, cutoffs: bool, shown: Shown, source: str, suffix: str) -> _Column:
    """Return the column with the means of one measure, at one cut-off and threshold, in one split.

    The title names the split if `splits` is true, and the cut-off if `cutoffs` is. For `source` and `suffix` see
    `_measures`.
    """
    title = entry.measure.title(entry.k or "K", iou_compare=entry.iou_compare) + suffix
    heads = [Head(title, tex_title(entry) + tex_text(suffix))]
    words = [f"@{entry.k}"] if entry.k and cutoffs else []
    if entry.threshold is not None:
        level = tex_level(entry)
        heads.append(level)
        words.append(level.text)
    if splits:
        heads.append(_split_head(split))
        words.append(split)
    return _Column(
        tuple(heads),
        " ".join(words) or title,
        split,
        lambda run: (run[source] if source else run)["measures"].get(entry.key),
        _written(shown, entry.measure),
        "" if source else entry.key,
    )


def _written(shown: Shown, measure: Measure) -> Callable[[float], str]:
    return lambda value: shown.number(value, measure)


def _groups(parts: Sequence[tuple[str, Summary]], by: str, shown: Shown) -> _Block:
    """Return a table of the main measure's mean (`focus`) in each group of queries.

    `by` is the property that defines the groups, such as `duration`. The head of a column says how many queries the
    group has.
    """
    focus = named_keys(parts[0][1], [parts[0][1]["focus"]])[parts[0][1]["focus"]]
    title = Head(f"{focus.title} by {by}", tex_title(focus, whole=True) + f" by {by}")
    sizes: dict[str, dict[str, list[int]]] = {}
    for split, part in parts:
        for run in part["runs"]:
            for name, group in run["by"][by]["groups"].items():
                sizes.setdefault(name, {}).setdefault(split, []).append(group["queries"])
    columns: list[_Column] = []
    for name, of_split in sizes.items():
        texts = [name, f"({' / '.join(span_of(counts) for counts in of_split.values())})"]
        heads, value = [title, *(Head(text, tex_text(text)) for text in texts)], _group_value(by, name, focus.key)
        columns += _in_splits(heads, list(of_split), value, _written(shown, focus.measure), apart=len(parts) > 1)
    return title.text, columns


def _group_value(by: str, group: str, key: str) -> Callable[[Mapping[str, Any]], float | None]:
    return lambda run: run["by"][by]["groups"].get(group, {"measures": {}})["measures"].get(key)


def _overconfidence(parts: Sequence[tuple[str, Summary]], shown: Shown) -> _Block:
    """Return a table of the mean of R1@0.5 and R5@0.5 in the own video and in the pool, and the drop between them."""
    title = f"mean of {' and '.join(KEYS)}"
    columns: list[_Column] = []
    for text, entry in (("own video", "own_video"), ("pool", "pool"), ("drop", "drop")):
        heads, value = [Head(title, tex_text(title)), Head(text, tex_text(text))], _overconfidence_value(entry)
        columns += _in_splits(heads, [split for split, _ in parts], value, shown.number, ranked=entry != "drop")
    return title, columns


def _overconfidence_value(entry: str) -> Callable[[Mapping[str, Any]], float | None]:
    return lambda run: run["overconfidence"][entry]


def _errors(parts: Sequence[tuple[str, Summary]]) -> _Block:
    """Return a table that counts the relevant moments by fate: how each was found or missed in a run."""
    first = parts[0][1]["runs"][0]["errors"]
    text = (
        f"relevant moments within ranks 1-{first['k']}, at an IoU threshold of {first['mu']:g}, by what became of them"
    )
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
        for row, row_cells, mean, fits in zip(rows, cells, means, among[column.split], strict=True):
            runs = row.runs.get(column.split, [])
            row_cells.append(_cell(runs, column, shown, best=fits and mean is not None and mean == best))
    numbers = [Column(f"{column.split} {n}", column.title, heads=column.heads) for n, column in enumerate(columns)]
    return Table(title, (*head, *numbers), tuple(map(tuple, cells)))


def _runs(rows: Sequence[Row]) -> list[Mapping[str, Any]]:
    return [run for row in rows for runs in row.runs.values() for run in runs]


def _among(rows: Sequence[Row], split: str, part: Summary) -> list[bool]:
    """Return for each row whether it can have the best value in a split.

    Only means over the same queries can be compared. So a row can have the best one only if its means are over
    the most common set of queries. Upper bounds cannot have it.
    """
    queries: list[Hashable | None] = []
    sizes = []
    for row in rows:
        query_sets = {counted_queries(part, run) for run in row.runs.get(split, [])}
        queries.append(None if row.upper_bound else next(iter(query_sets)) if len(query_sets) == 1 else row.name)
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
    """Return the cell of one column for the runs of one row.

    For one run it has the value, interval and significance mark. For several seeds it has their mean and standard
    deviation.
    """
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
