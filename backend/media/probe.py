"""Measure videos, and find the file, or folder of frames, that an annotation means."""

from __future__ import annotations  # PyAV's Packet takes a type argument in its stubs only

import os
from collections import defaultdict
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from fractions import Fraction
from pathlib import Path, PurePosixPath

import av
from av.container import InputContainer
from av.packet import Packet
from av.video.frame import VideoFrame
from av.video.stream import VideoStream

from backend.core.addresses import Address
from backend.core.errors import VideoUnreadable
from backend.core.links import leads_out
from backend.core.messages import said
from backend.core.typed_text import nfc
from backend.media.content import changed_words, sha256_of, size_of
from backend.media.decode import (
    FrameSpan,
    end_of,
    opened,
    packets,
    packets_from,
    picture_stream,
    shown_size,
    sound_ends_s,
    sound_stream,
    video_stream,
)
from backend.media.facts import VideoFacts
from backend.media.frame_folder import OpenFolder
from backend.media.sources import Source, as_source, is_picture, place_of_video
from backend.media.timeline import may_jump, start_of, unread_share

EXTENSIONS = (
    *(".mp4", ".mkv", ".webm", ".avi", ".mov", ".m4v"),
    *(".mpg", ".mpeg", ".wmv", ".3gp", ".3g2", ".mts", ".m2ts"),  # as people's cameras named them, in DiDeMo
    *(".ts", ".vob", ".flv", ".ogv"),
)
"""What counts as a video file in a folder; of `a.mp4` and `a.webm` side by side the earlier one is taken."""


_NO_END_S = 1e9
_SHORT_FRAMES = 2
"""A file may end so many frames before its index says, and is whole all the same."""
_UNREAD_SHARE = 0.1
"""The share of a file without an index that may follow the last picture and sound."""


def probe(source: Source) -> VideoFacts:
    """Measure one video: reads all of it once, decodes one picture.

    Of a video at an address whose index counts its frames, the beginning and the end are read, from the last key frame.

    The duration is where the last picture or sound that is really in the file ends, so that a file cut off in copying
    tells the truth whatever its header promises. The size is the one on screen: rotated, in square pixels. A folder of
    frames lasts as long as its frames at their rate.

    Raises:
        VideoUnreadable: missing, not a video, incomplete, or without a picture; the text says which.
    """
    source = as_source(source)
    with opened(source) as container:
        facts = _of_folder(container) if isinstance(container, OpenFolder) else _of_file(container, source)
    return replace(facts, path=str(place_of_video(source)), sha256=sha256_of(source), size_bytes=size_of(source))


def require_unchanged(source: Source, sha256: str) -> None:
    """Refuse a video whose content is another one now; it is read anew only where its size or date changed.

    Raises:
        VideoUnreadable: it is another one, or cannot be read any more; the text says which.
    """
    if sha256_of(source) != sha256:
        with opened(source) as container:
            picture_stream(container, source)
        raise VideoUnreadable(changed_words(source.name))


def damage_inside(source: Source) -> str | None:
    """Decode every picture: where those begin that cannot be shown, and how many can; None where all can."""
    with opened(source) as container:
        span = FrameSpan(container, picture_stream(container, source), 0.0, _NO_END_S)
        for _ in span:
            pass
    return span.damage


def _of_folder(folder: OpenFolder) -> VideoFacts:
    missing = [place for place, file in enumerate(folder.files) if file is None]
    announced = len(folder.files)
    damage = ""
    if missing:
        near_s = float(missing[0] * folder.interval_s)
        damage = said(
            "frames are missing, from {near_s:.1f} s on: {there} of {announced} are there",
            near_s=near_s,
            there=announced - len(missing),
            announced=announced,
        )
    return VideoFacts(
        path="",
        fps=folder.average_rate,
        duration_s=float(folder.duration_s),
        width_px=folder.width,
        height_px=folder.height,
        has_audio=False,
        sha256="",
        codec=folder.codec,
        frames=announced,
        damage=damage,
    )


def _of_file(container: InputContainer, source: Source) -> VideoFacts:
    ends: list[Fraction] = []
    first: VideoFrame | None = None
    stream = video_stream(container, source)
    counted = isinstance(source, Address) and bool(stream.frames and stream.duration)
    for packet in _both_ends(container, stream) if counted else packets(container, stream):
        if first is None:
            with suppress(av.FFmpegError):
                first = next(iter(stream.codec_context.decode(packet)), None)
        if (end_s := end_of(packet, stream)) is not None:
            ends.append(end_s)
    if first is None:
        raise VideoUnreadable(
            said("{name} {why}", name=source.name, why=said("is damaged: none of its frames can be shown"))
        )
    frames = stream.frames if counted else len(ends)
    width_px, height_px = shown_size(stream, first.rotation)
    pictures_end_s = max(ends, default=Fraction(0))
    duration_s = max(pictures_end_s, sound_ends_s(container, pictures_end_s))
    average = stream.average_rate or stream.guessed_rate
    fps = average or Fraction(frames) / (duration_s or 1)
    promised_s = _promised_s(container, stream)
    damage = ""
    if promised_s - pictures_end_s > _SHORT_FRAMES / fps:
        damage = said(
            "ends at {duration_s:.1f} s of {promised_s:.1f} s: copy it again",
            duration_s=float(pictures_end_s),
            promised_s=float(promised_s),
        )
    elif (unread := unread_share(container, stream)) > _UNREAD_SHARE:
        damage = said(
            "ends at {duration_s:.1f} s, and {unread:.0%} of the file come after it: another recording was put behind "
            "this one, convert both to MP4 first",
            duration_s=float(duration_s),
            unread=unread,
        )
    return VideoFacts(
        path="",
        fps=fps,
        duration_s=float(duration_s),
        width_px=width_px,
        height_px=height_px,
        has_audio=sound_stream(container) is not None,
        sha256="",
        codec=stream.codec_context.name,
        frames=frames,
        damage=damage,
    )


def _both_ends(container: InputContainer, stream: VideoStream) -> Iterator[Packet[VideoStream]]:
    """The packets up to the second key frame, and those from the last one on."""
    for place, packet in enumerate(packets(container, stream)):
        if place and packet.is_keyframe:
            break
        yield packet
    yield from packets_from(container, stream, _promised_s(container, stream))


def _promised_s(container: InputContainer, stream: VideoStream) -> Fraction:
    """Where the pictures end by the header of the file; 0 where it says nothing. Without an index it is a guess."""
    if may_jump(container) or not stream.duration:
        return Fraction(0)
    return ((stream.start_time or 0) + stream.duration) * (stream.time_base or Fraction(0)) - start_of(container)


class VideoFolder:
    """The videos under a folder, indexed once: those in it by their name, those below it as well.

    A video is a file with one of `EXTENSIONS`, or a folder that holds frames and no such file. A link out of the folder
    is none: whoever made the folder could bring in a private file of whoever reads it. The folder itself may be a link.

    Names are compared in their composed form (NFC): macOS hands out file names decomposed.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._paths: dict[str, list[Path]] = defaultdict(list)
        files, folders, links = _videos_below(folder)
        for path in sorted(files, key=lambda path: (EXTENSIONS.index(path.suffix.lower()), path)):
            for name in _names(path, folder):
                self._paths[name].append(path)
        for path in sorted(folders):
            for name in {nfc(path.name), nfc(path.relative_to(folder).as_posix())}:
                self._paths[name].append(path)
        self._videos = {*files, *folders}
        self._links = {path: _names(path, folder) for path in sorted(links)}

    @property
    def links(self) -> tuple[Path, ...]:
        """Links out of the folder that are named like a video, or lead to a folder; they are not followed."""
        return tuple(self._links)

    @property
    def videos(self) -> frozenset[Path]:
        """Every video file and every folder of frames."""
        return frozenset(self._videos)

    @property
    def clashes(self) -> list[Path]:
        """Videos that share their canonical name with another one of their folder: nobody can tell which is meant."""
        return [path for paths in self._paths.values() for path in paths[1:] if _clash([paths[0], path])]

    def named(self) -> dict[str, Path]:
        """Every video of the folder: its place in it without extension -> its file, by place.

        Of files that differ in nothing but their extension it is the one that `find` takes. Those of `clashes` are not
        in it.
        """
        relative = {path: path.relative_to(self._folder) for path in self._videos}
        places = {nfc((at if path.is_dir() else at.with_suffix("")).as_posix()) for path, at in relative.items()}
        return {place: self._paths[place][0] for place in sorted(places) if not _clash(self._paths[place])}

    def find(self, name: str) -> Path:
        """The file, or folder of frames, called `name` in an annotation, with or without extension or subfolder.

        Files of the folder itself come before those in subfolders. An extension that the annotation states
        but no file has (`dog.avi` for `dog.mp4`) is passed over.

        Raises:
            VideoUnreadable: no such file, several of that name in different subfolders, two that are canonically equal
                in one, or a link out of the folder.
        """
        names = [nfc(name)]
        if PurePosixPath(name).suffix.lower() in EXTENSIONS:
            names.append(str(PurePosixPath(names[0]).with_suffix("")))
        for candidate in names:
            paths = self._paths.get(candidate, [])
            paths = [path for path in paths if path.parent == self._folder] or paths
            if len({path.parent for path in paths}) > 1:
                places = ", ".join(path.relative_to(self._folder).as_posix() for path in paths)
                raise VideoUnreadable(
                    said(
                        "{name}: {why}",
                        name=name,
                        why=said(
                            "several video files of that name in {folder}: {places}", folder=self._folder, places=places
                        ),
                    )
                )
            if _clash(paths):
                raise VideoUnreadable(said("{name}: {why}", name=name, why=CLASH))
            if paths:
                return paths[0]
        linked = any(candidate in known for candidate in names for known in self._links.values())
        why = LINK_OUT if linked else said("no video file in {folder}", folder=self._folder)
        raise VideoUnreadable(said("{name}: {why}", name=name, why=why))


CLASH = said(
    "two videos of the folder have this name, and differ only in how Unicode writes its letters: rename or remove one"
)
LINK_OUT = said(
    "is a link out of the folder, which is not followed: put the file itself there, or name the folder in which it lies"
)


def _names(path: Path, folder: Path) -> set[str]:
    """What annotations may call a file in a folder."""
    relative = path.relative_to(folder)
    return set(map(nfc, (path.name, path.stem, relative.as_posix(), relative.with_suffix("").as_posix())))


def _clash(paths: list[Path]) -> bool:
    """Whether the first of several paths is canonically equal to another: they differ only in Unicode form."""
    return any(nfc(str(path)) == nfc(str(paths[0])) for path in paths[1:])


def _videos_below(folder: Path) -> tuple[set[Path], set[Path], set[Path]]:
    """The video files in and below a folder, the folders of frames below it, and the links out of it."""
    files: set[Path] = set()
    folders: set[Path] = set()
    links: set[Path] = set()
    for at, below, names in os.walk(folder):
        here = Path(at)
        links |= {here / name for name in below if not name.startswith(".") and _is_link_out(here / name, folder)}
        # Files named .something are what file managers leave beside the real ones.
        named = [name for name in names if name.lower().endswith(EXTENSIONS) and not name.startswith(".")]
        found = {path for name in named if (path := here / name).is_file()}
        links |= (out := {path for path in found if _is_link_out(path, folder)})
        files |= found - out
        if not found and here != folder and any(map(is_picture, names)):
            folders.add(here)
    return files, folders, links


def _is_link_out(path: Path, folder: Path) -> bool:
    return path.is_symlink() and leads_out(path, folder)
