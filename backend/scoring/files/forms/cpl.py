"""CPL (Zheng et al., CVPR 2022): Charades-STA and ActivityNet Captions as a list of lists."""

import re
from typing import Any, cast

from backend.core.captioned import CaptionedMoment
from backend.scoring.files.forms.form import AnnotatedQuery, TruthForm, entries_in, queries_of

_OPENING = re.compile(r'\[\s*\[\s*"(?:[^"\\]|\\.)*"\s*,\s*[0-9.]+\s*,\s*\[')


def read(content: bytes, file: str) -> list[AnnotatedQuery]:
    """Return the queries of `[[video, duration, [start, end], sentence], ...]`, times in seconds.

    Raises:
        InputError: lists everything in the file that has a wrong structure.
    """
    entry = cast("type[Any]", tuple[str, float, tuple[float, float], str])
    moments = [
        CaptionedMoment(video, start_s, end_s, sentence.strip(), row, duration)
        for row, (video, duration, (start_s, end_s), sentence) in entries_in(entry, content, file)
    ]
    return queries_of((moments, [], []), file)


FORMS = (TruthForm("cpl", "CPL", lambda opening: _OPENING.match(opening.text) is not None, read),)
