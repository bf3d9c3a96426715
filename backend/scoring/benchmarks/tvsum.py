"""TVSum (Song et al., CVPR 2015), highlight detection: rank the clips of a video as people labelled them.

Twenty people labelled every clip of a video from 1 to 5. A clip is a highlight for a person if its label is above that
person's median over the video (of an even number of clips, the lower of the middle two labels). The clips are ranked by
falling score, and only the first K count: five for TVSum, all for YouTube Highlights.

    AP  = sum_k (rec_k - rec_(k-1)) (prc_(k-1) + prc_k) / 2,    rec_0 = 0, prc_0 = 1
    mAP = mean of AP over the videos of a domain and their people

rec_k is the number of highlights among the first k clips, divided by the number among the first K. prc_k is the share
of highlights among the first k clips. Source: `evaluate` of datasets/tvsum.py of UMT (Liu et al., CVPR 2022), which
QD-DETR, CG-DETR and Lighthouse follow.

Edge cases: clips of equal score keep their order. Clips without a score do not count, nor do scores beyond the last
clip. AP is 0 if none of the first K clips is a highlight. The recall ignores highlights beyond the first K clips.

Worked example: of the two clips with the highest scores the second is a highlight: rec = 0, 1 and prc = 0, 1/2.

>>> clip_precisions(np.array([[False], [True], [True]]), np.array([0.9, 0.5, 0.1]), 2).tolist()
[0.25]
"""

from collections.abc import Callable, Sequence
from pathlib import Path

import msgspec
import numpy as np

from backend.core.errors import InputError, Problem
from backend.core.messages import said
from backend.core.reading import unpacked_bytes
from backend.core.timespan import Flags, Floats
from backend.core.typed_text import nfc
from backend.scoring.benchmarks.benchmark import Benchmark, Beside, Part, PublishedFigure
from backend.scoring.benchmarks.qvhighlights import read_predicted_saliency
from backend.scoring.files.forms.form import entries_by_key, entries_in, opening_of, refuse
from backend.scoring.files.forms.highlights import in_lines, of_videos

FIRST = 5
"""How many clips of a video count."""
DOMAINS = ("VT", "VU", "GA", "MS", "PK", "PR", "FM", "BK", "BT", "DS")


class _Line(msgspec.Struct):
    qid: int | str
    label: list[list[float]]
    domain: str


class _Video(msgspec.Struct):
    domain: str
    anno: list[list[float]] = []
    match: list[float] = []


LabelledVideo = tuple[str, str, Floats]
"""A video's name, its domain, and its labels of shape (clips, people)."""


def read_labels(path: Path) -> list[LabelledVideo]:
    """Return each video of a truth file with its domain and its clips' labels; empty if the file has no such labels.

    Raises:
        InputError: lists every video whose clips do not all have the same number of labels, at least one.
    """
    content, file = unpacked_bytes(path), str(path)
    opening = opening_of(content)
    videos: list[tuple[int, str, str, Sequence[Sequence[float]]]] = []
    if in_lines(opening):
        lines = entries_in(_Line, content, file)
        videos = [(row, nfc(str(line.qid)), line.domain, line.label) for row, line in lines]
    elif of_videos(opening):
        entries = entries_by_key(_Video, content, file)
        videos = [
            (row, nfc(name), entry.domain, entry.anno or [[label] for label in entry.match])
            for row, name, entry in entries
        ]
    refuse(
        [
            Problem(file, row, said("its labels do not come from the same people for each clip"))
            for row, _, _, labels in videos
            if len(set(map(len, labels))) != 1 or not labels[0]
        ]
    )
    return [(name, domain, np.array(labels)) for _, name, domain, labels in videos]


def above_median(labels: Floats) -> Flags:
    """Return whether each label is above the median of its column; shape (clips, people).

    The median of an even number of labels is the lower of the middle two.

    >>> above_median(np.array([[1.0], [2.0], [3.0], [2.0]])).ravel().tolist()
    [False, False, True, False]
    """
    median = np.sort(labels, axis=0)[(len(labels) - 1) // 2]
    return np.asarray(labels > median)


def clip_precisions(marked: Flags, scores: Floats, first: int | None = None) -> Floats:
    """Return the average precision of clips ranked by falling score, for each column of `marked`.

    Args:
        marked: whether each clip is a highlight, shape (clips, columns): a column for each person.
        scores: the score of each clip. Clips beyond its end do not count.
        first: how many of the best clips count; None means all.
    """
    order = np.argsort(-scores[: len(marked)], kind="stable")[:first]
    hits = np.cumsum(marked[order], axis=0)
    total = hits[-1]
    recall = np.divide(hits, total, out=np.zeros(hits.shape), where=total > 0)
    precision = hits / np.arange(1, len(hits) + 1)[:, None]
    before = np.concatenate([np.ones((1, marked.shape[1])), precision[:-1]])
    gained = np.diff(recall, axis=0, prepend=0)
    return np.asarray((gained * (before + precision) / 2).sum(axis=0))


def highlight_figures(mark: Callable[[Floats], Flags], domains: Sequence[str], first: int | None, about: str) -> Beside:
    """Return the figures of highlight detection: the mAP of each domain, and the mean of the domains.

    Args:
        mark: returns which clips are highlights, given the labels, both of shape (clips, people).
        domains: the names of the domains.
        first: how many clips of a video count; None means all.
        about: a few words that describe the average precision in tables.
    """

    def score(truth: Path, run: Path, missing: str) -> dict[str, float]:
        predicted, labelled = read_predicted_saliency(run), read_labels(truth)
        if not labelled:
            raise InputError.single(truth, said("has no labels of clips"))
        if not predicted:
            return {}
        values: dict[str, list[float]] = {domain: [] for domain in domains}
        for name, domain, labels in labelled:
            if domain not in values:
                known = ", ".join(domains)
                message = said(
                    "video {name} is of the domain {domain!r}, not one of {known}",
                    name=name,
                    domain=domain,
                    known=known,
                )
                raise InputError.single(truth, message)
            scores = predicted.get(name, np.zeros(0))
            if len(scores):
                values[domain].append(float(clip_precisions(mark(labels), scores, first).mean()))
            elif missing not in ("skip", "published"):
                values[domain].append(0.0)
        means = {f"mAP ({domain})": float(np.mean(of_domain)) for domain, of_domain in values.items() if of_domain}
        return means | ({"mAP": float(np.mean(list(means.values())))} if means else {})

    of_domains = (PublishedFigure(f"mAP ({domain})", about=f"{about}, videos of {domain}") for domain in domains)
    return Beside((*of_domains, PublishedFigure("mAP", about="mean of the domains")), score)


BENCHMARK = Benchmark(
    "tvsum",
    "TVSum",
    "the highlights of a video, by domain",
    "datasets/tvsum.py (TencentARC/UMT, bde05e3)",
    (Part(()),),
    {"missing": "error"},
    digits=5,
    percent=False,
    notes=(
        f"The first {FIRST} clips by score count, and a person's highlights are the clips above their median.",
        "The published code scores one domain at a time; papers give the mean of the domains.",
    ),
    beside=highlight_figures(above_median, DOMAINS, FIRST, f"highlight AP of {FIRST} clips"),
)
