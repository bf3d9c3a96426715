"""Highlight detection as QVHighlights scores it: does a run find the clips that people called salient?

Source: Lei et al., QVHighlights, NeurIPS 2021. Of each query several people graded every relevant clip of 2 s from 0
(very bad) to 4 (very good). A clip is a highlight for a person from a lowest grade on: 2 (Fair), 3 (Good), 4
(VeryGood).

    HL-mAP  = mean over queries and people of the average precision of the clips by falling score
    HL-Hit1 = share of queries whose clip of the highest score is a highlight for somebody

The average precision is interpolated: the mean, over the different recalls that are reached, of the highest precision
at that recall or a higher one. Clips of equal score are found together.

Edge cases: for a person to whom no clip is a highlight it is 0, to whom all are it is 1; scores beyond the video's
clips are left out, clips without a score have 0; of equal highest scores the first clip is taken.

Worked example: three clips with scores .9, .5, .1, of which the second is a highlight for one of two people and none
for the other: average precisions 1/2 and 0, and the best clip is none.

>>> average_precisions(np.array([[0, 0], [1, 0], [0, 0]], dtype=bool), np.array([0.9, 0.5, 0.1])).tolist()
[0.5, 0.0]
"""

from collections.abc import Mapping

import numpy as np

from backend.core.timespan import Flags, Floats
from backend.scoring.matching.columns import Indices

LEVELS: Mapping[str, int] = {"Fair": 2, "Good": 3, "VeryGood": 4}
"""From which grade on a clip is a highlight, by the name of the level."""


def score_highlights(graded: Mapping[str, Indices], predicted: Mapping[str, Floats]) -> dict[str, float]:
    """HL-mAP and HL-Hit1 of each level over the graded queries, each in [0, 1]; a query without scores counts 0.

    Args:
        graded: grades by query, shape (clips, people).
        predicted: scores by query, shape (clips,).

    Returns:
        By name, such as `HL-min-Fair-mAP`; empty where no query is graded.
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
    found = {}
    for place, name in enumerate(LEVELS):
        found[f"HL-min-{name}-mAP"] = float(precisions[:, place].mean())
        found[f"HL-min-{name}-Hit1"] = float(hits[:, place].mean())
    return found


def average_precisions(marked: Flags, scores: Floats) -> Floats:
    """Interpolated average precision of clips ranked by falling score, for each column of `marked`.

    Args:
        marked: whether a clip is a highlight, shape (clips, columns).
        scores: shape (clips,).
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
