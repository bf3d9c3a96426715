"""The sound of a span of a video, sample by sample."""

from collections.abc import Iterator
from contextlib import suppress
from fractions import Fraction
from math import floor

import av
from av.audio.frame import AudioFrame
from av.audio.stream import AudioStream
from av.container import InputContainer
from av.filter import Graph

from backend.media.decode import packets_from

SAMPLE_RATE = 48_000
"""Samples a second of all sound that leaves this module."""

_PREROLL_S = Fraction(1, 10)
"""Decoded and thrown away before the first wanted sample: AAC and MP3 need a packet to settle."""


def sound_between(
    container: InputContainer, stream: AudioStream, start_s: Fraction, end_s: Fraction
) -> Iterator[AudioFrame]:
    """Stereo sound from `start_s` to `end_s` (seconds), its time starting at 0 in units of 1/48000 s.

    Late beginnings and holes are filled with silence; what cannot be decoded is passed over. Yields nothing
    where the file holds no sound in the span.
    """
    first, last = floor(start_s * SAMPLE_RATE), floor(end_s * SAMPLE_RATE)
    graph: Graph | None = None
    form: tuple[str, str, int] | None = None
    for frame in _decoded(container, stream, start_s - _PREROLL_S):
        time_s = (frame.pts or 0) * (frame.time_base or Fraction(0))
        if time_s >= end_s:
            break
        # The form of sound may change within a recording; every form needs a converter of its own.
        if graph is None or form != (frame.format.name, frame.layout.name, frame.sample_rate):
            if graph is not None:
                yield from _converted(graph, None, first)
            graph = _converter(frame, first, last, opening=form is None)
            form = (frame.format.name, frame.layout.name, frame.sample_rate)
        yield from _converted(graph, frame, first)
    if graph is not None:
        yield from _converted(graph, None, first)


def _decoded(container: InputContainer, stream: AudioStream, start_s: Fraction) -> Iterator[AudioFrame]:
    for packet in packets_from(container, stream, start_s):
        frames: list[AudioFrame] = []
        with suppress(av.FFmpegError):
            frames = stream.codec_context.decode(packet)
        yield from (frame for frame in frames if frame.pts is not None and frame.time_base is not None)


def _converter(frame: AudioFrame, first: int, last: int, *, opening: bool) -> Graph:
    """Frames like this one to 48 kHz stereo, cut to the samples from `first` to `last` of the time line."""
    graph = Graph()
    # async=1 changes no pitch: it fills holes and drops overlaps. first_pts does so before the first sample; it
    # counts samples of the input in truth and of the output by its manual, so the rate is converted beforehand.
    align = f"{SAMPLE_RATE}:async=1" + (f":first_pts={first}" if opening else "")
    graph.link_nodes(
        graph.add_abuffer(
            sample_rate=frame.sample_rate,
            format=frame.format.name,
            layout=frame.layout.name,
            time_base=frame.time_base,
        ),
        graph.add("aformat", f"sample_fmts=fltp:sample_rates={SAMPLE_RATE}:channel_layouts=stereo"),
        graph.add("aresample", align),
        graph.add("atrim", f"start_pts={first}:end_pts={last}"),
        graph.add("abuffersink"),
    ).configure()
    return graph


def _converted(graph: Graph, frame: AudioFrame | None, first: int) -> Iterator[AudioFrame]:
    """Push a frame (None: the end) and take out what is ready, timed from the sample `first`."""
    with suppress(av.error.EOFError):  # nothing more is wanted once `last` is reached
        graph.push(frame)
    while True:
        try:
            ready = graph.pull()
        except (av.error.BlockingIOError, av.error.EOFError):
            return
        if isinstance(ready, AudioFrame) and ready.pts is not None:
            ready.pts -= first
            yield ready
