"""Measure the videos of a folder and add them to the project, without any annotation file.

*Reads* the video files. *Writes* video, one event. Every file is measured first, and all that can be read are added in
one transaction; a file that cannot be read is reported with its reason and does not stop the others.
"""

from fractions import Fraction
from pathlib import Path

from backend.campaign.corpus.importing import rows as corpus
from backend.campaign.corpus.importing.measuring import measure
from backend.campaign.corpus.moments.model import FoundVideo, RegisterReport
from backend.campaign.nouns import Lead, Operator
from backend.campaign.setup.project.folder import Project
from backend.core.errors import InputError, Problem, VideoUnreadable
from backend.core.messages import Said, said
from backend.core.progress import Steps
from backend.core.text_files import control_fault
from backend.core.typed_text import is_visible
from backend.core.where import Where
from backend.media.probe import CLASH, LINK_OUT, VideoFolder
from backend.media.sources import USUAL_FPS, source_at
from backend.store import events
from backend.store.connection import reading, writing
from backend.store.events import EventKind


def register_folder(
    project: Project,
    by: Lead | Operator,
    videos: Path,
    *,
    fps: Fraction = USUAL_FPS,
    decode: bool | None = None,
    where: Where | None = None,
    now: float,
    progress: Steps | None = None,
) -> RegisterReport:
    """Measure every video file (or folder of frames) in a folder and below it, and add those that can be read.

    A file that a video of the project is found by (with or without its extension) is that video's; any other is called
    by its place in the folder, without extension. For arguments and refusals see the verb, `register_videos`.
    """
    if not videos.is_dir():
        raise InputError.single(videos, said("is not a folder: name the folder that the video files lie in"))
    folder = VideoFolder(videos)
    files = folder.named()
    untaken = [_problem(videos, path, LINK_OUT) for path in folder.links]
    untaken += [_problem(videos, path, CLASH) for path in dict.fromkeys(folder.clashes)]
    if not files:
        raise InputError(untaken or [Problem(str(videos), None, said("no video file is in it"))])
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
    problems = [*untaken, *(_problem(videos, paths[name], why) for name, why in measured.unreadable.items())]
    taken: set[str] = set()
    called = {sha256: name for name, sha256 in known.items() if sha256 is not None}
    for file_name in sorted(measured.facts):
        facts = measured.facts[file_name]
        name, moved = file_name, called.get(facts.sha256)
        if moved in known and moved not in names.values() and moved not in taken:
            name = moved  # the project's video under another name or in another folder
        if why := _not_taken(name, facts.sha256, known, called):
            problems.append(_problem(videos, paths[file_name], why))
        else:
            called[facts.sha256] = name
            taken.add(name)
            found.append(FoundVideo(name, facts, name not in known))
    problems.sort(key=lambda problem: problem.file)
    if not found:
        raise InputError(problems)
    with writing(project.store) as db:
        corpus.add_videos(db, {video.name: video.facts for video in found})
        report = RegisterReport(tuple(sorted(found, key=lambda video: video.name)), tuple(problems))
        events.record(
            db,
            EventKind.VIDEOS_REGISTERED,
            at=now,
            actor=by.annotator_id,
            subject=f"folder:{videos.name}",
            payload={"folder": videos.name, "videos": report.new, "not_taken": len(problems)},
        )
    return report


def _problem(videos: Path, path: Path, message: str) -> Problem:
    """What is wrong with a file, which stands before the message already."""
    why = message.values.get("why") if isinstance(message, Said) else None
    if not isinstance(why, str):
        why = message.removeprefix(path.name).lstrip(": ")
    return Problem(path.relative_to(videos).as_posix(), None, why)


def _names(folder: VideoFolder, files: dict[str, Path], known: dict[str, str | None]) -> dict[Path, str]:
    """What the video in each file is called: as in the project where it has one that this file is found by."""
    names = {path: name for name, path in files.items()}
    for name in known:
        try:
            path = folder.find(name)
        except VideoUnreadable:
            continue
        if path in names and names[path] not in known:
            names[path] = name
    return names


def _not_taken(name: str, sha256: str, known: dict[str, str | None], called: dict[str, str]) -> str | None:
    """Why a file that can be read is not taken, None if nothing speaks against it."""
    if fault := control_fault(name):
        return fault
    if not is_visible(name):
        return said("the video name is empty")
    had = known.get(name)
    if had is not None and had != sha256:
        return said(
            "its content is not that of the project's video {name}: give the file another name, or put the old back",
            name=name,
        )
    if called.get(sha256, name) != name:
        return said("has the same content as the video {called}: one of them is enough", called=called[sha256])
    return None
