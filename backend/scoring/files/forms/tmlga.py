"""TMLGA (Rodriguez et al., WACV 2020): Charades-STA as a list of objects with the tokens of each sentence."""

import msgspec

from backend.core.captioned import CaptionedMoment
from backend.scoring.files.forms.form import AnnotatedQuery, TruthForm, entries_in


class _Entry(msgspec.Struct):
    id: int | str
    video: str
    time_start: float
    time_end: float
    description: str = ""


def read(content: bytes, file: str) -> list[AnnotatedQuery]:
    """Return the queries of `[{"id", "video", "time_start", "time_end", "description"}]`, times in seconds.

    Raises:
        InputError: lists everything in the file that has a wrong structure.
    """
    queries = []
    for row, entry in entries_in(_Entry, content, file):
        moment = CaptionedMoment(entry.video, entry.time_start, entry.time_end, entry.description, row)
        queries.append(AnnotatedQuery(entry.id, row, entry.description, [moment]))
    return queries


FORMS = (
    TruthForm(
        "tmlga",
        "TMLGA",
        lambda opening: opening.nesting == "[{" and {"id", "time_start", "time_end"} <= opening.fields,
        read,
    ),
)
