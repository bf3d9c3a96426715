"""Select the videos of a query's pool, and calibrate the thresholds of an encoder. Pure.

These are the rules of the paper (massive-video moment retrieval, section 4). s_te(q, v) is the largest similarity of
query q and a sentence of video v; s_tv(q, v) is the EMScore of q and v. A video is positive if s_te >= t_pos and s_tv
is at least its bound. It is negative if s_te <= t_neg and s_tv is at most its bound. At most k videos of a pool are
positive, and the query's own video is one of these; negatives fill the pool up to n. In a positive video, the sentence
most similar to the query gives the moment. Random draws depend on a seed and on names alone, so the order of a corpus
changes no draw. The published code departs from the paper; the option `as_published` follows that code (see
`DEPARTURES`).

Thresholds come from pairs that people, or a published pool, label alike or different. Youden's J of a threshold t tells
how well it separates them (Youden, "Index for rating diagnostic tests", Cancer 1950). It is the share of alike pairs
with a similarity of t or more, plus the share of different pairs with less, minus 1. If alike and different pairs have
very different similarities, many thresholds have nearly the highest J. t_pos is the highest of these thresholds and
t_neg the lowest. A pair with a similarity between t_neg and t_pos is uncertain, so it becomes neither positive nor
negative.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import blake2b
from typing import Protocol

import numpy as np
import numpy.typing as npt

from backend.campaign.selection.pools.model import PoolOptions, VisualBounds
from backend.scoring.pools.model import PoolMoment

SortKeys = npt.NDArray[np.uint64]

_FIRST, _SECOND = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)
_S30, _S27, _S31 = np.uint64(30), np.uint64(27), np.uint64(31)


def number_names(names: Sequence[str], seed: int) -> SortKeys:
    """Return a number for each name, shape `(names,)`. It depends only on the name and the seed."""
    return np.array([_number(f"{seed} {name}") for name in names], dtype=np.uint64)


def sort_keys(numbers: SortKeys, purpose: str) -> SortKeys:
    """Return a sort key for each name, from its number. Sorted by these keys, the names are in a random order.

    Each purpose, such as the positives of a query, has its own order. The keys are mixed by the last steps of
    SplitMix64 (Steele, Lea, Flood 2014), so that neighbouring numbers do not stay neighbours.
    """
    mixed = numbers ^ np.uint64(_number(purpose))
    mixed = (mixed ^ (mixed >> _S30)) * _FIRST
    mixed = (mixed ^ (mixed >> _S27)) * _SECOND
    return np.asarray(mixed ^ (mixed >> _S31), dtype=np.uint64)


def _number(text: str) -> int:
    return int.from_bytes(blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest())


Numbers = npt.NDArray[np.int64]
Doubles = npt.NDArray[np.float64]

DEPARTURES = (
    "thresholds and bounds are exceeded, not reached",
    "of a positive video, the last sentence over t_pos in the order of the file gives the moment, not the best",
    "20 of the videos over t_pos are looked at, and the own one may be among them and cost another its place",
    "further occurrences of a sentence in its own video are no positives",
    "EMScore of positives has no IDF weights, although their bound has",
    "the EMScore bound of negatives is the mean of one drawn text-negative video a query, not of all of them",
    "short pools stay in the file",
)
"""The differences between the published code and its paper."""
PUBLISHED_CANDIDATES = 20
"""Number of videos over t_pos that the published code considers."""
_AT_ONCE = 128
"""Number of videos whose EMScore is computed at once, until there are enough negatives."""


class EmScorer(Protocol):
    """A function that returns the EMScores of one query with some videos, which are given by their numbers.

    EMScore tells how similar a text is to the frames of a video.
    """

    def __call__(self, videos: Numbers, *, weighted: bool) -> Doubles:
        """Return the EMScores, shape `(videos,)`. `weighted` says whether words have IDF weights."""
        ...


class Sentences:
    """The sentences of a corpus, grouped by video, in an order that does not depend on the order of a file.

    Videos are sorted by name, and the sentences of a video by time. `moments` has all sentences. `starts` and `ends`
    bound the sentences of each video in `moments`. `video` has the number of each sentence's video. `place` has each
    sentence's position among those of its video in the file, from 0.
    """

    def __init__(self, videos: Sequence[tuple[str, Sequence[PoolMoment]]], seed: int) -> None:
        """Sort the videos, which come in any order, each with at least one sentence."""
        ordered = sorted(videos, key=lambda entry: entry[0])
        self.names = tuple(name for name, _ in ordered)
        places = [sorted(range(len(moments)), key=lambda n: _by_time(moments[n])) for _, moments in ordered]
        self.moments = tuple(moments[n] for (_, moments), order in zip(ordered, places, strict=True) for n in order)
        counts = np.array([len(order) for order in places], dtype=np.int64)
        self.starts: Numbers = np.cumsum(counts) - counts
        self.ends: Numbers = np.cumsum(counts)
        self.video: Numbers = np.repeat(np.arange(len(counts)), counts)
        self.place: Numbers = np.array([n for order in places for n in order], dtype=np.int64)
        self.numbers: SortKeys = number_names(self.names, seed)

    def keys_for(self, own: int, purpose: str) -> SortKeys:
        """Return a sort key for each video. Sorted by these keys, the videos are in a random order.

        `own` is the number of the sentence that is the query. `purpose` names the draw, such as that of negatives. Each
        query and purpose has its own order.
        """
        moment = self.moments[own]
        return sort_keys(self.numbers, f"{purpose} {moment.video} {moment.start_s} {moment.end_s} {moment.sentence}")


@dataclass(frozen=True, slots=True)
class Selection:
    """The pool of a query, without its own video.

    `positives` has, for each other positive video, the number of the sentence whose moment becomes the positive moment.
    `negatives` has the numbers of the negative videos.
    """

    positives: tuple[int, ...]
    negatives: tuple[int, ...]


def select(
    own: int,
    similarities: Doubles,
    s_te: Doubles,
    sentences: Sentences,
    options: PoolOptions,
    emscore: EmScorer | None = None,
    bounds: VisualBounds | None = None,
) -> Selection:
    """Select the pool of one query. It is not full if too few videos are negative.

    Args:
        own: the number of the sentence that is the query.
        similarities: similarity of the query to each sentence, `(sentences,)`.
        s_te: highest similarity of the query to a sentence of each video, `(videos,)`.
        sentences: the sentences of the corpus.
        options: sizes and thresholds.
        emscore: computes EMScore (similarity of the query and video frames); if None, the text alone decides.
        bounds: the bounds of EMScore for positive and negative videos; needed together with `emscore`.
    """
    video = int(sentences.video[own])
    matching = s_te > options.t_pos if options.as_published else s_te >= options.t_pos
    distracting = text_negatives(s_te, video, options)
    if not options.as_published:
        matching[video] = False
    candidates = _sort_by_key(matching, sentences.keys_for(own, "matching"))
    if options.as_published:
        candidates = candidates[:PUBLISHED_CANDIDATES]
        candidates = candidates[candidates != video]
    if emscore is not None and bounds is not None and len(candidates):
        scores = emscore(candidates, weighted=not options.as_published)
        good = scores > bounds.positive if options.as_published else scores >= bounds.positive
        candidates = candidates[good]
    limit = min(options.positives, options.pool) - 1
    positives = [_matching_sentence(n, similarities, sentences, options) for n in candidates[:limit]]
    negatives = _sort_by_key(distracting, sentences.keys_for(own, "distracting"))
    room = options.pool - 1 - len(positives)
    if emscore is not None and bounds is not None:
        negatives = _visual_negatives(negatives, room, emscore, bounds, options)
    return Selection(tuple(positives), tuple(int(n) for n in negatives[:room]))


def text_negatives(s_te: Doubles, own_video: int, options: PoolOptions) -> npt.NDArray[np.bool_]:
    """Return whether each video is negative by its sentences, `(videos,)`. The query's own video never is.

    `s_te` has the highest similarity of the query to a sentence of each video.
    """
    negative: npt.NDArray[np.bool_] = s_te < options.t_neg if options.as_published else s_te <= options.t_neg
    negative[own_video] = False
    return negative


def draw_negative(own: int, s_te: Doubles, sentences: Sentences, options: PoolOptions) -> int | None:
    """Draw the number of one video that is negative by its text; None if no video is.

    With `as_published`, it is used to measure the EMScore (similarity of text and frames) that negatives must not
    exceed. `own` is the number of the sentence that is the query. `s_te` has its highest similarity to a sentence of
    each video.
    """
    negatives = _sort_by_key(
        text_negatives(s_te, int(sentences.video[own]), options), sentences.keys_for(own, "measuring")
    )
    return int(negatives[0]) if len(negatives) else None


def _sort_by_key(among: npt.NDArray[np.bool_], order: SortKeys) -> Numbers:
    chosen = np.flatnonzero(among)
    return chosen[np.argsort(order[chosen], kind="stable")]  # stable: videos are in the order of their names


def _matching_sentence(video: int, similarities: Doubles, sentences: Sentences, options: PoolOptions) -> int:
    """Return the number of the sentence whose moment becomes the positive moment of a positive video.

    It is the sentence most similar to the query, or the earliest of several equally similar ones. With `as_published`,
    it is the last sentence in the file whose similarity exceeds `t_pos`.
    """
    start, end = int(sentences.starts[video]), int(sentences.ends[video])
    if not options.as_published:
        return start + int(np.argmax(similarities[start:end]))
    above = np.flatnonzero(similarities[start:end] > options.t_pos) + start
    return int(above[np.argmax(sentences.place[above])])


def _visual_negatives(
    videos: Numbers, count: int, emscore: EmScorer, bounds: VisualBounds, options: PoolOptions
) -> Numbers:
    """Return those of `videos` that are negative by EMScore (similarity of text and frames) too, in the same order.

    The search stops once `count` or more are found.
    """
    negatives: list[Numbers] = [videos[:0]]
    for start in range(0, len(videos), _AT_ONCE):
        if sum(map(len, negatives)) >= count:
            break
        part = videos[start : start + _AT_ONCE]
        scores = emscore(part, weighted=True)
        negatives.append(part[scores < bounds.negative if options.as_published else scores <= bounds.negative])
    return np.concatenate(negatives)


def _by_time(moment: PoolMoment) -> tuple[float, float, str]:
    return moment.start_s, moment.end_s, moment.sentence


STEP = 0.01
NEARLY = 0.03
"""How far below the best J the J of `t_pos` and `t_neg` may be."""


@dataclass(frozen=True, slots=True)
class Thresholds:
    """The thresholds of an encoder, and how many labelled pairs have similarities above and below them.

    A similarity of `t_pos` or more makes a pair positive, and one of `t_neg` or less negative.

    `youden` is Youden's J of the threshold `best`: the highest J if the thresholds were calibrated. `alike` and
    `different` count the pairs. `kept_alike` is the share of alike pairs with a similarity of `t_pos` or more.
    `kept_different` is the share of different pairs with a similarity of `t_neg` or less. `alike_below` counts alike
    pairs with `t_neg` or less, and `different_above` counts different pairs with `t_pos` or more.
    """

    t_pos: float
    t_neg: float
    best: float
    youden: float
    alike: int
    different: int
    kept_alike: float
    kept_different: float
    alike_below: int
    different_above: int


def calibrate(alike: Doubles, different: Doubles) -> Thresholds:
    """Find the thresholds of an encoder, rounded to hundredths, from the similarities of alike and of different pairs.

    Args:
        alike: similarities of alike pairs, from -1 to 1; at least one.
        different: similarities of different pairs, from -1 to 1; at least one.

    >>> found = calibrate(np.array([0.9, 0.8]), np.array([0.1, 0.3]))
    >>> found.t_pos, found.t_neg, found.youden
    (0.8, 0.31, 1.0)
    """
    steps = np.round(np.arange(round(-1 / STEP), round(1 / STEP) + 1) * STEP, 2)
    # How many pairs are below each threshold.
    low_alike, low_different = (np.searchsorted(np.sort(values), steps, side="left") for values in (alike, different))
    youden = 1 - low_alike / len(alike) - (1 - low_different / len(different))
    good = np.flatnonzero(youden >= youden.max() - NEARLY)
    return evaluate_thresholds(
        float(steps[good[-1]]), float(steps[good[0]]), alike, different, float(steps[youden.argmax()])
    )


def evaluate_thresholds(
    t_pos: float, t_neg: float, alike: Doubles, different: Doubles, best: float | None = None
) -> Thresholds:
    """Count how many labelled pairs have similarities above and below two thresholds.

    `alike` and `different` are the similarities of the labelled pairs. `best` is the threshold whose Youden's J is
    computed; if it is None, `t_pos` is used.
    """
    j_threshold = t_pos if best is None else best
    return Thresholds(
        t_pos=t_pos,
        t_neg=t_neg,
        best=j_threshold,
        youden=float(np.mean(alike >= j_threshold) - np.mean(different >= j_threshold)),
        alike=len(alike),
        different=len(different),
        kept_alike=float(np.mean(alike >= t_pos)),
        kept_different=float(np.mean(different <= t_neg)),
        alike_below=int(np.sum(alike <= t_neg)),
        different_above=int(np.sum(different >= t_pos)),
    )
