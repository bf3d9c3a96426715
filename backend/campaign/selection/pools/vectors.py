"""Vectors of all sentences of a file of pools, and how similar its queries and videos are by them.

*Reads* and *writes* cached embeddings.
"""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt

from backend.campaign.selection.pools.similarity import query_video
from backend.core.progress import Progress, named
from backend.encoders.cache import encode_cached
from backend.encoders.sentence import Encoder, FloatArray
from backend.scoring.pools.model import PoolQuery, Pools

_AT_ONCE = 256
"""Queries whose similarities with all sentences are held at once."""


class PoolVectors:
    """Each text is encoded once, and only where its vector is not cached."""

    def __init__(self, pools: Pools, encoder: Encoder, embeddings: Path, progress: Progress | None) -> None:
        self._said = {video: moments for video, moments in pools.moments.items() if moments}
        texts = [moment.sentence for moments in self._said.values() for moment in moments]
        unique = list(dict.fromkeys(texts))
        self._vectors = encode_cached(encoder, unique, embeddings, progress=named(progress, "encoding sentences"))
        self._row = {text: row for row, text in enumerate(unique)}
        self._number = {video: number for number, video in enumerate(self._said)}
        counts = np.array([len(moments) for moments in self._said.values()])
        self._starts = np.cumsum(counts) - counts
        self._sentences = self.of(texts)

    def of(self, texts: Sequence[str]) -> FloatArray:
        """Unit vectors of texts of the file."""
        return self._vectors[[self._row[text] for text in texts]]

    def scores(self, queries: Sequence[PoolQuery], videos: Sequence[Sequence[str]]) -> list[npt.NDArray[np.float64]]:
        """s_te of each query with those videos that are named for it; NaN for a video of which nothing is said."""
        found = []
        for start in range(0, len(queries), _AT_ONCE):
            part = queries[start : start + _AT_ONCE]
            table = query_video(self.of([query.text for query in part]), self._sentences, self._starts)
            for row, wanted in zip(table, videos[start : start + _AT_ONCE], strict=True):
                numbers = np.array([self._number.get(video, -1) for video in wanted], dtype=int)
                found.append(np.where(numbers < 0, np.nan, row[numbers]).astype(np.float64))
        return found

    def nearest(self, query: PoolQuery, video: str) -> str:
        """The sentence of a video that is most similar to the query."""
        said = [moment.sentence for moment in self._said.get(video, ())]
        return said[int(np.argmax(self.of(said) @ self.of([query.text])[0]))] if said else ""
