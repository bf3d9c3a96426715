"""Decode the sound of a span of a video, exact to the sample."""

from collections import deque
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction
from itertools import islice
from math import floor
from statistics import median

import av
import numpy as np
from av.audio.frame import AudioFrame
from av.audio.stream import AudioStream
from av.container import InputContainer
from av.filter import Graph
from numpy.typing import NDArray

from backend.media.decode import packets_from

SAMPLE_RATE = 48_000
"""Samples a second of all sound that this module returns."""

_PREROLL_S = Fraction(1, 2)
"""Seconds decoded and discarded before the first sample of the span.

AAC and MP3 decoders need a packet to settle. In MPEG-PS, decoding of MP2 begins in the middle of a frame, and the
decoder needs some frames to synchronise.
"""

_AHEAD = 5
"""How many frames' times are compared before a frame gets its place."""

_TOLERANCE = SAMPLE_RATE // 200
"""5 ms, in samples. Rounded or miscounted times stray by less than this; a lost packet leaves a longer gap."""


def sound_between(
    container: InputContainer, stream: AudioStream, start_s: Fraction, end_s: Fraction
) -> Iterator[AudioFrame]:
    """Yield stereo sound from `start_s` to `end_s` (seconds), its time starting at 0 in units of 1/48000 s.

    Late beginnings, gaps and damaged parts are silence. If no sound of the span can be decoded, nothing is yielded.
    """
    first, last = floor(start_s * SAMPLE_RATE), floor(end_s * SAMPLE_RATE)
    at = first
    for begins, samples in _placed(_decoded(container, stream, start_s - _PREROLL_S)):
        if begins >= last:
            return
        ends = min(begins + samples.shape[1], last)
        if ends <= at:
            continue
        while at < begins:
            silence = np.zeros((2, min(begins - at, SAMPLE_RATE)), np.float32)
            yield _framed(silence, at - first)
            at += silence.shape[1]
        yield _framed(samples[:, at - begins : ends - begins], at - first)
        at = ends


def _framed(samples: NDArray[np.float32], pts: int) -> AudioFrame:
    # Damaged sound may hold NaN, which encoders refuse.
    if np.isnan(samples).any():
        samples = np.nan_to_num(samples)
    frame = AudioFrame.from_ndarray(samples.clip(-1, 1), format="fltp", layout="stereo")
    frame.sample_rate, frame.time_base, frame.pts = SAMPLE_RATE, Fraction(1, SAMPLE_RATE), pts
    return frame


def _decoded(container: InputContainer, stream: AudioStream, start_s: Fraction) -> Iterator[AudioFrame]:
    for packet in packets_from(container, stream, start_s):
        frames: list[AudioFrame] = []
        with suppress(av.FFmpegError):
            frames = stream.codec_context.decode(packet)
        yield from (frame for frame in frames if frame.samples and frame.sample_rate > 0)


def _placed(frames: Iterator[AudioFrame]) -> Iterator[tuple[int, NDArray[np.float32]]]:
    """Yield blocks of samples at 48 kHz in stereo, as (position of the first sample on the video's time line, samples).

    The samples are an array `(2, n)`. Frames are joined without a gap, unless the times of several frames show that
    there is one.
    """
    described = map(_described, frames)
    waiting = deque(islice(described, _AHEAD))
    run: _Run | None = None
    while waiting:
        block = waiting[0]
        usual = _usual_place(waiting)
        # The form of sound may change within a recording; every form needs a converter of its own.
        if usual is not None and (
            run is None
            or run.form != block.form
            or (block.place is not None and min(abs(block.place - run.ends), abs(usual - run.ends)) > _TOLERANCE)
        ):
            if run is not None:
                yield from run.converted(None)
            run = _Run(block, usual)
        if run is not None:
            yield from run.converted(block)
        waiting.popleft()
        waiting.extend(islice(described, 1))
    if run is not None:
        yield from run.converted(None)


@dataclass(frozen=True, slots=True)
class _Frame:
    """A frame of sound; `form` is its sample format, channels and rate, `length` its length in samples.

    `place` is its start in samples, by its own time; None if the file does not say.
    """

    sound: AudioFrame
    form: tuple[str, str, int]
    place: float | None
    length: float


def _described(frame: AudioFrame) -> _Frame:
    place = None
    if frame.pts is not None and frame.time_base is not None:
        place = float(frame.pts * frame.time_base * SAMPLE_RATE)
    form = (frame.format.name, frame.layout.name, frame.sample_rate)
    return _Frame(frame, form, place, frame.samples * SAMPLE_RATE / frame.sample_rate)


def _usual_place(frames: deque[_Frame]) -> float | None:
    """Return the start of the first frame in samples, worked out from the times of all; None if no frame has a time.

    Each frame's time, less the length of the frames before it, gives a start. The median of these is returned.
    """
    places: list[float] = []
    before = 0.0
    for frame in frames:
        if frame.form != frames[0].form:
            break
        if frame.place is not None:
            places.append(frame.place - before)
        before += frame.length
    return median(places) if places else None


class _Run:
    """Frames of one form that follow one another without a gap.

    Attributes:
        form: sample format, channels and rate of the frames.
        ends: the place on the time line, in samples, at which the next frame is expected.
    """

    def __init__(self, first: _Frame, begins: float) -> None:
        self.form = first.form
        self.ends = begins
        self._given = round(begins)
        self._graph = _converter(first.sound)

    def converted(self, frame: _Frame | None) -> Iterator[tuple[int, NDArray[np.float32]]]:
        """Convert a frame, and yield (position of its first sample, samples) for each block that is ready.

        None instead of a frame ends the run: the samples that the converter still holds are yielded.
        """
        if frame is not None:
            self.ends += frame.length
        with suppress(av.FFmpegError):
            if self._graph is not None:
                self._graph.push(frame.sound if frame else None)
        while self._graph is not None:
            try:
                ready = self._graph.pull()
            except av.FFmpegError:
                return
            if isinstance(ready, AudioFrame):
                samples = ready.to_ndarray().astype(np.float32, copy=False)
                yield self._given, samples
                self._given += samples.shape[1]


def _converter(frame: AudioFrame) -> Graph | None:
    """Return a filter that turns frames like this one into 48 kHz stereo; None if FFmpeg cannot."""
    # FFmpeg may not know the speakers of many channels. Then use the first two.
    for mixed in ("anull", "pan=stereo|c0=c0|c1=c1"):
        name, _, args = mixed.partition("=")
        graph = Graph()
        with suppress(av.FFmpegError, ValueError):
            graph.link_nodes(
                graph.add_abuffer(
                    sample_rate=frame.sample_rate,
                    format=frame.format.name,
                    layout=frame.layout.name,
                    time_base=frame.time_base or Fraction(1, frame.sample_rate),
                ),
                graph.add(name, args or None),
                graph.add("aformat", f"sample_fmts=fltp:sample_rates={SAMPLE_RATE}:channel_layouts=stereo"),
                graph.add("abuffersink"),
            ).configure()
            return graph
    return None
