"""Prepare training data: read training pairs and features into arrays, and check them.

Every problem is reported with its file, row and video. *Reads* features of frames. *Writes* nothing. The caller reads
the release.
"""

import hashlib
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from backend.core.errors import InputError, Problem
from backend.core.progress import Steps
from backend.systems.feature_files import Features

Floats = npt.NDArray[np.float32]
Indices = npt.NDArray[np.int64]
Seconds = npt.NDArray[np.float64]
QueryKey = int | str

SPARE_S, SPARE_SHARE = 2.0, 0.05
"""By how much features may be longer or shorter than their video: seconds, and share of the video, both together."""


@dataclass(frozen=True, slots=True)
class TrainingPair:
    """A training query with one moment that matches it.

    Attributes:
        row: the number of the query's entry in the file, from 1.
        query: the index of the query in the set's texts, from 0.
        video: the name of the moment's video.
        start_s: the start of the moment in seconds.
        end_s: its end in seconds.
        similarity: the similarity of the query and the moment's caption; None if the file does not give it.
    """

    row: int
    query: int
    video: str
    start_s: float
    end_s: float
    similarity: float | None


@dataclass(frozen=True, slots=True)
class TrainingSet:
    """A pseudo training set: queries with the moments whose captions are most similar, not graded by annotators.

    Attributes:
        file: its file, for messages.
        texts: the text of each query.
        pairs: the pairs of a query and a moment.
        ids: the id of each query.
    """

    file: str
    texts: tuple[str, ...]
    pairs: Sequence[TrainingPair]
    ids: tuple[QueryKey, ...] = ()


@dataclass(frozen=True, slots=True)
class AskedQueries:
    """The validation or test queries of a release: their ids and texts, in the order of the file."""

    file: str
    ids: tuple[QueryKey, ...]
    texts: tuple[str, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Clips:
    """The clips of all videos, one video after the other: short pieces of a video, each with one vector.

    Video v has the vectors `rows[starts[v]:starts[v + 1]]`, float32 `(clips, dim)`. They have the length 1, or 0 where
    all features are 0. Clip c of a video shows the seconds `[c * clip_s[v], (c + 1) * clip_s[v])`; the last clip ends
    with the video.

    Attributes:
        videos: the names of the videos.
        durations_s: their durations in seconds.
        rows: the vectors of all clips. With subtitles, a row has the numbers of frames and then those of subtitles,
            each part of length 1.
        starts: the row of the first clip of each video, and the number of all rows.
        clip_s: the length of the clips of each video in seconds, the same for all videos or in proportion to them.
        subtitle_dim: how many of the numbers in a row belong to subtitles, the last ones.
    """

    videos: tuple[str, ...]
    durations_s: Seconds
    rows: Floats
    starts: Indices
    clip_s: Seconds
    subtitle_dim: int = 0

    @property
    def counts(self) -> Indices:
        """The number of clips of each video."""
        return np.diff(self.starts)


@dataclass(frozen=True, slots=True, eq=False)
class TrainingPairs:
    """The (query, moment) pairs of a training set as arrays, with one value for each pair except in `positives`.

    Attributes:
        query: the index of the query.
        video: the index of the moment's video.
        first: the number of the first clip of the moment, within its video, from 0.
        last: the number of its last clip.
        span: its start and end in clips, float32 `(pairs, 2)`: 2.5 is the middle of clip 2.
        weight: the weight of the pair in the loss, 0..1: its similarity (below 0 it counts as 0), or 1.
        positives: for each query, the sorted indices of all videos that contain a moment of the query.
    """

    query: Indices
    video: Indices
    first: Indices
    last: Indices
    span: Floats
    weight: Floats
    positives: tuple[Indices, ...]

    def __len__(self) -> int:
        """Return the number of pairs."""
        return len(self.query)


@dataclass(frozen=True, slots=True, eq=False)
class EncodedTexts:
    """Texts as a sentence encoder gives them: one vector for each text, and one for each of its tokens.

    Attributes:
        vectors: float32 `(texts, dim)`.
        tokens: the token vectors of all texts, one text after the other, float32 `(tokens, dim)`; empty for systems
            that do not read them.
        starts: the row of the first token of each text, and the number of all tokens, `(texts + 1,)`.
    """

    vectors: Floats
    tokens: Floats
    starts: Indices

    @classmethod
    def without_tokens(cls, vectors: Floats) -> "EncodedTexts":
        """Return texts of which only the sentence vectors are known."""
        tokens = np.zeros((0, vectors.shape[1]), dtype=np.float32)
        return cls(vectors, tokens, np.zeros(len(vectors) + 1, dtype=np.int64))


def require_queries(queries: AskedQueries) -> None:
    """Raise an error if there are no queries, or a query has an empty text.

    Raises:
        InputError: names the file and each such query.
    """
    if not queries.ids:
        raise InputError.single(queries.file, "has no query to ask")
    if problems := [
        Problem(queries.file, row, f"query {query}: the text is empty")
        for row, (query, text) in enumerate(zip(queries.ids, queries.texts, strict=True), start=1)
        if not text.strip()
    ]:
        raise InputError(problems)


def read_clips(
    features: Features,
    file: str,
    videos: Mapping[str, float],
    clip_s: float | None = None,
    *,
    clips: int | None = None,
    dim: int | None = None,
    progress: Steps | None = None,
) -> Clips:
    """Return the clips of all videos (pieces of equal length), each with the mean of its rows of features.

    The means are scaled to length 1. Row i of a video's features belongs to the time (i + 0.5) / rate seconds. A clip
    without a row has that of the time at its middle, or after the last row the vector of the clip before it.

    Args:
        features: the features of all these videos.
        file: the name of the features' file, for messages.
        videos: the duration of each video in seconds, by name.
        clip_s: the length of a clip in seconds; None if `clips` is given.
        clips: the number of clips of each video; None if `clip_s` is given.
        dim: the length that rows must have; None accepts any.
        progress: called with (videos done, all videos).

    Raises:
        InputError: features are much shorter or longer than their video, or not finite numbers; names all such videos.
            Or `clip_s` is shorter than the time between two rows.
    """
    if not videos:
        raise InputError.single(file, "there is no video to search in: the release's video_corpus.json is empty")
    if dim is not None and features.dim != dim:
        raise InputError.single(file, f"features have {features.dim} numbers, but the model was made for {dim}")
    if clip_s is not None and features.rate * clip_s < 1:
        fault = f"{features.rate:g} rows a second leave clips of {clip_s:g} s (`model.clip_s`) empty"
        raise InputError.single(file, f"{fault}: make clips of at least {1 / features.rate:g} s")
    durations = np.array(list(videos.values()), dtype=np.float64)
    if clip_s is not None:
        lengths = np.full(len(videos), float(clip_s))
        counts = [max(1, math.ceil(seconds / clip_s - 1e-6)) for seconds in videos.values()]
    elif clips is not None:
        lengths, counts = durations / clips, [clips] * len(videos)
    else:
        raise ValueError("either clip_s or clips")
    starts = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
    rows = np.zeros((int(starts[-1]), features.dim), dtype=np.float32)
    problems: list[Problem] = []
    for number, (video, seconds) in enumerate(videos.items()):
        try:
            feature_rows = features.of(video)
            _require_length(file, video, len(feature_rows), features.rate, seconds)
            averaged = _averaged(feature_rows, features.rate, float(lengths[number]), counts[number])
            rows[starts[number] : starts[number + 1]] = averaged
        except InputError as error:
            problems += error.problems
        if progress:
            progress(number + 1, len(videos))
    if problems:
        raise InputError(problems)
    return Clips(tuple(videos), durations, rows, starts, lengths)


def with_subtitles(clips: Clips, subtitles: Clips) -> Clips:
    """Return the clips of the same videos with the numbers of their subtitles after those of their frames."""
    return replace(
        clips, rows=np.concatenate([clips.rows, subtitles.rows], axis=1), subtitle_dim=subtitles.rows.shape[1]
    )


def _require_length(file: str, video: str, rows: int, rate: float, seconds: float) -> None:
    covered = rows / rate
    if abs(covered - seconds) > SPARE_S + SPARE_SHARE * seconds:
        fault = f"video {video}: {rows} rows at {rate:g} a second are {covered:.1f} s, but it lasts {seconds:.1f} s"
        raise InputError.single(file, f"{fault}: the rate is wrong, or the features belong to another video")


def _averaged(rows: Floats, rate: float, clip_s: float, count: int) -> Floats:
    clip = np.minimum(((np.arange(len(rows)) + 0.5) / rate / clip_s).astype(np.int64), count - 1)
    sums = np.zeros((count, rows.shape[1]))
    np.add.at(sums, clip, rows.astype(np.float64))
    filled = np.bincount(clip, minlength=count) > 0
    nearest = np.maximum.accumulate(np.where(filled, np.arange(count), 0))
    means = sums[nearest]  # a mean is as long as its sum, once both are of unit length
    middle = ((np.arange(count) + 0.5) * clip_s * rate).astype(np.int64)
    between = ~filled & (middle < len(rows))
    means[between] = rows[middle[between]]
    length = np.linalg.norm(means, axis=1, keepdims=True)
    unit: Floats = np.divide(means, length, out=np.zeros_like(means), where=length > 0).astype(np.float32)
    return unit


def read_pairs(training: TrainingSet, clips: Clips, *, weighted: bool | None) -> TrainingPairs:
    """Return the (query, moment) pairs of a training set as arrays.

    A moment becomes a range of clips, the short pieces into which videos are divided.

    Args:
        training: the training set.
        clips: the clips of all its videos.
        weighted: whether the weight of a pair is its similarity, cut to 0..1; otherwise every weight is 1. None takes
            1 only where there is no similarity.

    Raises:
        InputError: the set is empty, or a moment is outside its video, in an unknown video, or lacks a similarity
            although `weighted`.
    """
    if not training.pairs:
        raise InputError.single(training.file, "has no query with a moment to learn from")
    number = {video: n for n, video in enumerate(clips.videos)}
    if problems := list(_faults(training, clips, number, weighted)):
        raise InputError(problems)
    video = np.array([number[pair.video] for pair in training.pairs], dtype=np.int64)
    query = np.array([pair.query for pair in training.pairs], dtype=np.int64)
    most = clips.counts[video] - 1
    clip_s, seconds = clips.clip_s[video], clips.durations_s[video]
    starts = np.array([pair.start_s for pair in training.pairs])
    ends = np.array([pair.end_s for pair in training.pairs])
    first = np.minimum(np.floor(starts / clip_s + 1e-6).astype(np.int64), most)
    last = np.clip(np.ceil(ends / clip_s - 1e-6).astype(np.int64) - 1, first, most)
    span = np.stack([starts, np.minimum(ends, seconds)], axis=1) / clip_s[:, None]
    similarities = [1.0 if pair.similarity is None else pair.similarity for pair in training.pairs]
    weight = [1.0 if weighted is False else min(1.0, max(0.0, similarity)) for similarity in similarities]
    videos_of: list[set[int]] = [set() for _ in training.texts]
    for query_number, other in zip(query.tolist(), video.tolist(), strict=True):
        videos_of[query_number].add(other)
    positives = tuple(np.array(sorted(numbers), dtype=np.int64) for numbers in videos_of)
    weights = np.array(weight, dtype=np.float32)
    return TrainingPairs(query, video, first, last, span.astype(np.float32), weights, positives)


def _faults(training: TrainingSet, clips: Clips, number: Mapping[str, int], weighted: bool | None) -> Iterator[Problem]:
    for pair in training.pairs:
        if pair.video not in number:
            yield Problem(training.file, pair.row, f"video {pair.video!r} is not in video_corpus.json")
            continue
        seconds = float(clips.durations_s[number[pair.video]])
        if not 0 <= pair.start_s < pair.end_s or pair.start_s >= seconds:
            fault = (
                f"[{pair.start_s:g}, {pair.end_s:g}] is not a moment of video {pair.video!r}, which lasts {seconds:g} s"
            )
            yield Problem(training.file, pair.row, fault)
        elif weighted is not False and not _is_weight(pair.similarity, needed=weighted is True):
            fault = f"a moment in video {pair.video!r} has no similarity as its weight: set `loss.weighted` to false"
            yield Problem(training.file, pair.row, fault)


def _is_weight(similarity: float | None, *, needed: bool) -> bool:
    return not needed if similarity is None else math.isfinite(similarity)


def fingerprint(*parts: npt.NDArray[np.generic] | str) -> str:
    """Return a hash of arrays and texts, which is equal only for equal contents, types and shapes."""
    digest = hashlib.sha256()
    for part in parts:
        if isinstance(part, str):
            digest.update(f"{len(part)} {part}".encode())
        else:
            digest.update(f"{part.dtype} {part.shape}".encode())
            digest.update(np.ascontiguousarray(part).data)
    return digest.hexdigest()
