"""Cut moment clips: exactly the frames of the moment, in a form that every browser plays."""

from __future__ import annotations  # PyAV's Packet takes a type argument in its stubs only

import os
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from math import isfinite
from pathlib import Path

import av
from av.audio.frame import AudioFrame
from av.audio.stream import AudioStream
from av.container import InputContainer, OutputContainer
from av.packet import Packet
from av.video.stream import VideoStream

from backend.ground.errors import InputError, VideoUnreadable
from backend.media.decode import (
    FrameSpan,
    PictureStream,
    TimedFrame,
    frame_interval_s,
    opened,
    picture_stream,
    sound_stream,
)
from backend.media.picture import PictureConverter
from backend.media.sound import SAMPLE_RATE, sound_between
from backend.media.sources import Source

# Whoever changes how clips are made changes `backend.media.jobs.PROFILE` too.
_PICTURE_OPTIONS = {
    "preset": "veryfast",
    "crf": "26",
    # A browser that goes back one frame decodes at most this many.
    "g": "25",
    # Without frames that wait for later ones, decoding order is presentation order: a clip starts at 0 in every
    # player, with no edit list to honour.
    "bf": "0",
    "threads": "1",
}
_SOUND_BITS_PER_S = 96_000


@dataclass(frozen=True, slots=True)
class CutReport:
    """What is in a clip: `duration_s` from the first frame to where the last stops being shown.

    `warnings` are findings about the source for the person in charge; empty where all is well.
    """

    frames: int
    duration_s: float
    warnings: tuple[str, ...]


def cut(source: Source, start_s: float, end_s: float, out: Path) -> CutReport:
    """Write the moment `[start_s, end_s)` of `source` to `out` as an MP4 file (H.264 and AAC).

    The clip holds exactly the frames with `start_s <= time < end_s` (see `FrameSpan`), shifted so that the first
    is at 0, their spacing unchanged; sound, where there is any, is cut to the sample and encoded within an AAC
    frame (21 ms). A moment shorter than a frame interval becomes the one frame visible at its start.

    Raises:
        InputError: the span is empty, negative or not finite.
        VideoUnreadable: nothing can be shown. After any error `out` is as it was before.
    """
    if not (isfinite(start_s) and isfinite(end_s) and 0 <= start_s < end_s):
        raise InputError.single(source.name, f"a moment from {start_s} to {end_s} s is not a span of time")
    start_s, end_s = float(start_s), float(end_s)
    out.parent.mkdir(parents=True, exist_ok=True)
    partial = out.with_name(f"{out.name}.{os.getpid()}.{threading.get_ident()}.part")
    try:
        report = _cut(source, start_s, end_s, partial)
        partial.replace(out)
    finally:
        partial.unlink(missing_ok=True)
    return report


def _cut(source: Source, start_s: float, end_s: float, out: Path) -> CutReport:
    # Opened twice: pictures and sound each seek to their own place, wherever the file interleaves them.
    with opened(source) as container, opened(source) as sound_container:
        stream = picture_stream(container, source)
        span = FrameSpan(container, stream, start_s, end_s)
        frames = iter(span)
        first = next(frames, None)
        if first is None:
            raise VideoUnreadable(_why_empty(span, source.name, start_s, end_s))
        sound: Iterator[AudioFrame] = iter(())
        sounding = sound_stream(sound_container)
        if sounding is not None and isinstance(sound_container, InputContainer):
            sound = sound_between(sound_container, sounding, first.time_s, max(Fraction(end_s), first.time_s))
        with av.open(str(out), "w", format="mp4", options={"movflags": "+faststart"}) as clip:
            writer = _Writer(clip, stream, first, sound)
            writer.add(first)
            for frame in frames:
                writer.add(frame)
            writer.finish()
        if writer.written == 0:
            raise VideoUnreadable(f"{source.name}: the moment {start_s}-{end_s} s could not be encoded")
        return CutReport(writer.written, float(writer.ends_s), tuple(_warnings(span, stream, end_s)))


def _why_empty(span: FrameSpan, name: str, start_s: float, end_s: float) -> str:
    if span.expected:
        return f"{name} is damaged: none of the {span.expected} frames of the moment {start_s}-{end_s} s can be shown"
    return f"{name} ends at {float(span.ends_s):.1f} s; the moment {start_s}-{end_s} s lies after it"


def _warnings(span: FrameSpan, stream: PictureStream, end_s: float) -> Iterator[str]:
    if span.damage is not None:
        yield span.damage
    # Annotations round: less than a whole missing frame is not worth a word.
    if Fraction(end_s) - span.ends_s >= frame_interval_s(stream):
        yield f"the video ends at {float(span.ends_s):.1f} s, before the moment does at {end_s} s"


class _Writer:
    """Encodes frames and sound side by side into an open MP4 file.

    Attributes:
        written: pictures that really went into the file.
        ends_s: where the last of them stops being shown, on the clip's time line.
    """

    def __init__(
        self, clip: OutputContainer, source: PictureStream, first: TimedFrame, sound: Iterator[AudioFrame]
    ) -> None:
        self.written = 0
        self.ends_s = Fraction(0)
        self._lasts: dict[int, int] = {}
        self._clip = clip
        self._sound = sound
        self._next_sound = next(sound, None)
        self._zero_s = first.time_s
        self._base_s = source.time_base or Fraction(1, 90_000)
        self._converted = PictureConverter(source, first.picture)
        model = self._converted(first.picture)
        self._video = clip.add_stream("libx264", rate=1 / frame_interval_s(source), options=_PICTURE_OPTIONS)
        self._video.width, self._video.height, self._video.pix_fmt = model.width, model.height, "yuv420p"
        context = self._video.codec_context
        context.time_base = self._base_s
        context.color_range, context.colorspace = model.color_range, model.colorspace
        context.color_primaries, context.color_trc = model.color_primaries, model.color_trc
        self._audio: AudioStream | None = None
        if self._next_sound is not None:
            self._audio = clip.add_stream("aac", rate=SAMPLE_RATE)
            self._audio.layout = "stereo"
            self._audio.bit_rate = _SOUND_BITS_PER_S

    def add(self, frame: TimedFrame) -> None:
        """Write a frame, and the sound up to it."""
        picture = self._converted(frame.picture)
        picture.time_base = self._base_s
        picture.pts = round((frame.time_s - self._zero_s) / self._base_s)
        lasts = max(1, round(frame.lasts_s / self._base_s))
        self._lasts[picture.pts] = lasts
        picture.pict_type = 0  # or the encoder would repeat the source's choice of key frames
        self.ends_s = (picture.pts + lasts) * self._base_s
        self._mux(self._video.encode(picture))
        self._add_sound(frame.time_s - self._zero_s)

    def finish(self) -> None:
        """Write the rest of the sound and what the encoders still hold."""
        self._add_sound(None)
        self._mux(self._video.encode(None))
        if self._audio is not None:
            self._clip.mux(self._audio.encode(None))

    def _mux(self, packets: list[Packet[VideoStream]]) -> None:
        for packet in packets:
            # The encoder gives every frame the usual length, and so the last one, which the moment may cut short.
            packet.duration = self._lasts.pop(packet.pts or 0)
            self._clip.mux(packet)
            self.written += 1

    def _add_sound(self, until_s: Fraction | None) -> None:
        while self._audio is not None and self._next_sound is not None:
            if until_s is not None and Fraction(self._next_sound.pts or 0, SAMPLE_RATE) > until_s:
                return
            self._clip.mux(self._audio.encode(self._next_sound))
            self._next_sound = next(self._sound, None)
