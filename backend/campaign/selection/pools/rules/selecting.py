"""Pure: the pool of a query, from its similarities with all sentences and, where they are known, with the videos.

The paper (massive-video moment retrieval, section 4): s_te(q, v) is the largest similarity of query q and a sentence of
video v, s_tv(q, v) their EMScore. A video is positive where s_te >= t_pos and s_tv is at least its bound; it is
negative where s_te <= t_neg and s_tv is at most its bound. At most k videos of a pool are positive, the own one among
them; negatives fill it up to n. Of a positive video, its most similar sentence gives the moment.

The published code departs from that, and so does `as_published`: see `DEPARTURES`.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt

from backend.campaign.selection.pools.model import PoolOptions, VisualBounds
from backend.campaign.selection.pools.rules.drawing import Turns, names_drawn, turns
from backend.scoring.pools.model import PoolMoment

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

    @property
    def size(self) -> int:
        """Videos of the pool, the own one included."""
        return 1 + len(self.positives) + len(self.negatives)


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
