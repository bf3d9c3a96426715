"""Summarise scores in brief: warnings to read before trusting them, and one small table.

Reads and writes nothing. `Scoreboard.summary` makes the summaries.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np

from backend.scoring.measures import MEASURES
from backend.scoring.presets import PRESETS
from backend.scoring.scoreboard import Scoreboard
from backend.scoring.views.ranking import means
from backend.scoring.views.table import (
    PLAIN,
    Cell,
    Column,
    Shown,
    Table,
    comparability_notes,
    keys_of,
    label,
    named_keys,
)

_LISTED = 10
"""Number of query ids to list; the others are only counted."""
_RUNS = 3
"""Up to this many runs are listed one by one in a line."""


def in_brief(summary: Mapping[str, Any]) -> dict[str, Any]:
    """Return the summary with only one measure: NDCG or, if each query is searched in its own pool of videos, recall.

    A benchmark's summary is returned unchanged.
    """
    if "splits" in summary:
        return {**summary, "splits": {split: in_brief(part) for split, part in summary["splits"].items()}}
    name = "recall" if "pool" in summary else "ndcg"
    keys = {key for key in keys_of(summary) if key.partition("@")[0] == name}
    if "benchmark" in summary or not keys:
        return dict(summary)

    def only(run: Mapping[str, Any]) -> dict[str, Any]:
        reduced = {**run, "measures": {key: value for key, value in run["measures"].items() if key in keys}}
        return reduced | ({"own_video": only(run["own_video"])} if "own_video" in run else {})

    return {**summary, "runs": [only(run) for run in summary["runs"]]}


def left_out(summary: Mapping[str, Any], brief: Mapping[str, Any]) -> list[str]:
    """Return the names of the measures that are in `summary` and not in `brief`, the result of `in_brief`."""
    parts = zip(*(source.get("splits", {"": source}).values() for source in (summary, brief)), strict=True)
    keys = [key for whole, part in parts for key in keys_of(whole) if key not in keys_of(part)]
    return list(dict.fromkeys(key.partition("@")[0] for key in keys))


def doubts(summary: Mapping[str, Any], board: Scoreboard) -> list[str]:
    """Return the warnings that a reader needs before trusting the scores of a summary, one sentence each."""
    lines = [
        *missing_queries(summary),
        *_not_judged(summary),
        *_unknown_videos(summary, board),
        *comparability_notes(summary),
    ]
    return [*lines, *(f"Warning: {text}" for text in summary["warnings"])]


def missing_queries(summary: Mapping[str, Any]) -> list[str]:
    """Return a line for each run that lacks queries of the truth: how many, and whether they count 0."""
    skips = summary["options"].get("missing", PRESETS[summary["preset"]].missing) != "zero"
    count = "are left out" if skips else "count 0"
    lines = []
    for run in summary["runs"]:
        if lacking := run["missing"]:
            ids = ", ".join(map(str, lacking[:_LISTED])) + (", ..." if len(lacking) > _LISTED else "")
            queries = f"{len(lacking):,} of {summary['truth']['queries']:,} queries"
            lines.append(f"{run['name']} has no predictions for {queries}, which {count}: {ids}")
    return lines


def _not_judged(summary: Mapping[str, Any]) -> list[str]:
    lines = []
    for key in dict.fromkeys(key for run in summary["runs"] for key in run.get("judged", ())):
        k, _ = MEASURES["judged"].read(key)
        shares = {run["name"]: 1 - run["judged"][key] for run in summary["runs"] if key in run.get("judged", ())}
        lines.append(f"Never judged, of the first {k} predictions: {_shares(shares)} (they count as not relevant)")
    return lines


def _unknown_videos(summary: Mapping[str, Any], board: Scoreboard) -> list[str]:
    """Return a line with the share of each run's predictions that are in videos which the truth does not name.

    The list is empty if there are no such predictions, or if queries are searched in pools of videos: pools always
    contain such videos.
    """
    if "pool" in summary:
        return []
    other, shares = len(board.key.video_number), {}
    for run in board.runs:
        if len(run.ranked.truth_video) and (share := float(np.mean(run.ranked.truth_video == other))):
            shares[run.name] = share
    text = f"In videos that the truth does not name, of the first {board.settings.depth} predictions"
    return [f"{text}: {_shares(shares)}"] if shares else []


def _shares(shares: Mapping[str, float]) -> str:
    """Return run names with their shares as text, the lowest first; of many runs, only the lowest and the highest."""
    texts = [f"{name} {_percent(share)}" for name, share in sorted(shares.items(), key=lambda item: item[1])]
    return ", ".join(texts) if len(texts) <= _RUNS else f"{texts[0]} to {texts[-1]}"


def _percent(share: float) -> str:
    """Return a share in whole percent. Only 0 gives 0%, and only 1 gives 100%.

    >>> [_percent(share) for share in (0, 0.001, 0.142, 0.999, 1)]
    ['0%', '<1%', '14%', '>99%', '100%']
    """
    return "<1%" if 0 < share < 0.005 else ">99%" if 0.995 <= share < 1 else f"{share:.0%}"


def grid(summary: Mapping[str, Any], shown: Shown = PLAIN) -> Table | None:
    """Return a small table of one measure, or None if the summary does not fit one.

    It fits if it has a single measure, with a value at every combination of its cut-offs and thresholds. There is a row
    for each cut-off and run, and a column for each threshold. If there is only one threshold, the columns are the
    cut-offs.
    """
    names, runs = named_keys(summary), summary["runs"]
    cutoffs = list(dict.fromkeys(entry.k for entry in names.values()))
    levels = list(dict.fromkeys(entry.threshold for entry in names.values()))
    key_at = {(entry.k, entry.threshold): key for key, entry in names.items()}
    if len({entry.measure.name for entry in names.values()}) != 1 or None in (*cutoffs, *levels):
        return None
    if len(key_at) != len(cutoffs) * len(levels):
        return None
    cells = {row[0].text: row[2:] for row in means(summary, shown).rows}
    heads = {entry.threshold: entry.title.split(", ")[-1] for entry in names.values()}
    across = len(levels) == 1
    down = [None] if across else cutoffs
    columns = [Column("k", "K")] if len(down) > 1 else []
    columns += [Column("run", "run", number=False)] if len(runs) > 1 or not columns else []
    columns += [Column(str(k), f"K={k}") for k in cutoffs] if across else [Column(str(m), heads[m]) for m in levels]
    rows = []
    for k in down:
        for n, run in enumerate(runs):
            keys = (
                [key_at[cutoff, levels[0]] for cutoff in cutoffs] if across else [key_at[k, level] for level in levels]
            )
            first = {"k": Cell(k, str(k) if n == 0 else ""), "run": Cell(run["name"], label(run))}
            front = [first[column.name] for column in columns if column.name in first]
            rows.append((*front, *(cells[key][n] for key in keys)))
    entry = next(iter(names.values()))
    level = levels[0] if across else None
    k_title = cutoffs[0] if len(cutoffs) == 1 else "K"
    title = entry.measure.title(k_title, level, iou_compare=entry.iou_compare)
    if "pool" in summary and entry.measure.name == "recall":
        title = f"Rank n@m, {title}"
    return Table(f"{title}: {entry.measure.description}", tuple(columns), tuple(rows))
