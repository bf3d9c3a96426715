"""Measure many videos side by side."""

import os
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, replace

from backend.core.addresses import Address
from backend.core.errors import StorageUnavailable, VideoUnreadable
from backend.core.messages import said
from backend.core.parallel import run_units
from backend.core.progress import Steps
from backend.core.where import HERE, Where
from backend.media.content import size_of
from backend.media.facts import VideoFacts
from backend.media.limits import too_heavy, within_bounds
from backend.media.probe import damage_inside, probe
from backend.media.sources import Source, paths_of, place_of_video

CHEAP_BYTES = 100 * 1024**2
"""Videos of so many bytes in all are decoded without being asked to: some 25,000 frames, in about 15 s of two cores."""

_MOST_AT_ONCE = 8
_WORTH_PROCESSES_BYTES = 30 * 1024**2
"""Less than so much is decoded before other processes have begun."""
_READ_FASTER = 20
"""So many times faster than decoding a video is reading it."""


@dataclass(frozen=True, slots=True)
class Survey:
    """What was measured, by name: the facts, or why a video cannot be shown. `decoded`: their pictures, too."""

    facts: dict[str, VideoFacts]
    unreadable: dict[str, str]
    decoded: bool


def survey(
    videos: Mapping[str, Source],
    *,
    decode: bool | None = None,
    known: Mapping[str, str] | None = None,
    where: Where | None = None,
    progress: Steps | None = None,
) -> Survey:
    """Measure videos.

    Args:
        videos: where each lies, by name.
        decode: look at every picture for damage inside; None does where that is cheap (`CHEAP_BYTES`, on this machine).
        known: damage of contents that were decoded before, by sha256. Those without any are not decoded again.
        where: where that is done, never in this process; None means in as many of this machine as are worth beginning.
        progress: called with (videos measured, all).

    Raises:
        WorkerLost, ClusterUnavailable: see `run_units`.
    """
    size = _size(videos)
    here = not any(isinstance(video, Address) for video in videos.values())
    decode = here and size <= CHEAP_BYTES if decode is None else decode
    if where is None:
        alone = (size if decode else size // _READ_FASTER) < _WORTH_PROCESSES_BYTES
        where = HERE if alone else Where(min(_MOST_AT_ONCE, os.cpu_count() or 1))
    found = Survey({}, {}, decode)
    results = run_units(
        _measured,
        (decode, known or {}),
        list(videos.values()),
        where,
        called=lambda video: str(place_of_video(video)),
        sees=paths_of(videos.values()),
        apart=True,
        kept=here,
        lost=lambda video, died: str(too_heavy(video, died)),
        progress=progress,
    )
    for name, result in zip(videos, results, strict=True):
        if isinstance(result, VideoFacts):
            found.facts[name] = result
        else:
            found.unreadable[name] = result
    return found


def _measured(shared: tuple[bool, Mapping[str, str]], video: Source) -> VideoFacts | str:
    """What was measured of a video, or why it cannot be shown."""
    decode, known = shared
    try:
        with within_bounds(video):
            return _facts(video, decode, known)
    except (VideoUnreadable, StorageUnavailable) as error:
        return str(error)


def _facts(video: Source, decode: bool, known: Mapping[str, str]) -> VideoFacts:
    facts = probe(video)
    if facts.duration_s <= 0:
        raise VideoUnreadable(
            said("{name} {why}", name=video.name, why=said("holds a picture that is shown for no time"))
        )
    # Decode damaged files again: a newer FFmpeg or ReelRank may read them whole.
    if facts.sha256 in known and not (decode and known[facts.sha256]):
        return replace(facts, decoded=True, damage=known[facts.sha256])
    if not decode:
        return facts
    told = [one for one in (damage_inside(video), facts.damage) if one]
    return replace(facts, decoded=True, damage="; ".join(told))


def _size(videos: Mapping[str, Source]) -> int:
    total = 0
    for video in videos.values():
        if isinstance(video, Address):
            continue  # a question over the network
        with suppress(OSError):  # it is told when it is measured
            total += size_of(video)
    return total
