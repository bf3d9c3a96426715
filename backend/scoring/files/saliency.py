"""How salient the clips of a query's video are, as files of QVHighlights say it beside the moments.

Reads: truth and run files. Writes: nothing. Files of other forms say nothing of it, which is no fault.
"""

import contextlib
import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TypeVar

import msgspec
import numpy as np

from backend.core.errors import InputError, Problem
from backend.core.messages import said
from backend.core.reading import unpacked
from backend.core.timespan import Floats
from backend.core.typed_text import nfc
from backend.core.undecodable import UNDECODABLE
from backend.scoring.files import text
from backend.scoring.files.text import Form
from backend.scoring.matching.columns import Indices

CLIP_S = 2
"""Length of a clip in seconds."""
HIGHEST_SALIENCY = 4


class _Graded(msgspec.Struct):
    qid: int | str = ""
    duration: float = 0.0
    relevant_clip_ids: list[int] | None = None
    saliency_scores: list[list[int]] | None = None


class _Predicted(msgspec.Struct):
    qid: int | str = ""
    pred_saliency_scores: list[float] | None = None


_Entry = TypeVar("_Entry", _Graded, _Predicted)


def read_saliency(path: Path) -> dict[str, Indices]:
    """How several people graded the clips, by query id: shape (clips, people), 0-4; 0 where nobody was asked.

    Raises:
        InputError: with every entry whose clips and grades do not fit one another or the video.
    """
    found: dict[str, Indices] = {}
    problems: list[Problem] = []
    for row, entry in _entries(path, _Graded, problems):
        if entry.saliency_scores is None or entry.qid == "":
            continue
        clips, people = int(entry.duration / CLIP_S), len(entry.saliency_scores[0]) if entry.saliency_scores else 0
        if fault := _fault(entry, clips, people):
            problems.append(Problem(str(path), row, said("query {qid}: {fault}", qid=entry.qid, fault=fault)))
            continue
        grades = np.zeros((clips, people), dtype=np.int64)
        grades[entry.relevant_clip_ids] = entry.saliency_scores
        found[nfc(str(entry.qid))] = grades
    if problems:
        raise InputError(problems)
    return found


def read_predicted_saliency(path: Path) -> dict[str, Floats]:
    """A run's score of each clip, the higher the more salient, by query id.

    Raises:
        InputError: with every entry whose scores are not a list of numbers.
    """
    problems: list[Problem] = []
    found = {
        nfc(str(entry.qid)): np.array(entry.pred_saliency_scores)
        for _, entry in _entries(path, _Predicted, problems)
        if entry.pred_saliency_scores is not None
    }
    if problems:
        raise InputError(problems)
    return found


def _fault(entry: _Graded, clips: int, people: int) -> str | None:
    """What is wrong with an entry's clips and grades, None if nothing."""
    ids, scores = entry.relevant_clip_ids or [], entry.saliency_scores or []
    if len(ids) != len(scores) or not ids:
        return said(
            "has {n} `relevant_clip_ids` and {scores} `saliency_scores`; there must be one for each clip",
            n=len(ids),
            scores=len(scores),
        )
    if not people or any(len(grades) != people for grades in scores):
        return said("`saliency_scores` are not of the same people for each clip")
    if outside := [clip for clip in ids if not 0 <= clip < clips]:
        return said(
            "clip {clip} is not one of the {clips} clips of {clip_s} s in its `duration`",
            clip=outside[0],
            clips=clips,
            clip_s=CLIP_S,
        )
    if any(not 0 <= grade <= HIGHEST_SALIENCY for grades in scores for grade in grades):
        return said("`saliency_scores` are not all 0 to {highest}", highest=HIGHEST_SALIENCY)
    return None


def _entries(path: Path, kind: type[_Entry], problems: list[Problem]) -> Iterator[tuple[int, _Entry]]:
    """The entries of a file that name their query as QVHighlights does, with their rows; faults become problems."""
    content = text.checked(unpacked(path), str(path))
    decoder = msgspec.json.Decoder(kind)
    for row, line in enumerate(_lines(content, str(path)), start=1):
        if b'"qid"' not in line:
            continue
        try:
            yield row, decoder.decode(line)
        except msgspec.ValidationError as error:
            problems.append(Problem(str(path), row, str(error)))
        except UNDECODABLE:
            with contextlib.suppress(*UNDECODABLE):  # what is no JSON at all is for whoever reads the moments to say
                json.loads(line)
                problems.append(
                    Problem(str(path), row, said("has NaN, Infinity or a number too large among its scores"))
                )


def _lines(content: bytes, file: str) -> Iterable[bytes]:
    """Every entry of a list, or line; what is no JSON has been refused by whoever reads the moments."""
    form = text.form_of(content, file)
    if form is Form.LINES:
        return content.split(b"\n")
    if form is Form.CSV:
        return ()
    if content.lstrip().startswith(b"{"):
        return (content,)
    try:
        return [bytes(entry) for entry in msgspec.json.decode(content, type=list[msgspec.Raw])]
    except UNDECODABLE:
        return ()
