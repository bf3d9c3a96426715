"""Measuring videos and finding them; expected values are those that the files were written with."""

import hashlib
from fractions import Fraction
from pathlib import Path

import av
import numpy as np
import pytest

from backend.core.errors import VideoUnreadable
from backend.media.probe import probe
from backend.media.video_folder import VideoFolder


def write_video(path: Path, frames: int = 10, fps: Fraction = Fraction(25), size: tuple[int, int] = (64, 48)) -> Path:
    with av.open(str(path), "w") as out:
        stream = out.add_stream("libx264", rate=fps)
        stream.width, stream.height, stream.pix_fmt = *size, "yuv420p"
        for number in range(frames):
            # Noise, so that a cut through the middle of the file is a cut through pictures.
            noise = np.random.default_rng(number).integers(0, 255, (size[1], size[0], 3), dtype=np.uint8)
            out.mux(stream.encode(av.VideoFrame.from_ndarray(noise, format="rgb24")))
        out.mux(stream.encode(None))
    return path


def write_sound(path: Path) -> Path:
    with av.open(str(path), "w") as out:
        stream = out.add_stream("aac", rate=16_000)
        frame = av.AudioFrame.from_ndarray(np.zeros((1, 16_000), dtype=np.float32), format="fltp", layout="mono")
        frame.sample_rate = 16_000
        out.mux(stream.encode(frame))
        out.mux(stream.encode(None))
    return path


@pytest.mark.parametrize("fps", [Fraction(25), Fraction(30000, 1001), Fraction(3), Fraction(24000, 1001)])
def test_the_frame_rate_is_an_exact_fraction_and_the_duration_is_frames_over_it(tmp_path: Path, fps: Fraction) -> None:
    facts = probe(write_video(tmp_path / "a.mp4", frames=12, fps=fps))
    assert facts.fps == fps
    assert facts.duration_s == pytest.approx(12 / fps, abs=1e-9)
    assert (facts.width_px, facts.height_px, facts.has_audio) == (64, 48, False)


def test_the_hash_is_that_of_the_bytes(tmp_path: Path) -> None:
    path = write_video(tmp_path / "a.mp4")
    assert probe(path).sha256 == hashlib.sha256(path.read_bytes()).hexdigest()


@pytest.mark.parametrize("suffix", [".mkv", ".avi", ".mov"])
def test_other_containers_are_measured_alike(tmp_path: Path, suffix: str) -> None:
    facts = probe(write_video(tmp_path / f"a{suffix}", frames=20))
    assert facts.fps == 25
    assert facts.duration_s == pytest.approx(0.8, abs=0.041 if suffix == ".avi" else 0.002)


def test_each_way_of_being_no_video_is_told_apart(tmp_path: Path) -> None:
    video = write_video(tmp_path / "good.mp4").read_bytes()
    index = video.index(b"moov") - 4  # written last
    (tmp_path / "text.mp4").write_text("<html>404 Not Found</html>")
    (tmp_path / "empty.mp4").write_bytes(b"")
    (tmp_path / "no_index.mp4").write_bytes(video[:index])
    (tmp_path / "half_index.mp4").write_bytes(video[: index + 200])
    (tmp_path / "bad_index.mp4").write_bytes(video[: index + 8] + b"\xff" * (len(video) - index - 8))
    write_sound(tmp_path / "sound.mp4")
    expected = {
        "text.mp4": "text.mp4 is not a video file",
        "empty.mp4": "empty.mp4 is not a video file",
        "no_index.mp4": "no_index.mp4 is incomplete (its index is missing): copy it again",
        "half_index.mp4": "half_index.mp4 is incomplete (its index is missing): copy it again",
        "bad_index.mp4": "bad_index.mp4 has a damaged index",
        "sound.mp4": "sound.mp4 holds sound but no picture",
        "absent.mp4": f"absent.mp4: no video file in {tmp_path}",
    }
    found = {}
    for name in expected:
        with pytest.raises(VideoUnreadable) as refusal:
            probe(tmp_path / name)
        found[name] = str(refusal.value)
    assert found == expected


def test_a_cut_off_copy_is_as_long_as_what_is_left_of_it(tmp_path: Path) -> None:
    path = tmp_path / "a.mp4"
    write_video(path, frames=50)
    with av.open(str(path)) as source, av.open(str(tmp_path / "b.mp4"), "w", options={"movflags": "+faststart"}) as out:
        copy = out.add_stream_from_template(source.streams.video[0])
        for packet in source.demux(source.streams.video[0]):
            if packet.dts is not None:
                packet.stream = copy
                out.mux(packet)
    whole = (tmp_path / "b.mp4").read_bytes()
    with av.open(str(tmp_path / "b.mp4")) as container:
        base = container.streams.video[0].time_base
        packets = [packet for packet in container.demux(video=0) if packet.pts is not None]
        lies = [(packet.pos + packet.size, packet.pts * base) for packet in packets]
    for left in range(len(whole) * 6 // 16, len(whole), len(whole) // 16):
        (tmp_path / "b.mp4").write_bytes(whole[:left])
        last_s = max(time_s for end, time_s in lies if end <= left)
        assert probe(tmp_path / "b.mp4").duration_s == pytest.approx(float(last_s) + 0.04)


@pytest.mark.parametrize(
    ("name", "fps", "duration_s", "size", "sound"),
    [  # from the manifest of the files, and of mirror_workers' two picture streams the larger
        ("dog_ball.mp4", Fraction(30000, 1001), 9.66, (1280, 720), True),
        ("mirror_workers.mp4", Fraction(30000, 1001), 13.06, (480, 270), True),
        ("table_visitors.mp4", Fraction(10), 139.4, (768, 432), False),
        ("edge/av1.mkv", Fraction(25), 5.0, (640, 360), False),
        ("edge/hevc.mp4", Fraction(10), 1.0, (128, 128), False),
        ("edge/rotated90.mov", Fraction(30), 0.1, (320, 568), False),
        ("edge/corrupted.mp4", Fraction(10), 5.0, (1280, 720), False),
    ],
)
def test_real_videos(
    shared: Path, name: str, fps: Fraction, duration_s: float, size: tuple[int, int], sound: bool
) -> None:
    facts = probe(shared / "data" / "videos" / name)
    assert (facts.fps, (facts.width_px, facts.height_px), facts.has_audio) == (fps, size, sound)
    # The manifest rounds, and counts sound that outlasts the picture.
    assert facts.duration_s == pytest.approx(duration_s, abs=0.06)


def touch(*paths: Path) -> None:
    for path in paths:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()


def test_a_video_is_found_with_and_without_extension_and_subfolder(tmp_path: Path) -> None:
    top, deep = tmp_path / "a.b.mp4", tmp_path / "x" / "y" / "deep.MKV"
    touch(top, deep, tmp_path / "._a.b.mp4", tmp_path / "notes.txt")
    folder = VideoFolder(tmp_path)
    assert {folder.find(name) for name in ("a.b.mp4", "a.b", "a.b.avi")} == {top}
    assert {folder.find(name) for name in ("deep.MKV", "deep", "x/y/deep", "x/y/deep.MKV", "deep.mp4")} == {deep}
    assert VideoFolder(tmp_path).find("deep") == deep
    for name in ("notes", "notes.txt", "a", "../a.b.mp4", ""):
        with pytest.raises(VideoUnreadable, match="no video file in"):
            folder.find(name)


def test_the_folder_itself_comes_before_its_subfolders_and_mp4_before_avi(tmp_path: Path) -> None:
    touch(tmp_path / "a.avi", tmp_path / "a.mp4", tmp_path / "x" / "a.mp4")
    assert VideoFolder(tmp_path).find("a") == tmp_path / "a.mp4"
    assert VideoFolder(tmp_path).find("a.avi") == tmp_path / "a.avi"


def test_files_of_cameras_are_found_as_they_are_and_as_mp4(tmp_path: Path) -> None:
    """The extensions of names in DiDeMo's files; its authors' script adds .mp4 to them."""
    names = [f"{number}@N00.{end}" for number, end in enumerate(["mpg", "wmv", "3gp", "3g2", "mts", "m2ts", "MOV"])]
    touch(*(tmp_path / name for name in names))
    assert [VideoFolder(tmp_path).find(name).name for name in names] == names
    script, own = tmp_path / "script", tmp_path / "own"
    touch(*(script / f"{name}.mp4" for name in names), *(own / f"{Path(name).stem}.mp4" for name in names))
    assert [VideoFolder(script).find(name).name for name in names] == [f"{name}.mp4" for name in names]
    assert [VideoFolder(own).find(name).name for name in names] == [f"{Path(name).stem}.mp4" for name in names]


def test_one_name_in_two_subfolders_is_refused_unless_the_folder_is_stated(tmp_path: Path) -> None:
    touch(tmp_path / "x" / "a.mp4", tmp_path / "y" / "a.mp4")
    with pytest.raises(VideoUnreadable, match=r"a: several video files .*: x/a\.mp4, y/a\.mp4"):
        VideoFolder(tmp_path).find("a")
    assert VideoFolder(tmp_path).find("y/a") == tmp_path / "y" / "a.mp4"


def test_a_missing_folder_holds_no_video(tmp_path: Path) -> None:
    with pytest.raises(VideoUnreadable, match=r"dog: no video file in .*nowhere"):
        VideoFolder(tmp_path / "nowhere").find("dog")


def test_a_title_in_another_encoding_does_not_matter(tmp_path: Path) -> None:
    path = write_video(tmp_path / "old.mp4")
    content = path.read_bytes()
    assert b"Lavf" in content
    path.write_bytes(content.replace(b"Lavf", b"L\xe4vf"))
    assert probe(path).duration_s == pytest.approx(0.4)


def test_links_out_of_a_folder_are_no_videos_of_it_and_are_named(tmp_path: Path) -> None:
    outside, folder = tmp_path / "outside", tmp_path / "folder"
    touch(outside / "private.mp4", outside / "frames" / "1.jpg", folder / "deep" / "own.mp4", folder / "blobs" / "b1")
    (folder / "a.mp4").symlink_to(outside / "private.mp4")
    (folder / "deep" / "frames").symlink_to(outside / "frames")
    (folder / "within.mp4").symlink_to("blobs/b1")
    (tmp_path / "named").symlink_to(folder)
    for named in (folder, tmp_path / "named"):
        found = VideoFolder(named)
        assert found.videos == {named / "deep" / "own.mp4", named / "within.mp4"}
        assert sorted(found.named()) == ["deep/own", "within"]
        assert found.links == (named / "a.mp4", named / "deep" / "frames")
        for name in ("a", "a.mp4", "a.avi", "frames", "deep/frames"):
            with pytest.raises(
                VideoUnreadable, match=rf"^{name}: is a link out of the folder, .*: put the file itself"
            ):
                found.find(name)
    touch(folder / "deep" / "a.mp4")
    assert VideoFolder(folder).find("a") == folder / "deep" / "a.mp4"


FORMS = [
    ("caf\u00e9", "cafe\u0301"),
    ("\ud55c\uad6d", "\u1112\u1161\u11ab\u1100\u116e\u11a8"),
    ("\u00c4rger", "A\u0308rger"),
    ("\u30ac", "\u30ab\u3099"),
]


@pytest.mark.parametrize(("composed", "decomposed"), FORMS)
def test_a_video_is_found_by_a_canonically_equal_name(tmp_path: Path, composed: str, decomposed: str) -> None:
    for on_disk, annotated in ((composed, decomposed), (decomposed, composed)):
        at = tmp_path / f"on disk {on_disk}"
        file, deep, frames = at / f"{on_disk}.mp4", at / on_disk / "deep.mkv", at / on_disk / f"f {on_disk}" / "1.jpg"
        touch(file, deep, frames)
        folder = VideoFolder(at)
        assert {folder.find(f"{annotated}{end}") for end in ("", ".mp4", ".avi")} == {file}
        assert folder.find(f"{annotated}/deep") == deep
        assert folder.find(f"f {annotated}") == frames.parent
        assert sorted(folder.named()) == [composed, f"{composed}/deep", f"{composed}/f {composed}"]
        assert folder.clashes == []


def test_two_files_whose_names_are_canonically_equal_are_refused(tmp_path: Path) -> None:
    touch(*(tmp_path / f"{name}.mp4" for name in FORMS[0]), tmp_path / "dog.mp4", tmp_path / "cafe\u0301.avi")
    folder = VideoFolder(tmp_path)
    for name in FORMS[0]:
        with pytest.raises(VideoUnreadable, match="differ only in how Unicode writes its letters: rename or remove"):
            folder.find(name)
    assert {path.name for path in folder.clashes} <= {f"{name}.mp4" for name in FORMS[0]}
    assert folder.clashes
    assert list(folder.named()) == ["dog"]
