"""QVHighlights (Lei et al., NeurIPS 2021): all moments of a video that a sentence describes, and their highlights."""

from collections.abc import Callable
from pathlib import Path

import numpy as np

from backend.scoring.benchmarks.benchmark import Benchmark, Beside, Part, PublishedFigure
from backend.scoring.highlights import LEVELS, read_predicted_saliency, read_saliency, score_highlights
from backend.scoring.matching.columns import Run, Truth

FIRST = 10
"""Predictions of a query that average precision looks at: the first ones of the file, then sorted by score."""


def windows(above_s: float, to_s: float) -> Callable[[Truth], Truth]:
    """The truth with its moments longer than `above_s` seconds and at most `to_s`, and the queries that have one."""

    def taken(truth: Truth) -> Truth:
        length = truth.end_s - truth.start_s
        left = truth.take(np.flatnonzero((length > above_s) & (length <= to_s)))
        return left.of_queries(np.diff(left.offsets) > 0)

    return taken


def first_ones(run: Run, _truth: Truth) -> Run:
    """The first predictions of every query."""
    place = np.arange(len(run.video)) - np.repeat(run.offsets[:-1], np.diff(run.offsets))
    return run.take(np.flatnonzero(place < FIRST))


def first_ones_left(run: Run, truth: Truth) -> Run:
    """The first predictions of the queries that are left of the truth."""
    known = {str(query) for query in truth.queries}
    kept = np.array([str(query) in known for query in run.queries], dtype=bool)
    return first_ones(run, truth).of_queries(kept)


def highlights(truth: Path, run: Path, missing: str) -> dict[str, float]:
    """The figures of highlights, where both files have saliency; a query that the run lacks counts 0 unless skipped."""
    graded, predicted = read_saliency(truth), read_predicted_saliency(run)
    if missing in ("skip", "published"):
        graded = {query: grades for query, grades in graded.items() if query in predicted}
    return score_highlights(graded, predicted) if predicted else {}


def _of_windows(name: str, above_s: int, to_s: int) -> Part:
    figures = (PublishedFigure(f"MR-{name}-mAP", "map@avg", f"{above_s}-{to_s} s"),)
    return Part(figures, of_truth=windows(above_s, to_s), of_run=first_ones_left, options={"order": "score"})


BENCHMARK = Benchmark(
    "qvhighlights",
    "QVHighlights",
    "all moments of a given video, and its highlights",
    "standalone_eval/eval.py (jayleicn/moment_detr, b7e553a)",
    (
        Part(
            (PublishedFigure("MR-full-R1@0.5", "recall@1,0.5"), PublishedFigure("MR-full-R1@0.7", "recall@1,0.7")),
            options={"arithmetic": "float64_hull"},
        ),
        Part(
            (
                PublishedFigure("MR-full-mAP@0.5", "map@0.5"),
                PublishedFigure("MR-full-mAP@0.75", "map@0.75"),
                PublishedFigure("MR-full-mAP", "map@avg"),
            ),
            of_run=first_ones,
            options={"order": "score"},
        ),
        _of_windows("short", 0, 10),
        _of_windows("middle", 10, 30),
        _of_windows("long", 30, 150),
    ),
    {"arithmetic": "float64", "missing": "error"},
    notes=(
        f"R1 takes the first prediction of the file, mAP the first {FIRST} by score.",
        "Short, middle, long: windows longer than the lower bound, to the upper one; a query may count in several.",
    ),
    beside=Beside(
        tuple(
            PublishedFigure(f"HL-min-{name}-{figure}", about=f"{about}, grade >= {level}")
            for name, level in LEVELS.items()
            for figure, about in (("mAP", "highlight AP"), ("Hit1", "Hit@1 of highlights"))
        ),
        highlights,
    ),
)
