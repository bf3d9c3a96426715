"""Extract the features of many videos' frames, by a model that looks at them, into one file.

*Reads* video files, and what is kept of them. *Writes* vectors of frames, which are kept, and the file. What is kept is
how an extraction that was broken off goes on: a video that is done is not looked at again.
"""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from backend.core.atomic_output import require_new_file
from backend.core.errors import InputError, VideoUnreadable
from backend.core.progress import Progress, named
from backend.encoders.clip import Clip
from backend.media.frame_vectors import keep_frames, vectors_of
from backend.media.sources import Source
from backend.systems.feature_files import FloatArray, write_features
from backend.systems.feature_refusals import require_names, require_rate, require_suffix


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
        raise InputError.single(source, "has no video whose file is known: import it with --videos")
    names = sorted(files)
    require_names(out, names)  # now, and not after hours of looking
    keep_frames(
        clip, [files[name] for name in names], embeddings, per_s=per_s, progress=named(progress, "encoding frames")
    )
    looking = named(progress, "writing features")
    unseen = [f"{name}: no file is known" for name in missing]

    def seen() -> Iterator[tuple[str, FloatArray]]:
        for done, name in enumerate(names, start=1):
            try:
                yield name, vectors_of(clip, files[name], per_s, embeddings)
            except VideoUnreadable as error:
                unseen.append(str(error))
            if looking:
                looking(done, len(names))
        if len(unseen) == len(names) + len(missing):
            raise InputError.single(source, f"has no video that could be looked at: {unseen[-1]}")

    count = write_features(out, seen(), rate=per_s, encoder=clip.identity)
    return FeaturesReport(count, clip.identity, tuple(unseen))
