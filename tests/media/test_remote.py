"""Videos at addresses: the same as the file, at the price of what is needed."""

import shutil
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path

import av
import numpy as np
import pytest

from backend.core.addresses import Address
from backend.core.errors import InputError, StorageUnavailable, VideoUnreadable
from backend.media import remote, video_folder
from backend.media.cut import cut
from backend.media.probe import probe
from backend.media.remote import listed
from backend.media.video_folder import RemoteFolder, VideoFolder
from range_server import Ranges, serving
from s3_server import S3, serving_s3

DEMO = Path(__file__).parents[2] / "assets" / "demo"
SECONDS = 180


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Long, large enough that a part of it is a small part, its index at the end."""
    at = tmp_path_factory.mktemp("served")
    shutil.copy(DEMO / "dog_dinner.mp4", at)
    (at / "text.mp4").write_text("no video")
    noise = np.random.default_rng(7).integers(0, 255, (4, 120, 160, 3), dtype=np.uint8)
    with av.open(str(at / "long.mp4"), "w") as out:
        stream = out.add_stream("mjpeg", rate=10, options={"q:v": "2"})
        stream.width, stream.height, stream.pix_fmt = 160, 120, "yuvj420p"
        for place in range(10 * SECONDS):
            frame = av.VideoFrame.from_ndarray(noise[place % 4], "rgb24")
            frame.pts, frame.time_base = place, Fraction(1, 10)
            out.mux(stream.encode(frame))
        out.mux(stream.encode())
    return at


@pytest.fixture
def web(folder: Path) -> Iterator[Ranges]:
    with serving(folder) as served:
        yield served


@pytest.mark.parametrize("name", ["dog_dinner.mp4", "long.mp4"])
def test_a_video_at_an_address_is_measured_like_the_file(web: Ranges, folder: Path, name: str) -> None:
    there, here = probe(Address(f"{web.address}/{name}")), probe(folder / name)
    same = ("fps", "duration_s", "width_px", "height_px", "has_audio", "codec", "frames", "damage", "size_bytes")
    assert [getattr(there, one) for one in same] == [getattr(here, one) for one in same]
    assert there.path == f"{web.address}/{name}"


def test_measuring_and_cutting_read_a_small_part(web: Ranges, folder: Path, tmp_path: Path) -> None:
    size = (folder / "long.mp4").stat().st_size
    address = Address(f"{web.address}/long.mp4")
    probe(address)
    assert web.sent < size / 5
    web.sent = 0
    cut(address, 30.0, 31.0, tmp_path / "there.mp4")
    assert web.sent < size / 5
    cut(folder / "long.mp4", 30.0, 31.0, tmp_path / "here.mp4")
    assert (tmp_path / "there.mp4").read_bytes() == (tmp_path / "here.mp4").read_bytes()


def test_of_a_bucket_a_small_part_is_read_too(s3: S3, folder: Path, tmp_path: Path) -> None:
    content = (folder / "long.mp4").read_bytes()
    s3.fill(bucket := s3.bucket("long"), {"long.mp4": content})
    address = Address(f"{bucket}/long.mp4")
    probe(address)
    assert 0 < s3.sent < len(content) / 5
    s3.sent = 0
    cut(address, 30.0, 31.0, tmp_path / "clip.mp4")
    assert 0 < s3.sent < len(content) / 5


def test_what_is_not_there_and_what_is_no_video_is_told(web: Ranges) -> None:
    with pytest.raises(VideoUnreadable, match=r"there is nothing at http://127.*/gone.mp4"):
        probe(Address(f"{web.address}/gone.mp4"))
    with pytest.raises(VideoUnreadable, match=r"text.mp4 is not a video file"):
        probe(Address(f"{web.address}/text.mp4"))


def test_keys_that_do_not_suffice_are_no_fault_of_the_video(web: Ranges) -> None:
    web.refuse = 403
    with pytest.raises(StorageUnavailable, match="cannot be read with the keys"):
        probe(Address(f"{web.address}/long.mp4"))


def test_a_network_that_goes_in_the_middle_leaves_no_clip(
    web: Ranges, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:

    real = remote.RemoteFile._fetch

    def failing(self: remote.RemoteFile, number: int) -> bytes:
        if self.fetched:
            web.refuse = 403
        return real(self, number)

    monkeypatch.setattr(remote.RemoteFile, "_fetch", failing)
    with pytest.raises(StorageUnavailable):
        cut(Address(f"{web.address}/long.mp4"), 30.0, 31.0, tmp_path / "clip.mp4")
    assert list(tmp_path.iterdir()) == []


def test_a_list_names_the_videos_of_a_web_server(web: Ranges, folder: Path) -> None:
    (folder / "all.txt").write_text(f"# ours\nlong.mp4\n\n{web.address}/dog_dinner.mp4\n")
    videos = RemoteFolder(Address(f"{web.address}/all.txt"))
    assert videos.named() == {name: Address(f"{web.address}/{name}.mp4") for name in ("dog_dinner", "long")}
    assert videos.find("long") == videos.find("long.avi") == Address(f"{web.address}/long.mp4")
    with pytest.raises(VideoUnreadable, match="cat: no video in"):
        videos.find("cat")
    with pytest.raises(InputError, match="does not list files"):
        RemoteFolder(Address(web.address))


def test_names_at_addresses_are_compared_in_their_composed_form(monkeypatch: pytest.MonkeyPatch) -> None:
    keys = ["cafe\u0301.mp4", "\u1112\u1161\u11ab/u\u0308.webm"]
    monkeypatch.setattr(video_folder, "listed", lambda at: keys)
    bucket = Address("s3://lab/videos")
    there = RemoteFolder(bucket)
    assert there.find("caf\u00e9") == there.find("cafe\u0301.avi") == bucket.joined(keys[0])
    assert there.find("\ud55c/\u00fc.webm") == there.find("\u00fc") == bucket.joined(keys[1])
    assert list(there.named()) == ["caf\u00e9", "\ud55c/\u00fc"]
    keys.append("caf\u00e9.mp4")
    with pytest.raises(VideoUnreadable, match="differ only in how Unicode writes its letters"):
        RemoteFolder(bucket).find("caf\u00e9")
    monkeypatch.setattr(video_folder, "whole", lambda at: b"caf%C3%A9.mp4\nA%CC%88rger.mp4\n")
    listed = RemoteFolder(Address("https://lab.example/list.txt"))
    assert listed.find("cafe\u0301") == Address("https://lab.example/caf%C3%A9.mp4")
    assert listed.find("\u00c4rger.mp4") == Address("https://lab.example/A%CC%88rger.mp4")


FILES = ("party/dog_dinner.mp4", "old/dog_dinner.mp4", "moving_boxes.mp4", ".hidden.mp4", "read me.txt")


@pytest.fixture(scope="module")
def shelf(tmp_path_factory: pytest.TempPathFactory) -> Path:
    at = tmp_path_factory.mktemp("videos")
    for name in FILES:
        (at / name).parent.mkdir(exist_ok=True)
        shutil.copy(DEMO / "dog_dinner.mp4", at / name)
    return at


@pytest.fixture
def s3(monkeypatch: pytest.MonkeyPatch) -> Iterator[S3]:
    with serving_s3() as served:
        for name, value in served.environ.items():
            monkeypatch.setenv(name, value)
        yield served


def test_a_prefix_of_a_bucket_is_a_folder(s3: S3, shelf: Path, tmp_path: Path) -> None:
    bucket = s3.bucket("lab")
    s3.fill(bucket, {f"some videos/{name}": (shelf / name).read_bytes() for name in FILES})
    s3.fill(bucket, {"some videos of others/cat.mp4": b""})
    address = Address(f"{bucket}/some videos")
    assert listed(address) == sorted(FILES)
    there, here = RemoteFolder(address), VideoFolder(shelf)
    assert {name: str(at)[len(str(address)) + 1 :] for name, at in there.named().items()} == {
        name: path.relative_to(shelf).as_posix() for name, path in here.named().items()
    }
    for finding in (there, here):
        with pytest.raises(VideoUnreadable, match=r"several video(s| files) have that name"):
            finding.find("dog_dinner")
    boxes = there.find("moving_boxes.mp4")
    same = ("fps", "duration_s", "width_px", "height_px", "has_audio", "codec", "frames", "damage", "size_bytes")
    measured = [probe(one) for one in (boxes, shelf / "moving_boxes.mp4")]
    assert [getattr(measured[0], one) for one in same] == [getattr(measured[1], one) for one in same]
    cut(boxes, 1.0, 2.0, tmp_path / "there.mp4")
    cut(shelf / "moving_boxes.mp4", 1.0, 2.0, tmp_path / "here.mp4")
    assert (tmp_path / "there.mp4").read_bytes() == (tmp_path / "here.mp4").read_bytes()


def test_a_bucket_that_is_none_and_keys_that_do_not_suffice_are_told_apart(s3: S3) -> None:
    none = f"s3://none-of-these-{s3.port}"
    with pytest.raises(
        StorageUnavailable, match=f"^{none}/season cannot be listed: the bucket {none} does not exist, or"
    ):
        listed(Address(f"{none}/season"))
    bucket = s3.bucket("lab")
    s3.refuse = 403
    with pytest.raises(StorageUnavailable, match=f"^{bucket} cannot be read with the keys"):
        listed(Address(bucket))
