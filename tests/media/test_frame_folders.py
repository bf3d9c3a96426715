"""Folders of frames as videos; each frame carries its own number, and times are counted by hand at 3 a second."""

import os
from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path

import cv2
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from backend.core.errors import VideoUnreadable
from backend.core.where import Where
from backend.media.content import sha256_of
from backend.media.cut import cut
from backend.media.frame_folder import place_at
from backend.media.frames import frames_at
from backend.media.probe import probe, require_unchanged, survey
from backend.media.sources import FrameFolder, VideoFacts, source_at
from backend.media.strip import film_strip
from backend.media.video_folder import VideoFolder
from numbered_videos import contents, number_of, numbered


def frames(folder: Path, numbers: Sequence[int], suffix: str = ".jpg") -> Path:
    """A folder with these frames, named as TVR's are: 00001.jpg, ..."""
    folder.mkdir(parents=True)
    for number in numbers:
        assert cv2.imwrite(str(folder / f"{number:05}{suffix}"), numbered(number))
    return folder


def measured(source: Path) -> VideoFacts:
    return survey({"it": source}, decode=True).facts["it"]


def clip(source: Path | FrameFolder, start_s: float, end_s: float, out: Path) -> tuple[list[int], list[Fraction]]:
    report = cut(source, start_s, end_s, out)
    times, pictures = contents(out)
    assert report.frames == len(pictures)
    return [number_of(picture) for picture in pictures], times


@pytest.mark.parametrize("suffix", [".jpg", ".png", ".webp"])
def test_a_clip_begins_with_the_frame_on_screen_at_its_start(tmp_path: Path, suffix: str) -> None:
    folder = frames(tmp_path / "dog", range(1, 31), suffix)
    third = Fraction(1, 3)
    # floor(start x 3) is the place of the first, and the places go up to the last before the end; numbers begin at 1.
    for start_s, end_s, places in [
        (2.0, 4.0, range(6, 12)),
        (2.3, 4.1, range(6, 13)),  # 2.3 x 3 = 6.9; 12 / 3 = 4.0 is before 4.1
        (7 / 3, 3.0, range(7, 9)),
        (0.0, 0.1, range(1)),
        (9.9, 12.0, range(29, 30)),
    ]:
        shown, times = clip(folder, start_s, end_s, tmp_path / "clip.mp4")
        assert shown == [place + 1 for place in places]
        assert times == [n * third for n in range(len(places))]


@given(
    fps=st.sampled_from([Fraction(3), Fraction(1), Fraction(5, 2), Fraction(24000, 1001), Fraction(25)]),
    place=st.integers(0, 5000),
    off=st.sampled_from([0.0, 1e-3, 0.2, -1e-3]),
)
def test_the_frame_on_screen_is_the_last_that_began(fps: Fraction, place: int, off: float) -> None:
    time_s = max(0.0, float(place / fps) + off / float(fps))
    began = [n for n in range(max(0, place - 2), place + 3) if float(n / fps) <= time_s]
    assert place_at(time_s, fps) == began[-1]


def test_the_rate_is_a_matter_of_the_folder(tmp_path: Path) -> None:
    folder = frames(tmp_path / "dog", range(20))
    assert clip(FrameFolder(folder, Fraction(5)), 1.0, 2.0, tmp_path / "a.mp4")[0] == [5, 6, 7, 8, 9]
    film = FrameFolder(folder, Fraction(24000, 1001))
    assert clip(film, 0.25, 0.4, tmp_path / "b.mp4")[0] == [5, 6, 7, 8, 9]  # 0.25 x 23.976 = 5.99
    assert sha256_of(film) != sha256_of(folder)  # other frames at the same seconds
    assert source_at(folder, Fraction(5)) == FrameFolder(folder, Fraction(5))


def test_the_last_frame_is_shown_until_the_moment_ends(tmp_path: Path) -> None:
    folder = frames(tmp_path / "dog", range(1, 31))
    report = cut(folder, 2.3, 5.1, tmp_path / "clip.mp4")  # from the frame of 2.0 s on
    assert (report.frames, report.duration_s) == (10, pytest.approx(3.1, abs=1e-3))


def test_many_are_measured_in_several_processes_as_in_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    videos = {str(rate): FrameFolder(frames(tmp_path / str(rate), range(4)), Fraction(rate)) for rate in (1, 2)}
    videos["gone"] = FrameFolder(tmp_path / "gone")
    steps: list[tuple[int, int]] = []
    alone = survey(videos)
    monkeypatch.setattr("backend.media.probe._WORTH_PROCESSES_BYTES", 0)
    monkeypatch.setattr(os, "cpu_count", lambda: 2)
    assert survey(videos, progress=lambda done, total: steps.append((done, total))) == alone
    assert steps == [(1, 3), (2, 3), (3, 3)]
    assert (alone.facts["2"].duration_s, alone.unreadable.keys()) == (2.0, {"gone"})


def test_a_cluster_measures_the_same(on_cluster: Where, tmp_path: Path) -> None:
    videos = {str(rate): FrameFolder(frames(tmp_path / str(rate), range(4)), Fraction(rate)) for rate in (1, 2)}
    videos["gone"] = FrameFolder(tmp_path / "gone")
    assert survey(videos, where=on_cluster) == survey(videos)


def test_a_folder_is_measured_by_its_frames(tmp_path: Path) -> None:
    facts = measured(frames(tmp_path / "dog", range(1, 32)))
    assert (facts.fps, facts.frames, facts.duration_s) == (3, 31, pytest.approx(31 / 3))
    assert (facts.width_px, facts.height_px, facts.has_audio, facts.codec) == (128, 48, False, "mjpeg")
    assert (facts.damage, facts.decoded) == ("", True)
    assert facts.size_bytes == sum(file.stat().st_size for file in (tmp_path / "dog").iterdir())


def test_frames_follow_one_another_by_number(tmp_path: Path) -> None:
    folder = tmp_path / "dog"
    folder.mkdir()
    for number in (8, 9, 10, 11):
        assert cv2.imwrite(str(folder / f"frame{number}.png"), numbered(number))
    (folder / "._frame9.png").touch()
    (folder / "notes.txt").touch()
    assert clip(folder, 0.0, 9.0, tmp_path / "clip.mp4")[0] == [8, 9, 10, 11]
    # Of every eighth frame, say: numbers that count something else are an order and no more.
    every = frames(tmp_path / "every", range(0, 80, 8))
    assert probe(every).duration_s == pytest.approx(10 / 3)
    assert clip(every, 1.0, 2.0, tmp_path / "clip.mp4")[0] == [24, 32, 40]


def test_missing_and_damaged_frames_are_told_and_the_others_keep_their_time(tmp_path: Path) -> None:
    whole = frames(tmp_path / "whole", range(1, 31))
    broken = frames(tmp_path / "broken", [n for n in range(1, 31) if n != 8])
    half = broken / "00010.jpg"
    half.write_bytes(half.read_bytes()[: half.stat().st_size * 2 // 3])  # FFmpeg and OpenCV would show its upper part
    (broken / "00011.jpg").write_text("<html>404 Not Found</html>")
    report = cut(broken, 2.0, 4.0, tmp_path / "clip.mp4")
    assert report.warnings == ("damaged near 2.3 s: 3 of 6 frames",)
    assert [number_of(picture) for picture in contents(tmp_path / "clip.mp4")[1]] == [7, 9, 12]
    assert contents(tmp_path / "clip.mp4")[0] == [0, Fraction(2, 3), Fraction(5, 3)]
    facts = measured(broken)
    assert facts.duration_s == probe(whole).duration_s
    missing = "frames are missing from 2.3 s on: 29 of 30 exist"
    assert probe(broken).damage == missing
    assert facts.damage == f"damaged near 2.3 s: 27 of 30 frames; {missing}"
    with pytest.raises(VideoUnreadable, match=r"broken ends at 10.0 s, before the moment 11.0-12.0 s begins"):
        cut(broken, 11.0, 12.0, tmp_path / "clip.mp4")


def test_what_is_no_video_is_told(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "text").mkdir()
    (tmp_path / "text" / "1.jpg").write_text("no picture")
    with pytest.raises(VideoUnreadable, match=r"empty contains no frames: add .*\.jpg"):
        probe(tmp_path / "empty")
    with pytest.raises(VideoUnreadable, match="text is damaged: none of its frames can be shown"):
        probe(tmp_path / "text")
    with pytest.raises(VideoUnreadable, match="gone: no folder of frames in"):
        probe(FrameFolder(tmp_path / "gone"))


def test_pictures_of_a_folder_are_looked_at_like_those_of_a_file(tmp_path: Path) -> None:
    folder = frames(tmp_path / "dog", range(30))
    middles = [number_of(picture[..., 0]) for picture in frames_at(folder, 1.0)]
    assert middles == list(range(1, 30, 3))  # the middle of each second
    strip = cv2.imdecode(np.frombuffer(film_strip(folder, 1.0, 3.0, width_px=128), np.uint8), cv2.IMREAD_COLOR)
    assert strip is not None
    assert strip.shape == (72, 6 * 128, 3)


def test_folders_of_frames_are_found_beside_files(tmp_path: Path) -> None:
    show = frames(tmp_path / "bbt_frames" / "s01e01_seg01_clip_00", [1])
    dotted = frames(tmp_path / "a.b", [1])
    film = tmp_path / "films" / "film.mp4"
    film.parent.mkdir()
    film.touch()
    (film.parent / "poster.jpg").touch()
    folder = VideoFolder(tmp_path)
    assert folder.find("s01e01_seg01_clip_00") == folder.find("bbt_frames/s01e01_seg01_clip_00") == show
    assert folder.find("s01e01_seg01_clip_00.mp4") == show  # as annotations of such corpora name it
    assert folder.find("a.b") == dotted
    assert folder.find("film") == film
    assert folder.named() == {"a.b": dotted, "bbt_frames/s01e01_seg01_clip_00": show, "films/film": film}
    with pytest.raises(VideoUnreadable, match="no video file in"):
        folder.find("films")


def test_another_content_is_noticed(tmp_path: Path) -> None:
    folder = frames(tmp_path / "dog", range(1, 6))
    identity = sha256_of(folder)
    require_unchanged(folder, identity)
    moved = folder.rename(tmp_path / "cat")
    require_unchanged(moved, identity)  # what it is called is not its content
    (moved / "00003.jpg").write_bytes((moved / "00002.jpg").read_bytes())
    with pytest.raises(VideoUnreadable, match="cat has changed since it was added to the project"):
        require_unchanged(moved, identity)


def test_a_frame_that_is_a_link_out_of_its_folder_is_not_shown(tmp_path: Path) -> None:
    folder, other = frames(tmp_path / "v", [0, 1, 2]), frames(tmp_path / "private", [9])
    (folder / "00003.jpg").symlink_to("00001.jpg")
    assert measured(folder).frames == 4
    (folder / "00004.jpg").symlink_to(other / "00009.jpg")
    for act in (
        probe,
        lambda source: film_strip(source, 0.0, 1.0),
        lambda source: cut(source, 0.0, 2.0, tmp_path / "c.mp4"),
    ):
        with pytest.raises(VideoUnreadable, match=r"^v holds a link out of the folder, 00004\.jpg: put the picture"):
            act(folder)
    with pytest.raises(VideoUnreadable, match="link out of the folder"):
        require_unchanged(FrameFolder(folder), "0" * 64)
