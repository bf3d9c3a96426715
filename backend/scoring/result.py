"""Hold the results of `evaluate` and `compare`, convert them to data frames, LaTeX and charts, and print them.

Reads and writes nothing.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import repeat
from typing import TYPE_CHECKING, Any

from backend.core import extras
from backend.core.errors import InputError
from backend.scoring.breakdown import AnyGroups, Breakdown, read_groups
from backend.scoring.matching.columns import QueryKey
from backend.scoring.measures import usual_names
from backend.scoring.presets import POOL_MEASURES, PRESETS
from backend.scoring.scoreboard import Scoreboard, ScoredRun
from backend.scoring.views.brief import in_brief, missing_queries
from backend.scoring.views.ranking import option_text
from backend.scoring.views.table import Shown, number

if TYPE_CHECKING:
    from pandas import DataFrame

    from backend.scoring.drawing import Chart

_MEASURES = 7
"""How many measures a printed result shows, with one value each."""
_RUNS = 5
"""How many runs a printed comparison shows."""


class Evaluation(dict[str, Any]):
    """The scores of one run, as a dict: `mean` has the means, and `per_query` the values of each query.

    `mean` maps a key such as `ndcg@10,0.5` to a mean. `per_query` maps a query id to the values of the query by key.
    When an evaluation is printed, it shows the main values in at most ten lines.
    """

    def __init__(self, board: Scoreboard, by: Sequence[Breakdown] = ()) -> None:
        """Take the scores from a scoreboard, which must have exactly one run, and the groups of queries to report."""
        (run,) = board.runs
        keys, queries = board.settings.keys, board.queries
        rows = map(dict, map(zip, repeat(keys), run.values.T.tolist()))
        per_query = dict(zip(map(queries.__getitem__, run.query.tolist()), rows, strict=True))
        super().__init__(mean=run.means, per_query=per_query)
        self._board, self._by = board, tuple(by)

    @property
    def mean(self) -> dict[str, float]:
        """The mean of each measure over the queries that count, by key such as `ndcg@20,0.5`; empty if none counts."""
        return self["mean"]  # type: ignore[no-any-return]  # put there above

    @property
    def per_query(self) -> dict[QueryKey, dict[str, float]]:
        """The values of each query that counts, by query id and by key such as `ndcg@20,0.5`."""
        return self["per_query"]  # type: ignore[no-any-return]  # put there above

    @property
    def figures(self) -> dict[str, float | None]:
        """The figures that a benchmark's own evaluator prints, by their published names; empty without a benchmark."""
        return dict(self._board.setting.of_run.get(self._board.runs[0].name, {}).get("figures", {}))

    @property
    def groups(self) -> dict[str, dict[str, dict[str, Any]]]:
        """The means in groups of queries, as `{property: {group: {"queries": n, "measures": {...}}}}`.

        The properties are those that the argument `by` of `evaluate` or `compare` named.
        """
        return {by: part["groups"] for by, part in self.summary["runs"][0].get("by", {}).items()}

    @property
    def warnings(self) -> tuple[str, ...]:
        """Warnings about the truth and the run, such as queries without predictions and skipped predictions."""
        return _warnings(self._board)

    @property
    def summary(self) -> dict[str, Any]:
        """The settings, means and warnings as a dict: the object that `reelrank evaluate --json` prints."""
        return self._board.summary(self._by)

    def to_frame(self, *, by: AnyGroups | None = None) -> "DataFrame":
        """Return a pandas data frame with a row for each query and a column for each key, such as `ndcg@20,0.5`.

        If `by` groups the queries, as in `evaluate`, there is a row for each group instead. It has the number of
        queries that count and their means.
        """
        if by is not None:
            return _frame_of_groups(self._board, self._board.breakdown(by)).droplevel("run")
        (frame,) = _frames(self._board).values()
        return frame

    def plot(self, chart: str | None = None, key: str | None = None) -> "Chart":
        """Return a chart, which a notebook shows and `.save("chart.svg")` writes.

        Args:
            chart: `by-k` (the means by cut-off) or `iou` (how close each query's best prediction comes); by default
                the first that has something to show.
            key: the value shown, such as `ndcg@20,0.5`; by default the main one.

        Raises:
            InputError: there is no such chart or value, or nothing for the chart to show.
        """
        return _chart(self._board, chart, key)

    def to_latex(
        self,
        *,
        percent: bool = False,
        digits: int | None = None,
        caption: str = "",
        label: str = "",
        wide: bool = False,
        everything: bool = False,
    ) -> str:
        """Return the means as a LaTeX table for one column of a two-column page.

        It has the measures that you chose for the evaluation; by default NDCG, or recall in pools of videos.

        Args:
            percent: whether to show the means in percent.
            digits: digits after the point; by default 4, or 2 in percent.
            caption: a text to begin the caption with.
            label: the label of the table, for references.
            wide: whether the table is as wide as the page.
            everything: whether to print all measures, also if you chose none.
        """
        return _latex(self._board, self.summary, Shown(percent, digits, caption, label, wide=wide), everything)

    def __repr__(self) -> str:
        """Return at most ten lines: a benchmark's figures or one value of each measure, and where to find more."""
        run, figures = self._board.runs[0], self.figures
        values = figures or {key: self.mean.get(key) for key in _middle_keys(self._board)}
        shown = dict(list(values.items())[:_MEASURES])
        width = max(map(len, shown))
        lines = [f"{run.name}: {_answered(self._board, run)}, {_conventions(self._board)}"]
        lines += [f"  {name:<{width}}  {number(value)}" for name, value in shown.items()]
        more = (len(figures) or len(self._board.settings.keys)) - len(shown)
        place = ".figures, and all values in .mean" if figures else ".mean"
        means = f"{more} more in {place}, of every query" if more else "values of every query"
        lines.append(f"  {means} in .per_query; .to_frame(), .to_latex(), .plot()")
        return "\n".join([*lines, *_warning_lines(self._board.warnings)])


class Evaluations(Mapping[str, Evaluation]):
    """The scores of several runs against one truth, by name: `runs["mine"]` is the `Evaluation` of the run `mine`.

    When the evaluations are printed, they show one value of each measure for the first runs.
    """

    def __init__(self, board: Scoreboard, summary: dict[str, Any], by: Sequence[Breakdown] = ()) -> None:
        """Take a scoreboard, its summary with the statistics that the caller asked for, and the groups of queries."""
        self._board, self.summary, self._by = board, summary, tuple(by)
        self._found: dict[str, Evaluation] = {}

    def __getitem__(self, name: str) -> Evaluation:
        """Return the `Evaluation` of one run."""
        if name not in self._found:
            runs = tuple(run for run in self._board.runs if run.name == name)
            if not runs:
                raise KeyError(name)
            self._found[name] = Evaluation(replace(self._board, runs=runs), self._by)
        return self._found[name]

    def __iter__(self) -> Iterator[str]:
        """Iterate over the names of the runs, in the order given. Runs marked as upper bounds come last."""
        return iter([run.name for run in self._board.runs])

    def __len__(self) -> int:
        """Return the number of runs."""
        return len(self._board.runs)

    @property
    def warnings(self) -> tuple[str, ...]:
        """Warnings about the truth and the runs, such as queries without predictions and skipped predictions."""
        return _warnings(self._board)

    @property
    def differences(self) -> dict[tuple[str, str], dict[str, dict[str, Any]]]:
        """The comparisons of two runs that the caller asked for, as `{(first, second): {key: {"difference": ...}}}`.

        The second run is the baseline, unless all pairs were compared. Each comparison has `difference` (first minus
        second), its interval `difference_low` and `difference_high`, the p-values `p`, `p_holm` (adjusted for all
        comparisons of the key) and `p_t`, and the numbers of queries in `wins`, `ties` and `losses`.
        """
        if "pairs" in self.summary:
            return {(pair["first"], pair["second"]): pair["comparison"] for pair in self.summary["pairs"]}
        compared = [run for run in self.summary["runs"] if "comparison" in run]
        return {(run["name"], self.summary["baseline"]): run["comparison"] for run in compared}

    def to_frame(
        self, *, per_query: bool = False, by: AnyGroups | None = None, differences: bool = False
    ) -> "DataFrame":
        """Return a pandas data frame of the means, with a row for each run and a column for each key.

        A key names a measure with its cut-off and threshold, such as `ndcg@20,0.5`. Each argument of this method
        chooses other rows instead. Give at most one of them.

        Args:
            per_query: whether to have a row for each run and query that counts.
            by: groups of queries, as for `evaluate`, to have a row for each run and group. It has the number of queries
                that count and their means. If intervals of the groups were asked for, columns `KEY low` and `KEY high`
                follow.
            differences: whether to have a row for each key and comparison of two runs. Its columns are explained at the
                property `differences`.
        """
        extras.require_pandas()
        import pandas as pd

        if per_query + differences + (by is not None) > 1:
            raise InputError.single("to_frame", "give only one of per_query, by and differences")
        if per_query:
            return pd.concat(_frames(self._board), names=["run", "query"])
        if by is not None:
            part = self._board.breakdown(by)
            known = any(other.is_like(part) for other in self._by)
            return _frame_of_groups(self._board, part, self.summary["runs"] if known else ())
        if differences:
            if not self.differences:
                raise InputError.single("to_frame", 'no runs were compared; give compare baseline=NAME or pairs="all"')
            cells = {(*pair, key): of for pair, of_key in self.differences.items() for key, of in of_key.items()}
            index = pd.MultiIndex.from_tuples(list(cells), names=["first", "second", "key"])
            return pd.DataFrame(list(cells.values()), index=index)
        rows = {run.name: run.means for run in self._board.runs}
        frame = pd.DataFrame.from_dict(rows, orient="index", columns=list(self._board.settings.keys), dtype=float)
        return frame.rename_axis("run")

    def to_latex(
        self,
        *,
        percent: bool = False,
        digits: int | None = None,
        caption: str = "",
        label: str = "",
        wide: bool = False,
        everything: bool = False,
    ) -> str:
        """Return the means of all runs as a LaTeX table for one column of a two-column page.

        It has the measures that you chose for the comparison; by default NDCG, or recall in pools of videos. Daggers
        mark significant differences if there is a baseline.

        Args:
            percent: whether to show the means in percent.
            digits: digits after the point; by default 4, or 2 in percent.
            caption: a text to begin the caption with.
            label: the label of the table, for references.
            wide: whether the table is as wide as the page.
            everything: whether to print all measures, also if you chose none.
        """
        return _latex(self._board, self.summary, Shown(percent, digits, caption, label, wide=wide), everything)

    def plot(self, chart: str | None = None, key: str | None = None) -> "Chart":
        """Return a chart, which a notebook shows and `.save("chart.svg")` writes.

        Args:
            chart: `by-k` (the means by cut-off), `order` (the order of runs under each measure), `queries` (the two
                best runs, query by query) or `iou` (how close each query's best prediction comes). By default it is the
                first that has something to show.
            key: the value shown, such as `ndcg@20,0.5`; by default the main one.

        Raises:
            InputError: there is no such chart or value, or nothing for the chart to show.
        """
        return _chart(self._board, chart, key)

    def __repr__(self) -> str:
        """Return at most ten lines: one value of each measure for the first runs, and where to find more."""
        board = self._board
        keys = _middle_keys(board)
        incomplete = any(len(run.ranked.missing) for run in board.runs)
        rows = [["", *keys, *(["answered"] if incomplete else [])]]
        for run in board.runs[:_RUNS]:
            means = [f"{run.means[key]:.4f}" if run.means else "-" for key in keys]
            answered = f"{len(board.queries) - len(run.ranked.missing):,} of {len(board.queries):,}"
            rows.append([run.label, *means, *([answered] if incomplete else [])])
        head = f"{len(board.runs)} runs, {len(board.queries):,} queries, {_conventions(board)}"
        more = len(board.runs) - _RUNS
        lines = [head, *_aligned(rows), *([f"  and {more} more"] if more > 0 else [])]
        lines.append("  one of them: [name]; all values: .to_frame(), .to_latex(), .plot(), .summary")
        return "\n".join([*lines, *_warning_lines(board.warnings)])


def _frames(board: Scoreboard) -> "dict[str, DataFrame]":
    """Return for each run, by its name, a data frame with a row for each query and a column for each key."""
    extras.require_pandas()
    import pandas as pd

    frames = {}
    for run in board.runs:
        index = pd.Index([board.queries[number] for number in run.query.tolist()], name="query")
        frames[run.name] = pd.DataFrame(run.values.T, index=index, columns=list(board.settings.keys))
    return frames


def _frame_of_groups(board: Scoreboard, part: Breakdown, entries: Sequence[Mapping[str, Any]] = ()) -> "DataFrame":
    """Return a data frame of means, with a row for each run and group of queries.

    `part` defines the groups. `entries` are the entries of the runs in a summary with these groups; their intervals are
    added. Without `entries` there are no intervals.
    """
    extras.require_pandas()
    import pandas as pd

    groups_of_run = {entry["name"]: entry["by"][part.by]["groups"] for entry in entries}
    rows, index = [], []
    for run in board.runs:
        means, counts = part.means(run.query, run.values)
        groups = groups_of_run.get(run.name, {})
        for place, name in enumerate(part.names):
            intervals = groups.get(name, {}).get("intervals", {})
            values = dict(zip(board.settings.keys, means[:, place].tolist(), strict=True))
            row = {"queries": int(counts[place]), **values}
            row |= {f"{key} {side}": ends[side] for key, ends in intervals.items() for side in ("low", "high")}
            rows.append(row)
            index.append((run.name, name))
    return pd.DataFrame(rows, index=pd.MultiIndex.from_tuples(index, names=["run", part.by]))


def _chart(board: Scoreboard, chart: str | None, key: str | None) -> "Chart":
    from backend.scoring.report.figures import chart_of

    return chart_of(board, chart, key)


def breakdowns(board: Scoreboard, by: AnyGroups | Sequence[AnyGroups] | None) -> list[Breakdown]:
    """Return the groups of queries that the argument `by` of `evaluate` asks for.

    Raises:
        InputError: there is no such property, a query has no group, or two properties have one name.
    """
    parts = [board.breakdown(one) for one in read_groups(by)]
    names = [part.by for part in parts]
    if twice := next((name for name in names if names.count(name) > 1), None):
        raise InputError.single("by", f"{twice} is there twice; give mappings as {{property: {{query: group}}}}")
    return parts


def _latex(board: Scoreboard, summary: Mapping[str, Any], shown: Shown, everything: bool) -> str:
    from backend.scoring.latex import to_latex

    chosen = everything or board.settings.measures not in (usual_names(), POOL_MEASURES)
    return to_latex(summary if chosen else in_brief(summary), shown)


def _warnings(board: Scoreboard) -> tuple[str, ...]:
    return (*missing_queries(board.summary()), *board.warnings)


def _answered(board: Scoreboard, run: ScoredRun) -> str:
    """Return a text that says how many queries the run answers, and whether the others count 0 or are left out."""
    total, lacking, counted = len(board.queries), len(run.ranked.missing), len(run.query)
    if lacking:
        missing = board.options.get("missing", PRESETS[board.settings.preset].missing)
        others = "count 0" if missing == "zero" else "are left out"
        return f"{total - lacking:,} of {total:,} queries answered, the others {others}"
    return f"{total:,} queries" if counted == total else f"{counted:,} of {total:,} queries count"


def _conventions(board: Scoreboard) -> str:
    changed = [f"{name}={option_text(value)}" for name, value in board.options.items()]
    return ", ".join([f"preset {board.settings.preset}", *changed])


def _middle_keys(board: Scoreboard) -> list[str]:
    """Return one key for each measure, such as `ndcg@20,0.5`, at the middle of its cut-offs and thresholds.

    The evaluation's main measure (`board.focus`) comes first.
    """
    of_measure: dict[str, list[str]] = {}
    for key in board.settings.keys:
        of_measure.setdefault(key.partition("@")[0], []).append(key)
    middle = [keys[len(keys) // 2] for keys in of_measure.values()]
    return list(dict.fromkeys([board.focus, *(key for key in middle if _measure(key) != _measure(board.focus))]))[
        :_MEASURES
    ]


def _measure(key: str) -> str:
    return key.partition("@")[0]


def _warning_lines(warnings: Sequence[str]) -> list[str]:
    if not warnings:
        return []
    more = f" (and {len(warnings) - 1} more in .warnings)" if len(warnings) > 1 else ""
    return [f"  warning: {warnings[0]}{more}"]


def _aligned(rows: Sequence[Sequence[str]]) -> list[str]:
    """Return the rows as lines of text, with the first column aligned left and the others right."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [
        "  ".join(
            cell.rjust(width) if n else cell.ljust(width)
            for n, (cell, width) in enumerate(zip(row, widths, strict=True))
        )
        for row in rows
    ]
