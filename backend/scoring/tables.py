"""Write the scores of an evaluation as CSV, Markdown or LaTeX.

Each text is made from the object that `reelrank evaluate --json` prints. It states the preset and every option that
differs from it. For every measure it states whether an IoU must reach or exceed its threshold.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any, Protocol

from backend.core.text_files import csv_text
from backend.scoring.latex import to_latex
from backend.scoring.views.errors import outcomes, own_and_pool
from backend.scoring.views.paper import paper
from backend.scoring.views.ranking import figures, narrow_means, option_text, options, ranking, sentence
from backend.scoring.views.splits import groups, is_grouped, parts_of
from backend.scoring.views.table import (
    PLAIN,
    UNPARSED,
    Shown,
    Table,
    comparability_notes,
    legend,
    named_keys,
    unparsed,
)

_STATISTICS = ("low", "high")
_COMPARISON = ("difference", "difference_low", "difference_high", "p", "p_holm", "p_t", "wins", "ties", "losses")
_FACTS = ("model", "variant", "seed", "split")


class ScoreFormat(Protocol):
    """A function that writes a summary of scores as text. `shown` says how to format numbers, except in CSV."""

    def __call__(self, summary: Mapping[str, Any], shown: Shown = ...) -> str: ...  # noqa: D102  # told above


def to_csv(summary: Mapping[str, Any], shown: Shown = PLAIN, *, for_people: bool = False) -> str:
    """Return scores as CSV, with a line for each run, group of queries and measure.

    Numbers have all digits, and undefined ones are empty. Two kinds of lines follow these. Those of group `figure` have
    the figures of a benchmark, by their published names. Those of group `answers` have, for runs read from a language
    model's answers, the share of answers in which no time was found.

    The columns are run, model, variant, seed, split (from the list of runs), by, group, queries (those that count),
    missing, measure and value. Columns for the interval and the comparison follow; they are empty unless these were
    asked for. Then come baseline, preset and options. The last column is the measure's title, which says how IoU is
    compared. If any run is an upper bound, a column `upper_bound` is added. `for_people` keeps a spreadsheet from
    reading texts as formulas.
    """
    head = ["run", *_FACTS, "by", "group", "queries", "missing", "measure", "value", *_STATISTICS, "baseline"]
    bounds = _upper_bounds(summary)
    lines = []
    for _, of_split in parts_of(summary):
        names = named_keys(of_split)
        tail = [of_split["preset"], " ".join(options(of_split))]
        for run, part, group, queries, measures in _groups(of_split):
            whole = part == ""
            for key, value in measures.items():
                interval = run.get("intervals", {}).get(key, {}) if whole else {}
                compared = run.get("comparison", {}).get(key, {}) if whole else {}
                cells = [run["name"], *(run.get(fact) for fact in _FACTS)]
                cells += [part, group, queries, len(run["missing"]), key, value]
                cells += [interval.get(name) for name in _STATISTICS]
                cells += [of_split.get("baseline") if compared else None]
                cells += [compared.get(name) for name in _COMPARISON]
                lines.append([*cells, *tail, names[key].title])
        lines += [
            [*cells, *[None] * len((*_STATISTICS, "baseline", *_COMPARISON)), *tail, title]
            for cells, title in (*_answers(of_split), *_figures(of_split))
        ]
    return _csv_text([*head, *_COMPARISON, "preset", "options", "title"], lines, bounds, for_people=for_people)


def _upper_bounds(summary: Mapping[str, Any]) -> frozenset[str]:
    return frozenset(run["name"] for _, part in parts_of(summary) for run in part["runs"] if run.get("upper_bound"))


def _csv_text(
    head: Sequence[str], lines: Iterable[Sequence[object]], bounds: Collection[str], *, for_people: bool
) -> str:
    """Return the lines as CSV. If there are upper bounds, a last column marks them.

    The first cell of a line is the run's name; `bounds` has the names of the upper bounds.
    """
    if bounds:
        head, lines = [*head, "upper_bound"], ([*line, option_text(line[0] in bounds)] for line in lines)
    return csv_text(head, lines, for_people=for_people)


def _answers(summary: Mapping[str, Any]) -> Iterator[tuple[list[object], str]]:
    """Yield the share of a language model's answers in which no time was found, for each run read from such answers.

    Each item has the first cells of a CSV line, up to the share, and the share's title for the last column.
    """
    for run in summary["runs"]:
        if counts := run.get("answers"):
            cells = [run["name"], *(run.get(fact) for fact in _FACTS), "answers", "all", counts["total"]]
            yield [*cells, len(run["missing"]), "unparsed_share", counts["unparsed_share"]], UNPARSED


def _figures(summary: Mapping[str, Any]) -> Iterator[tuple[list[object], str]]:
    """Yield the figures that a benchmark's own evaluator prints, for each run.

    Each item has the first cells of a CSV line, up to the figure's value, and the figure's title for the last column.
    """
    if "benchmark" not in summary:
        return
    titles = {row[0].text: row[1].text for row in figures(summary).rows}
    for run in summary["runs"]:
        for figure in summary["benchmark"]["figures"]:
            name = figure["name"]
            cells = [run["name"], *(run.get(fact) for fact in _FACTS), "figure", name, figure.get("queries")]
            yield [*cells, len(run["missing"]), figure["key"], run["figures"][name]], titles[name]


def per_query_csv(
    summary: Mapping[str, Any],
    rows: Sequence[tuple[str, Any, bool, Mapping[str, float]]],
    *,
    for_people: bool = False,
) -> str:
    """Return CSV with a line for each run and query that counts, and a column for each measure.

    `rows` comes from `Scoreboard.per_query`. `for_people` keeps a spreadsheet from reading texts as formulas.
    """
    keys = list(rows[0][3]) if rows else []
    changed = " ".join(options(summary))
    lines = (
        [run, query, option_text(lacking), *(values[key] for key in keys), summary["preset"], changed]
        for run, query, lacking, values in rows
    )
    head = ["run", "query", "missing", *keys, "preset", "options"]
    return _csv_text(head, lines, _upper_bounds(summary), for_people=for_people)


def to_markdown(summary: Mapping[str, Any], shown: Shown = PLAIN) -> str:
    """Return the means as a Markdown table, followed by a table for each other part of the summary.

    Rows are measures and columns are runs, or the reverse if there are more runs. Tables of statistics, groups of
    queries and errors follow, if the summary has them.

    If the summary has several splits, or runs that name a model, the tables are like those in papers: models and
    variants as rows.
    """
    if is_grouped(summary):
        return _paper(summary, shown)
    runs = summary["runs"]
    blocks = [f"Preset {_markdown(sentence(summary).removeprefix('preset '))}."]
    if "benchmark" in summary:
        means = figures(summary)
        blocks.append(f"{_markdown(means.title)}.")
    else:
        means = narrow_means(summary, shown)
    remarks = (*(means.notes if "benchmark" in summary else legend(summary)), *comparability_notes(summary))
    remarks = (*remarks, *unparsed(summary))
    blocks += [_grid(means), "\n".join(f"- {_markdown(line)}" for line in remarks)]
    if any("intervals" in run for run in runs):
        ranked = ranking(summary, shown=shown)
        blocks += [_grid(ranked), *(_markdown(note) for note in ranked.notes)]
    if "own_video" in runs[0]:
        beside = own_and_pool(summary)
        blocks += [f"{_markdown(beside.title)}. {_markdown(' '.join(beside.notes))}", _grid(beside)]
    for by in runs[0].get("by", {}):
        table = groups(summary, by, shown=shown)
        blocks += [f"{_markdown(table.title)}. {_markdown(' '.join(table.notes))}", _grid(table)]
    if "errors" in runs[0]:
        table = outcomes(summary)
        blocks += [_markdown(table.title), _grid(table), _markdown(" ".join(table.notes))]
    notes = [f"- {_markdown(run['name'])}: {len(run['missing'])} queries without predictions" for run in runs]
    blocks += ["\n".join(note for note, run in zip(notes, runs, strict=True) if run["missing"])]
    return "\n\n".join(block for block in blocks if block) + "\n"


def _paper(summary: Mapping[str, Any], shown: Shown) -> str:
    """Return the tables for a paper in Markdown, each after its title.

    The first lines say how the numbers were computed.
    """
    tables = paper(summary, shown)
    blocks = [_markdown(" ".join([shown.caption, *tables[0].notes] if shown.caption else tables[0].notes))]
    for table in tables:
        blocks += [_markdown(table.title), _grid(table)]
    return "\n\n".join(blocks) + "\n"


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
    """Escape a text so that Markdown does not read it as a cell border, markup or HTML."""
    for mark in "\\|`*_[]<>":
        text = text.replace(mark, f"\\{mark}" if mark not in "<>" else {"<": "&lt;", ">": "&gt;"}[mark])
    return " ".join(text.split())


SCORE_FORMATS: Mapping[str, ScoreFormat] = {
    "csv": to_csv,
    "markdown": to_markdown,
    "latex": to_latex,
}
