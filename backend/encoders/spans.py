"""One vector for a span of a video, from the vectors of its frames."""

from math import ceil, floor

import numpy as np

from backend.encoders.sentence import FloatArray


def of_span(frames: FloatArray, start_s: float, end_s: float, per_s: float) -> FloatArray:
    """The unit vector of the mean of a span's frames, float32 `(dim,)`.

    Frame i of `frames`, `(frames, dim)`, is the one visible at `(i + 0.5) / per_s` seconds. A span between two such
    instants, or after the last, has the one nearest to its middle.

    >>> two = np.eye(2, dtype=np.float32)  # visible at 0.25 s and at 0.75 s
    >>> [of_span(two, start_s, end_s, 2.0).tolist() for start_s, end_s in ((0.0, 0.5), (0.3, 0.4), (5.0, 6.0))]
    [[1.0, 0.0], [1.0, 0.0], [0.0, 1.0]]
    >>> [round(float(x), 4) for x in of_span(two, 0.0, 1.0, 2.0)]
    [0.7071, 0.7071]
    """
    first, after = ceil(start_s * per_s - 0.5), ceil(end_s * per_s - 0.5)
    shown = frames[max(0, first) : max(0, after)]
    if len(shown) == 0:
        nearest = floor((start_s + end_s) / 2 * per_s)
        shown = frames[min(nearest, len(frames) - 1)][np.newaxis]
    mean = shown.mean(axis=0, dtype=np.float64)
    unit: FloatArray = (mean / max(float(np.linalg.norm(mean)), np.finfo(np.float64).tiny)).astype(np.float32)
    return unit
