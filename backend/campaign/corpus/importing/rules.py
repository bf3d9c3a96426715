"""Check the moments of an annotation file, merge repeated ones, and match videos that the file names differently.

A file that a user wrote is refused if one moment is impossible, because the user can correct it. The file of a
published corpus cannot be corrected, so its impossible moments are left out and counted.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from backend.campaign.corpus.importing.model import END_SLACK_S, CaptionedMoment, LeftOut, Parsed
from backend.core.errors import InputError, Problem
from backend.core.messages import joined, said
from backend.core.typed_text import is_visible

LONGEST_CAPTION = 5000
"""The most characters of a caption. Published ones have a few hundred; finding names takes quadratic time."""
_SHOWN = 5


@dataclass(frozen=True, slots=True)
class Fault:
    """What makes a moment impossible: `why` names the kind of fault, and `message` describes it for this moment."""

    why: str
    message: str


def finish(
    moments: list[CaptionedMoment],
    problems: Iterable[Problem],
    file: str,
    *,
    published: bool = False,
    notes: Iterable[str] = (),
    left_out: Iterable[LeftOut] = (),
    end_slack_s: float = END_SLACK_S,
) -> Parsed:
    """Check the moments of an annotation file, and merge those with the same video, span and caption.

    Args:
        moments: the moments as the file gives them, unchecked.
        problems: problems found earlier, which are reported together with the new ones.
        file: the name of the file, for messages.
        published: whether the file is of a published corpus, whose impossible moments are left out. Any other file is
            refused because of them.
        notes: remarks made earlier, which are passed on.
        left_out: entries left out earlier, which are passed on.
        end_slack_s: how many seconds a moment may end after the end of its video.

    Raises:
        InputError: the file has problems, all listed in the error, or no moment is left.
    """
    good, faulty = check(moments, problems, file, published=published, end_slack_s=end_slack_s)
    return merge(good, published=published, notes=notes, left_out=(*left_out, *faulty), end_slack_s=end_slack_s)


def check(
    moments: Sequence[CaptionedMoment],
    problems: Iterable[Problem],
    file: str,
    *,
    published: bool = False,
    end_slack_s: float = END_SLACK_S,
) -> tuple[list[CaptionedMoment], list[LeftOut]]:
    """Return the valid moments of an annotation file, and the impossible ones grouped by reason.

    For arguments and errors, see `finish`.
    """
    refused = [(problem.row or 0, problem) for problem in problems]
    durations: dict[str, CaptionedMoment] = {}
    identified: dict[str, CaptionedMoment] = {}

    def refuse(moment: CaptionedMoment, message: str) -> None:
        refused.append((moment.row, moment.problem(file, message)))

    for moment in moments:
        if moment.duration_s is not None:
            first = durations.setdefault(moment.video, moment)
            if first.duration_s != moment.duration_s:
                here = said(
                    "video {video!r} lasts {duration_s} s here", video=moment.video, duration_s=moment.duration_s
                )
                refuse(
                    moment,
                    said(
                        "{here} and {duration_s} s in {place}",
                        here=here,
                        duration_s=first.duration_s,
                        place=first.place,
                    ),
                )
            if moment.duration_s <= 0 and moment.sentence in (None, 1):
                refuse(moment, said("duration {duration_s} is not above 0", duration_s=moment.duration_s))
        if moment.external_id is not None:
            first = identified.setdefault(moment.external_id, moment)
            if first is not moment:
                refuse(
                    moment,
                    said(
                        "id {external_id!r} is already used in {place}: give each moment its own",
                        external_id=moment.external_id,
                        place=first.place,
                    ),
                )
    good: list[CaptionedMoment] = []
    faulty: list[tuple[CaptionedMoment, Fault]] = []
    for moment in moments:
        # Another line may give the duration if this one does not.
        known = durations.get(moment.video)
        faults = list(_faults(moment, known.duration_s if known else None, end_slack_s))
        if not is_visible(moment.video):
            refuse(moment, said("the video name is empty"))
        if not faults:
            good.append(moment)
        elif published:
            faulty.append((moment, faults[0]))
        else:
            for fault in faults:
                refuse(moment, fault.message)
    if not refused and not good:
        refused = [(moment.row, moment.problem(file, fault.message)) for moment, fault in faulty]
        refused = refused or [(0, Problem(file, None, said("the file has no moments with captions")))]
    if refused:
        raise InputError([problem for _, problem in sorted(refused, key=lambda item: item[0])])
    return good, count_left_out(faulty)


def merge(
    moments: Iterable[CaptionedMoment],
    *,
    published: bool = False,
    notes: Iterable[str] = (),
    left_out: Sequence[LeftOut] = (),
    end_slack_s: float = END_SLACK_S,
) -> Parsed:
    """Return the distinct moments of a file, dropping those that repeat the video, span and caption of an earlier one.

    For arguments, see `finish`.
    """
    distinct: dict[tuple[str, float, float, str], CaptionedMoment] = {}
    repeats = []
    for moment in moments:
        if distinct.setdefault((moment.video, moment.start_s, moment.end_s, moment.caption), moment) is not moment:
            repeats.append(moment)
    unique = list(distinct.values())
    all_notes = list(notes)
    late = [m.place for m in unique if m.duration_s is not None and m.end_s > m.duration_s]
    if late:
        all_notes.append(
            said(
                "moments kept that end up to {end_slack_s:g} s after their video: {n:,} ({first})",
                end_slack_s=end_slack_s,
                n=len(late),
                first=first_places(late),
            )
        )
    return Parsed(unique, all_notes, tuple(left_out), tuple(repeats), published, end_slack_s)


def count_left_out(faulty: Iterable[tuple[CaptionedMoment, Fault]]) -> list[LeftOut]:
    """Group impossible moments by their kind of fault, with their number and the first few places in the file."""
    places: dict[str, list[str]] = defaultdict(list)
    for moment, fault in faulty:
        places[fault.why].append(moment.place)
    return [LeftOut(why, len(where), tuple(where[:_SHOWN])) for why, where in places.items()]


def first_places(places: Sequence[str]) -> str:
    """Return up to five places of a file as text, separated by commas; `...` stands for more."""
    return joined(", ", [*places[:_SHOWN], *(["..."] if len(places) > _SHOWN else [])])


def outside_fault(start_s: float, end_s: float, duration_s: float, end_slack_s: float = END_SLACK_S) -> Fault | None:
    """Return how a moment (start and end in seconds) lies outside a video of `duration_s` seconds; None if it does not.

    It may end up to `end_slack_s` seconds after the video.

    >>> found = outside_fault(12.0, 14.0, 10.0)
    >>> found.message if found else None
    'start 12.0 is outside the video, which lasts 10.0 s'
    """
    if start_s >= duration_s:
        message = said(
            "start {start_s} is outside the video, which lasts {duration_s} s", start_s=start_s, duration_s=duration_s
        )
        return Fault(said("the start is after the end of the video"), message)
    if end_s > duration_s + end_slack_s:
        message = said(
            "end {end_s} is more than {end_slack_s:g} s after the video's end at {duration_s} s",
            end_s=end_s,
            end_slack_s=end_slack_s,
            duration_s=duration_s,
        )
        return Fault(
            said("the end is more than {end_slack_s:g} s after that of the video", end_slack_s=end_slack_s), message
        )
    return None


def _faults(moment: CaptionedMoment, known_duration_s: float | None, end_slack_s: float) -> Iterable[Fault]:
    """Yield every fault of one moment: an empty or too long caption, impossible times, or times outside its video.

    `known_duration_s` is the duration of the video according to other lines of the file, None if unknown.
    """
    duration_s = known_duration_s if moment.duration_s is None else moment.duration_s
    if not is_visible(moment.caption):
        yield Fault(said("the caption is empty"), said("the caption is empty"))
    if len(moment.caption) > LONGEST_CAPTION:
        message = said(
            "the caption has {length:,} characters; at most {longest:,} are allowed",
            length=len(moment.caption),
            longest=LONGEST_CAPTION,
        )
        yield Fault(said("the caption is too long"), message)
    if moment.start_s < 0:
        yield Fault(said("the start is negative"), said("start {start_s} is negative", start_s=moment.start_s))
    if moment.end_s <= moment.start_s:
        yield Fault(
            said("the end is not after the start"),
            said("end {end_s} is not after start {start_s}", end_s=moment.end_s, start_s=moment.start_s),
        )
    if duration_s is not None and duration_s > 0:
        trouble = outside_fault(moment.start_s, moment.end_s, duration_s, end_slack_s)
        if trouble:
            yield trouble


def match_renamed_videos(
    file_names: Iterable[str], project_names: Iterable[str], extensions: Iterable[str]
) -> dict[str, str]:
    """Match names of videos in a file with the project's names if they differ only in extension or folder.

    Args:
        file_names: names of videos in the file that no video of the project has.
        project_names: names of the project's videos that may be renamed.
        extensions: extensions of video files, in lower case, with their dot.

    Returns:
        A mapping from the project's name of each matched video to the file's name. A name that fits several videos
        matches none.

    >>> match_renamed_videos(["dog.avi", "cat"], ["dog", "pets/cat", "bird"], [".avi", ".mp4"])
    {'dog': 'dog.avi', 'pets/cat': 'cat'}
    """
    suffixes = frozenset(extensions)

    def bare(name: str) -> str:
        stem, dot, extension = name.rpartition(".")
        return stem if f"{dot}{extension}".lower() in suffixes else name

    candidates: dict[str, set[str]] = defaultdict(set)
    for name in project_names:
        for known in {bare(name), bare(name).rpartition("/")[2]}:
            candidates[known].add(name)
    matches: dict[str, set[str]] = defaultdict(set)
    for name in file_names:
        if len(videos := candidates.get(bare(name), set())) == 1:
            matches[next(iter(videos))].add(name)
    return {video: next(iter(names)) for video, names in matches.items() if len(names) == 1}
