"""Videos in a bucket: listed, found, measured and cut as those of a folder."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from backend.core.addresses import Address
from backend.core.errors import StorageUnavailable, VideoUnreadable
from backend.media.cut import cut
from backend.media.probe import probe
from backend.media.remote import listed
from backend.media.video_folder import RemoteFolder, VideoFolder
from s3_server import S3, serving_s3

DEMO = Path(__file__).parents[2] / "assets" / "demo"
FILES = ("party/dog_dinner.mp4", "old/dog_dinner.mp4", "moving_boxes.mp4", ".hidden.mp4", "read me.txt")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
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


def test_a_prefix_of_a_bucket_is_a_folder(s3: S3, folder: Path, tmp_path: Path) -> None:
    bucket = s3.bucket("lab")
    s3.fill(bucket, {f"some videos/{name}": (folder / name).read_bytes() for name in FILES})
    s3.fill(bucket, {"some videos of others/cat.mp4": b""})
    address = Address(f"{bucket}/some videos")
    assert listed(address) == sorted(FILES)
    there, here = RemoteFolder(address), VideoFolder(folder)
    assert {name: str(at)[len(str(address)) + 1 :] for name, at in there.named().items()} == {
        name: path.relative_to(folder).as_posix() for name, path in here.named().items()
    }
    for finding in (there, here):
        with pytest.raises(VideoUnreadable, match=r"several video(s| files) of that name"):
            finding.find("dog_dinner")
    boxes = there.find("moving_boxes.mp4")
    same = ("fps", "duration_s", "width_px", "height_px", "has_audio", "codec", "frames", "damage", "size_bytes")
    measured = [probe(one) for one in (boxes, folder / "moving_boxes.mp4")]
    assert [getattr(measured[0], one) for one in same] == [getattr(measured[1], one) for one in same]
    cut(boxes, 1.0, 2.0, tmp_path / "there.mp4")
    cut(folder / "moving_boxes.mp4", 1.0, 2.0, tmp_path / "here.mp4")
    assert (tmp_path / "there.mp4").read_bytes() == (tmp_path / "here.mp4").read_bytes()


def test_a_bucket_that_is_none_and_keys_that_do_not_suffice_are_told_apart(s3: S3) -> None:
    none = f"s3://none-of-these-{s3.port}"
    with pytest.raises(StorageUnavailable, match=f"^{none}/season cannot be listed: there is no bucket {none}, or"):
        listed(Address(f"{none}/season"))
    bucket = s3.bucket("lab")
    s3.refuse = 403
    with pytest.raises(StorageUnavailable, match=f"^{bucket} may not be read with the keys"):
        listed(Address(bucket))
