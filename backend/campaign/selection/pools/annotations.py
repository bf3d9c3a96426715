"""Read the sentences of an annotation file, each with its moment and its video, as `import` reads them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from backend.campaign.corpus.importing import formats
from backend.campaign.corpus.importing.model import CaptionedMoment, ImportOptions
from backend.campaign.corpus.importing.rules import count_left_out, outside_fault
from backend.campaign.selection.pools.model import CaptionedCorpus
from backend.core.errors import InputError
from backend.core.reading import unpacked_bytes
from backend.scoring.pools.checking import PAST_END_S
from backend.scoring.pools.model import PoolMoment

PUBLISHED = "as published"


@dataclass(frozen=True, slots=True)
class AnnotationFile:
    """The valid entries of an annotation file, in file order, and the length in seconds of each of their videos.

    `repeats` counts the entries that repeat the video, span and text of an earlier one. `left_out` says of each kind of
    invalid entry how many there are.
    """

    moments: Sequence[CaptionedMoment]
    durations: Mapping[str, float]
    repeats: int
    left_out: Sequence[str]


def read_annotations(
    file: Path,
    format: str | None,  # noqa: A002 - the word of the public contract
    options: ImportOptions,
    *,
    keep_repeats: bool = False,
) -> AnnotationFile:
    """Read the entries of an annotation file as `import` does. The file may be packed with gzip.

    Args:
        file: the annotation file.
        format: format of the file; None detects it from the content.
        options: the types of entries to keep, and the names of columns, as for an import into a project.
        keep_repeats: whether to keep entries that repeat the video, span and text of an earlier one.

    Raises:
        InputError: every problem of the file, including every video without a duration.
    """
    parsed = formats.parse(format, unpacked_bytes(file), file.name, options)
    entries = parsed.moments
    if keep_repeats:
        entries = sorted([*entries, *parsed.repeats], key=lambda moment: (moment.row, moment.sentence or 0))
    durations: dict[str, float] = {}
    for moment in entries:
        if moment.duration_s is not None:
            durations.setdefault(moment.video, moment.duration_s)
    unknown = {moment.video: moment for moment in entries if moment.video not in durations}
    if unknown:
        message = "has no duration: add durations, or import the file with its videos and name the project"
        raise InputError([moment.problem(file.name, f"video {name} {message}") for name, moment in unknown.items()])
    faults = [
        (moment, outside_fault(moment.start_s, moment.end_s, durations[moment.video], parsed.end_slack_s))
        for moment in entries
    ]
    faulty = [(moment, fault) for moment, fault in faults if fault]
    if faulty and not parsed.published:
        raise InputError([moment.problem(file.name, fault.message) for moment, fault in faulty])
    moments = [moment for moment, fault in faults if not fault]
    left_out = [f"{left.count:,} left out: {left.why}" for left in (*parsed.left_out, *count_left_out(faulty))]
    videos = dict.fromkeys(moment.video for moment in moments)
    return AnnotationFile(moments, {name: durations[name] for name in videos}, parsed.merged, left_out)


def read_corpus(file: Path, format: str | None, options: ImportOptions) -> CaptionedCorpus:  # noqa: A002 - public word
    """Read every sentence of an annotation file to build pools from. The sentences of a video stay in the file's order.

    Sentences that repeat another's video, span and text are left out. For arguments and errors, see `read_annotations`.
    """
    annotations = read_annotations(file, format, options)
    moments: dict[str, list[PoolMoment]] = {name: [] for name in annotations.durations}
    for moment in annotations.moments:
        # A file of pools may have no later end.
        end_s = min(moment.end_s, annotations.durations[moment.video] + PAST_END_S)
        moments[moment.video].append(PoolMoment(moment.video, moment.start_s, end_s, moment.caption.strip()))
    left_out = list(annotations.left_out)
    if annotations.repeats:
        left_out.append(f"{annotations.repeats:,} left out: it repeats an earlier one's video, span and caption")
    return CaptionedCorpus(file.name, PUBLISHED, moments, annotations.durations, left_out)
