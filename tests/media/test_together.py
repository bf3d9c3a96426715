"""Clips cut ahead: the same as by themselves, with as few decoded frames as can be, and what is there is left alone."""

from fractions import Fraction
from pathlib import Path

import av
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from backend.core.errors import NoRoom, VideoUnreadable
from backend.core.leftovers import part_of
from backend.core.where import HERE, Where
from backend.media import together
from backend.media.content import sha256_of
from backend.media.cut import CutSpan, cut, cut_together, decoding_starts_s
from backend.media.jobs import ClipCache, ClipForm, ClipJob, Profile, clip_job, is_cut
from backend.media.together import cut_ahead, groups
from numbered_videos import Picture, contents, number_of, write_source
from scored import write_video

SPANS = [(0.2, 1.4), (0.2, 2.0), (1.0, 1.3), (1.4, 2.2), (1.9, 2.01), (2.2, 2.9)]


@pytest.fixture
def in_this_process(monkeypatch: pytest.MonkeyPatch) -> None:
    """The names of unfinished clips hold the number of the process, which a test can only know of its own."""
    monkeypatch.setattr(
        together, "each_unit", lambda work, shared, units, where, **_: ((0, work(shared, one)) for one in units)
    )


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("source") / "a.mkv"
    options = {"crf": "12", "bf": "3", "g": "20"}
    return write_source(path, range(90), Fraction(1, 30), options=options, sound=("pcm_s16le", 44_100, 3.0))


@pytest.mark.parametrize("profile", [Profile(), Profile(ClipForm.WEBM)], ids=["mp4", "webm"])
def test_clips_of_one_decoding_are_those_of_their_own(source: Path, tmp_path: Path, profile: Profile) -> None:
    wanted = [CutSpan(*span, tmp_path / f"{n}.{profile.form}") for n, span in enumerate(SPANS)]
    told = cut_together(source, wanted, profile)
    for span, report in zip(wanted, told, strict=True):
        alone = tmp_path / f"alone.{profile.form}"
        assert report == cut(source, span.start_s, span.end_s, alone, profile)
        times, pictures = contents(span.out)
        assert (times, [number_of(one) for one in pictures]) == (
            contents(alone)[0],
            [n for n in range(90) if span.start_s <= float(Fraction(n, 30)) < span.end_s],
        )
        if profile.form is ClipForm.MP4:  # WebM has a number drawn by chance for each file
            assert span.out.read_bytes() == alone.read_bytes()
    assert len(list(tmp_path.iterdir())) == len(SPANS) + 1


def test_what_fails_by_itself_fails_alone(source: Path, tmp_path: Path) -> None:
    spans = [(0.2, 1.0), (0.901, 0.902), (2.5, 3.5), (15.0, 19.0)]  # without a frame of its own, past the end, after it
    told = cut_together(source, [CutSpan(*span, tmp_path / f"{n}.mp4") for n, span in enumerate(spans)], Profile())
    assert isinstance(told[-1], VideoUnreadable)
    assert str(told[-1]) == "a.mkv ends at 3.0 s, before the moment 15.0-19.0 s begins"
    alone = [cut(source, *span, tmp_path / "alone.mp4") for span in spans[:-1]]
    assert told[:-1] == alone
    assert alone[-1].warnings
    assert sorted(path.name for path in tmp_path.iterdir()) == ["0.mp4", "1.mp4", "2.mp4", "alone.mp4"]


def test_damage_is_told_of_the_moments_it_is_in(shared: Path, tmp_path: Path) -> None:
    video = shared / "data" / "videos" / "edge" / "corrupted.mp4"
    spans = [(2.9, 3.5), (3.3, 3.6)]
    told = cut_together(video, [CutSpan(*span, tmp_path / f"{n}.mp4") for n, span in enumerate(spans)], Profile())
    assert told == [cut(video, *span, tmp_path / "alone.mp4") for span in spans]


def frames_decoded(parts: list[list[CutSpan]], starts: dict[CutSpan, float]) -> float:
    return sum(max(one.end_s for one in part) - starts[part[0]] for part in parts)


def partitions(spans: list[CutSpan]) -> list[list[list[CutSpan]]]:
    """All ways to divide a list into parts of neighbours."""
    if len(spans) < 2:
        return [[spans]]
    found = []
    for rest in partitions(spans[1:]):
        found += [[[spans[0]], *rest], [[spans[0], *rest[0]], *rest[1:]]]
    return found


@settings(max_examples=150, deadline=None)
@given(
    st.lists(st.tuples(st.integers(0, 40), st.integers(1, 25)), min_size=1, max_size=7, unique=True),
    st.integers(1, 15),
)
def test_no_other_way_to_share_decodes_less(spans: list[tuple[int, int]], every: int) -> None:
    """Key frames stand `every` so many seconds; a decoding goes from one of them to the end of its last moment."""
    wanted = [
        CutSpan(float(start), float(start + lasts), Path(f"{n}")) for n, (start, lasts) in enumerate(sorted(spans))
    ]
    starts = {one: float(one.start_s // every * every) for one in wanted}
    found = groups(wanted, [starts[one] for one in wanted])
    assert [one for part in found for one in part] == wanted
    assert frames_decoded(found, starts) == min(frames_decoded(one, starts) for one in partitions(wanted))


def test_decoding_begins_at_the_key_frame_before_a_moment(source: Path, tmp_path: Path) -> None:
    with av.open(str(source)) as container:
        stream = container.streams.video[0]
        keys = [
            packet.pts * stream.time_base for packet in container.demux(stream) if packet.is_keyframe and packet.size
        ]
    starts = decoding_starts_s(source, [CutSpan(*span, tmp_path / "x") for span in SPANS])
    assert starts == [max(key for key in keys if key <= span[0]) for span in SPANS]
    assert len(set(starts)) > 2


def queue(cache: ClipCache, videos: list[Path], *spans: tuple[float, float]) -> list[ClipJob]:
    contents = {video: sha256_of(video) for video in videos}
    return [clip_job(cache, video, *span, contents[video]) for span in spans for video in videos]


def test_what_is_there_is_left_alone_and_the_rest_is_cut(tmp_path: Path) -> None:
    videos = [
        write_source(tmp_path / f"{name}.mp4", range(2 * s), Fraction(1, 2)) for name, s in (("a", 20), ("b", 21))
    ]
    (tmp_path / "c.mp4").write_text("no video")
    jobs = queue(ClipCache(tmp_path / "clips"), [*videos, tmp_path / "c.mp4"], (0, 4), (2, 6), (15, 18))
    steps: list[tuple[int, int]] = []
    first = cut_ahead(jobs[:4])
    assert (first.there, first.cut, first.left, len(first.failed)) == (0, 3, 0, 1)
    told = cut_ahead([*jobs, *jobs], Where(2), progress=lambda done, total: steps.append((done, total)))
    assert (told.there, told.cut, told.left) == (3, 3, 0)
    assert sorted({why for _, why in told.failed}) == ["c.mp4 is not a video file"]
    assert [job.source.name for job, _ in told.failed] == ["c.mp4"] * 3
    assert steps[-1] == (6, 6)
    assert sorted(path.name for path in (tmp_path / "clips").iterdir()) == sorted(
        job.path.name for job in jobs if job.source in videos
    )
    for job in jobs[:2]:
        alone = cut(job.source if isinstance(job.source, Path) else job.source.path, 0, 4, tmp_path / "alone.mp4")
        assert alone.frames == 8
        assert job.path.read_bytes() == (tmp_path / "alone.mp4").read_bytes()


def test_a_cluster_cuts_the_same_bytes(source: Path, on_cluster: Where, tmp_path: Path) -> None:
    other = write_source(tmp_path / "b.mkv", range(100, 160), Fraction(1, 30), options={"g": "20"})
    # Of pictures of one colour each, at two a second, x264 makes other bytes once in some hundred times, anywhere.
    cut_here, cut_there = (
        {job.path.name: (job.path.read_bytes(), told.failed) for job in jobs}
        for where, folder in ((HERE, "here"), (on_cluster, "there"))
        for jobs in [queue(ClipCache(tmp_path / folder), [source, other], (0, 1), (0.5, 1.5), (1.4, 1.9))]
        for told in [cut_ahead(jobs, where)]
    )
    assert cut_there == cut_here
    assert len(cut_here) == 6


def test_videos_of_the_same_content_have_the_same_clips(tmp_path: Path) -> None:
    video = write_video(tmp_path / "a.mp4", 20)
    twin = tmp_path / "twin.mp4"
    twin.write_bytes(video.read_bytes())
    told = cut_ahead(queue(ClipCache(tmp_path / "clips"), [video, twin], (0, 4), (2, 6)))
    assert (told.there, told.cut, told.left, told.failed) == (0, 2, 0, ())


def test_a_full_cache_drops_nothing_for_what_comes_later(tmp_path: Path) -> None:
    video = write_video(tmp_path / "a.mp4", 60)
    jobs = queue(ClipCache(tmp_path / "clips", max_bytes=1), [video], (50, 52), (0, 3))
    told = cut_ahead(jobs)
    assert (told.cut, told.left) == (1, 1)
    assert [is_cut(job) for job in jobs] == [True, False], "the first of the queue goes first"


@pytest.mark.usefixtures("in_this_process")
def test_a_full_disk_stops_with_a_message_and_keeps_what_is_whole(tmp_path: Path) -> None:
    video = write_video(tmp_path / "a.mp4", 60)
    jobs = queue(ClipCache(tmp_path / "clips"), [video], (50, 52), (0, 3))
    cut_ahead(jobs[:1])
    part_of(jobs[1].path).symlink_to("/dev/full")  # which says what a full disk says
    with pytest.raises(NoRoom, match=r"The disk of .*clips is full, so no clip can be cut. Free some space"):
        cut_ahead(jobs)
    assert [path.name for path in (tmp_path / "clips").iterdir()] == [jobs[0].path.name]
    assert cut_ahead(jobs).cut == 1


@pytest.mark.usefixtures("in_this_process")
@pytest.mark.parametrize("full", [0, 1])
def test_a_disk_that_fills_up_in_the_middle_of_a_shared_decoding_is_told_as_full(tmp_path: Path, full: int) -> None:
    """What the other encoders said when they were given up went over it: a file that was gone already."""

    def noise(number: int) -> Picture:
        return np.random.default_rng(number).integers(0, 255, (96, 128, 3), dtype=np.uint8)

    video = write_source(tmp_path / "a.mp4", range(50), Fraction(1, 25), noise)
    jobs = queue(ClipCache(tmp_path / "clips"), [video], (0, 1.8), (0.2, 1.9))
    (tmp_path / "clips").mkdir()
    part_of(jobs[full].path).symlink_to("/dev/full")
    with pytest.raises(NoRoom):
        cut_ahead(jobs)
    assert list((tmp_path / "clips").iterdir()) == []


def test_units_are_of_one_video_and_led_by_what_is_wanted_first(tmp_path: Path) -> None:
    videos = [tmp_path / "a.mp4", tmp_path / "b.mp4"]
    for video in videos:
        video.write_text(video.name)
    jobs = queue(ClipCache(tmp_path), videos, (100, 104), (0, 4), (2, 6), (60, 64), (99, 101))
    units = list(together._units(jobs))
    assert sorted(job.path.name for unit in units for job in unit) == sorted(job.path.name for job in jobs)
    assert [len({job.identity for job in unit}) for unit in units] == [1] * len(units)
    assert units[0] == [jobs[8], jobs[0]], "what is near, by its beginning"
    assert units[2] == [jobs[2], jobs[4]]
