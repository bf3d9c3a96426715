"""CPL (Zheng et al., CVPR 2022), CMIN and TSGVZoo: sentences with their moments as a list of lists."""

import re

import msgspec

from backend.core.captioned import CaptionedMoment
from backend.scoring.files.forms.form import AnnotatedQuery, TruthForm, entries_in, queries_of

_OPENING = re.compile(r'\[\s*\[\s*"(?:[^"\\]|\\.)*"\s*,\s*[0-9.]+\s*,\s*\[')


class _Entry(msgspec.Struct, array_like=True):
    """One sentence of a CPL file with its video and moment: a list `[video, duration, [start, end], sentence]`.

    Further items of the list, such as the words of the sentence, are ignored.
    """

    video: str
    duration: float
    span: tuple[float, float]
    sentence: str


def read(content: bytes, file: str) -> list[AnnotatedQuery]:
    """Return the queries of `[[video, duration, [start, end], sentence, ...], ...]`, times in seconds.

    Raises:
        InputError: lists everything in the file that has a wrong structure.
    """
    moments = [
        CaptionedMoment(entry.video, *entry.span, entry.sentence.strip(), row, entry.duration)
        for row, entry in entries_in(_Entry, content, file)
    ]
    return queries_of((moments, [], []), file)


FORMS = (TruthForm("cpl", "CPL, CMIN and TSGVZoo", lambda opening: _OPENING.match(opening.text) is not None, read),)
