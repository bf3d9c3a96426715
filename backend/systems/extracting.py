"""Extract features of the frames of many videos, one vector for each frame, into one HDF5 file.

*Reads* video files and cached vectors of their frames. *Writes* the HDF5 file, and new vectors into the cache. An
extraction that was interrupted continues from the cache: a finished video is not read again.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from backend.core.atomic_output import new_files, require_new_file
from backend.core.errors import InputError, Problem, VideoUnreadable
from backend.core.progress import Progress, steps_of
from backend.encoders.clip import Clip
from backend.media.frames import keep_frames, vectors_of
from backend.media.sources import Source
from backend.systems.feature_files import (
    ENCODER,
    RATE,
    SUFFIXES,
    FloatArray,
    hdf5,
    require_numbers,
    require_rate,
    wrong_shape,
)


def require_suffix(out: Path) -> None:
    """Raise an error if a file name does not end in `.h5` or `.hdf5`.

    Raises:
        InputError: it has another ending.
    """
    if out.suffix not in SUFFIXES[:2]:
        raise InputError.single(out, "is not a name for a file of features: end it in .h5")


def require_names(out: Path, videos: Iterable[str]) -> None:
    """Raise an error if HDF5 cannot store the videos under their names, in which a slash separates groups as in a path.

    Raises:
        InputError: lists each name that has an empty part, `.` or `..` between slashes. It also lists each name that
            lies below another video, as `a/b` lies below `a`.
    """
    names = dict.fromkeys(videos)
    problems = []
    for name in names:
        parts = name.split("/")
        if not {"", ".", ".."}.isdisjoint(parts):
            problems.append(f"video {name!r}: HDF5 cannot store this name; rename the video")
        elif above := next((parent for n in range(1, len(parts)) if (parent := "/".join(parts[:n])) in names), None):
            problems.append(f"video {name!r}: HDF5 cannot store it below video {above!r}; rename one of them")
    if problems:
        raise InputError([Problem(str(out), None, problem) for problem in problems])


@dataclass(frozen=True, slots=True)
class FeaturesReport:
    """The outcome of an extraction.

    Attributes:
        videos: the number of videos in the file.
        encoder: the identity of the model that made the features.
        unseen: for each video left out, the reason.
    """

    videos: int
    encoder: str
    unseen: tuple[str, ...]


def require_extractable(out: Path, per_s: float) -> None:
    """Raise an error if an extraction cannot succeed, before a model is loaded.

    Raises:
        InputError: the file name or the rate `per_s` is not valid.
        ProjectError: the file exists, or cannot be made.
    """
    require_suffix(out)
    require_rate(out, per_s)
    require_new_file(out)


def extract(
    files: Mapping[str, Source],
    clip: Clip,
    out: Path,
    embeddings: Path,
    *,
    per_s: float,
    source: str,
    missing: Collection[str] = (),
    progress: Progress | None = None,
) -> FeaturesReport:
    """Write the frame features of videos into one HDF5 file; videos that cannot be read are left out and reported.

    Args:
        files: the file of each video, by name.
        clip: the CLIP model; it also decides where frames are encoded.
        out: the file to make; it must not exist, and ends in `.h5` or `.hdf5`.
        embeddings: the folder that caches vectors of frames.
        per_s: frames a second, above 0; row `i` of a video's features is the frame at `(i + 0.5) / per_s` seconds.
        source: the name of the corpus, for messages.
        missing: names of videos without a known file.
        progress: called with (name of the step, number done, number of all).

    Raises:
        InputError: no video can be read, the file name or the rate is not valid, or HDF5 cannot store a video's name.
        ProjectError: the file exists, or cannot be made.
        EncoderUnavailable: the model cannot be loaded.
    """
    require_extractable(out, per_s)
    if not files:
        raise InputError.single(source, "has no video whose file is known: import the corpus with --videos")
    names = sorted(files)
    require_names(out, names)  # now, and not after hours of looking
    keep_frames(
        clip, [files[name] for name in names], embeddings, per_s=per_s, progress=steps_of(progress, "encoding frames")
    )
    looking = steps_of(progress, "writing features")
    unseen = [f"{name}: the place of the file is not known" for name in missing]

    def seen() -> Iterator[tuple[str, FloatArray]]:
        for done, name in enumerate(names, start=1):
            try:
                yield name, vectors_of(clip, files[name], per_s, embeddings)
            except VideoUnreadable as error:
                unseen.append(str(error))
            if looking:
                looking(done, len(names))
        if len(unseen) == len(names) + len(missing):
            raise InputError.single(source, f"has no video that could be read: {unseen[-1]}")

    count = write_features(out, seen(), rate=per_s, encoder=clip.identity)
    return FeaturesReport(count, clip.identity, tuple(unseen))


def write_features(
    out: Path, videos: Iterable[tuple[str, npt.NDArray[np.floating]]], *, rate: float, encoder: str
) -> int:
    """Write an HDF5 file of frame features video by video; the file appears only when it is complete.

    Args:
        out: the file to make; it must not exist, and ends in `.h5` or `.hdf5`.
        videos: pairs of a video's name and its features `(frames, dim)`, one row for each frame. Only one video is in
            memory at a time.
        rate: rows for each second of video, above 0.
        encoder: the name of the model that made the features.

    Returns:
        The number of videos.

    Raises:
        InputError: HDF5 cannot store a name, a video comes twice or has no rows, rows differ in length, or rows hold
            anything but finite numbers.
        ProjectError: the file exists, or cannot be made.
    """
    require_suffix(out)
    require_rate(out, rate)
    require_new_file(out)
    dim: int | None = None
    count = 0
    with new_files(out.parent) as own, hdf5(out).File(own / out.name, "w") as file:
        file.attrs[RATE], file.attrs[ENCODER] = float(rate), encoder
        for video, rows in videos:
            dim = rows.shape[-1] if dim is None and rows.ndim == 2 else dim
            if fault := wrong_shape(video, rows.shape, dim):
                raise InputError.single(out, fault)
            require_numbers(out, video, rows)
            require_names(out, [video])
            try:
                file.create_dataset(video, data=np.asarray(rows, dtype=np.float32))
            except (TypeError, ValueError):
                already = "a video of this name, or of a part of its path, was already written"
                raise InputError.single(out, f"video {video}: {already}") from None
            count += 1
        if not count:
            raise InputError.single(out, "there is no video to write")
    return count
