"""Charades-STA as in TimeChat (Ren et al., CVPR 2024) and TimeSuite: captions in the style of COCO, with times."""

import msgspec

from backend.core.captioned import CaptionedMoment
from backend.scoring.files.forms.form import AnnotatedQuery, TruthForm, entries_under


class _Caption(msgspec.Struct):
    id: int | str
    image_id: str
    caption: str
    timestamp: tuple[float, float]


def read(content: bytes, file: str) -> list[AnnotatedQuery]:
    """Return the queries of `{"annotations": [{"id", "image_id", "caption", "timestamp": [start, end]}]}`.

    Raises:
        InputError: lists everything in the file that has a wrong structure.
    """
    queries = []
    for row, entry in entries_under("annotations", _Caption, content, file):
        text = entry.caption.strip()
        moment = CaptionedMoment(entry.image_id, *entry.timestamp, text, row)
        queries.append(AnnotatedQuery(entry.id, row, text, [moment]))
    return queries


FORMS = (
    TruthForm(
        "timechat",
        "Charades-STA as in TimeChat",
        lambda opening: opening.nesting == "{[" and opening.has("annotations", "image_id", "caption", "timestamp"),
        read,
    ),
)
