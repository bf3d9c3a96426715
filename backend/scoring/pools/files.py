"""Files of pools in the form in which MVMR publishes them: read whole or refused, written, and counted.

    video -> {duration | fps and num_frames, timestamps, sentences, pos_moments, retrieval_pool}

`timestamps[q]` and `sentences[q]` are a moment of the video, `pos_moments[q]` lists `[video, sentence, [start, end]]`
of the other videos in which the sentence holds, `retrieval_pool[q]` names the videos in which it is searched: its own,
those with a positive, and the others. A sentence with an empty pool is no query.

**Scale.** Where a video has `duration`, its times are seconds. Where it has none, but `fps` and `num_frames`, they
are frames, those of positives too, and become seconds by that `fps`. The published TACoS file is like that; the code
published with it divides only the own moment. One file has one scale.

**The own video.** A sentence that the own video has more than once is positive at every occurrence, although files do
not list them.

Reads and writes: these files; read packed with gzip or not.
"""

from dataclasses import dataclass
from pathlib import Path

import msgspec

from backend.core.captioned import query_id
from backend.core.errors import InputError
from backend.core.reading import unpacked
from backend.scoring.files.text import checked, document
from backend.scoring.pools.checking import RawVideo, pool_problems, raw_videos, scale_problems
from backend.scoring.pools.model import PoolMoment, PoolQuery, Pools, occurrences


def read_pools(path: Path) -> Pools:
    """The pools of a file.

    Raises:
        InputError: it cannot be read, or with everything in it that is wrong, by query and video.
    """
    return pools_of(unpacked(path), str(path))


def pools_of(content: bytes, file: str) -> Pools:
    """The pools in the bytes of a file, unpacked.

    Raises:
        InputError: with everything in it that is wrong, by query and video.

    >>> text = b'''{"a": {"fps": 10, "num_frames": 300, "timestamps": [[20, 50]], "sentences": ["He sits."],
    ...                   "pos_moments": [[["b", "A man sits.", [5, 15]]]], "retrieval_pool": [["a", "b"]]},
    ...             "b": {"fps": 5, "num_frames": 100, "timestamps": [[5, 15]], "sentences": ["A man sits."],
    ...                   "pos_moments": [[]], "retrieval_pool": [[]]}}'''
    >>> [(moment.video, moment.start_s, moment.end_s) for moment in pools_of(text, "pools.json").queries[0].positives]
    [('a', 2.0, 5.0), ('b', 1.0, 3.0)]
    """
    videos, problems = raw_videos(document(checked(content, file), file), file)
    # What an entry says that is wrong itself is not looked at, nor taken for missing.
    read = {name: video for name, video in videos.items() if video is not None}
    problems += scale_problems(read, file) or pool_problems(read, videos.keys(), file)
    if problems:
        raise InputError(sorted(problems, key=lambda problem: problem.row or 0))
    moments = {name: _moments(name, video) for name, video in read.items()}
    queries = (
        _query(name, number, moments[name], read)
        for name, video in read.items()
        for number, pool in enumerate(video.pools)
        if pool
    )
    return Pools(tuple(queries), {name: video.duration_s for name, video in read.items()}, moments)


def write_pools(pools: Pools, path: Path) -> None:
    """Write pools as `read_pools` reads them, in seconds; a file that is there is replaced.

    Raises:
        ValueError: a query is not one of a sentence in `moments`, or stands twice.
        OSError: as `Path.write_bytes`.
    """
    known = {query.query_id: query for query in pools.queries}
    sentences = {query_id(name, number) for name, said in pools.moments.items() for number in range(len(said))}
    if len(known) < len(pools.queries) or not known.keys() <= sentences:
        raise ValueError("queries must all come from different sentences of the videos")
    found = {}
    for name, moments in pools.moments.items():
        queries = [known.get(query_id(name, number)) for number in range(len(moments))]
        found[name] = {
            "duration": pools.durations[name],
            "timestamps": [(moment.start_s, moment.end_s) for moment in moments],
            "sentences": [moment.sentence for moment in moments],
            "pos_moments": [
                [] if query is None else _listed(query, occurrences(moments, number))
                for number, query in enumerate(queries)
            ],
            "retrieval_pool": [() if query is None else query.videos for query in queries],
        }
    path.write_bytes(msgspec.json.encode(found))


def _listed(query: PoolQuery, understood: tuple[PoolMoment, ...]) -> list[object]:
    """The positives that a file has to list: all but those that follow from the sentences of the own video."""
    return [
        (moment.video, moment.sentence, (moment.start_s, moment.end_s))
        for moment in query.positives
        if moment not in understood
    ]


def _moments(name: str, video: RawVideo) -> tuple[PoolMoment, ...]:
    pairs = zip(video.spans, video.sentences, strict=True)
    return tuple(PoolMoment(name, *video.seconds(span), sentence) for span, sentence in pairs)


def _query(name: str, number: int, moments: tuple[PoolMoment, ...], videos: dict[str, RawVideo]) -> PoolQuery:
    video = videos[name]
    listed = [
        PoolMoment(found.video, *videos[found.video].seconds(found.span), found.sentence)
        for found in video.positives[number]
    ]
    in_own = [*occurrences(moments, number), *(moment for moment in listed if moment.video == name)]
    elsewhere = [moment for moment in listed if moment.video != name]
    own = moments[number]
    return PoolQuery(
        query_id=query_id(name, number),
        text=own.sentence,
        own=own,
        positives=tuple(dict.fromkeys([*in_own, *elsewhere])),
        videos=tuple(dict.fromkeys([name, *video.pools[number]])),
    )


@dataclass(frozen=True, slots=True)
class PoolStatistics:
    """What a file of pools holds. All but the last three are of queries with a full pool, as published figures are.

    The first four are the paper's row: `positives` is the mean number of positive videos of a query, the own one
    included, `pool` how many videos are searched for each.
    """

    queries: int
    videos: int
    positives: float
    pool: int
    positive_moments: float
    """Mean of a query; more than `positives` where the own video has the sentence several times."""
    several_in_own: int
    """Queries of which the own video has several moments."""
    without_distractor: tuple[str, ...]
    """Queries that have a positive in every video of their pool: whatever is found there is right."""
    short: tuple[str, ...]
    """Queries with fewer videos in their pool than `pool`."""
    without_pool: int
    """Sentences that are no query."""
    hours: float
    """Of all videos."""


def pool_statistics(file: Path) -> PoolStatistics:
    """Count what a file of pools holds, as Table 1 of the MVMR paper does.

    Raises:
        InputError: with everything in the file that is wrong, by query and video.
    """
    return count(read_pools(file))


def count(pools: Pools) -> PoolStatistics:
    """What the pools of a file hold."""
    full = pools.full
    several = [query for query in full if len(query.positives) > 1 and query.positives[1].video == query.own.video]
    return PoolStatistics(
        queries=len(full),
        videos=len(pools.durations),
        positives=sum(len(query.positive_videos) for query in full) / max(len(full), 1),
        pool=pools.size,
        positive_moments=sum(len(query.positives) for query in full) / max(len(full), 1),
        several_in_own=len(several),
        without_distractor=tuple(query.query_id for query in full if not query.negatives),
        short=tuple(query.query_id for query in pools.queries if len(query.videos) < pools.size),
        without_pool=sum(map(len, pools.moments.values())) - len(pools.queries),
        hours=sum(pools.durations.values()) / 3600,
    )
