"""Write a moment as a GIF for slides and papers: silent, small, with a palette of its own."""

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

import av
from av.container import OutputContainer
from av.filter import Graph
from av.filter.context import FilterContext
from av.video.frame import VideoFrame
from av.video.stream import VideoStream

from backend.core.errors import VideoUnreadable
from backend.core.leftovers import part_of
from backend.core.messages import said
from backend.media.cut import CutReport, require_span, warnings, why_empty
from backend.media.decode import FrameSpan, opened, picture_stream
from backend.media.encode import PictureConverter
from backend.media.sources import Source

HEIGHT_PX = 360
SHORTEST_S = Fraction(8, 100)
"""Least time between frames; at most 12.5 frames a second take a twentieth of the bytes of all frames."""
_TICK = Fraction(1, 100)
"""The time unit of GIF files, in seconds."""
_DITHER = "dither=bayer:bayer_scale=4:diff_mode=rectangle"


def cut_gif(source: Source, start_s: float, end_s: float, out: Path) -> CutReport:
    """Write the moment `[start_s, end_s)` as a GIF that loops, at most 360 lines high.

    It holds only frames of the moment, beginning with the first, each shown until the next; times are rounded to
    1/100 s. Its palette is the 256 colours that suit the moment best, so the moment is decoded twice.

    Raises:
        InputError: the span is empty, negative or not finite.
        VideoUnreadable: nothing can be shown. After any error `out` is as it was before.
    """
    require_span(source, start_s, end_s)
    chosen = _Chosen(source, float(start_s), float(end_s))
    palette, times, report = _palette(chosen)
    out.parent.mkdir(parents=True, exist_ok=True)
    part = part_of(out)
    try:
        _write(chosen, palette, times, part)
        part.replace(out)
    finally:
        part.unlink(missing_ok=True)
    return report


@dataclass(slots=True)
class _Chosen:
    """The frames of a moment that go into its GIF; can be iterated more than once.

    After an iteration, `ends_s` is the end of the moment's last frame (seconds in the video), and `told` has the
    warnings about the moment.
    """

    source: Source
    start_s: float
    end_s: float
    ends_s: Fraction = Fraction(0)
    told: tuple[str, ...] = ()

    def __iter__(self) -> Iterator[tuple[Fraction, VideoFrame]]:
        """Yield (time in the video in seconds, picture) of each frame."""
        with opened(self.source) as container:
            stream = picture_stream(container, self.source)
            span = FrameSpan(container, stream, self.start_s, self.end_s)
            convert: PictureConverter | None = None
            latest: Fraction | None = None
            for frame in span:
                self.ends_s = frame.time_s + frame.lasts_s
                if latest is not None and frame.time_s - latest < SHORTEST_S:
                    continue
                latest = frame.time_s
                convert = convert or PictureConverter(stream, frame.picture, HEIGHT_PX)
                yield frame.time_s, convert(frame.picture)
            if latest is None:
                raise VideoUnreadable(why_empty(span, self.source.name, self.start_s, self.end_s))
            self.told = warnings(span, stream, self.end_s)


def _palette(chosen: _Chosen) -> tuple[VideoFrame, list[int], CutReport]:
    """Return what is needed to write the GIF of the chosen frames: (palette, times of the frames, report on the GIF).

    The times are in 1/100 s and begin at 0. One more time at the end says when the last frame ends.
    """
    graph: Graph | None = None
    times: list[Fraction] = []
    for time_s, picture in chosen:
        if graph is None:
            graph = Graph()
            graph.link_nodes(
                _source(graph, picture), graph.add("palettegen", "stats_mode=diff"), graph.add("buffersink")
            ).configure()
        graph.vpush(picture)
        times.append(time_s)
    if graph is None:
        raise VideoUnreadable.about(chosen.source.name, said("no frame of the moment can be shown"))
    graph.vpush(None)
    ticks = [round((time_s - times[0]) / _TICK) for time_s in (*times, chosen.ends_s)]
    return graph.vpull(), ticks, CutReport(len(times), float(chosen.ends_s - times[0]), chosen.told)


def _write(chosen: _Chosen, palette: VideoFrame, times: list[int], out: Path) -> None:
    graph = Graph()
    source: FilterContext | None = None
    sink = graph.add("buffersink")
    # A GIF has no duration of its own, so the last frame's duration is set beforehand.
    last = {"final_delay": str(max(2, times[-1] - times[-2]))}
    with av.open(str(out), "w", format="gif", options=last) as file:
        stream = file.add_stream("gif", rate=Fraction(25))
        stream.pix_fmt = "pal8"
        stream.codec_context.time_base = _TICK
        for at, (_, picture) in zip(times[:-1], chosen, strict=True):
            if source is None:
                source, colours = _source(graph, picture), _source(graph, palette)
                use = graph.add("paletteuse", _DITHER)
                source.link_to(use, 0, 0)
                colours.link_to(use, 0, 1)
                use.link_to(sink)
                graph.configure()
                colours.push(palette)
                colours.push(None)
                stream.width, stream.height = picture.width, picture.height
            picture.pts, picture.time_base = at, _TICK
            source.push(picture)
            _encode(sink, file, stream)
        if source is not None:
            source.push(None)
        _encode(sink, file, stream)
        file.mux(stream.encode(None))


def _source(graph: Graph, picture: VideoFrame) -> FilterContext:
    return graph.add(
        "buffer",
        video_size=f"{picture.width}x{picture.height}",
        pix_fmt=picture.format.name,
        time_base=str(_TICK),
        colorspace=str(picture.colorspace),
        range=str(picture.color_range),
    )


def _encode(sink: FilterContext, file: OutputContainer, stream: VideoStream) -> None:
    """Encode the pictures that are ready at `sink`, the end of a chain of filters, and write them to the file."""
    while True:
        try:
            ready = sink.pull()
        except (av.error.BlockingIOError, av.error.EOFError):
            return
        if isinstance(ready, VideoFrame):
            file.mux(stream.encode(ready))
