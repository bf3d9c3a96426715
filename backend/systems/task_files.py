"""Read a system's task from files: a truth of any form, or the folder of a release.

*Reads* these files. *Writes* nothing.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path

from backend.core.errors import InputError, VideoUnreadable
from backend.core.reading import unpacked
from backend.core.release_entries import Moment, read_queries
from backend.media.sources import Source
from backend.scoring.files.facts import read_facts
from backend.scoring.files.formats import map_of, read_truth
from backend.scoring.files.release_folder import choose_truth, truths_in
from backend.systems.model import KnownMoment, SearchTask

TRAINING = "train_top01.json"
"""The file of a release with the moments of captions that no query was drawn from."""


def read_task(
    source: Path,
    *,
    videos: Path | None = None,
    training: Path | None = None,
    folder: Path | None = None,
    split: str | None = None,
) -> SearchTask:
    """The queries of a truth, or of all truths of a release, with what the files say besides.

    Args:
        source: a truth file, or the folder of a release.
        videos: a map `name -> [duration, index]` of all videos; without one those are searched that the truth names.
        training: a truth or training set whose moments no query was drawn from.
        folder: where video files lie.
        split: `val` or `test` of a release; None for both.

    Raises:
        InputError: a file is not what it should be, or the folder is no release.
    """
    truths, videos = [source], None if videos is None else map_of(videos)
    if source.is_dir():
        truths = [choose_truth(source, split=split).path] if split else list(truths_in(source).values())
        videos = videos or _there(map_of(source))
        training = training or _there(source / TRAINING)
    elif split is not None and source.exists():
        raise InputError.single(source, "is a single truth, which has no splits: leave --split out")
    queries: dict[str, str] = {}
    durations: dict[str, float] = {}
    captions: dict[KnownMoment, None] = {}
    for path in truths:
        truth, facts = read_truth(path), read_facts(path, videos)
        queries |= {str(query): facts.texts.get(str(query), "") for query in truth.queries}
        durations |= dict(truth.durations) | dict(facts.durations)
        if missing := next((name for name in truth.videos if name not in durations), None):
            raise InputError.single(path, f"does not say how long video {missing} lasts: name a map of the videos")
        captions |= dict.fromkeys(one for one in _moments(path) if one.caption)
    known, lengths = _training(training) if training else ((), {})
    return SearchTask(
        str(source),
        queries,
        durations,
        captions=tuple(captions),
        training=known,
        training_durations={**durations, **lengths},
        files=_files(folder, durations) if folder else {},
    )


def _there(path: Path) -> Path | None:
    return path if path.exists() else None


def _training(path: Path) -> tuple[tuple[KnownMoment, ...], Mapping[str, float]]:
    """The distinct moments of a file, and how long videos last as far as it says so."""
    lengths = read_facts(path).durations
    if found := _moments(path):
        return tuple(dict.fromkeys(one._replace(caption="") for one in found)), lengths
    truth = read_truth(path)
    columns = zip((truth.videos[n] for n in truth.video), truth.start_s.tolist(), truth.end_s.tolist(), strict=True)
    return tuple(dict.fromkeys(KnownMoment(*one) for one in columns)), {**truth.durations, **lengths}


def _moments(path: Path) -> list[KnownMoment]:
    """The moments of a file in the form of a release; none of another.

    Raises:
        InputError: it is of this form, but not all of it.
    """
    found = read_queries(unpacked(path), str(path), Moment)
    if found.entries and found.problems:
        raise InputError(found.problems)
    return [
        KnownMoment(one.video_name, *one.timestamp, one.caption or "")
        for entry in found.entries
        for _, one in entry.moments
    ]


def _files(folder: Path, names: Sequence[str] | Mapping[str, float]) -> dict[str, Source]:
    """The file of each video that has one there."""
    from backend.media.probe import VideoFolder  # PyAV, which only those need who look at videos

    there = VideoFolder(folder)
    found: dict[str, Source] = {}
    for name in names:
        try:
            found[name] = there.find(name)
        except VideoUnreadable:
            continue  # whoever looks at videos tells which could not be looked at
    return found
