"""Write how likely each video is drawn as a training negative for each sentence of a corpus, and vice versa.

The probabilities are in the docstring of the module `similarity`: by texts, or by the scores of a run. *Reads* one
annotation file, cached embeddings, perhaps a run. *Writes* a new folder: two Parquet files that a training loop reads
(`backend/training.py`), and a manifest. The rows are written block by block, because each of the two tables takes
265 MB for Charades-STA (12,404 sentences, 5,336 videos).
"""

import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import msgspec
import numpy as np
import numpy.typing as npt
import pyarrow as pa
from pyarrow import parquet

from backend.campaign.corpus.importing import formats
from backend.campaign.corpus.importing.model import CaptionedMoment, ImportOptions, Parsed
from backend.campaign.selection.pools import run_scores
from backend.campaign.selection.pools.similarity import (
    LEAST_TEMPERATURE,
    Distributions,
    Draw,
    by_scores,
    by_texts,
    query_video,
    video_starts,
)
from backend.core.atomic_output import new_folder, require_new_folder
from backend.core.errors import InputError, ProjectError
from backend.core.messages import as_text
from backend.core.progress import Progress, steps_of
from backend.core.reading import file_bytes
from backend.core.where import HERE, Where, placed
from backend.encoders import cache
from backend.encoders.cache import encode_cached
from backend.encoders.sentence import Encoder, FloatArray, load_named

VIDEOS_GIVEN_QUERY, QUERIES_GIVEN_VIDEO = "videos_given_query.parquet", "queries_given_video.parquet"
MANIFEST = "manifest.json"
PROBABILITY = "probability"

Columns = Mapping[str, Sequence[str]]
_CELLS_AT_ONCE = 1 << 22
"""The most cells of a block, queries times sentences or videos times queries. They take 16 MB in float32, and the
computation several times that."""


@dataclass(frozen=True, slots=True)
class NegativesReport:
    """A report on written files that say how likely each video is drawn as a training negative of each sentence.

    It is stored beside them as `manifest.json`. A sentence is called a query here.

    Attributes:
        corpus: name of the annotation file.
        corpus_sha256: SHA-256 of its bytes.
        format: format of the annotation file.
        encoder: identity of the sentence encoder.
        threshold: the similarity from which a video is no negative of a query: t_tr in `similarity`.
        temperature: the temperature of probabilities by texts; None for those by scores.
        run: the name of the run whose scores give the probabilities; None for those by texts. `run_sha256` is the
            SHA-256 of its bytes, and `run_share` the share of pairs of a query and a video that it has a score for.
        queries: number of queries; `sentences` is the number of distinct texts among them.
        videos: number of videos.
        queries_without: number of queries without a potential negative; `videos_without` counts such videos.
        potential_videos: mean number of potential negatives of a query; `potential_queries` is the same for a video.
        effective_videos: mean effective number of negatives of a query, over the queries that have any: how many
            equally likely negatives have the same entropy. `effective_queries` is the same for a video.
        left_out: remarks on the sentences of the file that do not become queries, with the reason.
    """

    corpus: str
    corpus_sha256: str
    format: str
    encoder: str
    threshold: float
    temperature: float | None
    run: str | None
    run_sha256: str | None
    run_share: float | None
    queries: int
    sentences: int
    videos: int
    queries_without: int
    videos_without: int
    potential_videos: float
    potential_queries: float
    effective_videos: float
    effective_queries: float
    left_out: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Queries:
    """The sentences of a corpus as queries, grouped by video.

    `ids` and `texts` have one entry for each query. `own` has the index of each query's video in `videos`.
    """

    ids: list[str]
    texts: list[str]
    videos: list[str]
    own: npt.NDArray[np.int64]


def write_negatives(
    file: Path,
    out: Path,
    *,
    threshold: float = 0.9,
    temperature: float = 0.1,
    from_run: Path | None = None,
    encoder: str | Encoder | None = None,
    kind: str | None = None,
    embeddings: Path | None = None,
    format: str | None = None,  # noqa: A002 - the word of the public contract
    types: frozenset[str] | None = None,
    columns: Mapping[str, str] | None = None,
    where: Where = HERE,
    progress: Progress | None = None,
) -> NegativesReport:
    """Write into a new folder how likely each video is drawn as a negative of each sentence, and vice versa.

    Args:
        file: an annotation file; each of its sentences is a query.
        out: the folder to make.
        threshold: a query and a video with this similarity or more are no negatives of each other (t_tr).
        temperature: the smaller it is, the more often similar negatives are drawn; for probabilities by texts.
        from_run: a run of a trained system on the sentences, whose query ids are `VIDEO#N`: probabilities are those by
            its scores (equation 3). Its scores take 4 bytes for each query and video in memory.
        encoder: an encoder or its name, as in a project's settings; None is SimCSE from the model hub.
        kind: kind of the encoder that `encoder` names.
        embeddings: the folder in which vectors are cached; None is the user's cache folder.
        format: format of the file; None detects it from the content.
        types: of a TVR file, the types of query to keep; None for those that the TVR-Ranking paper keeps.
        columns: maps ReelRank's field names to the file's columns or fields: `{"start": "begin"}`.
        where: where sentences are encoded.
        progress: called with (name of the step, number done, number of all).

    Raises:
        InputError: the file has problems, or has fewer than two videos; or the run lacks a query.
        ProjectError: the folder is not new, or the threshold or temperature is out of range.
        EncoderUnavailable: the encoder cannot be found or built.
    """
    require_new_folder(out)  # quick checks come before the encoder is loaded
    if not 0 < threshold <= 1:
        raise ProjectError(f"the threshold is {threshold:g}: write a similarity above 0 and at most 1")
    if not LEAST_TEMPERATURE <= temperature < np.inf:
        raise ProjectError(f"the temperature is {temperature:g}: write at least {LEAST_TEMPERATURE}")
    data = file_bytes(file)
    parsed = formats.parse(format, data, file.name, ImportOptions(types, columns or {}))
    queries = _queries(parsed.moments)
    if len(queries.videos) < 2:
        raise InputError.single(file, "has fewer than two videos with sentences, so there are no negatives")
    scores = None if from_run is None else run_scores.read(from_run, queries.ids, queries.videos)
    draw = by_texts(threshold, temperature) if scores is None else by_scores(threshold, scores.best)
    encoder = placed(load_named(encoder, kind), where)
    embeddings = embeddings or cache.shared_folder()
    with new_folder(out) as part:
        texts = sorted(set(queries.texts))
        row = {text: n for n, text in enumerate(texts)}
        vectors = encode_cached(encoder, texts, embeddings, progress=steps_of(progress, "encoding sentences"))
        sentences = vectors[[row[text] for text in queries.texts]]
        by_query = _write_videos_given_query(part, queries, sentences, draw, progress)
        by_video = _write_queries_given_video(part, queries, sentences, draw, progress)
        report = NegativesReport(
            corpus=file.name,
            corpus_sha256=hashlib.sha256(data).hexdigest(),
            format=parsed.format,
            encoder=encoder.identity,
            threshold=threshold,
            temperature=None if scores else temperature,
            run=from_run.name if from_run else None,
            run_sha256=scores.sha256 if scores else None,
            run_share=scores.share if scores else None,
            queries=len(queries.ids),
            sentences=len(texts),
            videos=len(queries.videos),
            queries_without=by_query.without,
            videos_without=by_video.without,
            potential_videos=by_query.potential,
            potential_queries=by_video.potential,
            effective_videos=by_query.effective,
            effective_queries=by_video.effective,
            left_out=_left_out(parsed),
        )
        (part / MANIFEST).write_bytes(
            msgspec.json.format(msgspec.json.encode(report, enc_hook=as_text), indent=1) + b"\n"
        )
    return report


def _left_out(parsed: Parsed) -> tuple[str, ...]:
    """Return remarks on the sentences of the file that do not become queries, with the reason."""
    left_out = [f"{left.count:,} left out: {left.why}" for left in parsed.left_out]
    if parsed.merged:
        left_out.append(f"{parsed.merged:,} left out: it repeats an earlier one's video, span and caption")
    return tuple(left_out)


def _queries(moments: Sequence[CaptionedMoment]) -> _Queries:
    """Return every sentence as a query with the id `VIDEO#N`.

    N is the position of the sentence among those of its video in the file, from 0.
    """
    entries = {(moment.row, moment.sentence): moment for moment in moments}  # a sentence may have several moments
    of_video: dict[str, list[CaptionedMoment]] = {}
    for moment in entries.values():
        of_video.setdefault(moment.video, []).append(moment)
    queries = _Queries(
        [], [], list(of_video), np.repeat(np.arange(len(of_video)), [len(own) for own in of_video.values()])
    )
    for video, own in of_video.items():
        for number, moment in enumerate(own):
            # The numbers in a file also count sentences that were left out.
            queries.ids.append(f"{video}#{number if moment.sentence is None else moment.sentence - 1}")
            queries.texts.append(moment.caption.strip())
    return queries


@dataclass(slots=True)
class _Tally:
    """Statistics over the rows of a file of probabilities, added up block by block.

    `rows` counts the rows, and `without` those without a potential negative.
    """

    rows: int = 0
    without: int = 0
    _potential: int = 0
    _effective: float = 0.0

    def add(self, distributions: Distributions) -> None:
        """Add the statistics of more rows of the file."""
        self.rows += len(distributions.potential)
        self.without += int((distributions.potential == 0).sum())
        self._potential += int(distributions.potential.sum())
        self._effective += float(distributions.effective.sum())

    @property
    def potential(self) -> float:
        """Mean number of potential negatives of a row, that is, of probabilities above 0."""
        return self._potential / self.rows

    @property
    def effective(self) -> float:
        """Mean effective number of negatives, over the rows that have any.

        A row's effective number is the number of equally likely negatives whose entropy is that of the row.
        """
        return self._effective / max(1, self.rows - self.without)


def _write_videos_given_query(
    part: Path,
    queries: _Queries,
    sentences: FloatArray,
    draw: Draw,
    progress: Progress | None,
) -> _Tally:
    """Write the probability of each video as a negative of each query; return statistics over the rows.

    The file has a row for each query. It holds p'(v|q) for every video. The videos are in
    the order of the rows that `_write_queries_given_video` writes.
    """
    tally, report = _Tally(), steps_of(progress, "videos for each query")
    starts = video_starts([queries.videos[video] for video in queries.own])
    names = ("query_id", "query", "video")
    with _rows_file(part / VIDEOS_GIVEN_QUERY, names, len(queries.videos)) as add:
        for block in _blocks(len(queries.ids), len(sentences)):
            own = queries.own[block][:, None] == np.arange(len(queries.videos))
            distributions = draw(query_video(sentences[block], sentences, starts), own, block, False)
            videos = [queries.videos[video] for video in queries.own[block]]
            add(
                {"query_id": queries.ids[block], "query": queries.texts[block], "video": videos},
                distributions.probability,
            )
            tally.add(distributions)
            if report:
                report(tally.rows, len(queries.ids))
    return tally


def _write_queries_given_video(
    part: Path,
    queries: _Queries,
    sentences: FloatArray,
    draw: Draw,
    progress: Progress | None,
) -> _Tally:
    """Write the probability of each query as a negative of each video; return statistics over the rows.

    The file has a row for each video. It holds p'(q|v) for every query. The queries are in
    the order of the rows that `_write_videos_given_query` writes.
    """
    tally, report = _Tally(), steps_of(progress, "queries for each video")
    bounds = np.searchsorted(queries.own, np.arange(len(queries.videos) + 1))
    with _rows_file(part / QUERIES_GIVEN_VIDEO, ("video",), len(queries.ids)) as add:
        for block in _blocks(len(queries.videos), len(queries.ids)):
            first, last = bounds[block.start], bounds[block.stop]
            starts = bounds[block] - first
            similarity = query_video(sentences, sentences[first:last], starts).T
            own = np.arange(block.start, block.stop)[:, None] == queries.own
            distributions = draw(similarity, own, block, True)
            add({"video": queries.videos[block]}, distributions.probability)
            tally.add(distributions)
            if report:
                report(tally.rows, len(queries.videos))
    return tally


@contextmanager
def _rows_file(path: Path, names: Sequence[str], width: int) -> Iterator[Callable[[Columns, FloatArray], None]]:
    """Open a Parquet file with text columns and the list column `probability`; yield a function that writes rows.

    The function takes the text columns of some rows, and their probabilities, float32 `(rows, width)`. Each call makes
    a row group, so that a reader can also take a block at a time.
    """
    lists = pa.list_(pa.field("element", pa.float32(), nullable=False), width)
    schema = pa.schema([*(pa.field(name, pa.string()) for name in names), pa.field(PROBABILITY, lists)])
    # Probabilities never repeat, so a dictionary saves nothing; split by byte position, they do compress.
    split = f"{PROBABILITY}.list.element"
    with parquet.ParquetWriter(
        path, schema, compression="zstd", use_dictionary=False, use_byte_stream_split=[split], write_statistics=False
    ) as file:

        def add(columns: Columns, probability: FloatArray) -> None:
            flat = pa.array(probability.ravel(), type=pa.float32())
            arrays = [pa.array(columns[name], type=pa.string()) for name in names]
            table = pa.Table.from_arrays([*arrays, pa.FixedSizeListArray.from_arrays(flat, type=lists)], schema=schema)
            file.write_table(table)

        yield add


def _blocks(rows: int, columns: int) -> Iterator[slice]:
    """Return slices that divide rows into blocks of at most `_CELLS_AT_ONCE` cells. A block has at least one row."""
    at_once = max(1, _CELLS_AT_ONCE // max(1, columns))
    return (slice(start, min(rows, start + at_once)) for start in range(0, rows, at_once))
