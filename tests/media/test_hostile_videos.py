"""Files made to do harm, named like videos: each is refused by its name or shown, and opens nothing but itself."""

import os
import random
import signal
import struct
import threading
from collections.abc import Callable
from pathlib import Path

import av
import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from backend.core import parallel, processes
from backend.core.errors import VideoUnreadable
from backend.core.where import Where
from backend.media import decode, limits
from backend.media.cut import cut
from backend.media.decode import opened
from backend.media.limits import LARGEST_PIXELS, within_bounds
from backend.media.probe import damage_inside, probe, survey
from backend.media.sources import FrameFolder
from backend.media.together import cut as cut_apart
from scored import write_video

HEADS = {b"mvhd": 100, b"tkhd": 84, b"mdhd": 24, b"stsd": 160, b"stts": 16, b"ctts": 16, b"stsz": 16, b"stco": 12}
"""Boxes of an MP4 file that say sizes, durations, rates and places, and how many bytes of them may be made to lie."""


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    return write_video(tmp_path_factory.mktemp("small") / "a.mp4", 2).read_bytes()


def damaged(video: bytes, seed: int) -> bytes:
    """The video with one of the faults that fuzzers make, the same for the same seed."""
    draw = random.Random(seed)
    data = bytearray(video)
    how = seed % 4
    if how == 0:
        return bytes(data[: draw.randrange(len(data))])
    if how == 1:
        for _ in range(draw.choice([1, 10, 200])):
            data[draw.randrange(len(data))] ^= 1 << draw.randrange(8)
    elif how == 2:
        for name in draw.sample(sorted(HEADS), 3):
            at = data.find(name)
            if at >= 0:
                place = at + 4 + draw.randrange(HEADS[name])
                data[place : place + 4] = struct.pack(">I", draw.choice([0, 1, 2**31 - 1, 2**31, 2**32 - 1]))
    else:
        at, length = draw.randrange(len(data)), draw.randrange(1, 5000)
        data[at : at + length] = draw.randbytes(draw.randrange(2 * length))
    return bytes(data)


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**32))
@example(274).via("colours that no filter knows")
def test_whatever_is_wrong_with_a_file_it_is_refused_by_its_name_or_becomes_a_clip(
    small: bytes, tmp_path_factory: pytest.TempPathFactory, seed: int
) -> None:
    folder = tmp_path_factory.getbasetemp() / "fuzzed"
    folder.mkdir(exist_ok=True)
    path, out = folder / "odd.mp4", folder / "clip.mp4"
    path.write_bytes(damaged(small, seed))
    out.unlink(missing_ok=True)
    refusals: list[VideoUnreadable] = []
    try:
        facts = probe(path)
        damage_inside(path)
    except VideoUnreadable as refusal:
        refusals.append(refusal)
    else:
        assert facts.width_px * facts.height_px <= LARGEST_PIXELS
        assert np.isfinite([facts.duration_s, float(facts.fps)]).all()
        assert facts.fps > 0
    try:
        report = cut(path, 0.5, 1.5, out)
    except VideoUnreadable as refusal:
        refusals.append(refusal)
        left = list(folder.glob("clip.mp4*"))
        assert not left
    else:
        with av.open(str(out)) as clip:
            assert clip.streams.video[0].frames == report.frames
    assert all(str(one).startswith("odd.mp4") for one in refusals)


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("list.mp4", "ffconcat version 1.0\nfile secret.mp4\n"),
        ("list.mkv", "#EXTM3U\n#EXT-X-TARGETDURATION:60\n#EXTINF:10,\n{there}/secret.mp4\n#EXT-X-ENDLIST\n"),
        ("list.webm", "#EXTM3U\n#EXT-X-TARGETDURATION:60\n#EXTINF:10,\n{address}/secret.ts\n#EXT-X-ENDLIST\n"),
        ("list.mov", "v=0\no=- 0 0 IN IP4 127.0.0.1\ns=x\nc=IN IP4 127.0.0.1\nt=0 0\nm=video 5004 RTP/AVP 96\n"),
        ("list.avi", "<?xml version='1.0'?><MPD xmlns='urn:mpeg:dash:schema:mpd:2011' type='static'>"
         "<BaseURL>{address}</BaseURL></MPD>"),
    ],
)  # fmt: skip
def test_a_list_of_other_files_and_addresses_opens_none_of_them(
    small: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, says: str
) -> None:
    asked, address = listening()
    (tmp_path / "secret.mp4").write_bytes(small)
    (tmp_path / name).write_text(says.format(there=tmp_path, address=address))
    monkeypatch.chdir(tmp_path)
    for act in (probe, lambda path: cut(path, 0.0, 1.0, tmp_path / "clip.mp4")):
        with pytest.raises(VideoUnreadable, match=f"^{name} is not a video file"):
            act(Path(name))
    assert not (tmp_path / "clip.mp4").exists()
    assert not asked.is_set()


def listening() -> tuple[threading.Event, str]:
    """An address, and what is set once anybody comes there."""
    import socket

    door = socket.create_server(("127.0.0.1", 0))
    asked = threading.Event()

    def wait() -> None:
        door.accept()
        asked.set()

    threading.Thread(target=wait, daemon=True).start()
    return asked, f"http://127.0.0.1:{door.getsockname()[1]}"


@pytest.mark.parametrize("name", ["concat:secret.mp4", "subfile,,start,0,end,0,,:secret.mp4", "data:video,x.mp4"])
def test_a_name_that_looks_like_an_address_is_the_name_of_a_file(
    small: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("secret.mp4").write_bytes(small)
    with pytest.raises(VideoUnreadable, match="no video file in"):
        probe(Path(name))
    Path(name).write_bytes(small)
    assert probe(Path(name)).duration_s == pytest.approx(2)


def test_what_is_no_file_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.mp4")
    (tmp_path / "zeros.mp4").symlink_to("/dev/zero")
    for name in ("pipe.mp4", "zeros.mp4"):
        for act in (probe, lambda path: cut(path, 0.0, 1.0, tmp_path / "clip.mp4"), limits_read):
            with pytest.raises(VideoUnreadable, match=f"^{name} is not a video file"):
                act(tmp_path / name)


def limits_read(path: Path) -> object:
    from backend.media.content import sha256_of

    return sha256_of(path)


def test_a_picture_too_large_is_refused_before_it_is_decoded(
    small: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "huge.mp4"
    path.write_bytes(small)
    with opened(path) as container:
        width, height = container.streams.video[0].width, container.streams.video[0].height
    monkeypatch.setattr(limits, "LARGEST_PIXELS", width * height - 1)
    with pytest.raises(VideoUnreadable, match=f"^huge.mp4 has frames of {width} x {height}"):
        probe(path)


def test_a_frame_that_says_it_is_enormous_is_no_picture(tmp_path: Path) -> None:
    """The head of a PNG of 60,000 x 60,000 pixels, 14 GB unpacked, in some hundred bytes."""
    import zlib

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    head = struct.pack(">IIBBBBB", 60_000, 60_000, 8, 2, 0, 0, 0)
    folder = tmp_path / "frames"
    folder.mkdir()
    packed = chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(bytes(100_000))) + chunk(b"IEND", b"")
    (folder / "1.png").write_bytes(b"\x89PNG\r\n\x1a\n" + packed)
    with pytest.raises(VideoUnreadable, match=r"^frames is damaged: none of its frames can be shown"):
        probe(FrameFolder(folder))


def test_thousands_of_streams_are_refused_or_read(small: bytes, tmp_path: Path) -> None:
    def box(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", 8 + len(data)) + kind + data

    at = small.index(b"moov") - 4  # written last
    track = small.index(b"trak") - 4
    trak = small[track : track + int.from_bytes(small[track : track + 4])]
    path = tmp_path / "many.mp4"
    path.write_bytes(small[:at] + box(b"moov", small[at + 8 : track] + 3000 * trak))
    with pytest.raises(VideoUnreadable, match=r"^many.mp4 "):
        probe(path)


def spinning(_: object, source: Path) -> str:
    """What a video does that is made to be slow, or to fill the memory."""
    try:
        with within_bounds(source):
            if source.name == "stuck.mp4":
                stuck()
            if source.name == "eats.mp4":
                return str(len(bytearray(2 * processes.MEMORY_BYTES)))
            while True:
                pass
    except VideoUnreadable as refusal:
        return str(refusal)


def stuck() -> None:
    """A library that never comes back to be told: the handler of the first timer is gone."""
    signal.signal(signal.SIGVTALRM, signal.SIG_IGN)
    while True:
        pass


def test_slow_hungry_and_stuck_files_end_as_refusals(tmp_path: Path) -> None:
    names = ["slow.mp4", "eats.mp4", "stuck.mp4"]
    found = parallel.run_units(
        with_short_limits,
        None,
        [tmp_path / name for name in names],
        Where(1),
        apart=True,
        lost=lambda path, died: str(limits.too_heavy(path, died)),
    )
    told = dict(zip(names, found, strict=True))
    assert told["slow.mp4"].startswith("slow.mp4 takes more than 0 s of processor time to read: ")
    assert told["eats.mp4"].startswith("eats.mp4 takes more than 4 GiB of memory to read: ")
    assert told["stuck.mp4"].startswith("stuck.mp4 ends every process that reads it (SIGPROF")


def with_short_limits(shared: object, source: Path) -> str:
    limits.LEAST_CPU_S, processes.GRACE_S = 0.2, 0.3
    try:
        return spinning(shared, source)
    finally:
        limits.LEAST_CPU_S, processes.GRACE_S = 120.0, 10.0


def test_one_video_that_ends_the_process_leaves_the_others_measured(
    small: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    good, odd = tmp_path / "good.mp4", tmp_path / "kills.mp4"
    for path in (good, odd):
        path.write_bytes(small)
    monkeypatch.setattr("backend.media.probe._measured", measured_unless_it_kills)
    found = survey({"good": good, "odd": odd}, decode=False)
    assert list(found.facts) == ["good"]
    assert found.unreadable["odd"].startswith("kills.mp4 ends every process that reads it")


_measured: Callable[..., object] = __import__("backend.media.probe", fromlist=["_measured"])._measured


def measured_unless_it_kills(shared: object, video: Path) -> object:
    if video.name == "kills.mp4":
        os.kill(os.getpid(), signal.SIGPROF)
    return _measured(shared, video)


def test_a_clip_that_a_person_asks_for_is_cut_in_another_process(small: bytes, tmp_path: Path) -> None:
    (tmp_path / "a.mp4").write_bytes(small)
    report = cut_apart(tmp_path / "a.mp4", 0.0, 1.0, tmp_path / "clip.mp4")
    assert report.duration_s == pytest.approx(1)
    (tmp_path / "text.mp4").write_text("<html>404 Not Found</html>")
    with pytest.raises(VideoUnreadable, match=r"^text.mp4 is not a video file"):
        cut_apart(tmp_path / "text.mp4", 0.0, 1.0, tmp_path / "other.mp4")


def test_a_moment_after_the_end_of_time_is_after_the_end(small: bytes, tmp_path: Path) -> None:
    """FFmpeg counts in 64 bits; what lies beyond is no crash."""
    (tmp_path / "a.mp4").write_bytes(small)
    with pytest.raises(VideoUnreadable, match="before the moment"):
        cut(tmp_path / "a.mp4", 1e200, 1e201, tmp_path / "clip.mp4")
    assert decode._LAST_TICK < 2**63
