"""Rules of pools: select the videos of a query's pool, and calibrate the thresholds of an encoder.

The paper (massive-video moment retrieval, section 4): s_te(q, v) is the largest similarity of query q and a sentence of
video v, s_tv(q, v) their EMScore. A video is positive where s_te >= t_pos and s_tv is at least its bound; it is
negative where s_te <= t_neg and s_tv is at most its bound. At most k videos of a pool are positive, the own one among
them; negatives fill it up to n. Of a positive video, its most similar sentence gives the moment. Turns are drawn by a
seed and by names alone, so that the order of a corpus changes no draw. The published code departs from the paper, and
so does `as_published`: see `DEPARTURES`.

Thresholds come from pairs that people, or a published pool, call alike or different. Of a threshold t, Youden's J
(Youden, "Index for rating diagnostic tests", Cancer 1950) is the share of alike pairs with a similarity of t or more,
plus the share of different pairs with less, minus 1. Between two classes that lie apart many thresholds are nearly as
good as the best; t_pos is the highest and t_neg the lowest of those, so that what is between them, which nobody can
tell, becomes neither positive nor negative.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import blake2b
from typing import Protocol

import numpy as np
import numpy.typing as npt

from backend.campaign.selection.pools.model import PoolOptions, VisualBounds
from backend.scoring.pools.model import PoolMoment

Turns = npt.NDArray[np.uint64]

_FIRST, _SECOND = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)
_S30, _S27, _S31 = np.uint64(30), np.uint64(27), np.uint64(31)


def names_drawn(names: Sequence[str], seed: int) -> Turns:
    """A number of each name that follows from it and the seed, `(names,)`."""
    return np.array([_number(f"{seed} {name}") for name in names], dtype=np.uint64)


def turns(drawn: Turns, purpose: str) -> Turns:
    """When it is each name's turn for one purpose, such as the positives of a query: a number that sorts them.

    SplitMix64's last steps (Steele, Lea, Flood 2014), by which neighbouring numbers are no neighbours any more.
    """
    mixed = drawn ^ np.uint64(_number(purpose))
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
    "short pools stay in the file",
)
"""What the published code does otherwise than its paper says."""
PUBLISHED_CANDIDATES = 20
"""As many videos over t_pos does the published code look at."""
_AT_ONCE = 128
"""Videos whose EMScore is asked for in one go, until there are enough negatives."""


class Seen(Protocol):
    """EMScore of the query that is being served and of the videos with these numbers, `(videos,)`."""

    def __call__(self, videos: Numbers, *, weighted: bool) -> Doubles:
        """With IDF weights, or without."""
        ...


class Sentences:
    """The sentences of a corpus, those of a video together; videos by name, theirs by time: no order of a file counts.

    `moments` are all of them; `starts` says where those of each video begin, `video` of which video each is, `place`
    which one it is in its file, from 0.
    """

    def __init__(self, videos: Sequence[tuple[str, Sequence[PoolMoment]]], seed: int) -> None:
        """Take the videos, each with a sentence at least, in any order."""
        ordered = sorted(videos, key=lambda entry: entry[0])
        self.names = tuple(name for name, _ in ordered)
        places = [sorted(range(len(moments)), key=lambda n: _by_time(moments[n])) for _, moments in ordered]
        self.moments = tuple(moments[n] for (_, moments), order in zip(ordered, places, strict=True) for n in order)
        counts = np.array([len(order) for order in places], dtype=np.int64)
        self.starts: Numbers = np.cumsum(counts) - counts
        self.ends: Numbers = np.cumsum(counts)
        self.video: Numbers = np.repeat(np.arange(len(counts)), counts)
        self.place: Numbers = np.array([n for order in places for n in order], dtype=np.int64)
        self.drawn: Turns = names_drawn(self.names, seed)

    def drawn_for(self, own: int, purpose: str) -> Turns:
        """The turns of all videos for one purpose of the query that is sentence `own`."""
        moment = self.moments[own]
        return turns(self.drawn, f"{purpose} {moment.video} {moment.start_s} {moment.end_s} {moment.sentence}")


@dataclass(frozen=True, slots=True)
class Selection:
    """The pool of a query as numbers: `positives` are sentences of other videos, one each, `negatives` videos."""

    positives: tuple[int, ...]
    negatives: tuple[int, ...]


def select(
    own: int,
    similarities: Doubles,
    s_te: Doubles,
    sentences: Sentences,
    options: PoolOptions,
    seen: Seen | None = None,
    bounds: VisualBounds | None = None,
) -> Selection:
    """The pool of one query; shorter than asked for where no more videos are negative.

    Args:
        own: the number of the query's sentence.
        similarities: with each sentence, `(sentences,)`.
        s_te: with each video, `(videos,)`.
        sentences: of the corpus.
        options: sizes and thresholds.
        seen: EMScore, if videos were looked at.
        bounds: of EMScore, then.
    """
    video = int(sentences.video[own])
    matching = s_te > options.t_pos if options.as_published else s_te >= options.t_pos
    distracting = text_negatives(s_te, video, options)
    if not options.as_published:
        matching[video] = False
    candidates = _in_turn(matching, sentences.drawn_for(own, "matching"))
    if options.as_published:
        candidates = candidates[:PUBLISHED_CANDIDATES]
        candidates = candidates[candidates != video]
    if seen is not None and bounds is not None and len(candidates):
        scores = seen(candidates, weighted=not options.as_published)
        good = scores > bounds.positive if options.as_published else scores >= bounds.positive
        candidates = candidates[good]
    most = min(options.positives, options.pool) - 1
    positives = [_moment_of(n, similarities, sentences, options) for n in candidates[:most]]
    others = _in_turn(distracting, sentences.drawn_for(own, "distracting"))
    wanted = options.pool - 1 - len(positives)
    if seen is not None and bounds is not None:
        others = _unlike(others, wanted, seen, bounds, options)
    return Selection(tuple(positives), tuple(int(n) for n in others[:wanted]))


def text_negatives(s_te: Doubles, own_video: int, options: PoolOptions) -> npt.NDArray[np.bool_]:
    """Which videos are negative by their sentences; the own one never is."""
    found: npt.NDArray[np.bool_] = s_te < options.t_neg if options.as_published else s_te <= options.t_neg
    found[own_video] = False
    return found


def drawn_negative(own: int, s_te: Doubles, sentences: Sentences, options: PoolOptions) -> int | None:
    """The one of the videos that are negative by their text by which EMScore's bound is measured; None without any."""
    found = _in_turn(text_negatives(s_te, int(sentences.video[own]), options), sentences.drawn_for(own, "measuring"))
    return int(found[0]) if len(found) else None


def _in_turn(among: npt.NDArray[np.bool_], order: Turns) -> Numbers:
    chosen = np.flatnonzero(among)
    return chosen[np.argsort(order[chosen], kind="stable")]  # stable: videos are in the order of their names


def _moment_of(video: int, similarities: Doubles, sentences: Sentences, options: PoolOptions) -> int:
    """The sentence of a positive video that gives the moment: the best, of equals the earliest; or as published."""
    start, end = int(sentences.starts[video]), int(sentences.ends[video])
    if not options.as_published:
        return start + int(np.argmax(similarities[start:end]))
    above = np.flatnonzero(similarities[start:end] > options.t_pos) + start
    return int(above[np.argmax(sentences.place[above])])


def _unlike(others: Numbers, wanted: int, seen: Seen, bounds: VisualBounds, options: PoolOptions) -> Numbers:
    """The first `wanted` of them, or more, that look unlike the query too."""
    found: list[Numbers] = [others[:0]]
    for start in range(0, len(others), _AT_ONCE):
        if sum(map(len, found)) >= wanted:
            break
        part = others[start : start + _AT_ONCE]
        scores = seen(part, weighted=True)
        found.append(part[scores < bounds.negative if options.as_published else scores <= bounds.negative])
    return np.concatenate(found)


def _by_time(moment: PoolMoment) -> tuple[float, float, str]:
    return moment.start_s, moment.end_s, moment.sentence


STEP = 0.01
NEARLY = 0.03
"""How much less than the best J a threshold may have."""


@dataclass(frozen=True, slots=True)
class Thresholds:
    """What was found: `t_pos` and `t_neg`, the best J and where it is, and how the labelled pairs then lie.

    `kept_alike` is the share of alike pairs at `t_pos` or more, `kept_different` that of different pairs at `t_neg` or
    less; `alike_below` counts alike pairs at `t_neg` or less, `different_above` different ones at `t_pos` or more.
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
    """Thresholds in hundredths, from similarities of pairs that are alike and of pairs that are not.

    Args:
        alike: similarities from -1 to 1; at least one.
        different: the same.

    >>> found = calibrate(np.array([0.9, 0.8]), np.array([0.1, 0.3]))
    >>> found.t_pos, found.t_neg, found.youden
    (0.8, 0.31, 1.0)
    """
    steps = np.round(np.arange(round(-1 / STEP), round(1 / STEP) + 1) * STEP, 2)
    # How many pairs are below each threshold.
    low_alike, low_different = (np.searchsorted(np.sort(some), steps, side="left") for some in (alike, different))
    youden = 1 - low_alike / len(alike) - (1 - low_different / len(different))
    good = np.flatnonzero(youden >= youden.max() - NEARLY)
    return judged(float(steps[good[-1]]), float(steps[good[0]]), alike, different, float(steps[youden.argmax()]))


def judged(t_pos: float, t_neg: float, alike: Doubles, different: Doubles, best: float | None = None) -> Thresholds:
    """How labelled pairs lie between two thresholds; `best` is that of the largest J, `t_pos` unless told."""
    at = t_pos if best is None else best
    return Thresholds(
        t_pos=t_pos,
        t_neg=t_neg,
        best=at,
        youden=float(np.mean(alike >= at) - np.mean(different >= at)),
        alike=len(alike),
        different=len(different),
        kept_alike=float(np.mean(alike >= t_pos)),
        kept_different=float(np.mean(different <= t_neg)),
        alike_below=int(np.sum(alike <= t_neg)),
        different_above=int(np.sum(different >= t_pos)),
    )
