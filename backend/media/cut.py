"""Cut clips of moments, with exactly the frames of the moment, in a form that browsers play.

If several moments of one video are cut, it can be decoded just once. The clips have the same frames as if cut singly.
"""

from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from fractions import Fraction
from math import isfinite
from pathlib import Path

from av.audio.frame import AudioFrame
from av.container import InputContainer
from av.video.frame import VideoFrame
from av.video.stream import VideoStream

from backend.core.errors import InputError, VideoUnreadable
from backend.core.leftovers import part_of
from backend.core.messages import said
from backend.media.decode import (
    FrameSpan,
    PictureStream,
    TimedFrame,
    frame_interval_s,
    opened,
    packets_from,
    picture_stream,
    sound_stream,
    time_of,
)
from backend.media.encode import ClipWriter, PictureConverter
from backend.media.jobs import Profile
from backend.media.sound import sound_between
from backend.media.sources import Source


@dataclass(frozen=True, slots=True)
class CutReport:
    """The contents of a clip.

    Attributes:
        frames: number of frames.
        duration_s: from the first frame to the end of the last, in seconds.
        warnings: problems of the source, for leads; empty if there are none.
    """

    frames: int
    duration_s: float
    warnings: tuple[str, ...]


def require_span(source: Source, start_s: float, end_s: float) -> None:
    """Refuse a span of `source` unless it starts at 0 or later and ends after its start, at a finite time.

    Raises:
        InputError: the span is empty, negative or infinite.
    """
    if not (isfinite(start_s) and isfinite(end_s) and 0 <= start_s < end_s):
        raise InputError.single(
            source.name,
            said(
                "the moment from {start_s} to {end_s} s is not valid: it must start at 0 or later and end "
                "after its start",
                start_s=start_s,
                end_s=end_s,
            ),
        )


def why_empty(span: FrameSpan, name: str, start_s: float, end_s: float) -> str:
    """Return why no frame of a moment from `start_s` to `end_s` can be shown: damage, or a video that ends earlier.

    Args:
        span: the frames of the moment, which must have been read to their end.
        name: the name of the video.
        start_s: start in seconds.
        end_s: end in seconds.
    """
    if span.expected:
        return said(
            "{name} is damaged: none of the {expected} frames of the moment {start_s}-{end_s} s can be shown",
            name=name,
            expected=span.expected,
            start_s=start_s,
            end_s=end_s,
        )
    return said(
        "{name} ends at {ends_s:.1f} s, before the moment {start_s}-{end_s} s begins",
        name=name,
        ends_s=float(span.ends_s),
        start_s=start_s,
        end_s=end_s,
    )


def warnings(span: FrameSpan, stream: PictureStream, end_s: float) -> tuple[str, ...]:
    """Return warnings for leads about the moment whose frames `span` holds; `span` must have been read to its end.

    `stream` is the video's stream of pictures, and `end_s` the moment's end in seconds.
    """
    messages = []
    if span.damage is not None:
        messages.append(span.damage)
    # Annotations are rounded, so less than a whole missing frame is no reason for a warning.
    if Fraction(end_s) - span.ends_s >= frame_interval_s(stream):
        messages.append(
            said(
                "the video ends at {ends_s:.1f} s, before the end of the moment at {end_s} s",
                ends_s=float(span.ends_s),
                end_s=end_s,
            )
        )
    return tuple(messages)


@dataclass(frozen=True, slots=True)
class CutSpan:
    """A clip to cut: the moment `[start_s, end_s)`, in seconds, and the file to write."""

    start_s: float
    end_s: float
    out: Path


def cut(source: Source, start_s: float, end_s: float, out: Path, profile: Profile | None = None) -> CutReport:
    """Write the moment `[start_s, end_s)` of `source` to `out`, as an MP4 file unless the profile says otherwise.

    The clip holds the frames with `start_s <= time < end_s`. If there is a long wait for the first of these frames, the
    picture on screen at the start is put before it (see `MomentFrames`). The clip's first frame is at time 0, and the
    times between frames are unchanged (in WebM to the millisecond). The last frame lasts to the end of the moment, or
    of the file. Sound is cut exactly to the sample; once encoded, it is exact to one packet (21 ms).

    Raises:
        InputError: the span is empty, negative or not finite.
        VideoUnreadable: nothing can be shown. After any error `out` is as it was before.
    """
    require_span(source, start_s, end_s)
    span = CutSpan(float(start_s), float(end_s), out)
    with ExitStack() as parts:
        return _alone(source, _Clip(source, span, profile or Profile(), parts))


def cut_together(source: Source, spans: Sequence[CutSpan], profile: Profile) -> list[CutReport | VideoUnreadable]:
    """Cut several moments of one video while decoding it only once.

    Each clip is the same as from `cut`. If that is uncertain, the moments are cut one by one instead. This is so if the
    video is damaged, if its pictures change their size or format midway, or if no frame begins within a moment.

    Returns:
        The report or the error for each moment, in the order given. An error about one moment does not stop the others.

    Raises:
        OSError: the disk is full or fails. Then no new clip is there.
    """
    if len(spans) > 1:
        with ExitStack() as parts:
            if reports := _shared(source, [_Clip(source, span, profile, parts) for span in spans]):
                return list(reports)
    return [_tried(source, span, profile) for span in spans]


def decoding_starts_s(source: Source, spans: Sequence[CutSpan]) -> list[Fraction]:
    """Return where the decoding of each moment alone would begin, in seconds: at a key frame before it.

    Raises:
        VideoUnreadable: see `opened` and `picture_stream`.
    """
    with opened(source) as container:
        stream = picture_stream(container, source)
        if not isinstance(container, InputContainer) or not isinstance(stream, VideoStream):
            return [Fraction(span.start_s) for span in spans]
        firsts = (next(packets_from(container, stream, Fraction(span.start_s)), None) for span in spans)
        return [(time_of(packet, stream) if packet is not None else None) or Fraction(0) for packet in firsts]


class _Clip:
    """A clip being cut, under a temporary name until it is complete."""

    def __init__(self, source: Source, span: CutSpan, profile: Profile, parts: ExitStack) -> None:
        """Prepare a clip. When `parts` is closed, the clip's files are closed, and an unfinished file is removed."""
        self.wanted = span
        self.end = Fraction(span.end_s)
        self._source = source
        self._profile = profile
        self._part = part_of(span.out)
        parts.callback(self._part.unlink, missing_ok=True)
        self._open = parts.enter_context(
            ExitStack()
        )  # closed before the file is removed, because encoders reopen it by name
        self.writer: ClipWriter | None = None
        self.done = False

    def converter(self, stream: PictureStream, first: VideoFrame) -> PictureConverter:
        """Return a converter for the pictures of this clip."""
        return PictureConverter(stream, first, self._profile.height_px)

    def add(self, stream: PictureStream, frame: TimedFrame, picture: VideoFrame) -> None:
        """Write a frame to the clip; `picture` is its converted picture.

        The first frame opens the file and the sound.
        """
        if self.writer is None:
            self.wanted.out.parent.mkdir(parents=True, exist_ok=True)
            sound = self._sound(frame)
            self.writer = ClipWriter(self._part, self._profile.form, stream, frame, picture, sound)
            self._open.callback(self.writer.give_up)
        self.writer.add(frame, picture)

    def finish(self) -> None:
        """Write what the encoders still hold and close all files; the clip keeps its temporary name."""
        if self.writer is not None and not self.done:
            self.writer.finish()
            self._open.close()
        self.done = True

    def report(self, span: FrameSpan, stream: PictureStream) -> CutReport:
        """Rename the finished clip to its final name, and return what it contains."""
        if self.writer is None or self.writer.written == 0:
            moment = said("the moment {start_s}-{end_s} s", start_s=self.wanted.start_s, end_s=self.wanted.end_s)
            raise VideoUnreadable.about(self._source.name, said("{moment} could not be encoded", moment=moment))
        self._part.replace(self.wanted.out)
        return CutReport(self.writer.written, float(self.writer.ends_s), warnings(span, stream, self.wanted.end_s))

    def _sound(self, first: TimedFrame) -> Iterator[AudioFrame]:
        # The source is opened again for sound, because sound needs its own position in the file.
        container = self._open.enter_context(opened(self._source))
        sounding = sound_stream(container)
        if sounding is None or not isinstance(container, InputContainer):
            return iter(())
        return sound_between(container, sounding, first.time_s, max(self.end, first.time_s))


def _alone(source: Source, clip: _Clip) -> CutReport:
    start_s, end_s = clip.wanted.start_s, clip.wanted.end_s
    with opened(source) as container:
        stream = picture_stream(container, source)
        span = FrameSpan(container, stream, start_s, end_s)
        convert: PictureConverter | None = None
        for frame in span:
            convert = convert or clip.converter(stream, frame.picture)
            clip.add(stream, frame, convert(frame.picture))
        if convert is None:
            raise VideoUnreadable(why_empty(span, source.name, start_s, end_s))
        clip.finish()
        return clip.report(span, stream)


def _tried(source: Source, span: CutSpan, profile: Profile) -> CutReport | VideoUnreadable:
    try:
        return cut(source, span.start_s, span.end_s, span.out, profile)
    except VideoUnreadable as error:
        return error


def _shared(source: Source, clips: Sequence[_Clip]) -> list[CutReport] | None:
    """Cut all clips from one decoding, and return their reports.

    If a clip might differ from one that is cut alone, no clip is made, and None is returned.
    """
    start_s, end_s = min(clip.wanted.start_s for clip in clips), max(clip.wanted.end_s for clip in clips)
    try:
        with opened(source) as container:
            stream = picture_stream(container, source)
            if not isinstance(container, InputContainer):
                return None  # frames in separate files are read directly, so there is nothing to share
            span = FrameSpan(container, stream, start_s, end_s)
            moments = [span.moment(clip.wanted.start_s, clip.wanted.end_s) for clip in clips]
            convert: PictureConverter | None = None
            source_picture: VideoFrame | None = None
            picture: VideoFrame | None = None
            for place, frame in span.each(moments):
                convert = convert or clips[0].converter(stream, frame.picture)
                if picture is None or frame.picture is not source_picture:
                    source_picture, picture = frame.picture, convert(frame.picture)
                clips[place].add(stream, frame, picture)
                if moments[place].over:
                    clips[place].finish()
            for clip in clips:
                clip.finish()
            doubtful = convert is None or convert.changed or span.damaged_s is not None
            if doubtful or not all(clip.writer is not None and clip.writer.written for clip in clips):
                return None
            return [clip.report(span, stream) for clip in clips]
    except VideoUnreadable:
        return None
