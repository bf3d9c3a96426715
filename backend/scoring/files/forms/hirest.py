"""HiREST (Zala et al., CVPR 2023): annotations and predictions of the part of a video that answers a prompt.

A query is a prompt in one video. It is called `VIDEO#PROMPT`. The captions of steps are in files of their own.
"""

import msgspec

from backend.core.captioned import CaptionedMoment
from backend.scoring.files.forms.form import (
    AnnotatedQuery,
    RunForm,
    TruthForm,
    entries_by_key,
    queries_of,
    run_of_times,
)
from backend.scoring.matching.columns import Run, Truth

_Span = tuple[float, float]


class _Video(msgspec.Struct):
    bounds: _Span
    clip: bool
    v_duration: float


class _Found(msgspec.Struct):
    bounds: _Span


class _Step(msgspec.Struct):
    start: float
    end: float
    sentence: str


class _Steps(msgspec.Struct):
    captions: list[_Step]


def _name(video: str, prompt: str) -> str:
    return f"{video}#{prompt}"


def read(content: bytes, file: str) -> list[AnnotatedQuery]:
    """Return the queries of `{prompt: {video: {"clip", "bounds": [start, end], "v_duration"}}}`.

    Videos whose `clip` is false have no part that answers the prompt, and are left out. The row of a query is that of
    its prompt.

    Raises:
        InputError: lists everything in the file that has a wrong structure.
    """
    return [
        AnnotatedQuery(
            _name(video, prompt), row, prompt, [CaptionedMoment(video, *entry.bounds, prompt, row, entry.v_duration)]
        )
        for row, prompt, videos in entries_by_key(dict[str, _Video], content, file)
        for video, entry in videos.items()
        if entry.clip
    ]


def read_steps(content: bytes, file: str) -> list[AnnotatedQuery]:
    """Return the queries of `{video: {"captions": [{"start", "end", "sentence"}], "bounds"}}`: a query for each step.

    Raises:
        InputError: lists everything in the file that has a wrong structure.
    """
    moments = [
        CaptionedMoment(video, step.start, step.end, step.sentence.strip(), row, sentence=number)
        for row, video, entry in entries_by_key(_Steps, content, file)
        for number, step in enumerate(entry.captions, start=1)
    ]
    return queries_of((moments, [], []), file)


def read_run(content: bytes, file: str, _truth: Truth | None) -> Run:
    """Return the run in `{prompt: {video: {"bounds": [start, end]}}}`: one prediction for each prompt and video.

    Raises:
        InputError: lists everything in the file that has a wrong structure.
    """
    queries = (
        (_name(video, prompt), row, video, [entry.bounds])
        for row, prompt, videos in entries_by_key(dict[str, _Found], content, file)
        for video, entry in videos.items()
    )
    return run_of_times(queries, file)


FORMS = (
    TruthForm(
        "hirest",
        "HiREST",
        lambda opening: opening.nesting == "{{" and opening.has("bounds", "clip", "v_duration"),
        read,
    ),
    TruthForm(
        "hirest-steps",
        "HiREST, captions of steps",
        lambda opening: opening.nesting == "{{" and {"captions", "bounds"} <= opening.fields,
        read_steps,
    ),
    RunForm(
        "hirest-run",
        "HiREST, predictions",
        lambda opening: opening.nesting == "{{" and opening.has("bounds") and not opening.has("captions"),
        read_run,
    ),
)
