"""MomentSeeker (Yuan et al., 2025): queries with candidate clips of long videos, and the clips that a system ranks.

A clip is a path that ends in `VIDEO/START_END` and perhaps more, with times in seconds. A query's id is its text.
"""

import re
from collections.abc import Sequence

import msgspec

from backend.core.captioned import CaptionedMoment
from backend.core.errors import Problem
from backend.core.messages import said
from backend.scoring.files.entries import Group, run_of
from backend.scoring.files.forms.form import (
    AnnotatedQuery,
    RunForm,
    TruthForm,
    entries_by_key,
    entries_in,
    refuse,
)
from backend.scoring.files.words import RUN, resolver
from backend.scoring.matching.columns import Run, Truth

_CLIP = re.compile(r"(?:.*/)?([^/]+)/(\d+(?:\.\d+)?)_(\d+(?:\.\d+)?)(?=[._]|$)[^/]*")


class _Clip(msgspec.Struct):
    output_path: str


class _Query(msgspec.Struct):
    qry_text: str
    candidate_video_list: list[_Clip]
    gt_indices: list[int]


class _Ranked(msgspec.Struct):
    pred: list[str]


def read(content: bytes, file: str) -> list[AnnotatedQuery]:
    """Return the queries of `[{"qry_text", "candidate_video_list": [{"output_path"}], "gt_indices": [...]}]`.

    Raises:
        InputError: lists everything in the file that has a wrong structure.
    """
    problems: list[Problem] = []
    queries = []
    for row, entry in entries_in(_Query, content, file):
        clips = entry.candidate_video_list
        if missing := [index for index in entry.gt_indices if not 0 <= index < len(clips)]:
            problems.append(Problem(file, row, said("has no candidate {index}", index=missing[0])))
            continue
        spans = _spans([clips[index].output_path for index in entry.gt_indices], file, row, problems)
        moments = [CaptionedMoment(video, start_s, end_s, entry.qry_text, row) for video, start_s, end_s in spans]
        queries.append(AnnotatedQuery(entry.qry_text, row, entry.qry_text, moments))
    refuse(problems)
    return queries


def read_run(content: bytes, file: str, _truth: Truth | None) -> Run:
    """Return the run in `{query: {"gt": [...], "pred": [clip, ...]}}`, best first.

    Raises:
        InputError: lists everything in the file that has a wrong structure.
    """
    problems: list[Problem] = []
    groups = []
    for row, query, entry in entries_by_key(_Ranked, content, file):
        spans = _spans(entry.pred, file, row, problems)
        groups.append(Group(query, row, [[*span, float(-number)] for number, span in enumerate(spans, start=1)]))
    refuse(problems)
    return run_of(groups, file, RUN.usual, resolver(None))


def _spans(paths: Sequence[str], file: str, row: int, problems: list[Problem]) -> list[tuple[str, float, float]]:
    """Return the video, start and end of each clip; append a problem for each path that does not name them."""
    spans = []
    for path in paths:
        if match := _CLIP.fullmatch(path):
            spans.append((match[1], float(match[2]), float(match[3])))
        else:
            problems.append(Problem(file, row, said("{path!r} does not end in VIDEO/START_END", path=path)))
    return spans


FORMS = (
    TruthForm(
        "momentseeker",
        "MomentSeeker",
        lambda opening: opening.nesting == "[{" and opening.has("qry_text", "candidate_video_list"),
        read,
    ),
    RunForm(
        "momentseeker-run",
        "MomentSeeker, ranked clips",
        lambda opening: opening.nesting == "{{" and {"gt", "pred"} <= opening.fields,
        read_run,
    ),
)
