"""GroundNLQ and CONE (Hou et al., 2023), for Ego4D and MAD: each line has one query, or one query's predictions."""

import msgspec

from backend.core.captioned import CaptionedMoment
from backend.scoring.files.forms.form import (
    AnnotatedQuery,
    Opening,
    RunForm,
    Times,
    TruthForm,
    entries_in,
    require_times,
    run_of_times,
    spans_of,
)
from backend.scoring.matching.columns import Run, Truth


class _Query(msgspec.Struct):
    query_id: int | str
    query: str
    video_id: str
    timestamps: Times = []
    clip_id: str | None = None
    duration: float | None = None


class _Predictions(msgspec.Struct):
    query_id: int | str
    video_id: str
    predicted_times: list[list[float]]


def recognise(opening: Opening) -> bool:
    """Return whether a file has queries in this form: with `timestamps`, or with `query_type` as in test splits."""
    fields = opening.fields
    return (
        opening.nesting in ("{", "[{")
        and {"query_id", "video_id"} <= fields
        and bool(fields & {"timestamps", "query_type"})
    )


def read(content: bytes, file: str) -> list[AnnotatedQuery]:
    """Return the queries of lines `{"query_id", "query", "video_id", "timestamps": [[start, end], ...]}`.

    One moment may also be written `[start, end]`. If there is a `clip_id`, it is the video.

    Raises:
        InputError: lists everything in the file that has a wrong structure. Or no query of the file has times.
    """
    queries = []
    for row, entry in entries_in(_Query, content, file):
        video = entry.clip_id or entry.video_id
        moments = [
            CaptionedMoment(video, *span, entry.query, row, entry.duration) for span in spans_of(entry.timestamps)
        ]
        queries.append(AnnotatedQuery(entry.query_id, row, entry.query, moments))
    require_times(queries, file)
    return queries


def read_run(content: bytes, file: str, _truth: Truth | None) -> Run:
    """Return the run in lines `{"query_id", "video_id", "predicted_times": [[start, end, ...], ...]}`.

    Raises:
        InputError: lists everything in the file that has a wrong structure.
    """
    entries = entries_in(_Predictions, content, file)
    queries = ((entry.query_id, row, entry.video_id, entry.predicted_times) for row, entry in entries)
    return run_of_times(queries, file)


FORMS = (
    TruthForm("groundnlq", "GroundNLQ and CONE", recognise, read),
    RunForm(
        "groundnlq-run",
        "predictions of CONE for MAD",
        lambda opening: opening.nesting in ("{", "[{") and {"query_id", "predicted_times"} <= opening.fields,
        read_run,
    ),
)
