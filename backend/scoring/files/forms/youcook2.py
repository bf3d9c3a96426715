"""YouCook2 (Zhou et al., AAAI 2018), and the files of SnAG and UniMD: a database of videos with annotated segments.

The id of a query is the id that SnAG or UniMD gives. Without one, it is `VIDEO#N`, where N counts the segments of the
video from 0.
"""

import msgspec

from backend.core.captioned import CaptionedMoment, query_id
from backend.scoring.files.forms.form import AnnotatedQuery, TruthForm, entries_by_key_under, require_times


class _Segment(msgspec.Struct):
    segment: tuple[float, float] | None = None
    sentence: str = ""
    query: str = ""
    sentence_id: int | str | None = None
    annotation_uid: str = ""
    annotation_idx: int = 0

    def name(self, video: str, number: int) -> int | str:
        if self.annotation_uid:
            return f"{self.annotation_uid}_{self.annotation_idx}"
        return query_id(video, number) if self.sentence_id is None else self.sentence_id


class _Video(msgspec.Struct):
    duration: float
    annotations: list[_Segment] = []


def read(content: bytes, file: str) -> list[AnnotatedQuery]:
    """Return the queries of `{"database": {video: {"duration", "annotations": [{"segment", "sentence"}]}}}`.

    UniMD calls the sentence `query`.

    Raises:
        InputError: lists everything in the file that has a wrong structure.
    """
    queries = []
    for row, video, entry in entries_by_key_under("database", _Video, content, file):
        for number, found in enumerate(entry.annotations):
            if found.segment is not None:
                text = (found.sentence or found.query).strip()
                moment = CaptionedMoment(video, *found.segment, text, row, entry.duration, sentence=number + 1)
                queries.append(AnnotatedQuery(found.name(video, number), row, text, [moment]))
    require_times(queries, file)
    return queries


FORMS = (
    TruthForm(
        "youcook2",
        "YouCook2, SnAG and UniMD",
        lambda opening: (
            opening.nesting[:1] == "{"
            and opening.has("database", "annotations")
            and (opening.has("sentence") or opening.has("query"))
        ),
        read,
    ),
)
