"""Measure video files, and find the file that an annotation means."""

import hashlib
from collections import defaultdict
from contextlib import suppress
from fractions import Fraction
from pathlib import Path, PurePosixPath

import av
from av.video.frame import VideoFrame

from backend.ground.errors import VideoUnreadable
from backend.media.decode import opened, packets, picture_stream, shown_size, sound_stream, time_of
from backend.media.facts import VideoFacts

EXTENSIONS = (
    *(".mp4", ".mkv", ".webm", ".avi", ".mov", ".m4v"),
    *(".mpg", ".mpeg", ".wmv", ".3gp", ".3g2", ".mts", ".m2ts"),  # as people's cameras named them, in DiDeMo
)
"""What counts as a video file in a folder; of `a.mp4` and `a.webm` side by side the earlier one is taken."""


def probe(path: Path) -> VideoFacts:
    """Measure one video file: reads all of it once, decodes one picture.

    The duration is where the last picture that is really in the file stops being shown, so that a file cut
    off in copying tells the truth whatever its header promises. The size is the one on screen: rotated, in
    square pixels.

    Raises:
        VideoUnreadable: missing, not a video, incomplete, or without a picture; the text says which.
    """
    ends: list[Fraction] = []
    first: VideoFrame | None = None
    with opened(path) as container:
        stream = picture_stream(container, path)
        has_audio = sound_stream(container) is not None
        for packet in packets(container, stream):
            if first is None:
                with suppress(av.FFmpegError):
                    first = next(iter(stream.codec_context.decode(packet)), None)
            time_s = time_of(packet, stream)
            # A cut-off last packet is announced but cannot be decoded.
            if time_s is not None and not packet.is_corrupt and not packet.is_discard:
                ends.append(time_s + (packet.duration or 0) * (stream.time_base or 0))
        if first is None:
            raise VideoUnreadable(f"{path.name} is damaged: none of its frames can be shown")
        width_px, height_px = shown_size(stream, first.rotation)
        average = stream.average_rate or stream.guessed_rate
    with path.open("rb") as file:
        sha256 = hashlib.file_digest(file, "sha256").hexdigest()
    duration_s = max(ends, default=Fraction(0))
    return VideoFacts(
        path=str(path),
        fps=average or Fraction(len(ends)) / (duration_s or 1),
        duration_s=float(duration_s),
        width_px=width_px,
        height_px=height_px,
        has_audio=has_audio,
        sha256=sha256,
    )


class VideoFolder:
    """The video files under a folder, indexed once: those in it by their name, those below it as well."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._paths: dict[str, list[Path]] = defaultdict(list)
        found = [path for path in folder.rglob("*") if path.suffix.lower() in EXTENSIONS]
        # Files named .something are what file managers leave beside the real ones.
        found = [path for path in found if not path.name.startswith(".") and path.is_file()]
        for path in sorted(found, key=lambda path: (EXTENSIONS.index(path.suffix.lower()), path)):
            relative = path.relative_to(folder)
            names = {path.name, path.stem, relative.as_posix(), relative.with_suffix("").as_posix()}
            for name in names:
                self._paths[name].append(path)

    def named(self) -> dict[str, Path]:
        """Every video of the folder: its place in it without extension -> its file, by place.

        Of files that differ in nothing but their extension it is the one that `find` takes.
        """
        paths = {path for found in self._paths.values() for path in found}
        places = sorted(path.relative_to(self._folder).with_suffix("").as_posix() for path in paths)
        return {place: self._paths[place][0] for place in places}

    def find(self, name: str) -> Path:
        """The file of the video called `name` in an annotation, with or without extension or subfolder.

        Files of the folder itself come before those in subfolders. An extension that the annotation states
        but no file has (`dog.avi` for `dog.mp4`) is passed over.

        Raises:
            VideoUnreadable: no such file, or several of that name in different subfolders.
        """
        names = [name]
        if PurePosixPath(name).suffix.lower() in EXTENSIONS:
            names.append(str(PurePosixPath(name).with_suffix("")))
        for candidate in names:
            paths = self._paths.get(candidate, [])
            paths = [path for path in paths if path.parent == self._folder] or paths
            if len({path.parent for path in paths}) > 1:
                places = ", ".join(path.relative_to(self._folder).as_posix() for path in paths)
                raise VideoUnreadable(f"{name}: several video files of that name in {self._folder}: {places}")
            if paths:
                return paths[0]
        raise VideoUnreadable(f"{name}: no video file in {self._folder}")
