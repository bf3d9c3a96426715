"""Read truth, run and video map files into columns; every problem with its file and row.

Reads: these files. Writes: nothing.
"""

from collections.abc import Mapping
from pathlib import Path

import msgspec

from backend.core.errors import InputError, Problem
from backend.core.metrics.columns import Run, Truth
from backend.core.runs import parse_run, parse_truth, parse_video_map


def read_truth(path: Path) -> Truth:
    """Truth of a TVR-Ranking `val.json`, or of the older file with one JSON object per line and pair."""
    content = _content(path)
    if content.lstrip()[:1] == b"{":
        return parse_truth(_json_lines(content, path), str(path))
    return parse_truth(_json(content, path), str(path))


def read_run(path: Path, videos: Mapping[int, str] | None = None) -> Run:
    """A run file in any of its three formats; `videos` (from `read_videos`) names videos given by index."""
    return parse_run(_json(_content(path), path), str(path), videos)


def read_videos(path: Path) -> dict[int, str]:
    """`index -> name` of a map file `{name: [duration, index]}`."""
    return parse_video_map(_json(_content(path), path), str(path))


def _content(path: Path) -> bytes:
    try:
        content = path.read_bytes()
    except OSError as error:
        raise InputError.single(path, f"cannot be read: {error.strerror}") from None
    content = content.removeprefix(b"\xef\xbb\xbf")
    if not content.strip():
        raise InputError.single(path, "is empty")
    try:
        content.decode("utf-8")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise InputError.single(path, "is not UTF-8 text from here on; save it as UTF-8", line) from None
    return content


def _json(content: bytes, path: Path, row: int | None = None) -> object:
    try:
        return msgspec.json.decode(content)
    except msgspec.DecodeError as error:
        raise InputError.single(path, f"is not JSON: {error}", row) from None


def _json_lines(content: bytes, path: Path) -> list[object]:
    documents: list[object] = []
    problems: list[Problem] = []
    for row, line in enumerate(content.split(b"\n"), start=1):
        try:
            documents.append(_json(line, path, row) if line.strip() else None)
        except InputError as error:
            problems += error.problems
    if problems:
        raise InputError(problems)
    return documents
