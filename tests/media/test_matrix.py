"""Moments show the frames of a full decoding by another program, whatever the container, the codec and the groups.

FFmpeg's command line makes the videos and decodes each of them whole; pictures are compared by hash, before they are
encoded again. `docs/video-files.md` has the same table.
"""

import hashlib
import shutil
import subprocess
from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path

import pytest
from av.video.frame import VideoFrame

from backend.core.errors import VideoUnreadable
from backend.media.cut import cut
from backend.media.decode import FrameSpan, opened, picture_stream
from backend.media.probe import damage_inside, probe

needs_ffmpeg = pytest.mark.skipif(shutil.which("ffmpeg") is None, reason="needs ffmpeg")
FORMATS = (Path(__file__).parents[2] / "docs" / "video-files.md").read_text()

FRAMES = 100
RATE = Fraction(25)
MOMENTS = [(0, 15), (41, 55), (49, 60), (85, 100)]
"""First frame, and the one after the last: at the start, in the middle twice, at the end."""

X264 = "-c:v libx264 -preset veryfast"
X265 = "-c:v libx265 -preset ultrafast -x265-params log-level=error"
CLOSED = "-flags +cgop -sc_threshold 1000000000"
RECORDINGS = {
    "H.264 without B-frames": ("mp4 mov mkv avi flv ts m2ts 3gp wmv", f"{X264} -bf 0 -g 25"),
    "H.264, closed groups": ("mp4 mov mkv avi flv ts m2ts 3gp wmv", f"{X264} -bf 3 -g 25"),
    "H.264, open groups": (
        "mp4 mov mkv avi flv ts m2ts 3gp wmv",
        f"{X264} -bf 3 -x264-params open-gop=1:keyint=25:min-keyint=25:scenecut=0",
    ),
    "H.264, groups of 250": ("mp4 mov mkv avi flv ts m2ts 3gp wmv", f"{X264} -bf 3 -g 250"),
    "H.264, intra refresh": ("mp4 mov mkv avi flv ts m2ts 3gp wmv", f"{X264} -bf 2 -g 25 -intra-refresh 1"),
    "H.264, interlaced": ("mp4 mov mkv avi flv ts m2ts 3gp wmv", f"{X264} -bf 2 -g 25 -flags +ildct+ilme"),
    "HEVC, closed groups": ("mp4 mov mkv avi ts m2ts", f"{X265}:keyint=25:bframes=3:open-gop=0"),
    "HEVC, open groups": (
        "mp4 mov mkv avi ts m2ts",
        f"{X265}:keyint=25:min-keyint=25:scenecut=0:bframes=3:open-gop=1",
    ),
    "HEVC, groups of 250": ("mp4 mov mkv avi ts m2ts", f"{X265}:keyint=250:bframes=3"),
    "HEVC, intra refresh": ("mp4 mov mkv avi ts m2ts", f"{X265}:keyint=25:bframes=2:intra-refresh=1"),
    "MPEG-2 without B-frames": ("mpg vob ts m2ts mkv mov mp4 avi wmv", "-c:v mpeg2video -g 15 -bf 0"),
    "MPEG-2, open groups": ("mpg vob ts m2ts mkv mov mp4 avi wmv", "-c:v mpeg2video -g 15 -bf 2"),
    "MPEG-2, closed groups": ("mpg vob ts m2ts mkv mov mp4 avi wmv", f"-c:v mpeg2video -g 15 -bf 2 {CLOSED}"),
    "MPEG-2, groups of 250": ("mpg vob ts m2ts mkv mov mp4 avi wmv", "-c:v mpeg2video -g 250 -bf 2"),
    "MPEG-2, interlaced": ("mpg vob ts m2ts mkv mov mp4 avi wmv", "-c:v mpeg2video -g 15 -bf 2 -flags +ildct+ilme"),
    "MPEG-1": ("mpg vob ts mkv avi mov", "-c:v mpeg1video -g 15 -bf 2"),
    "MPEG-4 without B-frames": ("mp4 mov mkv avi 3gp ts wmv", "-c:v mpeg4 -g 25 -bf 0"),
    "MPEG-4, open groups": ("mp4 mov mkv avi 3gp ts wmv", "-c:v mpeg4 -g 25 -bf 2"),
    "MPEG-4, closed groups": ("mp4 mov mkv avi 3gp ts wmv", f"-c:v mpeg4 -g 25 -bf 2 {CLOSED}"),
    "MPEG-4, groups of 250": ("mp4 mov mkv avi 3gp ts wmv", "-c:v mpeg4 -g 250 -bf 2"),
    "VP8": ("webm mkv avi ogv", "-c:v libvpx -g 25 -deadline realtime -cpu-used 8"),
    "VP8, groups of 250": (
        "webm mkv avi ogv",
        "-c:v libvpx -g 250 -auto-alt-ref 1 -lag-in-frames 16 -cpu-used 8 -b:v 200k",
    ),
    "VP9": ("webm mkv mp4 avi", "-c:v libvpx-vp9 -g 25 -deadline realtime -cpu-used 8"),
    "VP9, groups of 250": (
        "webm mkv mp4 avi",
        "-c:v libvpx-vp9 -g 250 -auto-alt-ref 1 -lag-in-frames 16 -cpu-used 8 -b:v 200k",
    ),
    "AV1": ("mp4 mkv webm avi", "-c:v libsvtav1 -g 25 -preset 12"),
    "AV1, groups of 250": ("mp4 mkv webm avi", "-c:v libsvtav1 -g 250 -preset 12"),
    "WMV 1": ("wmv avi", "-c:v wmv1 -g 250"),
    "WMV 2": ("wmv avi mkv", "-c:v wmv2 -g 25"),
    "MS-MPEG-4": ("avi wmv mkv", "-c:v msmpeg4 -g 250"),
    "Theora": ("ogv mkv avi", "-c:v libtheora -g 25"),
    "Theora, groups of 250": ("ogv mkv", "-c:v libtheora -g 250"),
    "Sorenson H.263 (FLV1)": ("flv avi", "-c:v flv -g 25"),
    "H.263": ("3gp mov avi", "-r 30000/1001 -c:v h263 -g 25"),
    "H.263+": ("3gp mov avi mkv", "-r 30000/1001 -c:v h263p -g 250"),
    "MJPEG": ("avi mov mkv mp4 wmv", "-pix_fmt yuvj420p -c:v mjpeg -q:v 5"),
    "ProRes": ("mov mkv", "-pix_fmt yuv422p10 -c:v prores"),
}
"""What is recorded: the containers that take it, and how FFmpeg is told to make it."""

MUXERS = {"mpg": "mpeg", "wmv": "asf", "ts": "mpegts", "m2ts": "mpegts", "ogv": "ogg"}
TELLING = {
    "H.264, open groups": "ts avi",
    "H.264, intra refresh": "mp4",
    "MPEG-2, open groups": "mpg wmv",
    "MPEG-4, open groups": "avi",
}


def ffmpeg(*arguments: object) -> None:
    subprocess.run(["ffmpeg", "-nostdin", "-y", "-v", "error", *map(str, arguments)], check=True, capture_output=True)


def recorded(folder: Path, name: str, containers: Sequence[str]) -> dict[Path, list[str]]:
    """One recording in each container, and the hashes of all its frames as FFmpeg decodes each file from end to end."""
    options = RECORDINGS[name][1].split()
    rate = "30000/1001" if "30000/1001" in options else "25"
    pixels = [] if "-pix_fmt" in options else ["-pix_fmt", "yuv420p"]
    made = folder / "made.nut"
    ffmpeg("-f", "lavfi", "-i", f"testsrc2=s=128x96:r={rate}", "-frames:v", FRAMES, *pixels, *options, made)
    # MPEG-4's header is in the file's, which MPEG-TS has none of.
    repeated = ["-bsf:v", "dump_extra"] if "mpeg4" in options else []
    outputs: list[object] = []
    for container in containers:
        outputs += ["-c", "copy", *(repeated if container in ("ts", "m2ts") else [])]
        outputs += ["-mpegts_m2ts_mode", "1"] if container == "m2ts" else []
        outputs += ["-f", MUXERS[container]] if container in MUXERS else []
        outputs.append(folder / f"a.{container}")
    ffmpeg("-i", made, *outputs)
    files = [folder / f"a.{container}" for container in containers]
    inputs = [part for file in files for part in ("-i", file)]
    hashes = [
        part
        for place, file in enumerate(files)
        for part in ("-map", f"{place}:v", "-fps_mode", "passthrough", "-f", "framemd5", f"{file}.md5")
    ]
    ffmpeg(*inputs, *hashes)
    return {
        file: [line.split(",")[5].strip() for line in Path(f"{file}.md5").read_text().splitlines() if line[0] != "#"]
        for file in files
    }


def hash_of(picture: VideoFrame) -> str:
    """MD5 of the picture in its own pixel format, as FFmpeg's framemd5 has it."""
    digest = hashlib.md5(usedforsecurity=False)
    for plane, component in zip(picture.planes, picture.format.components, strict=True):
        width = component.width * (1 if component.bits <= 8 else 2)
        lines = memoryview(plane)
        for line in range(component.height):
            digest.update(lines[line * plane.line_size :][:width])
    return digest.hexdigest()


def shown(file: Path, start_s: float, end_s: float) -> tuple[list[str], list[float], str | None]:
    """Hashes and times of the frames of a moment, and what is said of damage."""
    with opened(file) as container:
        span = FrameSpan(container, picture_stream(container, file), start_s, end_s)
        frames = [(hash_of(frame.picture), float(frame.time_s)) for frame in span]
    return [one for one, _ in frames], [time_s for _, time_s in frames], span.damage


def differences(file: Path, hashes: list[str], rate: Fraction) -> list[str]:
    """Where what we show differs from the full decoding; nothing where it is the same."""
    if len(set(hashes)) != FRAMES:
        return [f"FFmpeg decodes {len(set(hashes))} different frames"]
    found = []
    try:
        facts = probe(file)
        # Rates are whole, and times may be milliseconds.
        damage = facts.damage or damage_inside(file)
        if abs(facts.duration_s - FRAMES / rate) > 1.5 / rate or damage:
            found.append(f"measured {facts.duration_s} s, {damage}")
        for first, after in MOMENTS:
            # A quarter of a frame early, so that rounding to a millisecond decides nothing.
            start_s, end_s = (max(0.0, float((place - Fraction(1, 4)) / rate)) for place in (first, after))
            got, times_s, damage = shown(file, start_s, end_s)
            places = [hashes.index(one) if one in hashes else None for one in got]
            if places != list(range(first, after)) or damage:
                found.append(f"frames {first} to {after - 1} are {places} at {times_s[:1]}, {damage}")
    except VideoUnreadable as refusal:
        found.append(str(refusal))
    return found


def rate_of(name: str) -> Fraction:
    return Fraction(30000, 1001) if "30000/1001" in RECORDINGS[name][1] else RATE


@needs_ffmpeg
@pytest.mark.parametrize("name", TELLING)
def test_the_most_telling_show_the_frames_of_a_full_decoding(tmp_path: Path, name: str) -> None:
    for file, hashes in recorded(tmp_path, name, TELLING[name].split()).items():
        assert not differences(file, hashes, rate_of(name)), file.name


@needs_ffmpeg
@pytest.mark.long
@pytest.mark.parametrize("name", RECORDINGS)
def test_moments_show_the_frames_of_a_full_decoding(tmp_path: Path, name: str) -> None:
    found = {
        file.suffix: differences(file, hashes, rate_of(name))
        for file, hashes in recorded(tmp_path, name, RECORDINGS[name][0].split()).items()
    }
    assert not {suffix: what for suffix, what in found.items() if what}


CONTAINERS = {
    "MP4": "mp4",
    "MOV": "mov",
    "Matroska (`.mkv`)": "mkv",
    "WebM": "webm",
    "AVI": "avi",
    "Flash (`.flv`)": "flv",
    "Windows Media (`.wmv`)": "wmv",
    "MPEG-TS (`.ts`)": "ts",
    "MPEG-TS (`.m2ts`, `.mts`)": "m2ts",
    "MPEG-PS (`.mpg`)": "mpg",
    "DVD (`.vob`)": "vob",
    "3GP": "3gp",
    "Ogg (`.ogv`)": "ogv",
}


def test_the_documentation_has_the_same_table() -> None:
    for container, suffix in CONTAINERS.items():
        codecs = [name for name, (suffixes, _) in RECORDINGS.items() if suffix in suffixes.split()]
        tried = dict.fromkeys(name.partition(",")[0].removesuffix(" without B-frames") for name in codecs)
        assert f"| {container} | {', '.join(tried)} |" in FORMATS


REFUSED = {
    "MXF, NUT, RealMedia, GIF": ("a.mxf", "-c:v mpeg2video", "is not a video file"),
    "H.264 without a container": ("a.h264", f"{X264} -f h264", "is not a video file"),
    "sound alone": ("a.mp4", "-map 1 -c:a aac", "holds sound but no picture"),
}
"""What is refused: the file, how FFmpeg is told to make it, and what is said of it."""


@needs_ffmpeg
@pytest.mark.long
@pytest.mark.parametrize("what", REFUSED)
def test_what_is_refused_is_documented_with_its_words(tmp_path: Path, what: str) -> None:
    name, options, words = REFUSED[what]
    sources = ("-f", "lavfi", "-i", "testsrc2=s=128x96:r=25:d=1", "-f", "lavfi", "-i", "sine=d=1")
    picture = () if "-map" in options else ("-map", 0, "-pix_fmt", "yuv420p")
    ffmpeg(*sources, *picture, *options.split(), tmp_path / name)
    with pytest.raises(VideoUnreadable, match=f"^{name} {words}$"):
        cut(tmp_path / name, 0.0, 0.5, tmp_path / "clip.mp4")
    assert f"| {what} | {words} |" in FORMATS
