"""Turn decoded pictures into what a clip holds: upright, square pixels, even sizes, 8 bits, at most 720 lines."""

from fractions import Fraction

from av.filter import Graph
from av.video.frame import VideoFrame

from backend.media.decode import PictureStream, shown_size

MAX_HEIGHT_PX = 720
"""Of pictures that no setting decides: frames for models, strips."""

_TURNS = {90: [("transpose", "cclock")], 180: [("hflip", ""), ("vflip", "")], 270: [("transpose", "clock")]}
"""Filters that turn a picture by so many degrees counter-clockwise."""


class PictureConverter:
    """Converts the pictures of one stream, all to the size that the first of them asks for.

    Pictures of more than `max_height_px` lines are scaled down with their aspect kept; others are only trimmed to
    even sizes, which encoders need, so that no pixel is resampled without need.

    Attributes:
        changed: whether pictures of another form came after the first; they are fitted to its size.
    """

    def __init__(self, source: PictureStream, first: VideoFrame, max_height_px: int = MAX_HEIGHT_PX) -> None:
        width, height = shown_size(source, first.rotation)
        # Oblong pixels are resampled to square ones.
        self._resampled = height > max_height_px or (source.sample_aspect_ratio or 1) != 1
        if height > max_height_px:
            width, height = width * max_height_px // height, max_height_px
        self._width, self._height = max(2, width // 2 * 2), max(2, height // 2 * 2)
        self._base_s = source.time_base or Fraction(1, 90_000)
        self.changed = False
        self._graph: Graph | None = None
        self._form: tuple[int, int, str, int, int, int] | None = None

    def __call__(self, picture: VideoFrame) -> VideoFrame:
        """The converted picture (yuv420p, limited range); its time is the picture's."""
        form = (
            picture.width,
            picture.height,
            picture.format.name,
            picture.rotation,
            picture.colorspace,
            picture.color_range,
        )
        if self._graph is None or form != self._form:
            # A recording may change its form midway: the later pictures are fitted to the size of the first.
            self.changed = self._form is not None
            fitted = self._resampled or self.changed
            self._graph = self._built(picture, f"{self._width}:{self._height}:" if fitted else "")
            self._form = form
        self._graph.vpush(picture)
        return self._graph.vpull()

    def _built(self, picture: VideoFrame, size: str) -> Graph:
        graph = Graph()
        graph.threads = 1
        source = graph.add(
            "buffer",
            video_size=f"{picture.width}x{picture.height}",
            pix_fmt=picture.format.name,
            time_base=str(self._base_s),
            colorspace=str(picture.colorspace),
            range=str(picture.color_range),
        )
        turns = [graph.add(name, args or None) for name, args in _TURNS.get(picture.rotation % 360, [])]
        graph.link_nodes(
            source,
            *turns,
            graph.add("scale", f"{size}out_range=tv"),
            graph.add("format", "yuv420p"),
            graph.add("crop", f"{self._width}:{self._height}:0:0"),
            graph.add("buffersink"),
        ).configure()
        return graph
