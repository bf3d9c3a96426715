"""Small videos whose every picture carries its own number in black and white blocks, and how it is read again."""

from collections.abc import Callable, Iterable
from fractions import Fraction
from pathlib import Path

import av
import numpy as np
from numpy.typing import NDArray

BITS, BLOCK = 8, 16
Picture = NDArray[np.uint8]


def numbered(number: int, width: int = BITS * BLOCK, height: int = 48) -> Picture:
    picture = np.full((height, width, 3), 90, dtype=np.uint8)
    for bit in range(BITS):
        picture[:BLOCK, bit * BLOCK : (bit + 1) * BLOCK] = 255 * (number >> bit & 1)
    return picture


def number_of(picture: Picture, scale: float = 1.0) -> int:
    block = BLOCK * scale
    at = [int((bit + 0.5) * block) for bit in range(BITS)]
    return sum(int(picture[int(block / 2), x] > 127) << bit for bit, x in enumerate(at))


def tones(times: NDArray[np.float64]) -> NDArray[np.float64]:
    """A sound that never repeats itself, defined at any time."""
    random = np.random.default_rng(7)
    frequency, phase = random.uniform(80, 1800, 24), random.uniform(0, 6, 24)
    return np.sin(2 * np.pi * np.outer(times, frequency) + phase).sum(axis=1) / 30


def write_source(
    path: Path,
    ticks: Iterable[int],
    base: Fraction,
    draw: Callable[[int], Picture] = numbered,
    codec: str = "libx264",
    options: dict[str, str] | None = None,
    sound: tuple[str, int, float] | None = None,
) -> Path:
    """A video whose frame i is shown at `ticks[i] * base`; `sound` is codec, rate and seconds."""
    ticks = list(ticks)
    with av.open(str(path), "w") as out:
        stream = out.add_stream(codec, rate=25, options=options or {"crf": "12", "bf": "3", "g": "250"})
        first = draw(0)
        stream.width, stream.height = first.shape[1], first.shape[0]
        stream.pix_fmt = "yuv444p" if first.shape[1] % 2 else "yuv420p"
        stream.codec_context.time_base = base
        if sound:
            kind, rate, seconds = sound
            audio = out.add_stream(kind, rate=rate, layout="mono")
            wave = tones(np.arange(int(rate * seconds)) / rate)
            if kind == "aac":
                frame = av.AudioFrame.from_ndarray(wave[None].astype(np.float32), format="fltp", layout="mono")
            else:
                samples = (wave[None] * 32767).astype(np.int16)
                frame = av.AudioFrame.from_ndarray(samples, format="s16", layout="mono")
            frame.sample_rate, frame.pts, frame.time_base = rate, 0, Fraction(1, rate)
        for number, tick in enumerate(ticks):
            picture = av.VideoFrame.from_ndarray(draw(number), format="rgb24")
            picture.pts, picture.time_base = tick, base
            out.mux(stream.encode(picture))
        out.mux(stream.encode(None))
        if sound:
            out.mux(audio.encode(frame))
            out.mux(audio.encode(None))
    return path


def contents(path: Path) -> tuple[list[Fraction], list[Picture]]:
    """Times and pictures, upright and grey, of all frames that can be decoded, from the beginning."""
    times, pictures = [], []
    with av.open(str(path)) as container:
        stream = max(container.streams.video, key=lambda stream: stream.width * stream.height)
        for packet in container.demux(stream):
            try:
                frames = stream.codec_context.decode(packet)
            except av.FFmpegError:
                continue
            for frame in frames:
                assert frame.pts is not None
                times.append(frame.pts * stream.time_base)
                pictures.append(np.rot90(frame.to_ndarray(format="gray"), frame.rotation // 90))
    return times, pictures


IRREGULAR = [0, 40, 41, 160, 400, 433, 467, 500, 533, 700, 1201, 1234, 1267, 1300, 1900, 1933, 1967, 2000, 2033, 2500]
