"""Read a video file by exact time: which streams, which packets, which frames, and what is wrong with the file.

All times are seconds on the file's own time line as fractions: `pts * time_base`, never a frame number
divided by a rounded rate. Both `probe` and `clips` read through here, so that they mean the same picture stream.
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
"""Numbers of errors that say nothing about what is in a file."""

_LAST_TICK = 2**62
"""Beyond every file, and small enough for FFmpeg."""

_WAIT_FRAMES = Fraction(3, 2)
_SHORTEST_WAIT_S, _LONGEST_WAIT_S = Fraction(1, 20), Fraction(1, 10)
"""How long a moment may wait for its first frame: a frame and a half of the video, within these bounds.

After a longer wait the picture that is on screen at its start is a frame of it.
"""

_OPEN_GROUPS = ("h264", "hevc", "mpeg1video", "mpeg2video")
"""Codecs with pictures that come after a key frame and are shown before it."""

S = TypeVar("S", VideoStream, AudioStream)

Opened = InputContainer | OpenFolder
"""A video that is open: a file, or a folder of frames."""

PictureStream = VideoStream | OpenFolder
"""Its pictures."""


@contextmanager
def opened(source: Source) -> Iterator[Opened]:
    """A file as a PyAV container, or a folder's frames; raises `VideoUnreadable` for the person who brought it."""
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
        # As a file, whatever its name looks like. Titles are of no use here, and in old files often not UTF-8.
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
    """What shows the pictures of a video that is open; see `video_stream`."""
    return container if isinstance(container, OpenFolder) else video_stream(container, source)


def video_stream(container: InputContainer, source: Source) -> VideoStream:
    """The one picture stream of a file: the largest picture, of equals the one marked default, then the first.

    Raises:
        VideoUnreadable: the file, opened from `source`, holds no picture, or one that is too large.
    """
    streams = [stream for stream in container.streams.video if not stream.disposition & Disposition.attached_pic]
    if not streams:
        # Where the index is damaged FFmpeg may open the file all the same, and find nothing in it.
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
    # The picture may grow midway; what is larger then cannot be decoded.
    best.codec_context.options = {"max_pixels": str(LARGEST_PIXELS)}
    # One thread: damage is then reported at the packet that carries it, and many clips can be cut side by side.
    best.codec_context.thread_count = 1
    return best


def sound_stream(container: Opened) -> AudioStream | None:
    """The sound that belongs to the picture: what FFmpeg takes for the best, else the first it can decode, or None."""
    if isinstance(container, OpenFolder):
        return None
    best = container.streams.best("audio")
    candidates = [best, *container.streams.audio]
    return next((one for one in candidates if isinstance(one, AudioStream) and one.codec_context is not None), None)


def shown_size(stream: PictureStream, rotation: int) -> tuple[int, int]:
    """Width and height in square pixels as a player shows them.

    Args:
        stream: the picture stream.
        rotation: degrees counter-clockwise, from `VideoFrame.rotation`.
    """
    aspect = stream.sample_aspect_ratio or Fraction(1)
    width, height = round(stream.width * aspect), stream.height
    return (height, width) if rotation % 180 else (width, height)


def frame_interval_s(stream: PictureStream) -> Fraction:
    """Usual seconds from one frame to the next; 1/25 where the file does not say."""
    return 1 / (stream.average_rate or stream.guessed_rate or Fraction(25))


def time_of(
    item: Packet[VideoStream] | Packet[AudioStream] | VideoFrame, stream: Stream | OpenFolder
) -> Fraction | None:
    """Seconds at which a packet or frame is presented; None where the file does not say."""
    ticks = item.dts if item.pts is None else item.pts
    return None if ticks is None or stream.time_base is None else ticks * stream.time_base


def packets(container: InputContainer, stream: S) -> Iterator[Packet[S]]:
    """All packets that can be read, ending with an empty one that drains the decoder."""
    yield from timed(container, stream)
    yield cast("Packet[S]", Packet())


def packets_from(container: InputContainer, stream: S, start_s: Fraction) -> Iterator[Packet[S]]:
    """Packets from a key frame presented at or before `start_s`, or from the beginning of the file.

    Seeking is by decoding time in most formats and may land on a key frame presented after `start_s`, whose
    earlier neighbours would be lost; so it is checked, and repeated farther back until it is right.
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
        found = packets(container, stream)
        passed: list[Packet[S]] = []
        for packet in found:
            passed.append(packet)
            if packet.is_keyframe and time_of(packet, stream) is not None:
                break
        key_s = time_of(passed[-1], stream) if passed else None
        if ticks <= first:
            yield from chain(passed, found)
            return
        if key_s is not None and key_s <= start_s:
            yield from chain(passed[-1:], found)
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
    """Return when a packet stops being shown or heard (s); None if it never is."""
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
    """Choose the frames of `[start_s, end_s)` from a sequence in order, with the duration of each.

    A frame's exact time is compared after rounding it once to a double: `start_s=2.2` then means the frame at
    11/5 s, although the double 2.2 is a little more than 11/5. What comes after the start by less than `wait_s` is the
    first frame; before what comes later, the picture on screen at the start is shown. The last one is held to the end.
    A moment without a frame shows the one on screen; but nothing, if it has frames and none of them is whole.
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
        """Whether a frame with this time belongs to the moment."""
        return self.start_s <= float(time_s) < self.end_s

    def add(self, frame: TimedFrame) -> Iterator[TimedFrame]:
        """Yield the previous frame if it belongs to the moment: only now is its duration known."""
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
        """Yield the last frame, which is shown until `until_s` at most."""
        if self.over:
            return
        self.over = True
        if self._shown is None and self._before is not None and not any(map(self.holds, self._announced)):
            self._shown = replace(self._before, time_s=Fraction(self.start_s))
        if self._shown is not None and (lasts_s := min(Fraction(self.end_s), until_s) - self._shown.time_s) > 0:
            yield replace(self._shown, lasts_s=lasts_s)


class FrameSpan:
    """The frames of `[start_s, end_s)` as `MomentFrames` chooses them; iterate once, then read the findings.

    Of a folder of frames, whose few a second are shown long, a span begins with the frame visible at its start, when
    that began.

    Attributes:
        ends_s: where the last frame read stops being shown; within the span, the end of the video.
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
        """Frames that the file announces within the span."""
        return len(self._announced)

    @property
    def intact(self) -> int:
        """Those of them that decoded without an error."""
        return len(self._announced & self._intact)

    @property
    def damage(self) -> str | None:
        """What is wrong with the frames, in words for whoever has the file; None where nothing is."""
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
        """Time of the first one that did not."""
        return min(self._announced - self._intact, default=None)

    def moment(self, start_s: float, end_s: float) -> MomentFrames:
        """A moment of this video."""
        wait_s = min(max(_WAIT_FRAMES * frame_interval_s(self._stream), _SHORTEST_WAIT_S), _LONGEST_WAIT_S)
        return MomentFrames(start_s, end_s, wait_s, self._announced)

    def __iter__(self) -> Iterator[TimedFrame]:
        for _, frame in self.each([self._moment]):
            yield frame

    def each(self, moments: Sequence[MomentFrames]) -> Iterator[tuple[int, TimedFrame]]:
        """The frames of several moments within the span, from one decoding: which moment, and its next frame."""
        last: TimedFrame | None = None
        for frame in self._decoded():
            for place, moment in enumerate(moments):
                yield from ((place, one) for one in moment.add(frame))
            if float(frame.time_s) >= self._end_s:
                self.ends_s = frame.time_s
                return
            last = frame
        if last is not None:
            self.ends_s = max(last.time_s + last.lasts_s, last.time_s)
            if self.ends_s < self._end_s and isinstance(self._container, InputContainer):
                self.ends_s = max(self.ends_s, sound_ends_s(self._container, last.time_s))
        for place, moment in enumerate(moments):
            yield from ((place, one) for one in moment.finish(self.ends_s))

    def _decoded(self) -> Iterator[TimedFrame]:
        """Frames in order of presentation, from at or before the start; damage is noted and passed over."""
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
        """The same of a file: from a key frame that shows a picture by the start, or from the beginning of the file.

        Some pictures are called key frames and cannot be shown without those before them, as where no picture is whole
        and each renews a part.
        """
        back_s = 0
        start_s = Fraction(self._start_s)
        # Pictures shown before their key frame are not decoded after a jump: which is which is known from the start.
        counted = timed_by_decoding(container, stream) and stream.codec_context.name in _OPEN_GROUPS
        while True:
            from_s = Fraction(0) if counted else max(start_s - back_s, Fraction(0))
            found = self._from(container, stream, from_s)
            if from_s <= 0:
                yield from found
                return
            first = next((frame for frame in found if frame.time_s in self._intact), None)
            if first is not None and float(first.time_s) <= self._start_s and not _needs_others(stream, first):
                yield first
                yield from found
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
    """Whether the first picture of a decoding is made from earlier ones, because no picture of the video is whole.

    H.264 calls a picture a key frame from which on each renews a part. Of two fields the second may be made from the
    first.
    """
    whole = first.picture.pict_type not in (PictureType.P, PictureType.B)
    return stream.codec_context.name == "h264" and not whole and not first.picture.interlaced_frame
