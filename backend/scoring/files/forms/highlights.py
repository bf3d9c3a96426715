"""TVSum (Song et al., CVPR 2015) and YouTube Highlights (Sun et al., ECCV 2014): labels of clips, without moments.

UMT has an object of videos; Moment-DETR's successors have a line for each video. Each video becomes a query without
moments. The labels are not read here, but when a benchmark computes its highlight figures.
"""

import msgspec

from backend.scoring.files.forms.form import AnnotatedQuery, Opening, TruthForm, entries_by_key, entries_in


class _Line(msgspec.Struct):
    qid: int | str
    query: str = ""


class _Video(msgspec.Struct):
    title: str = ""
    domain: str = ""


def in_lines(opening: Opening) -> bool:
    """Return whether a file has lines `{"qid", "label"}`."""
    return opening.nesting in ("{", "[{") and {"qid", "label"} <= opening.fields


def of_videos(opening: Opening) -> bool:
    """Return whether a file is UMT's object of videos with `anno` (TVSum) or `match` (YouTube Highlights)."""
    return opening.nesting == "{{" and "domain" in opening.fields and bool({"anno", "match"} & opening.fields)


def read_lines(content: bytes, file: str) -> list[AnnotatedQuery]:
    """Return the queries of lines `{"qid", "query", "vid", "label", "domain"}`.

    Raises:
        InputError: lists everything in the file that has a wrong structure.
    """
    return [AnnotatedQuery(line.qid, row, line.query, ()) for row, line in entries_in(_Line, content, file)]


def read_videos(content: bytes, file: str) -> list[AnnotatedQuery]:
    """Return the queries of `{video: {"domain", "anno" or "match"}}`.

    Raises:
        InputError: lists everything in the file that has a wrong structure.
    """
    entries = entries_by_key(_Video, content, file)
    return [AnnotatedQuery(video, row, entry.title or entry.domain, ()) for row, video, entry in entries]


FORMS = (
    TruthForm("highlights", "TVSum and YouTube Highlights", in_lines, read_lines),
    TruthForm("highlights-umt", "TVSum and YouTube Highlights, of UMT", of_videos, read_videos),
)
