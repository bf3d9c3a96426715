"""Convert pictures, and encode them with sound into clips: H.264 and AAC in MP4, or VP9 and Opus in WebM.

Converted pictures are upright, with square pixels, even sizes and 8 bits. They have at most 720 lines, or as many as a
profile allows.

If you change how clips are made, change `_MADE` in `backend.media.jobs` too.
"""

from __future__ import annotations  # PyAV's Packet takes a type argument in its stubs only

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import cast

import av
from av.audio.frame import AudioFrame
from av.audio.stream import AudioStream
from av.filter import Graph
from av.packet import Packet
from av.video.frame import VideoFrame
from av.video.stream import VideoStream

from backend.media.decode import PictureStream, TimedFrame, frame_interval_s, shown_size
from backend.media.jobs import ClipForm
from backend.media.sound import SAMPLE_RATE

MAX_HEIGHT_PX = 720
"""The most lines of pictures that have no profile: frames for models, film strips."""

_TURNS = {90: [("transpose", "cclock")], 180: [("hflip", ""), ("vflip", "")], 270: [("transpose", "clock")]}
"""FFmpeg filters that rotate a picture, by the angle in degrees counter-clockwise."""


class PictureConverter:
    """Converts the pictures of one stream, all to the size of the first.

    Pictures of more than `max_height_px` lines are scaled down with their aspect kept. Others are only trimmed to even
    sizes, which encoders need; so no pixel is resampled without need.

    Attributes:
        changed: whether a picture after the first had another size, rotation or pixel format; it is fitted to the size
            of the first.
    """

    def __init__(self, source: PictureStream, first: VideoFrame, max_height_px: int = MAX_HEIGHT_PX) -> None:
        width, height = shown_size(source, first.rotation)
        # Pictures with non-square pixels are resampled.
        self._resampled = height > max_height_px or (source.sample_aspect_ratio or 1) != 1
        if height > max_height_px:
            width, height = width * max_height_px // height, max_height_px
        self._width, self._height = max(2, width // 2 * 2), max(2, height // 2 * 2)
        self._base_s = source.time_base or Fraction(1, 90_000)
        self.changed = False
        self._graph: Graph | None = None
        self._form: tuple[int, int, str, int, int, int] | None = None

    def __call__(self, picture: VideoFrame) -> VideoFrame:
        """Return the converted picture (yuv420p, limited range) with the same time."""
        form = (
            picture.width,
            picture.height,
            picture.format.name,
            picture.rotation,
            picture.colorspace,
            picture.color_range,
        )
        if self._graph is None or form != self._form:
            # A recording may change its form midway; later pictures are fitted to the size of the first.
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


_SOUND_BITS_PER_S = 96_000
_COARSEST_S = Fraction(1, 1000)
_GROUP = "25"
"""Frames from one key frame to the next; a browser that goes back one frame decodes at most this many."""


@dataclass(frozen=True, slots=True)
class _Encoding:
    """The codecs and encoder options of one file format of clips, for the picture, the sound and the file.

    The options make encoders write each frame at once, without waiting for later ones. So frames are stored in the
    order in which they are shown, and a clip starts at 0 in every player without an edit list.
    """

    picture: str
    picture_options: dict[str, str]
    sound: str
    file_options: dict[str, str]


_ENCODINGS = {
    ClipForm.MP4: _Encoding(
        "libx264",
        {"preset": "veryfast", "crf": "26", "g": _GROUP, "bf": "0", "threads": "1"},
        "aac",
        {"movflags": "+faststart"},
    ),
    ClipForm.WEBM: _Encoding(
        "libvpx-vp9",
        {
            **{"deadline": "realtime", "cpu-used": "7", "crf": "30", "b": "0", "g": _GROUP},
            **{"lag-in-frames": "0", "auto-alt-ref": "0", "threads": "1"},
        },
        "libopus",
        {"cues_to_front": "1"},
    ),
}


class ClipWriter:
    """Encodes frames and sound side by side into a new file.

    Attributes:
        written: number of pictures written to the file.
        ends_s: when the last picture written stops being shown, in seconds from the start of the clip.
    """

    def __init__(
        self,
        out: Path,
        form: ClipForm,
        source: PictureStream,
        first: TimedFrame,
        model: VideoFrame,
        sound: Iterator[AudioFrame],
    ) -> None:
        """Open the file for pictures and sound.

        `form` is its file format. `source` is the stream of the frames, and `first` the first frame. `model` is the
        picture of this frame, converted; the file takes its size and colours.
        """
        how = _ENCODINGS[form]
        self.written = 0
        self.ends_s = Fraction(0)
        self._lasts: dict[int, int] = {}
        self._sound = sound
        self._next_sound = next(sound, None)
        self._zero_s = first.time_s
        base_s = source.time_base or Fraction(1, 90_000)
        # A clip may begin or end within a long picture, and the time unit of some files is a frame, so refine it.
        self._base_s = base_s / max(1, round(base_s / _COARSEST_S))
        self._clip = av.open(str(out), "w", format=str(form), options=how.file_options)
        rate = 1 / frame_interval_s(source)
        self._video = cast("VideoStream", self._clip.add_stream(how.picture, rate=rate, options=how.picture_options))
        self._video.width, self._video.height, self._video.pix_fmt = model.width, model.height, "yuv420p"
        context = self._video.codec_context
        context.time_base = self._base_s
        context.color_range, context.colorspace = model.color_range, model.colorspace
        context.color_primaries, context.color_trc = model.color_primaries, model.color_trc
        self._audio: AudioStream | None = None
        if self._next_sound is not None:
            self._audio = cast("AudioStream", self._clip.add_stream(how.sound, rate=SAMPLE_RATE))
            self._audio.layout = "stereo"
            self._audio.bit_rate = _SOUND_BITS_PER_S

    def add(self, frame: TimedFrame, picture: VideoFrame) -> None:
        """Write a frame, and the sound up to it; `picture` is the frame's converted picture."""
        picture.time_base = self._base_s
        picture.pts = round((frame.time_s - self._zero_s) / self._base_s)
        lasts = max(1, round(frame.lasts_s / self._base_s))
        self._lasts[picture.pts] = lasts
        picture.pict_type = 0  # else the encoder would copy the source's key frames
        self.ends_s = (picture.pts + lasts) * self._base_s
        self._mux(self._video.encode(picture))
        self._add_sound(frame.time_s - self._zero_s)

    def finish(self) -> None:
        """Write the remaining sound and the pictures that the encoders still hold, and close the file."""
        self._add_sound(None)
        self._mux(self._video.encode(None))
        if self._audio is not None:
            self._clip.mux(self._audio.encode(None))
        self._clip.close()

    def give_up(self) -> None:
        """Close the file as it is, ignoring errors; does nothing after `finish`."""
        with suppress(av.FFmpegError):
            self._clip.close()

    def _mux(self, packets: list[Packet[VideoStream]]) -> None:
        for packet in packets:
            # The encoder gives every frame the usual duration, but the moment may cut the last one short.
            packet.duration = self._lasts.pop(packet.pts or 0)
            self._clip.mux(packet)
            self.written += 1

    def _add_sound(self, until_s: Fraction | None) -> None:
        while self._audio is not None and self._next_sound is not None:
            if until_s is not None and Fraction(self._next_sound.pts or 0, SAMPLE_RATE) > until_s:
                return
            self._clip.mux(self._audio.encode(self._next_sound))
            self._next_sound = next(self._sound, None)
