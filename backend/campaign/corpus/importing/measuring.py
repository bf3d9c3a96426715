"""Measure video files, add the videos of a folder to a project, and find moved files by their content.

*Reads* video files, folders of frames, earlier measurements. *Writes* video, one event when a folder is added.
Every file of a folder is measured first, and all readable ones are added in one transaction. A file that cannot be read
is reported with its reason, and the others are added all the same.
"""

from collections.abc import Callable, Collection, Iterable, Mapping
from contextlib import suppress
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING

from backend.campaign.corpus.importing import rows as corpus
from backend.campaign.corpus.importing.model import (
    VIDEOS_REGISTERED,
    CaptionedMoment,
    FoundVideo,
    RegisterReport,
    Trouble,
    VideoTrouble,
)
from backend.campaign.nouns import Lead, Operator
from backend.campaign.setup.project.folder import Project
from backend.core.addresses import Place
from backend.core.errors import InputError, Problem, StorageUnavailable, VideoUnreadable
from backend.core.messages import Said, said
from backend.core.progress import Steps
from backend.core.text_files import control_fault
from backend.core.typed_text import is_visible
from backend.core.where import Where
from backend.media.content import changed_words, sha256_of, size_of
from backend.media.probe import Survey, survey
from backend.media.sources import USUAL_FPS, Source, place_in, place_of_video, source_at
from backend.media.video_folder import CLASH, LINK_OUT, VideoFolder
from backend.store import events
from backend.store.connection import Database, reading, writing

if TYPE_CHECKING:
    from backend.media.video_folder import RemoteFolder


def measure(
    project: Project,
    videos: Mapping[str, Source],
    *,
    decode: bool | None = None,
    where: Where | None = None,
    progress: Steps | None = None,
) -> Survey:
    """Measure the duration, frame rate, size and content hash of videos, by name.

    A file without damage is not decoded again if the project decoded the same content before.

    Args:
        project: the project, which determines how paths are stored.
        videos: maps each video's name to its source.
        decode: whether to decode every frame, to find damage. None does so if the files are local and small; see
            `survey`.
        where: the processes or the cluster that measure; None for processes on this machine.
        progress: called with (videos measured, all).
    """
    with reading(project.store) as db:
        known = corpus.decoded_contents(db)
    measured = survey(videos, decode=decode, known=known, where=where, progress=progress)
    facts = {
        name: replace(video_facts, path=project.stored_path(place_in(Path(), video_facts.path)))
        for name, video_facts in measured.facts.items()
    }
    return replace(measured, facts=facts)


def measure_named(
    project: Project,
    moments: Iterable[CaptionedMoment],
    new_names: Mapping[str, str],
    videos: Place,
    file: str,
    fps: Fraction,
    decode: bool | None,
    where: Where | None,
    progress: Steps | None,
) -> tuple[Survey, list[VideoTrouble]]:
    """Find and measure the file of every video that an annotation file names; also return the problems found.

    Args:
        project: the project.
        moments: the moments of the annotation file, which name the videos.
        new_names: maps the project's name of a video to the file's name, where they differ.
        videos: the folder that holds the video files.
        file: name of the annotation file, for messages.
        fps: the frame rate of videos that are folders of frames, in frames a second.
        decode: see `measure`.
        where: see `measure`.
        progress: see `measure`.

    Raises:
        InputError: no video can be measured. The error has the reason for each video, and the first row that names it.
    """
    first: dict[str, CaptionedMoment] = {}
    for moment in moments:
        first.setdefault(moment.video, moment)
    with reading(project.store) as db:
        known = {new_names.get(name, name): content for name, content in corpus.contents(db).items()}
    folder = videos_at(videos)
    sources: dict[str, Source] = {}
    missing: dict[str, str] = {}
    for name in first:
        try:
            sources[name] = source_at(folder.find(name), fps)
        except VideoUnreadable as error:
            missing[name] = str(error)
    lost = {name: known[name] for name in missing if name in known}
    taken = {place_of_video(one) for one in sources.values()}
    for name, source in find_by_content(lost, sorted(folder.videos), taken).items():
        sources[name] = source
        del missing[name]
    measured = measure(project, sources, decode=decode, where=where, progress=progress)
    if not measured.facts:
        reasons = {**missing, **measured.unreadable}
        raise InputError([moment.problem(file, reasons[name]) for name, moment in first.items()])
    changed = {name for name, one in measured.facts.items() if name in known and known[name].sha256 != one.sha256}
    unchanged = {name: one for name, one in measured.facts.items() if name not in changed}
    troubles = [
        *(VideoTrouble(name, Trouble.MISSING, message) for name, message in missing.items()),
        *(VideoTrouble(name, Trouble.UNREADABLE, message) for name, message in measured.unreadable.items()),
        *(VideoTrouble(name, Trouble.CHANGED, changed_words(measured.facts[name].path)) for name in sorted(changed)),
    ]
    return replace(measured, facts=unchanged), troubles


def videos_at(place: Place) -> "VideoFolder | RemoteFolder":
    """Return the video files in a folder, or under a remote address.

    Raises:
        StorageUnavailable: the address cannot be read.
        InputError: the files at this kind of address cannot be listed.
    """
    if isinstance(place, Path):
        return VideoFolder(place)
    from backend.media.video_folder import RemoteFolder

    return RemoteFolder(place)


def find_by_content(
    contents: Mapping[str, corpus.Content], candidates: Iterable[Place], taken: Collection[Place] = ()
) -> dict[str, Source]:
    """Find videos whose files were moved or renamed, by comparing content; return the new source by video name.

    Args:
        contents: maps the name of each missing video to its content.
        candidates: files and folders of frames to look at, in order; only those of a matching size are read.
        taken: candidates that belong to other videos, which are skipped.
    """
    found: dict[str, Source] = {}
    names: dict[int, dict[str, list[str]]] = {}
    for name, content in contents.items():
        names.setdefault(content.size_bytes, {}).setdefault(content.sha256, []).append(name)
    rates = {content.fps for content in contents.values()}
    for path in candidates:
        if path in taken or len(found) == len(contents):
            continue
        with suppress(OSError, VideoUnreadable, StorageUnavailable):
            # Videos imported before sizes were stored are listed under size 0.
            fitting = [by_sha256 for by_sha256 in (names.get(size_of(path)), names.get(0)) if by_sha256]
            for source in {source_at(path, fps) for fps in rates} if fitting else ():
                matches = next(
                    (by_sha256[sha] for by_sha256 in fitting if by_sha256.get(sha := sha256_of(source))), None
                )
                if matches:
                    found[matches.pop(0)] = source
                    break
    return found


def register_folder(
    project: Project,
    by: Lead | Operator,
    videos: Path,
    *,
    fps: Fraction = USUAL_FPS,
    decode: bool | None = None,
    where: Where | None = None,
    dry_run: bool = False,
    then: Callable[[Database], object] | None = None,
    now: float,
    progress: Steps | None = None,
) -> RegisterReport:
    """Measure every video file (or folder of frames) in a folder and below it, and add those that can be read.

    A file whose name fits that of a video in the project (with or without its extension) belongs to that video. Any
    other file becomes a video named by the file's path in the folder, without extension. With `dry_run`, nothing is
    written. `then` is called in the transaction that writes. For other arguments and errors, see `register_videos`,
    which calls this function.
    """
    if not videos.is_dir():
        raise InputError.single(videos, said("is not a folder: name the folder that the video files lie in"))
    folder = VideoFolder(videos)
    files = folder.named()
    refused = [_file_problem(videos, path, LINK_OUT) for path in folder.links]
    refused += [_file_problem(videos, path, CLASH) for path in dict.fromkeys(folder.clashes)]
    if not files:
        raise InputError(refused or [Problem(str(videos), None, said("the folder has no video files"))])
    with reading(project.store) as db:
        known = corpus.known_videos(db)
    names = _names(folder, files, known)
    paths = {name: path for path, name in names.items()}
    measured = measure(
        project,
        {name: source_at(path, fps) for name, path in paths.items()},
        decode=decode,
        where=where,
        progress=progress,
    )
    found: list[FoundVideo] = []
    problems = [*refused, *(_file_problem(videos, paths[name], why) for name, why in measured.unreadable.items())]
    taken: set[str] = set()
    names_by_content = {sha256: name for name, sha256 in known.items() if sha256 is not None}
    for file_name in sorted(measured.facts):
        facts = measured.facts[file_name]
        name, moved = file_name, names_by_content.get(facts.sha256)
        if moved in known and moved not in names.values() and moved not in taken:
            name = moved  # this file is the project's video, renamed or moved
        if why := _refusal_reason(name, facts.sha256, known, names_by_content):
            problems.append(_file_problem(videos, paths[file_name], why))
        else:
            names_by_content[facts.sha256] = name
            taken.add(name)
            found.append(FoundVideo(name, facts, name not in known))
    problems.sort(key=lambda problem: problem.file)
    if not found:
        raise InputError(problems)
    report = RegisterReport(tuple(sorted(found, key=lambda video: video.name)), tuple(problems))
    if dry_run:
        return report
    with writing(project.store) as db:
        before = corpus.video_rows(db)
        corpus.add_videos(db, {video.name: video.facts for video in found})
        payload = {"folder": videos.name, "videos": report.new, "not_taken": len(problems)}
        changed, asked = corpus.video_rows(db) != before, events.asked(folder=videos.resolve(), problems=problems)
        subject = f"folder:{videos.name}"
        done = events.note_once(db, VIDEOS_REGISTERED, by, subject, payload, now=now, changed=changed, asked=asked)
        if then:
            then(db)
    return replace(report, done=done)


def _file_problem(videos: Path, path: Path, message: str) -> Problem:
    """Return a problem that names a file by its path in the folder `videos`, so that the message need not repeat it."""
    why = message.values.get("why") if isinstance(message, Said) else None
    if not isinstance(why, str):
        why = message.removeprefix(path.name).lstrip(": ")
    return Problem(path.relative_to(videos).as_posix(), None, why)


def _names(folder: VideoFolder, files: dict[str, Path], known: dict[str, str | None]) -> dict[Path, str]:
    """Return the name of the video in each file: the name that the project has for it, or else the file's own."""
    names = {path: name for name, path in files.items()}
    for name in known:
        try:
            path = folder.find(name)
        except VideoUnreadable:
            continue
        if path in names and names[path] not in known:
            names[path] = name
    return names


def _refusal_reason(
    name: str, sha256: str, known: dict[str, str | None], names_by_content: dict[str, str]
) -> str | None:
    """Return why a readable video file cannot be added to the project; None if it can.

    Args:
        name: the name of the video.
        sha256: the hash of the file's content.
        known: maps the names of the project's videos to the hash of their content; None if it is unknown.
        names_by_content: maps the hash of each content met so far to the name of its video.
    """
    if fault := control_fault(name):
        return fault
    if not is_visible(name):
        return said("the video name is empty")
    known_sha256 = known.get(name)
    if known_sha256 is not None and known_sha256 != sha256:
        return said(
            "its content differs from the project's video {name}: rename this file, or put the old one back",
            name=name,
        )
    if names_by_content.get(sha256, name) != name:
        return said("has the same content as the video {called}: keep one of them", called=names_by_content[sha256])
    return None
