"""CBP (Wang et al., AAAI 2020): an object of results, with the predictions for each sentence `VIDEO-N`."""

import re

import msgspec

from backend.core.captioned import query_id
from backend.scoring.files.forms.form import RunForm, entries_by_key_under, run_of_times
from backend.scoring.matching.columns import Run, Truth

_NUMBER = re.compile(r"\d{1,9}")


class _Prediction(msgspec.Struct):
    timestamp: tuple[float, float]
    score: float


def read_run(content: bytes, file: str, _truth: Truth | None) -> Run:
    """Return the run in `{"results": {"VIDEO-N": [{"timestamp": [start, end], "score"}]}}`, best first.

    N counts the sentences of a video from 0: `VIDEO-N` is the query `VIDEO#N`.

    Raises:
        InputError: lists everything in the file that has a wrong structure.
    """
    queries = []
    for row, key, predictions in entries_by_key_under("results", list[_Prediction], content, file):
        video, _, number = key.rpartition("-")
        name = query_id(video, int(number)) if _NUMBER.fullmatch(number) else key
        queries.append((name, row, video, [(*found.timestamp, found.score) for found in predictions]))
    return run_of_times(queries, file)


FORMS = (
    RunForm(
        "cbp-run",
        "CBP, predictions",
        lambda opening: opening.nesting == "{{" and opening.has("results", "timestamp", "score"),
        read_run,
    ),
)
