"""What became of the relevant truth moments in each run.

Reads and writes nothing; the summary is what `Scoreboard.summary` makes with `errors`.
"""

from collections.abc import Mapping
from typing import Any

from backend.core.messages import joined, said
from backend.scoring.analysis.fates import FATES, MEANINGS, NEVER_FOUND, WORDS, Fate
from backend.scoring.matching.columns import HIGHEST_RELEVANCE
from backend.scoring.views.table import Cell, Column, Table, times

NEVER = "never found"
_RUN = Column("run", said("run"), number=False)
_FATES = tuple(Column(fate.value, WORDS[fate], MEANINGS[fate], "moments") for fate in FATES)
_LOST = joined(", ", [WORDS[fate] for fate in NEVER_FOUND])
_NEVER = Column(NEVER, said("never found"), said("{fates}, together", fates=_LOST), "moments")


def outcomes(summary: Mapping[str, Any]) -> Table:
    """A row a run: how many moments met which fate, each with its share of all, and how many were never found."""
    first = summary["runs"][0]["errors"]
    rows = []
    for run in summary["runs"]:
        found = run["errors"]
        counts = [*(found["counts"][fate.value] for fate in FATES), found["never_found"]]
        cells = [Cell(n, f"{n:,}", share=n / found["moments"] if found["moments"] else None) for n in counts]
        rows.append((Cell(run["name"], run["name"]), *cells))
    title = said(
        "What became of the truth's {moments:,} relevant moments within ranks 1-{k}, at an IoU threshold of {mu:g}.",
        moments=first["moments"],
        k=first["k"],
        mu=first["mu"],
    )
    notes = (
        said(
            "Each is counted once, under the first of these that holds; a query with more relevant moments than ranks "
            "must leave some unfound."
        ),
        said("Never found: {fates}.", fates=_LOST),
    )
    return Table(title, (_RUN, *_FATES, _NEVER), tuple(rows), notes)


def percent(cell: Cell) -> str:
    """A cell's share of the whole, `-` where there is none."""
    return "-" if cell.share is None else f"{cell.share:.1%}"


def fates_of_grades(summary: Mapping[str, Any]) -> Table:
    """A row a run and relevance, the highest first: how many of its moments met which fate."""
    rows = []
    for run in summary["runs"]:
        parts = run["errors"]["by_relevance"]
        for grade in range(HIGHEST_RELEVANCE, 0, -1):
            counts = [parts[fate.value].get(str(grade)) for fate in FATES]
            if any(counts):
                cells = [Cell(n, f"{n:,}") for n in counts]
                rows.append((Cell(run["name"], run["name"]), Cell(grade, str(grade)), *cells))
    columns = (_RUN, Column("relevance", "relevance"), *_FATES)
    return Table("Relevant moments by run, relevance and what became of them", columns, tuple(rows))


def examples(summary: Mapping[str, Any], texts: Mapping[str, str] | None = None) -> Table:
    """The most relevant moments of each kind of error; `texts` are the queries' words by id, as far as known."""
    columns = (
        _RUN,
        Column("error", said("error"), number=False),
        Column("query", said("query"), number=False),
        Column("text", said("words"), number=False),
        Column("video", said("video"), number=False),
        Column("moment", said("moment"), unit="s", number=False),
        Column("relevance", said("relevance")),
        Column("rank", said("rank"), said("Of the prediction that takes it.")),
        Column("iou", said("best IoU"), said("The highest of a prediction with it.")),
    )
    rows = tuple(
        (
            Cell(run["name"], run["name"]),
            Cell(worst["class"], WORDS[Fate(worst["class"])]),
            Cell(worst["query"], str(worst["query"])),
            *[Cell(text, text) for text in [(texts or {}).get(str(worst["query"]), "")]],
            Cell(worst["video"], worst["video"]),
            Cell(worst["start"], times(worst["start"], worst["end"])),
            Cell(worst["relevance"], str(worst["relevance"])),
            Cell(worst["rank"], str(worst["rank"] or "-")),
            Cell(worst["iou"], "-" if worst["iou"] is None else f"{worst['iou']:.2f}"),
        )
        for run in summary["runs"]
        for worst in run["errors"]["examples"]
    )
    return Table(said("The most relevant moments of each kind of error"), columns, rows)
