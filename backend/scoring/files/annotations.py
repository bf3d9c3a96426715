"""Read the truth in benchmarks' own annotation files, whose forms the package `forms` defines.

An annotation file has sentences, each with its moments in one video. Each sentence becomes a query, and its moments
have relevance 1. Reads and writes nothing.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Literal

from backend.core.captioned import CaptionedMoment
from backend.core.typed_text import nfc
from backend.scoring.files.entries import Group, truth_of
from backend.scoring.files.forms import truth_form
from backend.scoring.files.forms.form import AnnotatedQuery, opening_of
from backend.scoring.files.words import Names, name_only
from backend.scoring.matching.columns import Truth

_NAMES = Names("video", ("start", "end"), "relevance")
_SHOWN = 3


Repair = Literal["leave out", "cut", "nothing"]
"""What to do about moments of annotations that end after their video, or do not end after they begin.

`leave out` cuts ends at the end of the video, and leaves out queries whose moments are impossible. `cut` cuts ends and
keeps such queries, without a moment: no prediction is right for them. `nothing` keeps them so, too, and keeps ends.
"""


def annotated_truth(content: bytes, file: str, repair: Repair = "leave out") -> Truth | None:
    r"""Return the truth in a benchmark's own annotation file, or None for any other file.

    Published files contain moments that end before they begin, or after their video. By default, as in most
    evaluators, ends are cut at the end of the video, and queries with only impossible moments are left out. `repair`
    may choose otherwise (see `Repair`). `notes` of the result says what was changed. In DiDeMo several people marked
    the moment of each sentence; every such moment is relevant.

    Raises:
        InputError: lists everything in the annotation file that has a wrong structure.

    >>> truth = annotated_truth(b"ABC12 24.3 30.4##person sits.\nABC12 0 2.5##person stands.", "test.txt")
    >>> (truth.queries, truth.end_s.tolist()) if truth else None
    (('ABC12#0', 'ABC12#1'), [30.4, 2.5])
    """
    form = truth_form(opening_of(content))
    return None if form is None else _truth(form.read(content, file), file, repair)


def annotated_queries(content: bytes, file: str) -> Sequence[AnnotatedQuery] | None:
    """Return the queries in a benchmark's own annotation file, impossible moments included. Other files give None.

    Raises:
        InputError: lists everything in the file that has a wrong structure.
    """
    form = truth_form(opening_of(content))
    return None if form is None else form.read(content, file)


def _truth(queries: Sequence[AnnotatedQuery], file: str, repair: Repair) -> Truth:
    groups: list[Group] = []
    left_out: list[CaptionedMoment] = []
    cut: list[CaptionedMoment] = []
    durations: dict[str, float] = {}
    for query in queries:
        items: list[object] = []
        for moment in query.moments:
            if moment.duration_s:  # some files write 0 for an unknown duration
                durations.setdefault(moment.video, moment.duration_s)
            starts_s, ends_s = (moment.start_s, moment.end_s) if repair == "nothing" else _within_video(moment)
            if starts_s >= ends_s:
                left_out.append(moment)
                continue
            if (starts_s, ends_s) != (moment.start_s, moment.end_s):
                cut.append(moment)
            items.append({"video": moment.video, "start": starts_s, "end": ends_s, "relevance": 1})
        if items or repair != "leave out" or not query.moments:
            groups.append(Group(query.query, query.row, items))
    impossible = "moments that do not end after they begin "
    impossible += "were left out, as published evaluators do" if repair == "leave out" else "cannot be found"
    notes = [
        *_note(file, left_out, impossible),
        *_note(file, cut, "moments that end after their video were cut at its end, as published evaluators do"),
    ]
    texts = {nfc(str(query.query)): query.text for query in queries}
    return replace(truth_of(groups, file, _NAMES, name_only), durations=durations, notes=tuple(notes), texts=texts)


def _within_video(moment: CaptionedMoment) -> tuple[float, float]:
    """Return the start and end of a moment, cut to its video."""
    end_s = min(moment.end_s, moment.duration_s) if moment.duration_s else moment.end_s
    return max(moment.start_s, 0.0), end_s


def _note(file: str, moments: Sequence[CaptionedMoment], what: str) -> list[str]:
    if not moments:
        return []
    places = ", ".join(moment.place for moment in moments[:_SHOWN]) + (", ..." if len(moments) > _SHOWN else "")
    return [f"{file}: {len(moments):,} {what} ({places})"]
