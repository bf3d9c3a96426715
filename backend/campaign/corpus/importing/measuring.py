"""Measure video files for a project, and find moved ones again by their content.

*Reads* video files, folders of frames, what was measured before. Writes nothing.
"""

from collections.abc import Collection, Iterable, Mapping
from contextlib import suppress
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING

from backend.campaign.corpus.importing import rows as corpus
from backend.campaign.corpus.importing.model import CaptionedMoment, Trouble, VideoTrouble
from backend.campaign.setup.project.folder import Project
from backend.core.addresses import Place
from backend.core.errors import InputError, StorageUnavailable, VideoUnreadable
from backend.core.progress import Steps
from backend.core.where import Where
from backend.media.content import changed_words, sha256_of, size_of
from backend.media.probe import Survey, survey
from backend.media.sources import Source, place_in, place_of_video, source_at
from backend.media.video_folder import VideoFolder
from backend.store.connection import reading

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
    """Measure videos, by name; a content that the project decoded before is not decoded again.

    Args:
        project: the project; paths are written down as it keeps them.
        videos: where each lies.
        decode: look at every picture for damage inside; None does where that is cheap.
        where: where videos are measured; see `survey`.
        progress: called with (videos measured, all).
    """
    with reading(project.store) as db:
        known = corpus.decoded_contents(db)
    found = survey(videos, decode=decode, known=known, where=where, progress=progress)
    facts = {
        name: replace(one, path=project.stored_path(place_in(Path(), one.path))) for name, one in found.facts.items()
    }
    return replace(found, facts=facts)


def measure_named(
    project: Project,
    moments: Iterable[CaptionedMoment],
    anew: Mapping[str, str],
    videos: Place,
    file: str,
    fps: Fraction,
    decode: bool | None,
    where: Where | None,
    progress: Steps | None,
) -> tuple[Survey, list[VideoTrouble]]:
    """Find and measure the file of every video that an annotation file names; report what is wrong with some.

    Args:
        project: the project.
        moments: which name the videos.
        anew: videos that the project has under other names: its names -> the file's.
        videos: the folder to find them in.
        file: for messages.
        fps: frames a second of folders of frames.
        decode: see `measure`.
        where: see `measure`.
        progress: see `measure`.

    Raises:
        InputError: none can be shown: each is a problem of the row that names it first.
    """
    first: dict[str, CaptionedMoment] = {}
    for moment in moments:
        first.setdefault(moment.video, moment)
    with reading(project.store) as db:
        known = {anew.get(name, name): content for name, content in corpus.contents(db).items()}
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
    for name, source in found_again(lost, sorted(folder.videos), taken).items():
        sources[name] = source
        del missing[name]
    measured = measure(project, sources, decode=decode, where=where, progress=progress)
    if not measured.facts:
        told = {**missing, **measured.unreadable}
        raise InputError([moment.problem(file, told[name]) for name, moment in first.items()])
    changed = {name for name, one in measured.facts.items() if name in known and known[name].sha256 != one.sha256}
    kept = {name: one for name, one in measured.facts.items() if name not in changed}
    troubles = [
        *(VideoTrouble(name, Trouble.MISSING, message) for name, message in missing.items()),
        *(VideoTrouble(name, Trouble.UNREADABLE, message) for name, message in measured.unreadable.items()),
        *(VideoTrouble(name, Trouble.CHANGED, changed_words(measured.facts[name].path)) for name in sorted(changed)),
    ]
    return replace(measured, facts=kept), troubles


def videos_at(place: Place) -> "VideoFolder | RemoteFolder":
    """Return the videos of a folder, or below an address.

    Raises:
        StorageUnavailable: the address cannot be read.
        InputError: it is one of which nobody can tell what lies there.
    """
    if isinstance(place, Path):
        return VideoFolder(place)
    from backend.media.video_folder import RemoteFolder

    return RemoteFolder(place)


def found_again(
    wanted: Mapping[str, corpus.Content], candidates: Iterable[Place], taken: Collection[Place] = ()
) -> dict[str, Source]:
    """Find where videos lie now by their content, whatever they are called.

    Args:
        wanted: the content of each, by name.
        candidates: files and folders of frames to look at, in order; only those of a fitting size are read.
        taken: those that are other videos.
    """
    found: dict[str, Source] = {}
    names: dict[int, dict[str, list[str]]] = {}
    for name, content in wanted.items():
        names.setdefault(content.size_bytes, {}).setdefault(content.sha256, []).append(name)
    rates = {content.fps for content in wanted.values()}
    for path in candidates:
        if path in taken or len(found) == len(wanted):
            continue
        with suppress(OSError, VideoUnreadable, StorageUnavailable):
            # Nobody knows the size of a video that was taken in before sizes were kept: it stands under 0.
            fitting = [one for one in (names.get(size_of(path)), names.get(0)) if one]
            for source in {source_at(path, fps) for fps in rates} if fitting else ():
                same = next((one[sha] for one in fitting if one.get(sha := sha256_of(source))), None)
                if same:
                    found[same.pop(0)] = source
                    break
    return found
