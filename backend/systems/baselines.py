"""The baselines by name: what each has seen, and one call for all of them."""

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from backend.core.errors import InputError
from backend.core.progress import Progress, named
from backend.encoders.clip import Clip
from backend.encoders.sentence import Encoder
from backend.scoring.files.reading import read_run, read_videos
from backend.scoring.pools.pooling import TOP_VIDEOS
from backend.systems import caption, prior, random_moments, two_steps
from backend.systems.model import TOP, Answers, SearchTask
from backend.systems.windowing import Windowing

BASELINES = {
    "random": "has seen how long videos last",
    "prior": "has seen where training moments lie in their videos; blind to query and video",
    "caption": "is an UPPER BOUND that has seen the captions of the moments, as no system that searches videos can",
    "clip": "has seen the frames of the videos; CLIP, trained on none of them",
    "prmr": "has seen two runs: the best videos of one, the moments of the other",
}
"""What each has seen."""


@dataclass(frozen=True, slots=True)
class BaselineOptions:
    """What somebody may say about a baseline; each reads what concerns it.

    Attributes:
        seed: of the draws of `random` and `prior`.
        top: answers a query.
        windowing: how `clip` looks at videos.
        first: the run of `prmr` that ranks videos.
        second: the run of `prmr` that has moments.
        best: how many videos of the first are left.
        index: a map of videos, for runs that give videos by index.
    """

    seed: int = 0
    top: int = TOP
    windowing: Windowing = field(default_factory=Windowing)
    first: Path | None = None
    second: Path | None = None
    best: int = TOP_VIDEOS
    index: Path | None = None

    def __post_init__(self) -> None:
        """Refuse what means nothing."""
        for what, number in (("top", self.top), ("best videos", self.best)):
            if number < 1:
                raise InputError.single(what, f"{number} is not at least 1")


def require_baseline(name: str, options: BaselineOptions) -> None:
    """Refuse what is no baseline, or lacks what it needs.

    Raises:
        InputError: it is none; or `prmr` lacks a run.
    """
    if name not in BASELINES:
        raise InputError.single(name, f"is no baseline; there are {', '.join(BASELINES)}")
    if name == "prmr" and (options.first is None or options.second is None):
        raise InputError.single(name, "needs two runs: one that ranks the videos, and one that has their moments")


def answer(
    name: str,
    task: SearchTask,
    options: BaselineOptions,
    *,
    encoder: Callable[[], Encoder],
    clip: Callable[[], Clip],
    embeddings: Path,
    progress: Progress | None = None,
) -> tuple[Answers, tuple[str, ...]]:
    """What a baseline answers.

    Args:
        name: of the baseline.
        task: what it is given.
        options: see there.
        encoder: gives the sentence encoder, where one is needed.
        clip: gives the CLIP model, the same.
        embeddings: where vectors are kept.
        progress: called with (what is done, done, all).

    Returns:
        The answers, and why videos are not in them that could not be looked at.

    Raises:
        InputError: the task or a run lacks something, or see `require_baseline`.
        EncoderUnavailable: a model cannot be built.
    """
    require_baseline(name, options)
    top = options.top
    if name == "random":
        return random_moments.answer(task, options.seed, top=top, progress=named(progress, "drawing")), ()
    if name == "prior":
        return prior.answer(task, options.seed, top=top, progress=named(progress, "drawing")), ()
    if name == "caption":
        return caption.answer(task, encoder(), embeddings, top=top, progress=progress), ()
    if name == "clip":
        from backend.systems import clip_windows  # PyAV

        return clip_windows.answer(task, clip(), embeddings, options.windowing, top=top, progress=progress)
    if options.first is None or options.second is None:
        raise AssertionError("require_baseline has seen two runs")
    index = read_videos(options.index) if options.index else None
    videos, moments = (read_run(path, index) for path in (options.first, options.second))
    return two_steps.answer(task, videos, moments, best=options.best, top=top), ()
