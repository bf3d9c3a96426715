"""YouCook2 (Zhou et al., AAAI 2018), and the files of SnAG: a database of videos with annotated segments."""

import msgspec

from backend.core.captioned import CaptionedMoment, query_id
from backend.scoring.files.forms.form import AnnotatedQuery, TruthForm, entries_by_key_under


class _Segment(msgspec.Struct):
    segment: tuple[float, float]
    sentence: str
    sentence_id: int | str | None = None


class _Video(msgspec.Struct):
    duration: float
    annotations: list[_Segment] = []


def read(content: bytes, file: str) -> list[AnnotatedQuery]:
    """Return the queries of `{"database": {video: {"duration", "annotations": [{"segment", "sentence"}]}}}`.

    Raises:
        InputError: lists everything in the file that has a wrong structure.
    """
    queries = []
    for row, video, entry in entries_by_key_under("database", _Video, content, file):
        for number, found in enumerate(entry.annotations):
            text = found.sentence.strip()
            moment = CaptionedMoment(video, *found.segment, text, row, entry.duration, sentence=number + 1)
            queries.append(AnnotatedQuery(found.sentence_id or query_id(video, number), row, text, [moment]))
    return queries


FORMS = (
    TruthForm(
        "youcook2",
        "YouCook2 and SnAG",
        lambda opening: opening.nesting[:1] == "{" and opening.has("database", "annotations", "segment", "sentence"),
        read,
    ),
)
