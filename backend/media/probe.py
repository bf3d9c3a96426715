"""Measure videos, one by one or many in parallel."""

from __future__ import annotations  # PyAV's Packet takes a type argument in its stubs only

import os
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from fractions import Fraction

import av
from av.container import InputContainer
from av.packet import Packet
from av.video.frame import VideoFrame
from av.video.stream import VideoStream

from backend.core.addresses import Address
from backend.core.errors import StorageUnavailable, VideoUnreadable
from backend.core.messages import said
from backend.core.parallel import run_units
from backend.core.progress import Steps
from backend.core.where import HERE, Where
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
from backend.media.frame_folder import OpenFolder
from backend.media.limits import too_heavy, within_bounds
from backend.media.sources import Source, VideoFacts, as_source, paths_of, place_of_video
from backend.media.timeline import may_jump, start_of, unread_share

_NO_END_S = 1e9
_SHORT_FRAMES = 2
"""A file may end this many frames before the end in its index, and still counts as whole."""
_UNREAD_SHARE = 0.1
"""The share of a file without an index that may follow the last picture and sound."""


def probe(source: Source) -> VideoFacts:
    """Measure one video; reads all of it once and decodes one picture.

    If the video is at an address and its index says how many frames it has, only its beginning is read, and its end
    from the last key frame on.

    The duration is where the last picture or sound in the file ends, whatever its header says, so a truncated file is
    measured correctly. The size is the one on screen: rotated, in square pixels. A folder of frames lasts as long as
    its frames at their rate.

    Raises:
        VideoUnreadable: missing, not a video, incomplete, or without a picture; the text says which.
    """
    source = as_source(source)
    with opened(source) as container:
        facts = _of_folder(container) if isinstance(container, OpenFolder) else _of_file(container, source)
    return replace(facts, path=str(place_of_video(source)), sha256=sha256_of(source), size_bytes=size_of(source))


def require_unchanged(source: Source, sha256: str) -> None:
    """Refuse a video whose content has changed; it is read again only if its size or modification time changed.

    Raises:
        VideoUnreadable: it changed, or cannot be read any more; the text says which.
    """
    if sha256_of(source) != sha256:
        with opened(source) as container:
            picture_stream(container, source)
        raise VideoUnreadable(changed_words(source.name))


def damage_inside(source: Source) -> str | None:
    """Decode every picture; return a message about where damage begins and how many pictures are intact.

    Returns None if nothing is damaged.
    """
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
            "frames are missing from {near_s:.1f} s on: {there} of {announced} exist",
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
        raise VideoUnreadable.named(source.name, said("is damaged: none of its frames can be shown"))
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
            "ends at {duration_s:.1f} s instead of {promised_s:.1f} s: copy it again",
            duration_s=float(pictures_end_s),
            promised_s=float(promised_s),
        )
    elif (unread := unread_share(container, stream)) > _UNREAD_SHARE:
        damage = said(
            "ends at {duration_s:.1f} s, but {unread:.0%} of the file comes after that. It holds two "
            "recordings: convert both to MP4 first",
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
    """Yield the packets up to the second key frame, and those from the last key frame on."""
    for place, packet in enumerate(packets(container, stream)):
        if place and packet.is_keyframe:
            break
        yield packet
    yield from packets_from(container, stream, _promised_s(container, stream))


def _promised_s(container: InputContainer, stream: VideoStream) -> Fraction:
    """Return when the pictures end according to the file's header, in seconds; 0 if unknown.

    In a file without an index this time is a guess.
    """
    if may_jump(container) or not stream.duration:
        return Fraction(0)
    return ((stream.start_time or 0) + stream.duration) * (stream.time_base or Fraction(0)) - start_of(container)


CHEAP_BYTES = 100 * 1024**2
"""Videos up to this total size are decoded by default: some 25,000 frames, in about 15 s on two cores."""

_MOST_AT_ONCE = 8
_WORTH_PROCESSES_BYTES = 30 * 1024**2
"""Less than this is decoded here, faster than other processes could start."""
_READ_FASTER = 20
"""How many times faster reading a video is than decoding it."""


@dataclass(frozen=True, slots=True)
class Survey:
    """The results of measuring videos.

    Attributes:
        facts: the measured facts of each readable video, by name.
        unreadable: for each video that cannot be shown, by name, the reason.
        decoded: whether every picture was checked for damage.
    """

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
    """Measure many videos (duration, frame rate, size and more), and tell why some of them cannot be shown.

    Args:
        videos: maps each name to its video.
        decode: whether to check every picture for damage. None does so if the videos have at most `CHEAP_BYTES`
            together and none is at an address.
        known: the damage that earlier checks found, by the hash of a video's content; an empty text means no damage. A
            video without damage is not checked again.
        where: where to measure, always in other processes; None chooses the number of local processes by the size of
            the videos.
        progress: called with (videos measured, all).

    Raises:
        WorkerLost, ClusterUnavailable: see `run_units`.
    """
    size = _size(videos)
    local = not any(isinstance(video, Address) for video in videos.values())
    decode = local and size <= CHEAP_BYTES if decode is None else decode
    if where is None:
        alone = (size if decode else size // _READ_FASTER) < _WORTH_PROCESSES_BYTES
        where = HERE if alone else Where(min(_MOST_AT_ONCE, os.cpu_count() or 1))
    report = Survey({}, {}, decode)
    results = run_units(
        _measured,
        (decode, known or {}),
        list(videos.values()),
        where,
        called=lambda video: str(place_of_video(video)),
        sees=paths_of(videos.values()),
        apart=True,
        kept=local,
        lost=lambda video, died: str(too_heavy(video, died)),
        progress=progress,
    )
    for name, result in zip(videos, results, strict=True):
        if isinstance(result, VideoFacts):
            report.facts[name] = result
        else:
            report.unreadable[name] = result
    return report


def _measured(shared: tuple[bool, Mapping[str, str]], video: Source) -> VideoFacts | str:
    """Return the facts of a video, or the reason why it cannot be shown, as text.

    `shared` is (whether to check every picture for damage, the damage found earlier by the hash of a video's content).
    """
    decode, known = shared
    try:
        with within_bounds(video):
            return _facts(video, decode, known)
    except (VideoUnreadable, StorageUnavailable) as error:
        return str(error)


def _facts(video: Source, decode: bool, known: Mapping[str, str]) -> VideoFacts:
    facts = probe(video)
    if facts.duration_s <= 0:
        raise VideoUnreadable.named(video.name, said("contains a frame that is shown for no time"))
    # Decode damaged files again: a newer FFmpeg or ReelRank may read them whole.
    if facts.sha256 in known and not (decode and known[facts.sha256]):
        return replace(facts, decoded=True, damage=known[facts.sha256])
    if not decode:
        return facts
    damages = [text for text in (damage_inside(video), facts.damage) if text]
    return replace(facts, decoded=True, damage="; ".join(damages))


def _size(videos: Mapping[str, Source]) -> int:
    total = 0
    for video in videos.values():
        if isinstance(video, Address):
            continue  # its size would need a network request
        with suppress(OSError):  # reported when the video is measured
            total += size_of(video)
    return total
