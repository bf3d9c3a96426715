"""Clips in a bucket of several front ends: cut once among them, and nobody is kept waiting when it is away."""

from collections.abc import Iterator
from pathlib import Path
from urllib.parse import parse_qs, urlsplit
from urllib.request import Request, urlopen

import pytest
from obstore.exceptions import GenericError

from backend.core.addresses import Address
from backend.media import clip_bucket, clips
from backend.media.clip_bucket import AWAY_S, troubles
from backend.media.clips import ensure
from backend.media.content import sha256_of
from backend.media.jobs import ClipCache, ClipJob, clip_job, storyboard
from backend.media.together import cut_ahead
from s3_server import S3, serving_s3
from scored import write_video

pytestmark = pytest.mark.long

NOW = 1_790_000_000.0


@pytest.fixture(scope="module")
def s3() -> Iterator[S3]:
    with serving_s3() as served, pytest.MonkeyPatch.context() as environment:
        for name, value in served.environ.items():
            environment.setenv(name, value)
        yield served


@pytest.fixture
def bucket(s3: S3, request: pytest.FixtureRequest) -> Iterator[Address]:
    s3.refuse = 0
    number = sum(map(ord, request.node.name))
    yield Address(f"{s3.bucket(f'clips{number}')}/shared")
    s3.refuse = 0


@pytest.fixture(scope="module")
def video(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_video(tmp_path_factory.mktemp("videos") / "dinner_at_monicas.mp4", 20)


@pytest.fixture
def cuts(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Where each clip begins that was cut."""
    real, done = clips.cut, []

    def counting(source: Path, start_s: float, *rest: object) -> object:
        done.append(start_s)
        return real(source, start_s, *rest)  # type: ignore[arg-type]

    monkeypatch.setattr(clips, "cut", counting)
    return done


def job_of(folder: Path, bucket: Address, video: Path, start_s: float = 1.0, signed_s: float = 0.0) -> ClipJob:
    """The same clip, asked for at the front end that has `folder`."""
    cache = ClipCache(folder / "clips", bucket=bucket, signed_s=signed_s)
    return clip_job(cache, video, start_s, start_s + 2, sha256_of(video))


def had(job: ClipJob, at: float = NOW) -> bytes:
    return ensure(job, lambda: at).read_bytes()


def test_what_one_front_end_has_cut_another_does_not(
    s3: S3, bucket: Address, video: Path, cuts: list[float], tmp_path: Path
) -> None:
    ours, theirs = job_of(tmp_path / "a", bucket, video), job_of(tmp_path / "b", bucket, video)
    s3.asked.clear()
    assert had(ours) == had(theirs)
    assert cuts == [1.0]
    assert had(storyboard(ours)) == had(storyboard(theirs))
    key = f"/{bucket.root.removeprefix('s3://')}/shared/"
    put = [place for method, place, _ in s3.asked if method == "PUT"]
    assert put == [f"{key}{ours.path.name}", f"{key}{storyboard(ours).path.name}"]
    assert "dinner" not in str(s3.asked), "nothing there names a video"
    assert troubles(ours.cache) == troubles(theirs.cache) == []
    s3.asked.clear()
    had(theirs)
    assert s3.asked == [], "what lies in the folder is not asked for"


def test_away_it_is_told_and_left_alone_and_clips_are_cut(
    s3: S3, bucket: Address, video: Path, cuts: list[float], tmp_path: Path
) -> None:
    first, second, third = (job_of(tmp_path, bucket, video, start) for start in (1.0, 2.0, 3.0))
    s3.refuse = 503
    assert had(first)
    (told,) = troubles(first.cache)
    assert told.startswith(f"{bucket} cannot be reached")
    assert "each front end cuts its own clips" in told
    s3.asked.clear()
    assert had(second, NOW + AWAY_S - 1)
    assert s3.asked == []
    assert cuts == [1.0, 2.0]
    s3.refuse = 0
    assert had(third, NOW + AWAY_S + 1)
    assert troubles(first.cache) == []
    again = job_of(tmp_path / "other", bucket, video, 3.0)
    assert had(again)
    assert cuts == [1.0, 2.0, 3.0]


def test_without_such_a_bucket_clips_are_cut_and_that_is_told(
    s3: S3, bucket: Address, video: Path, tmp_path: Path
) -> None:
    job = job_of(tmp_path, Address(f"s3://nowhere-{s3.port}"), video)
    assert had(job)
    (told,) = troubles(job.cache)
    assert told.startswith(f"There is no bucket s3://nowhere-{s3.port}.")
    assert "`reelrank clips DIR`" in told
    clip_bucket.check_now(job.cache, NOW)
    assert len(troubles(job.cache)) == 2


def test_keys_that_do_not_suffice_are_told_without_them(s3: S3, bucket: Address, video: Path, tmp_path: Path) -> None:
    job = job_of(tmp_path, bucket, video)
    s3.refuse = 403
    assert had(job)
    (told,) = troubles(job.cache)
    assert told.startswith(f"{bucket} cannot be read with the keys of this process")


def test_a_network_that_goes_in_the_middle_leaves_nothing_half(
    bucket: Address, video: Path, cuts: list[float], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = had(job_of(tmp_path / "a", bucket, video))

    class Going:
        def get(self, key: str) -> "Going":
            return self

        def stream(self) -> Iterator[bytes]:
            yield whole[:100]
            raise GenericError("connection reset")

    monkeypatch.setattr(clip_bucket, "store_at", lambda root, hurried: Going())
    job = job_of(tmp_path / "b", bucket, video)
    assert had(job) == whole
    assert cuts == [1.0, 1.0]
    assert [path.name for path in job.cache.folder.iterdir()] == [job.path.name]


def test_a_signed_address_shows_the_clip_and_tells_its_name_alone(
    s3: S3, bucket: Address, video: Path, tmp_path: Path
) -> None:
    job = job_of(tmp_path, bucket, video, signed_s=60.0)
    assert clip_bucket.signed(job, NOW) is None, "nothing is there yet"
    clip = had(job)
    address = clip_bucket.signed(job, NOW)
    assert address is not None
    at, asked = urlsplit(address), parse_qs(urlsplit(address).query)
    assert (
        f"{at.scheme}://{at.netloc}{at.path}"
        == f"{s3.endpoint}/{bucket.root.removeprefix('s3://')}/shared/{job.path.name}"
    )
    assert asked["X-Amz-Expires"] == ["60"]
    assert {name for name in asked if not name.startswith("X-Amz-")} == set()
    with urlopen(Request(address, headers={"Range": "bytes=10-19"})) as answer:
        assert (answer.status, answer.read()) == (206, clip[10:20])
        assert answer.headers["content-type"] == "video/mp4"
    s3.refuse = 503
    assert clip_bucket.signed(job, NOW) is None


def test_cutting_ahead_takes_what_is_there_and_puts_what_is_not(
    s3: S3, bucket: Address, video: Path, tmp_path: Path
) -> None:
    ours = [job_of(tmp_path / "a", bucket, video, start) for start in (0.0, 1.0, 5.0)]
    s3.refuse = 503
    first = cut_ahead(ours[:2])
    assert (first.cut, first.shared, first.stored) == (2, 0, 0)
    assert troubles(ours[0].cache)
    for note in tmp_path.glob("a/clips-bucket-*.txt"):
        note.unlink()  # half a minute later
    s3.refuse = 0
    then = cut_ahead(ours)
    assert (then.there, then.stored, then.cut, then.shared) == (2, 2, 1, 0)
    theirs = [job_of(tmp_path / "b", bucket, video, start) for start in (0.0, 1.0, 5.0, 6.0)]
    told = cut_ahead(theirs)
    assert (told.there, told.cut, told.shared, told.left, told.failed) == (0, 1, 3, 0, ())
    assert [job.path.read_bytes() for job in theirs[:3]] == [job.path.read_bytes() for job in ours]
    assert cut_ahead(ours).stored == 0
    sent_to = [job_of(tmp_path / "c", bucket, video, 6.0, signed_s=60.0)]
    told = cut_ahead(sent_to)
    assert (told.cut, told.shared, sent_to[0].path.exists()) == (0, 1, False), "browsers have it from the bucket"
