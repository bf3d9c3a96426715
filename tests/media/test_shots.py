"""Shots, against cuts that the test makes and cuts of a real video seen by eye."""

from itertools import pairwise
from pathlib import Path

import av
import cv2
import numpy as np
import pytest
from numpy.typing import NDArray

from backend.campaign import demo
from backend.media.shots import find_shots
from backend.media.sources import FrameFolder

FPS = 25
Frames = list[NDArray[np.uint8]]


def of_demo(name: str, seconds: float) -> Frames:
    """The first seconds of a clip of the demo, small."""
    found: Frames = []
    with av.open(str(demo.clip_folder() / f"{name}.mp4")) as container:
        for frame in container.decode(video=0):
            found.append(frame.reformat(160, 90, "rgb24").to_ndarray())
            if len(found) == seconds * FPS:
                break
    return found


@pytest.fixture(scope="module")
def dog() -> Frames:
    return of_demo("dog_dinner", 2.4)


@pytest.fixture(scope="module")
def park() -> Frames:
    return of_demo("park_book", 2.4)


def cuts(tmp_path: Path, frames: Frames, fps: int = FPS) -> list[float]:
    """Where the shots of these frames begin, but for the first."""
    path = tmp_path / "joined.mkv"
    with av.open(str(path), "w") as out:
        stream = out.add_stream("libx264", rate=fps, options={"crf": "20", "preset": "ultrafast"})
        stream.width, stream.height, stream.pix_fmt = frames[0].shape[1], frames[0].shape[0], "yuv420p"
        for frame in frames:
            out.mux(stream.encode(av.VideoFrame.from_ndarray(np.ascontiguousarray(frame), format="rgb24")))
        out.mux(stream.encode(None))
    duration_s = len(frames) / fps
    shots = find_shots(path, duration_s)
    assert shots[0][0] == 0.0
    assert shots[-1][1] == duration_s
    assert all(one[1] == other[0] for one, other in pairwise(shots))
    return [start for start, _ in shots[1:]]


def mixed(one: NDArray[np.uint8], other: NDArray[np.uint8], share: float) -> NDArray[np.uint8]:
    return (one * (1 - share) + other * share).astype(np.uint8)


def test_a_cut_is_found_at_the_exact_frame(tmp_path: Path, dog: Frames, park: Frames) -> None:
    assert cuts(tmp_path, [*dog[:37], *park[:30], *dog[37:]]) == [pytest.approx(37 / 25), pytest.approx(67 / 25)]


def test_one_shot_is_one(tmp_path: Path, dog: Frames) -> None:
    assert cuts(tmp_path, dog) == []


def test_a_dissolve_is_one_change_in_its_middle(tmp_path: Path, dog: Frames, park: Frames) -> None:
    middle = [mixed(dog[40 + n], park[n], (n + 1) / 19) for n in range(18)]
    (found,) = cuts(tmp_path, [*dog[:40], *middle, *park[18:]])
    assert found == pytest.approx(49 / 25, abs=0.09)


def test_a_fade_through_black_is_one_change(tmp_path: Path, dog: Frames, park: Frames) -> None:
    black = np.zeros_like(dog[0])
    fade = [mixed(frame, black, (n + 1) / 10) for n, frame in enumerate(dog[30:40])]
    rise = [mixed(black, frame, n / 10) for n, frame in enumerate(park[:10])]
    (found,) = cuts(tmp_path, [*dog[:30], *fade, black, black, *rise, *park[10:]])
    assert found == pytest.approx(41 / 25, abs=0.09)


def test_neither_a_flash_nor_a_lamp_nor_a_moving_camera_is_a_change(tmp_path: Path, dog: Frames) -> None:
    flash = [*dog[:30], np.full_like(dog[0], 250), *dog[30:]]
    assert cuts(tmp_path, flash) == []
    dark = [(frame * 0.3).astype(np.uint8) for frame in dog]
    assert (
        cuts(tmp_path, [*dark[:25], *(mixed(dark[n], dog[n], (n - 24) / 10) for n in range(25, 35)), *dog[35:]]) == []
    )
    wide = np.hstack([dog[0], dog[0][:, ::-1], dog[0]])
    assert cuts(tmp_path, [wide[:, 4 * n : 4 * n + 160] for n in range(60)]) == []


def test_frames_at_three_a_second_have_cuts_too(tmp_path: Path, dog: Frames, park: Frames) -> None:
    assert cuts(tmp_path, [*dog[::8], *park[::8]], fps=3) == [pytest.approx(8 / 3, abs=0.001)]


def test_folders_of_frames_have_shots_too(tmp_path: Path, dog: Frames, park: Frames) -> None:
    for number, frame in enumerate([*dog[::8], *park[::8]]):
        cv2.imwrite(str(tmp_path / f"{number:05d}.png"), frame[:, :, ::-1])
    assert find_shots(FrameFolder(tmp_path), 16 / 3) == [(0.0, 8 / 3), (8 / 3, 16 / 3)]


def test_long_videos_are_looked_at_in_parts_as_if_they_were_whole(
    tmp_path: Path, dog: Frames, park: Frames, monkeypatch: pytest.MonkeyPatch
) -> None:
    middle = [mixed(dog[40 + n], park[n], (n + 1) / 19) for n in range(18)]
    frames = [*dog[:40], *middle, *park[18:], *dog[:30]]
    whole = cuts(tmp_path, frames)
    assert len(whole) == 2
    for at_once in (7, 50):
        monkeypatch.setattr("backend.media.shots._AT_ONCE", at_once)
        assert cuts(tmp_path, frames) == whole


# By eye, from frames side by side: a dissolve from 5.005 to 6.006 s and a cut whose first frame is that of 8.008 s.
SEEN: dict[str, list[tuple[float, float]]] = {
    "mirror_workers": [(5.005, 6.006), (8.008, 8.008)],
    "silent_film": [],
}


@pytest.mark.long
@pytest.mark.parametrize("video", SEEN)
def test_the_shots_of_real_videos_are_those_seen_by_eye(video: str, shared: Path) -> None:
    shots = find_shots(shared / "data" / "videos" / f"{video}.mp4", 20.0)
    assert len(shots) == len(SEEN[video]) + 1
    for (start, _), (first, last) in zip(shots[1:], SEEN[video], strict=True):
        assert first <= start <= last
