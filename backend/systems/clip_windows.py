"""The CLIP baseline: score windows of every video by the similarity of their frames to the query, without training.

Frames are sampled at a given rate. A window's score is the cosine of two vectors: the vector of the query's end token,
and the mean of the unit vectors of the window's frames. This is the coarse part of EMScore; see
`backend.encoders.emscore`. If windows of one video overlap too much, only the best of them is kept.
"""

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from backend.core.errors import InputError, VideoUnreadable
from backend.core.progress import Progress, steps_of
from backend.encoders.clip import Clip, of_span
from backend.encoders.search import QUERIES_AT_ONCE, Captions
from backend.encoders.sentence import FloatArray
from backend.media.frames import keep_frames, vectors_of
from backend.scoring.matching.columns import Run, offsets_of
from backend.scoring.matching.suppression import suppress
from backend.systems.model import TOP, Answers, SearchTask, Windowing, in_ms, require_searchable, require_texts, windows


def answer(
    task: SearchTask,
    clip: Clip,
    embeddings: Path,
    how: Windowing | None = None,
    *,
    top: int = TOP,
    progress: Progress | None = None,
) -> tuple[Answers, tuple[str, ...]]:
    """Return the windows of videos that are most similar to each query; scores are cosines.

    Args:
        task: queries and videos, with video files.
        clip: the CLIP model; it also decides where frames are encoded.
        embeddings: the folder that caches vectors of frames.
        how: frame rate, window lengths and suppression; None takes the defaults.
        top: how many windows a query gets.
        progress: called with (name of the step, number done, number of all).

    Returns:
        The windows of each query, best first, and the reason for each video that could not be read.

    Raises:
        InputError: no video can be read, or a query has no text; or see `require_searchable`.
        EncoderUnavailable: the model cannot be built.
    """
    require_searchable(task)
    require_texts(task)
    how = how or Windowing()
    files = [task.files[name] for name in task.videos if name in task.files]
    keep_frames(clip, files, embeddings, per_s=how.per_s, progress=steps_of(progress, "encoding frames"))
    looking = steps_of(progress, "looking at videos")
    spans: list[tuple[int, float, float]] = []
    alike: dict[bytes, list[int]] = {}  # windows that show the same frames are as similar to any query
    unseen = []
    for number, name in enumerate(task.videos):
        try:
            if name not in task.files:
                raise VideoUnreadable(f"{name}: the place of the file is not known")
            frames = vectors_of(clip, task.files[name], how.per_s, embeddings)
        except VideoUnreadable as error:
            unseen.append(str(error))
        else:
            for start_s, end_s in windows(task.durations[name], how.lengths_s):
                alike.setdefault(of_span(frames, start_s, end_s, how.per_s).tobytes(), []).append(len(spans))
                spans.append((number, start_s, end_s))
        if looking:
            looking(number + 1, len(task.videos))
    if not spans:
        raise InputError.single(task.source, f"has no video that could be read: {unseen[0]}")
    sentences = clip.sentences(task.queries.values(), progress=steps_of(progress, "encoding queries by CLIP"))
    searched = _Windows(task.videos, spans, alike, how.nms, queries=len(task.queries))
    queries = list(task.queries)
    searching = steps_of(progress, "searching")
    answers: Answers = {}
    for start in range(0, len(queries), QUERIES_AT_ONCE):
        some = queries[start : start + QUERIES_AT_ONCE]
        vectors = np.stack([sentences[task.queries[query]].vectors[-1] for query in some])
        answers |= searched.best(some, vectors, top)
        if searching:
            searching(len(answers), len(queries))
    return answers, tuple(unseen)


class _Windows:
    """The windows of all videos with their vectors, ready for searching."""

    def __init__(
        self,
        videos: Sequence[str],
        spans: Sequence[tuple[int, float, float]],
        alike: dict[bytes, list[int]],
        nms: float,
        *,
        queries: int,
    ) -> None:
        self._videos, self._seen, self._nms = tuple(videos), np.array(spans), nms
        vectors = np.stack([np.frombuffer(vector, dtype=np.float32) for vector in alike])
        self._search = Captions(vectors, list(alike.values()), queries=queries)

    def best(self, queries: Sequence[str], vectors: FloatArray, top: int) -> Answers:
        """Return the best windows of each query, without windows that overlap a better one of the same video too much.

        `vectors` are those of the queries. Only the best n windows of a query are compared with each other, and n grows
        until `top` windows are left. The result is the same as comparing all, because a worse window cannot suppress a
        better one.
        """
        answers: Answers = {}
        rest, depth = list(range(len(queries))), 4 * top
        while rest:
            left = self._left([queries[n] for n in rest], vectors[rest], depth)
            enough = {n for n in rest if len(left[queries[n]]) >= top or depth >= len(self._seen)}
            answers |= {queries[n]: left[queries[n]][:top] for n in enough}
            rest, depth = [n for n in rest if n not in enough], 2 * depth
        return {query: answers[query] for query in queries}

    def _left(self, queries: Sequence[str], vectors: FloatArray, depth: int) -> Answers:
        ranked = [list(matches) for matches in self._search.top(vectors, depth)]
        rows = np.array([match.moment_id for matches in ranked for match in matches], dtype=np.int64)
        counts = np.array([len(matches) for matches in ranked], dtype=np.int64)
        run = suppress(
            Run(
                file="windows",
                queries=tuple(queries),
                query_rows=tuple(range(1, len(queries) + 1)),
                offsets=offsets_of(counts),
                videos=self._videos,
                video=self._seen[rows, 0].astype(np.int64),
                start_s=self._seen[rows, 1],
                end_s=self._seen[rows, 2],
                row=np.arange(1, len(rows) + 1),
                number=np.concatenate([np.arange(1, count + 1) for count in counts]),
                score=np.array([match.similarity for matches in ranked for match in matches]),
            ),
            self._nms,
            arithmetic="exact",
        )
        answers: Answers = {query: [] for query in queries}
        for row, query in enumerate(run.query):
            at = (float(run.start_s[row]), float(run.end_s[row]), float(run.score[row]))
            answers[queries[query]].append(in_ms(self._videos[run.video[row]], *at))
        return answers
