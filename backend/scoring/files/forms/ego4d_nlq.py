"""Ego4D natural language queries (Grauman et al., CVPR 2022): the official annotations, and predictions as submitted.

A query is called `ANNOTATION_N`, where N counts the queries of an annotation from 0. Its video is the clip.
"""

import msgspec

from backend.core.captioned import CaptionedMoment
from backend.scoring.files.forms.form import (
    AnnotatedQuery,
    RunForm,
    TruthForm,
    entries_under,
    require_times,
    run_of_times,
)
from backend.scoring.matching.columns import Run, Truth


class _Query(msgspec.Struct):
    query: str | None = None
    clip_start_sec: float | None = None
    clip_end_sec: float | None = None


class _Annotation(msgspec.Struct):
    annotation_uid: str
    language_queries: list[_Query]


class _Clip(msgspec.Struct):
    clip_uid: str
    annotations: list[_Annotation]
    clip_end_sec: float | None = None


class _Video(msgspec.Struct):
    clips: list[_Clip]


class _Prediction(msgspec.Struct):
    clip_uid: str
    annotation_uid: str
    query_idx: int
    predicted_times: list[list[float]]


def read(content: bytes, file: str) -> list[AnnotatedQuery]:
    """Return the queries of `{"videos": [{"clips": [{"clip_uid", "annotations": [{"language_queries"}]}]}]}`.

    The row of a query is that of its video. Queries without times are left out.

    Raises:
        InputError: lists everything in the file that has a wrong structure. Or no query of the file has times.
    """
    queries = []
    for row, video in entries_under("videos", _Video, content, file):
        for clip in video.clips:
            for annotation in clip.annotations:
                for number, query in enumerate(annotation.language_queries):
                    name, text = f"{annotation.annotation_uid}_{number}", query.query or ""
                    if query.clip_start_sec is None or query.clip_end_sec is None:
                        continue
                    times_s = query.clip_start_sec, query.clip_end_sec
                    moment = CaptionedMoment(clip.clip_uid, *times_s, text, row, clip.clip_end_sec, name)
                    queries.append(AnnotatedQuery(name, row, text, [moment]))
    require_times(queries, file)
    return queries


def read_run(content: bytes, file: str, _truth: Truth | None) -> Run:
    """Return the run in `{"results": [{"clip_uid", "annotation_uid", "query_idx", "predicted_times"}]}`.

    Raises:
        InputError: lists everything in the file that has a wrong structure.
    """
    predictions = entries_under("results", _Prediction, content, file)
    queries = (
        (f"{entry.annotation_uid}_{entry.query_idx}", row, entry.clip_uid, entry.predicted_times)
        for row, entry in predictions
    )
    return run_of_times(queries, file)


FORMS = (
    TruthForm(
        "ego4d-nlq",
        "Ego4D NLQ",
        lambda opening: opening.nesting[:1] == "{" and opening.has("clips", "clip_uid", "language_queries"),
        read,
    ),
    RunForm(
        "ego4d-nlq-run",
        "Ego4D NLQ, as submitted",
        lambda opening: opening.nesting[:1] == "{" and opening.has("clip_uid", "query_idx", "predicted_times"),
        read_run,
    ),
)
