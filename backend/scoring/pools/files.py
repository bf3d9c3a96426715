"""Read and write files of pools in MVMR's published format. A file with any problem is rejected as a whole.

    video -> {duration | fps and num_frames, timestamps, sentences, pos_moments, retrieval_pool}

A sentence of a video is a query, which is searched in a pool of videos. A moment that matches it is called a positive.
`timestamps[q]` and `sentences[q]` are a moment of the video and its sentence. `pos_moments[q]` lists `[video, sentence,
[start, end]]` for each positive in another video. `retrieval_pool[q]` names the videos to search: the query's own
video, those with a positive, and others. A sentence with an empty pool is no query.

**Scale.** If a video has `duration`, its times are seconds. If it has `fps` and `num_frames` instead, they are frames,
and so are the times of positives in it. Dividing by its `fps` makes them seconds. The published TACoS file uses frames;
the code published with it divides only the times of the query's own moment. All videos of a file use the same scale.

**The own video.** If the own video has a sentence more than once, every occurrence is a positive. Files do not list
these occurrences.

Reads and writes: files of pools. It also reads gzip-compressed files.
"""

from pathlib import Path

import msgspec

from backend.core.captioned import query_id
from backend.core.errors import InputError
from backend.core.reading import unpacked_bytes
from backend.scoring.files.text import checked, document
from backend.scoring.pools.checking import RawVideo, pool_problems, raw_videos, scale_problems
from backend.scoring.pools.model import PoolMoment, PoolQuery, Pools, occurrences


def read_pools(path: Path) -> Pools:
    """Read a file that names the videos to search for each query (its pool).

    Raises:
        InputError: the file cannot be read, or it has problems, all listed by query and video.
    """
    return parse_pools(unpacked_bytes(path), str(path))


def parse_pools(content: bytes, file: str) -> Pools:
    """Return the queries and their pools of videos in the uncompressed bytes of a file.

    `file` is the name of the file, for messages.

    Raises:
        InputError: the file has problems, all listed by query and video.

    >>> text = b'''{"a": {"fps": 10, "num_frames": 300, "timestamps": [[20, 50]], "sentences": ["He sits."],
    ...                   "pos_moments": [[["b", "A man sits.", [5, 15]]]], "retrieval_pool": [["a", "b"]]},
    ...             "b": {"fps": 5, "num_frames": 100, "timestamps": [[5, 15]], "sentences": ["A man sits."],
    ...                   "pos_moments": [[]], "retrieval_pool": [[]]}}'''
    >>> positives = parse_pools(text, "pools.json").queries[0].positives
    >>> [(moment.video, moment.start_s, moment.end_s) for moment in positives]
    [('a', 2.0, 5.0), ('b', 1.0, 3.0)]
    """
    videos, problems = raw_videos(document(checked(content, file), file), file)
    # Unreadable entries are not checked further, but their videos do count as videos of the file.
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
    """Write pools in the format that `read_pools` reads, in seconds. An existing file is replaced.

    Raises:
        ValueError: a query appears twice, or no moment in `pools.moments` has its sentence.
        OSError: the file cannot be written.
    """
    known = {query.query_id: query for query in pools.queries}
    sentences = {
        query_id(name, number) for name, video_moments in pools.moments.items() for number in range(len(video_moments))
    }
    if len(known) < len(pools.queries) or not known.keys() <= sentences:
        raise ValueError("queries must all come from different sentences of the videos")
    entries = {}
    for name, moments in pools.moments.items():
        queries = [known.get(query_id(name, number)) for number in range(len(moments))]
        entries[name] = {
            "duration": pools.durations[name],
            "timestamps": [(moment.start_s, moment.end_s) for moment in moments],
            "sentences": [moment.sentence for moment in moments],
            "pos_moments": [
                [] if query is None else _listed(query, occurrences(moments, number))
                for number, query in enumerate(queries)
            ],
            "retrieval_pool": [() if query is None else query.videos for query in queries],
        }
    path.write_bytes(msgspec.json.encode(entries))


def _listed(query: PoolQuery, implied: tuple[PoolMoment, ...]) -> list[object]:
    """Return the matching moments of a query that a file has to list: all except those in `implied`.

    `implied` are the moments of the query's own video with the same sentence. Readers of the file find these
    themselves.
    """
    return [
        (moment.video, moment.sentence, (moment.start_s, moment.end_s))
        for moment in query.positives
        if moment not in implied
    ]


def _moments(name: str, video: RawVideo) -> tuple[PoolMoment, ...]:
    pairs = zip(video.spans, video.sentences, strict=True)
    return tuple(PoolMoment(name, *video.seconds(span), sentence) for span, sentence in pairs)


def _query(name: str, number: int, moments: tuple[PoolMoment, ...], videos: dict[str, RawVideo]) -> PoolQuery:
    video = videos[name]
    listed = [
        PoolMoment(positive.video, *videos[positive.video].seconds(positive.span), positive.sentence)
        for positive in video.positives[number]
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
