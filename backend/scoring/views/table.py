"""Define a table as a reader sees it: every number with its text, unit and meaning. Other modules only display it.

The module also gives each key of an evaluation, such as `ndcg@20,0.5`, a title and an explanation, taken from its
measure.

Reads and writes nothing.
"""

from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import pairwise
from typing import Any

from backend.core.messages import joined, said, said_n
from backend.scoring.measure import AVERAGE, Measure
from backend.scoring.measures import measure_of
from backend.scoring.own_measures import described
from backend.scoring.presets import PRESETS
from backend.scoring.statistics.sureness import APART
from backend.scoring.upper_bound import run_label


@dataclass(frozen=True, slots=True)
class NamedKey:
    """A key of an evaluation, such as `ndcg@20,0.5`, with its measure.

    `k` and `threshold` are the parts of the key as text, None if it has none.
    """

    key: str
    measure: Measure
    k: str | None
    threshold: str | None
    iou_compare: str

    @property
    def title(self) -> str:
        """The key's title for tables, such as `R@10, IoU>=0.5`."""
        return self.measure.title(self.k, self.threshold, iou_compare=self.iou_compare)

    @property
    def help(self) -> str:
        """The key's title and what its measure means, to show as help."""
        return f"{self.title}: {self.measure.description}"

    @property
    def legend(self) -> str:
        """An explanation of all keys of the measure, such as `recall@K,theta: R@K, IoU>=theta; share of ...`."""
        average = self.threshold == AVERAGE
        title = self.measure.title(threshold=AVERAGE if average else None, iou_compare=self.iou_compare)
        form = self.key if average else self.measure.signature
        return f"{form}: {title}; {'mean of the same over these thresholds' if average else self.measure.description}"


def keys_of(summary: Mapping[str, Any]) -> list[str]:
    """Return every key, such as `ndcg@20,0.5`, for which a run of the summary has a mean.

    The keys are in the order of the evaluation.
    """
    return list(dict.fromkeys(key for run in summary["runs"] for key in run["measures"]))


def named_keys(summary: Mapping[str, Any], keys: Iterable[str] | None = None) -> dict[str, NamedKey]:
    """Return keys such as `ndcg@20,0.5` with their measures and titles.

    By default these are all keys for which the summary has means.
    """
    iou_compare = summary["options"].get("iou_compare", PRESETS[summary["preset"]].iou_compare)
    result, own = {}, summary.get("own_measures", {})
    for key in keys_of(summary) if keys is None else keys:
        name = key.partition("@")[0]
        measure = described(name, own[name]) if name in own else measure_of(key)
        result[key] = NamedKey(key, measure, *measure.read(key), iou_compare)
    return result


def legend(summary: Mapping[str, Any]) -> list[str]:
    """Return a line for each measure of the summary, to print below a table.

    It says what the measure's keys, such as `ndcg@20,0.5`, mean, and whether IoU must reach or exceed the threshold. If
    it is known how much of each run was graded, the last lines say so.
    """
    lines = list(dict.fromkeys(entry.legend for entry in named_keys(summary).values()))
    return [*lines, *judged(summary)]


def judged(summary: Mapping[str, Any]) -> list[str]:
    """Return lines that say how much of each run was graded, such as `judged@20,0.5: mine 61.2%; ...`.

    There is a line for each Judged@K, the share of the first K predictions that show a graded moment. If it was asked
    for as a measure, it is in the table already and has no line here.
    """
    runs = [run for run in summary["runs"] if run.get("judged")]
    keys = dict.fromkeys(key for run in runs for key in run["judged"] if key not in run["measures"])
    shares = {key: ", ".join(f"{run['name']} {run['judged'][key]:.1%}" for run in runs) for key in keys}
    return [f"{key}: {shares[key]}; {named_keys(summary, [key])[key].measure.description}" for key in keys]


UNPARSED = "share of a language model's answers in which no time was found"


def unparsed(summary: Mapping[str, Any]) -> list[str]:
    """Return a line such as `Answers in which no time was found: mine 3 of 120 (2.5%)`.

    It names each run that was read from answers of a language model. There is no line if none was.
    """
    counts = [(label(run), run["answers"]) for run in summary["runs"] if "answers" in run]
    shares = ", ".join(
        f"{name} {count['unparsed']:,} of {count['total']:,} ({count['unparsed_share']:.1%})" for name, count in counts
    )
    return [said("Answers in which no time was found: {shares}", shares=shares)] if shares else []


@dataclass(frozen=True, slots=True)
class Shown:
    """How to format numbers. A measure without an upper bound, such as DCG, is never shown in percent.

    `digits` are the digits after the point: by default 4, or 2 in percent. `caption` and `label` are those of a LaTeX
    table; necessary notes follow the caption. `variant` is the title of the column with models' variants. `intervals`
    tells whether a paper's table shows the intervals in the summary. `wide` makes a LaTeX table as wide as a page with
    two columns, instead of one of them.

    >>> Shown().number(0.53942), Shown(percent=True).number(0.53942), Shown(percent=True, digits=1).number(None)
    ('0.5394', '53.94', '-')
    """

    percent: bool = False
    digits: int | None = None
    caption: str = ""
    label: str = ""
    variant: str = ""
    intervals: bool = True
    wide: bool = False

    def number(self, value: float | None, measure: Measure | None = None, sign: str = "") -> str:
        """Format a value, `-` if it is None. With `sign="+"`, positive values get a plus sign.

        Give the `measure` of the value, so that one without an upper bound is not shown in percent.
        """
        if value is None:
            return "-"
        percent = self.percent and (measure is None or measure.highest is not None)
        digits = (2 if percent else 4) if self.digits is None else self.digits
        return f"{value * (100 if percent else 1):{sign}.{digits}f}"


PLAIN = Shown()
"""The default: shares with four digits."""


class Mark(StrEnum):
    """A mark on a cell: best value, significantly above or below the baseline, the baseline itself, or upper bound."""

    BEST = "best"
    """The highest value of a measure among several runs that count the same queries."""
    ABOVE = "above"
    """Significantly above the baseline: Holm-adjusted p < .05."""
    BELOW = "below"
    """Significantly below the baseline."""
    BASELINE = "baseline"
    """The run with which the others are compared."""
    UPPER_BOUND = "upper bound"
    """A run that competes with no other: it has no place and is never best."""


@dataclass(frozen=True, slots=True)
class Cell:
    """A cell of a table. `value` is for sorting and computing, None if undefined; `text` is what the reader sees.

    `share`, 0..1, is the length of a bar: relative to the best value of the table, or to the total count. `below` is a
    second text, such as an interval: under the first, or after it where a cell has a single line.
    """

    value: str | int | float | None
    text: str
    marks: frozenset[Mark] = frozenset()
    share: float | None = None
    below: str = ""

    @property
    def sign(self) -> str:
        """A dagger and an arrow to follow the text, if the run differs significantly from the baseline."""
        return "†↑" if Mark.ABOVE in self.marks else "†↓" if Mark.BELOW in self.marks else ""


@dataclass(frozen=True, slots=True)
class Head:
    """A head of one or several columns of a table, as plain text and in LaTeX."""

    text: str
    tex: str


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a table.

    Code finds it by `name`. `help` explains it. `unit` is what its numbers count or measure, empty for plain numbers
    and words. `number` is false for a column of words. `run` is true if the title is the name of a run, which is never
    translated. `heads` are the parts of the title from the top, for tables with heads over several columns.
    """

    name: str
    title: str
    help: str = ""
    unit: str = ""
    number: bool = True
    run: bool = False
    heads: tuple[Head, ...] = ()


Row = tuple[Cell, ...]


@dataclass(frozen=True, slots=True)
class Table:
    """A title and rows of cells under columns; `notes` are sentences that must stand beside the table."""

    title: str
    columns: tuple[Column, ...]
    rows: tuple[Row, ...]
    notes: tuple[str, ...] = ()

    def has(self, name: str) -> bool:
        """Return whether there is a column of this name."""
        return any(column.name == name for column in self.columns)

    def only(self, names: Iterable[str]) -> "Table":
        """Return the table with the named columns, in that order; unknown names are ignored."""
        places = [n for name in names for n, column in enumerate(self.columns) if column.name == name]
        return Table(
            self.title,
            tuple(self.columns[n] for n in places),
            tuple(tuple(row[n] for n in places) for row in self.rows),
            self.notes,
        )

    def without(self, *names: str) -> "Table":
        """Return the table without the named columns."""
        return self.only([column.name for column in self.columns if column.name not in names])

    def cells(self, name: str) -> list[Cell]:
        """Return a column's cells from top to bottom."""
        (index,) = [n for n, column in enumerate(self.columns) if column.name == name]
        return [row[index] for row in self.rows]

    def turned(self, corner: str = "") -> "Table":
        """Swap rows and columns: the first column becomes the head, and every other column a row.

        `corner` is the head of the new first column; by default it is the head of the old one.

        >>> column, other = Column("run", "run", number=False), Column("ndcg@5,0.5", "NDCG")
        >>> table = Table("", (column, other), ((Cell("a", "a"), Cell(0.5, "0.5000")),))
        >>> [[cell.text for cell in row] for row in table.turned().rows], table.turned().columns[1].title
        ([['NDCG', '0.5000']], 'a')
        """
        first, *others = self.columns
        heads = tuple(Column(row[0].text, row[0].text, run=first.name == "run") for row in self.rows)
        rows = tuple(
            (Cell(column.name, column.title), *(row[n] for row in self.rows)) for n, column in enumerate(others, 1)
        )
        word = Column(corner or first.name, corner or first.title, number=False)
        return Table(self.title, (word, *heads), rows, self.notes)

    def bands(self, keep: int, most: int) -> tuple["Table", ...]:
        """Split a wide table into several narrow ones, each with the first `keep` columns.

        The other columns are divided evenly, in their order, with at most `most` in a table.

        >>> heads = tuple(Column(name, name) for name in "kabcd")
        >>> [[c.name for c in table.columns] for table in Table("", heads, ()).bands(1, 3)]
        [['k', 'a', 'b'], ['k', 'c', 'd']]
        """
        others = range(keep, len(self.columns))
        count = max(1, -(-len(others) // most))
        first = [keep + len(others) * n // count for n in range(count + 1)]
        return tuple(
            Table(
                self.title,
                self.columns[:keep] + self.columns[low:high],
                tuple(row[:keep] + row[low:high] for row in self.rows),
                self.notes,
            )
            for low, high in pairwise(first)
        )

    def texts(self) -> list[list[str]]:
        """Return the head and the rows as plain text."""
        rows = [[cell.text + cell.sign + (f" {cell.below}" if cell.below else "") for cell in row] for row in self.rows]
        return [[column.title for column in self.columns], *rows]


def number(value: float | None) -> str:
    """Format a score, `-` if it is undefined."""
    return "-" if value is None else f"{value:.4f}"


def p_value(value: float | None) -> str:
    """Format a p-value, `-` if it is undefined."""
    return "-" if value is None else "<.0001" if value < 0.0001 else f"{value:.4f}".removeprefix("0")


def times(start_s: float, end_s: float) -> str:
    """Format a span of time as text, such as `12-19.5 s`."""
    return f"{start_s:.6g}-{end_s:.6g} s"


def label(run: Mapping[str, Any]) -> str:
    """Return the name of a run as every table shows it; `run` is its entry in a summary."""
    return run_label(run["name"], upper_bound=run.get("upper_bound", False))


def counted_queries(summary: Mapping[str, Any], run: Mapping[str, Any]) -> Hashable:
    """Return a value that is equal for two runs if their means are over the same queries."""
    missing = summary["options"].get("missing", PRESETS[summary["preset"]].missing)
    return run["counted"], frozenset(map(str, run["missing"])) if missing != "zero" else None


def eligible(summary: Mapping[str, Any]) -> list[bool]:
    """Return for each run of a summary whether it may be called best.

    Only means over the same queries can be compared: a run that leaves out hard queries would look better. So the runs
    that may be called best are the largest set of at least two runs that count the same queries. Of two sets with
    equally many runs, the one with more queries is taken. Upper bounds do not compete.

    >>> runs = [{"counted": n, "missing": ["q"] * (3 - n)} for n in (3, 2, 3)]
    >>> eligible({"preset": "paper", "options": {"missing": "skip"}, "runs": runs})
    [True, False, True]
    """
    runs = summary["runs"]
    queries = [None if run.get("upper_bound") else counted_queries(summary, run) for run in runs]
    return fair(queries, [run["counted"] for run in runs])


def fair(queries: Sequence[Hashable | None], sizes: Sequence[int]) -> list[bool]:
    """Return for each mean whether it can be compared fairly, because it is over the most common set of queries.

    Of two sets that are equally common, the one with more queries is taken. If no two means are over the same queries,
    all are False.

    Args:
        queries: a value that identifies the set of queries of each mean; None for a mean that does not compete.
        sizes: the number of queries of each mean.
    """
    often = Counter(item for item in queries if item is not None)
    most = max(zip(queries, sizes, strict=True), key=lambda item: (often[item[0]], item[1]), default=(None, 0))[0]
    return [item is not None and item == most and often[most] > 1 for item in queries]


def marks(comparison: Mapping[str, Any] | None, *, best: bool) -> frozenset[Mark]:
    """Return how to mark a mean: as best, or as significantly above or below the baseline.

    `comparison` is its difference from the baseline with p-values, None if none was computed.
    """
    result = {Mark.BEST} if best else set()
    p = (comparison or {}).get("p_holm")
    if comparison and p is not None and p < APART:
        result.add(Mark.ABOVE if comparison["difference"] > 0 else Mark.BELOW)
    return frozenset(result)


def upper_bounds(summary: Mapping[str, Any]) -> list[str]:
    """Return a sentence on the runs that are upper bounds; an empty list if there are none."""
    names = [run["name"] for run in summary["runs"] if run.get("upper_bound")]
    if not names:
        return []
    one = "{names} is an upper bound: it knows what no competing system can know, so it is never ranked."
    several = "{names} are upper bounds: they know what no competing system can know, so they are never ranked."
    return [said_n(one, several, len(names), names=joined(", ", names))]


def comparability_notes(summary: Mapping[str, Any]) -> list[str]:
    """Return notes on runs that must not be compared: upper bounds, and runs whose means are over different queries."""
    return [*upper_bounds(summary), *_unlike(summary)]


def _unlike(summary: Mapping[str, Any]) -> list[str]:
    """Return a note if the runs' means are over different queries, otherwise an empty list.

    The note says how many queries each run counts, and which runs can be called best.
    """
    runs, among = summary["runs"], eligible(summary)
    if len({counted_queries(summary, run) for run in runs}) < 2:
        return []
    sizes = ", ".join(f"{run['name']} {run['counted']:,}" for run in runs)
    same = ", ".join(run["name"] for run, alike in zip(runs, among, strict=True) if alike)
    rest = f"best is marked only among {same}, which count the same" if same else "no value is marked as best"
    return [f"Not every run counts the same queries: {sizes}; {rest}."]
