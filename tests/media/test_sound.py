"""Sound lies within 1 ms of its place, and nothing that is wrong with it keeps a clip from being made."""

import shutil
import subprocess
from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from itertools import takewhile
from pathlib import Path

import av
import numpy as np
import pytest
from av.packet import Packet
from numpy.typing import NDArray

from backend.media.cut import cut
from backend.media.decode import opened, sound_stream
from backend.media.jobs import ClipForm, Profile
from backend.media.sound import SAMPLE_RATE, sound_between
from numbered_videos import contents, number_of, write_source

Wave = NDArray[np.float64]

CLICKS_S = (0.31, 0.77, 1.13, 1.52, 2.04, 2.43, 2.91, 3.37, 3.72)
CLICK_S, PITCH_HZ = 0.008, 1500
LONGEST_S = 4


def click(times: Wave) -> Wave:
    """A short tone that swells from 0 s and fades to `CLICK_S`, so that codecs keep it."""
    swell = np.where((times >= 0) & (times < CLICK_S), np.sin(np.pi * times / CLICK_S), 0)
    return 0.8 * np.sin(2 * np.pi * PITCH_HZ * times) * swell


def clicks(rate: int) -> Wave:
    times = np.arange(rate * LONGEST_S) / rate
    return np.sum([click(times - at) for at in CLICKS_S], axis=0)


def late_ms(wave: Wave, times_s: Iterable[float]) -> list[float | None]:
    """How much later than said each click is, within a tenth of a second; None of one that is not there."""
    pattern = click(np.arange(int(CLICK_S * SAMPLE_RATE)) / SAMPLE_RATE)
    found: list[float | None] = []
    for time_s in times_s:
        reach = SAMPLE_RATE // 10
        begins = round(time_s * SAMPLE_RATE) - reach
        window = np.zeros(2 * reach + len(pattern))
        there = wave[max(begins, 0) : begins + len(window)]
        window[max(-begins, 0) : max(-begins, 0) + len(there)] = there
        likeness = np.correlate(window, pattern, "valid")
        at = int(likeness.argmax())
        found.append((at - reach) * 1000 / SAMPLE_RATE if likeness[at] > 0.1 * np.sum(pattern**2) else None)
    return found


def heard(path: Path) -> Wave:
    """All sound of a clip at 48 kHz, from the time at which its first picture is shown."""
    wave = np.zeros(SAMPLE_RATE * (LONGEST_S + 1))
    with av.open(str(path)) as clip:
        assert next(clip.decode(video=0)).pts == 0
        clip.seek(0)
        for frame in clip.decode(audio=0):
            samples = frame.to_ndarray().mean(axis=0)
            begins = round(frame.pts * frame.time_base * SAMPLE_RATE)
            wave[max(begins, 0) : begins + len(samples)] = samples[max(-begins, 0) :]
    return wave


needs_ffmpeg = pytest.mark.skipif(shutil.which("ffmpeg") is None, reason="needs ffmpeg")
RECORDINGS = {
    "mp4": "-c:v libx264 -c:a aac",
    "mov": "-c:v libx264 -c:a pcm_s24le",
    "mkv": "-c:v libx264 -c:a libopus",
    "webm": "-c:v libvpx -deadline realtime -cpu-used 8 -c:a libvorbis",
    "avi": "-c:v mpeg4 -c:a libmp3lame",
    "flv": "-c:v libx264 -c:a aac -ar 44100",
    "wmv": "-c:v wmv2 -c:a wmav2",
    "ts": "-c:v libx264 -c:a aac",
    "mts": "-c:v libx264 -mpegts_m2ts_mode 1 -c:a ac3 -f mpegts",
    "mpg": "-c:v mpeg2video -c:a mp2",
    "vob": "-c:v mpeg2video -c:a ac3",
    "3gp": "-c:v mpeg4 -c:a aac -ar 16000",
    "ogv": "-c:v libtheora -c:a libvorbis",
}
"""By extension, how FFmpeg is told to make it."""


def ffmpeg(*arguments: object) -> bytes:
    command = ["ffmpeg", "-nostdin", "-y", "-v", "error", *map(str, arguments)]
    return subprocess.run(command, check=True, capture_output=True).stdout


def recorded(path: Path, options: str) -> Path:
    """A video of numbered pictures and clicks."""
    bits = "geq=lum='255*mod(floor(N/pow(2,floor(X/16))),2)':cb=128:cr=128"
    sound = path.with_suffix(".wave")
    sound.write_bytes(clicks(SAMPLE_RATE).astype("<f4").tobytes())
    sources = ("-f", "lavfi", "-i", f"nullsrc=s=128x96:r=25,{bits}", "-f", "f32le", "-ar", SAMPLE_RATE, "-i", sound)
    ffmpeg(*sources, "-t", LONGEST_S, "-pix_fmt", "yuv420p", "-g", "25", *options.split(), path)
    return path


def picture_times_s(path: Path) -> list[float]:
    """When each picture is shown by the file's own clock, as ffprobe says."""
    shows = ("ffprobe", "-v", "error", "-select_streams", "v:0", "-of", "csv=p=0")
    command = [*shows, "-show_entries", "frame=best_effort_timestamp_time", str(path)]
    lines = subprocess.run(command, check=True, capture_output=True).stdout.split()
    told = [line.strip(b",") for line in lines if line.strip(b",")]
    return [float(time_s) for time_s in takewhile(b"N/A".__ne__, told)]


def as_ffmpeg_plays(path: Path, first_s: float) -> list[float | None]:
    """How late each click is in a whole file after its first picture; some formats do not tell their codec's delay."""
    places = ("-af", "aresample=async=1:first_pts=0", "-f", "f32le", "-")
    raw = ffmpeg("-copyts", "-i", path, "-map", "0:a:0", "-ac", 1, "-ar", SAMPLE_RATE, *places)
    return late_ms(np.frombuffer(raw, "<f4").astype(float), [time_s + first_s for time_s in CLICKS_S])


def require_in_place(folder: Path, suffix: str, moments: Sequence[tuple[float, float, ClipForm]]) -> None:
    source = recorded(folder / f"a.{suffix}", RECORDINGS[suffix])
    shown_s = picture_times_s(source)
    expected = dict(zip(CLICKS_S, as_ffmpeg_plays(source, shown_s[0]), strict=True))
    for start_s, end_s, form in moments:
        clip = folder / f"clip.{form}"
        assert cut(source, start_s, end_s, clip, Profile(form)).warnings == ()
        first_s = shown_s[number_of(contents(clip)[1][0])] - shown_s[0]
        inside = [time_s for time_s in CLICKS_S if start_s + 0.05 < time_s < end_s - 0.05]
        found = late_ms(heard(clip), [time_s - first_s for time_s in inside])
        assert found == pytest.approx([expected[time_s] for time_s in inside], abs=1)


@needs_ffmpeg
@pytest.mark.parametrize("suffix", ["mp4", "mpg"])
def test_sound_is_within_a_millisecond_of_its_place(tmp_path: Path, suffix: str) -> None:
    require_in_place(tmp_path, suffix, [(1.3, 2.9, ClipForm.MP4)])


@needs_ffmpeg
@pytest.mark.long
@pytest.mark.parametrize("suffix", RECORDINGS)
def test_sound_is_within_a_millisecond_of_its_place_in_every_format(tmp_path: Path, suffix: str) -> None:
    moments = [(0.0, 1.0, ClipForm.MP4), (2.3, 4.0, ClipForm.MP4), (1.3, 2.9, ClipForm.WEBM)]
    require_in_place(tmp_path, suffix, moments)


def written(path: Path, wave: Wave, codec: str, layout: str = "mono", rate: int = SAMPLE_RATE) -> Path:
    """A file of sound alone; every channel has the same."""
    with av.open(str(path), "w") as out:
        stream = out.add_stream(codec, rate=rate, layout=layout)
        stream.time_base = Fraction(1, rate)
        step = stream.codec_context.frame_size or 1024
        channels = stream.codec_context.layout.nb_channels
        planar = stream.codec_context.format.is_planar
        kind = np.float32 if stream.codec_context.format.name.startswith("flt") else np.int16
        for begins in range(0, len(wave), step):
            part = wave[begins : begins + step] * (1 if kind is np.float32 else 32767)
            samples = np.repeat(part.astype(kind)[None], channels, 0)
            shaped = samples if planar else samples.T.reshape(1, -1)
            frame = av.AudioFrame.from_ndarray(
                np.ascontiguousarray(shaped), format=stream.codec_context.format.name, layout=layout
            )
            frame.sample_rate, frame.pts, frame.time_base = rate, begins, Fraction(1, rate)
            out.mux(stream.encode(frame))
        out.mux(stream.encode(None))
    return path


def copied(source: Path, out: Path, change: Callable[[int, Packet], Packet | None]) -> Path:
    """The file with some packets changed, or left out where `change` says None."""
    with av.open(str(source)) as before, av.open(str(out), "w") as after:
        stream = before.streams.audio[0]
        copy = after.add_stream_from_template(stream)
        for number, packet in enumerate(before.demux(stream)):
            changed = change(number, packet) if packet.size else None
            if changed is not None:
                changed.stream = copy
                after.mux(changed)
    return out


def between(path: Path, start_s: float, end_s: float) -> Wave:
    """What is heard of a span; each frame has to follow the one before."""
    wave: list[Wave] = [np.zeros(0)]
    with opened(path) as container:
        for frame in sound_between(container, sound_stream(container), Fraction(start_s), Fraction(end_s)):
            assert frame.pts == sum(map(len, wave))
            samples = frame.to_ndarray()
            assert samples.shape[0] == 2
            wave.append(samples.mean(axis=0))
    return np.concatenate(wave)


def test_a_hole_of_any_length_moves_no_sound(tmp_path: Path) -> None:
    whole = written(tmp_path / "whole.mkv", clicks(SAMPLE_RATE), "pcm_s16le")
    for gone in (range(40, 41), range(40, 43), range(40, 60)):  # 21, 64 and 427 ms from 0.85 s on
        path = copied(whole, tmp_path / "a.mkv", lambda at, packet, gone=gone: None if at in gone else packet)
        after = [time_s for time_s in CLICKS_S if time_s > 1.4]
        found = late_ms(between(path, 0.5, 4.0), [time_s - 0.5 for time_s in after])
        assert found == pytest.approx([0] * len(after), abs=1)


@pytest.mark.parametrize("codec", ["aac", "flac", "ac3", "mp2"])
def test_broken_packets_are_silence_and_move_no_sound(tmp_path: Path, codec: str) -> None:
    def change(_: int, packet: Packet) -> Packet:
        if not 1.3 < packet.pts * packet.time_base < 2:
            return packet
        broken = Packet(bytes(packet.size))
        broken.pts, broken.dts, broken.time_base = packet.pts, packet.dts, packet.time_base
        return broken

    whole = written(tmp_path / "whole.mkv", clicks(SAMPLE_RATE), codec)
    path = copied(whole, tmp_path / "a.mkv", change)
    expected = late_ms(between(whole, 0.0, 4.0), CLICKS_S)
    found = late_ms(between(path, 0.0, 4.0), CLICKS_S)
    kept = [place for place, one in enumerate(found) if one is not None]
    assert {0, 1, len(CLICKS_S) - 1} <= {*kept} < {*range(len(CLICKS_S))}
    assert [found[place] for place in kept] == pytest.approx([expected[place] for place in kept], abs=1)


def test_mp2_in_mpeg_ps_is_found_again_after_any_jump(tmp_path: Path) -> None:
    path = written(tmp_path / "a.mpg", np.tile(clicks(32_000), 3), "mp2", rate=32_000)
    whole = late_ms(between(path, 0.0, 4.0), CLICKS_S)
    for start_s in np.arange(0.75, 8, 0.5):
        times_s = [time_s + 4 * turn - start_s for turn in range(3) for time_s in CLICKS_S]
        inside = [time_s for time_s in times_s if 0.1 < time_s < 1.9]
        found = late_ms(between(path, float(start_s), float(start_s) + 2), inside)
        assert found == pytest.approx([whole[0]] * len(inside), abs=1)


def test_what_is_no_number_is_silence(tmp_path: Path) -> None:
    wave = clicks(SAMPLE_RATE)
    wave[60_000:60_100], wave[62_000:62_100], wave[64_000:64_100] = np.nan, np.inf, 1e30
    found = between(written(tmp_path / "a.mkv", wave, "pcm_f32le"), 0.0, 4.0)
    assert np.abs(found).max() <= 1
    assert late_ms(found, CLICKS_S) == pytest.approx([0] * len(CLICKS_S), abs=1)


@pytest.mark.parametrize(
    ("layout", "rate"), [("3.0", 5_512), ("7.1", 192_000), ("9 channels", 44_100), ("32 channels", 48_000)]
)
def test_any_number_of_channels_and_any_rate_is_heard(tmp_path: Path, layout: str, rate: int) -> None:
    found = between(written(tmp_path / "a.mkv", clicks(rate), "pcm_s16le", layout, rate), 1.0, 3.0)
    inside = [time_s for time_s in CLICKS_S if 1 < time_s < 3]
    assert late_ms(found, [time_s - 1 for time_s in inside]) == pytest.approx([0] * len(inside), abs=1)


@pytest.mark.parametrize("form", list(ClipForm))
def test_sound_that_nobody_can_decode_is_left_out(tmp_path: Path, form: ClipForm) -> None:
    source = write_source(tmp_path / "a.mkv", range(90), Fraction(1, 30), sound=("pcm_s16le", 48_000, 3.0))
    source.write_bytes(source.read_bytes().replace(b"A_PCM/INT/LIT", b"A_PCM/XXX/LIT"))
    clip = tmp_path / f"clip.{form}"
    report = cut(source, 1.0, 2.0, clip, Profile(form))
    assert (report.frames, report.warnings) == (30, ())
    assert [number_of(picture) for picture in contents(clip)[1]] == [*range(30, 60)]
