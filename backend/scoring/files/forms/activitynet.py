"""ActivityNet Captions (Krishna et al., 2017) and many others: videos with timed sentences, times in seconds.

Charades-CD calls the duration of a video `video_duration`; other files do without.
"""

from backend.core.captioned import sentences_of_videos
from backend.scoring.files.forms.form import AnnotatedQuery, Opening, TruthForm, opening_of, queries_of

_DURATIONS = ("duration", "video_duration", "num_frames")


def duration_field(opening: Opening) -> str | None:
    """Return the field with the duration of a video, if the file is an object of videos with timed sentences.

    It is empty if there is no such field, and None for any other file.
    """
    if (
        opening.nesting != "{{"
        or not {"timestamps", "sentences"} <= opening.fields
        or "retrieval_pool" in opening.fields
    ):
        return None
    return next((field for field in _DURATIONS if field in opening.fields), "")


def read(content: bytes, file: str) -> list[AnnotatedQuery]:
    """Return the queries of `{video: {"duration", "timestamps": [[start, end], ...], "sentences": [...]}}`.

    Raises:
        InputError: lists everything in the file that has a wrong structure.
    """
    return queries_of(sentences_of_videos(content, file, duration_field(opening_of(content)) or None), file)


FORMS = (
    TruthForm(
        "activitynet",
        "ActivityNet Captions, Charades-CD and others",
        lambda opening: duration_field(opening) in ("duration", "video_duration", ""),
        read,
    ),
    TruthForm("tacos", "TACoS in the JSON of 2D-TAN", lambda opening: duration_field(opening) == "num_frames", read),
)
