"""TimeChat and TimeSuite (2024): captions in the style of COCO, each with its time in a video."""

import msgspec

from backend.core.captioned import CaptionedMoment
from backend.scoring.files.forms.form import AnnotatedQuery, Times, TruthForm, entries_under, spans_of


class _Caption(msgspec.Struct):
    id: int | str
    image_id: str
    caption: str
    timestamp: Times


def read(content: bytes, file: str) -> list[AnnotatedQuery]:
    """Return the queries of `{"annotations": [{"id", "image_id", "caption", "timestamp": [start, end]}]}`.

    TimeSuite's file of QVHighlights has a list of times for each caption.

    Raises:
        InputError: lists everything in the file that has a wrong structure.
    """
    queries = []
    for row, entry in entries_under("annotations", _Caption, content, file):
        text = entry.caption.strip()
        moments = [CaptionedMoment(entry.image_id, *span, text, row) for span in spans_of(entry.timestamp)]
        queries.append(AnnotatedQuery(entry.id, row, text, moments))
    return queries


FORMS = (
    TruthForm(
        "timechat",
        "TimeChat and TimeSuite",
        lambda opening: opening.nesting == "{[" and opening.has("annotations", "image_id", "caption", "timestamp"),
        read,
    ),
)
