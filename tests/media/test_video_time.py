"""Time starts at the start of the video, no frame is lost, and a frame lasts until the next one.

Every picture carries its number. Where a container keeps a clock of its own, the file is one written with a clock that
starts at 0, and the same packets with another clock.
"""

from collections.abc import Iterable, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

import av
import cv2
import numpy as np
import pytest
from PIL import Image

from backend.core.errors import VideoUnreadable
from backend.media.cut import CutSpan, cut, cut_together
from backend.media.decode import opened, packets, packets_from
from backend.media.frames import frame_times, frames_at
from backend.media.gif import cut_gif
from backend.media.jobs import ClipForm, Profile
from backend.media.probe import damage_inside, probe
from backend.media.shots import find_shots
from backend.media.strip import film_strip
from numbered_videos import contents, number_of, numbered, tones, write_source

SLIDES = [0, 18_000]
SLOW = [0, 5_000, 10_000, 15_000]
GAP = [*range(0, 3_000, 100), *range(11_000, 14_000, 100)]
_TURN = 2**33
"""The MPEG clock wraps around after this many ticks of 1/90000 s."""


def shown(clip: Path) -> list[int]:
    return [number_of(picture) for picture in contents(clip)[1]]


def lengths(clip: Path) -> tuple[float, float]:
    """Seconds of the pictures and of the sound, by the file's header."""
    with av.open(str(clip)) as container:
        streams = (container.streams.video[0], *container.streams.audio)
        found = [float((stream.duration or 0) * (stream.time_base or 0)) for stream in streams]
    return found[0], found[-1]


def remuxed(source: Path, out: Path, ticks: int = 0, form: str | None = None, number: int = 0) -> Path:
    """The packets of a file, their clock put forward by ticks of 1/90000 s; beyond 33 bits it wraps around.

    With a `number` the one stream and the table of streams have others than usual.
    """
    options = {"mpegts_pmt_start_pid": str(number + 0x1000)} if number else {}
    with av.open(str(source)) as read, av.open(str(out), "w", format=form, options=options) as written:
        streams = {stream: written.add_stream_from_template(stream) for stream in read.streams}
        for stream in streams.values():
            stream.id = number or stream.id
        for packet in read.demux():
            if packet.dts is None or packet.pts is None or packet.time_base is None:
                continue
            more = round(ticks * Fraction(1, 90_000) / packet.time_base)
            packet.pts, packet.dts, packet.stream = packet.pts + more, packet.dts + more, streams[packet.stream]
            written.mux(packet)
    return out


@pytest.fixture(scope="module", params=["a.mp4", "a.mkv"])
def sources(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> dict[int, Path]:
    """A video for each of the above, with 30 s of sound, by its number of frames."""
    codec = "aac" if request.param == "a.mp4" else "pcm_s16le"
    folder = tmp_path_factory.mktemp("long")
    return {
        len(ticks): write_source(folder / f"{n}{request.param}", ticks, Fraction(1, 1000), sound=(codec, 8_000, 30.0))
        for n, ticks in enumerate((SLIDES, SLOW, GAP))
    }


@pytest.mark.parametrize(
    ("ticks", "start_s", "end_s", "numbers", "times"),
    [
        (SLIDES, 5, 6, [0], [0]),
        (SLIDES, 2, 12, [0], [0]),
        (SLIDES, 10, 19, [0, 1], [0, 8]),
        (SLIDES, 20, 25, [1], [0]),  # the sound goes on to 30 s
        (SLIDES, 29.5, 30, [1], [0]),
        (GAP, 5, 7, [29], [0]),
        (GAP, 5, 11.2, [29, 30, 31], [0, 6, Fraction(61, 10)]),
        (GAP, 2.85, 11.05, [29, 30], [0, Fraction(81, 10)]),  # a tenth of a second is no long wait here
        (SLOW, 2, 6, [0, 1], [0, 3]),
        (SLOW, 5, 10, [1], [0]),
        (SLOW, 12, 16, [2, 3], [0, 3]),
    ],
)
def test_a_clip_is_as_long_as_its_moment_and_begins_with_the_picture_on_screen(
    sources: dict[int, Path],
    tmp_path: Path,
    ticks: Sequence[int],
    start_s: float,
    end_s: float,
    numbers: list[int],
    times: list[Fraction],
) -> None:
    report = cut(sources[len(ticks)], start_s, end_s, tmp_path / "clip.mp4")
    at, pictures = contents(tmp_path / "clip.mp4")
    assert [number_of(picture) for picture in pictures] == numbers
    assert at == times
    first_s = max(start_s, 2.9) if ticks is GAP else start_s
    assert report.duration_s == pytest.approx(end_s - first_s, abs=1e-3)
    assert lengths(tmp_path / "clip.mp4") == pytest.approx((end_s - first_s, end_s - first_s), abs=1024 / 48_000)
    assert report.warnings == ()
    with av.open(str(tmp_path / "clip.mp4")) as clip:
        frames = list(clip.decode(audio=0))
    heard = np.concatenate([frame.to_ndarray().mean(axis=0) for frame in frames])[4096:16_384]
    at_s = np.arange(4096, 4096 + len(heard)) / 48_000 + float(frames[0].pts or 0) / 48_000
    around = [float(np.corrcoef(heard, tones(first_s + at_s + shift / 48_000))[0, 1]) for shift in range(-96, 97, 24)]
    assert np.argmax(around) == 4, "the sound is that of the moment within a millisecond"


def test_a_moment_after_the_end_of_the_file_is_refused_and_one_across_it_is_told(tmp_path: Path) -> None:
    source = write_source(tmp_path / "a.mkv", SLIDES, Fraction(1, 1000), sound=("pcm_s16le", 8_000, 30.0))
    assert probe(source).duration_s == pytest.approx(30, abs=0.01)
    with pytest.raises(VideoUnreadable, match=r"ends at 30\.0 s, before the moment 31\.0-32\.0 s begins"):
        cut(source, 31, 32, tmp_path / "clip.mp4")
    assert cut(source, 20, 60, tmp_path / "clip.mp4").duration_s == pytest.approx(10, abs=0.01)


def test_clips_of_long_frames_are_the_same_from_one_decoding(tmp_path: Path) -> None:
    source = write_source(tmp_path / "a.mkv", GAP, Fraction(1, 1000), sound=("pcm_s16le", 8_000, 20.0))
    spans = [(1.0, 5.0), (4.0, 6.0), (5.0, 11.2), (11.0, 16.0), (17.0, 18.0)]
    for one, told in zip(
        spans,
        cut_together(source, [CutSpan(*span, tmp_path / f"{span}.mp4") for span in spans], Profile()),
        strict=True,
    ):
        assert told == cut(source, *one, tmp_path / "alone.mp4")
        assert (tmp_path / f"{one}.mp4").read_bytes() == (tmp_path / "alone.mp4").read_bytes()


def test_webm_gifs_strips_shots_and_pictures_for_models_hold_long_frames_too(tmp_path: Path) -> None:
    source = write_source(tmp_path / "a.mkv", SLIDES, Fraction(1, 1000), sound=("pcm_s16le", 8_000, 30.0))
    cut(source, 10, 19, tmp_path / "clip.webm", Profile(ClipForm.WEBM))
    assert (contents(tmp_path / "clip.webm")[0], shown(tmp_path / "clip.webm")) == ([0, 8], [0, 1])
    report = cut_gif(source, 10, 19, tmp_path / "clip.gif")
    with Image.open(tmp_path / "clip.gif") as gif:
        stands = []
        for n in range(gif.n_frames):  # type: ignore[attr-defined] # of GIFs alone
            gif.seek(n)
            stands.append(gif.info["duration"])
    assert (stands, report.duration_s) == ([8000, 1000], 9)
    for start_s, numbers in [(14, [0, 0, 0, 0, 1, 1]), (24, [1] * 6)]:
        strip = cv2.imdecode(np.frombuffer(film_strip(source, start_s, start_s + 6, width_px=128), np.uint8), 0)
        assert strip is not None
        assert [number_of(cell[12:]) for cell in np.split(strip, 6, axis=1)] == numbers
    assert [number_of(picture[..., 0]) for picture in frames_at(source, 0.1)] == [0, 0, 1]
    assert find_shots(source, 30.0)[-1][1] == 30.0
    assert frame_times(source) == [0, 18]


def mpeg(path: Path, numbers: Iterable[int], codec: str = "libx264", **options: str) -> Path:
    """A recording of so many pictures, 25 a second, in the container that its name says."""
    options = {"crf": "12", "bf": "2", "g": "10", "sc_threshold": "0", **options}
    codecs = {"mpeg2video": {"bf": options["bf"], "g": options["g"], "qmin": "2", "qmax": "2"}}
    return write_source(path, list(numbers), Fraction(1, 25), codec=codec, options=codecs.get(codec, options))


@pytest.mark.parametrize("ticks", [0, 36_000 * 90_000, _TURN - 60_000, _TURN - 200_000])
@pytest.mark.parametrize(
    ("codec", "form"),
    [
        ("libx264", "mpegts"),
        ("mpeg2video", "vob"),
        pytest.param("mpeg2video", "mpegts", marks=pytest.mark.long),
    ],
)
def test_time_starts_at_the_start_of_the_video_whatever_its_clock_says(
    tmp_path: Path, codec: str, form: str, ticks: int
) -> None:
    source = remuxed(mpeg(tmp_path / "a.ts", range(100), codec), tmp_path / "b.mpg", ticks, form)
    facts = probe(source)
    assert (facts.frames, facts.damage) == (100, "")
    assert facts.duration_s == pytest.approx(4, abs=1e-3)
    assert damage_inside(source) is None
    assert frame_times(source) == pytest.approx([n / 25 for n in range(100)], abs=1e-3)
    for start_s, end_s in [(0.0, 0.4), (0.2, 1.0), (1.6, 2.0), (3.0, 4.0)]:
        report = cut(source, start_s, end_s, tmp_path / "clip.mp4")
        assert shown(tmp_path / "clip.mp4") == [n for n in range(100) if start_s * 25 <= n < end_s * 25]
        assert report.warnings == ()


@pytest.mark.parametrize("later", [0, 36_000 * 90_000])
def test_recordings_put_end_to_end_go_on_where_the_one_before_ended(tmp_path: Path, later: int) -> None:
    first = remuxed(mpeg(tmp_path / "a.ts", range(50)), tmp_path / "1.ts", 90_000)
    second = remuxed(
        write_source(
            tmp_path / "b.ts",
            range(50),
            Fraction(1, 25),
            lambda n: numbered(n + 50),
            options={"crf": "12", "bf": "2", "g": "10"},
        ),
        tmp_path / "2.ts",
        later,
    )
    both = tmp_path / "both.mts"
    both.write_bytes(first.read_bytes() + second.read_bytes())
    assert probe(both).frames == 100
    assert probe(both).duration_s == pytest.approx(4, abs=0.1)
    cut(both, 0.0, 5.0, tmp_path / "clip.mp4")
    assert shown(tmp_path / "clip.mp4") == list(range(100))
    times = frame_times(both)
    for n in (0, 48, 50, 55, 95):
        cut(both, times[n], times[n] + 0.19, tmp_path / "clip.mp4")
        assert shown(tmp_path / "clip.mp4") == list(range(n, n + 5))


OPEN = {"x264-params": "open-gop=1:keyint=10:min-keyint=10:scenecut=0", "bf": "3"}
WAVES = {"x264-params": "intra-refresh=1:keyint=20", "bf": "0"}


@pytest.mark.parametrize(
    "options", [{}, {"g": "250"}, OPEN, WAVES], ids=["closed", "one group", "open", "no key frame"]
)
@pytest.mark.parametrize(
    "name", ["a.ts", "a.mp4", *(pytest.param(name, marks=pytest.mark.long) for name in ("a.mkv", "a.avi", "a.flv"))]
)
def test_no_frame_of_a_healthy_file_is_lost(tmp_path: Path, name: str, options: dict[str, str]) -> None:
    source = mpeg(tmp_path / name, range(100), **options)
    assert damage_inside(source) is None
    times = frame_times(source)
    assert len(times) == 100
    for first in (0, 3, 9, 10, 11, 45, 61, 97):
        report = cut(source, times[first], times[first] + 0.12, tmp_path / "clip.mp4")
        assert shown(tmp_path / "clip.mp4") == list(range(first, min(first + 3, 100)))
        assert report.warnings == ()


@pytest.mark.parametrize("bf", ["0", "1", "2"])
def test_pictures_to_which_a_recording_gives_one_time_are_both_shown(tmp_path: Path, bf: str) -> None:
    """Of two small pictures in one block of MPEG-PS, FFmpeg gives one the time of the other."""
    source = remuxed(
        write_source(
            tmp_path / "a.ts",
            range(250),
            Fraction(1, 25),
            lambda n: numbered(n * 3 % 256),
            "mpeg2video",
            {"bf": bf, "g": "15", "qmin": "2", "qmax": "2"},
        ),
        tmp_path / "a.mpg",
        form="mpeg",
    )
    with av.open(str(source)) as container:
        raw = [frame.pts for frame in container.decode(video=0)]
    assert len(raw) == 250
    assert frame_times(source) == pytest.approx([n / 25 for n in range(250)], abs=1e-6)
    cut(source, 0.0, 10.0, tmp_path / "clip.mp4")
    assert shown(tmp_path / "clip.mp4") == [n * 3 % 256 for n in range(250)]


def test_a_recording_of_another_kind_behind_one_is_named(tmp_path: Path) -> None:
    both = tmp_path / "both.ts"
    first = mpeg(tmp_path / "a.ts", range(50))
    second = remuxed(mpeg(tmp_path / "b.ts", range(75)), tmp_path / "c.ts", number=0x300)
    both.write_bytes(first.read_bytes() + second.read_bytes())
    assert "of the file comes after that" in probe(both).damage
    assert probe(first).damage == ""


@pytest.mark.parametrize(
    ("name", "codec", "sound"),
    [("a.ts", "libx264", "aac"), ("a.mpg", "mpeg2video", "mp2"), ("a.ogg", "libvpx", "libopus")],
)
def test_reading_from_the_middle_gives_what_reading_from_the_beginning_does(
    tmp_path: Path, name: str, codec: str, sound: str
) -> None:
    options = {"g": "10"} if codec == "libvpx" else {"g": "10", "bf": "2"}
    source = write_source(tmp_path / name, range(125), Fraction(1, 25), numbered, codec, options, (sound, 48_000, 5.0))
    with opened(source) as container:
        assert isinstance(container, av.container.InputContainer)
        streams: list[Any] = [container.streams.video[0], container.streams.audio[0]]
        for stream in streams:
            whole = [(one.pts, one.dts, bytes(one)) for one in packets(container, stream) if one.size]
            for second in (0, 1, 3, 4, 20):
                found = packets_from(container, stream, Fraction(second))
                part = [(one.pts, one.dts, bytes(one)) for one in found if one.size]
                assert part
                assert part == whole[len(whole) - len(part) :]
                if second in (1, 3, 4):
                    assert 0 <= second - (part[0][0] or 0) * (stream.time_base or 0) <= Fraction(1, 2)
