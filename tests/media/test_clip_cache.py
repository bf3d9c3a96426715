"""The folder of clips: one cut for each clip whoever asks, nothing half-made, the least recently used go first."""

import errno
import multiprocessing
import os
import threading
from collections.abc import Callable
from pathlib import Path
from unittest.mock import patch

import cv2
import pytest

from backend.core.errors import NoRoom, VideoUnreadable
from backend.core.leftovers import part_of
from backend.media import clips, jobs
from backend.media.clips import ensure
from backend.media.cut import CutReport
from backend.media.jobs import (
    SAFE_AGE_S,
    ClipCache,
    ClipForm,
    ClipJob,
    Profile,
    clip_job,
    gif,
    predicted,
    storyboard,
    thumbnail,
    with_context,
)
from scored import write_video

NOW = 1_000_000_000.0
JOB = {"source": Path("a.mp4"), "start_s": 1.0, "end_s": 2.0, "identity": "abc"}


@pytest.fixture(autouse=True)
def _every_video_is_the_one_it_was(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(clips, "require_unchanged", lambda source, identity: None)


class Scissors:
    """Stands in for `cut`: writes so many bytes, and notes every cut in a file that processes share."""

    def __init__(self, log: Path, size: int = 100, seconds: float = 0.0) -> None:
        self.log, self.size, self.seconds = log, size, seconds

    def __call__(
        self, source: Path, start_s: float, end_s: float, out: Path, profile: Profile | None = None
    ) -> CutReport:
        with self.log.open("a") as log:
            log.write(f"{os.getpid()} {start_s}\n")
        threading.Event().wait(self.seconds)
        out.write_bytes(b"x" * self.size)
        return CutReport(1, end_s - start_s, ())

    def cuts(self) -> int:
        return len(self.log.read_text().splitlines()) if self.log.exists() else 0


def asked_for(cache: ClipCache, *starts: float) -> list[ClipJob]:
    return [clip_job(cache, Path("a.mp4"), start, 9.0, "abc") for start in starts]


def test_equal_requests_have_one_file_and_different_ones_their_own(tmp_path: Path) -> None:
    def name(cache: ClipCache = ClipCache(tmp_path), **changes: object) -> str:  # noqa: B008 - never changed
        return clip_job(cache, **{**JOB, **changes}).path.name  # type: ignore[arg-type]

    roomy = ClipCache(tmp_path, context_s=5.0, max_bytes=5)
    assert name() == name(source=Path("moved/a.mp4")) == name(start_s=1) == name(roomy)
    others = [ClipCache(tmp_path, Profile(ClipForm.WEBM)), ClipCache(tmp_path, Profile(height_px=360))]
    different = {
        *(name(), name(start_s=1.0000001), name(end_s=2.5), name(start_s=1.0, end_s=12.0), name(identity="abd")),
        *(name(cache) for cache in others),
    }
    assert len(different) == 7
    assert name(others[0]).endswith(".webm")


def test_clips_that_this_version_cut_are_found_again(tmp_path: Path) -> None:
    # By `openssl dgst -sha256 -hmac key` of a word, the profile, identity, start and end, a line each.
    name = "fb0807bbb0d6f1284128849f4c3c28231bfb4a19.mp4"
    assert clip_job(ClipCache(tmp_path, secret=b"key"), **JOB).path.name == name  # type: ignore[arg-type]


def test_another_secret_gives_other_names_to_all_that_is_made_of_a_moment(tmp_path: Path) -> None:
    made = (lambda job: job, storyboard, thumbnail, gif, predicted, lambda job: with_context(job, 60.0))
    names = [
        make(clip_job(ClipCache(tmp_path, secret=secret), **JOB)).path.name  # type: ignore[arg-type]
        for secret in (b"one", b"other")
        for make in made
    ]
    assert len(set(names)) == 2 * len(made)


@pytest.mark.parametrize(
    ("moment", "video_s", "span", "around"),
    [
        ((10.0, 14.0), 60.0, (8.0, 16.0), (2.0, 2.0)),
        ((0.5, 4.0), 60.0, (0.0, 6.0), (0.5, 2.0)),
        ((50.0, 59.25), 60.0, (48.0, 59.95), (2.0, 0.7)),  # what annotators are told has tenths of a second
        ((1.9371, 4.0), 60.0, (0.0371, 6.0), (1.9, 2.0)),
        ((50.0, 59.7), 60.0, (48.0, 60.0), (2.0, 0.3)),  # in floats, 60.0 - 59.7 is less than 0.3
        ((0.0, 60.0), 60.0, (0.0, 60.0), (0.0, 0.0)),
        ((50.0, 61.0), 60.0, (48.0, 61.0), (2.0, 0.0)),  # annotated past the end that was measured
    ],
)
def test_context_is_two_seconds_on_either_side_within_the_video(
    moment: tuple[float, float], video_s: float, span: tuple[float, float], around: tuple[float, float], tmp_path: Path
) -> None:
    job = clip_job(ClipCache(tmp_path, context_s=2.0), Path("a.mp4"), *moment, "abc")
    wide = with_context(job, video_s)
    assert (wide.start_s, wide.end_s) == span
    assert (wide.before_s, wide.after_s) == around
    assert (wide.source, wide.identity, wide.cache, wide.path.parent) == (Path("a.mp4"), "abc", job.cache, tmp_path)
    assert (wide.path == job.path) == (span == moment)
    assert (job.before_s, job.after_s) == (0.0, 0.0)


def test_a_clip_is_cut_once_and_then_only_marked_as_used(tmp_path: Path) -> None:
    job = clip_job(ClipCache(tmp_path / "clips"), **JOB)  # type: ignore[arg-type]
    scissors = Scissors(tmp_path / "log")
    with patch.object(clips, "cut", scissors):
        for at in (NOW, NOW + 50):
            assert ensure(job, lambda at=at: at) == job.path
            assert job.path.stat().st_mtime == at
    assert scissors.cuts() == 1
    assert [path.name for path in (tmp_path / "clips").iterdir()] == [job.path.name]


def _ask(job: ClipJob, scissors: Scissors, gate: "multiprocessing.synchronize.Barrier") -> None:
    gate.wait()
    with patch.object(clips, "cut", scissors):
        assert ensure(job).read_bytes() == b"x" * scissors.size


def test_four_processes_asking_at_once_cut_once(tmp_path: Path) -> None:
    jobs = asked_for(ClipCache(tmp_path / "clips"), 0, 0, 0, 0, 5)
    context = multiprocessing.get_context("fork")
    gate, scissors = context.Barrier(len(jobs)), Scissors(tmp_path / "log", seconds=0.3)
    processes = [context.Process(target=_ask, args=(job, scissors, gate)) for job in jobs]
    for process in processes:
        process.start()
    for process in processes:
        process.join(20)
    assert [process.exitcode for process in processes] == [0] * len(jobs)
    starts = sorted(line.split()[1] for line in (tmp_path / "log").read_text().splitlines())
    assert starts == ["0.0", "5.0"]
    assert {path.suffix for path in (tmp_path / "clips").iterdir()} == {".mp4"}


def test_threads_asking_at_once_cut_once(tmp_path: Path) -> None:
    job = clip_job(ClipCache(tmp_path / "clips"), **JOB)  # type: ignore[arg-type]
    scissors = Scissors(tmp_path / "log", seconds=0.05)
    with patch.object(clips, "cut", scissors):
        threads = [threading.Thread(target=ensure, args=(job,)) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(20)
    assert scissors.cuts() == 1


@pytest.mark.parametrize("made", [lambda job: job, storyboard, gif])
def test_what_cannot_be_made_leaves_nothing_and_may_be_tried_again(
    tmp_path: Path, made: Callable[[ClipJob], ClipJob]
) -> None:
    source = tmp_path / "a.mp4"
    source.write_text("not a video")
    job = made(clip_job(ClipCache(tmp_path / "clips"), source, 1.0, 2.0, "abc"))
    for _ in range(2):
        with pytest.raises(VideoUnreadable, match="is not a video file"):
            ensure(job)
    assert list((tmp_path / "clips").iterdir()) == []


def test_the_least_recently_used_go_first_and_only_as_many_as_needed(tmp_path: Path) -> None:
    with patch.object(clips, "cut", Scissors(tmp_path / "log", size=100)):
        jobs = asked_for(ClipCache(tmp_path / "clips", max_bytes=300), *range(4))
        for age, job in zip((4000, 3000, 2000), jobs, strict=False):
            ensure(job, lambda age=age: NOW - age)
        ensure(jobs[0], lambda: NOW - 1000)  # used again: now the second is the oldest
        ensure(jobs[3], lambda: NOW)
    assert [job.path.exists() for job in jobs] == [True, False, True, True]


def test_clips_of_predictions_count_and_go_like_the_others(tmp_path: Path) -> None:
    with patch.object(clips, "cut", Scissors(tmp_path / "log", size=100)):
        made = asked_for(ClipCache(tmp_path / "clips", max_bytes=200), *range(3))
        asked = [predicted(made[0]), made[1], predicted(made[2])]
        for age, job in zip((3000, 2000, 1000), asked, strict=True):
            ensure(job, lambda age=age: NOW - age)
    assert [job.path.exists() for job in asked] == [False, True, True]
    assert not made[0].path.exists()


def test_clips_from_before_the_clock_jumped_go_too(tmp_path: Path, jump: tuple[float, float]) -> None:
    before, after = jump
    with patch.object(clips, "cut", Scissors(tmp_path / "log", size=100)):
        jobs = asked_for(ClipCache(tmp_path / "clips", max_bytes=150), *range(3))
        ensure(jobs[0], lambda: before)
        left_over = jobs[1].path.with_name(f"{jobs[1].path.name}.1.2.part")
        left_over.write_bytes(b"of a process on another machine")
        os.utime(left_over, (before, before))
        ensure(jobs[1], lambda: after + 2 * SAFE_AGE_S + 1)
        ensure(jobs[2], lambda: after + 2 * SAFE_AGE_S + 1)
    assert [job.path.exists() for job in jobs] == [False, True, True]
    assert not left_over.exists()


def test_what_may_be_on_a_screen_stays_whatever_the_size(tmp_path: Path) -> None:
    with patch.object(clips, "cut", Scissors(tmp_path / "log", size=100)):
        jobs = asked_for(ClipCache(tmp_path / "clips", max_bytes=50), *range(3))
        ensure(jobs[0], lambda: NOW - 700)
        ensure(jobs[1], lambda: NOW - 500)
        ensure(jobs[2], lambda: NOW)
    assert [job.path.exists() for job in jobs] == [False, True, True]


def test_what_a_killed_process_left_is_swept_when_it_is_old(tmp_path: Path) -> None:
    old, young = tmp_path / "x.mp4.1.2.part", tmp_path / "y.mp4.1.2.part"
    for path, age in ((old, 700), (young, 500)):
        path.touch()
        os.utime(path, (NOW - age, NOW - age))
    with patch.object(clips, "cut", Scissors(tmp_path.parent / "log")):
        ensure(clip_job(ClipCache(tmp_path), **JOB), lambda: NOW)  # type: ignore[arg-type]
    assert (old.exists(), young.exists()) == (False, True)


def test_a_lock_of_a_killed_process_holds_nobody_up(tmp_path: Path) -> None:
    job = clip_job(ClipCache(tmp_path), **JOB)  # type: ignore[arg-type]
    job.path.with_suffix(".lock").touch()
    with patch.object(clips, "cut", Scissors(tmp_path.parent / "log")):
        assert ensure(job).exists()


def test_a_storyboard_lies_beside_its_clip_and_is_made_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source = write_video(tmp_path / "a.mp4", 16)
    job = clip_job(ClipCache(tmp_path / "clips"), source, 0.0, 16.0, "abc")
    board = storyboard(job)
    assert board.path.parent == job.path.parent
    assert ensure(board) == board.path
    picture = cv2.imread(str(board.path))
    assert picture is not None
    assert picture.shape == (jobs.STORYBOARD_WIDTH_PX * 9 // 16, jobs.STORYBOARD_FRAMES * jobs.STORYBOARD_WIDTH_PX, 3)
    assert [path.name for path in job.path.parent.iterdir()] == [board.path.name], "no clip, no lock, nothing half-made"
    monkeypatch.setattr(clips, "film_strip", lambda *_, **__: pytest.fail("made a second time"))
    assert ensure(board) == board.path


def test_a_thumbnail_is_the_frame_in_the_middle_and_a_gif_moves(tmp_path: Path) -> None:
    source = write_video(tmp_path / "a.mp4", 16)
    job = clip_job(ClipCache(tmp_path / "clips"), source, 2.0, 5.0, "abc")
    picture = cv2.imread(str(ensure(thumbnail(job))))
    assert picture is not None
    assert picture.shape == (jobs.THUMBNAIL_WIDTH_PX * 9 // 16, jobs.THUMBNAIL_WIDTH_PX, 3)
    capture = cv2.VideoCapture(str(source))
    capture.set(cv2.CAP_PROP_POS_MSEC, 3500)
    wanted = cv2.resize(capture.read()[1], picture.shape[1::-1], interpolation=cv2.INTER_AREA)
    assert abs(picture.astype(int) - wanted).mean() < 6
    assert ensure(gif(job)).read_bytes().startswith(b"GIF89a")
    assert sorted(path.suffix for path in job.path.parent.iterdir()) == [".gif", ".webp"]


def test_storyboards_count_for_the_size_of_the_cache_and_go_like_clips(tmp_path: Path) -> None:
    source = write_video(tmp_path / "a.mp4", 16)
    folder = tmp_path / "clips"
    old = ensure(storyboard(clip_job(ClipCache(folder), source, 0.0, 16.0, "abc")), now=lambda: NOW)
    new = ensure(
        storyboard(clip_job(ClipCache(folder, max_bytes=1), source, 1.0, 16.0, "abc")), now=lambda: NOW + 9_999
    )
    assert (old.exists(), new.exists()) == (False, True)


class FullDisk(Scissors):
    """Stands in for `cut` on a disk that is full while the folder holds more than so many bytes."""

    def __call__(
        self, source: Path, start_s: float, end_s: float, out: Path, profile: Profile | None = None
    ) -> CutReport:
        if sum(path.stat().st_size for path in out.parent.glob("*.mp4")) > self.size:
            raise OSError(errno.ENOSPC, "No space left on device")
        return super().__call__(source, start_s, end_s, out, profile)


def test_a_full_disk_takes_old_clips_first(tmp_path: Path) -> None:
    old, used, new = asked_for(ClipCache(tmp_path / "clips"), 0, 1, 2)
    with patch.object(clips, "cut", Scissors(tmp_path / "log", size=60)):
        ensure(old, lambda: NOW - 7000)
        ensure(used, lambda: NOW - 60)
    with patch.object(clips, "cut", FullDisk(tmp_path / "log", size=100)):
        assert ensure(new, lambda: NOW) == new.path
    assert [job.path.exists() for job in (old, used, new)] == [False, True, True]


def test_a_disk_that_stays_full_is_told_and_leaves_nothing(tmp_path: Path) -> None:
    used, new = asked_for(ClipCache(tmp_path / "clips"), 1, 2)
    with patch.object(clips, "cut", Scissors(tmp_path / "log", size=60)):
        ensure(used, lambda: NOW - 60)
    with (
        patch.object(clips, "cut", FullDisk(tmp_path / "log", size=10)),
        pytest.raises(NoRoom, match="Free some space"),
    ):
        ensure(new, lambda: NOW)
    assert [path.name for path in new.path.parent.iterdir()] == [used.path.name]


@pytest.mark.parametrize("made", ["clip", "webm", "gif", "storyboard"])
def test_every_encoder_tells_of_a_full_disk(tmp_path: Path, made: str) -> None:
    source = write_video(tmp_path / "a.mp4", 16)
    cache = ClipCache(tmp_path / "clips", Profile(ClipForm.WEBM) if made == "webm" else Profile())
    job = clip_job(cache, source, 2.0, 5.0, "abc")
    job = {"gif": gif, "storyboard": storyboard}.get(made, lambda job: job)(job)
    cache.folder.mkdir()
    part_of(job.path).symlink_to("/dev/full")  # which says what a full disk says
    with pytest.raises(NoRoom):
        ensure(job)
    assert list(cache.folder.iterdir()) == []
    assert ensure(job).stat().st_size > 100
