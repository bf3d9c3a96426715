"""Read truth, run and video map files into columns; every problem with its file and row.

Reads: these files, packed with gzip or not. Writes: nothing.
"""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from backend.core.reading import unpacked
from backend.scoring.files.formats import run_file, tasks_of, truth_file, video_map_file
from backend.scoring.files.words import TASKS
from backend.scoring.matching.columns import Run, Truth, VideoMap

VIDEO_MAP = "video_corpus.json"
"""The map of videos in a release."""


def read_truth(path: Path) -> Truth:
    """Truth in any of its forms; see `backend.scoring.files.formats`."""
    return truth_file(unpacked(path), str(path))


def read_run(path: Path, videos: Mapping[int, str] | None = None, truth: Truth | None = None) -> Run:
    """A run in any of its forms; `videos` (from `read_videos`) names videos given by index, `truth` those not given."""
    return run_file(unpacked(path), str(path), videos, truth)


def read_tasks(path: Path, videos: Mapping[int, str] | None = None, truth: Truth | None = None) -> Run:
    """As `read_run`, with every task of one of TVR's own prediction files; any other run is one of VCMR."""
    content, file = unpacked(path), str(path)
    runs = {task: run_file(content, file, videos, truth, task=task) for task in tasks_of(content)}
    return of_tasks(runs or {TASKS[0]: run_file(content, file, videos, truth)})


def of_tasks(runs: Mapping[str, Run]) -> Run:
    """The first of some tasks' runs, which has them all."""
    return replace(next(iter(runs.values())), tasks=runs)


def map_of(videos: Path) -> Path:
    """Return the video map: the file itself, or that of a release whose folder was given."""
    return videos / VIDEO_MAP if videos.is_dir() else videos


def read_videos(path: Path) -> VideoMap:
    """Names and durations of a map file `{name: [duration, index]}`, or of the release that has it."""
    path = map_of(path)
    return video_map_file(unpacked(path), str(path))
