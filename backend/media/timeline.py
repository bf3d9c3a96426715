"""Put the packets of a file on one time line, which starts at 0 and never jumps.

Files count time from anywhere: MPEG recordings from the clock of the camera, which may wrap around, or begin anew where
two recordings were put end to end. Every packet that leaves this module is timed from the start of the video.
"""

from __future__ import annotations  # PyAV's Packet takes a type argument in its stubs only

from array import array
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import chain, islice
from math import floor
from operator import sub
from pathlib import Path
from typing import Any, cast
from zlib import crc32

import av
from av.container import InputContainer
from av.format import Flags
from av.packet import Packet
from av.stream import Stream
from av.video.stream import VideoStream

BACK_S = Fraction(1, 10)
"""A clock that goes back by more than this (s) has restarted. FFmpeg's command line uses the same limit."""
FORTH_S = 60
"""A clock that jumps forward by more than this (s) has restarted. A smaller jump is a held picture or a gap."""
AHEAD_S = Fraction(1)
"""Pictures and sound of one instant are at most this far apart (s) in the order of a file."""

_MICROSECOND = Fraction(1, 1_000_000)
_NONE = -(2**63)
_KEPT = 4
"""How many files' indexes stay in memory."""
_FAR = 100
"""How many packets on either side of a doubled time are searched for the gap that it left."""
_MARKED_BYTES = 1024
_ANCHORS = 12
"""How many known file positions before a packet reading restarts, because audio parsers need some data to settle."""


def start_of(container: InputContainer) -> Fraction:
    """Return the first time stamp of a file in seconds, not rounded; files need not count time from 0.

    It is the time to which `ffmpeg -ss 0` seeks.
    """
    if container.start_time is None:
        return Fraction(0)
    rounded_s = container.start_time * _MICROSECOND
    exact = [
        stream.start_time * stream.time_base
        for stream in container.streams
        if stream.start_time is not None and stream.time_base is not None
    ]
    return min((start for start in exact if abs(start - rounded_s) <= _MICROSECOND), default=rounded_s)


def may_jump(container: InputContainer) -> bool:
    """Return whether the format has no index and a clock that may begin anew: MPEG-TS, MPEG-PS, Ogg."""
    return bool(container.format.flags & cast("int", Flags.ts_discont.value))


def timed(container: InputContainer, stream: Stream) -> Iterator[Packet[Any]]:
    """Yield a stream's packets, with times that count from the start of the video.

    Reading starts at the file's current position, or at its beginning if its clock may jump.
    """
    if may_jump(container):
        yield from timed_from(container, stream, Fraction(0))
        return
    ticks = round(-start_of(container) / stream.time_base) if stream.time_base else 0
    packets = _read(container, stream)
    if isinstance(stream, VideoStream) and container.format.name in _TIMED_BY_DECODING:
        packets = _timed_by_decoding(container, stream, packets)
    for packet in packets:
        yield _moved(packet, ticks)


_TIMED_BY_DECODING = ("avi", "asf")
"""Formats that count pictures as they are decoded. FFmpeg guesses when they are shown, and is a picture late."""


def timed_by_decoding(container: InputContainer, stream: VideoStream) -> bool:
    """Return whether pictures carry only the times of their decoding, although they are shown in another order.

    This is so for H.264 in AVI.
    """
    timed_so = container.format.name in _TIMED_BY_DECODING and not _guessed_in_order(container, stream)
    return timed_so and bool(stream.codec_context.has_b_frames)


def _guessed_in_order(container: InputContainer, stream: VideoStream) -> bool:
    """Return whether FFmpeg uses the codec to work out the order in which pictures are shown.

    The file's format, such as AVI, does not tell this order.
    """
    known = ("mpeg4", "mpeg1video", "mpeg2video") if container.format.name == "avi" else ("mpeg4",)
    return stream.codec_context.name in known


def _timed_by_decoding(
    container: InputContainer, stream: VideoStream, packets: Iterator[Packet[Any]]
) -> Iterator[Packet[Any]]:
    """Yield the packets with corrected times of showing, which FFmpeg had guessed from the times of decoding."""
    in_order = _guessed_in_order(container, stream)
    rate, base_s = stream.average_rate or stream.guessed_rate, stream.time_base
    usual = round(1 / (rate * base_s)) if rate and base_s else 0
    late: int | None = None
    following: int | None = None
    for packet in packets:
        if packet.dts is None:  # the second after a jump, of H.264 in ASF
            packet.pts = packet.dts = following
        elif packet.pts is not None:
            if late is None:
                late = (packet.duration or usual) if packet.pts > packet.dts else 0
            packet.pts = packet.pts - late if in_order else packet.dts
        following = None if packet.dts is None else packet.dts + usual
        yield packet


def unread_share(container: InputContainer, stream: Stream) -> float:
    """Return the share of a file, from 0 to 1, after the last picture and the last sound that can be read.

    If MPEG-TS recordings of different kinds were put end to end, only the first can be read. The share is 0 in any
    other format.
    """
    if container.format.name != "mpegts":
        return 0.0
    known = _packets_of(container)
    last = max(known[stream.index].places, default=0)
    for sound in container.streams.audio:
        places = known[sound.index].places
        if places and places[0] < last:
            last = max(last, *places)
    return 1 - last / container.size if container.size else 0.0


def _with_sound(container: InputContainer) -> list[Stream]:
    return [stream for stream in container.streams if stream.type in ("video", "audio")]


def _moved(packet: Packet[Any], ticks: int) -> Packet[Any]:
    if ticks:
        if packet.pts is not None:
            packet.pts += ticks
        if packet.dts is not None:
            packet.dts += ticks
    return packet


class _Clock:
    """Turn the times of a clock that restarts into times that keep rising.

    All streams share the clock, but the packets of one stream may show its restart earlier than those of another.
    """

    def __init__(self, start_s: Fraction) -> None:
        self._offsets_s = [-start_s]
        self._turn: dict[int, int] = {}
        self._next_s: dict[int, Fraction] = {}
        self._ends_s: dict[int, Fraction] = {}

    def put_right(self, packet: Packet[Any]) -> None:
        """Correct the times of a packet. Packets must come in the order of the file."""
        place, base_s = packet.stream.index, packet.time_base
        ticks = packet.pts if packet.dts is None else packet.dts
        if ticks is None:
            return
        raw_s, shown_s = ticks * base_s, (ticks if packet.pts is None else packet.pts) * base_s
        turn = self._turn.get(place, 0)
        if not self._goes_on(place, raw_s + self._offsets_s[turn], BACK_S if packet.dts is not None else AHEAD_S):
            turn = self._turn[place] = self._turned(place, shown_s, turn)
        offset_s = self._offsets_s[turn]
        lasts_s = (packet.duration or 0) * base_s
        self._next_s[place] = raw_s + offset_s + lasts_s
        self._ends_s[place] = max(shown_s + offset_s + lasts_s, self._ends_s.get(place, Fraction(0)))
        _moved(packet, round(offset_s / base_s))

    def _goes_on(self, place: int, time_s: Fraction, back_s: Fraction) -> bool:
        if place not in self._next_s:
            return True
        # While the sound continues, a long picture is held, and the clock has not restarted.
        latest_s = max(self._ends_s.values())
        return self._next_s[place] - back_s <= time_s <= max(self._next_s[place], latest_s) + FORTH_S

    def _turned(self, place: int, shown_s: Fraction, turn: int) -> int:
        """Return the number of the clock restart that a stream has now passed; a new number if no known restart fits.

        Args:
            place: the index of the stream.
            shown_s: the time of its next packet by the clock, in seconds.
            turn: the number of the last restart that the stream passed; 0 before the first.
        """
        ends_s = self._ends_s[place]
        for later in range(turn + 1, len(self._offsets_s)):
            early_s = ends_s - (shown_s + self._offsets_s[later])
            if abs(early_s) <= AHEAD_S:
                # A picture must not come before one that was already shown.
                self._offsets_s[later] += max(early_s, Fraction(0))
                return later
        self._offsets_s.append(max(self._ends_s.values()) - shown_s)
        return len(self._offsets_s) - 1


@dataclass(slots=True)
class _Packets:
    """The positions and times of all packets of a stream, in the order of the file.

    `marks` are checksums that tell packets apart (see `_mark`). `places` are the packets' positions in the file, in
    bytes; -1 if unknown. `pts` is when each is shown, and `dts` when it is decoded. `keys` are the indexes of the key
    frames, and `key_times` their times, which never fall. Times are in units of `base_s` seconds.
    """

    base_s: Fraction
    marks: array[int] = field(default_factory=lambda: array("q"))
    places: array[int] = field(default_factory=lambda: array("q"))
    pts: array[int] = field(default_factory=lambda: array("q"))
    dts: array[int] = field(default_factory=lambda: array("q"))
    keys: array[int] = field(default_factory=lambda: array("q"))
    key_times: array[int] = field(default_factory=lambda: array("q"))

    def add(self, packet: Packet[Any]) -> None:
        time = packet.dts if packet.pts is None else packet.pts
        if packet.is_keyframe and time is not None:
            self.keys.append(len(self.marks))
            self.key_times.append(max(time, self.key_times[-1]) if self.key_times else time)
        self.marks.append(_mark(packet))
        self.places.append(-1 if packet.pos is None else packet.pos)
        self.pts.append(_NONE if packet.pts is None else packet.pts)
        self.dts.append(_NONE if packet.dts is None else packet.dts)

    def key_before(self, time_s: Fraction) -> int:
        """Return the index of the last key frame shown at or before an instant, or 0."""
        count = bisect_right(self.key_times, floor(time_s / self.base_s))
        return self.keys[count - 1] if count else 0

    def before(self, number: int) -> int:
        """Return the index of a packet with a known position in the file, a little before packet `number`.

        The index is 0 if there are too few such packets.
        """
        places: set[int] = set()
        while number > 0 and len(places) < _ANCHORS:
            number -= 1
            if self.places[number] >= 0:
                places.add(self.places[number])
        return number

    def settle(self) -> None:
        """Repair doubled times: of two packets with the same time, move one into a gap between the times nearby.

        MPEG-PS has a time for each of its blocks, which FFmpeg may give to the picture beside the right one.
        """
        order = [number for number in range(len(self.pts)) if self.pts[number] != _NONE]
        # Of two packets with one time, the one that is not reordered is shown first.
        order.sort(key=lambda number: (self.pts[number], -self.dts[number], number))
        times = [self.pts[number] for number in order]
        steps = Counter(map(sub, times[1:], times))
        if not steps.pop(0, 0) or not steps:
            return
        step = steps.most_common(1)[0][0]
        for at in [at for at in range(1, len(times)) if times[at] == times[at - 1]]:
            for far in range(_FAR):
                after, before = min(at + far, len(times) - 1), at - 1 - far
                if after + 1 == len(times) or times[after + 1] - times[after] > step:
                    place = at
                    while place < after and self._waits(order[at], order[place + 1]):
                        place += 1
                    order.insert(place, order.pop(at))
                    times[at : after + 1] = [time + step for time in times[at : after + 1]]
                    break
                if before > 0 and times[before] - times[before - 1] > step:
                    times[before:at] = [time - step for time in times[before:at]]
                    break
        for number, time in zip(order, times, strict=True):
            self.pts[number] = time
        for at, number in enumerate(self.keys):
            self.key_times[at] = max(self.pts[number], self.key_times[at - 1]) if at else self.pts[number]

    def _waits(self, number: int, other: int) -> bool:
        """Return whether packet `number` is shown after packet `other`, which follows it in the file.

        That is so if no packet after `number`, up to `other`, is shown later than it is decoded.
        """
        return number < other and all(self.dts[n] >= self.pts[n] for n in range(number + 1, other + 1))

    def timed(self, packet: Packet[Any], number: int) -> Packet[Any]:
        """Return the packet with its times replaced by the repaired times of packet `number`."""
        packet.pts = None if self.pts[number] == _NONE else self.pts[number]
        packet.dts = None if self.dts[number] == _NONE else self.dts[number]
        return packet


def timed_from(container: InputContainer, stream: Stream, start_s: Fraction) -> Iterator[Packet[Any]]:
    """Read the packets of a file whose clock may jump, from the last key frame before an instant.

    Such a file has no index, and only its clock tells where a packet is. So the whole file is read once, and the
    positions and times of its packets are remembered. Packets are then recognised by position and content.
    """
    known = _packets_of(container)[stream.index]
    key = known.key_before(start_s)
    near = known.before(key)
    while near > 0:
        packets = _from_place(container, stream, known, near, key)
        if packets is not None:
            yield from packets
            return
        near = known.before(max(near - 2 * (key - near), 0))
    _to_beginning(container)
    for number, packet in enumerate(_read(container, stream)):
        if key <= number < len(known.marks):
            yield known.timed(packet, number)


def _from_place(
    container: InputContainer, stream: Stream, known: _Packets, near: int, key: int
) -> Iterator[Packet[Any]] | None:
    """Return an iterator over the packets from number `key` on; None if they are not found.

    Args:
        container: the open file.
        stream: the stream to read.
        known: the positions and times of its packets.
        near: the number of an earlier packet with a known position, at which reading begins.
        key: the number of the first packet to return.
    """
    numbers = range(key, near - 1, -1)
    by_place = {known.places[number]: number for number in numbers if known.places[number] >= 0}
    by_mark = {known.marks[number]: number for number in numbers}
    reach = 4 * (key - near)
    alike = Counter(known.marks[near : near + reach + 1])
    with suppress(av.FFmpegError):
        container.seek(known.places[near], unsupported_byte_offset=True)
        packets = _read(container, stream)
        place: int | None = None
        for packet in islice(packets, reach):
            mark = _mark(packet)
            # Packets at one position cannot be told apart: the first packet of the next position says where we are.
            come = place is not None and packet.pos is not None and packet.pos != place
            place = place if packet.pos is None else packet.pos
            number = by_place.get(place) if come and place is not None else None
            if alike[mark] == 1:
                number = by_mark.get(mark, number)
            if number is not None and known.marks[number] == mark:
                return _timed_by_place(known, number, key, chain([packet], packets))
    return None


def _timed_by_place(known: _Packets, number: int, key: int, packets: Iterator[Packet[Any]]) -> Iterator[Packet[Any]]:
    """Yield the packets from number `key` on, with their repaired times.

    `number` is the index of the first packet that is read. Later packets get their index by counting. Where a packet's
    position in the file is known, it corrects a wrong count.
    """
    for packet in packets:
        if packet.pos not in (None, known.places[number]):
            near, mark = range(max(number - _ANCHORS, 0), min(number + _FAR, len(known.places))), _mark(packet)
            same = (at for at in near if known.places[at] == packet.pos and known.marks[at] == mark)
            number = next(same, number)
        if number >= key:
            yield known.timed(packet, number)
        number += 1
        if number == len(known.places):
            return


def _read(container: InputContainer, *streams: Stream) -> Iterator[Packet[Any]]:
    doubtful: Packet[Any] | None = None
    for packet in _demuxed(container, *streams):
        if not packet.size:  # it repeats the previous picture, but decoders take it for the end
            continue
        if doubtful is not None:
            yield doubtful
        # A truncated file ends in a corrupt packet. Elsewhere FFmpeg calls whole packets corrupt too.
        doubtful = packet if packet.is_corrupt else None
        if doubtful is None:
            yield packet


def _demuxed(container: InputContainer, *streams: Stream) -> Iterator[Packet[Any]]:
    # A truncated or damaged file ends here; the packets before are still good.
    with suppress(av.FFmpegError):
        while True:
            try:
                yield from container.demux(*streams)
            except IndexError:  # raised by PyAV for a packet of a stream that appears late; it is none of `streams`
                continue
            return


def _mark(packet: Packet[Any]) -> int:
    return crc32(memoryview(packet)[:_MARKED_BYTES], packet.size)


def _to_beginning(container: InputContainer) -> None:
    container.seek(0, unsupported_byte_offset=True)


def _packets_of(container: InputContainer) -> dict[int, _Packets]:
    """Return the packets of each stream of a file whose clock may jump. The first call reads the whole file."""
    name = container.name
    path = Path(name.removeprefix("file:"))
    stamp = (path.stat().st_mtime_ns,) if path.exists() else ()
    key = (name, container.size, *stamp)
    if key not in _known:
        streams = _with_sound(container)
        indexes = {stream.index: _Packets(stream.time_base or Fraction(1)) for stream in streams}
        clock = _Clock(start_of(container))
        _to_beginning(container)
        for packet in _read(container, *streams):
            clock.put_right(packet)
            indexes[packet.stream.index].add(packet)
        for stream in container.streams.video:
            indexes[stream.index].settle()
        while len(_known) >= _KEPT:
            _known.pop(next(iter(_known)), None)
        _known[key] = indexes
    return _known[key]


_known: dict[tuple[str | int, ...], dict[int, _Packets]] = {}
