"""Hold the results of `evaluate` and `compare`, convert them to data frames and LaTeX, and print them.

Reads and writes nothing.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from importlib.util import find_spec
from itertools import repeat
from typing import TYPE_CHECKING, Any

from backend.core import extras
from backend.scoring.matching.columns import QueryKey
from backend.scoring.measures import usual_names
from backend.scoring.presets import POOL_MEASURES
from backend.scoring.scoreboard import Scoreboard
from backend.scoring.views.ranking import option_text
from backend.scoring.views.table import Shown, number

if TYPE_CHECKING:
    from pandas import DataFrame

_MEASURES = 7
"""How many measures a printed result shows, with one value each."""
_RUNS = 7


class Evaluation(dict[str, Any]):
    """The scores of one run: a dict of `mean`, by key, and `per_query`, by query and key.

    A key is, for example, `ndcg@10,0.5`. When an evaluation is printed, it shows the main values in at most ten lines.
    """

    def __init__(self, board: Scoreboard) -> None:
        """Take the scores from a scoreboard, which must have exactly one run."""
        (run,) = board.runs
        keys, queries = board.settings.keys, board.queries
        rows = map(dict, map(zip, repeat(keys), run.values.T.tolist()))
        per_query = dict(zip(map(queries.__getitem__, run.query.tolist()), rows, strict=True))
        super().__init__(mean=run.means, per_query=per_query)
        self._board = board

    @property
    def mean(self) -> dict[str, float]:
        """The mean of each value over the queries that count; empty if no query counts."""
        return self["mean"]  # type: ignore[no-any-return]  # put there above

    @property
    def per_query(self) -> dict[QueryKey, dict[str, float]]:
        """The values of each query that counts, by query and key."""
        return self["per_query"]  # type: ignore[no-any-return]  # put there above

    @property
    def figures(self) -> dict[str, float | None]:
        """The figures that a benchmark's own evaluator prints, by their published names; empty without a benchmark."""
        return dict(self._board.setting.of_run.get(self._board.runs[0].name, {}).get("figures", {}))

    @property
    def warnings(self) -> tuple[str, ...]:
        """Warnings about possible mistakes in the truth or the run."""
        return self._board.warnings

    @property
    def summary(self) -> dict[str, Any]:
        """The settings, means and warnings as a dict: the object that `reelrank evaluate --json` prints."""
        return self._board.summary()

    def to_frame(self) -> "DataFrame":
        """Return a pandas data frame with a row for each query and a column for each key."""
        (frame,) = _frames(self._board).values()
        return frame

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
        lines = [f"{run.name}: {len(run.query):,} queries, {_conventions(self._board)}"]
        lines += [f"  {name:<{width}}  {number(value)}" for name, value in shown.items()]
        more = (len(figures) or len(self._board.settings.keys)) - len(shown)
        place = ".figures, and all values in .mean" if figures else ".mean"
        lines.append(f"  {more} more in {place}, of every query in .per_query; .to_frame(), .to_latex()")
        return "\n".join([*lines, *_warning_lines(self.warnings)])


class Evaluations(Mapping[str, Evaluation]):
    """The scores of several runs against one truth, by name: `runs["mine"]` is the `Evaluation` of the run `mine`.

    When the evaluations are printed, they show one value of each measure for every run.
    """

    def __init__(self, board: Scoreboard, summary: dict[str, Any]) -> None:
        """Take a scoreboard, and its summary with the statistics that the caller asked for."""
        self._board, self.summary = board, summary
        self._found: dict[str, Evaluation] = {}

    def __getitem__(self, name: str) -> Evaluation:
        """Return the `Evaluation` of one run."""
        if name not in self._found:
            runs = tuple(run for run in self._board.runs if run.name == name)
            if not runs:
                raise KeyError(name)
            self._found[name] = Evaluation(replace(self._board, runs=runs))
        return self._found[name]

    def __iter__(self) -> Iterator[str]:
        """Iterate over the names of the runs, in the order given. Runs marked as upper bounds come last."""
        return iter([run.name for run in self._board.runs])

    def __len__(self) -> int:
        """Return the number of runs."""
        return len(self._board.runs)

    @property
    def warnings(self) -> tuple[str, ...]:
        """Warnings about possible mistakes in the truth or the runs."""
        return self._board.warnings

    def to_frame(self, *, per_query: bool = False) -> "DataFrame":
        """Return a pandas data frame of the means, with a row for each run and a column for each key.

        With `per_query` it has a row for each run and query that counts.
        """
        _require_pandas()
        import pandas as pd

        if per_query:
            return pd.concat(_frames(self._board), names=["run", "query"])
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

    def __repr__(self) -> str:
        """Return one value of each measure for the first runs, and where to find more."""
        board = self._board
        keys = _middle_keys(board)
        rows = [["", *keys]]
        for run in board.runs[:_RUNS]:
            name = run.label
            rows.append([name, *(f"{run.means[key]:.4f}" if run.means else "-" for key in keys)])
        head = f"{len(board.runs)} runs, {len(board.queries):,} queries, {_conventions(board)}"
        more = len(board.runs) - _RUNS
        lines = [head, *_aligned(rows), *([f"  and {more} more"] if more > 0 else [])]
        lines.append("  one of them: [name]; all values: .to_frame(), .to_latex(), .summary")
        return "\n".join([*lines, *_warning_lines(self.warnings)])


def _frames(board: Scoreboard) -> "dict[str, DataFrame]":
    """Return for each run, by its name, a data frame with a row for each query and a column for each key."""
    _require_pandas()
    import pandas as pd

    frames = {}
    for run in board.runs:
        index = pd.Index([board.queries[number] for number in run.query.tolist()], name="query")
        frames[run.name] = pd.DataFrame(run.values.T, index=index, columns=list(board.settings.keys))
    return frames


def _require_pandas() -> None:
    """Check that pandas is installed; only data frames need it.

    Raises:
        ImportError: it is not installed.
    """
    if find_spec("pandas") is None:
        raise ImportError(extras.advice("`to_frame()`", "pandas"), name="pandas")


def _latex(board: Scoreboard, summary: Mapping[str, Any], shown: Shown, everything: bool) -> str:
    from backend.scoring.latex import to_latex
    from backend.scoring.views.brief import in_brief

    chosen = everything or board.settings.measures not in (usual_names(), POOL_MEASURES)
    return to_latex(summary if chosen else in_brief(summary), shown)


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
