"""Show for each run which relevant truth moments it found, and how it missed the others.

Reads and writes nothing. `Scoreboard.summary` with `errors` makes the summary.
"""

from collections.abc import Mapping
from typing import Any

from backend.core.messages import joined, said
from backend.scoring.fates import FATES, MEANINGS, NEVER_FOUND, WORDS, Fate
from backend.scoring.matching.columns import grade_text
from backend.scoring.pools.overconfidence import KEYS
from backend.scoring.views.ranking import conventions
from backend.scoring.views.table import Cell, Column, Table, label, named_keys, number, times

NEVER = "never found"
_RUN = Column("run", said("run"), number=False)
_FATES = tuple(Column(fate.value, WORDS[fate], MEANINGS[fate], "moments") for fate in FATES)
_LOST = joined(", ", [WORDS[fate] for fate in NEVER_FOUND])
_NEVER = Column(NEVER, said("never found"), said("{fates}, together", fates=_LOST), "moments")


def outcomes(summary: Mapping[str, Any]) -> Table:
    """Return a table of what became of the relevant moments in each run: found, found too low, or missed, and why.

    Each run has a row. It has the number and share of moments for each `Fate`, such as `wrong time`, and for all
    moments that were never found.
    """
    first = summary["runs"][0]["errors"]
    rows = []
    for run in summary["runs"]:
        errors = run["errors"]
        counts = [*(errors["counts"][fate.value] for fate in FATES), errors["never_found"]]
        cells = [Cell(n, f"{n:,}", share=n / errors["moments"] if errors["moments"] else None) for n in counts]
        rows.append((Cell(run["name"], label(run)), *cells))
    title = said(
        "What became of the truth's {moments:,} relevant moments within ranks 1-{k}, at an IoU threshold of {mu:g}.",
        moments=first["moments"],
        k=first["k"],
        mu=first["mu"],
    )
    notes = (
        said(
            "Each is counted once, under the first line that holds. A query with more relevant moments "
            "than ranks always leaves some unfound."
        ),
        said("Never found: {fates}.", fates=_LOST),
    )
    return Table(title, (_RUN, *_FATES, _NEVER), tuple(rows), notes)


def percent(cell: Cell) -> str:
    """Return the share that a table's cell holds as text in percent, such as `12.5%`; `-` if it holds none."""
    return "-" if cell.share is None else f"{cell.share:.1%}"


def fates_of_grades(summary: Mapping[str, Any]) -> Table:
    """Return a table of what became of the relevant moments in each run, by relevance, the highest first.

    Each row counts the moments of one run and relevance with each `Fate`, such as `wrong time`.
    """
    rows = []
    for run in summary["runs"]:
        parts = run["errors"]["by_relevance"]
        for grade in reversed(parts[FATES[0].value]):
            counts = [parts[fate.value][grade] for fate in FATES]
            if any(counts):
                cells = [Cell(n, f"{n:,}") for n in counts]
                rows.append((Cell(run["name"], label(run)), Cell(float(grade), grade), *cells))
    columns = (_RUN, Column("relevance", "relevance"), *_FATES)
    return Table("Relevant moments by run, relevance and what became of them", columns, tuple(rows))


def examples(summary: Mapping[str, Any], texts: Mapping[str, str] | None = None) -> Table:
    """Return a table of the most relevant moments of each kind of error in each run.

    `texts` maps query ids to their texts, where known.
    """
    columns = (
        _RUN,
        Column("error", said("error"), number=False),
        Column("query", said("query"), number=False),
        Column("text", said("words"), number=False),
        Column("video", said("video"), number=False),
        Column("moment", said("moment"), unit="s", number=False),
        Column("relevance", said("relevance")),
        Column("rank", said("rank"), said("Rank of the prediction that takes it.")),
        Column("iou", said("best IoU"), said("The highest IoU of any prediction with it.")),
    )
    rows = tuple(
        (
            Cell(run["name"], label(run)),
            Cell(worst["class"], WORDS[Fate(worst["class"])]),
            Cell(worst["query"], str(worst["query"])),
            *[Cell(text, text) for text in [(texts or {}).get(str(worst["query"]), "")]],
            Cell(worst["video"], worst["video"]),
            Cell(worst["start"], times(worst["start"], worst["end"])),
            Cell(worst["relevance"], grade_text(worst["relevance"])),
            Cell(worst["rank"], str(worst["rank"] or "-")),
            Cell(worst["iou"], "-" if worst["iou"] is None else f"{worst['iou']:.2f}"),
        )
        for run in summary["runs"]
        for worst in run["errors"]["examples"]
    )
    return Table(said("The most relevant moments of each kind of error"), columns, rows)


OWN, POOL = "own video", "pool"
_NOTE = (
    "Own video: predictions in the query's own video, in file order, against the truth in that video. "
    "Pool: predictions in the query's pool, as in all other tables. A query may score higher in its pool, "
    "because other videos there contain positives too."
)
_MEAN = f"mean of {' and '.join(KEYS)}"
_OVERCONFIDENCE = (
    "The last line of a run shows its overconfidence in wrong videos, as MVMR's Figure 6. "
    "The paper's drop in percent is the difference, in percentage points."
)


def pool_sentence(summary: Mapping[str, Any]) -> str:
    """Return a text that says how many videos each query's pool has, and how many predictions lay outside the pools."""
    pool, runs = summary["pool"], summary["runs"]
    outside = ", ".join(f"{run['name']} {run['outside_pool']:,}" for run in runs)
    return f"pools of {pool['size']} of {pool['videos']:,} videos; predictions outside them, left out: {outside}"


def own_and_pool(summary: Mapping[str, Any]) -> Table:
    """Compare runs in each query's own video (VMR) and in its pool of videos (MVMR): a row for each run and measure.

    If they were computed, the last row of a run has the mean of R1@0.5 and R5@0.5, which Figure 6 of MVMR shows.
    """
    columns = (
        Column("run", "run", number=False),
        Column("measure", "measure", number=False),
        Column("own_video", OWN, "In the query's own video alone (VMR)."),
        Column("pool", POOL, "In the query's pool of videos (MVMR)."),
        Column("difference", "difference", "Pool minus own video."),
        Column("drop", "drop", "Own video minus pool, as a share of the own video.", "%"),
    )
    rows = []
    for run in summary["runs"]:
        pairs = [(key, alone, run["measures"][key]) for key, alone in run["own_video"]["measures"].items()]
        for key, alone, pooled in [*pairs, *_means(run)]:
            drop = (alone - pooled) / alone if alone > 0 else None
            rows.append(
                (
                    Cell(run["name"], label(run)),
                    Cell(key, key),
                    Cell(alone, number(alone)),
                    Cell(pooled, number(pooled)),
                    Cell(pooled - alone, f"{pooled - alone:+.4f}"),
                    Cell(drop, "-" if drop is None else f"{drop:.1%}"),
                )
            )
    notes = (_NOTE, _OVERCONFIDENCE) if any(map(_means, summary["runs"])) else (_NOTE,)
    return Table(f"Own video and pool, preset {conventions(summary)}", columns, tuple(rows), notes)


def _means(run: Mapping[str, Any]) -> list[tuple[str, float, float]]:
    """Return the mean of R1@0.5 and R5@0.5 of a run: its title, that in the own video and that in the pool.

    The list is empty if they were not computed.
    """
    found = run.get("overconfidence")
    return [(_MEAN, found["own_video"], found["pool"])] if found else []


def bars(summary: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the data of a bar chart that compares scores in a query's own video with scores in its pool of videos.

    Each bar is a dict `{"run", "panel", "k", "setting", "value"}`. `panel` is the title that a measure's cut-offs
    share, such as `R@K, IoU>=0.5`; the last is the mean of R1@0.5 and R5@0.5, as in Figure 6 of MVMR. `k` is empty if a
    measure has no cut-off. `setting` is `own video` or `pool`.
    """
    names = named_keys(summary)
    rows = []
    for run in summary["runs"]:
        for key, alone in run["own_video"]["measures"].items():
            entry = names[key]
            panel = entry.measure.title("K", entry.threshold, iou_compare=entry.iou_compare)
            k = "" if entry.k is None else int(entry.k)
            rows += [
                {"run": label(run), "panel": panel, "k": k, "setting": setting, "value": value}
                for setting, value in ((OWN, alone), (POOL, run["measures"][key]))
            ]
        for panel, *values in _means(run):
            rows += [
                {"run": label(run), "panel": panel, "k": "", "setting": setting, "value": value}
                for setting, value in zip((OWN, POOL), values, strict=True)
            ]
    return rows
