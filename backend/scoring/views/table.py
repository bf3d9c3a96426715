"""A table as people see it: every number with its text, its unit and what it means. Renderers choose and lay out.

The keys of an evaluation are named here too, in the words of their measure.

Reads and writes nothing.
"""

from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import pairwise
from typing import Any

from backend.core.messages import joined, said_n
from backend.scoring.measure import AVERAGE, Measure
from backend.scoring.measures import measure_of
from backend.scoring.presets import PRESETS
from backend.scoring.statistics.sureness import APART
from backend.scoring.upper_bound import run_label


@dataclass(frozen=True, slots=True)
class Named:
    """One value of an evaluation; `k` and `threshold` are text as in the key, None where it has none."""

    key: str
    measure: Measure
    k: str | None
    threshold: str | None
    iou_compare: str

    @property
    def title(self) -> str:
        """Such as `R@10, IoU>=0.5`."""
        return self.measure.title(self.k, self.threshold, iou_compare=self.iou_compare)

    @property
    def help(self) -> str:
        """The title and what the measure tells."""
        return f"{self.title}: {self.measure.description}"

    @property
    def legend(self) -> str:
        """What all keys of the measure stand for, such as `recall@K,theta: R@K, IoU>=theta; share of ...`."""
        average = self.threshold == AVERAGE
        title = self.measure.title(threshold=AVERAGE if average else None, iou_compare=self.iou_compare)
        form = self.key if average else self.measure.signature
        return f"{form}: {title}; {'mean of the same over these thresholds' if average else self.measure.description}"


def keys_of(summary: Mapping[str, Any]) -> list[str]:
    """Every key that a run of the summary has a mean of, in the order of the evaluation."""
    return list(dict.fromkeys(key for run in summary["runs"] for key in run["measures"]))


def named(summary: Mapping[str, Any], keys: Iterable[str] | None = None) -> dict[str, Named]:
    """The keys of a summary (all of which there are means, if None) with what they are called."""
    iou_compare = summary["options"].get("iou_compare", PRESETS[summary["preset"]].iou_compare)
    found = {}
    for key in keys_of(summary) if keys is None else keys:
        measure = measure_of(key)
        found[key] = Named(key, measure, *measure.read(key), iou_compare)
    return found


def legend(summary: Mapping[str, Any]) -> list[str]:
    """A line for each measure of the summary: what its keys stand for, and whether IoU must reach or exceed.

    The last one, where the truth was pooled, tells how much of each run somebody has graded.
    """
    lines = list(dict.fromkeys(one.legend for one in named(summary).values()))
    return [*lines, *judged(summary)]


def judged(summary: Mapping[str, Any]) -> list[str]:
    """A line for each Judged@K that is told of runs and not in the table: `judged@20,0.5: mine 61.2%; ...`."""
    runs = [run for run in summary["runs"] if run.get("judged")]
    keys = dict.fromkeys(key for run in runs for key in run["judged"] if key not in run["measures"])
    shares = {key: ", ".join(f"{run['name']} {run['judged'][key]:.1%}" for run in runs) for key in keys}
    return [f"{key}: {shares[key]}; {named(summary, [key])[key].measure.description}" for key in keys]


@dataclass(frozen=True, slots=True)
class Shown:
    """What a person asked for; a measure without a bound, such as DCG, is never in percent.

    `digits` are those after the point: 4, in percent 2, where not given. `caption` and `label` are those of a table in
    LaTeX; what has to stand beside the numbers follows the caption. `variant` heads the column of variants.
    `intervals` tells whether a table of a paper has those of a summary that has some.

    >>> Shown().number(0.53942), Shown(percent=True).number(0.53942), Shown(percent=True, digits=1).number(None)
    ('0.5394', '53.94', '-')
    """

    percent: bool = False
    digits: int | None = None
    caption: str = ""
    label: str = ""
    variant: str = ""
    intervals: bool = True

    def number(self, value: float | None, measure: Measure | None = None, sign: str = "") -> str:
        """A value as text, `-` where it is undefined; with `sign` `+` differences have theirs."""
        if value is None:
            return "-"
        percent = self.percent and (measure is None or measure.highest is not None)
        digits = (2 if percent else 4) if self.digits is None else self.digits
        return f"{value * (100 if percent else 1):{sign}.{digits}f}"


PLAIN = Shown()
"""Shares with four digits."""


class Mark(StrEnum):
    """What a cell is besides its number."""

    BEST = "best"
    """The highest of its measure among the runs that count the same queries, where those are several."""
    ABOVE = "above"
    """Told apart from the baseline, Holm-adjusted p < .05, and higher."""
    BELOW = "below"
    """Told apart from the baseline, and lower."""
    BASELINE = "baseline"
    """The run that the others are compared with."""
    UPPER_BOUND = "upper bound"
    """A run that competes with no other: it has no place, and is never best."""


@dataclass(frozen=True, slots=True)
class Cell:
    """`value` is to sort and to compute with, None where it is undefined; `text` is what people read.

    `share`, 0..1, is the length of a bar: of the best value of the table, or of the whole that is counted.
    """

    value: str | int | float | None
    text: str
    marks: frozenset[Mark] = frozenset()
    share: float | None = None
    below: str = ""
    """What stands under the text, or behind it where there is one line: an interval."""

    @property
    def sign(self) -> str:
        """What stands behind the text: a dagger where the run is told apart from the baseline, and which way."""
        return "†↑" if Mark.ABOVE in self.marks else "†↓" if Mark.BELOW in self.marks else ""


@dataclass(frozen=True, slots=True)
class Head:
    """A head that may stand over several columns: as text, and in LaTeX."""

    text: str
    tex: str


@dataclass(frozen=True, slots=True)
class Column:
    """`name` is how renderers find it, `unit` what its numbers count or measure, empty for plain numbers and words.

    `run` tells that the title is the name of a run, so not a word of ours. `heads` are the same as the title in parts,
    from the top, for whoever writes heads over several columns.
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
    """Rows of cells under columns; `notes` are sentences that must stand beside them."""

    title: str
    columns: tuple[Column, ...]
    rows: tuple[Row, ...]
    notes: tuple[str, ...] = ()

    def has(self, name: str) -> bool:
        """Whether there is a column of this name."""
        return any(column.name == name for column in self.columns)

    def only(self, names: Iterable[str]) -> "Table":
        """The columns of these names, in their order; names that are not there are passed over."""
        places = [n for name in names for n, column in enumerate(self.columns) if column.name == name]
        return Table(
            self.title,
            tuple(self.columns[n] for n in places),
            tuple(tuple(row[n] for n in places) for row in self.rows),
            self.notes,
        )

    def without(self, *names: str) -> "Table":
        """All columns but these."""
        return self.only([column.name for column in self.columns if column.name not in names])

    def cells(self, name: str) -> list[Cell]:
        """A column's cells, from the first row on."""
        (at,) = [n for n, column in enumerate(self.columns) if column.name == name]
        return [row[at] for row in self.rows]

    def turned(self, corner: str = "") -> "Table":
        """Rows as columns: the first column becomes the head, and every other column a row.

        `corner` says what the rows are then; without it the word of the first column stays.

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
        """As many tables as a page has room for side by side columns: the first `keep` columns stand in each.

        The others are shared out evenly, at most `most` to a table, in their order.

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
        """Head and rows as text, for whoever writes plain ones."""
        rows = [[cell.text + cell.sign + (f" {cell.below}" if cell.below else "") for cell in row] for row in self.rows]
        return [[column.title for column in self.columns], *rows]


def number(value: float | None) -> str:
    """A score as text, `-` where it is undefined."""
    return "-" if value is None else f"{value:.4f}"


def p_value(value: float | None) -> str:
    """A p as text, `-` where it is undefined."""
    return "-" if value is None else "<.0001" if value < 0.0001 else f"{value:.4f}".removeprefix("0")


def times(start_s: float, end_s: float) -> str:
    """A span for people: `12-19.5 s`."""
    return f"{start_s:.6g}-{end_s:.6g} s"


def label(run: Mapping[str, Any]) -> str:
    """Return the name of a summary's run as every table shows it."""
    return run_label(run["name"], upper_bound=run.get("upper_bound", False))


def counted_queries(summary: Mapping[str, Any], run: Mapping[str, Any]) -> Hashable:
    """Stands for the queries that a run's means are of: equal for two runs of a summary where those are the same."""
    missing = summary["options"].get("missing", PRESETS[summary["preset"]].missing)
    return run["counted"], frozenset(map(str, run["missing"])) if missing != "zero" else None


def eligible(summary: Mapping[str, Any]) -> list[bool]:
    """Which runs one may be called the best of: the most that count the same queries, of two or more.

    Means over different queries are not comparable: a run that leaves out hard queries would look better. Where two
    sets of queries have as many runs, the larger set is taken. Upper bounds do not compete.

    >>> runs = [{"counted": n, "missing": ["q"] * (3 - n)} for n in (3, 2, 3)]
    >>> eligible({"preset": "paper", "options": {"missing": "skip"}, "runs": runs})
    [True, False, True]
    """
    runs = summary["runs"]
    queries = [None if run.get("upper_bound") else counted_queries(summary, run) for run in runs]
    return fair(queries, [run["counted"] for run in runs])


def fair(queries: Sequence[Hashable | None], sizes: Sequence[int]) -> list[bool]:
    """Which of several means are over the same queries as most; none where no two are. None competes with no other."""
    often = Counter(one for one in queries if one is not None)
    most = max(zip(queries, sizes, strict=True), key=lambda one: (often[one[0]], one[1]), default=(None, 0))[0]
    return [one is not None and one == most and often[most] > 1 for one in queries]


def marks(comparison: Mapping[str, Any] | None, *, best: bool) -> frozenset[Mark]:
    """The marks of a mean; `comparison` is its difference to the baseline, None where none was computed."""
    found = {Mark.BEST} if best else set()
    p = (comparison or {}).get("p_holm")
    if comparison and p is not None and p < APART:
        found.add(Mark.ABOVE if comparison["difference"] > 0 else Mark.BELOW)
    return frozenset(found)


def upper_bounds(summary: Mapping[str, Any]) -> list[str]:
    """What a reader has to know of runs that are upper bounds: a sentence, or nothing."""
    names = [run["name"] for run in summary["runs"] if run.get("upper_bound")]
    if not names:
        return []
    one = "{names} is an upper bound: it knows what no competing system can know, so it is never ranked."
    several = "{names} are upper bounds: they know what no competing system can know, so they are never ranked."
    return [said_n(one, several, len(names), names=joined(", ", names))]


def counted(summary: Mapping[str, Any]) -> list[str]:
    """What limits which runs may be compared: upper bounds, and means over different queries."""
    return [*upper_bounds(summary), *_unlike(summary)]


def _unlike(summary: Mapping[str, Any]) -> list[str]:
    """How many queries each run's means are of, where that is not the same for all; and what follows."""
    runs, among = summary["runs"], eligible(summary)
    if len({counted_queries(summary, run) for run in runs}) < 2:
        return []
    sizes = ", ".join(f"{run['name']} {run['counted']:,}" for run in runs)
    same = ", ".join(run["name"] for run, alike in zip(runs, among, strict=True) if alike)
    rest = f"best is marked only among {same}, which count the same" if same else "no value is marked as best"
    return [f"Not every run counts the same queries: {sizes}; {rest}."]
