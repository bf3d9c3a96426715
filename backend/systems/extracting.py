"""Extract the features of many videos' frames, by a model that looks at them, into one file.

*Reads* video files, and what is kept of them. *Writes* vectors of frames, which are kept, and the file. What is kept is
how an extraction that was broken off goes on: a video that is done is not looked at again.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from backend.core.atomic_output import new_files, require_new_file
from backend.core.errors import InputError, Problem, VideoUnreadable
from backend.core.progress import Progress, named
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
    """Refuse a name that says nothing of HDF5.

    Raises:
        InputError: it ends in neither `.h5` nor `.hdf5`.
    """
    if out.suffix not in SUFFIXES[:2]:
        raise InputError.single(out, "is not a name for a file of features: end it in .h5")


def require_names(out: Path, videos: Iterable[str]) -> None:
    """Refuse names that HDF5 would not give back as they were; a slash in one makes a group, as elsewhere in the field.

    Raises:
        InputError: with each of them; or a name is a part of another's path.
    """
    names = dict.fromkeys(videos)
    problems = []
    for name in names:
        parts = name.split("/")
        if not {"", ".", ".."}.isdisjoint(parts):
            problems.append(f"video {name!r}: HDF5 cannot store this name; rename the video")
        elif above := next((one for n in range(1, len(parts)) if (one := "/".join(parts[:n])) in names), None):
            problems.append(f"video {name!r}: HDF5 cannot store it below video {above!r}; rename one of them")
    if problems:
        raise InputError([Problem(str(out), None, told) for told in problems])


@dataclass(frozen=True, slots=True)
class FeaturesReport:
    """What was written: how many videos, by which model; why videos are not in it that could not be looked at."""

    videos: int
    encoder: str
    unseen: tuple[str, ...]


def require_extractable(out: Path, per_s: float) -> None:
    """Refuse what cannot be extracted, before a model is looked for.

    Raises:
        InputError: the name or the rate means nothing.
        ProjectError: the file is there already, or cannot be made.
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
    """Write the features of videos, by name; those that cannot be looked at are left out and told.

    Args:
        files: where each video lies.
        clip: the model, which says where frames are encoded.
        out: the file, which must not be there; it ends in `.h5` or `.hdf5`.
        embeddings: where vectors of frames are kept.
        per_s: rows a second, above 0; row `i` shows the middle of its piece.
        source: what the videos are of, for messages.
        missing: videos whose file is not known.
        progress: called with (what is done, done, all).

    Raises:
        InputError: no video can be looked at, or the name or the rate means nothing, or a video's name has no place in
            such a file.
        ProjectError: the file is there already, or cannot be made.
        EncoderUnavailable: the model cannot be built.
    """
    require_extractable(out, per_s)
    if not files:
        raise InputError.single(source, "has no video whose file is known: import the corpus with --videos")
    names = sorted(files)
    require_names(out, names)  # now, and not after hours of looking
    keep_frames(
        clip, [files[name] for name in names], embeddings, per_s=per_s, progress=named(progress, "encoding frames")
    )
    looking = named(progress, "writing features")
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
    """Write an HDF5 file of features, video after video; it is there once all are in it, or not at all.

    Args:
        out: the file, which must not be there; its name ends in `.h5` or `.hdf5`.
        videos: names and rows `(frames, dim)`, of which one video at a time is held.
        rate: rows a second, above 0.
        encoder: what made the rows.

    Returns:
        How many videos.

    Raises:
        InputError: a name cannot be one in such a file, a video comes twice or has no rows, lengths of rows differ, or
            rows hold something else than numbers.
        ProjectError: the file is there already, or cannot be made.
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
            if told := wrong_shape(video, rows.shape, dim):
                raise InputError.single(out, told)
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
