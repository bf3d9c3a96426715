"""Vectors of the frames of videos, by whatever model is handed in, made once and kept."""

from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from backend.core.errors import VideoUnreadable
from backend.core.parallel import run_units
from backend.core.private import make_private_folder
from backend.core.progress import Steps
from backend.core.where import HERE, where_of
from backend.media.content import sha256_of
from backend.media.frames import frames_at
from backend.media.sources import Source, paths_of, place_of_video


class FrameModel(Protocol):
    """A model that looks at frames, such as CLIP; it may say `where` its work is done."""

    def frames(
        self, video_sha256: str, per_s: float, pictures: Callable[[], Iterable[NDArray[np.uint8]]], folder: Path
    ) -> NDArray[np.float32]:
        """Unit vectors `(frames, dim)` of what `pictures` gives, from `folder` where they are there."""
        ...


def vectors_of(model: FrameModel, video: Source, per_s: float, folder: Path) -> NDArray[np.float32]:
    """Unit vectors of a video's frames, float32 `(frames, dim)`; row `i` is visible at `(i + 0.5) / per_s` seconds.

    Args:
        model: what looks at them.
        video: where it lies.
        per_s: frames a second.
        folder: where vectors are kept, and looked for first.

    Raises:
        VideoUnreadable: the video cannot be shown.
        EncoderUnavailable: the model cannot be built.
    """
    return model.frames(sha256_of(video), per_s, lambda: frames_at(video, per_s), folder)


def keep_frames(
    model: FrameModel, videos: Iterable[Source], folder: Path, *, per_s: float, progress: Steps | None = None
) -> None:
    """Encode the frames of videos where the model says, if that is not in this process, and keep their vectors.

    Those of a video that cannot be shown are not there afterwards, which whoever asks for them is told.
    """
    where = where_of(model)
    if where == HERE:
        return
    units = list(videos)
    make_private_folder(folder)
    run_units(
        _kept,
        (model, per_s, folder),
        units,
        where,
        called=lambda video: str(place_of_video(video)),
        sees=paths_of(units),
        fills=[folder],
        progress=progress,
    )


def _kept(shared: tuple[FrameModel, float, Path], video: Source) -> None:
    """A unit of work."""
    model, per_s, folder = shared
    with suppress(VideoUnreadable):
        vectors_of(model, video, per_s, folder)
