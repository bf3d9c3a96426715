"""QVHighlights (Lei et al., NeurIPS 2021): find all moments of a video that match a sentence, and their highlights.

Highlight detection tests whether a run finds the clips that people called salient. For each query several people
graded every relevant clip of 2 s from 0 (very bad) to 4 (very good). A clip is a highlight for a person if its grade
is at least 2 (Fair), 3 (Good) or 4 (VeryGood), depending on the level.

    HL-mAP  = mean over queries and people of the average precision of the clips by falling score
    HL-Hit1 = share of queries whose clip with the highest score is a highlight for at least one person

The average precision is interpolated: for each different recall that is reached, take the highest precision at that
recall or a higher one. The average precision is the mean of these precisions. Clips of equal score share the last of
their ranks.

Edge cases: the average precision is 0 for a person without highlights, and 1 for a person to whom all clips are
highlights. Scores beyond the video's clips are left out, and clips without a score have 0. Of several clips with the
highest score the first counts.

Worked example: three clips have the scores .9, .5, .1. The second is a highlight for the first of two people. The
second person has no highlight. The average precisions are 1/2 and 0, and the best clip is no highlight.

>>> average_precisions(np.array([[0, 0], [1, 0], [0, 0]], dtype=bool), np.array([0.9, 0.5, 0.1])).tolist()
[0.5, 0.0]
"""

import contextlib
import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import TypeVar

import msgspec
import numpy as np

from backend.core.errors import InputError, Problem
from backend.core.messages import said
from backend.core.reading import UNDECODABLE, unpacked_bytes
from backend.core.timespan import Flags, Floats
from backend.core.typed_text import nfc
from backend.scoring.benchmarks.benchmark import Benchmark, Beside, Part, PublishedFigure, answers_to
from backend.scoring.files import text
from backend.scoring.files.text import Form
from backend.scoring.matching.columns import Indices, Run, Truth

CLIP_S = 2
"""Length of a clip in seconds."""
HIGHEST_SALIENCY = 4


class _Graded(msgspec.Struct):
    qid: int | str = ""
    duration: float = 0.0
    relevant_clip_ids: list[int] | None = None
    saliency_scores: list[list[int]] | None = None


class _Predicted(msgspec.Struct):
    qid: int | str = ""
    pred_saliency_scores: list[float] | None = None


_Entry = TypeVar("_Entry", _Graded, _Predicted)


def read_saliency(path: Path) -> dict[str, Indices]:
    """Return the grades (0-4) that annotators gave to clips, by query id, as arrays of shape (clips, people).

    Clips for which the file has no grades have 0.

    Raises:
        InputError: lists every entry whose clips and grades do not match each other or the video.
    """
    grades_of: dict[str, Indices] = {}
    problems: list[Problem] = []
    for row, entry in _entries(path, _Graded, problems):
        if entry.saliency_scores is None or entry.qid == "":
            continue
        clips, people = int(entry.duration / CLIP_S), len(entry.saliency_scores[0]) if entry.saliency_scores else 0
        if fault := _fault(entry, clips, people):
            problems.append(Problem(str(path), row, said("query {qid}: {fault}", qid=entry.qid, fault=fault)))
            continue
        grades = np.zeros((clips, people), dtype=np.int64)
        grades[entry.relevant_clip_ids] = entry.saliency_scores
        grades_of[nfc(str(entry.qid))] = grades
    if problems:
        raise InputError(problems)
    return grades_of


def read_predicted_saliency(path: Path) -> dict[str, Floats]:
    """Return a run's score for each clip, by query id; a higher score means more salient.

    Raises:
        InputError: lists every entry whose scores are not a list of numbers.
    """
    problems: list[Problem] = []
    scores = {
        nfc(str(entry.qid)): np.array(entry.pred_saliency_scores)
        for _, entry in _entries(path, _Predicted, problems)
        if entry.pred_saliency_scores is not None
    }
    if problems:
        raise InputError(problems)
    return scores


def _fault(entry: _Graded, clips: int, people: int) -> str | None:
    """Return what is wrong with an entry's clip numbers and grades, or None.

    `clips` is the number of clips in the video, and `people` the number of annotators.
    """
    ids, scores = entry.relevant_clip_ids or [], entry.saliency_scores or []
    if len(ids) != len(scores) or not ids:
        return said(
            "has {n} `relevant_clip_ids` and {scores} `saliency_scores`; there must be one for each clip",
            n=len(ids),
            scores=len(scores),
        )
    if not people or any(len(grades) != people for grades in scores):
        return said("`saliency_scores` do not come from the same people for each clip")
    if outside := [clip for clip in ids if not 0 <= clip < clips]:
        return said(
            "clip {clip} is not one of the {clips} clips of {clip_s} s in its `duration`",
            clip=outside[0],
            clips=clips,
            clip_s=CLIP_S,
        )
    if any(not 0 <= grade <= HIGHEST_SALIENCY for grades in scores for grade in grades):
        return said("`saliency_scores` are not all 0 to {highest}", highest=HIGHEST_SALIENCY)
    return None


def _entries(path: Path, kind: type[_Entry], problems: list[Problem]) -> Iterator[tuple[int, _Entry]]:
    """Yield each entry that has a `qid`, decoded as `kind`, with its row number from 1. Append faults to `problems`."""
    content = text.checked(unpacked_bytes(path), str(path))
    decoder = msgspec.json.Decoder(kind)
    for row, line in enumerate(_lines(content, str(path)), start=1):
        if b'"qid"' not in line:
            continue
        try:
            yield row, decoder.decode(line)
        except msgspec.ValidationError as error:
            problems.append(Problem(str(path), row, str(error)))
        except UNDECODABLE:
            with contextlib.suppress(*UNDECODABLE):  # invalid JSON is reported by the code that reads the moments
                json.loads(line)
                problems.append(
                    Problem(str(path), row, said("has NaN, Infinity or a number too large among its scores"))
                )


def _lines(content: bytes, file: str) -> Iterable[bytes]:
    """Return the raw JSON entries of a file: the items of a list, or the lines. A CSV file gives none.

    Invalid JSON also gives none: the code that reads the moments reports it.
    """
    form = text.form_of(content, file)
    if form is Form.LINES:
        return content.split(b"\n")
    if form is Form.CSV:
        return ()
    if content.lstrip().startswith(b"{"):
        return (content,)
    try:
        return [bytes(entry) for entry in msgspec.json.decode(content, type=list[msgspec.Raw])]
    except UNDECODABLE:
        return ()


LEVELS: Mapping[str, int] = {"Fair": 2, "Good": 3, "VeryGood": 4}
"""The lowest grade of a highlight, by the name of the level."""


def score_highlights(graded: Mapping[str, Indices], predicted: Mapping[str, Floats]) -> dict[str, float]:
    """Return HL-mAP and HL-Hit1 over the graded queries, each in [0, 1], at every level (Fair, Good, VeryGood).

    The level is the lowest grade of a highlight. A query without scores counts 0.

    Args:
        graded: grades by query, shape (clips, people).
        predicted: scores by query, shape (clips,).

    Returns:
        Values by name, such as `HL-min-Fair-mAP`; empty if no query is graded.
    """
    if not graded:
        return {}
    precisions = np.zeros((len(graded), len(LEVELS)))
    hits = np.zeros((len(graded), len(LEVELS)))
    for number, (query, grades) in enumerate(graded.items()):
        scores = predicted.get(query)
        if scores is None or not len(scores):
            continue
        clips, people = grades.shape
        marked = np.concatenate([grades >= level for level in LEVELS.values()], axis=1)
        best = int(np.argmax(scores))
        fitted = np.zeros(clips)
        fitted[: len(scores)] = scores[:clips]
        precisions[number] = average_precisions(marked, fitted).reshape(len(LEVELS), people).mean(axis=1)
        if best < clips:
            hits[number] = marked[best].reshape(len(LEVELS), people).any(axis=1)
    figures = {}
    for place, name in enumerate(LEVELS):
        figures[f"HL-min-{name}-mAP"] = float(precisions[:, place].mean())
        figures[f"HL-min-{name}-Hit1"] = float(hits[:, place].mean())
    return figures


def average_precisions(marked: Flags, scores: Floats) -> Floats:
    """Return the interpolated average precision of clips ranked by falling score, for each column of `marked`.

    Args:
        marked: whether each clip is a highlight, shape (clips, columns): a column for each level and person.
        scores: the score of each clip, shape (clips,).
    """
    clips = len(scores)
    order = np.argsort(-scores, kind="stable")
    last = np.append(np.flatnonzero(np.diff(scores[order])), clips - 1)
    right = np.cumsum(marked[order], axis=0)[last]
    precision = right / (last + 1)[:, None]
    highest = np.maximum.accumulate(precision[::-1], axis=0)[::-1]
    reached = np.diff(right, axis=0, prepend=0) > 0
    levels = reached.sum(axis=0)
    total = (highest * reached).sum(axis=0)
    average = np.divide(total, levels, out=np.zeros(marked.shape[1]), where=levels > 0)
    average[marked.all(axis=0)] = 1.0
    return np.asarray(average)


FIRST = 10
"""How many predictions of a query average precision uses: the first of the file, which are then sorted by score."""


def keep_windows(above_s: float, to_s: float) -> Callable[[Truth], Truth]:
    """Return a function that keeps the truth moments longer than `above_s` and at most `to_s` seconds.

    The function also drops queries that have no such moment.
    """

    def taken(truth: Truth) -> Truth:
        length = truth.end_s - truth.start_s
        left = truth.take(np.flatnonzero((length > above_s) & (length <= to_s)))
        return left.of_queries(np.diff(left.offsets) > 0)

    return taken


def first_predictions(run: Run, _truth: Truth) -> Run:
    """Return the run with only the first ten predictions of each query; the truth is not used."""
    place = np.arange(len(run.video)) - np.repeat(run.offsets[:-1], np.diff(run.offsets))
    return run.take(np.flatnonzero(place < FIRST))


def first_predictions_for(run: Run, truth: Truth) -> Run:
    """Return the run with only the first ten predictions of each query that `truth` contains."""
    return first_predictions(answers_to(run, truth), truth)


def highlights(truth: Path, run: Path, missing: str) -> dict[str, float]:
    """Return the highlight figures by name, such as `HL-min-Fair-mAP`; empty unless both files have saliency scores.

    Saliency scores tell how much of a highlight each clip is. A query that the run lacks counts 0, unless `missing` is
    `skip` or `published`.
    """
    graded, predicted = read_saliency(truth), read_predicted_saliency(run)
    if missing in ("skip", "published"):
        graded = {query: grades for query, grades in graded.items() if query in predicted}
    return score_highlights(graded, predicted) if predicted else {}


_WINDOWS = {"short": (0, 10), "middle": (10, 30), "long": (30, 150)}
"""Lengths of windows in seconds, by name of the group: longer than the first, and at most the second."""
_GROUPS = {name: keep_windows(*lengths) for name, lengths in _WINDOWS.items()}


def _of_windows(name: str) -> Part:
    figures = (PublishedFigure(f"MR-{name}-mAP", "map@avg", "{}-{} s".format(*_WINDOWS[name])),)
    return Part(figures, of_truth=_GROUPS[name], of_run=first_predictions_for, options={"order": "score"})


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
            of_run=first_predictions,
            options={"order": "score"},
        ),
        *map(_of_windows, _GROUPS),
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
    groups=_GROUPS,
)
