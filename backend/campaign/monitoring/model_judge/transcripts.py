"""Read a file with what is said in videos, for a model that is to hear what annotators hear."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import isfinite
from pathlib import Path

from backend.campaign.monitoring.model_judge.prompt import Cue
from backend.core.errors import InputError, Problem
from backend.core.messages import said
from backend.core.reading import file_bytes
from backend.core.text_files import read_csv
from backend.core.typed_text import nfc


@dataclass(frozen=True, slots=True)
class Transcripts:
    """What is said in videos, by name of the video; `data` are the bytes of the file."""

    data: bytes
    cues: Mapping[str, Sequence[Cue]]


def read_transcripts(path: Path) -> Transcripts:
    """Return what is said in videos from a CSV file with the columns `video`, `start`, `end` (seconds) and `text`.

    Names of videos are brought into Unicode's composed form (NFC).

    Raises:
        InputError: the file cannot be read; lists each row whose times are no span.
    """
    data = file_bytes(path)
    table = read_csv(data, str(path), ["video", "start", "end", "text"], numbers=["start", "end"])
    problems = list(table.problems)
    cues: dict[str, list[Cue]] = {}
    columns = (table.columns[name] for name in ("video", "start", "end", "text"))
    for row, video, start, end, text in zip(table.rows, *columns, strict=True):
        start_s, end_s = _seconds(start), _seconds(end)
        if start_s is None or end_s is None or not 0 <= start_s < end_s:
            problems.append(
                Problem(
                    str(path),
                    row,
                    said(
                        "{start!r} to {end!r} is no span: write seconds, the start before the end", start=start, end=end
                    ),
                )
            )
            continue
        cues.setdefault(nfc(video.strip()), []).append(Cue(start_s, end_s, " ".join(text.split())))
    if problems:
        raise InputError(problems)
    return Transcripts(data, cues)


def _seconds(text: str) -> float | None:
    try:
        value = float(text)
    except ValueError:
        return None
    return value if isfinite(value) else None
