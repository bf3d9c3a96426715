"""Read the streams, packets and frames of a video file by exact time, and detect damage.

All times are seconds on the file's own time line, as fractions: `pts * time_base`, never a frame number divided by a
rounded rate. Measuring videos and cutting clips both use this module, so both take the same stream of pictures.
"""

from __future__ import annotations  # PyAV's Packet takes a type argument in its stubs only

import errno
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from fractions import Fraction
from heapq import heappop, heappush
from itertools import chain
from math import floor
from pathlib import Path
from typing import TypeVar, cast

import av
from av.audio.stream import AudioStream
from av.container import InputContainer
from av.packet import Packet
from av.stream import Disposition, Stream
from av.video.frame import PictureType, VideoFrame
from av.video.stream import VideoStream

from backend.core.addresses import Address
from backend.core.errors import VideoUnreadable
from backend.core.messages import said
from backend.media.frame_folder import OpenFolder, place_at
from backend.media.limits import LARGEST_PIXELS, OPENED_AS, require_file, require_pixels, why_not_opened
from backend.media.sources import NOT_OPENED, FrameFolder, Source, as_source, place_of_video
from backend.media.timeline import may_jump, start_of, timed, timed_by_decoding, timed_from

_OF_THE_DISK = errno.errorcode.keys() - {errno.EINVAL, errno.ENOMEM, errno.ERANGE, errno.EDOM}
"""Error numbers of the disk or system, which say nothing about a file's content."""

_LAST_TICK = 2**62
"""A time in ticks after the end of every file, and small enough for FFmpeg."""

_WAIT_FRAMES = Fraction(3, 2)
_SHORTEST_WAIT_S, _LONGEST_WAIT_S = Fraction(1, 20), Fraction(1, 10)
"""How late a moment's first frame may come: a frame and a half of the video, within these bounds.

If it comes later, the picture on screen at the start of the moment is its first frame.
"""

_OPEN_GROUPS = ("h264", "hevc", "mpeg1video", "mpeg2video")
"""Codecs in which pictures stored after a key frame may be shown before it."""

S = TypeVar("S", VideoStream, AudioStream)

Opened = InputContainer | OpenFolder
"""An open video: a file, or a folder of frames."""

PictureStream = VideoStream | OpenFolder
"""The pictures of an open video."""


@contextmanager
def opened(source: Source) -> Iterator[Opened]:
    """Open a file as a PyAV container, or a folder of frames; raises `VideoUnreadable` with the reason if it cannot."""
    path = as_source(source)
    if isinstance(path, FrameFolder):
        yield OpenFolder(path)
        return
    if isinstance(path, Address):
        from backend.media.remote import opened_at

        with opened_at(path) as remote:
            yield remote
        return
    require_file(path)
    try:
        # "file:" keeps FFmpeg from reading a name as a protocol. Titles, often not UTF-8 in old files, are not needed.
        container = av.open(f"file:{path}", "r", metadata_errors="replace", container_options=OPENED_AS)
    except (FileNotFoundError, NotADirectoryError):
        raise VideoUnreadable.about(path.name, said("no video file in {parent}", parent=path.parent)) from None
    except PermissionError:
        raise VideoUnreadable.named(path.name, said("cannot be opened: change its permissions")) from None
    except av.FFmpegError:
        raise VideoUnreadable.named(path.name, why_not_opened(path)) from None
    with container:
        try:
            yield container
        except av.FFmpegError as error:
            if error.errno in _OF_THE_DISK:
                raise
            raise VideoUnreadable.named(
                path.name, said("is damaged: its pictures cannot be shown ({strerror})", strerror=error.strerror)
            ) from error


def picture_stream(container: Opened, source: Source) -> PictureStream:
    """Return the stream of pictures of an open video. If the file has several, `video_stream` chooses one.

    A folder of frames is its own stream.
    """
    return container if isinstance(container, OpenFolder) else video_stream(container, source)


def video_stream(container: InputContainer, source: Source) -> VideoStream:
    """Return the largest picture stream of a file; of equally large ones the one marked default, or else the first.

    Raises:
        VideoUnreadable: the file, opened from `source`, has no picture, or a picture that is too large.
    """
    streams = [stream for stream in container.streams.video if not stream.disposition & Disposition.attached_pic]
    if not streams:
        # FFmpeg may open a file with a damaged index, and find nothing in it.
        path = place_of_video(source)
        unknown = why_not_opened(path) if isinstance(path, Path) else NOT_OPENED
        why = said("holds sound but no picture") if container.streams.audio else unknown
        raise VideoUnreadable.named(source.name, why)
    streams = [stream for stream in streams if stream.codec_context is not None]
    if not streams:
        raise VideoUnreadable.named(source.name, said("is in an unsupported format: convert it to H.264 first"))
    best = max(
        streams, key=lambda stream: (stream.width * stream.height, bool(stream.disposition & Disposition.default))
    )
    require_pixels(source, best.width, best.height)
    # The picture may become larger midway; then it must not be decoded.
    best.codec_context.options = {"max_pixels": str(LARGEST_PIXELS)}
    # One thread: damage is then reported at the packet that carries it, and many clips can be cut side by side.
    best.codec_context.thread_count = 1
    return best


def sound_stream(container: Opened) -> AudioStream | None:
    """Return the sound stream that FFmpeg considers best, else the first that can be decoded; None if there is none."""
    if isinstance(container, OpenFolder):
        return None
    best = container.streams.best("audio")
    candidates = [best, *container.streams.audio]
    return next(
        (stream for stream in candidates if isinstance(stream, AudioStream) and stream.codec_context is not None), None
    )


def shown_size(stream: PictureStream, rotation: int) -> tuple[int, int]:
    """Return width and height as a player shows them, in square pixels.

    Args:
        stream: the picture stream.
        rotation: degrees counter-clockwise, from `VideoFrame.rotation`.
    """
    aspect = stream.sample_aspect_ratio or Fraction(1)
    width, height = round(stream.width * aspect), stream.height
    return (height, width) if rotation % 180 else (width, height)


def frame_interval_s(stream: PictureStream) -> Fraction:
    """Return the usual time between frames in seconds; 1/25 if the file does not say."""
    return 1 / (stream.average_rate or stream.guessed_rate or Fraction(25))


def time_of(
    item: Packet[VideoStream] | Packet[AudioStream] | VideoFrame, stream: Stream | OpenFolder
) -> Fraction | None:
    """Return when a packet or frame is presented, in seconds; None if the file does not say."""
    ticks = item.dts if item.pts is None else item.pts
    return None if ticks is None or stream.time_base is None else ticks * stream.time_base


def packets(container: InputContainer, stream: S) -> Iterator[Packet[S]]:
    """Yield all readable packets, then an empty one, which makes the decoder return its last frames."""
    yield from timed(container, stream)
    yield cast("Packet[S]", Packet())


def packets_from(container: InputContainer, stream: S, start_s: Fraction) -> Iterator[Packet[S]]:
    """Yield packets from a key frame presented at or before `start_s`, or from the beginning of the file.

    In most formats seeking uses decoding times, and may land on a key frame presented after `start_s`. The frames
    before it would be lost, so the result is checked, and seeking is repeated farther back if needed.
    """
    if may_jump(container):
        yield from timed_from(container, stream, start_s)
        yield cast("Packet[S]", Packet())
        return
    base_s = stream.time_base or Fraction(1, 1000)
    first = stream.start_time or 0
    zero_s = start_of(container)
    back_s = 0
    while True:
        ticks = min(max(first, floor((start_s + zero_s - back_s) / base_s)), _LAST_TICK)
        with suppress(av.FFmpegError):  # a format without an index: read from the beginning
            container.seek(ticks, stream=stream)
        following = packets(container, stream)
        passed: list[Packet[S]] = []
        for packet in following:
            passed.append(packet)
            if packet.is_keyframe and time_of(packet, stream) is not None:
                break
        key_s = time_of(passed[-1], stream) if passed else None
        if ticks <= first:
            yield from chain(passed, following)
            return
        if key_s is not None and key_s <= start_s:
            yield from chain(passed[-1:], following)
            return
        back_s = 2 * back_s + 2


def sound_ends_s(container: InputContainer, after_s: Fraction) -> Fraction:
    """Return the end (s) of the last sound after an instant; 0 if there is none."""
    ends_s = Fraction(0)
    for stream in container.streams.audio:
        for packet in packets_from(container, stream, after_s):
            ends_s = max(ends_s, end_of(packet, stream) or Fraction(0))
    return ends_s


def end_of(packet: Packet[VideoStream] | Packet[AudioStream], stream: Stream) -> Fraction | None:
    """Return when a packet stops being shown or heard (s); None if it has no time or is to be discarded."""
    time_s = time_of(packet, stream)
    if time_s is None or packet.is_discard:
        return None
    return time_s + (packet.duration or 0) * (stream.time_base or Fraction(0))


@dataclass(frozen=True, slots=True)
class TimedFrame:
    """A decoded picture, when it is shown, and for how long (seconds)."""

    picture: VideoFrame
    time_s: Fraction
    lasts_s: Fraction


class MomentFrames:
    """Choose a moment's frames, those in `[start_s, end_s)`, from frames added in order, and say how long each lasts.

    A frame's exact time is rounded to a double before it is compared. So `start_s=2.2` means the frame at 11/5 s,
    although the double 2.2 is a little more than 11/5.

    The first frame of a moment may come `wait_s` seconds or more after its start. Then the picture that is on screen at
    the start is shown first. The last frame is held to the end. A moment without a frame shows the picture on screen.
    If it has frames, but none can be decoded, nothing is shown.
    """

    def __init__(self, start_s: float, end_s: float, wait_s: Fraction, announced: Collection[Fraction]) -> None:
        self.start_s = start_s
        self.end_s = end_s
        self._wait_s = wait_s
        self._announced = announced
        self._before: TimedFrame | None = None
        self._shown: TimedFrame | None = None
        self.over = False

    def holds(self, time_s: Fraction) -> bool:
        """Return whether a frame with this time belongs to the moment."""
        return self.start_s <= float(time_s) < self.end_s

    def add(self, frame: TimedFrame) -> Iterator[TimedFrame]:
        """Take the next frame; yield the frame before it, whose duration is known now, if it belongs to the moment."""
        if self.over:
            return
        start_s = Fraction(self.start_s)
        if float(frame.time_s) < self.start_s:
            self._before = frame
            return
        if float(frame.time_s) >= self.end_s:
            if self._shown is None and self._before is None:
                self._before = frame  # nothing is on screen before the first picture
            yield from self.finish(max(frame.time_s, Fraction(self.end_s)))
            return
        if self._shown is None and frame.time_s - start_s >= self._wait_s:
            self._shown = replace(self._before or frame, time_s=start_s)
            if self._before is None:
                return
        if self._shown is not None:
            yield replace(self._shown, lasts_s=frame.time_s - self._shown.time_s)
        self._shown = frame

    def finish(self, until_s: Fraction) -> Iterator[TimedFrame]:
        """Yield the moment's last frame, which lasts until the moment's end, or until `until_s` if that is earlier."""
        if self.over:
            return
        self.over = True
        if self._shown is None and self._before is not None and not any(map(self.holds, self._announced)):
            self._shown = replace(self._before, time_s=Fraction(self.start_s))
        if self._shown is not None and (lasts_s := min(Fraction(self.end_s), until_s) - self._shown.time_s) > 0:
            yield replace(self._shown, lasts_s=lasts_s)


class FrameSpan:
    """The frames of a video in `[start_s, end_s)`, chosen by `MomentFrames`, and the damage found while reading them.

    Iterate over it once; afterwards its attributes and properties are known. If the video is a folder of frames, the
    span begins with the frame visible at `start_s`, at the time when that frame appears.

    Attributes:
        ends_s: when the last frame that was read stops being shown. If that is within the span, the video ends there.
    """

    def __init__(self, container: Opened, stream: PictureStream, start_s: float, end_s: float) -> None:
        self._container = container
        self._stream = stream
        if isinstance(stream, OpenFolder):
            start_s = float(place_at(start_s, stream.average_rate) * stream.interval_s)
        self._start_s = start_s
        self._end_s = end_s
        self._announced: set[Fraction] = set()
        self._moment = self.moment(start_s, end_s)
        self._intact: set[Fraction] = set()
        self.ends_s = Fraction(0)

    @property
    def expected(self) -> int:
        """Number of frames that the file announces within the span."""
        return len(self._announced)

    @property
    def intact(self) -> int:
        """Number of the announced frames that were decoded without an error."""
        return len(self._announced & self._intact)

    @property
    def damage(self) -> str | None:
        """A message such as "damaged near 12.0 s: 71 of 75 frames"; None if no frame is damaged."""
        if self.damaged_s is None:
            return None
        return said(
            "damaged near {damaged_s:.1f} s: {intact} of {expected} frames",
            damaged_s=float(self.damaged_s),
            intact=self.intact,
            expected=self.expected,
        )

    @property
    def damaged_s(self) -> Fraction | None:
        """Time of the first frame that the file announces but that could not be decoded without an error.

        None if all of them could.
        """
        return min(self._announced - self._intact, default=None)

    def moment(self, start_s: float, end_s: float) -> MomentFrames:
        """Return an object that chooses the frames from `start_s` to `end_s` (seconds) of this video."""
        wait_s = min(max(_WAIT_FRAMES * frame_interval_s(self._stream), _SHORTEST_WAIT_S), _LONGEST_WAIT_S)
        return MomentFrames(start_s, end_s, wait_s, self._announced)

    def __iter__(self) -> Iterator[TimedFrame]:
        for _, frame in self.each([self._moment]):
            yield frame

    def each(self, moments: Sequence[MomentFrames]) -> Iterator[tuple[int, TimedFrame]]:
        """Yield (index of a moment, frame) for the frames of several moments in the span; the video is decoded once."""
        last: TimedFrame | None = None
        for frame in self._decoded():
            for place, moment in enumerate(moments):
                yield from ((place, timed_frame) for timed_frame in moment.add(frame))
            if float(frame.time_s) >= self._end_s:
                self.ends_s = frame.time_s
                return
            last = frame
        if last is not None:
            self.ends_s = max(last.time_s + last.lasts_s, last.time_s)
            if self.ends_s < self._end_s and isinstance(self._container, InputContainer):
                self.ends_s = max(self.ends_s, sound_ends_s(self._container, last.time_s))
        for place, moment in enumerate(moments):
            yield from ((place, timed_frame) for timed_frame in moment.finish(self.ends_s))

    def _decoded(self) -> Iterator[TimedFrame]:
        """Yield frames in order of presentation, from at or before the start; damaged ones are recorded and skipped."""
        if isinstance(self._container, OpenFolder):
            yield from self._of_folder(self._container)
        elif not isinstance(self._stream, OpenFolder):
            yield from self._of_file(self._container, self._stream)

    def _of_folder(self, folder: OpenFolder) -> Iterator[TimedFrame]:
        for place, picture in folder.from_place(place_at(self._start_s, folder.average_rate)):
            time_s = place * folder.interval_s
            if self._moment.holds(time_s):
                self._announced.add(time_s)
            if picture is not None:
                self._intact.add(time_s)
                yield TimedFrame(picture, time_s, folder.interval_s)

    def _of_file(self, container: InputContainer, stream: VideoStream) -> Iterator[TimedFrame]:
        """Yield the frames of a file from a key frame at or before the start of the span, or from its beginning.

        Some key frames cannot be shown without the pictures before them, for example if each picture renews only a part
        of the image. Then an earlier key frame is used.
        """
        back_s = 0
        start_s = Fraction(self._start_s)
        # After a jump, pictures shown before their key frame are not decoded; only reading from the start counts them.
        counted = timed_by_decoding(container, stream) and stream.codec_context.name in _OPEN_GROUPS
        while True:
            from_s = Fraction(0) if counted else max(start_s - back_s, Fraction(0))
            frames = self._from(container, stream, from_s)
            if from_s <= 0:
                yield from frames
                return
            first = next((frame for frame in frames if frame.time_s in self._intact), None)
            if first is not None and float(first.time_s) <= self._start_s and not _needs_others(stream, first):
                yield first
                yield from frames
                return
            back_s = 2 * back_s + 2

    def _from(self, container: InputContainer, stream: VideoStream, from_s: Fraction) -> Iterator[TimedFrame]:
        usual_s = frame_interval_s(stream)
        by_decoding = timed_by_decoding(container, stream)
        waiting: list[int] = []
        latest_s: Fraction | None = None
        stream.codec_context.flush_buffers()
        for packet in packets_from(container, stream, from_s):
            time_s = time_of(packet, stream)
            if time_s is not None and self._moment.holds(time_s) and not packet.is_discard:
                self._announced.add(time_s)
            if by_decoding and packet.pts is not None:
                heappush(waiting, packet.pts)
            pictures: list[VideoFrame] = []
            with suppress(av.FFmpegError):
                pictures = stream.codec_context.decode(packet)
            for picture in pictures:
                if waiting:
                    picture.pts = heappop(waiting)
                time_s = time_of(picture, stream)
                if time_s is None or (latest_s is not None and time_s <= latest_s):
                    continue
                latest_s = time_s
                if not picture.is_corrupt:
                    self._intact.add(time_s)
                lasts_s = picture.duration * (stream.time_base or Fraction(0)) or usual_s
                yield TimedFrame(picture, time_s, lasts_s)


def _needs_others(stream: VideoStream, first: TimedFrame) -> bool:
    """Return whether the first decoded picture depends on earlier ones, because it is not complete in itself.

    In H.264 a key frame may be incomplete: it can begin a gradual renewal, in which each picture renews a part of the
    image. An interlaced frame is accepted, because the second of its fields may be made from the first.
    """
    whole = first.picture.pict_type not in (PictureType.P, PictureType.B)
    return stream.codec_context.name == "h264" and not whole and not first.picture.interlaced_frame
