"""Check the video files of a project, and add videos.

*Reads* video files, folders of frames. *Writes* video, video_check, clip_fault, seats, agenda (batches with work left),
one event.

A video is identified by its content, so it is found again under another name or in another folder. If the content of
its file has changed, the file is used only once somebody accepts the change. `corpus.importing` does the adding itself.
The functions here also withdraw pairs whose video cannot be shown from annotators, so they may import `judging`.
"""

from collections.abc import Collection, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction
from functools import cache, partial
from pathlib import Path

from backend.campaign.corpus.importing import rows as corpus
from backend.campaign.corpus.importing.importing import import_file
from backend.campaign.corpus.importing.measuring import find_by_content, measure, register_folder
from backend.campaign.corpus.importing.model import ImportOptions, ImportReport, RegisterReport, Trouble, VideoTrouble
from backend.campaign.judging.rows import pair_status, seats
from backend.campaign.monitoring.videos import rows
from backend.campaign.monitoring.videos.allowed_folders import proven_videos, require_allowed
from backend.campaign.monitoring.videos.model import VIDEOS_LOOKED_AT, VideoCheckReport, VideoState
from backend.campaign.nouns import Lead, Operator
from backend.campaign.selection.candidates import rows as candidates_rows
from backend.campaign.setup.people.permissions import in_charge
from backend.campaign.setup.project.folder import Project
from backend.core.addresses import Address, Place
from backend.core.errors import InputError, Problem, VideoUnreadable
from backend.core.file_system import leads_out
from backend.core.messages import said
from backend.core.progress import Progress, Steps, steps_of
from backend.core.typed_text import nfc
from backend.core.where import Where
from backend.media.content import changed_words
from backend.media.sources import USUAL_FPS, Source, VideoFacts, place_of_video, source_at
from backend.media.video_folder import VideoFolder
from backend.store import events
from backend.store.connection import Database, reading, writing


@in_charge
def video_states(project: Project, by: Lead | Operator, *, wrong: bool = False) -> list[VideoState]:
    """Return every video, or only those with a problem if `wrong`, as the last check found them."""
    with reading(project.store) as db:
        return rows.states(db, wrong=wrong)


@in_charge
def check_videos(
    project: Project,
    by: Lead | Operator,
    *,
    videos: Path | None = None,
    fps: Fraction = USUAL_FPS,
    decode: bool | None = None,
    where: Where | None = None,
    accept: Collection[str] = (),
    now: float,
    progress: Progress | None = None,
) -> VideoCheckReport:
    """Check every video file, find videos that were moved, and withdraw pairs whose video cannot be shown.

    Args:
        project: the project; its server may be running.
        by: a lead or an operator.
        videos: the folder to search for videos that are not in their place. By default these are the folders of the
            project's other videos.
        fps: frames a second of videos that are folders of frames and are found for the first time.
        decode: whether to decode every picture, to find damage inside; None does so if the files are local and small.
        where: the machines that measure the videos.
        accept: names of videos whose changed content is accepted.
        now: seconds since 1970.
        progress: called with (name of the step, videos measured, all videos).

    Raises:
        InputError: a video to accept is not in the project, or has not changed; nothing was written.
        ProjectError: a lead may not read that folder.
    """
    require_allowed(project, by, videos)
    accept = [nfc(name) for name in accept]
    found = _find(project, videos, fps, decode, where, steps_of(progress, said("looking at videos")))
    if wrong := [name for name in accept if name not in found.changed]:
        raise InputError(
            [Problem(name, None, said("is not a video of the project that has changed")) for name in wrong]
        )
    accepted = {name: found.changed[name] for name in accept}
    troubles = [
        *found.troubles,
        *(
            VideoTrouble(name, Trouble.CHANGED, changed_words(one.path))
            for name, one in found.changed.items()
            if name not in accepted
        ),
    ]
    with writing(project.store) as db:
        corpus.set_video_facts(db, {**found.well, **accepted})
        corpus.set_troubles(db, troubles)
        freed = settle(db, now=now)
        report = VideoCheckReport(tuple(rows.states(db)), found.moved, tuple(sorted(accepted)), freed, found.decoded)
        events.record(
            db,
            VIDEOS_LOOKED_AT,
            at=now,
            actor=by.annotator_id,
            subject="videos",
            payload={
                "videos": len(report.videos),
                "wrong": len(report.wrong),
                "moved": len(report.moved),
                "accepted": list(report.accepted),
            },
        )
    return report


def find_moved(project: Project) -> None:
    """Find videos that were moved, and store their new places, so that annotators get their pairs again.

    No annotator's place at a pair is changed, and nothing is written to the activity log.
    """
    found = _find(project, None, USUAL_FPS, False, None, None)
    with writing(project.store) as db:
        corpus.set_video_facts(db, {name: found.well[name] for name, _ in found.moved})
        _free_clips(db)


def settle(db: Database, *, now: float) -> int:
    """Withdraw the pairs of videos that cannot be shown from annotators, and give out pairs whose video works again.

    Clips that annotators reported as broken stay withdrawn. Returns how many clips can be shown again.
    """
    for moment_id, message in rows.to_block(db):
        pair_status.add_fault(db, moment_id, message, at=now, found_by=pair_status.BY_FILE)
        seats.release_broken(db, moment_id)
        candidates_rows.refresh_agenda_of_moment(db, moment_id)
    return _free_clips(db)


def _free_clips(db: Database) -> int:
    freed = rows.to_free(db)
    for moment_id in freed:
        pair_status.remove_fault(db, moment_id)
        candidates_rows.refresh_agenda_of_moment(db, moment_id)
    return len(freed)


@dataclass(frozen=True, slots=True)
class _Found:
    """The result of a search for videos.

    `well` are videos with the content that the project knows, and `changed` are videos with different content.
    `troubles` are all other problems.
    """

    well: dict[str, VideoFacts]
    changed: dict[str, VideoFacts]
    troubles: list[VideoTrouble]
    moved: tuple[tuple[str, str], ...]
    decoded: bool


def _find(
    project: Project,
    folder: Path | None,
    fps: Fraction,
    decode: bool | None,
    where: Where | None,
    progress: Steps | None,
) -> _Found:
    with reading(project.store) as db:
        facts, contents, names = corpus.all_facts(db), corpus.contents(db), corpus.known_videos(db)
    places = {name: place_of_video(project.source(one)) for name, one in facts.items()}

    @cache
    def folders() -> list[VideoFolder]:
        return [VideoFolder(one) for one in ([folder] if folder else _roots(places.values()))]

    @cache
    def proven() -> list[VideoFolder]:
        return [VideoFolder(one) for one in _roots(proven_videos(places, contents))]

    lying: dict[str, Source] = {}
    path: Place | None
    for name in names:
        # A database from elsewhere could name any file of this machine. So a path, and the folder that it leads to,
        # are trusted only if the content is known too.
        if name not in contents:
            path = _by_name(name, folders() if folder else proven())
        elif name in places and _is_measurable(project, places[name]):
            path = places[name]
        else:
            path = _by_name(name, folders())
        if path is not None:
            lying[name] = source_at(path, contents[name].fps if name in contents else fps)
    measured = measure(project, lying, decode=decode, where=where, progress=progress)
    changed_names = {
        name for name, one in measured.facts.items() if name in contents and contents[name].sha256 != one.sha256
    }
    well = {name: one for name, one in measured.facts.items() if name not in changed_names}
    lost = {name: content for name, content in contents.items() if name not in well}
    candidates = sorted({path for one in folders() for path in one.videos}) if lost else []
    again = find_by_content(lost, candidates, {place_of_video(lying[name]) for name in well})
    well |= measure(project, again, decode=decode, where=where).facts
    changed = {name: measured.facts[name] for name in sorted(changed_names - well.keys())}
    troubles = [
        VideoTrouble(name, Trouble.UNREADABLE, why) for name, why in measured.unreadable.items() if name not in well
    ]
    for name in sorted(names.keys() - lying.keys() - well.keys()):
        file, place = (places[name].name, places[name].parent) if name in places else (name, folder)
        told = (
            said("{file}: no video file in {folder}", file=file, folder=folder or place)
            if place
            else said("{file}: the place of its video file is not known", file=file)
        )
        troubles.append(VideoTrouble(name, Trouble.MISSING, told))
    moved = sorted((name, one.path) for name, one in well.items() if name in facts and facts[name].path != one.path)
    return _Found(well, changed, troubles, tuple(moved), measured.decoded)


def _is_measurable(project: Project, place: Place) -> bool:
    """Return whether to measure the video at a place.

    An address is always measured. A file is measured if it exists and is no link that leads out of the project.
    """
    if isinstance(place, Address):
        return True
    return place.exists() and not (place.is_relative_to(project.folder) and leads_out(place, project.folder))


def _roots(videos: Iterable[Place]) -> list[Path]:
    """Return the folders of the videos; a folder inside another one of them is left out."""
    parents = sorted({path.parent.resolve() for path in videos if isinstance(path, Path) and path.parent.is_dir()})
    return [
        folder for folder in parents if not any(folder != other and folder.is_relative_to(other) for other in parents)
    ]


def _by_name(name: str, folders: Iterable[VideoFolder]) -> Path | None:
    for folder in folders:
        with suppress(VideoUnreadable):
            return folder.find(name)
    return None


@in_charge
def import_corpus(
    project: Project,
    by: Lead | Operator,
    file: Path,
    format: str | None = None,  # noqa: A002 - the word of the public contract
    *,
    videos: Place | None = None,
    types: frozenset[str] | None = None,
    columns: Mapping[str, str] | None = None,
    fps: Fraction = USUAL_FPS,
    decode: bool | None = None,
    where: Where | None = None,
    dry_run: bool = False,
    now: float,
    progress: Progress | None = None,
) -> ImportReport:
    """Import an annotation file: all of it, or nothing.

    Args:
        project: the project to import into.
        by: who imports it; their name goes on record.
        file: the annotation file.
        format: one of `formats.FORMATS`; recognised from the content if None.
        videos: folder or address of the video files. Without it, the moments cannot be shown until a later import names
            the place.
        types: of a TVR file, the types of query to keep; None for those that the TVR-Ranking paper keeps.
        columns: maps ReelRank's field names to the file's columns or fields: `{"start": "begin"}`.
        fps: frames a second of videos that are folders of frames.
        decode: whether to decode every picture, to find damage inside; None does so if the files are local and small.
        where: the machines that measure the videos.
        dry_run: check everything and write nothing.
        now: seconds since 1970.
        progress: called with (name of the step, videos measured, all videos).

    Raises:
        InputError: every problem found, with its row; or none of the videos can be shown. Nothing was written.
        ProjectError: a lead may not read that file or folder.
    """
    require_allowed(project, by, file)
    require_allowed(project, by, videos)
    return import_file(
        project,
        by,
        file,
        format,
        videos=videos,
        options=ImportOptions(types, columns or {}),
        fps=fps,
        decode=decode,
        where=where,
        dry_run=dry_run,
        then=partial(settle, now=now) if videos is not None else None,
        now=now,
        progress=steps_of(progress, said("measuring videos")),
    )


@in_charge
def register_videos(
    project: Project,
    by: Lead | Operator,
    videos: Path,
    *,
    fps: Fraction = USUAL_FPS,
    decode: bool | None = None,
    where: Where | None = None,
    now: float,
    progress: Progress | None = None,
) -> RegisterReport:
    """Add the videos of a folder to a project without any annotation file. Those that cannot be read are left out.

    Args:
        project: the project.
        by: the person who adds them; their name goes on record.
        videos: the folder. Videos in folders below it are added too.
        fps: frames a second of videos that are folders of frames.
        decode: whether to decode every picture, to find damage inside; None does so if the files are local and small.
        where: the machines that measure the videos.
        now: seconds since 1970.
        progress: called with (name of the step, videos measured, all videos).

    Raises:
        InputError: there is no such folder, it has no video, or none that can be read; nothing was written.
        ProjectError: a lead may not read that folder.
    """
    require_allowed(project, by, videos)
    steps, then = steps_of(progress, said("measuring videos")), partial(settle, now=now)
    return register_folder(project, by, videos, fps=fps, decode=decode, where=where, then=then, now=now, progress=steps)
