"""MAD (Soldan et al., CVPR 2022): an object of sentences from audio descriptions of movies, with their times."""

import msgspec

from backend.core.captioned import CaptionedMoment
from backend.scoring.files.forms.form import AnnotatedQuery, TruthForm, entries_by_key


class _Sentence(msgspec.Struct):
    movie: str
    sentence: str
    movie_duration: float
    ext_timestamps: tuple[float, float]


def read(content: bytes, file: str) -> list[AnnotatedQuery]:
    """Return the queries of `{id: {"movie", "sentence", "movie_duration", "ext_timestamps": [start, end]}}`.

    The extended times are those that the published baselines train on and are scored by.

    Raises:
        InputError: lists everything in the file that has a wrong structure.
    """
    queries = []
    for row, name, entry in entries_by_key(_Sentence, content, file):
        moment = CaptionedMoment(entry.movie, *entry.ext_timestamps, entry.sentence, row, entry.movie_duration, name)
        queries.append(AnnotatedQuery(name, row, entry.sentence, [moment]))
    return queries


FORMS = (
    TruthForm(
        "mad",
        "MAD",
        lambda opening: opening.nesting == "{{" and {"movie", "sentence", "ext_timestamps"} <= opening.fields,
        read,
    ),
)
