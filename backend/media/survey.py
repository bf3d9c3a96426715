"""Measure many videos side by side."""

import os
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import suppress
from dataclasses import dataclass, replace

from backend.ground.errors import VideoUnreadable
from backend.ground.progress import Steps
from backend.media.content import size_of
from backend.media.facts import VideoFacts
from backend.media.probe import damage_inside, probe
from backend.media.sources import Source

CHEAP_BYTES = 100 * 1024**2
"""Videos of so many bytes in all are decoded without being asked to: some 25,000 frames, in about 15 s of two cores."""

_MOST_AT_ONCE = 8


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
    progress: Steps | None = None,
) -> Survey:
    """Measure videos, several at a time; FFmpeg works in threads, beside Python.

    Args:
        videos: where each lies, by name.
        decode: look at every picture for damage inside; None does where that is cheap (`CHEAP_BYTES`).
        known: damage of contents that were decoded before, by sha256; they are not decoded again.
        progress: called with (videos measured, all).
    """
    decode = _size(videos) <= CHEAP_BYTES if decode is None else decode
    known = known or {}
    found = Survey({}, {}, decode)
    workers = ThreadPoolExecutor(min(_MOST_AT_ONCE, os.cpu_count() or 1))
    try:
        names = {workers.submit(_measured, video, decode, known): name for name, video in videos.items()}
        for done, future in enumerate(as_completed(names), start=1):
            try:
                found.facts[names[future]] = future.result()
            except VideoUnreadable as error:
                found.unreadable[names[future]] = str(error)
            if progress:
                progress(done, len(names))
    finally:
        workers.shutdown(cancel_futures=True)  # after Ctrl-C nothing more is begun
    return found


def _measured(video: Source, decode: bool, known: Mapping[str, str]) -> VideoFacts:
    facts = probe(video)
    if facts.duration_s <= 0:
        raise VideoUnreadable(f"{video.name} holds a picture that is shown for no time")
    if facts.sha256 in known:
        return replace(facts, decoded=True, damage=known[facts.sha256])
    if not decode:
        return facts
    told = [one for one in (damage_inside(video), facts.damage) if one]
    return replace(facts, decoded=True, damage="; ".join(told))


def _size(videos: Mapping[str, Source]) -> int:
    total = 0
    for video in videos.values():
        with suppress(OSError):  # it is told when it is measured
            total += size_of(video)
        if total > CHEAP_BYTES:
            break
    return total
