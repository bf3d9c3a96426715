"""Take a published annotation file into the project: videos, moments, captions.

*Reads* one annotation file and, if a folder is named, the video files. *Writes* video, moment, caption, one
event. Everything is checked first and taken in one transaction: nothing is ever half-imported.
"""

from dataclasses import dataclass
from pathlib import Path

from backend.campaign.corpus import rows as corpus
from backend.campaign.corpus import rules as corpus_files
from backend.campaign.corpus.rules import CaptionedMoment, Parsed
from backend.campaign.project.folder import Project
from backend.ground.errors import InputError, Problem, VideoUnreadable
from backend.ground.progress import Steps
from backend.ground.reading import bytes_of
from backend.media.facts import VideoFacts
from backend.media.probe import VideoFolder, probe
from backend.store import events
from backend.store.connection import writing
from backend.store.events import EventKind


@dataclass(frozen=True, slots=True)
class ImportReport:
    """What an import added, and what a person should know about it; `lines` were read, repeated ones included."""

    lines: int
    videos: int
    moments: int
    captions: int
    measured: int
    notes: tuple[str, ...]


def import_file(
    project: Project,
    file: Path,
    format: str,  # noqa: A002 - the word of the public contract
    *,
    videos: Path | None,
    types: frozenset[str] | None,
    now: float,
    progress: Steps | None = None,
) -> ImportReport:
    """Import an annotation file.

    Args:
        project: where to.
        file: the annotation file.
        format: one of `corpus_files.FORMATS`.
        videos: folder in which the video files lie; without it the moments wait for a later import with it.
        types: for `tvr`: keep only lines of these types (`v`: purely visual).
        now: seconds since 1970.
        progress: called with (videos measured, all videos).

    Raises:
        InputError: every problem found, with its row; nothing was taken.
    """
    parsed = corpus_files.parse(format, bytes_of(file), file.name, types)
    return _add(project, parsed, file.name, format, videos, now, progress)


def _add(
    project: Project,
    parsed: Parsed,
    file: str,
    format: str,  # noqa: A002 - the word of the public contract
    videos: Path | None,
    now: float,
    progress: Steps | None,
) -> ImportReport:
    """Add checked moments, after checking them against the project and the video files."""
    moments = parsed.moments
    known = corpus.video_durations(project.store.db)
    problems = _clashes(project, moments, known, file)
    facts: dict[str, VideoFacts] = {}
    warnings: list[str] = []
    if videos is not None:
        facts, missing = _measure(project, moments, videos, file, progress)
        problems += missing
    durations = {**known}
    for moment in moments:
        if moment.video in facts:
            durations[moment.video] = facts[moment.video].duration_s
        elif moment.video not in durations:
            if moment.duration_s is None:
                problems.append(
                    Problem(
                        file,
                        moment.row,
                        f"video {moment.video} has no duration: add a duration, or name the folder of the "
                        "videos with --videos so that it can be measured",
                    )
                )
                continue
            durations[moment.video] = moment.duration_s
    late = 0
    for moment in moments:
        duration_s = durations.get(moment.video)
        if duration_s is None:
            continue
        if trouble := corpus_files.outside(moment, duration_s):
            problems.append(Problem(file, moment.row, trouble))
        elif moment.end_s > duration_s:
            late += moment.video in facts
    if problems:
        raise InputError(sorted(set(problems), key=lambda problem: problem.row or 0))
    if late:
        warnings.append(f"{late} moments end up to 1 s after their measured video; they are shown to its end")
    with writing(project.store) as db:
        new_videos, new_moments, new_captions = corpus.add_moments(
            db, moments, {m.video: durations[m.video] for m in moments}, facts
        )
        events.record(
            db,
            EventKind.CORPUS_IMPORTED,
            at=now,
            actor=None,
            subject=f"file:{file}",
            payload={
                "file": file,
                "format": format,
                "videos": new_videos,
                "moments": new_moments,
                "captions": new_captions,
            },
        )
    lines = len(moments) + parsed.merged
    return ImportReport(lines, new_videos, new_moments, new_captions, len(facts), (*parsed.notes, *warnings))


def _clashes(project: Project, moments: list[CaptionedMoment], known: dict[str, float], file: str) -> list[Problem]:
    """What contradicts an earlier import: an id that means something else, or a video of another length."""
    problems = []
    ids = corpus.external_ids(project.store.db)
    for moment in moments:
        there = ids.get(moment.external_id) if moment.external_id is not None else None
        if there is not None and there != (moment.video, moment.start_s, moment.end_s, moment.caption):
            problems.append(
                Problem(file, moment.row, f"id {moment.external_id} is in the project already, for another moment")
            )
        duration_s = known.get(moment.video)
        if duration_s is not None and moment.duration_s is not None and abs(duration_s - moment.duration_s) > 1.0:
            problems.append(
                Problem(
                    file,
                    moment.row,
                    f"video {moment.video} lasts {moment.duration_s} s here, but {duration_s} s in the project",
                )
            )
    return problems


def _measure(
    project: Project,
    moments: list[CaptionedMoment],
    videos: Path,
    file: str,
    progress: Steps | None,
) -> tuple[dict[str, VideoFacts], list[Problem]]:
    """Find and measure the file of every video; a missing one is a problem of the row that names it first."""
    first_rows: dict[str, int] = {}
    for moment in moments:
        first_rows.setdefault(moment.video, moment.row)
    facts: dict[str, VideoFacts] = {}
    problems: list[Problem] = []
    try:
        folder = VideoFolder(videos)
    except VideoUnreadable as error:
        return {}, [Problem(file, None, str(error))]
    for done, (name, row) in enumerate(first_rows.items(), start=1):
        try:
            path = folder.find(name)
            measured = probe(path)
        except VideoUnreadable as error:
            problems.append(Problem(file, row, str(error)))
        else:
            facts[name] = VideoFacts(
                path=project.stored_path(path),
                fps=measured.fps,
                duration_s=measured.duration_s,
                width_px=measured.width_px,
                height_px=measured.height_px,
                has_audio=measured.has_audio,
                sha256=measured.sha256,
            )
        if progress:
            progress(done, len(first_rows))
    return facts, problems
