"""ActivityNet Captions (Krishna et al., 2017) and many others: videos with timed sentences, times in seconds.

The duration of a video is called `duration`, or `video_duration` in Charades-CD. Some files lack it, or the sentences.
"""

import msgspec

from backend.core.captioned import CaptionedMoment, sentences_of_videos
from backend.scoring.files.forms.form import (
    AnnotatedQuery,
    Opening,
    TruthForm,
    entries_by_key,
    opening_of,
    queries_of,
)

_DURATIONS = ("duration", "video_duration", "num_frames")


def duration_field(opening: Opening) -> str | None:
    """Return the name of the field with a video's duration, if the file is an object of videos with timed sentences.

    The name is empty if such a file has no durations. The result is None for any other file.
    """
    fields = opening.fields
    if opening.nesting != "{{" or "timestamps" not in fields or "retrieval_pool" in fields:
        return None
    if "sentences" not in fields and not fields <= {"timestamps", *_DURATIONS}:
        return None
    return next((field for field in _DURATIONS if field in fields), "")


class _Times(msgspec.Struct):
    timestamps: list[tuple[float, float]]
    duration: float | None = None


def read(content: bytes, file: str) -> list[AnnotatedQuery]:
    """Return the queries of `{video: {"duration", "timestamps": [[start, end], ...], "sentences": [...]}}`.

    Raises:
        InputError: lists everything in the file that has a wrong structure.
    """
    opening = opening_of(content)
    if "sentences" in opening.fields:
        return queries_of(sentences_of_videos(content, file, duration_field(opening) or None), file)
    moments = [
        CaptionedMoment(video, *span, "", row, entry.duration, sentence=number)
        for row, video, entry in entries_by_key(_Times, content, file)
        for number, span in enumerate(entry.timestamps, start=1)
    ]
    return queries_of((moments, [], []), file)


FORMS = (
    TruthForm(
        "activitynet",
        "ActivityNet Captions, Charades-CD and others",
        lambda opening: duration_field(opening) in ("duration", "video_duration", ""),
        read,
    ),
    TruthForm("tacos", "TACoS in the JSON of 2D-TAN", lambda opening: duration_field(opening) == "num_frames", read),
)
