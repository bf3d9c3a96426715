"""Hao et al. (ECCV 2022, shuffled videos): results with one prediction for each sentence of a video, in their order."""

import msgspec

from backend.core.captioned import query_id
from backend.scoring.files.forms.form import RunForm, entries_by_key_under, run_of_times
from backend.scoring.matching.columns import Run, Truth


class _Prediction(msgspec.Struct):
    timestamp: tuple[float, float]
    gt_timestamp: tuple[float, float]
    score: float


def read_run(content: bytes, file: str, _truth: Truth | None) -> Run:
    """Return the run in `{"results": {video: [{"timestamp": [start, end], "gt_timestamp", "score"}]}}`.

    The N-th prediction of a video, counted from 0, answers the query `VIDEO#N`.

    Raises:
        InputError: lists everything in the file that has a wrong structure.
    """
    queries = (
        (query_id(video, number), row, video, [(*found.timestamp, found.score)])
        for row, video, predictions in entries_by_key_under("results", list[_Prediction], content, file)
        for number, found in enumerate(predictions)
    )
    return run_of_times(queries, file)


FORMS = (
    RunForm(
        "hao-run",
        "shuffled videos (Hao et al.), predictions",
        lambda opening: opening.nesting == "{" and opening.has("results", "timestamp", "gt_timestamp"),
        read_run,
    ),
)
