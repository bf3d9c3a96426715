"""TACoS as TALL (Gao et al., ICCV 2017) published it: lines `VIDEO_START_END:sentence#sentence#`, times in frames."""

import re

from backend.core.captioned import CaptionedMoment
from backend.core.errors import Problem
from backend.core.messages import said
from backend.core.text_files import decode_text
from backend.scoring.files.forms.form import AnnotatedQuery, TruthForm, queries_of

FPS = 29.4
"""The frame rate of all videos of TACoS. The lines do not give it."""
_LINE = re.compile(r"(\S+?)_(\d{1,9})_(\d{1,9}):(.*)")


def read(content: bytes, file: str) -> list[AnnotatedQuery]:
    """Return a query for each sentence of each line, times converted to seconds.

    Raises:
        InputError: lists every line of another form.
    """
    moments: list[CaptionedMoment] = []
    problems: list[Problem] = []
    for row, line in enumerate(decode_text(content, file).split("\n"), start=1):
        if match := _LINE.fullmatch(line.strip()):
            video, start, end, sentences = match.groups()
            times_s = int(start) / FPS, int(end) / FPS
            texts = filter(None, map(str.strip, sentences.split("#")))
            moments += [CaptionedMoment(video, *times_s, text, row) for text in texts]
        elif line.strip():
            problems.append(Problem(file, row, said("it does not have the form VIDEO_START_END:sentence#sentence#")))
    return queries_of((moments, problems, []), file)


FORMS = (
    TruthForm(
        "tall-tacos",
        "TACoS in the lines of TALL",
        lambda opening: not opening.nesting and _LINE.fullmatch(opening.line.strip()) is not None,
        read,
    ),
)
