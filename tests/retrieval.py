"""Truths and runs for property tests, and the IoU written a second time."""

import math
from fractions import Fraction

import numpy as np
from hypothesis import strategies as st

from backend.scoring.matching.greedy import pair_up, settle_pairs


@st.composite
def data(draw, invalid=False):
    """A truth and a run of few videos and times, so that ties, equals and exact thresholds abound."""
    time = draw(
        st.sampled_from(
            [
                st.integers(0, 12),
                st.integers(0, 24).map(lambda n: n / 2),
                st.integers(0, 1200).map(lambda n: n / 100),
                st.integers(0, 120000).map(lambda n: n / 10000 + 90000),  # beyond what one float can order
                st.floats(0, 12, allow_subnormal=False),  # any decimals at all
            ]
        )
    )
    if invalid:
        time = st.one_of(time, st.sampled_from([math.nan, math.inf, -1.5]))
        span = st.tuples(time, time)
    else:
        span = st.tuples(time, time).map(sorted).filter(lambda pair: pair[0] < pair[1])
    video = st.sampled_from(["a", "b"])
    moment = st.builds(
        lambda v, s, r: {"video": v, "start": s[0], "end": s[1], "relevance": r}, video, span, st.integers(0, 4)
    )
    row = st.builds(lambda v, s, x: [v, s[0], s[1], x], st.sampled_from(["a", "b", "c"]), span, st.integers(0, 5))
    queries = draw(st.lists(st.sampled_from("pqrs"), min_size=1, max_size=4, unique=True))
    truth = {query: draw(st.lists(moment, max_size=6)) for query in queries}
    run = {query: draw(st.lists(row, max_size=8)) for query in queries if draw(st.integers(0, 5))}
    return truth, run


def plain_iou(p, g, arithmetic):
    times = [p[1], p[2], g["start"], g["end"]]
    if not all(map(math.isfinite, times)):
        return 0
    if arithmetic == "exact":
        times = [Fraction(repr(float(time))) for time in times]
    p0, p1, g0, g1 = times
    inter = max(0, min(p1, g1) - max(p0, g0))
    union = (p1 - p0) + (g1 - g0) - inter
    return inter / union if union > 0 else 0


def taken(index, query, video, start_s, end_s, mu, *, strict=False, arithmetic="exact"):
    """Place in the index of the truth moment that each prediction takes at one mu, -1 for none."""
    pairs = pair_up(index, query, video, start_s, end_s, arithmetic=arithmetic)
    (prediction, truth), *_ = settle_pairs(pairs, [mu], strict=strict)
    found = np.full(len(query), -1, dtype=np.int64)
    found[prediction] = truth
    return found


def fraction_iou(one, other):
    """IoU of two moments in whole seconds, (query, video, start, end, ...)."""
    inter = max(0, min(one[3], other[3]) - max(one[2], other[2]))
    return Fraction(inter, one[3] - one[2] + other[3] - other[2] - inter)


def greedy(truth, predictions, mu, *, strict=False):
    """The walk of the paper: numbers of predictions, in rank order, and of the truth moments that they take.

    Of moments (query, video, start, end), those of the truth with their relevance.
    """
    free, taken = set(range(len(truth))), []
    for number, prediction in enumerate(predictions):
        near = {n: fraction_iou(prediction, truth[n]) for n in free if truth[n][:2] == prediction[:2]}
        best = min(near, key=lambda n: (-near[n], -truth[n][4], n), default=None)
        if best is not None and (near[best] > mu or (near[best] == mu and not strict)):
            free.remove(best)
            taken.append((number, best))
    return taken


def whole_moments(*more):
    """Moments in whole seconds of two queries and few videos: ties, equals and exact thresholds abound."""
    return st.tuples(st.integers(0, 1), st.integers(0, 1), st.integers(0, 5), st.integers(1, 4), *more).map(
        lambda one: (*one[:3], one[2] + one[3], *one[4:])
    )


WHOLE_TRUTH = st.lists(whole_moments(st.integers(0, 3)), max_size=24)
WHOLE_RUN = st.lists(
    whole_moments() | whole_moments().map(lambda one: (one[0], 2, *one[2:])),  # video 2 is none of the truth's
    max_size=24,
).map(lambda run: sorted(run, key=lambda one: one[0]))


def numbers(moments, place):
    """A column of moments."""
    return np.array([one[place] for one in moments], dtype=np.float64 if place in (2, 3) else np.int64)
