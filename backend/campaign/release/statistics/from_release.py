"""Read what a release folder in the form of TVR-Ranking holds: its queries, its moments, its videos.

*Reads* `val.json`, `test.json`, the largest `train_topNN.json` (the smaller ones are cuts of it) and
`video_corpus.json`, as far as they are there. *Writes* nothing.
"""

import re
from collections import Counter
from pathlib import Path
from typing import TypeVar

import msgspec

from backend.campaign.release.statistics.model import Holdings, Span
from backend.core.errors import InputError
from backend.core.file_system import require_own
from backend.core.progress import Steps
from backend.core.reading import UNDECODABLE, bytes_of

VIDEOS_FILE = "video_corpus.json"
_GRADED = ("val.json", "test.json")
_TRAIN = re.compile(r"train_top(\d+)\.json")
_Shape = TypeVar("_Shape")


class _Moment(msgspec.Struct):
    video_name: str
    timestamp: tuple[float, float]
    duration: float | None = None


class _Query(msgspec.Struct):
    query: str
    relevant_moment: list[_Moment]


def query_files(folder: Path) -> list[Path]:
    """The files with queries that are read of a release folder; none if it is no release.

    Raises:
        InputError: one is a link out of the folder.
    """
    found = [folder / name for name in _GRADED if (folder / name).is_file()]
    sizes = {int(size[1]): path for path in folder.glob("train_top*.json") if (size := _TRAIN.fullmatch(path.name))}
    return [require_own(path, folder) for path in ([*found, sizes[max(sizes)]] if sizes else found)]


def read(folder: Path, *, progress: Steps | None = None) -> Holdings:
    """Everything that a release holds.

    Raises:
        InputError: a file is not of its form.
    """
    files = query_files(folder)
    queries: dict[str, list[str]] = {}
    pairs: Counter[Span] = Counter()
    durations: dict[str, float | None] = {}
    videos = require_own(folder / VIDEOS_FILE, folder)
    if videos.is_file():
        for video, (duration_s, _) in _decoded(videos, dict[str, tuple[float, int]]).items():
            durations[video] = duration_s
    for done, path in enumerate(files, start=1):
        found = _decoded(path, list[_Query])
        queries[path.stem] = [query.query for query in found]
        for query in found:
            for moment in query.relevant_moment:
                pairs[moment.video_name, *moment.timestamp] += 1
                durations.setdefault(moment.video_name, moment.duration)
        if progress:
            progress(done, len(files))
    if not pairs:
        raise InputError.single(folder, "the release has no query with a moment")
    return Holdings(queries, pairs, durations)


def _decoded(path: Path, shape: type[_Shape]) -> _Shape:
    data = bytes_of(path)
    try:
        return msgspec.json.decode(data, type=shape)
    except UNDECODABLE as error:
        raise InputError.single(path, f"is not of the form of a release: {error}") from None
