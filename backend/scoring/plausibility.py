"""Warn of predictions that are probably mistakes: after the end of a video, not in seconds, or of unknown videos.

The durations and names of videos are those that the truth holds.
"""

from dataclasses import replace

import numpy as np

from backend.core.messages import said, said_n
from backend.core.timespan import Flags, Floats
from backend.scoring.matching.columns import Run, Truth, VideoMap

SLACK_S = 5.0
"""A prediction may end this many seconds after its video, because models predict whole clips (of 5 s in DiDeMo)."""
_MOST = 0.95
"""A unit is named only if it explains at least this share of the late predictions."""
_FRAMES = ((1, 35), (10, 65))
"""(number of late predictions, highest frame rate): a few times at 60 frames/s could also be milliseconds."""
_MUCH = 5
"""Times count as frames only if their median is at least this multiple of the video's duration."""


def add_video_facts(truth: Truth, videos: VideoMap | None) -> Truth:
    """Return the truth with the names and durations of `videos` added; unchanged if `videos` is None."""
    if videos is None:
        return truth
    return replace(truth, catalogue=frozenset(videos.values()), durations={**truth.durations, **videos.durations})


def doubts_about(run: Run, truth: Truth) -> list[str]:
    """Return a warning for each kind of implausible prediction.

    It states how many predictions of this kind there are, and which is the first of them.

    >>> from backend.scoring.files.entries import parse_run_mapping, parse_truth_mapping
    >>> truth = parse_truth_mapping({"q": [{"video": "v", "start": 0, "end": 9, "relevance": 1}]})
    >>> run = parse_run_mapping({"q": [["v", 5000, 9000, 0.5]]})
    >>> doubts_about(run, replace(truth, durations={"v": 30.0}))[0].split("; ")[:2]
    ['run: 1 prediction begins after its video ends', 'times seem to be in milliseconds']
    """
    return [*_after_the_end(run, truth), *_unknown_names(run, truth)]


def _after_the_end(run: Run, truth: Truth) -> list[str]:
    known_s = np.array([truth.durations.get(video, np.nan) for video in run.videos], dtype=np.float64)
    if np.isnan(known_s).all():
        return []
    lasts_s = known_s[run.video]
    with np.errstate(invalid="ignore"):
        begins = run.start_s > lasts_s
        ends = ~begins & (run.end_s > lasts_s + SLACK_S)
    late = begins | ends
    unit = _unit(run.end_s[late], lasts_s[late]) if late.any() else ""
    doubts = []
    if n := int(begins.sum()):
        what = said_n(
            "{n:,} prediction begins after its video ends", "{n:,} predictions begin after their video ends", n
        )
        doubts.append(_late_warning(run, what, unit, begins, lasts_s))
    if n := int(ends.sum()):
        what = said_n(
            "{n:,} prediction ends more than {slack:g} s after its video",
            "{n:,} predictions end more than {slack:g} s after their video",
            n,
            slack=SLACK_S,
        )
        doubts.append(_late_warning(run, what, "" if doubts else unit, ends, lasts_s))
    return doubts


def _late_warning(run: Run, what: str, unit: str, flags: Flags, lasts_s: Floats) -> str:
    at = int(np.argmax(flags))
    example = said(
        "{start:.10g} to {end:.10g} s of {video}, which lasts {lasts:.10g} s",
        start=run.start_s[at],
        end=run.end_s[at],
        video=run.videos[run.video[at]],
        lasts=lasts_s[at],
    )
    if unit:
        what = said("{what}; times seem to be in {unit}", what=what, unit=unit)
    return _with_first(run, what, at, example)


def _with_first(run: Run, what: str, at: int, example: str) -> str:
    return said(
        "{file}: {what}; the first: row {row}, query {query}, moment {number}: {example}",
        file=run.file,
        what=what,
        row=run.row[at],
        query=run.queries[int(run.query[at])],
        number=run.number[at],
        example=example,
    )


def _unit(end_s: Floats, lasts_s: Floats) -> str:
    """Return the unit that end times seem to be in (frames or milliseconds), or an empty text if neither explains them.

    `end_s` are end times that lie after their video's end, read as seconds. `lasts_s` are the videos' durations in
    seconds.
    """
    most = max(rate for least, rate in _FRAMES if len(end_s) >= least)
    if np.mean(end_s <= most * (lasts_s + SLACK_S)) >= _MOST:
        return said("frames") if np.median(end_s / lasts_s) >= _MUCH else ""
    return said("milliseconds") if np.mean(end_s <= 1000 * (lasts_s + SLACK_S)) >= _MOST else ""


def _unknown_names(run: Run, truth: Truth) -> list[str]:
    if truth.catalogue is None:
        return []
    known = truth.catalogue.union(truth.videos)
    unknown = np.array([video not in known for video in run.videos], dtype=bool)
    if not unknown.any() or not (flags := unknown[run.video]).any():
        return []
    n, at = int(flags.sum()), int(np.argmax(flags))
    what = said_n(
        "{n:,} prediction is of a video that is not in the map of videos",
        "{n:,} predictions are of videos that are not in the map of videos ({videos:,} names)",
        n,
        videos=len(np.unique(run.video[flags])),
    )
    return [_with_first(run, what, at, repr(run.videos[run.video[at]]))]
