"""DiDeMo (Hendricks et al., 2017): a list of descriptions, with the segments of 5 s that several people marked."""

from backend.core.captioned import didemo_entries
from backend.scoring.files.forms.form import AnnotatedQuery, TruthForm, refuse


def read(content: bytes, file: str) -> list[AnnotatedQuery]:
    """Return the queries of `[{"annotation_id", "video", "description", "times": [[first, last], ...]}]`.

    `first` and `last` are segments of 5 s, counted from 0; the moment includes both.

    Raises:
        InputError: lists everything in the file that has a wrong structure.
    """
    entries, problems = didemo_entries(content, file)
    refuse(problems)
    return [
        AnnotatedQuery(
            entry.annotation_id, row, entry.description, [entry.moment(row, *times) for times in entry.times]
        )
        for row, entry in entries
    ]


FORMS = (
    TruthForm(
        "didemo",
        "DiDeMo",
        lambda opening: opening.nesting == "[{" and {"description", "times"} <= opening.fields,
        read,
    ),
)
