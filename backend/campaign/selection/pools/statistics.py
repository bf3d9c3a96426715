"""Describe a file of pools or an annotation file by the figures of Table 1 of the MVMR paper.

*Reads* the file, and cached vectors of its sentences if an encoder is given.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from backend.campaign.corpus.importing.model import ImportOptions
from backend.campaign.selection.pools.annotations import read_annotations
from backend.campaign.selection.pools.model import T_POS
from backend.core.captioned import query_id
from backend.core.errors import InputError, ProjectError
from backend.core.progress import Progress, steps_of
from backend.core.reading import FileLayout, sample, unpacked_bytes
from backend.scoring.pools.files import parse_pools
from backend.scoring.pools.model import PoolMoment, Pools
from backend.scoring.pools.statistics import DatasetRow, PoolStatistics, count, count_moments, random_pool_share

if TYPE_CHECKING:
    from backend.encoders.sentence import Encoder


@dataclass(frozen=True, slots=True, kw_only=True)
class CorpusStatistics(DatasetRow):
    """The row of an annotation file, in which each query is searched in its own video alone.

    `repeats` counts the entries that repeat the video, span and text of an earlier one. They count as queries if
    `keeps_repeats` is true. `left_out` says of each kind of invalid entry how many there are.
    """

    repeats: int
    keeps_repeats: bool
    left_out: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Dataset:
    """A file of pools or an annotation file, with its statistics.

    `moments` has all sentences of each video in file order. A query is named by its video and the number of its
    sentence there, from 0; `queries` has those that the statistics count. `durations` is in seconds.
    """

    statistics: PoolStatistics | CorpusStatistics
    moments: Mapping[str, Sequence[PoolMoment]]
    queries: frozenset[tuple[str, int]]
    durations: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class RandomPools:
    """How often pools drawn at random would have a false negative: a video that matches its query but is no positive.

    Attributes:
        encoder: identity of the sentence encoder.
        t_pos: a video other than the own one matches if its similarity s_te with the query is `t_pos` or more.
        pool: the number of videos in a pool.
        matching: the mean number of other videos that match a query.
        false_negatives: the share of queries, from 0 to 1, whose pool has a false negative; see `random_pool_share`.
    """

    encoder: str
    t_pos: float
    pool: int
    matching: float
    false_negatives: float


def read_dataset(
    file: Path,
    *,
    format: str | None = None,  # noqa: A002 - the word of the public contract
    types: frozenset[str] | None = None,
    columns: Mapping[str, str] | None = None,
    keep_repeats: bool = False,
) -> Dataset:
    """Read a file of pools, or an annotation file as `import` reads it, and compute its statistics.

    A file is one of pools if a video has `retrieval_pool`. With `format`, it is read as an annotation file.

    Args:
        file: the file, packed with gzip or not.
        format: format of an annotation file; None detects it from the content.
        types: of a TVR file, the types of query to keep; None for those that the TVR-Ranking paper keeps.
        columns: maps ReelRank's field names to the file's columns or fields: `{"start": "begin"}`.
        keep_repeats: whether entries of an annotation file that repeat the video, span and text of an earlier one count
            as queries, too. In a file of pools they always do.

    Raises:
        InputError: the file has problems, or an option does not go with a file of pools.
    """
    data = unpacked_bytes(file)
    # The whole file is searched: a file of pools whose first video lacks them is faulty, but no annotations.
    if format is None and sample(data, str(file)).layout is FileLayout.VIDEOS and b'"retrieval_pool"' in data:
        if keep_repeats or types or columns:
            message = "is a file of pools, which has every sentence: leave out --keep-repeats, --type and --columns"
            raise InputError.single(file, message)
        return _dataset_of_pools(parse_pools(data, str(file)))
    annotations = read_annotations(file, format, ImportOptions(types, columns or {}), keep_repeats=keep_repeats)
    moments: dict[str, list[PoolMoment]] = {name: [] for name in annotations.durations}
    queries: dict[tuple[int, int | None], list[PoolMoment]] = {}
    names = set()
    for moment in annotations.moments:
        # Several windows of one query (QVHighlights) are several moments of one entry.
        entry = queries.setdefault((moment.row, moment.sentence), [])
        if not entry:
            names.add((moment.video, len(moments[moment.video])))
        entry.append(PoolMoment(moment.video, moment.start_s, moment.end_s, moment.caption.strip()))
        moments[moment.video].append(entry[-1])
    statistics = CorpusStatistics(
        **asdict(count_moments(queries.values(), annotations.durations)),
        repeats=annotations.repeats,
        keeps_repeats=keep_repeats,
        left_out=tuple(annotations.left_out),
    )
    return Dataset(statistics, moments, frozenset(names), annotations.durations)


def _dataset_of_pools(pools: Pools) -> Dataset:
    full = {query.query_id for query in pools.full}
    ids = ((video, number, query_id(video, number)) for video, m in pools.moments.items() for number in range(len(m)))
    names = frozenset((video, number) for video, number, id_ in ids if id_ in full)
    return Dataset(count(pools), pools.moments, names, pools.durations)


def random_pools(
    dataset: Dataset,
    *,
    pool: int | None = None,
    t_pos: float = T_POS,
    encoder: "str | Encoder | None" = None,
    kind: str | None = None,
    embeddings: Path | None = None,
    progress: Progress | None = None,
) -> RandomPools:
    """Return how often pools drawn at random would have a false negative, by the similarity of sentences.

    s_te is the largest cosine of the query with a sentence of the video, as in `build_pools`.

    Args:
        dataset: the queries, and the videos to draw from: all videos of the file.
        pool: the number of videos in a pool; None takes that of the file of pools.
        t_pos: the lowest similarity of a matching video; it belongs to an encoder.
        encoder: an encoder or its name, as in a project's settings; None is SimCSE from the model hub.
        kind: kind of the encoder that `encoder` names.
        embeddings: the folder in which vectors are cached; None is the user's cache folder.
        progress: called with (name of the step, number done, number of all).

    Raises:
        ProjectError: the file has no query, or `pool` is out of range.
        EncoderUnavailable: the encoder cannot be found or built.
    """
    # The core install counts files without what encodes sentences.
    from backend.campaign.selection.pools.rules import Sentences
    from backend.campaign.selection.pools.similarity import iterate_similarities, sentence_vectors
    from backend.encoders.cache import shared_folder
    from backend.encoders.sentence import load_named

    size, videos = pool or dataset.statistics.pool, len(dataset.durations)
    if not dataset.queries:
        raise ProjectError("there is no query in the file: random pools need one")
    if not 2 <= size <= videos:
        raise ProjectError(f"a random pool has from 2 to {videos:,} videos here, not {size:,}: give --pool N")
    model = load_named(encoder, kind)
    sentences = Sentences([(name, moments) for name, moments in dataset.moments.items() if moments], seed=0)
    steps = steps_of(progress, "encoding sentences")
    vectors = sentence_vectors(sentences, model, embeddings or shared_folder(), steps)
    matching = []
    for number, _, s_te in iterate_similarities(sentences, vectors):
        own = int(sentences.video[number])
        if (sentences.names[own], int(sentences.place[number])) in dataset.queries:
            matching.append(int((s_te >= t_pos).sum()) - bool(s_te[own] >= t_pos))
    share = random_pool_share(matching, videos, size)
    return RandomPools(model.identity, t_pos, size, sum(matching) / len(matching), share)
