"""Import an annotation file: videos, moments, captions.

*Reads* one annotation file and, if a folder is named, the video files. *Writes* video, moment, caption, one
event. Everything is checked first and written in one transaction: nothing is ever half-imported.
"""

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

from backend.campaign.corpus.importing import formats
from backend.campaign.corpus.importing import rows as corpus
from backend.campaign.corpus.importing.measuring import measure_named
from backend.campaign.corpus.importing.model import (
    CORPUS_IMPORTED,
    END_SLACK_S,
    CaptionedMoment,
    ImportOptions,
    ImportReport,
    Parsed,
    Trouble,
    VideoTrouble,
)
from backend.campaign.corpus.importing.rules import Fault, count_left_out, match_renamed_videos, outside_fault
from backend.campaign.nouns import Lead, Operator
from backend.campaign.setup.project.folder import Project
from backend.core.addresses import Place
from backend.core.errors import InputError, Problem
from backend.core.messages import said, said_n
from backend.core.progress import Steps
from backend.core.reading import file_bytes
from backend.core.where import Where
from backend.media.probe import Survey
from backend.media.sources import USUAL_FPS, VideoFacts
from backend.media.video_folder import EXTENSIONS
from backend.store import events
from backend.store.connection import Database, reading, writing


def import_file(
    project: Project,
    by: Lead | Operator,
    file: Path,
    format: str | None = None,  # noqa: A002 - the word of the public contract
    *,
    videos: Place | None = None,
    options: ImportOptions | None = None,
    fps: Fraction = USUAL_FPS,
    decode: bool | None = None,
    where: Where | None = None,
    dry_run: bool = False,
    then: Callable[[Database], object] | None = None,
    now: float,
    progress: Steps | None = None,
) -> ImportReport:
    """Check an annotation file, and add its videos, moments and captions to the project.

    For arguments and errors, see `import_corpus`, which calls this function. `then` is called in the transaction that
    writes, at its end.
    """
    data = file_bytes(file)
    parsed = formats.parse(format, data, file.name, options)
    measured = Survey({}, {}, False)
    troubles: list[VideoTrouble] = []
    new_names = _find_new_names(project, parsed.moments)
    if videos is not None:
        measured, troubles = measure_named(
            project, parsed.moments, new_names, videos, file.name, fps, decode, where, progress
        )
    facts = measured.facts
    durations = _durations(project, parsed, facts, new_names, {trouble.video for trouble in troubles}, file.name)
    problems = [*_id_problems(project, parsed.moments, file.name), *durations.problems]
    moments: list[CaptionedMoment] = []
    faulty: list[tuple[CaptionedMoment, Fault]] = []
    cut_off: list[tuple[CaptionedMoment, Fault]] = []
    unmeasured: list[CaptionedMoment] = []
    late = 0
    for moment in parsed.moments:
        duration_s = durations.seconds.get(moment.video)
        if duration_s is None:
            unmeasured.append(moment)
            continue
        if fault := outside_fault(moment.start_s, moment.end_s, duration_s, parsed.end_slack_s):
            # The original length of a damaged or truncated video is unknown, so the moment may be right.
            (cut_off if moment.video in facts and facts[moment.video].damage else faulty).append((moment, fault))
            continue
        late += moment.end_s > duration_s and moment.video in facts
        moments.append(moment)
    if faulty and not (parsed.published and moments):
        problems += [moment.problem(file.name, fault.message) for moment, fault in faulty]
    if cut_off and not (moments or problems):
        problems += [moment.problem(file.name, fault.message) for moment, fault in cut_off]
    if unmeasured and not (moments or problems):
        problems += [
            moment.problem(file.name, said("video {video} cannot be measured", video=moment.video))
            for moment in unmeasured
        ]
    if problems:
        raise InputError(sorted(dict.fromkeys(problems), key=lambda problem: problem.row or 0))
    notes = [*parsed.notes, *durations.notes]
    if new_names:
        old_name, new_name = next(iter(new_names.items()))
        notes.append(
            said_n(
                "{n} video was renamed to match the file: {here} is now {there}",
                "{n:,} videos were renamed to match the file: {here} is now {there}, ...",
                len(new_names),
                here=old_name,
                there=new_name,
            )
        )
    if late:
        end = said("up to {end_slack_s:g} s after their measured video", end_slack_s=parsed.end_slack_s)
        notes.append(said("moments that end {end}, whose clips stop at its end: {late:,}", end=end, late=late))
    with reading(project.store) as db:
        remaining = sum(corpus.is_moment(db, m.video, m.start_s, m.end_s) for m, _ in faulty)
    if remaining:
        notes.append(
            said(
                "moments that were left out now but stay in the project from an earlier import, without "
                "a clip: {stay:,}",
                stay=remaining,
            )
        )
    unknown_length = Fault(
        said("the length of the video is unknown: the video cannot be measured, and the file does not give it"), ""
    )
    left_out = (
        *parsed.left_out,
        *count_left_out([*faulty, *cut_off]),
        *count_left_out((moment, unknown_length) for moment in unmeasured),
    )
    done = ""
    if dry_run:
        with reading(project.store) as db:
            new = corpus.count_new(db, moments, new_names)
    else:
        with writing(project.store) as db:
            before = corpus.video_rows(db)
            corpus.rename_videos(db, new_names)
            new = corpus.add_moments(db, moments, {m.video: durations.seconds[m.video] for m in moments}, facts)
            corpus.set_troubles(db, troubles)
            changed = any(new) or corpus.video_rows(db) != before
            counts = dict(zip(("videos", "moments", "captions"), new, strict=True))
            payload, subject = {"file": file.name, "format": parsed.format, **counts}, f"file:{file.name}"
            sha256 = hashlib.sha256(data).hexdigest()
            asked = events.asked(file=sha256, format=parsed.format, options=options, videos=videos)
            done = events.note_once(db, CORPUS_IMPORTED, by, subject, payload, now=now, changed=changed, asked=asked)
            if then:
                then(db)
    totals = len({m.video for m in moments}), len({(m.video, m.start_s, m.end_s) for m in moments}), len(moments)
    troubles += [
        VideoTrouble(name, Trouble.DAMAGED, facts_of_video.damage)
        for name, facts_of_video in facts.items()
        if facts_of_video.damage
    ]
    return ImportReport(
        *(parsed.format, totals, *new, len(facts), parsed.merged, left_out, tuple(notes), dry_run),
        troubles=tuple(troubles),
        decoded=measured.decoded,
        done=done,
    )


@dataclass(frozen=True, slots=True)
class _Durations:
    """The duration in seconds of every video that an annotation file names, with problems and notes about durations."""

    seconds: dict[str, float]
    problems: list[Problem]
    notes: list[str]


def _find_new_names(project: Project, moments: list[CaptionedMoment]) -> dict[str, str]:
    """Map the project's names of videos to their names in an annotation file, if only extension or folder differ.

    Only videos that no annotation file has named yet are mapped.
    """
    with reading(project.store) as db:
        known, free = corpus.video_durations(db), corpus.unannotated_videos(db)
    file_names = dict.fromkeys(moment.video for moment in moments)
    free = [name for name in free if name not in file_names]
    return match_renamed_videos((name for name in file_names if name not in known), free, EXTENSIONS)


def _durations(
    project: Project,
    parsed: Parsed,
    facts: dict[str, VideoFacts],
    new_names: Mapping[str, str],
    unseen: set[str],
    file: str,
) -> _Durations:
    """Return the duration of every video that the annotation file names.

    A duration measured now comes first, then the one that the project has stored, then the one in the file. `unseen`
    are the names of videos that could not be measured; no problem is reported if such a video has no duration.
    """
    with reading(project.store) as db:
        known = {new_names.get(name, name): duration_s for name, duration_s in corpus.video_durations(db).items()}
        unmeasured = set(corpus.videos_without_file(db))
    timed: dict[str, CaptionedMoment] = {}
    first: dict[str, CaptionedMoment] = {}
    for moment in parsed.moments:
        first.setdefault(moment.video, moment)
        if moment.duration_s is not None:
            timed.setdefault(moment.video, moment)
    seconds: dict[str, float] = {}
    problems: list[Problem] = []
    contradictions: list[str] = []
    for video, moment in first.items():
        in_file = timed[video].duration_s if video in timed else None
        if video in facts:
            seconds[video] = facts[video].duration_s
        elif video in known:
            seconds[video] = known[video]
            if in_file is None or in_file == known[video]:
                continue
            contradiction = said("lasts {here} s here, but {known} s in the project", here=in_file, known=known[video])
            if video in unmeasured and abs(in_file - known[video]) > END_SLACK_S:
                problems.append(
                    timed[video].problem(
                        file, said("video {video} {contradiction}", video=video, contradiction=contradiction)
                    )
                )
            elif video in unmeasured or abs(in_file - known[video]) > END_SLACK_S:
                contradictions.append(said("{video} {contradiction}", video=video, contradiction=contradiction))
        elif in_file is not None:
            seconds[video] = in_file
        elif video not in unseen:
            problems.append(
                moment.problem(
                    file,
                    said(
                        "video {video} has no duration: add one, or name the folder of the videos with --videos "
                        "to measure it",
                        video=video,
                    ),
                )
            )
    notes = []
    if contradictions:
        notes.append(
            said_n(
                "{n} video has another duration in the project, which is kept: {other}",
                "{n:,} videos have another duration in the project, which is kept: {other}, ...",
                len(contradictions),
                other=contradictions[0],
            )
        )
    return _Durations(seconds, problems, notes)


def _id_problems(project: Project, moments: list[CaptionedMoment], file: str) -> list[Problem]:
    """Return a problem for each caption id in an annotation file that already belongs to another moment."""
    with reading(project.store) as db:
        ids = corpus.external_ids(db)
    problems = []
    for moment in moments:
        owner = ids.get(moment.external_id) if moment.external_id is not None else None
        if owner is not None and owner != (moment.video, moment.start_s, moment.end_s, moment.caption):
            message = said(
                "id {external_id} belongs to another moment of the project: give this one its own",
                external_id=moment.external_id,
            )
            problems.append(moment.problem(file, message))
    return problems
