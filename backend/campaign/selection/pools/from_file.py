"""The sentences of an annotation file, or of a file of pools, which is one too.

*Reads* the file, and video files where it does not say how long its videos last. *Writes* nothing.
"""

from pathlib import Path

from backend.campaign.corpus.importing import formats
from backend.campaign.corpus.importing.model import CaptionedMoment, ImportOptions
from backend.campaign.corpus.importing.rules.checks import leaving_out, outside
from backend.campaign.selection.pools.model import Captioned
from backend.core.errors import InputError
from backend.core.reading import unpacked
from backend.scoring.pools.checking import PAST_END_S
from backend.scoring.pools.model import PoolMoment

PUBLISHED = "as published"


def read(file: Path, format: str | None, options: ImportOptions) -> Captioned:  # noqa: A002 - the public word
    """Every sentence of a file, as `import` would take it; a video's in the order of the file.

    Args:
        file: the annotation file.
        format: of the file; None to tell it from the content.
        options: how to read it.

    Raises:
        InputError: every problem of the file; also a video without a duration.
    """
    parsed = formats.parse(format, unpacked(file), file.name, options)
    durations: dict[str, float] = {}
    for moment in parsed.moments:
        if moment.duration_s is not None:
            durations.setdefault(moment.video, moment.duration_s)
    unknown = {moment.video: moment for moment in parsed.moments if moment.video not in durations}
    if unknown:
        message = "has no duration: add durations, or import the file with its videos and name the project"
        raise InputError([moment.problem(file.name, f"video {name} {message}") for name, moment in unknown.items()])
    faults = [
        (one, outside(one.start_s, one.end_s, durations[one.video], parsed.end_slack_s)) for one in parsed.moments
    ]
    faulty = [(moment, fault) for moment, fault in faults if fault]
    if faulty and not parsed.published:
        raise InputError([moment.problem(file.name, fault.message) for moment, fault in faulty])
    moments: dict[str, list[PoolMoment]] = {}
    for moment, fault in faults:
        if not fault:
            moments.setdefault(moment.video, []).append(_moment(moment, durations[moment.video]))
    left_out = [f"{left.count:,} left out: {left.why}" for left in (*parsed.left_out, *leaving_out(faulty))]
    if parsed.merged:
        left_out.append(f"{parsed.merged:,} left out: it repeats an earlier one's video, span and caption")
    return Captioned(file.name, PUBLISHED, moments, {name: durations[name] for name in moments}, left_out)


def _moment(moment: CaptionedMoment, duration_s: float) -> PoolMoment:
    end_s = min(moment.end_s, duration_s + PAST_END_S)  # no later can it end in a file of pools
    return PoolMoment(moment.video, moment.start_s, end_s, moment.caption.strip())
